"""Versions as tuples of numbers, and which GPU a compiled target runs on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

Version: TypeAlias = tuple[int, ...]

# Embedded GPUs with targets of their own: server code of the same major does not run there.
# Source: developer.nvidia.com/cuda-gpus (Jetson); torch 2.11 manywheel build script excludes 8.7.
EMBEDDED: frozenset[Version] = frozenset({(5, 3), (6, 2), (7, 2), (8, 7), (11, 0)})
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def version(text: object) -> Version:
    """The leading numbers of a version ("2.6.0+cu124" is (2, 6, 0)); () where there are none."""
    match = _NUMBERS.search(text) if isinstance(text, str) else None
    return tuple(int(part) for part in match.group(0).split(".")) if match else ()


def dotted(numbers: Version) -> str:
    """(12, 8) as "12.8"."""
    return ".".join(map(str, numbers))


def covers(targets: Iterable[str], capability: Version) -> bool:
    """Whether a GPU of this capability has code (or PTX) to run among these targets.

    Binary code runs within its major version from its own minor version upwards, a target with
    suffix `a` only on exactly that capability, with `f` on its family. PTX ("compute_90")
    runs on anything newer. Embedded GPUs (see `EMBEDDED`) need exactly their target.
    Source: CUDA C++ programming guide, binary and PTX compatibility.
    """
    return any(_covers(target, capability) for target in targets)


def _covers(target: str, capability: Version) -> bool:
    match = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", target)
    if match is None or len(capability) < 2:
        return False
    kind, major, minor, suffix = match.groups()
    built = (int(major), int(minor))
    here = capability[:2]
    if suffix == "a":
        return built == here
    if kind == "compute":
        return built <= here
    if here in EMBEDDED or built in EMBEDDED:
        return built == here
    return built[0] == here[0] and built[1] <= here[1]


def newest(targets: Iterable[str]) -> Version:
    """The highest capability named by CUDA targets, () where there is none."""
    return max((_capability(target) for target in targets), default=())


def oldest(targets: Iterable[str]) -> Version:
    """The lowest capability named by CUDA targets, () where there is none."""
    found = [item for item in map(_capability, targets) if item]
    return min(found, default=())


def _capability(target: str) -> Version:
    match = re.fullmatch(r"(?:sm|compute)_(\d+)(\d)[af]?", target)
    return (int(match.group(1)), int(match.group(2))) if match else ()
