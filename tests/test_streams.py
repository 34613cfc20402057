"""Closed and full standard streams, and a directory that is gone: a bundle is written anyway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.verify import verify

from .agent_command import command, environment, run_agent

QUICK = ("run", "--depth", "quick", "--only", "driver", "--python", sys.executable)


def in_shell(shell: str, cwd: Path, *more: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the agent where the shell text puts ``"$@"``."""
    return subprocess.run(
        ["bash", "-c", shell, "bash", *command(*QUICK, *more)], cwd=cwd,
        env=environment(**changes), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def only_bundle(folder: Path) -> Path:
    """The one file in the folder that is ours; no notes may lie beside it."""
    (found,) = folder.glob("*firstlight-*")
    assert verify(found.read_bytes()).intact
    return found


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_nothing_but_words(closed: str, tmp_path: Path) -> None:
    done = in_shell(f'exec "$@" {closed}', tmp_path)
    assert done.returncode == 1, done.stderr
    only_bundle(tmp_path)
    assert done.stdout.startswith("BLOCKED") or " >&-" in f" {closed}"


def test_a_closed_input_cannot_be_read(tmp_path: Path) -> None:
    done = in_shell('exec "$@" <&-', tmp_path, "--order", "-")
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr


def test_a_full_standard_output_sends_the_bundle_to_a_file(tmp_path: Path) -> None:
    done = in_shell('exec "$@" >/dev/full', tmp_path, "-o", "-")
    assert done.returncode == 3
    assert "No space left" in done.stderr
    assert only_bundle(tmp_path).name in done.stderr


def test_a_report_that_cannot_be_printed_leaves_bundle_and_code(tmp_path: Path) -> None:
    done = in_shell('exec "$@" >/dev/full', tmp_path)
    assert done.returncode == 1
    assert "could not finish" not in done.stderr
    only_bundle(tmp_path)


def test_readers_that_went_away_change_neither_bundle_nor_code(tmp_path: Path) -> None:
    done = in_shell('"$@" 2>&1 | true; exit ${PIPESTATUS[0]}', tmp_path)
    assert done.returncode == 1
    only_bundle(tmp_path)


def test_printing_only_leaves_no_file(tmp_path: Path) -> None:
    done = in_shell('exec "$@"', tmp_path, "-o", "-")
    assert json.loads(done.stdout)["schema"] == "firstlight.bundle/1"
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage_leaves_no_notes_behind(tmp_path: Path) -> None:
    # That the interpreter is not there is seen by the climb, when the notes are open already.
    done = run_agent("run", "--depth", "quick", "--python", "/nowhere/python", cwd=tmp_path)
    assert done.code == 2, done.err
    assert "/nowhere/python" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_gone_sends_the_bundle_home(tmp_path: Path) -> None:
    gone, home = tmp_path / "gone", tmp_path / "home"
    gone.mkdir()
    home.mkdir()
    done = in_shell('rmdir ../gone; exec "$@"', gone, HOME=str(home))
    assert done.returncode == 1, done.stderr
    only_bundle(home)


@pytest.mark.skipif(os.geteuid() != 0, reason="a file system of its own needs root")
def test_a_full_disk_keeps_no_half_of_anything(tmp_path: Path) -> None:
    full, home = tmp_path / "full", tmp_path / "home"
    full.mkdir()
    home.mkdir()
    shell = (
        f"mount -t tmpfs -o size=16k tmpfs {full} && cd {full} && head -c 8192 /dev/zero > x && "
        '"$@"; code=$?; ls -A; exit $code'
    )
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", shell, "bash", *command(*QUICK)], cwd=tmp_path,
        env=environment(HOME=str(home)), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[-1] == "x"
    assert "No space left" in done.stderr
    only_bundle(home)
