"""What the shell would start for a name, pyenv's shims followed by reading pyenv's files."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename, dirname

from agent.collect.machine import Machine


def first_on_path(machine: Machine, name: str) -> str | None:
    """The program that the shell would start for ``name``, or None.

    A pyenv shim is followed to the program that it stands for; one that pyenv would refuse to
    start ends the search, as it does for the shell.
    """
    return next(on_path(machine, name), None)


def on_path(machine: Machine, name: str) -> Iterator[str | None]:
    """All programs of this name on PATH, in order; None for a shim that pyenv would refuse."""
    for folder in _folders(machine):
        path = f"{folder}/{name}"
        if machine.is_executable(path):
            yield follow_shim(machine, path) if is_shim(machine, path) else path


def is_shim(machine: Machine, path: str) -> bool:
    """Whether ``path`` is one of the scripts in pyenv's (or a like tool's) shims directory."""
    folder = dirname(path)
    return basename(folder) == "shims" and machine.is_directory(f"{dirname(folder)}/versions")


def follow_shim(machine: Machine, path: str) -> str | None:
    """The program that a pyenv shim stands for, or None where pyenv would refuse.

    As ``pyenv version-name``: PYENV_VERSION, else .python-version from the working directory
    upwards, else the global file ``version``; several versions are tried in turn, ``3.11`` means
    the newest 3.11.x, and ``system`` is the rest of PATH.
    """
    root, name = dirname(dirname(path)), basename(path)
    for version in chosen_versions(machine, root):
        target: str | None
        if version == "system":
            target = _on_rest_of_path(machine, dirname(path), name)
        else:
            target = f"{root}/versions/{_installed(machine, root, version)}/bin/{name}"
        if target and machine.is_executable(target):
            return target
    return None


def chosen_versions(machine: Machine, root: str) -> tuple[str, ...]:
    """The version names that pyenv would try, in order; ``system`` where none is set."""
    words = machine.environ.get("PYENV_VERSION", "").split(":")
    if any(words):
        return tuple(word for word in words if word)
    folder = machine.workdir
    while True:
        found = _version_file(machine, f"{folder.rstrip('/')}/.python-version")
        if found or folder in ("/", ""):
            break
        folder = dirname(folder)
    return found or _version_file(machine, f"{root}/version") or ("system",)


def _version_file(machine: Machine, path: str) -> tuple[str, ...]:
    lines = (machine.read(path, 4096) or "").splitlines()
    words = [word for line in lines for word in line.partition("#")[0].split()]
    # a name, never a path: pyenv refuses these too (CVE-2022-35861)
    return tuple(word for word in words if "/" not in word and word not in (".", ".."))


def _installed(machine: Machine, root: str, version: str) -> str:
    """The installed version that a name or the beginning of one means."""
    name = version.removeprefix("python-")
    if machine.is_directory(f"{root}/versions/{name}"):
        return name
    newer = [
        one for one in machine.entries(f"{root}/versions") if one.startswith(f"{name.rstrip('.')}.")
    ]
    numbers = [one for one in newer if one.replace(".", "").isdecimal()]
    return max(
        numbers, key=lambda one: [int(part) for part in one.split(".") if part], default=name
    )


def _on_rest_of_path(machine: Machine, shims: str, name: str) -> str | None:
    for place in _folders(machine):
        if place != shims and machine.is_executable(f"{place}/{name}"):
            return f"{place}/{name}"
    return None


def _folders(machine: Machine) -> list[str]:
    """The directories of PATH; an empty one among them is the working directory."""
    path = machine.environ.get("PATH")
    return [machine.absolute(folder or ".") for folder in path.split(":")] if path else []
