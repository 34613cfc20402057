"""From a draft to the facts that the ladder would have filled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agent.model import (
    AmdDriver,
    Clocks,
    Container,
    Device,
    Drivers,
    Ecc,
    Fabric,
    Facts,
    Gap,
    Host,
    Interpreter,
    KernelLog,
    Limits,
    NvidiaDriver,
    Partition,
    PcieLink,
    Power,
    Stage,
    Temperature,
    Toolkits,
    Torch,
)
from agent.reading.cards import SHARED_MEMORY, card_named
from agent.reading.draft import DeviceDraft, Draft, Said, nested
from agent.reading.versions import build_of, cuda_of_build

_PARTS = (
    ("pcie", PcieLink),
    ("power", Power),
    ("clocks", Clocks),
    ("temperature", Temperature),
    ("ecc", Ecc),
    ("partition", Partition),
    ("fabric", Fabric),
)


def facts_of(draft: Draft) -> Facts:
    """Return the facts that the text states; what it does not state stays None."""
    nvidia = draft.area("nvidia")
    amd = draft.area("amd")
    container = draft.area("container")
    if draft.evidence:
        container["evidence"] = tuple(dict.fromkeys(draft.evidence))
    for variable in draft.environment:
        field = _CONTAINER_VARIABLES.get(variable.name)
        if field:
            container.setdefault(field, variable.value)
    return Facts(
        host=Host(
            **draft.area("host"),
            nodes=tuple(draft.nodes),
            modules=tuple(draft.modules),
            pci=tuple(draft.pci),
            disks=tuple(draft.disks),
        ),
        limits=Limits(**draft.area("limits")),
        container=Container(**container),
        kernel_log=KernelLog(readable=bool(draft.events), events=tuple(draft.events)),
        libraries=tuple(draft.libraries),
        devices=tuple(_device(d, number) for number, d in enumerate(draft.devices)),
        drivers=Drivers(
            nvidia=NvidiaDriver(**nvidia) if nvidia else None,
            amd=AmdDriver(**amd) if amd else None,
        ),
        interpreters=_interpreters(draft),
        packages=tuple(draft.packages),
        toolkits=Toolkits(
            tools=tuple(draft.tools),
            cuda_toolkits=tuple(dict.fromkeys(draft.cuda_toolkits)),
            **draft.area("toolkits"),
        ),
        environment=tuple(draft.environment),
    )


_CONTAINER_VARIABLES = {
    "NVIDIA_VISIBLE_DEVICES": "nvidia_visible_devices",
    "NVIDIA_DRIVER_CAPABILITIES": "nvidia_driver_capabilities",
    "NVIDIA_REQUIRE_CUDA": "nvidia_require_cuda",
}


def stages_of(draft: Draft) -> tuple[Stage, ...]:
    """Return what the text shows of rungs that somebody climbed by hand.

    A printed ``torch.cuda.is_available()`` is the import stage with that one datum, so that rules
    find it where the ladder would have put it; the build stands in the interpreter's torch.
    """
    available = draft.get("import.is_available")
    if available is None:
        return ()
    data = {"is_available": available}
    return (Stage(name="import", subject="host", status="passed", data=data),)


def gaps_of(draft: Draft) -> tuple[Gap, ...]:
    """Return what the text contradicts itself in, and what it says is missing."""
    return (*draft.gaps, *draft.passed_over)


def _torch_values(draft: Draft) -> dict[str, Any]:
    torch = draft.area("torch")
    version = torch.get("version")
    if version:
        torch.setdefault("build", build_of(version))
    if torch.get("build") is None:
        torch.pop("build", None)
    if "cuda_version" not in torch:
        from_build = cuda_of_build(torch.get("build"))
        if from_build:
            torch["cuda_version"] = from_build
    if draft.get("host.system") == "macos" and torch.get("build") == "cpu":
        del torch["build"]  # there is no other build for macOS; its GPU needs none
    build = torch.get("build") or ""
    if build.startswith("rocm"):
        torch.setdefault("hip_version", build[4:] or None)
    return torch


def _interpreters(draft: Draft) -> tuple[Interpreter, ...]:
    torch = _torch_values(draft)
    interpreter = draft.area("interpreter")
    if not torch and not interpreter:
        return ()
    return (
        Interpreter(
            path=interpreter.pop("path", "python"),
            chosen=True,
            chosen_because="the text speaks of it",
            torch=Torch(**torch, known_from="text") if torch else None,
            **interpreter,
        ),
    )


def _device(draft: DeviceDraft, number: int) -> Device:
    values = {name: said.value for name, said in draft.slots.items() if "." not in name}
    name = values.get("name")
    if "architecture" not in values and isinstance(name, str):
        card = card_named(name)
        if card is not None:
            values["architecture"] = card.architecture
    if values.get("architecture") in SHARED_MEMORY or re.search(
        r"\bi-?gpu\b|integrated", name or "", re.I
    ):
        values.setdefault("integrated", True)
    parts: dict[str, Any] = {
        part: kind(**nested(draft.slots, part)) for part, kind in _PARTS if _has(draft, part)
    }
    index = number if draft.index is None else draft.index
    return Device(
        id=draft.uuid or draft.pci_address or f"{draft.vendor}-{index}",
        vendor=draft.vendor,
        uuid=draft.uuid,
        pci_address=draft.pci_address,
        driver_index=draft.index,
        **_lists(draft.slots),
        **{k: v for k, v in values.items() if k not in ("links", "peers")},
        **parts,
    )


def _lists(slots: Mapping[str, Said]) -> dict[str, Any]:
    return {name: tuple(slots[name].value) for name in ("links", "peers") if name in slots}


def _has(draft: DeviceDraft, part: str) -> bool:
    return any(slot.startswith(part + ".") for slot in draft.slots)
