"""Which Python will the user's program run in, and which others are on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from posixpath import basename

from agent.collect.candidates import Candidate, in_prefix, well_known
from agent.collect.machine import Machine, machine_of
from agent.collect.programs import first_on_path, follow_shim, is_shim, on_path
from agent.collect.shadowing import find_conflicts, workdir_namesakes
from agent.collect.target import Layout, read_layout, read_torch
from agent.collect.trust import changed_by_others
from agent.model import Conflict, Gap, Interpreter

INTERPRETERS_MAX = 64
_POINTER = "/facts/interpreters"
_ACTIVE = ("--python", "agent", "VIRTUAL_ENV", "CONDA_PREFIX")
_BECAUSE = {
    "--python": "--python names it",
    "agent": "it is the Python that runs this program",
    "VIRTUAL_ENV": "$VIRTUAL_ENV names its environment",
    "CONDA_PREFIX": "$CONDA_PREFIX names its environment",
    "PATH": "it is on PATH",
    "well-known": "it lies in a well-known place",
    "conda": "it is one of conda's environments",
    "uv": "it is one of uv's Pythons",
    "pyenv": "it is one of pyenv's Pythons",
    "jupyter": "a Jupyter kernel uses it",
    "process": "a running process that uses a GPU uses it",
}


def find_interpreters(
    named: tuple[str, ...] = (),
    environ: Mapping[str, str] = os.environ,
    root: Path = Path("/"),
    workdir: Path | None = None,
    own_prefix: str | None = sys.prefix,
    own_executable: str | None = None,
    uid: int | None = None,
) -> tuple[tuple[Interpreter, ...], tuple[Gap, ...]]:
    """All interpreters found, from files alone, the chosen one first; never raises.

    The order of choice: ``named``, the interpreter that runs the agent (``own_prefix``),
    $VIRTUAL_ENV, $CONDA_PREFIX, then the first *with torch* of PATH and of the well-known
    places, else the first. The agent's own environment comes last: that is a virtual one
    that holds the distribution ``firstlight`` and no torch, so it was made for this program. From
    a zip file or a checkout there is no such distribution, and the Python that was typed is meant.

    A named path that is no interpreter is chosen all the same (kind ``named``), with a gap:
    another one in its place would answer a question that nobody asked. The result is empty only
    where no Python was found at all.
    """
    machine = machine_of(root=root, environ=environ, workdir=workdir, uid=uid)
    gaps: list[Gap] = []
    own = _own(machine, own_prefix, own_executable)
    found: dict[tuple[str, str], tuple[Interpreter, Layout | None]] = {}
    left_out = 0
    for candidate in _candidates(machine, named, own, gaps):
        layout = _layout_of(machine, candidate, gaps)
        if layout is None and candidate.found_by != "--python":
            continue
        if layout is None:
            key = (candidate.path, "")
        else:
            key = (layout.real_executable, machine.resolve(layout.prefix))
        if key in found:
            found[key] = (_also_found_by(found[key][0], candidate.found_by), found[key][1])
        elif len(found) >= INTERPRETERS_MAX:
            left_out += 1
        else:
            found[key] = (_described(machine, candidate, layout), layout)
    if left_out:
        why = f"{left_out} more Pythons were found than the {INTERPRETERS_MAX} that are listed"
        gaps.append(_gap(why, "the limit of this list"))
    return _with_choice(machine, list(found.values()), gaps), tuple(gaps)


def _with_choice(
    machine: Machine, found: list[tuple[Interpreter, Layout | None]], gaps: list[Gap]
) -> tuple[Interpreter, ...]:
    if not found:
        gaps.append(_gap("no Python was found on PATH or in a well-known place", "PATH"))
        return ()
    chosen, because = _choose(machine, [one for one, _ in found])
    layout = next(layout for one, layout in found if one is chosen)
    found_now = find_conflicts(machine, layout) if layout else workdir_namesakes(machine)
    conflicts = (*found_now, *chosen.conflicts)
    first = replace(chosen, chosen=True, chosen_because=because, conflicts=conflicts)
    return (first, *(one for one, _ in found if one is not chosen))


def _choose(machine: Machine, found: list[Interpreter]) -> tuple[Interpreter, str]:
    """The chosen one and the sentence why; ``found`` is in the order of choice and not empty."""
    foreign = [one for one in found if not is_agents_own(machine, one)]
    for one in foreign:
        if one.found_by[0] in _ACTIVE:
            return one, _BECAUSE[one.found_by[0]]
    for one in foreign:
        if one.torch is not None:
            return one, f"{_because(one, foreign)}, and the first with torch"
    if foreign:
        return foreign[0], f"{_because(foreign[0], foreign)}; no Python with torch was found"
    return found[0], "no Python was found besides this program's own environment"


def _because(one: Interpreter, found: list[Interpreter]) -> str:
    if one.found_by[0] == "PATH" and one is found[0]:
        return "it is the first Python on PATH"
    return _BECAUSE[one.found_by[0]]


def is_agents_own(machine: Machine, interpreter: Interpreter) -> bool:
    """Whether the interpreter's environment was made for this program alone (and not named)."""
    if "--python" in interpreter.found_by or interpreter.torch is not None:
        return False
    if interpreter.prefix is None or interpreter.prefix == interpreter.base_prefix:
        return False  # no virtual environment: it is somebody's Python, not only ours
    minor = ".".join((interpreter.version or "").split(".")[:2])
    return any(
        name.startswith("firstlight-") and name.endswith(".dist-info")
        for kind in ("site-packages", "dist-packages")
        for name in machine.entries(f"{interpreter.prefix}/lib/python{minor}/{kind}")
    )


