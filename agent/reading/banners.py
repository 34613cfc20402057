"""What programs print about themselves when they start: banners and property dumps.

Ultralytics, ComfyUI, Unsloth, Ollama, llama.cpp, Detectron2's table, DeepSpeed's report,
``torch.__config__.show()``, ``get_device_properties`` and what an interactive Python answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.reading.cards import card_named
from agent.reading.draft import MESSAGE, REPORT, TOOL, DeviceDraft, Draft
from agent.reading.page import Page
from agent.reading.versions import size

Act = Callable[[Draft, "re.Match[str]", int], None]


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from the banners whose tell-tale word occurs in the text."""
    for word, pattern, act in BANNERS:
        if word in page.text:
            for match in re.finditer(pattern, page.text, re.M):
                act(draft, match, page.number_at(match.start()))


def _device(draft: Draft, name: str, line: int, index: int | None) -> DeviceDraft:
    card = card_named(name)
    vendor = card.vendor if card else "nvidia"
    device = draft.device(vendor, index=index if index is not None else 0)
    device.put("name", name.strip(), line, MESSAGE)
    return device


def _named(draft: Draft, match: re.Match[str], line: int) -> None:
    """Take index, name, memory and architecture from the groups that the pattern has."""
    groups = match.groupdict()
    index = groups.get("index")
    device = _device(draft, match["name"], line, int(index) if index else None)
    architecture = groups.get("arch") or (
        f"{groups['major']}.{groups['minor']}" if groups.get("minor") else None
    )
    device.put("architecture", architecture, line, TOOL)
    if groups.get("memory"):
        device.put("memory_total_bytes", size(match["memory"]), line, TOOL)
    units = groups.get("units")
    device.put("multiprocessor_count", int(units) if units else None, line, TOOL)


def _name_only(draft: Draft, match: re.Match[str], line: int) -> None:
    _device(draft, match["name"], line, int(match["index"] or 0))


def _all_indices(draft: Draft, match: re.Match[str], line: int) -> None:
    for index in re.findall(r"\d+", match["indices"]):
        device = _device(draft, match["name"], line, int(index))
        device.put("architecture", match["arch"], line, REPORT)


def _ollama(draft: Draft, match: re.Match[str], line: int) -> None:
    device = _device(draft, match["name"], line, None)
    if match["library"] == "cuda":
        device.put("architecture", match["arch"], line, TOOL)
        draft.put("nvidia.cuda_version", match["driver"], line, TOOL)


def _total_memory(draft: Draft, match: re.Match[str], line: int) -> None:
    for device in draft.devices or [draft.device("nvidia", index=0)]:
        device.put("memory_total_bytes", int(match[1]) << 20, line, MESSAGE)


def _slot(name: str, weight: int = TOOL) -> Act:
    def put(draft: Draft, match: re.Match[str], line: int) -> None:
        draft.put(name, match[1], line, weight)

    return put


