"""Facts inside messages: what torch, JAX, TensorFlow, llama.cpp and tools say of GPU and driver.

An error message often carries the number that decides: the driver's CUDA version, the card's
capability, the architectures of the build, the size of the memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.reading.cards import card_named, cards_described
from agent.reading.draft import MENTION, MESSAGE, TOOL, Draft
from agent.reading.page import Page
from agent.reading.versions import (
    bytes_of,
    capability,
    cuda_of_number,
    driver_version,
    torch_version,
)

Act = Callable[[Draft, "re.Match[str]", int], None]


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from the messages whose tell-tale word occurs in the text."""
    text = page.text
    for word, pattern, act in MESSAGES:
        if word in text:
            for match in pattern.finditer(text):
                act(draft, match, page.number_at(match.start()))
    _mentioned_card(page, draft)


def _warned_card(draft: Draft, match: re.Match[str], line: int) -> None:
    name, arch = match["name"].strip(), match["arch"]
    index = int(match["index"]) if "index" in match.re.groupindex and match["index"] else None
    _card(draft, name, capability(arch), line, index)


def _card(
    draft: Draft, name: str | None, architecture: str | None, line: int, index: int | None = None
) -> None:
    card = card_named(name) if name else None
    vendor = card.vendor if card else "nvidia"
    if architecture and architecture.startswith("gfx"):
        vendor = "amd"
    mine = [d for d in draft.devices if d.vendor == vendor]
    if index is None:
        same = [d for d in mine if name is None or d.get("name") == name]
        device = same[0] if same else draft.device(vendor, index=len(mine))
    else:
        device = draft.device(vendor, index=index)
    device.put("name", name, line, MESSAGE)
    device.put("architecture", architecture, line, TOOL)


def _install_archs(draft: Draft, match: re.Match[str], line: int) -> None:
    names = re.findall(r"(?:sm|compute)_\d{2,3}[af]?|gfx[0-9a-f]{3,4}", match[1])
    if len(names) > 0:
        draft.put("torch.architectures", tuple(dict.fromkeys(names)), line, TOOL)


