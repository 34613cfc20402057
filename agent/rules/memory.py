"""Causes in the GPU's memory: too small, used up, in pieces, or held by somebody else."""

from __future__ import annotations

from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule

GIB = 1024.0
_UNITS = {"KiB": 1 / 1024, "KB": 1 / 1024, "MiB": 1.0, "MB": 1.0, "GiB": GIB, "GB": GIB}
_HELD = 0.6  # share of a card that others must hold before they are blamed
_LARGE = 30 * GIB
_FRAGMENT = 2.0  # reserved but unused memory against the request that failed


_WATCH = ("nvidia-smi while the program runs: how much memory of the GPU is used?",)


def gpu_memory_exhausted(case: Case) -> Diagnosis | None:
    """No GPU memory is left, although the error names something else."""
    hits = case.hits("handle_failed")
    if not hits and (weak := case.hits("library_internal_error")):
        hinted = case.says("batch", "memory", "vram", "mib /")
        return Diagnosis(weight=58 if hinted else 20, hits=weak, look_at=_WATCH)
    if not hits or case.hits("cudnn_incompatible", "cudnn_sublibraries"):
        return None
    full = _used_share(case)
    also = case.hits("out_of_memory")
    if case.hits("no_kernel_image", "capability_not_compatible", "driver_too_old", "stub_library"):
        return None
    return Diagnosis(
        weight=86 if (full or 0) > 0.9 or also else 64,
        hits=(*hits, *also),
        evidence=_memory_at(case) if full else (),
        look_at=() if full else _WATCH,
    )


def gpu_memory_fragmented(case: Case) -> Diagnosis | None:
    """Reserved memory lies unused but cannot serve one large block."""
    hits = case.hits("out_of_memory")
    asked, idle, total = _asked(hits), _idle_reserved(case), _capacity(case)
    for hit in hits:
        if asked is None or idle is None or idle < 0.1 * (total or 10 * GIB):
            break
        if idle >= asked * 0.8 or idle >= _FRAGMENT * GIB:
            return Diagnosis(
                weight=84 if idle >= asked * 0.8 else 66,
                hits=(hit, *case.hits("oom_reserved")),
                values={"found": f"{idle / GIB:.2f} GiB", "wanted": f"{asked / GIB:.2f} GiB"},
            )
    free = _size(case.hit("oom_free"), 1)
    if asked and free and free > asked:
        return Diagnosis(weight=50, hits=hits)
    if hits and case.says("fragmentation", "fragmented") and asked is None:
        return Diagnosis(weight=50, hits=hits)
    return None


def gpu_memory_held_by_other_process(case: Case) -> Diagnosis | None:
    """Another process holds the GPU's memory."""
    hits = case.hits("out_of_memory", "handle_failed")
    others = _others(case)
    mine = _size(case.hit("oom_this_process"), 1)
    theirs = sum(_megabytes(hit.group(2), hit.group(3)) for hit in others)
    total = _capacity(case)
    if others and theirs > max(mine or 0.0, 0.25 * (total or 0.0)):
        return Diagnosis(weight=86, hits=(*hits, *others), values=_held_values(theirs, total))
    free, used = _size(case.hit("oom_free"), 1), _size(case.hit("oom_allocated"), 1)
    reserved = _size(case.hit("oom_reserved"), 1)
    if hits and total and free is not None and used is not None:
        unexplained = total - free - max(used, reserved or 0.0)
        if unexplained > _HELD * total and unexplained > max(used, reserved or 0.0):
            return Diagnosis(weight=78, hits=hits, values=_held_values(unexplained, total))
    return _held_by_listing(case, hits)


def _held_by_listing(case: Case, hits: tuple[Hit, ...]) -> Diagnosis | None:
    """What the driver's list of processes, or its count of used memory, shows."""
    for index, device in enumerate(case.devices):
        processes = device.processes
        total, used = device.memory_total_bytes, device.memory_used_bytes
        told = processes and processes.other_memory_bytes
        if told and total and told > 0.2 * total:
            return Diagnosis(
                weight=76 if hits else 56,
                hits=hits,
                evidence=case.at(f"/facts/devices/{index}/processes/other_memory_bytes"),
                values=_held_values(told / 2**20, total / 2**20),
                severity=None if hits else "degrading",
            )
        idle = device.utilization_percent in (0, None)
        if not case.observations.from_text and used and total and used > 0.2 * total and idle:
            own = processes.own if processes else ()
            known = sum(item.memory_bytes or 0 for item in own)
            if used - known > 0.2 * total and known < 0.1 * total:
                return Diagnosis(
                    weight=60,
                    hits=hits,
                    evidence=case.at(f"/facts/devices/{index}/memory_used_bytes"),
                    values=_held_values((used - known) / 2**20, total / 2**20),
                    severity="degrading",
                )
    listed = case.hits("process_row")
    if hits and (nobody := case.hits("smi_no_processes")):
        for row in case.hits("smi_memory_used"):
            held, whole = float(row.group(1)), float(row.group(2))
            if 0.5 * whole < held <= whole:
                values = _held_values(held, whole)
                return Diagnosis(weight=76, hits=(*hits, row, *nobody), values=values)
    if hits and case.says(
        "zombie",
        "defunct",
        "orphan",
        "other user",
        "another process",
        "leftover",
        "left over",
        "still running",
        "other process",
    ):
        return Diagnosis(weight=66, hits=(*hits, *listed))
    if listed and not case.hits("out_of_memory") and case.observations.from_text:
        large = [hit for hit in listed if float(hit.group(4) or 0) > 900]
        unknown = [hit for hit in listed if "Unknown" in hit.group(3)]
        if large and (unknown or len({hit.group(2) for hit in large}) > 2) and not case.works:
            return Diagnosis(weight=60 if unknown else 40, hits=tuple(large))
    return None


