"""What the shell would start for a name, pyenv's shims included."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agent.collect.machine import Machine, machine_of
from agent.collect.programs import first_on_path
from tests.fake_python import python, write

ROOT = "/home/u/.pyenv"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for version in ("3.8.18", "3.11.7", "3.11.10"):
        python(tmp_path, f"{ROOT}/versions/{version}", version)
    python(tmp_path, f"{ROOT}/versions/named", "3.12.1")
    python(tmp_path)
    write(tmp_path, f"{ROOT}/shims/python", "#!/bin/sh\nexec pyenv exec\n", 0o755)
    write(tmp_path, f"{ROOT}/version", "3.8.18\n")
    return tmp_path


def _first(tree: Path, workdir: str = "/code/a/b", **environ: str) -> str | None:
    environ = {"PATH": f"{ROOT}/shims:/usr/bin", **environ}
    machine = Machine(
        root=str(tree), environ=environ, workdir=workdir, home="/home/u", uid=os.getuid()
    )
    return first_on_path(machine, "python")


def test_global_version(tree: Path) -> None:
    assert _first(tree) == f"{ROOT}/versions/3.8.18/bin/python"


def test_version_file_above_the_working_directory(tree: Path) -> None:
    write(tree, "/code/.python-version", "# comment\n3.11.7\nnamed\n")
    assert _first(tree) == f"{ROOT}/versions/3.11.7/bin/python"
    write(tree, "/code/a/b/.python-version", "named\n")
    assert _first(tree) == f"{ROOT}/versions/named/bin/python"
    assert _first(tree, "/elsewhere") == f"{ROOT}/versions/3.8.18/bin/python"


def test_variable_wins(tree: Path) -> None:
    write(tree, "/code/.python-version", "3.8.18\n")
    assert _first(tree, PYENV_VERSION="gone:3.11.7") == f"{ROOT}/versions/3.11.7/bin/python"


def test_beginning_of_a_version_means_the_newest(tree: Path) -> None:
    """By number: 3.11.10 is newer than 3.11.7."""
    for word in ("3.11", "python-3.11", "3.11.10"):
        assert _first(tree, PYENV_VERSION=word) == f"{ROOT}/versions/3.11.10/bin/python"


def test_system_is_the_rest_of_path(tree: Path) -> None:
    assert _first(tree, PYENV_VERSION="system") == "/usr/bin/python"
    (tree / ROOT.lstrip("/") / "version").unlink()
    assert _first(tree) == "/usr/bin/python"
    assert _first(tree, PATH=f"{ROOT}/shims") is None


@pytest.mark.parametrize("word", ["gone", "../../../usr", "..", "/usr"])
def test_what_pyenv_refuses_is_nothing(tree: Path, word: str) -> None:
    """A version file that leaves pyenv's directory is refused there, and here."""
    write(tree, f"{ROOT}/version", f"{word}\n")
    assert _first(tree) in (None, "/usr/bin/python")


def test_path_without_entries(tree: Path) -> None:
    """No PATH is no directory; an empty entry in it is the working one."""
    python(tree, "/code/a")
    assert _first(tree, "/code/a/bin", PATH="") is None
    assert _first(tree, "/code/a/bin", PATH="/nowhere:") == "/code/a/bin/python"


def test_real_path() -> None:
    folder = str(Path(sys.executable).parent)
    machine = machine_of(root=Path("/"), environ={"PATH": folder}, workdir=None, uid=None)
    assert first_on_path(machine, Path(sys.executable).name) == sys.executable
