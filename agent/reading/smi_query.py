"""nvidia-smi -q as text and as XML: one list of (section, name, value) for both."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.reading.draft import TOOL, DeviceDraft, Draft
from agent.reading.page import Page

Row = tuple[str, str, str, int]  # section, name, value, line
_TEXT = re.compile(r"^( *)(\S[^:\n]*?)\s*: ?(.*?)\s*$")
_TAG = re.compile(r"<(/?)([\w.]+)((?:\s[^<>]*)?)>(?:([^<>]*)</\2>)?")
_GPU = re.compile(r"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+)\s*$")

REASONS = {
    "idle": "GpuIdle",
    "gpu idle": "GpuIdle",
    "applications clocks setting": "ApplicationsClocksSetting",
    "sw power cap": "SwPowerCap",
    "hw slowdown": "HwSlowdown",
    "hw thermal slowdown": "HwThermalSlowdown",
    "hw power brake slowdown": "HwPowerBrakeSlowdown",
    "hw power braking": "HwPowerBrakeSlowdown",
    "sync boost": "SyncBoost",
    "sw thermal slowdown": "SwThermalSlowdown",
    "display clock setting": "DisplayClockSetting",
    "display clocks setting": "DisplayClockSetting",
}
# (section, name) -> the device's slot; section "" takes the name anywhere.
WORDS = {
    ("", "product name"): "name",
    ("", "vbios version"): "vbios",
    ("", "performance state"): "performance_state",
    ("gpu virtualization mode", "virtualization mode"): "virtualization",
    ("", "license status"): "license_state",
    ("", "gpu recovery action"): "recovery_action",
    ("mig mode", "current"): "partition.mig_mode",
    ("mig mode", "current mig"): "partition.mig_mode",
    ("ecc mode", "current"): "ecc.mode",
    ("ecc mode", "current ecc"): "ecc.mode",
    ("ecc mode", "pending"): "ecc.pending_mode",
    ("ecc mode", "pending ecc"): "ecc.pending_mode",
    ("fabric", "state"): "fabric.state",
    ("fabric", "status"): "fabric.status",
    ("health", "summary"): "fabric.health",
    ("", "persistence mode"): "persistence_mode",
    ("", "compute mode"): "compute_mode",
}
LOWERED = frozenset(
    ("partition.mig_mode", "ecc.mode", "ecc.pending_mode", "fabric.state", "persistence_mode")
)
MEBIBYTES = {
    ("fb memory usage", "total"): "memory_total_bytes",
    ("fb memory usage", "used"): "memory_used_bytes",
    ("fb memory usage", "reserved"): "memory_reserved_bytes",
}
COUNTS = {
    ("utilization", "gpu"): "utilization_percent",
    ("utilization", "gpu util"): "utilization_percent",
    ("remapped rows", "correctable error"): "ecc.remapped_correctable",
    ("remapped rows", "remapped row corr"): "ecc.remapped_correctable",
    ("remapped rows", "uncorrectable error"): "ecc.remapped_uncorrectable",
    ("remapped rows", "remapped row unc"): "ecc.remapped_uncorrectable",
    ("retired pages", "single bit ecc"): "ecc.retired_single_bit",
    ("retired pages", "double bit ecc"): "ecc.retired_double_bit",
    ("multiple single bit retirement", "retired count"): "ecc.retired_single_bit",
    ("double bit retirement", "retired count"): "ecc.retired_double_bit",
    ("temperature", "gpu current temp"): "temperature.gpu_celsius",
    ("temperature", "gpu temp"): "temperature.gpu_celsius",
    ("temperature", "gpu shutdown temp"): "temperature.shutdown_celsius",
    ("temperature", "gpu temp max threshold"): "temperature.shutdown_celsius",
    ("temperature", "gpu slowdown temp"): "temperature.slowdown_celsius",
    ("temperature", "gpu temp slow threshold"): "temperature.slowdown_celsius",
    ("temperature", "gpu max operating temp"): "temperature.max_operating_celsius",
    ("temperature", "memory current temp"): "temperature.memory_celsius",
    ("temperature", "memory temp"): "temperature.memory_celsius",
    ("clocks", "sm"): "clocks.sm_mhz",
    ("clocks", "sm clock"): "clocks.sm_mhz",
    ("clocks", "memory"): "clocks.memory_mhz",
    ("clocks", "mem clock"): "clocks.memory_mhz",
    ("max clocks", "sm"): "clocks.max_sm_mhz",
    ("max clocks", "sm clock"): "clocks.max_sm_mhz",
    ("max clocks", "memory"): "clocks.max_memory_mhz",
    ("max clocks", "mem clock"): "clocks.max_memory_mhz",
    ("applications clocks", "graphics"): "clocks.applications_sm_mhz",
    ("applications clocks", "graphics clock"): "clocks.applications_sm_mhz",
    ("pcie generation", "max"): "pcie.generation_max",
    ("pcie gen", "max link gen"): "pcie.generation_max",
    ("pcie generation", "current"): "pcie.generation_current",
    ("pcie gen", "current link gen"): "pcie.generation_current",
    ("link width", "max"): "pcie.width_max",
    ("link widths", "max link width"): "pcie.width_max",
    ("link width", "current"): "pcie.width_current",
    ("link widths", "current link width"): "pcie.width_current",
}
WATTS = {
    "power draw": "power.usage_watts",
    "average power draw": "power.usage_watts",
    "instantaneous power draw": "power.usage_watts",
    "instant power draw": "power.usage_watts",
    "power limit": "power.limit_watts",
    "current power limit": "power.limit_watts",
    "requested power limit": "power.limit_watts",
    "default power limit": "power.default_limit_watts",
    "enforced power limit": "power.enforced_limit_watts",
    "max power limit": "power.max_limit_watts",
}
FLAGS = {
    ("remapped rows", "pending"): "ecc.remap_pending",
    ("remapped rows", "remapped row pending"): "ecc.remap_pending",
    ("remapped rows", "remapping failure occurred"): "ecc.remap_failed",
    ("remapped rows", "remapped row failure"): "ecc.remap_failed",
    ("retired pages", "pending page blacklist"): "ecc.retirement_pending",
    ("retired pages", "pending blacklist"): "ecc.retirement_pending",
    ("retired pages", "pending retirement"): "ecc.retirement_pending",
}
_SIGNS = (
    "NVSMI LOG",
    "<nvidia_smi_log",
    "Attached GPUs",
    "Remapped Rows",
    "Retired Pages",
    "Throttle Reasons",
    "Clocks Event Reasons",
    "Product Name",
    "License Status",
    "FB Memory Usage",
    "GPU Power Readings",
    "PCIe Generation",
    "GPU Virtualization Mode",
    "ECC Errors",
)
_FABRIC = re.compile(r"^\s*Fabric\s*\n\s+State\s*:", re.M)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from nvidia-smi -q, whole, in sections or as XML."""
    text = page.text
    if not any(sign in text for sign in _SIGNS) and not _FABRIC.search(text):
        return
    _fill(draft, _text_rows(page))
    if "<nvidia_smi_log" in text:
        _fill(draft, _xml_rows(page))


