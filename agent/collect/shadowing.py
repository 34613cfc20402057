"""What makes an interpreter load other code than its user thinks: copies, paths, namesakes."""

from __future__ import annotations

import re
import sys
from posixpath import basename, dirname

from agent.collect.machine import Machine
from agent.collect.packages import Distribution, conda_packages, distributions, installer
from agent.collect.programs import first_on_path
from agent.collect.target import Layout
from agent.model import Conflict

CONFLICTS = {
    "pip-of-other-interpreter": "the first pip on PATH installs into another interpreter",
    "active-environment-not-first": "the activated environment's python is not the one on PATH",
    "pythonhome-set": "PYTHONHOME moves the standard library of every Python that is started",
    "pythonpath-supplies-torch": "PYTHONPATH supplies torch, ahead of the environment's own",
    "pythonpath-shadows": "a copy on PYTHONPATH hides the environment's own",
    "user-site-shadows": "a copy in the user's own package directory hides the environment's",
    "user-site-not-read": "torch is in the user's own package directory, which is not read here",
    "two-copies": "two copies of a package are on the path, and the first hides the second",
    "conda-and-pip-torch": "both conda and pip installed a torch into the same environment",
    "mixed-cuda-wheels": "nvidia wheels of more than one CUDA major version are installed",
    "torch-incomplete": "a torch directory or record is there, but not the package itself",
    "workdir-shadows-torch": "a file or directory in the working directory hides torch or a part",
    "workdir-shadows-stdlib": "a file in the working directory hides a standard module",
    "writable-by-others": "another user can change the interpreter's files",
    "python-too-old": "this Python is older than 3.8, the oldest that can be examined",
    "base-python-missing": "the Python that this environment was made from is gone",
}

# Modules that torch's own import reaches; a user's file of that name is loaded in their place.
_TORCH_PARTS = frozenset(
    """
    torch torchvision torchaudio torchgen functorch triton numpy sympy networkx jinja2 filelock
    fsspec typing_extensions
    """.split()  # noqa: SIM905
)
# Loaded before the working directory comes on the path, or imported by nobody else.
_HARMLESS = frozenset(
    """
    abc antigravity builtins codecs genericpath idlelib io lib2to3 marshal os posix
    posixpath pydoc_data site sitecustomize stat sys test this time tkinter turtle
    turtledemo zipimport
    """.split()  # noqa: SIM905
)
# wheels of CUDA 13 have no suffix; these state the major version in their own
_CUDA_ITSELF = frozenset({"nvidia-cublas", "nvidia-cuda-runtime", "nvidia-cuda-nvrtc"})


def find_conflicts(machine: Machine, layout: Layout) -> tuple[Conflict, ...]:
    """The conflicts of the interpreter that the user's program will run in, most telling first."""
    found = list(distributions(machine, layout))
    return (
        *workdir_namesakes(machine),
        *_path_copies(machine, layout, found),
        *_mixed_installers(machine, layout, found),
        *_mixed_cuda(found),
        *_remains(machine, layout, found),
        *_unread_user_site(machine, layout),
        *_environment(machine, layout),
    )


def workdir_namesakes(machine: Machine) -> tuple[Conflict, ...]:
    """Files and packages in the user's working directory that hide torch or a standard module.

    A directory hides a module only with an ``__init__.py``: without one it ranks after every
    regular module on the path.
    """
    standard = sys.stdlib_module_names - _HARMLESS
    conflicts: list[Conflict] = []
    for entry in machine.entries(machine.workdir):
        name = entry.removesuffix(".py") if entry.endswith(".py") else entry.partition(".")[0]
        path = f"{machine.workdir.rstrip('/')}/{entry}"
        code = "workdir-shadows-torch" if name in _TORCH_PARTS else "workdir-shadows-stdlib"
        if name not in _TORCH_PARTS and (name not in standard or name.startswith("_")):
            continue
        is_module = entry == f"{name}.py" or re.fullmatch(rf"{name}(\.[\w-]+)?\.so", entry)
        if is_module and machine.is_file(path):
            conflicts.append(Conflict(code=code, detail=path))
        elif entry == name and machine.is_file(f"{path}/__init__.py"):
            conflicts.append(Conflict(code=code, detail=f"{path}/"))
    return tuple(conflicts)


def _path_copies(machine: Machine, layout: Layout, found: list[Distribution]) -> list[Conflict]:
    conflicts: list[Conflict] = []
    torches = [
        one for one in layout.directories if machine.is_file(f"{one.path}/torch/__init__.py")
    ]
    if torches and torches[0].scope == "pythonpath":
        conflicts.append(
            Conflict(code="pythonpath-supplies-torch", detail=f"{torches[0].path}/torch")
        )
    copies: dict[str, list[Distribution]] = {}
    for one in found:
        if re.match(r"torch$|torchvision$|torchaudio$|triton$|numpy$|nvidia-", one.name):
            copies.setdefault(one.name, []).append(one)
    for name, places in copies.items():
        if len(places) > 1:
            scope = places[0].directory.scope
            code = {"pythonpath": "pythonpath-shadows", "user-site": "user-site-shadows"}
            conflicts.append(
                Conflict(
                    code=code.get(scope, "two-copies"),
                    detail=f"{name}: " + ", ".join(_place(one) for one in places),
                )
            )
    if len(torches) > 1 and len(copies.get("torch", ())) < 2:
        # copies without a record of their own: a source tree, or an unpacked archive
        paths = ", ".join(f"{one.path}/torch" for one in torches)
        if torches[0].scope != "pythonpath":
            code_of = {"user-site": "user-site-shadows"}
            conflicts.append(
                Conflict(code=code_of.get(torches[0].scope, "two-copies"), detail=f"torch: {paths}")
            )
    return conflicts


