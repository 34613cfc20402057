"""AMD's older tools: rocminfo, and rocm-smi in its four layouts and as JSON."""

from __future__ import annotations

import re

from agent.model import DeviceNode, KernelModule
from agent.reading.draft import MESSAGE, DeviceDraft, Draft
from agent.reading.page import Page

_AGENT_LINE = re.compile(r"^\s*([A-Z][\w .()/#-]*?):\s*(.*?)\s*$")
_POOL = re.compile(r"^\s+Size:\s+(\d+)\(0x[0-9a-f]+\) KB")


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from whatever AMD tool printed into the text."""
    text = page.text
    if "Marketing Name" in text or "BDFID" in text:
        _rocminfo(page, draft)
    if "ROCk module" in text or "/dev/kfd" in text:
        _kfd(page, draft)
    if "GPU[" in text or '"card' in text:
        _rocm_smi_fields(page, draft)
    if "Concise Info" in text or "AvgPwr" in text or "PwrCap" in text:
        _rocm_smi_concise(page, draft)


# ---------------------------------------------------------------- rocminfo
def _rocminfo(page: Page, draft: Draft) -> None:
    agent: dict[str, tuple[str, int]] = {}
    count = 0
    lines = [*zip(page.lines(), page.numbers, strict=False), ("Agent 0", 0)]
    for text, line in lines:
        row = _AGENT_LINE.match(text)
        # Pastes lose the "Agent N" heads; a name at the agent's own indent begins one too.
        if text.startswith("Agent ") or (row and row[1] == "Name" and not text.startswith("    ")):
            count += _finish_agent(draft, agent, count)
            agent = {}
        if row and row[1] not in agent:
            agent[row[1]] = (row[2], line)
        if row and row[1] == "Name" and "--gfx" in row[2]:
            agent.setdefault("isa", (row[2].partition("--")[2].partition(":")[0], line))
        pool = _POOL.match(text)
        if pool and "pool" not in agent:
            agent["pool"] = (pool[1], line)


def _finish_agent(draft: Draft, agent: dict[str, tuple[str, int]], count: int) -> int:
    """Keep the agent if it is a GPU; return how many GPUs that makes."""
    kind, line = agent.get("Device Type", ("", 0))
    name = agent.get("Name", ("", 0))[0]
    runs_kernels = "KERNEL_DISPATCH" in agent.get("Features", agent.get("Feature", ("", 0)))[0]
    if kind != "GPU" and (kind or not (name.startswith("gfx") or runs_kernels)):
        if kind == "CPU":
            draft.put("host.cpu_model", agent.get("Marketing Name", ("", 0))[0], line)
        return 0
    address = _bdf(agent.get("BDFID", ("", 0))[0])
    device = draft.device("amd", index=count, pci_address=address)
    device.put("name", agent.get("Marketing Name", ("", 0))[0], line)
    name = name if name.startswith("gfx") else agent.get("isa", ("", 0))[0]
    device.put("architecture", name, line)
    units = agent.get("Compute Unit", ("", 0))[0]
    device.put("multiprocessor_count", int(units) if units.isdigit() else None, line)
    if "APU" in agent.get("Memory Properties", ("", 0))[0]:
        device.put("integrated", True, line)
    if "pool" in agent:
        device.put("memory_total_bytes", int(agent["pool"][0]) << 10, line, MESSAGE)
    return 1


def _bdf(number: str) -> str | None:
    if not number.isdigit() or int(number) == 0 or int(number) > 0xFFFF:
        return None
    value = int(number)
    return f"0000:{value >> 8:02x}:{value >> 3 & 31:02x}.{value & 7}"


_OPEN_KFD = re.compile(r"Unable to open /dev/kfd read-write: ([A-Z][\w ]+)")
_DENIED = re.compile(r"(/dev/(?:kfd|dri/\w+))[^\n]{0,80}?(Permission denied|No such file)")
_ERRNO = {
    "Permission denied": "EACCES",
    "No such file or directory": "ENOENT",
    "No such file": "ENOENT",
    "Invalid argument": "EINVAL",
    "Cannot allocate memory": "ENOMEM",
    "Operation not permitted": "EPERM",
    "No such device": "ENODEV",
}


def _kfd(page: Page, draft: Draft) -> None:
    for match, line in page.find(re.compile(r"ROCk module(?: version [\d.]+)? is (NOT )?loaded")):
        if not any(m.name == "amdgpu" for m in draft.modules):
            draft.modules.append(
                KernelModule(name="amdgpu", loaded=match[1] is None, source=f"line {line}")
            )
    for match in _OPEN_KFD.finditer(page.text):
        _refused(draft, "/dev/kfd", match[1].strip())
    for match in _DENIED.finditer(page.text):
        _refused(draft, match[1], match[2])
    for match, _ in page.find(re.compile(r"^(\S+) is (?:not )?member of (\w+) group", re.M)):
        if " not " not in match[0]:
            groups = tuple(dict.fromkeys((*(draft.get("host.groups") or ()), match[2])))
            draft.slots.pop("host.groups", None)
            draft.put("host.groups", groups, 0)


def _refused(draft: Draft, path: str, words: str) -> None:
    if any(node.path == path for node in draft.nodes):
        return
    error = _ERRNO.get(words, words)
    draft.nodes.append(
        DeviceNode(path=path, present=error != "ENOENT", openable=False, error=error)
    )


# ---------------------------------------------------------------- rocm-smi
_FIELD = re.compile(r"GPU\[(\d+)\]\s*: (?:([\w .()%/-]{2,60}?):\s*)(.*)$")
_CARD = re.compile(r'^\s*"card(\d+)": \{')
_JSON_FIELD = re.compile(r'^\s*"([^"]{2,60})": "?([^"]*)"?,?$')


def _rocm_smi_fields(page: Page, draft: Draft) -> None:
    current: int | None = None
    for text, line in zip(page.lines(), page.numbers, strict=False):
        found = _FIELD.search(text) if "GPU[" in text else None
        if found:
            _smi_field(draft.device("amd", index=int(found[1])), found[2], found[3], line)
            continue
        card = _CARD.match(text)
        if card:
            current = int(card[1])
        elif current is not None and (field := _JSON_FIELD.match(text)):
            _smi_field(draft.device("amd", index=current), field[1], field[2], line)
    for match, line in page.find(re.compile(r'^"?Driver version"?: "?([\d.]+)', re.M)):
        draft.put("amd.kernel_version", match[1], line)


def _smi_field(device: DeviceDraft, name: str, value: str, line: int) -> None:
    value = value.strip()
    if value in ("N/A", ""):
        return
    lower = name.lower().strip(" :")
    number = re.search(r"\d+(?:\.\d+)?", value)
    if lower in ("card series", "card model") and not value.startswith("0x"):
        device.put("name", value, line)
    elif lower == "gfx version":
        device.put("architecture", value, line)
    elif lower in ("pci bus", "pci bus id"):
        device.pci_address = device.pci_address or value.lower()
    elif lower == "vbios version":
        device.put("vbios", value, line)
    elif number is None:
        return
    elif lower.startswith("temperature (sensor junction"):
        device.put("temperature.gpu_celsius", int(float(number[0])), line)
    elif lower.startswith("temperature (sensor edge"):
        device.put("temperature.gpu_celsius", int(float(number[0])), line, MESSAGE)
    elif "graphics package power (w)" in lower or "socket power (w)" in lower:
        slot = "power.enforced_limit_watts" if lower.startswith("max") else "power.usage_watts"
        device.put(slot, float(number[0]), line)
    elif lower == "vram total memory (b)":
        device.put("memory_total_bytes", int(number[0]), line)
    elif lower == "vram total used memory (b)":
        device.put("memory_used_bytes", int(number[0]), line)
    elif lower == "gpu use (%)":
        device.put("utilization_percent", int(float(number[0])), line)


_CONCISE = re.compile(r"^\s*(\d{1,2})\s+\S.*?\d+%")
_MODES = re.compile(r"\b(NPS\d), (\w+)")


def _rocm_smi_concise(page: Page, draft: Draft) -> None:
    current: DeviceDraft | None = None
    inside = False
    for text, line in zip(page.lines(), page.numbers, strict=False):
        if "PwrCap" in text:
            inside = True
        elif "End of ROCm SMI" in text:
            inside = False
        elif inside and (row := _CONCISE.match(text)) and "%" in text:
            current = draft.device("amd", index=int(row[1]))
            _concise_row(current, text, line)
        elif inside and current is not None and re.match(r"\s+(?:AMD|Radeon|Instinct)\b", text):
            current.put("name", text.strip(), line)


def _concise_row(device: DeviceDraft, text: str, line: int) -> None:
    temperature = re.search(r"(\d+)(?:\.\d+)?°?[cC]\b", text)
    if temperature:
        device.put("temperature.gpu_celsius", int(temperature[1]), line)
    usage = re.search(r"°?[cC]\s+(\d+(?:\.\d+)?)W\b", text)
    device.put("power.usage_watts", float(usage[1]) if usage else None, line)
    cap = re.search(r"[a-z]\s+(\d+(?:\.\d+)?)W\s+\d+%", text)
    device.put("power.enforced_limit_watts", (float(cap[1]) or None) if cap else None, line)
    modes = _MODES.search(text)
    if modes:
        device.put("partition.memory_mode", modes[1], line)
        device.put("partition.compute_mode", modes[2], line)
    percents = re.findall(r"(\d+)%", text)
    if percents:
        device.put("utilization_percent", int(percents[-1]), line)
