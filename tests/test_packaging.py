"""The package's own files: Dockerfiles, dependencies, and torch as no dependency of ours."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent
DOCKERFILES = ("Dockerfile.cuda", "Dockerfile.rocm")


@pytest.mark.parametrize("name", DOCKERFILES)
def test_dockerfile_passes_the_linter(name: str) -> None:
    linter = Path(sysconfig.get_path("scripts")) / "hadolint"
    done = subprocess.run(
        [linter, str(HERE / name)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", DOCKERFILES)
def test_dockerfile_keeps_agent_and_torch_apart(name: str) -> None:
    text = (HERE / name).read_text()
    backend = name.rpartition(".")[2]
    entry = re.search(r'^ENTRYPOINT \["(/opt/firstlight/bin/firstlight)"\]$', text, re.M)
    assert entry, "the agent is the entry point, out of its own environment"
    assert f'"--backend", "{backend}"' in text
    assert '"--python", "/usr/local/bin/python"' in text
    torch = next(line for line in text.splitlines() if "torch==" in line)
    assert torch.startswith("RUN python -m pip install"), "torch goes to the image's own Python"


@pytest.mark.parametrize("name", DOCKERFILES)
def test_dockerfile_versions_are_build_arguments(name: str) -> None:
    text = (HERE / name).read_text()
    for line in text.splitlines():
        if line.startswith("FROM "):
            assert re.match(r"FROM python:\$\{PYTHON_VERSION\}-slim( AS wheel)?$", line)
    for argument in ("PYTHON_VERSION", "TORCH_VERSION", "TORCH_INDEX"):
        assert re.search(rf"^ARG {argument}=\S+$", text, re.M), argument


def test_dockerfile_torch_exists_in_the_wheel_table() -> None:
    from agent.tables.wheels import WHEELS

    for name in DOCKERFILES:
        text = (HERE / name).read_text()
        version = re.search(r"^ARG TORCH_VERSION=(\d+\.\d+)", text, re.M)
        build = re.search(r"^ARG TORCH_INDEX=.*/whl/(\w+[\d.]*)$", text, re.M)
        assert version
        assert build
        pairs = {(row.torch, row.build) for row in WHEELS}
        assert (version.group(1), build.group(1)) in pairs


def test_agent_imports_neither_torch_nor_a_driver_library() -> None:
    code = (
        "import sys, agent.cli, agent.pipeline, agent.judge, agent.reading;"
        "print([m for m in ('torch', 'pynvml', 'amdsmi') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE, check=True
    )
    assert done.stdout.strip() == "[]"


def test_help_and_version_answer() -> None:
    for arguments in (["--help"], ["--version"], ["run", "--help"], ["explain", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "agent", *arguments],
            capture_output=True, text=True, cwd=HERE, check=False,
        )  # fmt: skip
        assert done.returncode == 0
        assert done.stdout


def test_the_release_workflow_passes_its_linter_and_pins_its_actions() -> None:
    path = HERE / ".github" / "workflows" / "release.yml"
    linter = Path(sysconfig.get_path("scripts")) / "zizmor"
    done = subprocess.run(
        [linter, "--offline", "--no-progress", str(path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    text = path.read_text()
    uses = re.findall(r"uses: (\S+)", text)
    assert uses
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) for name in uses)
    assert "\npermissions: {}\n" in text
    assert "never run" in text