def _place(found: Distribution) -> str:
    return f"{found.version or 'no version'} in {found.directory.path}"


def _mixed_installers(
    machine: Machine, layout: Layout, found: list[Distribution]
) -> list[Conflict]:
    by_conda = [
        f"{name} {version}"
        for name, version in conda_packages(machine, layout.prefix)
        if name in ("pytorch", "pytorch-gpu", "pytorch-cpu", "libtorch")
    ]
    by_others = [
        one
        for one in found
        if one.name == "torch" and by_conda and installer(machine, one) not in ("conda", None)
    ]
    if not by_others:
        return []
    theirs = ", ".join(f"{installer(machine, one)}: torch {_place(one)}" for one in by_others)
    return [Conflict(code="conda-and-pip-torch", detail=f"conda: {', '.join(by_conda)}; {theirs}")]


def _mixed_cuda(found: list[Distribution]) -> list[Conflict]:
    majors: dict[str, list[str]] = {}
    for one in found:
        suffix = re.fullmatch(r"nvidia-.+-cu(1\d)", one.name)
        major = suffix.group(1) if suffix else None
        if one.name in _CUDA_ITSELF and one.version:
            major = one.version.partition(".")[0]
        if major and re.fullmatch(r"1\d", major):  # 0.0.1 is the placeholder of older days
            majors.setdefault(major, []).append(f"{one.name} {one.version or ''}".rstrip())
    if len(majors) < 2:
        return []
    parts = [
        f"CUDA {major}: {', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
        for major, names in sorted(majors.items())
    ]
    return [Conflict(code="mixed-cuda-wheels", detail="; ".join(parts))]


def _remains(machine: Machine, layout: Layout, found: list[Distribution]) -> list[Conflict]:
    for one in layout.directories:
        if machine.is_file(f"{one.path}/torch/__init__.py"):
            return []
    folders = [one.path for one in layout.directories if machine.is_directory(f"{one.path}/torch")]
    records = [one.path for one in found if one.name == "torch"]
    if folders:
        return [Conflict(code="torch-incomplete", detail=f"{folders[0]}/torch has no __init__.py")]
    if records:
        return [Conflict(code="torch-incomplete", detail=f"{records[0]} has no torch beside it")]
    return []


def _unread_user_site(machine: Machine, layout: Layout) -> list[Conflict]:
    folder = layout.unread_user_site
    read = any(machine.is_file(f"{one.path}/torch/__init__.py") for one in layout.directories)
    if folder and not read and machine.is_file(f"{folder}/torch/__init__.py"):
        return [Conflict(code="user-site-not-read", detail=f"{folder}/torch")]
    return []


def _environment(machine: Machine, layout: Layout) -> list[Conflict]:
    conflicts: list[Conflict] = []
    home = machine.environ.get("PYTHONHOME")
    if layout.prefix != layout.base_prefix and not layout.has_standard_library:
        conflicts.append(Conflict(code="base-python-missing", detail=layout.base_prefix))
    if home:
        conflicts.append(Conflict(code="pythonhome-set", detail=f"PYTHONHOME={home}"))
    pip = first_on_path(machine, "pip")
    owner = pip and _interpreter_of_script(machine, pip)
    if pip and owner and not _same_environment(machine, owner, layout):
        detail = f"{pip} installs for {owner}, not for {layout.executable}"
        conflicts.append(Conflict(code="pip-of-other-interpreter", detail=detail))
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        active = machine.environ.get(variable)
        python = first_on_path(machine, "python") or first_on_path(machine, "python3")
        if active and python and machine.is_directory(active):
            folder = machine.resolve(dirname(python))
            if folder != machine.resolve(f"{machine.absolute(active)}/bin"):
                detail = f"{variable}={active}, but python on PATH is {python}"
                conflicts.append(Conflict(code="active-environment-not-first", detail=detail))
            break  # a venv made inside a conda environment sets both, and the venv is meant
    return conflicts


def _interpreter_of_script(machine: Machine, script: str) -> str | None:
    """The Python in a script's first line, also in the form that pip writes for long paths."""
    text = machine.read(script, 1024) or ""
    line = text.partition("\n")[0]
    if not line.startswith("#!"):
        return None
    command = line[2:].strip()
    if command == "/bin/sh":
        wrapped = re.search(r"""^'''exec' "?([^"\n]+?)"? "\$0" """, text, re.MULTILINE)
        return wrapped.group(1) if wrapped else None
    if basename(command.split(" ")[0]) == "env":
        name = command.split()[-1]
        return first_on_path(machine, name) if name.startswith("python") else None
    return command if machine.is_executable(command) else command.split(" ")[0]


def _same_environment(machine: Machine, python: str, layout: Layout) -> bool:
    """Whether ``python`` belongs to the layout's prefix; /bin and /usr/bin may be one place."""
    theirs = machine.resolve(dirname(python))
    ours = machine.resolve(dirname(layout.executable))
    if theirs == ours:
        return True
    if machine.is_file(f"{dirname(dirname(python))}/pyvenv.cfg"):
        return False
    is_venv = layout.prefix != layout.base_prefix
    return not is_venv and machine.resolve(python) == layout.real_executable