def _fill(draft: Draft, rows: Iterator[Row]) -> None:
    device: DeviceDraft | None = None
    count = 0
    for section, name, value, line in rows:
        if name == "gpu id":
            device = draft.device("nvidia", index=count, pci_address=value)
            count += 1
            continue
        if name == "driver version" and section == "":
            draft.put("nvidia.userspace_version", value, line, TOOL)
        elif name == "cuda version" and re.match(r"\d+\.\d", value):
            draft.put("nvidia.nvml_cuda_version", value, line, TOOL)
        elif _matters(section, name):
            device = device or draft.device("nvidia", index=0)
            _put(device, section, name, value, line)


def _matters(section: str, name: str) -> bool:
    key = (section, name)
    return (
        key in WORDS
        or ("", name) in WORDS
        or key in MEBIBYTES
        or key in COUNTS
        or key in FLAGS
        or ("power readings" in section and name in WATTS)
        or "reasons" in section
        or section in ("hw slowdown", "volatile", "aggregate")
        or name in ("gpu uuid", "uuid", "replays since reset", "replay counter")
    )


def _put(device: DeviceDraft, section: str, name: str, value: str, line: int) -> None:
    key = (section, name)
    lower = value.lower()
    if lower in ("n/a", "[n/a]", "", "requested functionality has been deprecated"):
        return
    number = re.match(r"\d+(?:\.\d+)?", value)
    slot = WORDS.get(key) or WORDS.get(("", name))
    if slot:
        _put_word(device, slot, value, line)
    elif key in MEBIBYTES and number:
        device.put(MEBIBYTES[key], int(float(number[0])) << 20, line)
    elif key in COUNTS and number:
        device.put(COUNTS[key], int(float(number[0])), line)
    elif "power readings" in section and name in WATTS and number:
        device.put(WATTS[name], float(number[0]), line)
    elif key in FLAGS:
        device.put(FLAGS[key], lower in ("yes", "true"), line)
    elif name in ("gpu uuid", "uuid"):
        device.uuid = device.uuid or value
    elif name in ("replays since reset", "replay counter") and number:
        device.put("pcie.replay_count", number[0], line)
    elif section in ("volatile", "aggregate") and number:
        _add_errors(device, section, name, int(float(number[0])), line)
    elif lower == "active":
        _add_reason(device, name, line)