def _driver_number(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.cuda_version", cuda_of_number(match[1]), line, TOOL)


def _installed_torch(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("torch.version", torch_version(match[1]), line, TOOL)


def _available(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("import.is_available", match[1] == "True", line, TOOL)


def _printed_version(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("torch.version", torch_version(match[1]), line, TOOL)


def _tensorflow_card(draft: Draft, match: re.Match[str], line: int) -> None:
    index = int(match["index"]) if match["index"] else None
    _card(draft, match["name"].strip(), f"{match['major']}.{match['minor']}", line, index)


def _own_capability(draft: Draft, match: re.Match[str], line: int) -> None:
    _card(draft, None, f"{match[1]}.{match[2]}", line)


def _capacity(draft: Draft, match: re.Match[str], line: int) -> None:
    index = int(match["index"]) if match["index"] else 0
    mine = [d for d in draft.devices if d.index == index or len(draft.devices) == 1]
    device = mine[0] if mine else draft.device("nvidia", index=index)
    device.put("memory_total_bytes", bytes_of(match["size"], match["unit"]), line, MESSAGE)


def _cudnn_pair(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("torch.cudnn_version", ".".join(re.findall(r"\d+", match[1])), line, TOOL)


def _gfx(draft: Draft, match: re.Match[str], line: int) -> None:
    if not any(d.vendor == "amd" and d.get("architecture") for d in draft.devices):
        _card(draft, None, match[1], line)


def _nccl_version(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("torch.nccl_version", match[1], line, TOOL)


def _xformers(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("torch.version", torch_version(match[2]), line, TOOL)


def _site(draft: Draft, match: re.Match[str], line: int) -> None:
    prefix, version = match[1], match[2]
    draft.put("interpreter.version", version, line, MENTION)
    if not prefix or prefix in ("/usr", "/usr/local"):
        return
    draft.put("interpreter.prefix", prefix, line, MENTION)
    conda = re.search(r"conda|miniforge|mamba", prefix)
    draft.put("interpreter.kind", "conda" if conda else None, line, MENTION)
    if re.search(r"/\.?venv\b|virtualenv", prefix):
        draft.put("interpreter.kind", "venv", line, MENTION)


def _debug_torch_path(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("torch.path", match[1], line, MENTION)


def _nvrm(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.kernel_version", driver_version(match["version"]), line, TOOL)
    if "Open Kernel Module" in match[0]:
        draft.put("nvidia.kernel_open", True, line, TOOL)


def _nvml_library(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.userspace_version", driver_version(match[1]), line, TOOL)


def _api_mismatch(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.userspace_version", match["client"], line, TOOL)
    draft.put("nvidia.kernel_version", match["module"], line, TOOL)


def _dso_mismatch(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.kernel_version", match[1], line, TOOL)
    draft.put("nvidia.userspace_version", match[2], line, TOOL)


def _fabric_mismatch(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.fabric_manager_version", match[1], line, TOOL)
    draft.put("nvidia.kernel_version", match[2], line, MESSAGE)


def _nvcc(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.add_tool("nvcc", match[1])


def _gcc(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.add_tool("gcc", match[1])


def _driver_named(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.userspace_version", match[1], line, MESSAGE)


def _device_query(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("nvidia.cuda_version", match[1], line, TOOL)


def _rock(draft: Draft, match: re.Match[str], line: int) -> None:
    draft.put("amd.kernel_version", match[1], line, TOOL)


MESSAGES: tuple[tuple[str, re.Pattern[str], Act], ...] = (
    (
        "with CUDA capability",
        re.compile(
            r"(?P<name>(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID|RTX|GTX)[\w .()/-]{0,60}?) "
            r"with CUDA capability (?P<arch>sm_\d+)"
        ),
        _warned_card,
    ),
    (
        "Found GPU",
        re.compile(
            r"Found GPU(?P<index>\d+) (?P<name>[^\n]{1,80}?) which is of (?:cuda|compute) "
            r"capability(?: \(CC\))? (?P<arch>\d+\.\d+)"
        ),
        _warned_card,
    ),
    (
        "supports CUDA capabilities",
        re.compile(r"supports CUDA capabilities ((?:(?:sm|compute)_\d+[af]?\s*)+)"),
        _install_archs,
    ),
    (
        "sm_",
        re.compile(
            r"(?<!capabilities', )\[((?:['\"](?:sm|compute)_\d{2,3}[af]?['\"](?:,\s*|(?=\])))+)\]"
        ),
        _install_archs,
    ),
    ("gfx", re.compile(r"\[((?:['\"]gfx[0-9a-f]{3,4}['\"](?:,\s*|(?=\])))+)\]"), _install_archs),
    ("found version", re.compile(r"found version (\d{4,5})\b"), _driver_number),
    ("(found ", re.compile(r"too old \(found (\d{4,5})\)"), _driver_number),
    (
        "installed torch==",
        re.compile(r"[Yy]our installed torch==(\d[\w.+]*)"),
        _installed_torch,
    ),
    (
        "is_available()",
        re.compile(
            r"torch\.cuda\.is_available\(\)['\"\)]*\s*(?:[:=]{0,2}\s*|\n[^\n]{0,40}?)(True|False)\b"
        ),
        _available,
    ),
    (
        "torch.__version__",
        re.compile(
            r"torch\.__version__[^\n]*\n+['\"]?(\d{1,2}\.\d+[\w.+]*)['\"]?(?:\s+(None|\d+\.\d+|True|False))?"
        ),
        _printed_version,
    ),
    (
        "major: ",
        re.compile(
            r"(?:device (?P<index>\d+) with properties: *\n)?name: (?P<name>[^\n]{1,80}?),? major: "
            r"(?P<major>\d+) minor: (?P<minor>\d)"
        ),
        _tensorflow_card,
    ),
    (
        "compute capability",
        re.compile(
            r"(?:[Dd]evice:? (?P<index>\d+)[:,]? )?(?:name: )?"
            r"(?P<name>(?:NVIDIA|GeForce|Tesla|Quadro|TITAN)[\w .()/-]{0,60}?), "
            r"(?:pci bus id: [\w:.]+, )?compute capability:? "
            r"(?P<major>\d+)\.(?P<minor>\d)"
        ),
        _tensorflow_card,
    ),
    ("capability (", re.compile(r"your GPU has capability \((\d+), (\d)\)"), _own_capability),
    (
        "capability(",
        re.compile(r"get_device_capability\([^)\n]*\)\s*\(?(\d+), (\d)\)"),
        _own_capability,
    ),
    (
        "total capacity",
        re.compile(
            r"GPU (?P<index>\d+)(?:;| has a) (?:total capacity of )?(?P<size>\d+(?:\.\d+)?) "
            r"(?P<unit>[GM]iB)"
        ),
        _capacity,
    ),
    (
        "but linked against",
        re.compile(r"but linked against \((\d+, ?\d+, ?\d+)\)"),
        _cudnn_pair,
    ),
    (
        "found runtime version",
        re.compile(r"found runtime version \((\d+, ?\d+, ?\d+)\)"),
        _cudnn_pair,
    ),
    (
        "gfx",
        re.compile(
            r"(?:for GPU arch ?: ?|gcnArchName[=:] ?['\"]?|--offload-arch=|GPU arch: ?|^)"
            r"(gfx[0-9a-f]{3,4})\b(?!\s*[,/]\s*gfx)",
            re.M,
        ),
        _gfx,
    ),
    ("NCCL version", re.compile(r"NCCL version (\d+\.\d+[\d.]*)"), _nccl_version),
    (
        "xFormers was built for",
        re.compile(r"PyTorch (\S+) with CUDA \d+ \(you have (\d[\w.+]*)\)"),
        _xformers,
    ),
    (
        "python",
        re.compile(
            r"((?:/[\w.+@-]+){0,12}?)/lib(?:64)?/python(\d\.\d{1,2})/(?:site|dist)-packages"
        ),
        _site,
    ),
    (
        "/torch/__init__.py",
        re.compile(r"((?:/[\w.+@-]+)+-packages/torch)/__init__\.py"),
        _debug_torch_path,
    ),
    (
        "NVRM version",
        re.compile(
            r"NVRM version: NVIDIA UNIX (?:Open )?(?:Kernel Module for )?\S+ +(?:Kernel Module +)?"
            r"(?P<version>\d[\d.]*)"
        ),
        _nvrm,
    ),
    (
        "NVML library version",
        re.compile(r"NVML library version: (\d{3}[\d.]*)"),
        _nvml_library,
    ),
    (
        "API mismatch",
        re.compile(
            r"API mismatch:.{0,300}?the version (?P<client>\d{3}[\d.]*\d).{0,300}?the version "
            r"(?P<module>\d{3}[\d.]*\d)",
            re.S,
        ),
        _api_mismatch,
    ),
    (
        "does not match DSO version",
        re.compile(r"kernel version (\d{3}[\d.]*\d) does not match DSO version (\d{3}[\d.]*\d)"),
        _dso_mismatch,
    ),
    (
        "driver interface version",
        re.compile(
            r"driver interface version (\d{3}[\d.]*\d) don't match with driver version "
            r"(\d{3}[\d.]*\d)"
        ),
        _fabric_mismatch,
    ),
    (
        "Cuda compilation tools",
        re.compile(r"Cuda compilation tools, release (?:\d+\.\d+, V)?(\d+\.\d+(?:\.\d+)?)"),
        _nvcc,
    ),
    ("Build cuda_", re.compile(r"Build cuda_(\d+\.\d+)\.r"), _nvcc),
    ("gcc", re.compile(r"^gcc(?:-\d+)? \([^)\n]*\) (\d+\.\d+\.\d+)", re.M), _gcc),
    (
        "river",
        re.compile(
            r"^(?:[-*] )?(?:NVIDIA |nvidia |GPU )?[Dd]river(?: version)?:? "
            r"(\d{3}\.\d{2,3}(?:\.\d{2})?)\b",
            re.M,
        ),
        _driver_named,
    ),
    (
        "river ",
        re.compile(r"(?:,|;|\() ?driver (\d{3}(?:\.\d{2,3}(?:\.\d{2})?)?)\b"),
        _driver_named,
    ),
    (
        "CUDA Driver Version / Runtime Version",
        re.compile(r"CUDA Driver Version / Runtime Version +(\d+\.\d+)"),
        _device_query,
    ),
    (
        "CUDA Capability Major/Minor",
        re.compile(
            r"Device (?P<index>\d+): \"(?P<name>[^\"\n]+)\"\n(?:[^\n]*\n){0,3}?"
            r" *CUDA Capability Major/Minor version number: +(?P<major>\d+)\.(?P<minor>\d)"
        ),
        _tensorflow_card,
    ),
    ("ROCk module version", re.compile(r"ROCk module version (\d[\d.]*) is loaded"), _rock),
)

_CARD_LINE = re.compile(
    r"^[ \t>*+-]{0,6}(?:GPUs?: ?|gpu: ?)?((?:\d{1,2} ?x? )?"
    r"(?:NVIDIA|GeForce|GTX|RTX|Tesla|Quadro|TITAN|Titan|AMD|Radeon|Instinct|H100|A100|V100|DGX)"
    r"[\w .,()/+-]{0,70})$",
    re.M,
)


def _mentioned_card(page: Page, draft: Draft) -> None:
    """Take a line that is nothing but a card's name, where nothing better named one."""
    if draft.devices:
        return
    for match in _CARD_LINE.finditer(page.text):
        card = card_named(match[1])
        if card is not None and card.architecture:
            line = page.number_at(match.start())
            for name, count in cards_described(match[1]):
                for _ in range(count):
                    index = len(draft.devices)
                    draft.device(card.vendor, index=index).put("name", name, line, MENTION)
            return