def _candidates(
    machine: Machine, named: tuple[str, ...], own: str | None, gaps: list[Gap]
) -> Iterator[Candidate]:
    """Every path that may be an interpreter, in the order of choice."""
    for text in named:
        yield Candidate(path=_named(machine, text), found_by="--python")
    if own:
        yield Candidate(path=own, found_by="agent")
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = machine.environ.get(variable)
        path = in_prefix(machine, machine.absolute(prefix)) if prefix else None
        if path:
            yield Candidate(path=path, found_by=variable)
        elif prefix:
            gaps.append(_gap(_broken(machine, prefix), f"${variable}"))
    # both first ones before the rest, which count where the first are this program's own
    both = [list(on_path(machine, name)) for name in ("python", "python3")]
    for path in (*(one[0] for one in both if one), *both[0][1:], *both[1][1:]):
        if path:
            yield Candidate(path=path, found_by="PATH")
    local = f"{machine.workdir.rstrip('/')}/.venv"
    if machine.is_file(f"{local}/pyvenv.cfg") and in_prefix(machine, local) is None:
        gaps.append(_gap(_broken(machine, local), "the working directory"))
    yield from well_known(machine)


def _broken(machine: Machine, prefix: str) -> str:
    target = machine.link(f"{machine.absolute(prefix)}/bin/python")
    if target:
        return f"{prefix}/bin/python is a link to {target}, which cannot be started"
    return f"{prefix} holds no python that can be started"


def _named(machine: Machine, text: str) -> str:
    """What ``--python TEXT`` means: a path, a directory with an environment, or a name on PATH."""
    if "/" not in text and not machine.stat(machine.absolute(text)):
        return first_on_path(machine, text) or text
    path = machine.absolute(text)
    if machine.is_directory(path):
        return in_prefix(machine, path) or path
    if is_shim(machine, path):
        return follow_shim(machine, path) or path
    return path


def _own(machine: Machine, prefix: str | None, executable: str | None) -> str | None:
    if executable is None and prefix == sys.prefix and machine.root == "/":
        executable = sys.executable
    if executable or prefix is None:
        return executable or None
    return in_prefix(machine, prefix)


def _layout_of(machine: Machine, candidate: Candidate, gaps: list[Gap]) -> Layout | None:
    """The layout, or None with a gap where the path is no interpreter that files describe."""
    path, said_by = candidate.path, candidate.found_by
    if not path.startswith("/"):
        gaps.append(_gap(f"there is no {path} on PATH", said_by))
        return None
    if not machine.is_executable(path):
        why = "is no file that can be started" if machine.stat(path) else "does not exist"
        gaps.append(_gap(f"{path} {why}", said_by))
        return None
    if (machine.read_bytes(path, 4) or b"\x7fELF") != b"\x7fELF":  # unreadable: taken as it is
        why = f"{path} is a script, not an interpreter; what it starts is not known from files"
        gaps.append(_gap(why, said_by))
        return None
    layout = read_layout(machine, path)
    # tools such as mise put a link to their own program in python's place
    if layout.kind not in ("venv", "uv") and (
        not layout.has_standard_library or "py" not in basename(layout.real_executable)
    ):
        why = f"{path} leads to {layout.real_executable}, which is no Python with its library"
        gaps.append(_gap(why, said_by))
        return None
    return layout


def _described(machine: Machine, candidate: Candidate, layout: Layout | None) -> Interpreter:
    if layout is None:
        return Interpreter(path=candidate.path, kind="named", found_by=(candidate.found_by,))
    conflicts: list[Conflict] = []
    changed = changed_by_others(machine, layout)
    if changed:
        conflicts.append(Conflict(code="writable-by-others", detail=changed))
    if layout.minor and tuple(map(int, layout.minor.split("."))) < (3, 8):
        conflicts.append(Conflict(code="python-too-old", detail=layout.version or layout.minor))
    return Interpreter(
        path=layout.executable,
        version=layout.version,
        kind=layout.kind,
        found_by=(candidate.found_by,),
        prefix=layout.prefix,
        base_prefix=layout.base_prefix,
        torch=read_torch(machine, layout),
        writable_by_others=changed is not None,
        conflicts=tuple(conflicts),
    )


def _also_found_by(interpreter: Interpreter, found_by: str) -> Interpreter:
    if found_by in interpreter.found_by:
        return interpreter
    return replace(interpreter, found_by=(*interpreter.found_by, found_by))


def _gap(why: str, said_by: str) -> Gap:
    return Gap(pointer=_POINTER, why=why, said_by=said_by)
