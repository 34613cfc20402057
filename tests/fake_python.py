"""Builds trees with Pythons in them that have the right files and cannot be started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agent.collect.interpreters import find_interpreters
from agent.collect.machine import Machine
from agent.model import Gap, Interpreter

ENVIRON = {"HOME": "/home/u", "PATH": "/usr/local/bin:/usr/bin"}
TORCH_VERSION = """from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
__version__ = {version!r}
debug = False
cuda: Optional[str] = {cuda!r}
git_version = 'cf30153c4c131c8164ee7798e5022d810682e2cb'
hip: Optional[str] = {hip!r}
"""


def write(root: Path, path: str, text: str = "", mode: int = 0o644) -> str:
    """Writes a file of the machine below ``root``; the path is given back."""
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, errors="surrogateescape")
    place.chmod(mode)
    return path


def link(root: Path, path: str, target: str) -> str:
    """Makes a symbolic link of the machine below ``root``; the path is given back."""
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    return path


def python(root: Path, prefix: str = "/usr", version: str = "3.11.2", site: str = "") -> str:
    """A base Python with its library, package directory and the usual links."""
    minor = ".".join(version.split(".")[:2])
    write(root, f"{prefix}/bin/python{minor}", "\x7fELF fake", 0o755)
    link(root, f"{prefix}/bin/python3", f"python{minor}")
    link(root, f"{prefix}/bin/python", "python3")
    write(root, f"{prefix}/lib/python{minor}/os.py")
    header = f'#define PY_VERSION      "{version}"\n'
    write(root, f"{prefix}/include/python{minor}/patchlevel.h", header)
    folder = root / (site or f"{prefix}/lib/python{minor}/site-packages").lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    return f"{prefix}/bin/python"


def venv(
    root: Path, prefix: str, base: str = "/usr", version: str = "3.11.2", more: str = ""
) -> str:
    """A virtual environment of the base Python at ``base``."""
    minor = ".".join(version.split(".")[:2])
    link(root, f"{prefix}/bin/python", f"{base}/bin/python{minor}")
    link(root, f"{prefix}/bin/python3", "python")
    write(root, f"{prefix}/pyvenv.cfg", f"home = {base}/bin\nversion = {version}\n{more}")
    (root / f"{prefix}/lib/python{minor}/site-packages".lstrip("/")).mkdir(parents=True)
    return f"{prefix}/bin/python"


def site(prefix: str, minor: str = "3.11") -> str:
    """The package directory of a prefix."""
    return f"{prefix}/lib/python{minor}/site-packages"


def torch(
    root: Path,
    folder: str,
    version: str = "2.13.0+cpu",
    cuda: str | None = None,
    hip: str | None = None,
    installer: str | None = "pip",
) -> str:
    """A torch in a package directory; without an installer it has no record."""
    text = TORCH_VERSION.format(version=version, cuda=cuda, hip=hip)
    write(root, f"{folder}/torch/version.py", text)
    write(root, f"{folder}/torch/__init__.py", "raise SystemExit('never run this')\n")
    if installer:
        distribution(root, folder, "torch", version, installer)
    return f"{folder}/torch"


def distribution(root: Path, folder: str, name: str, version: str, installer: str = "pip") -> None:
    """The record of an installed distribution."""
    info = f"{folder}/{name.replace('-', '_')}-{version}.dist-info"
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not-this\n"
    write(root, f"{info}/METADATA", text)
    write(root, f"{info}/INSTALLER", f"{installer}\n")


def machine(root: Path, environ: Mapping[str, str] = ENVIRON, workdir: str = "/code") -> Machine:
    """The machine below ``root`` for the user who runs the tests."""
    home = environ.get("HOME", "/home/u")
    return Machine(root=str(root), environ=environ, workdir=workdir, home=home, uid=os.getuid())


def find(
    root: Path,
    *named: str,
    own_prefix: str | None = None,
    uid: int | None = None,
    **environ: str,
) -> tuple[tuple[Interpreter, ...], tuple[Gap, ...]]:
    """The interpreters of the tree, with ``environ`` added to a plain environment."""
    return find_in(root, named, environ, own_prefix, uid)


def find_in(
    root: Path,
    named: tuple[str, ...],
    environ: Mapping[str, str],
    own_prefix: str | None = None,
    uid: int | None = None,
) -> tuple[tuple[Interpreter, ...], tuple[Gap, ...]]:
    """As ``find``, for a program that is started in /code."""
    return find_interpreters(
        named,
        environ={**ENVIRON, **environ},
        root=root,
        workdir=Path("/code"),
        own_prefix=own_prefix,
        uid=uid,
    )


def codes(interpreter: Interpreter) -> list[str]:
    """The codes of an interpreter's conflicts."""
    return [one.code for one in interpreter.conflicts]
