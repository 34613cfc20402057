"""The short prints of nvidia-smi: -L, topo -m, nvlink, --query-gpu as CSV, and its refusals."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.model import Link, Peer
from agent.reading.draft import MESSAGE, REPORT, TOOL, DeviceDraft, Draft
from agent.reading.page import Page
from agent.reading.stated_devices import named_device

_LISTED = re.compile(
    r"^[ \t]*GPU ([\d, ]{1,60}): ([^(\n:]{2,90}?)(?: \((?:UUID: )?(GPU-[\w-]+)\))?[ \t]*$", re.M
)
_CAPABILITY = re.compile(r"^GPU ([\d,]+) Compute Capability: (\d+\.\d)", re.M)
_MIG = re.compile(r"^\s+MIG (\S+)\s+Device +(\d+): \(UUID: (MIG-[\w/<>-]+)\)", re.M)
_LOST = re.compile(
    r"Unable to determine the device handle for (?:gpu|GPU) ?(?:\d+: )?"
    r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d): ([^.\n]+)"
)
_TOPO_ROW = re.compile(r"^[ \t]*GPU(\d+)\s+((?:X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|\s)+)")
_NVLINK = re.compile(r"^\s+Link (\d+): (<?[\w. /]+>?)\s*$")
_PEER = re.compile(
    r"Device=(\d+) (CAN|CANNOT) Access Peer Device=(\d+)"
    r"|Peer access from [^\n(]*\(GPU(\d+)\) -> [^\n(]*\(GPU(\d+)\) : (Yes|No)"
)


_INFORMATION = re.compile(
    r"^Model:\s+(?P<name>\S[^\n]*)\n(?:[^\n]*\n){0,4}?GPU UUID:\s+(?P<uuid>\S+)\n"
    r"(?:[^\n]*\n){0,8}?Bus Location:\s+(?P<address>\S+)",
    re.M,
)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from the short forms."""
    text = page.text
    if "GPU " in text or "GPU0" in text:
        _listed(page, draft)
        _topology(page, draft)
    for match, line in page.find(_LOST):
        device = draft.device("nvidia", pci_address=match[1])
        device.put("error", match[2].strip(), line, TOOL)
    for match, line in page.find(_INFORMATION):  # /proc/driver/nvidia/gpus/*/information
        uuid = match["uuid"] if match["uuid"].startswith("GPU-") else None
        device = draft.device("nvidia", uuid=uuid, pci_address=match["address"])
        device.put("name", match["name"].strip(), line, TOOL)
    if "Peer" in text:
        _peers(page, draft)
    if "," in text:
        _csv(page, draft)


def _listed(page: Page, draft: Draft) -> None:
    for match, line in page.find(_LISTED):
        for number in re.findall(r"\d+", match[1]):
            device = named_device(draft, match[2].strip(), line, index=int(number))
            if match[3]:
                device.uuid = device.uuid or match[3]
    for match, line in page.find(_CAPABILITY):
        for number in re.findall(r"\d+", match[1]):
            device = draft.device("nvidia", index=int(number))
            device.put("architecture", match[2], line, REPORT)
    slices = [(match, line) for match, line in page.find(_MIG)]
    if slices and draft.devices:
        device = draft.devices[0]
        first, line = slices[0]
        device.put("partition.kind", "mig", line)
        device.put("partition.mig_mode", "enabled", line)
        device.put("partition.profile", first[1], line)
        device.put("partition.mig_instances", len(slices), line)


def _topology(page: Page, draft: Draft) -> None:
    current: DeviceDraft | None = None
    columns = _gpu_columns(page.text)
    for text, line in zip(page.lines(), page.numbers, strict=False):
        row = _TOPO_ROW.match(text) if "GPU" in text else None
        if row and "X" in row[2].split():
            paths = row[2].split()
            device = draft.device("nvidia", index=int(row[1]))
            peers = tuple(
                Peer(device=f"GPU{index}", path=path)
                for index, path in enumerate(paths)
                if path != "X" and index < columns
            )
            device.put("peers", peers, line)
            continue
        listed = re.match(r"\s*GPU (\d+): ", text)
        if listed:
            current = draft.device("nvidia", index=int(listed[1]))
        elif current is not None and (link := _NVLINK.match(text)):
            state = "inactive" if "inactive" in link[2].lower() else "active"
            held = current.get("links") or ()
            current.slots.pop("links", None)
            current.put(
                "links", (*held, Link(kind="nvlink", index=int(link[1]), state=state)), line
            )


def _gpu_columns(text: str) -> int:
    header = re.search(r"^[ \t]*GPU0(?:[ \t]+GPU\d+)*", text, re.M)
    return len(header[0].split()) if header else 64


def _peers(page: Page, draft: Draft) -> None:
    access: dict[int, list[Peer]] = {}
    lines: dict[int, int] = {}
    for match, line in page.find(_PEER):
        source, target = int(match[1] or match[4]), match[3] or match[5]
        answer = "ok" if match[2] == "CAN" or match[6] == "Yes" else "not-supported"
        access.setdefault(source, []).append(Peer(device=f"GPU{target}", access=answer))
        lines.setdefault(source, line)
    for index, peers in access.items():
        draft.device("nvidia", index=index).put("peers", tuple(peers), lines[index], MESSAGE)


