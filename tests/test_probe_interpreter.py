"""What the running interpreter says about itself, as the agent reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parent.parent
# the package comes from a path here, which no run of the agent has on it
START = """
import json, sys
sys.path.insert(0, sys.argv[1])
from probes import interpreter, report
sys.path.pop(0)
one = report.Report(int(sys.argv[2]))
one.stage("interpreter", "host")
interpreter.run(one, {"workdir": sys.argv[3]}, {})
"""


def _asked(
    workdir: Path, program: str | Path = sys.executable, *flags: str, **environ: str
) -> dict[str, Any]:
    """The data of the stage, after it passed."""
    read, write = os.pipe()
    argv = [program, "-B", *flags, "-c", START, str(REPOSITORY), str(write), str(workdir)]
    subprocess.run(
        argv, check=True, pass_fds=[write], cwd="/", env={"PATH": "/usr/bin:/bin", **environ}
    )
    os.close(write)
    with os.fdopen(read) as records:
        lines = [json.loads(line) for line in records]
    assert lines[-1]["status"] == "passed"
    data: dict[str, Any] = {}
    for line in lines:
        data.update(line.get("data", {}))
    return data


def test_description(tmp_path: Path) -> None:
    data = _asked(tmp_path, HOME=str(tmp_path))
    assert data["executable"] == sys.executable
    assert data["version"] == "{}.{}.{}".format(*sys.version_info[:3])
    assert (data["prefix"], data["base_prefix"]) == (sys.prefix, sys.base_prefix)
    assert data["usersite"].startswith(f"{tmp_path}/.local/lib/python")
    assert str(REPOSITORY) not in data["path"]
    assert data["flags"]["dont_write_bytecode"] == 1
    assert data["shadowed"] == []


def test_flags_and_user_site(tmp_path: Path) -> None:
    data = _asked(tmp_path, sys.executable, "-s", "-O")
    assert data["flags"]["no_user_site"] == 1
    assert data["flags"]["optimize"] == 1
    assert data["usersite_enabled"] is False


def test_customized_start(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").touch()
    data = _asked(tmp_path / "none", PYTHONPATH=str(tmp_path))
    assert data["customized"] == [str(tmp_path / "sitecustomize.py")]


def test_namesakes(tmp_path: Path) -> None:
    """Modules that hide one of the path; not directories, projects in place, or own names."""
    work = tmp_path / "work"
    for name in ("queue.py", "pytest/__init__.py", "own.py", "random/data.txt", "setup.py"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).touch()
    (work / "bad\udcff.py").touch()
    assert _asked(work)["shadowed"] == ["pytest", "queue"]
    installed = _asked(work, PYTHONPATH=str(work))
    assert installed["shadowed"] == ["pytest", "queue"]
    link = tmp_path / "link"
    link.symlink_to(work)
    assert "own" not in _asked(link, PYTHONPATH=str(work))["shadowed"]


@pytest.mark.parametrize("workdir", ["", "/nope", "/etc/passwd"])
def test_no_working_directory(workdir: str) -> None:
    assert _asked(Path(workdir) if workdir else Path())["shadowed"] == []


@pytest.mark.torch
def test_torch_hidden_by_the_working_directory(tmp_path: Path, torch_python: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("raise SystemExit('not run')\n")
    assert _asked(tmp_path, torch_python)["shadowed"] == ["torch"]
