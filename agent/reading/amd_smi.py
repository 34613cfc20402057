"""amd-smi: its default table, the version line, and the fields of static and metric."""

from __future__ import annotations

import re

from agent.reading.draft import TOOL, DeviceDraft, Draft
from agent.reading.page import Page
from agent.reading.versions import bytes_of


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from whatever amd-smi printed into the text."""
    if "AMD-SMI" in page.text or "AMDSMI Tool" in page.text:
        _amd_smi_table(page, draft)
    if re.search(r"^(?:GPU: \d|\s*\"gpu\": \d)", page.text, re.M):
        _amd_smi_fields(page, draft)


_ROW_ONE = re.compile(
    r"^\|\s*([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d)\s+(\S.*?)\s*\|.*?"
    r"(?:(N/A|\d+)\s*°C|N/A)\s+(\d+|N/A)\s+(N/A|\d+)/(\d+|N/A) W"
)
_ROW_TWO = re.compile(
    r"^\|\s*(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s*\|.*?(\d+(?:\.\d+)?)/\s*(\d+(?:\.\d+)?) ([MG])B"
)


def _amd_smi_table(page: Page, draft: Draft) -> None:
    for match, line in page.find(re.compile(r"ROCm version: (\d[\d.]*)")):
        draft.put("amd.rocm_version", match[1], line)
    for match, line in page.find(re.compile(r"amdgpu version: (\d[\d.]*)")):
        draft.put("amd.kernel_version", match[1], line)
    waiting: DeviceDraft | None = None
    count = 0
    for text, line in zip(page.lines(), page.numbers, strict=False):
        if "|" not in text:
            continue
        if first := _ROW_ONE.match(text):
            waiting = draft.device("amd", index=count, pci_address=first[1])
            count += 1
            if not first[2].startswith("0x"):
                waiting.put("name", first[2], line)
            if first[3] and first[3].isdigit():
                waiting.put("temperature.gpu_celsius", int(first[3]), line)
            if first[4].isdigit():
                waiting.put("ecc.volatile_uncorrected", first[4], line)
            if first[5].isdigit():
                waiting.put("power.usage_watts", float(first[5]), line)
            if first[6].isdigit() and int(first[6]) > 0:
                waiting.put("power.enforced_limit_watts", float(first[6]), line)
        elif waiting is not None and (second := _ROW_TWO.match(text)):
            waiting.put("memory_used_bytes", bytes_of(second[5], second[7]), line)
            waiting.put("memory_total_bytes", bytes_of(second[6], second[7]), line)
            if "/" in second[4] and "N/A" not in second[4]:
                compute, _, memory = second[4].partition("/")
                waiting.put("partition.compute_mode", compute, line)
                waiting.put("partition.memory_mode", memory, line)


_AMD_WORDS = {
    "market_name": "name",
    "target_graphics_version": "architecture",
    "compute_partition": "partition.compute_mode",
    "accelerator_partition": "partition.compute_mode",
    "memory_partition": "partition.memory_mode",
}
_AMD_NUMBERS = {
    "num_compute_units": ("multiprocessor_count", int),
    "socket_power": ("power.usage_watts", float),
    "max_power": ("power.max_limit_watts", float),
    "max_pcie_width": ("pcie.width_max", int),
    "gfx_activity": ("utilization_percent", int),
}


def _amd_smi_fields(page: Page, draft: Draft) -> None:
    device: DeviceDraft | None = None
    in_limit = False
    for text, line in zip(page.lines(), page.numbers, strict=False):
        row = re.match(r'\s*"?([A-Za-z_]+)"?:\s*"?([^"]*?)"?,?\s*$', text)
        if row is None:
            continue
        name, value = row[1].lower(), row[2].strip()
        if name == "gpu" and value.isdigit():
            device = draft.device("amd", index=int(value))
        elif name == "limit" and not value:
            in_limit = True
        elif not value and name.isalpha():
            in_limit = False
        if device is None or value in ("", "N/A"):
            continue
        if name == "bdf":
            device.pci_address = device.pci_address or value.lower()
        elif name in _AMD_WORDS and not value.startswith("0x"):
            device.put(_AMD_WORDS[name], value, line)
        elif name == "socket_power" and in_limit:
            number = re.match(r"\d+", value)
            device.put("power.enforced_limit_watts", float(number[0]) if number else None, line)
        elif name in _AMD_NUMBERS:
            slot, kind = _AMD_NUMBERS[name]
            number = re.match(r"\d+", value)
            device.put(slot, kind(number[0]) if number else None, line, TOOL)
