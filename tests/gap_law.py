"""The law that every unknown fact has a gap: what is None must be named, with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from agent.model import Facts, Gap

# Parts that other collectors fill.
OTHERS = ("/facts/devices", "/facts/interpreters", "/facts/packages")
# A gap for a list may be for some of its items' fields: "mode, owner and group: why (items)".
_FIELDS = re.compile(r"^([a-z_]+(?:(?:, | and )[a-z_]+)*): ")
UNSET_VARIABLES = ("nvidia_visible_devices", "nvidia_driver_capabilities", "nvidia_require_cuda")
TORCH_WOULD_FIND_NONE = ("cuda_home", "cuda_home_source", "cuda_home_complete", "rocm_home")
ONE_VENDOR_ONLY = {"nvidia": ("architecture",), "amd": ("uuid", "excluded")}
CHILD_FILLS = ("kernel_version", "kernel_open", "rocm_version")


def unexplained(facts: Facts, gaps: tuple[Gap, ...]) -> list[str]:
    """The pointers of facts that are None though no gap says why."""
    return [
        pointer
        for pointer, owner in _nones("/facts", facts)
        if not pointer.startswith(OTHERS)
        and not _answers(pointer.rsplit("/", 1)[-1], owner)
        and not any(_covers(gap, pointer) for gap in gaps)
    ]


def _nones(pointer: str, value: Any) -> Iterator[tuple[str, Any]]:
    if is_dataclass(value):
        for field in fields(value):
            inner = getattr(value, field.name)
            if inner is None:
                yield f"{pointer}/{field.name}", value
            else:
                yield from _nones(f"{pointer}/{field.name}", inner)
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _nones(f"{pointer}/{number}", item)


def _answers(name: str, owner: Any) -> bool:
    """Whether None is itself the answer here: there is none, and that was looked at."""
    answers: dict[str, bool] = {
        "DeviceNode": name == "error" or not getattr(owner, "present", True),
        "KernelModule": not getattr(owner, "loaded", True),
        "KernelGpu": name in ONE_VENDOR_ONLY[getattr(owner, "vendor", "nvidia")],
        "KernelEvent": name in ("code", "pci_address"),
        "Library": name in ("package", "defect"),  # only mapped ones are asked for their package
        "Container": name in UNSET_VARIABLES
        or (name == "image" and getattr(owner, "kind", None) == "none"),
        "Toolkits": name in TORCH_WOULD_FIND_NONE,
        "Drivers": True,  # a vendor without a trace
        "NvidiaDriver": name not in CHILD_FILLS,
        "AmdDriver": name not in CHILD_FILLS,
    }
    return answers.get(type(owner).__name__, False)


def _covers(gap: Gap, pointer: str) -> bool:
    if gap.pointer == pointer:
        return True
    if not pointer.startswith(gap.pointer + "/"):
        return False
    named = _FIELDS.match(gap.why)
    return named is None or pointer.rsplit("/", 1)[-1] in re.split(", | and ", named[1])


def pointers(gaps: tuple[Gap, ...]) -> Mapping[str, str]:
    """The reasons by pointer; of several gaps for one pointer the last."""
    return {gap.pointer: gap.why for gap in gaps}
