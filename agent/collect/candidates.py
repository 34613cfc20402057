"""Where Python interpreters may lie on a machine: places, lists of other tools, processes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import basename, dirname

from agent.collect.machine import Machine
from agent.collect.programs import first_on_path

FOLDER_MAX = 256  # entries looked at in one well-known directory
PROCESSES_MAX = 4096
DESCRIPTORS_MAX = 512
_GPU_NODE = re.compile(r"/dev/(nvidia|kfd$|dri/renderD|dxg$)")
_CONDA_NAMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "conda")
_MINORS = tuple(f"3.{minor}" for minor in range(8, 16))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A path that may be an interpreter, and what pointed to it (see Interpreter.found_by)."""

    path: str
    found_by: str


def well_known(machine: Machine) -> Iterator[Candidate]:
    """Candidates from the places that people and tools use, in the order in which they count."""
    for prefix in _well_known_prefixes(machine):
        yield from _in_prefix(machine, prefix, "well-known")
    for minor in _MINORS:
        for folder in ("/usr/local/bin", "/usr/bin"):
            yield from _one(machine, f"{folder}/python{minor}", "well-known")
    for prefix in _conda_prefixes(machine):
        yield from _in_prefix(machine, prefix, "conda")
    for prefix in _uv_prefixes(machine):
        yield from _in_prefix(machine, prefix, "uv")
    for prefix in _pyenv_prefixes(machine):
        yield from _in_prefix(machine, prefix, "pyenv")
    yield from jupyter_kernels(machine)
    yield from gpu_processes(machine)


def in_prefix(machine: Machine, prefix: str) -> str | None:
    """The interpreter of an environment, or None; a dangling link counts as none."""
    for name in ("python", "python3"):
        path = f"{prefix.rstrip('/')}/bin/{name}"
        if machine.is_executable(path):
            return path
    return None


def _in_prefix(machine: Machine, prefix: str, found_by: str) -> Iterator[Candidate]:
    path = in_prefix(machine, prefix)
    if path:
        yield Candidate(path=path, found_by=found_by)


def _one(machine: Machine, path: str, found_by: str) -> Iterator[Candidate]:
    if machine.is_executable(path):
        yield Candidate(path=path, found_by=found_by)


def _children(machine: Machine, folder: str) -> list[str]:
    return [f"{folder}/{name}" for name in machine.entries(folder, FOLDER_MAX)]


def _well_known_prefixes(machine: Machine) -> Iterator[str]:
    here = machine.workdir.rstrip("/")
    yield from (f"{here}/.venv", f"{here}/venv")
    yield from _children(machine, "/venv")
    for folder in ("/opt", "/workspace"):
        yield folder
        for child in _children(machine, folder):
            yield from (child, f"{child}/.venv", f"{child}/venv")
    yield from ("/app/.venv", f"{machine.home}/.venv", f"{machine.home}/venv")
    yield from _children(machine, f"{machine.home}/.virtualenvs")
    yield from _children(machine, f"{machine.home}/.cache/pypoetry/virtualenvs")


def _conda_prefixes(machine: Machine) -> Iterator[str]:
    roots = [f"{place}/{name}" for place in (machine.home, "/opt") for name in _CONDA_NAMES]
    program = machine.environ.get("CONDA_EXE")
    if program:
        roots.insert(0, dirname(dirname(program)))
    roots += [machine.environ[name] for name in ("MAMBA_ROOT_PREFIX",) if name in machine.environ]
    for root in roots:
        if machine.is_directory(f"{root}/conda-meta") or machine.is_directory(f"{root}/envs"):
            yield root
            yield from _children(machine, f"{root}/envs")
    listed = machine.read(f"{machine.home}/.conda/environments.txt") or ""
    yield from (line.strip() for line in listed.splitlines() if line.startswith("/"))


def _uv_prefixes(machine: Machine) -> Iterator[str]:
    data = machine.environ.get("XDG_DATA_HOME") or f"{machine.home}/.local/share"
    for root in (machine.environ.get("UV_PYTHON_INSTALL_DIR"), f"{data}/uv/python"):
        if root:
            yield from _children(machine, machine.absolute(root))


def _pyenv_prefixes(machine: Machine) -> Iterator[str]:
    for root in (machine.environ.get("PYENV_ROOT"), f"{machine.home}/.pyenv"):
        if root:
            yield from _children(machine, f"{machine.absolute(root)}/versions")


def jupyter_kernels(machine: Machine) -> Iterator[Candidate]:
    """The interpreters that Jupyter's kernel specs start (``argv[0]`` of each kernel.json).

    A bare ``python`` there means the Python that runs Jupyter, which no file names.
    """
    data = machine.environ.get("XDG_DATA_HOME") or f"{machine.home}/.local/share"
    roots = [f"{data}/jupyter", "/usr/local/share/jupyter", "/usr/share/jupyter"]
    roots = [one for one in machine.environ.get("JUPYTER_PATH", "").split(":") if one] + roots
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if machine.environ.get(variable):
            roots.append(f"{machine.environ[variable]}/share/jupyter")
    for root in roots:
        for folder in _children(machine, f"{machine.absolute(root)}/kernels"):
            program = _kernel_program(machine.read(f"{folder}/kernel.json"))
            if program:
                yield from _one(machine, program, "jupyter")


def _kernel_program(text: str | None) -> str | None:
    try:
        argv = json.loads(text or "null")["argv"]
        first = argv[0]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    is_python = isinstance(first, str) and basename(first).startswith("python")
    return first if is_python and first.startswith("/") else None


def gpu_processes(machine: Machine) -> Iterator[Candidate]:
    """The interpreters of this user's running processes that hold a GPU device node open.

    ``/proc/PID/exe`` names the base interpreter; the environment is known only from how the
    process was started, so its first argument and its PATH are followed, and no more is read.
    """
    processes = [name for name in machine.entries("/proc", PROCESSES_MAX) if name.isdecimal()]
    for process in processes:
        folder = f"/proc/{process}"
        program = machine.link(f"{folder}/exe")
        if program is None or not basename(program).startswith("python"):
            continue
        status = machine.stat(folder)
        if status is None or status.st_uid != machine.uid or not _holds_gpu(machine, folder):
            continue
        yield from _one(machine, _started_as(machine, folder, program), "process")


def _holds_gpu(machine: Machine, folder: str) -> bool:
    for name in machine.entries(f"{folder}/fd", DESCRIPTORS_MAX):
        if _GPU_NODE.match(machine.link(f"{folder}/fd/{name}") or ""):
            return True
    return False


def _started_as(machine: Machine, folder: str, program: str) -> str:
    """The path that the process was started by, where it leads to the running program."""
    first = (machine.read(f"{folder}/cmdline", 4096) or "").partition("\0")[0]
    if "/" in first and not first.startswith("/"):
        started_in = machine.link(f"{folder}/cwd")
        first = f"{started_in}/{first}" if started_in else first
    elif first and "/" not in first:
        pairs = (machine.read(f"{folder}/environ", 1 << 17) or "").split("\0")
        path = next((pair[5:] for pair in pairs if pair.startswith("PATH=")), "")
        theirs = Machine(root=machine.root, environ={"PATH": path}, workdir="/")
        first = first_on_path(theirs, first) or first
    if first.startswith("/") and machine.resolve(first) == machine.resolve(program):
        return first
    return program
