"""What was ordered against what is there: one line an item, with its tolerance and its evidence."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agent.errors import UsageError
from agent.files import read_file
from agent.model import Facts, Limits, Observations, OrderItem
from agent.tables.gpus import gpu_named

GIB = 1 << 30
STDIN_LIMIT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the machine has of one item: a number or a text, and where that stands."""

    value: float | str | None
    shown: str | None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One item that an order may name: how it is found, and how far it may fall short.

    ``tolerance`` is the share by which a number may be lower: a driver and a kernel keep some
    memory back, a file system needs some of its disk.
    """

    name: str
    unit: str
    find: Callable[[Facts], Found]
    tolerance: float = 0.0


def _gpus(facts: Facts) -> Found:
    return Found(
        value=float(len(facts.devices)),
        shown=str(len(facts.devices)),
        evidence=("/facts/devices",),
    )


def _gpu(facts: Facts) -> Found:
    names = tuple(dict.fromkeys(d.name for d in facts.devices if d.name))
    evidence = tuple(f"/facts/devices/{i}/name" for i, d in enumerate(facts.devices) if d.name)
    return Found(value=" | ".join(names) or None, shown=", ".join(names) or None, evidence=evidence)


def _least(facts: Facts, get: Callable[[Any], float | None], pointer: str) -> Found:
    """The smallest value over all devices: a promise holds for each of them."""
    values = [(value, i) for i, d in enumerate(facts.devices) if (value := get(d)) is not None]
    if not values:
        return Found(value=None, shown=None)
    value, index = min(values)
    return Found(value=value, shown=f"{value:.6g}", evidence=(f"/facts/devices/{index}/{pointer}",))


def _gpu_memory(facts: Facts) -> Found:
    return _least(
        facts,
        lambda d: d.memory_total_bytes / GIB if d.memory_total_bytes else None,
        "memory_total_bytes",
    )


def _gpu_power(facts: Facts) -> Found:
    return _least(
        facts,
        lambda d: d.power.enforced_limit_watts or d.power.limit_watts if d.power else None,
        "power",
    )


def _pcie_width(facts: Facts) -> Found:
    return _least(facts, lambda d: d.pcie.width_max if d.pcie else None, "pcie/width_max")


def _cpus(facts: Facts) -> Found:
    quota = facts.limits.cpu_quota_cores
    counts = [float(c) for c in (facts.host.cpu_count, quota) if isinstance(c, (int, float))]
    value = min(counts) if counts else None
    return Found(
        value=value,
        shown=None if value is None else f"{value:g}",
        evidence=("/facts/host/cpu_count", "/facts/limits/cpu_quota_cores")
        if isinstance(quota, (int, float))
        else ("/facts/host/cpu_count",),
    )


def _memory(facts: Facts) -> Found:
    limit = memory_limit(facts.limits)
    sizes = [size for size in (facts.host.memory_total_bytes, limit) if size is not None]
    value = min(sizes) / GIB if sizes else None
    evidence = ["/facts/host/memory_total_bytes"] if facts.host.memory_total_bytes else []
    evidence += ["/facts/limits/memory_limit_bytes"] if limit is not None else []
    shown = None if value is None else f"{value:.1f}"
    return Found(value=value, shown=shown, evidence=tuple(evidence))


def memory_limit(limits: Limits) -> int | None:
    """The control group's memory limit in bytes, None without one."""
    return limits.memory_limit_bytes if isinstance(limits.memory_limit_bytes, int) else None


def _disk(facts: Facts) -> Found:
    roomy = [
        (disk.total_bytes, index)
        for index, disk in enumerate(facts.host.disks)
        if disk.total_bytes and disk.role not in ("shm", "tmp")
    ]
    if not roomy:
        return Found(value=None, shown=None)
    size, index = max(roomy)
    value = size / GIB
    return Found(
        value=value, shown=f"{value:.0f}", evidence=(f"/facts/host/disks/{index}/total_bytes",)
    )


def _driver_cuda(facts: Facts) -> Found:
    nvidia = facts.drivers.nvidia
    told = (nvidia.cuda_version or nvidia.nvml_cuda_version) if nvidia else None
    return Found(value=told, shown=told, evidence=("/facts/drivers/nvidia",) if told else ())


def _driver(facts: Facts) -> Found:
    nvidia = facts.drivers.nvidia
    told = (nvidia.kernel_version or nvidia.userspace_version) if nvidia else None
    return Found(value=told, shown=told, evidence=("/facts/drivers/nvidia",) if told else ())


def _whole(facts: Facts) -> Found:
    cut = [
        index
        for index, d in enumerate(facts.devices)
        if d.partition and (d.partition.parent_uuid or d.virtualization == "vgpu")
    ]
    if not facts.devices:
        return Found(value=None, shown=None)
    evidence = tuple(f"/facts/devices/{index}/partition" for index in cut) or ("/facts/devices",)
    return Found(
        value="false" if cut else "true",
        shown="a slice of a card" if cut else "whole cards",
        evidence=evidence,
    )