def _unsloth(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("torch.version", match["torch"], line, TOOL)
    draft.put("torch.cuda_version", match["toolkit"], line, TOOL)
    for device in draft.devices or [draft.device("nvidia", index=0)]:
        device.put("architecture", match["arch"], line, TOOL)


def _architectures(draft: Draft, match: re.Match[str], line: int) -> None:
    names = re.findall(r"code=((?:sm|compute)_\d{2,3}[af]?)", match[1])
    draft.put("torch.architectures", tuple(dict.fromkeys(names)) or None, line, TOOL)


def _tool(name: str) -> Act:
    def put(draft: Draft, match: re.Match[str], line: int) -> None:
        draft.add_tool(name, match[1])

    return put


def _cudnn(draft: Draft, match: re.Match[str], line: int) -> None:
    number = match[1]  # 8902 is 8.9.2, 90100 is 9.1.0
    minor = 2 if len(number) == 4 else 3
    parts = (number[:1], str(int(number[1:minor])), str(int(number[minor:])))
    draft.put("torch.cudnn_version", ".".join(parts), line, MESSAGE)


def _capability(draft: Draft, match: re.Match[str], line: int) -> None:
    if not draft.devices:
        draft.device("nvidia", index=0).put("architecture", match["arch"], line, TOOL)


def _hip_device(draft: Draft, match: re.Match[str], line: int) -> None:
    device = draft.device("amd", index=int(match["index"]))
    device.put("name", match["name"].strip(), line, MESSAGE)
    device.put("architecture", match["arch"], line, TOOL)


def _properties(draft: Draft, match: re.Match[str], line: int) -> None:
    gfx = re.search(r"gcnArchName='(gfx[0-9a-f]+)", match["rest"])
    if gfx:
        device = _device(draft, match["name"], line, 0)
        device.put("architecture", gfx[1], line, TOOL)
    else:
        device = _device(draft, match["name"], line, 0)
        device.put("architecture", f"{match['major']}.{match['minor']}", line, TOOL)
    memory = re.search(r"total_memory=(\d+MB)", match["rest"])
    device.put("memory_total_bytes", size(memory[1]) if memory else None, line, TOOL)
    units = re.search(r"multi_processor_count=(\d+)", match["rest"])
    device.put("multiprocessor_count", int(units[1]) if units else None, line, TOOL)


BANNERS: tuple[tuple[str, str, Act], ...] = (
    (
        "Ultralytics",
        r"CUDA:(?P<index>\d+) \((?P<name>[^,()\n]+), (?P<memory>\d+MiB)\)",
        _named,
    ),
    ("Ultralytics", r"Python-(3\.\d+\.\d+) torch-", _slot("interpreter.version", REPORT)),
    ("cuda:", r"^Device: cuda:(?P<index>\d+) (?P<name>[^:\n]+?)(?: :|$)", _name_only),
    ("Total VRAM", r"^Total VRAM (\d+) MB", _total_memory),
    (
        "Unsloth",
        r"(?P<name>(?:NVIDIA|Tesla|AMD|GeForce)[^.\n]{0,60}?)\. Num GPUs = \d+\. "
        r"Max memory: (?P<memory>[\d.]+ GB)",
        _named,
    ),
    (
        "CUDA Toolkit",
        r"Torch: (?P<torch>\d[\w.+]*\w)\. CUDA: (?P<arch>\d+\.\d)\. CUDA Toolkit: "
        r"(?P<toolkit>\d+\.\d)",
        _unsloth,
    ),
    (
        "inference compute",
        r"library=(?P<library>\w+) variant=\S+ compute=(?P<arch>\S+) driver=(?P<driver>\d+\.\d+) "
        r'name="?(?P<name>[^"\n]*?)"? total=',
        _ollama,
    ),
    (
        "ROCm devices",
        r"^ +Device (?P<index>\d+): (?P<name>[^,\n]+), (?P<arch>gfx[0-9a-f]+)",
        _hip_device,
    ),
    (
        "DeviceProperties",
        r"DeviceProperties\(name='(?P<name>[^'\n]+)', major=(?P<major>\d+), minor=(?P<minor>\d+)"
        r"(?P<rest>[^\n]*)",
        _properties,
    ),
    (
        "(arch=",
        r"^GPU (?P<indices>[\d,]+) {2,}(?P<name>\S[^(\n]*?) \(arch=(?P<arch>\d+\.\d)\)",
        _all_indices,
    ),
    ("Python 3.", r"^Python (3\.\d+\.\d+)\b", _slot("interpreter.version")),
    (
        "ighest compute capability",
        r"[Hh]ighest compute capability among GPUs detected: (?P<arch>\d+\.\d)",
        _capability,
    ),
    ("detectron2", r"^Python {2,}(3\.\d+\.\d+)", _slot("interpreter.version", REPORT)),
    ("detectron2", r"^Driver version {2,}(\d{3}[\d.]*)", _slot("nvidia.userspace_version", REPORT)),
    ("detectron2", r"^CUDA_HOME {2,}(/\S+)", _slot("toolkits.cuda_home", REPORT)),
    ("detectron2", r"^CUDA compiler {2,}CUDA (\d+\.\d+)", _tool("nvcc")),
    ("PyTorch built with", r"^ +- CUDA Runtime (\d+\.\d+)", _slot("torch.cuda_version")),
    ("PyTorch built with", r"^ +- HIP Runtime (\d+\.\d+[\d.]*)", _slot("torch.hip_version")),
    ("architecture flags", r"^ +- NVCC architecture flags: (\S+)", _architectures),
    (
        "torch.version.cuda",
        r"^[^\n]{0,12}torch\.version\.cuda\)?\n['\"]?(\d+\.\d+)['\"]?$",
        _slot("torch.cuda_version"),
    ),
    (
        "get_device_name",
        r"get_device_name\((?P<index>\d?)\)+\n['\"]?(?P<name>[A-Z][^'\"\n]{2,60})['\"]?$",
        _name_only,
    ),
    ("cudnn.version", r"cudnn\.version\(\)+\n(\d{4,5})$", _cudnn),
    (
        "reported version is",
        r"kernel reported version is: (\d{3}[\d.]*\d)",
        _slot("nvidia.kernel_version"),
    ),
    (
        "reported version is",
        r"libcuda reported version is: (\d{3}[\d.]*\d)",
        _slot("nvidia.libcuda_version"),
    ),
)