def gpu_memory_too_small(case: Case) -> Diagnosis | None:
    """The card has less memory than the job needs or than was believed."""
    hits = case.hits("out_of_memory")
    capacity = case.hits("oom_capacity")
    total, asked = _capacity(case), _asked(hits)
    if not hits and (not capacity or case.works):
        return None
    if total and asked and asked > total:
        return Diagnosis(weight=88, hits=(*hits, *capacity), values=_size_values(total, asked))
    if _others(case) or case.says("preemptively rejected"):
        return None
    used, free = _size(case.hit("oom_allocated"), 1), _size(case.hit("oom_free"), 1)
    if free and asked and free > asked:
        return None  # there is room, only not for this block
    if total and used and used > 0.7 * total:
        # A large card filled by one process is as often the program's doing as too small a card.
        return Diagnosis(
            weight=62,
            hits=(*hits, *capacity),
            values=_size_values(total, asked),
            severity="note" if total > _LARGE else None,
        )
    if total and total < 12 * GIB:
        return Diagnosis(weight=60, hits=(*hits, *capacity), values=_size_values(total, asked))
    return Diagnosis(
        weight=42,
        hits=(*hits, *capacity),
        look_at=(
            "nvidia-smi before the program starts: is memory used already? And what the program"
            " itself allocates (torch.cuda.max_memory_allocated())",
        ),
        severity="note",
    )


def _others(case: Case) -> tuple[Hit, ...]:
    """Other processes that torch's message names.

    In a container the driver knows the process by another number, and torch then lists its own
    memory as somebody else's: such a line tells of no more than what torch itself holds.
    """
    found = case.hits("oom_other_process")
    used = _size(case.hit("oom_allocated"), 1)
    if len(found) != 1 or not used or case.hits("oom_this_process"):
        return found
    held = _megabytes(found[0].group(2), found[0].group(3))
    own = used + (_idle_reserved(case) or 0.0)
    return () if own > 0.8 * held and abs(held - own) < 2 * GIB else found


def _asked(hits: tuple[Hit, ...]) -> float | None:
    """MiB of the request that failed."""
    for hit in hits:
        if hit.group(1):
            number, unit = hit.group(1).split()
            return _megabytes(number, unit)
    return None


def _idle_reserved(case: Case) -> float | None:
    """MiB that torch holds but does not use."""
    reserved = case.hit("oom_reserved")
    if reserved is None:
        return None
    amount = _megabytes(reserved.group(1), reserved.group(2))
    text = reserved.text
    if "unallocated" in case.lines.lower and "is reserved" in text:
        return amount
    if "cached" in text:
        return amount  # before torch 1.4 "cached" was what is held and free
    used = _size(case.hit("oom_allocated"), 1)
    return None if used is None else amount - used


def _capacity(case: Case) -> float | None:
    hit = case.hit("oom_capacity")
    if hit:
        return _megabytes(hit.group(1) or hit.group(3), hit.group(2) or hit.group(4))
    return next(
        (item.memory_total_bytes / 2**20 for item in case.devices if item.memory_total_bytes), None
    )


def _used_share(case: Case) -> float | None:
    for device in case.devices:
        if device.memory_total_bytes and device.memory_used_bytes:
            return device.memory_used_bytes / device.memory_total_bytes
    return None


def _memory_at(case: Case) -> tuple[str, ...]:
    return case.at("/facts/devices/0/memory_used_bytes")


def _size(hit: Hit | None, first: int) -> float | None:
    return None if hit is None else _megabytes(hit.group(first), hit.group(first + 1))


def _megabytes(number: str, unit: str) -> float:
    try:
        return float(number) * _UNITS.get(unit, 1 / 2**20)
    except ValueError:
        return 0.0


def _held_values(held: float, total: float | None) -> dict[str, str]:
    values = {"found": f"{held / GIB:.1f} GiB"}
    if total:
        values["limit"] = f"{total / GIB:.1f} GiB"
    return values


def _size_values(total: float | None, asked: float | None) -> dict[str, str]:
    values = {}
    if total:
        values["limit"] = f"{total / GIB:.1f} GiB"
    if asked:
        values["wanted"] = f"{asked / GIB:.1f} GiB"
    return values


RULES: tuple[Rule, ...] = (
    Rule(
        code="gpu-memory-exhausted",
        severity="blocking",
        who="renter",
        source="cuBLAS and cuDNN status codes; pytorch forum, CUDNN_STATUS_NOT_INITIALIZED",
        find=gpu_memory_exhausted,
        explains=("gpu-memory-too-small",),
    ),
    Rule(
        code="gpu-memory-fragmented",
        severity="blocking",
        who="renter",
        source="torch CUDA memory management notes; its own OutOfMemoryError text",
        find=gpu_memory_fragmented,
        explains=("gpu-memory-too-small",),
    ),
    Rule(
        code="gpu-memory-held-by-other-process",
        severity="blocking",
        who="either",
        source="torch OutOfMemoryError text; NVML process lists",
        find=gpu_memory_held_by_other_process,
        explains=("gpu-memory-too-small", "gpu-memory-exhausted", "memory-used-by-unseen-process"),
    ),
    Rule(
        code="gpu-memory-too-small",
        severity="blocking",
        who="renter",
        source="torch OutOfMemoryError text; GPU data sheets",
        find=gpu_memory_too_small,
    ),
)