KINDS: tuple[Kind, ...] = (
    Kind(name="gpu", unit="model", find=_gpu),
    Kind(name="gpu_count", unit="", find=_gpus),
    Kind(name="gpu_memory_gib", unit="GiB", find=_gpu_memory, tolerance=0.08),
    Kind(name="gpu_power_watts", unit="W", find=_gpu_power, tolerance=0.02),
    Kind(name="gpu_whole", unit="", find=_whole),
    Kind(name="pcie_width", unit="lanes", find=_pcie_width),
    Kind(name="cpu_count", unit="", find=_cpus),
    Kind(name="memory_gib", unit="GiB", find=_memory, tolerance=0.05),
    Kind(name="disk_gib", unit="GiB", find=_disk, tolerance=0.10),
    Kind(name="driver", unit="version", find=_driver),
    Kind(name="cuda", unit="version", find=_driver_cuda),
)
NAMES = tuple(kind.name for kind in KINDS)


def read_order(source: str) -> tuple[OrderItem, ...]:
    """Return the ordered items of a JSON file, or of standard input for ``-``.

    The file is one object such as {"gpu": "H100 SXM", "gpu_count": 8, "memory_gib": 1800}.
    Raises UsageError with the names that may be used.
    """
    if source == "-":
        from agent.stdin import read_stdin

        data = read_stdin(STDIN_LIMIT_BYTES, idle_seconds=30.0)
    else:
        data = read_file(source, STDIN_LIMIT_BYTES)
    how = 'write one JSON object, such as {"gpu": "H100", "gpu_count": 8}'
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the order is not JSON: {error}", how) from error
    if not isinstance(document, dict) or not document:
        raise UsageError("the order is not a JSON object with items", how)
    for name, value in document.items():
        if name not in NAMES:
            raise UsageError(
                f"the order names {name[:60]!r}, which cannot be compared",
                f"it may name: {', '.join(NAMES)}",
            )
        wanted = _wanted(name, value)
        if wanted is not None:
            raise UsageError(f"the order's {name} should be {wanted}", how)
    return tuple(OrderItem(item=name, ordered=_text(value)) for name, value in document.items())


def _wanted(name: str, value: object) -> str | None:
    """What an item should be, None where it is; an order that cannot be read is met by nothing."""
    if name == "gpu_whole":
        return None if isinstance(value, bool) else "true or false"
    if name == "gpu":
        is_name = isinstance(value, str) and any(sign.isalnum() for sign in value)
        return None if is_name else "a model's name, such as “H100 SXM”"
    if name in ("driver", "cuda"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        known = number or (isinstance(value, str) and _version(value))
        return None if known else "a version, such as “12.4”"
    try:
        number = not isinstance(value, bool) and math.isfinite(float(str(value)))
    except ValueError:
        number = False
    return None if number else "a number"


def _text(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value[:200] if isinstance(value, str) else f"{value:g}"


def compare(items: tuple[OrderItem, ...], seen: Observations) -> tuple[OrderItem, ...]:
    """Return the items with what was found, the result and its tolerance."""
    kinds = {kind.name: kind for kind in KINDS}
    return tuple(_compare(item, kinds[item.item], seen.facts) for item in items)


def _compare(item: OrderItem, kind: Kind, facts: Facts) -> OrderItem:
    found = kind.find(facts)
    tolerance = f"{kind.tolerance:.0%} less" if kind.tolerance else None
    if found.value is None:
        return replace(item, result="unknown", tolerance=tolerance)
    met = _met(item.ordered, found.value, kind)
    return replace(
        item,
        found=found.shown,
        result="unknown" if met is None else "met" if met else "missed",
        tolerance=tolerance,
        evidence=found.evidence,
    )


def _met(ordered: str, found: float | str, kind: Kind) -> bool | None:
    """Whether what was found is at least what was ordered; None if the order cannot be read."""
    if kind.name == "gpu":
        return all(_same_model(ordered, name) for name in str(found).split(" | "))
    if kind.name == "gpu_whole":
        return ordered.lower() != "true" or found == "true"
    if isinstance(found, str):
        return _version(found) >= _version(ordered) if _version(ordered) else None
    try:
        number = float(ordered)
    except ValueError:
        return None
    return found >= number * (1 - kind.tolerance)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


def _same_model(ordered: str, name: str) -> bool:
    """Whether each word of the order stands in one of the names that the product goes by."""
    product = gpu_named(name)
    names = [name] if product is None else [name, product.name, product.also]
    there = set(re.findall(r"[a-z]+|\d+", " ".join(names).lower()))
    if "hbm" in there:  # the driver's name of an SXM card has its memory instead of its form
        there |= {"sxm"}
    wanted = re.findall(r"[a-z]+|\d+", re.sub(r"\b\d+\s*[x×]\s*", "", ordered.lower()))
    ignored = {"nvidia", "amd", "geforce", "tesla", "instinct", "gb", "gib", "radeon"}
    plain = [word for word in wanted if word not in ignored]
    # A model's number must be whole: "h", "100" of H100 are both in "H100", not in "H200".
    return bool(plain) and all(word in there for word in plain)
