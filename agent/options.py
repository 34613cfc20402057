"""What a run was asked to do, checked before anything starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import UsageError
from agent.ladder import RUNGS, STAGES

LONGEST_TEXT = 1_000  # of a challenge or a ticket; the bundle has to stay small


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of ``agent run`` and ``agent measure``; empty means not given."""

    depth: str = "standard"
    backend: str = "auto"
    pythons: tuple[str, ...] = ()
    order: str | None = None
    output: str | None = None
    sign_with: str | None = None
    challenge: str | None = None
    ticket: str | None = None
    extensions: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    workspace: str | None = None
    timeout_seconds: float | None = None
    replay: str | None = None
    keep: tuple[str, ...] = ()
    strict: bool = False
    as_json: bool = False
    quiet: bool = False
    plain: bool = False
    command: tuple[str, ...] = ()


def run_options(given: Mapping[str, Any]) -> RunOptions:
    """Return the checked options; raises UsageError where they contradict each other."""
    values = {("timeout_seconds" if k == "timeout" else k): v for k, v in given.items()}
    options = RunOptions(**values)
    if options.replay and options.command:
        raise UsageError("--replay runs nothing, so it takes no command", "leave one of them out")
    both = set(options.only) & set(options.skip)
    if both:
        raise UsageError(f"--only and --skip both name {sorted(both)[0]}", "name it once")
    if "workload" in options.only and not options.command:
        raise UsageError("--only workload needs a command", "name it after --: -- python train.py")
    if not wanted_stages(options) and not options.replay:
        raise UsageError("--only and --skip leave nothing to do", "leave one of them out")
    if options.timeout_seconds is not None and math.isnan(options.timeout_seconds):
        raise UsageError("--timeout nan is not a number of seconds", "give seconds: --timeout 60")
    if options.output and options.output != "-" and Path(options.output).is_dir():
        raise UsageError(f"-o {options.output} is a directory", "name a file in it")
    if options.challenge is not None and not options.challenge.strip():
        raise UsageError("--challenge is empty, which would prove nothing", "give the text to sign")
    for name, text in (("--challenge", options.challenge), ("--ticket", options.ticket)):
        if text is not None and len(text) > LONGEST_TEXT:
            raise UsageError(f"{name} is longer than {LONGEST_TEXT} characters", "shorten it")
    if options.workspace and not Path(options.workspace).is_dir():
        raise UsageError(f"--workspace {options.workspace} is not a directory", "create it first")
    for extension in options.extensions:
        module = extension.partition(":")[0]
        if not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(
                f"--extension {extension}: not a module name",
                "write it as package.module or package.module:callable",
            )
    return options


def wanted_stages(options: RunOptions) -> tuple[str, ...]:
    """Return the names of the rungs to climb, in ladder order.

    The depth chooses; ``--only`` replaces that choice by the named rungs and what they need;
    ``--skip`` takes away; a rung for ``--extension`` is added at any depth.
    """
    depths = ("quick", "standard", "deep")
    allowed = depths[: depths.index(options.depth) + 1]
    if options.only:
        wanted = set()
        for name in options.only:
            wanted |= needed_by(name)
    else:
        wanted = {rung.name for rung in STAGES if rung.depth in allowed}
        if options.extensions:
            wanted.add("extensions")
    if not options.command:
        wanted.discard("workload")
    elif not options.only:
        wanted.add("workload")
    return tuple(r.name for r in STAGES if r.name in wanted and r.name not in options.skip)


def needed_by(name: str) -> set[str]:
    """Return the rung and everything it depends on."""
    names = {name}
    for need in RUNGS[name].needs:
        names |= needed_by(need)
    return names