# ---------------------------------------------------------------- CSV
Put = Callable[[DeviceDraft, str, int], None]


def _number(slot: str, scale: float = 1, kind: type = int) -> Put:
    def put(device: DeviceDraft, value: str, line: int) -> None:
        found = re.match(r"\d+(?:\.\d+)?", value)
        if found:
            device.put(slot, kind(float(found[0]) * scale), line)

    return put


def _word(slot: str) -> Put:
    def put(device: DeviceDraft, value: str, line: int) -> None:
        device.put(slot, value, line)

    return put


def _mode(slot: str) -> Put:
    def put(device: DeviceDraft, value: str, line: int) -> None:
        device.put(slot, value.lower().replace("_", "-").replace(" ", "-"), line)

    return put


def _flag(slot: str) -> Put:
    def put(device: DeviceDraft, value: str, line: int) -> None:
        if value.lower() in ("yes", "no", "1", "0"):
            device.put(slot, value.lower() in ("yes", "1"), line)

    return put


COLUMNS: dict[str, Put] = {
    "name": _word("name"),
    "gpu_name": _word("name"),
    "vbios_version": _word("vbios"),
    "compute_cap": _word("architecture"),
    "pstate": _word("performance_state"),
    "compute_mode": _mode("compute_mode"),
    "persistence_mode": _mode("persistence_mode"),
    "mig.mode.current": _mode("partition.mig_mode"),
    "ecc.mode.current": _mode("ecc.mode"),
    "ecc.mode.pending": _mode("ecc.pending_mode"),
    "memory.total": _number("memory_total_bytes", 1 << 20),
    "memory.used": _number("memory_used_bytes", 1 << 20),
    "memory.reserved": _number("memory_reserved_bytes", 1 << 20),
    "utilization.gpu": _number("utilization_percent"),
    "temperature.gpu": _number("temperature.gpu_celsius"),
    "temperature.memory": _number("temperature.memory_celsius"),
    "power.draw": _number("power.usage_watts", kind=float),
    "power.limit": _number("power.limit_watts", kind=float),
    "power.default_limit": _number("power.default_limit_watts", kind=float),
    "enforced.power.limit": _number("power.enforced_limit_watts", kind=float),
    "power.max_limit": _number("power.max_limit_watts", kind=float),
    "clocks.sm": _number("clocks.sm_mhz"),
    "clocks.current.sm": _number("clocks.sm_mhz"),
    "clocks.mem": _number("clocks.memory_mhz"),
    "clocks.current.memory": _number("clocks.memory_mhz"),
    "clocks.max.sm": _number("clocks.max_sm_mhz"),
    "clocks.max.memory": _number("clocks.max_memory_mhz"),
    "pcie.link.gen.current": _number("pcie.generation_current"),
    "pcie.link.gen.max": _number("pcie.generation_max"),
    "pcie.link.width.current": _number("pcie.width_current"),
    "pcie.link.width.max": _number("pcie.width_max"),
    "ecc.errors.uncorrected.volatile.total": _word("ecc.volatile_uncorrected"),
    "ecc.errors.corrected.volatile.total": _word("ecc.volatile_corrected"),
    "ecc.errors.uncorrected.aggregate.total": _word("ecc.aggregate_uncorrected"),
    "retired_pages.pending": _flag("ecc.retirement_pending"),
    "remapped_rows.pending": _flag("ecc.remap_pending"),
    "remapped_rows.failure": _flag("ecc.remap_failed"),
    "remapped_rows.uncorrectable": _number("ecc.remapped_uncorrectable"),
    "remapped_rows.correctable": _number("ecc.remapped_correctable"),
}
_IDENTITY = frozenset(
    ("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "timestamp", "driver_version")
)


def _csv(page: Page, draft: Draft) -> None:
    header: list[str] = []
    row_number = 0
    for text, line in zip(page.lines(), page.numbers, strict=False):
        if "," not in text or len(text) > 4000:
            header = []
            continue
        cells = [cell.strip() for cell in text.split(",")]
        names = [cell.partition(" [")[0] for cell in cells]
        known = sum(name in COLUMNS or name in _IDENTITY for name in names)
        if len(names) > 1 and known * 2 > len(names) and not re.search(r"[A-Z]", text[:8]):
            header, row_number = names, 0
            continue
        if header and len(cells) == len(header):
            _csv_row(draft, dict(zip(header, cells, strict=True)), line, row_number)
            row_number += 1


def _csv_row(draft: Draft, row: dict[str, str], line: int, number: int) -> None:
    index = row.get("index", "")
    device = draft.device(
        "nvidia",
        index=int(index) if index.isdigit() and len(index) < 4 else number,
        uuid=row.get("uuid") or row.get("gpu_uuid"),
        pci_address=row.get("pci.bus_id") or row.get("gpu_bus_id"),
    )
    driver = row.get("driver_version", "")
    if re.match(r"\d{3}\.", driver):
        draft.put("nvidia.userspace_version", driver, line, TOOL)
    for name, value in row.items():
        if value in ("[GPU requires reset]", "[GPU is lost]"):
            device.put("error", value.strip("[]"), line, MESSAGE)
        elif name in COLUMNS and not value.startswith(("[", "N/A")):
            COLUMNS[name](device, value, line)
