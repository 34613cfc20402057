"""Options that cannot be meant are refused before anything runs, and endless files are not read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.files import read_file
from agent.options import run_options

from .agent_command import command, environment, run_agent


@pytest.mark.parametrize(
    "given",
    [
        {"timeout": float("nan")},
        {"output": "/"},
        {"challenge": ""},
        {"challenge": "x" * 1_001},
        {"ticket": "x" * 1_001},
        {"replay": "x.json", "command": ("true",)},
        {"only": ("import",), "skip": ("import",)},
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_next_step(given: dict[str, object]) -> None:
    with pytest.raises(UsageError) as refused:
        run_options(given)
    assert refused.value.hint


def test_what_can_be_meant_is_kept() -> None:
    options = run_options({"timeout": 60.0, "output": "-", "challenge": "c", "ticket": ""})
    assert (options.timeout_seconds, options.output, options.challenge) == (60.0, "-", "c")


@pytest.mark.parametrize("option", ["--order", "--replay"])
def test_an_endless_file_is_refused_and_not_held_in_memory(option: str, tmp_path: Path) -> None:
    limited = 'ulimit -v 1000000; exec "$@"'
    done = subprocess.run(
        ["bash", "-c", limited, "bash", *command("run", option, "/dev/zero")], cwd=tmp_path,
        env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (2, 4), done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_are_read_up_to_the_limit_and_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 50)
    assert read_file(str(tmp_path / "a"), 100) == b"x" * 50
    assert len(read_file("/dev/zero", 100)) == 101
    reader, writer = os.pipe()
    os.write(writer, b"through a pipe")
    os.close(writer)
    assert read_file(f"/dev/fd/{reader}", 100) == b"through a pipe"
    os.close(reader)
    for name in (str(tmp_path), str(tmp_path / "missing"), "nul\0byte", "/proc/self/mem"):
        with pytest.raises(UsageError):
            read_file(name, 100)


def test_devices_that_nobody_listed_have_no_name_of_ours(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import time; time.sleep(60)\n")
    ran = run_agent(
        "run", "--depth", "quick", "--timeout", "3", "--python", sys.executable,
        cwd=tmp_path, PYTHONPATH=str(tmp_path),
    )  # fmt: skip
    assert ran.stage("import")["status"] == "timed_out"
    assert {stage["subject"] for stage in ran.bundle["stages"]} == {"host"}