def _put_word(device: DeviceDraft, slot: str, value: str, line: int) -> None:
    if slot == "name" and device.get("name"):
        return  # a vGPU's licensed product also has a name
    if slot in LOWERED:
        value = value.lower().replace(" ", "-")
    elif slot == "compute_mode":
        value = value.lower().replace("_", "-").replace(" ", "-")
    elif slot == "license_state":
        value = "unlicensed" if value.lower().startswith("unlicensed") else "licensed"
    elif slot == "virtualization":
        value = value.lower().replace("pass-through", "passthrough").replace(" ", "-")
    device.put(slot, value, line)


def _add_reason(device: DeviceDraft, name: str, line: int) -> None:
    name = name.removeprefix("clocks event reason ").removeprefix("clocks throttle reason ")
    reason = REASONS.get(name)
    if reason:
        held = device.get("clocks.event_reasons") or ()
        device.slots.pop("clocks.event_reasons", None)
        device.put("clocks.event_reasons", tuple(dict.fromkeys((*held, reason))), line)


def _add_errors(device: DeviceDraft, section: str, name: str, count: int, line: int) -> None:
    if "threshold" in name or re.search(r"\bl2\b|\bmcu\b|\bpcie\b|\bother\b", name):
        return  # parts of a sum that is printed too
    kind = "uncorrected" if re.search(r"uncorr|double|\bunc\b", name) else "corrected"
    if not re.search(r"corr|single|double|total", name):
        return
    slot = f"ecc.{section}_{kind}"
    held = str(device.get(slot) or "0")
    if held.isdigit():
        device.slots.pop(slot, None)
        device.put(slot, str(int(held) + count), line)


def _text_rows(page: Page) -> Iterator[Row]:
    """Yield the rows of the text form; a row that has no value opens a section."""
    stack: list[tuple[int, str]] = []
    for text, line in zip(page.lines(), page.numbers, strict=False):
        found = _GPU.match(text.strip()) if "GPU " in text else None
        if found:
            stack = []
            yield "", "gpu id", found[1], line
            continue
        row = _TEXT.match(text)
        if row is None:
            name = text.strip()
            if name and len(name) < 60:
                indent = len(text) - len(text.lstrip())
                stack = [(i, n) for i, n in stack if i < indent] + [(indent, name.lower())]
            continue
        indent = len(row[1])
        stack = [(i, n) for i, n in stack if i < indent]
        yield stack[-1][1] if stack else "", row[2].strip().lower(), row[3], line
        stack.append((indent, row[2].strip().lower()))


def _xml_rows(page: Page) -> Iterator[Row]:
    """Yield the rows of the XML form, read as tags only: no entity or DTD is followed."""
    stack: list[str] = []
    for found in _TAG.finditer(page.text):
        closing, name, attributes, value = found[1], found[2], found[3], found[4]
        line = page.number_at(found.start())
        if closing:
            if name in stack:
                while stack.pop() != name:
                    pass
        elif value is not None:
            section = stack[-1].replace("_", " ") if stack else ""
            if section == "nvidia smi log":
                section = ""
            if "mig_device" not in stack:
                yield section, name.replace("_", " "), value.strip(), line
        elif not attributes.endswith("/"):
            stack.append(name)
            if name == "gpu":
                identity = re.search(r'id="([^"]+)"', attributes)
                yield "", "gpu id", identity[1] if identity else "", line
