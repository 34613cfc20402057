"""What a "key: value" line states of GPUs: names, capability, memory, count."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.model import Vendor
from agent.reading.cards import card_named, cards_described
from agent.reading.draft import MESSAGE, REPORT, DeviceDraft, Draft
from agent.reading.versions import capability, size

Reader = Callable[[Draft, str, int], None]


def _gpu(draft: Draft, value: str, line: int) -> None:
    """Read "GPU 0: A; GPU 1: B", a count and a name, or several names."""
    listed = re.findall(
        r"GPU ?((?:\d+,? ?)+)(?:\(\S+\))?: ?([^;\n]+?)(?= ?\(UUID|[;\n]|\s+GPU ?\d|$)", value
    )
    if listed:
        for numbers, name in listed:
            for number in re.findall(r"\d+", numbers):
                named_device(draft, name.strip(), line, index=int(number))
        return
    described = [
        (name, card_named(name)) for name, count in cards_described(value) for _ in range(count)
    ]
    named = {_model_of(d) for d in draft.devices} - {""}
    if named:
        described = [(n, c) for n, c in described if c and c.model and c.model not in named]
    # A table cuts long names: "NVIDIA GeForce ..." waits for its name as well.
    unnamed = [d for d in draft.devices if not _model_of(d)]
    for name, card in described:
        target = re.search(r"\bgfx[0-9a-f]{3,4}\b", name)
        if card is None and target:
            _capability(draft, target[0], line)
            continue
        if card is None and not re.match(r"NVIDIA|DGX", name):
            continue
        if unnamed and (card is None or card.vendor == unnamed[0].vendor):
            unnamed.pop(0).put("name", name, line, REPORT)
        else:
            named_device(draft, name, line, index=_next_index(draft))


def _next_index(draft: Draft) -> int:
    return max((d.index if d.index is not None else 0 for d in draft.devices), default=-1) + 1


def _model_of(device: DeviceDraft) -> str:
    card = card_named(device.get("name") or "")
    return card.model if card else ""


def named_device(draft: Draft, name: str, line: int, *, index: int) -> DeviceDraft:
    """State a device by its position and name; the make follows from the name."""
    name = re.split(r",\s*\d", name)[0].strip()
    card = card_named(name)
    vendor: Vendor = card.vendor if card else "nvidia"
    device = draft.device(vendor, index=index)
    device.put("name", name, line, REPORT)
    if re.search(r"vgpu|-\d+[CQBA]$", name, re.I):
        device.put("virtualization", "vgpu", line, MESSAGE)
    found = re.search(r"MIG (\dg\.\d+gb)", name)
    if found:
        device.put("partition.kind", "mig", line, REPORT)
        device.put("partition.mig_mode", "enabled", line, REPORT)
        device.put("partition.profile", found[1], line, REPORT)
    return device


def _capability(draft: Draft, value: str, line: int) -> None:
    found = re.findall(r"gfx[0-9a-f]{3,4}|(?:sm|compute)_?\d{2,3}[af]?|\d{1,2}[.,] ?\d", value)
    stated = [a if a.startswith("gfx") else capability(a) for a in found]
    architectures = [a for a in dict.fromkeys(stated) if a]
    if not architectures:
        return
    vendor: Vendor = "amd" if architectures[0].startswith("gfx") else "nvidia"
    mine = [d for d in draft.devices if d.vendor == vendor]
    if len(architectures) == 1:
        for device in mine or [draft.device(vendor, index=0)]:
            device.put("architecture", architectures[0], line, REPORT)
        return
    for number, architecture in enumerate(architectures[len(mine) :], len(mine)):
        draft.device(vendor, index=number).put("architecture", architecture, line, MESSAGE)


def _gpu_memory(draft: Draft, value: str, line: int) -> None:
    total = size(value)
    if total is None and re.fullmatch(r"\d{3,6}", value):
        total = int(value) << 20
    if total:
        for device in draft.devices or [draft.device("nvidia", index=0)]:
            device.put("memory_total_bytes", total, line, MESSAGE)


def _gpu_count(draft: Draft, value: str, line: int) -> None:
    found = re.match(r"\d{1,2}\b", value)
    if not found or len(draft.devices) != 1:
        return
    first = draft.devices[0]
    for index in range(1, int(found[0])):
        twin = draft.device(first.vendor, index=index)
        for slot in ("name", "architecture", "memory_total_bytes"):
            twin.put(slot, first.get(slot), line, MESSAGE)


def _compute_mode(draft: Draft, value: str, line: int) -> None:
    mode = value.strip().lower().replace("_", "-").replace(" ", "-")
    for device in draft.devices or [draft.device("nvidia", index=0)]:
        device.put("compute_mode", mode, line, REPORT)


KEYS: dict[str, Reader] = {
    **dict.fromkeys(
        (
            "gpu models and configuration",
            "gpu",
            "gpus",
            "gpu model",
            "gpu models",
            "gpu name",
            "gpu type",
            "graphics card",
            "video card",
            "card",
            "cards",
            "device name",
            "gpu model and memory",
            "cuda/cudnn/gpu",
            "gpu devices",
            "gpu info",
            "gpu.name",
            "hardware",
            "cuda device",
            "cuda devices",
            "accelerator",
            "accelerators",
            "model name (gpu)",
            "显卡",
            "显卡型号",
            "card đồ họa",
            "グラフィックボード",
            "nvidia gpu",
            "amd gpu",
            "gpu used",
            "used gpu",
            "gpu 0",
            "gpu(s)",
        ),
        _gpu,
    ),
    **dict.fromkeys(
        (
            "arch",
            "compute capability",
            "gpu.compute capability",
            "cuda capability",
            "gpu arch",
            "gpu architecture",
            "sm",
            "gfx",
            "gfx version",
            "capability",
            "cc",
            "gpu compute capability",
            "cuda compute capability",
            "compute cap",
            "gfx target",
            "gfx arch",
            "cuda arch",
            "gpu capability",
        ),
        _capability,
    ),
    **dict.fromkeys(
        (
            "gpu memory",
            "vram",
            "vram mb",
            "gpu vram",
            "gpu memory (mb)",
            "vram total",
            "gpu ram",
            "device memory",
            "vram size",
        ),
        _gpu_memory,
    ),
    **dict.fromkeys(
        (
            "gpu count",
            "number of gpus",
            "device count",
            "num gpus",
            "gpus per node",
            "cuda device count",
        ),
        _gpu_count,
    ),
    **dict.fromkeys(("compute mode",), _compute_mode),
}
