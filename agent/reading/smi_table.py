"""nvidia-smi's table, in the widths it has had since driver 331, with its MIG and process parts."""

from __future__ import annotations

import re

from agent.model import GpuProcess, GpuProcesses
from agent.reading.draft import TOOL, DeviceDraft, Draft
from agent.reading.page import Page

# From driver 610 the kernel's version stands under "KMD", the user space's under "CUDA UMD".
_HEADER = re.compile(
    r"NVIDIA-SMI (?P<smi>[\d.]+)[ |]+(?:Driver|KMD) Version: ?(?P<driver>\d{3}[\d.]*|N/A)"
    r"(?:[ |]+CUDA(?: UMD)? Version: ?(?P<cuda>\d+\.\d+|N/A|ERR!))?"
)
_FIRST = re.compile(
    r"^[ \t]*\|\s*(\d{1,2})\s+(\S.*?)\s+(On|Off|N/A|ERR!|WDDM|TCC|MCDM)\s*\|\s*"
    r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s+(\S+)\s*\|\s*(\S.*?)\s*(?:\||$)"
)
_SECOND = re.compile(
    r"^[ \t]*\|\s*(\S+)\s+(\S+)\s+(P\d{1,2}|N/A|ERR!|Unknown|\[?N/A\]?)\s+(\S+)\s*/\s*(\S+)\s*\|\s*"
    r"(?:(\S+)\s*/\s*(\S+)|(\S+))\s*\|\s*(\S+)\s+(\S.*?)\s*(?:\||$)"
)
_THIRD = re.compile(r"^[ \t]*\|\s*\|\s*\|\s*(Enabled\*?|Disabled\*?|N/A|ERR!)\s*\|")
_MIG = re.compile(
    r"^[ \t]*\|\s+(\d{1,2})\s+(\d{1,2})\s+(\d{1,2})\s+(\d{1,2})\s+\|\s+(\d+)MiB\s*/\s*(\d+)MiB"
)
_PROCESS = re.compile(
    r"^[ \t]*\|\s+(\d{1,2})\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(\d{1,8})\s+"
    r"([CGM+]{1,3})\s+(\S.*?)\s+(\d+MiB|N/A|Function Not Found)\s*\|"
)
_MODES = {
    "Default": "default",
    "E. Process": "exclusive-process",
    "E. Thread": "exclusive-thread",
    "Prohibited": "prohibited",
}


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from every nvidia-smi table, whole or in pieces."""
    for match in _HEADER.finditer(page.text):
        line = page.number_at(match.start())
        if match["driver"] != "N/A":
            draft.put("nvidia.userspace_version", match["driver"], line, TOOL)
        if match["cuda"] and match["cuda"][0].isdigit():
            draft.put("nvidia.nvml_cuda_version", match["cuda"], line, TOOL)
        if match["smi"].split(".")[0] != match["driver"].split(".")[0] != "N/A":
            # Only under WSL do the tool (Linux) and the driver (Windows) differ in version.
            draft.put("host.system", "wsl", line, 1)
    if "MiB" not in page.text and "|" not in page.text:
        return
    current: DeviceDraft | None = None
    processes: dict[int, list[GpuProcess]] = {}
    for text, line in zip(page.lines(), page.numbers, strict=False):
        if "|" not in text:
            continue
        if first := _FIRST.match(text):
            current = _first_row(draft, first, line)
        elif current is not None and (second := _SECOND.match(text)):
            _second_row(current, second, line)
        elif current is not None and (third := _THIRD.match(text)):
            _third_row(current, third[1], line)
        elif mig := _MIG.match(text):
            _mig_row(draft, mig, line)
        elif process := _PROCESS.match(text):
            memory = re.match(r"\d+", process[5])
            processes.setdefault(int(process[1]), []).append(
                GpuProcess(
                    pid=int(process[2]),
                    name=process[4],
                    memory_bytes=int(memory[0]) << 20 if memory else None,
                )
            )
        elif "No MIG devices found" in text and current is not None:
            current.put("partition.mig_instances", 0, line)
    for index, found in processes.items():
        device = draft.device("nvidia", index=index)
        device.put("processes", GpuProcesses(own=tuple(found)), 0)


def _first_row(draft: Draft, row: re.Match[str], line: int) -> DeviceDraft:
    device = draft.device("nvidia", index=int(row[1]), pci_address=row[4])
    if "ERR!" not in row[2]:
        device.put("name", row[2], line)
    if row[3] in ("On", "Off"):
        device.put("persistence_mode", "enabled" if row[3] == "On" else "disabled", line)
    elif row[3] in ("WDDM", "TCC", "MCDM"):
        draft.put("host.system", "windows", line, 1)
    ecc = row[6].split()[0]
    if ecc.isdigit():
        device.put("ecc.mode", "enabled", line)
        device.put("ecc.volatile_uncorrected", ecc, line)
    elif ecc == "Off":
        device.put("ecc.mode", "disabled", line)
    elif ecc == "ERR!":
        device.put("error", "ERR!", line)
    return device


def _second_row(device: DeviceDraft, row: re.Match[str], line: int) -> None:
    if row[2].endswith("C") and row[2][:-1].isdigit():
        device.put("temperature.gpu_celsius", int(row[2][:-1]), line)
    if row[3].startswith("P"):
        device.put("performance_state", row[3], line)
    device.put("power.usage_watts", _watts(row[4]), line)
    device.put("power.enforced_limit_watts", _watts(row[5]), line)
    device.put("memory_used_bytes", _mib(row[6]), line)
    device.put("memory_total_bytes", _mib(row[7]), line)
    if row[9].endswith("%") and row[9][:-1].isdigit():
        device.put("utilization_percent", int(row[9][:-1]), line)
    device.put("compute_mode", _MODES.get(row[10]), line)
    # A fan that gives no reading is no sign of a sick GPU; the other cells are.
    if any(cell == "ERR!" for cell in row.group(2, 3, 4, 5, 9)):
        device.put("error", "ERR!", line)


def _third_row(device: DeviceDraft, mode: str, line: int) -> None:
    if mode == "ERR!":
        device.put("error", "ERR!", line)
    elif mode != "N/A":
        device.put("partition.mig_mode", mode.rstrip("*").lower(), line)
        device.put("partition.kind", "mig" if mode.startswith("Enabled") else "none", line)


def _mig_row(draft: Draft, row: re.Match[str], line: int) -> None:
    device = draft.device("nvidia", index=int(row[1]))
    count = device.get("partition.mig_instances") or 0
    # Each row is one more instance, so a later count must replace the earlier one.
    device.slots.pop("partition.mig_instances", None)
    device.put("partition.mig_instances", count + 1, line)


def _watts(cell: str | None) -> float | None:
    found = re.match(r"(\d+(?:\.\d+)?)W$", cell or "")
    return float(found[1]) if found else None


def _mib(cell: str | None) -> int | None:
    found = re.match(r"(\d+)MiB$", cell or "")
    return int(found[1]) << 20 if found else None
