"""Which extensions are tried: those installed, found from metadata alone, and what all torch has.

The lines themselves are data of ``probes/extension_table.py``, which the probes read, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path

from agent.ladder import DEPTHS
from agent.model import Facts, Json, Package
from agent.options import RunOptions
from agent.run.tasks import Task
from probes.extension_table import EXTENSIONS, Extension

DEFAULT_NVIDIA = "sm_90"
DEFAULT_AMD = "gfx942"
MEMORY_SECONDS = 6.0  # the stage ``memory`` on one device, measured on a CPU and an H100's size


def extension_tasks(options: RunOptions, facts: Facts, workdir: Path) -> tuple[Task, ...]:
    """One task for each extension, those that the user named first.

    A module named by ``--extension`` that belongs to a line of the table is tried as that line,
    and its callable after the line's operation. Other lines are left out of a run that climbs no
    further than ``quick``: then only what was named is tried.
    """
    named = dict(_parts(text) for text in options.extensions)
    shared: dict[str, Json] = {
        "workdir": str(workdir),
        "gpu_backend": "rocm" if facts.devices and facts.devices[0].vendor == "amd" else "cuda",
        "devices": 0 if options.backend == "cpu" else len(facts.devices),
        "architectures": list(wanted_architectures(options.backend, facts)),
        "depth": options.depth,
    }
    tasks = []
    for row in EXTENSIONS:
        package = _package_of(row, facts.packages)
        module = next((m for m in named if m in row.modules or m == _module(row)), None)
        if module is None and not _wanted(row, package, options):
            continue
        given: dict[str, Json] = {"row": row.name}
        if module is not None:
            given.update(named=True, callable=named.pop(module))
        tasks.append(_task(row.name, row, package, {**shared, **given}))
    for module, function in named.items():
        given = {"module": module, "callable": function, "named": True}
        package = _package_named(module, facts.packages)
        tasks.append(_task(module, None, package, {**shared, **given}))
    tasks.sort(key=lambda task: not task.options.get("named"))
    return tuple(tasks)


def expected_seconds(tasks: Iterable[Task], facts: Facts) -> float:
    """What the stages after the quick ones take, on an ordinary machine with so many cores."""
    known = {row.name: row.seconds for row in EXTENSIONS}
    costs = [known.get(str(task.options.get("row")), 3.0) for task in tasks]
    at_once = max(1, min(len(costs), len(os.sched_getaffinity(0))))
    memory = MEMORY_SECONDS * max(1, math.ceil(len(facts.devices) / at_once))
    return sum(costs) / at_once + max(costs, default=0.0) / 2 + memory


def wanted_architectures(backend: str, facts: Facts) -> tuple[str, ...]:
    """For which GPUs kernels are compiled: the devices', else a common one of each vendor."""
    found = [architecture_of(device.architecture) for device in facts.devices]
    known = tuple(dict.fromkeys(name for name in found if name is not None))
    if known:
        return known
    both = {"cuda": (DEFAULT_NVIDIA,), "rocm": (DEFAULT_AMD,)}
    return both.get(backend, (DEFAULT_NVIDIA, DEFAULT_AMD))


def architecture_of(text: str | None) -> str | None:
    """``sm_90`` of "9.0", ``gfx942`` of "gfx942:sramecc+:xnack-"."""
    if text is None:
        return None
    if text.startswith("gfx"):
        return text.split(":")[0]
    digits = text.replace(".", "")
    return f"sm_{digits}" if digits.isdigit() else None


def _parts(text: str) -> tuple[str, str | None]:
    module, _, function = text.partition(":")
    return module, function or None


def _module(row: Extension) -> str | None:
    """The top-level name of what a line imports: flash_attn, transformer_engine."""
    return row.modules[0].split(".")[0] if row.modules else None


def _wanted(row: Extension, package: Package | None, options: RunOptions) -> bool:
    """Whether a line that nobody named is tried at this depth."""
    depth = options.depth
    if depth == "quick" and "extensions" in options.only:
        depth = "standard"
    if DEPTHS.index(row.depth) > DEPTHS.index(depth):
        return False
    return package is not None or not row.distributions


def _package_of(row: Extension, packages: Iterable[Package]) -> Package | None:
    return next((p for p in packages if p.name in row.distributions), None)


def _package_named(module: str, packages: Iterable[Package]) -> Package | None:
    name = module.split(".")[0].replace("_", "-").lower()
    return next((p for p in packages if p.name == name), None)


def _task(
    subject: str, row: Extension | None, package: Package | None, options: dict[str, Json]
) -> Task:
    if package is not None:
        options = {**options, "distribution": package.name, "version": package.version}
    return Task(
        stage="extensions",
        subject=f"ext:{subject}",
        options=options,
        fresh=row is not None and not row.on_torch,
        deadline_seconds=row.deadline_seconds if row is not None else None,
    )
