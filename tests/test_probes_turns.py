"""Processes of one run take turns."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

from .in_target import REPOSITORY

PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
from probes import turns
with turns.one_at_a_time("copies") as held:
    began = time.monotonic()
    time.sleep(0.3)
    print(held, began, time.monotonic(), flush=True)
    if sys.argv[2] == "die":
        import os
        os.kill(os.getpid(), 9)
"""


def _start(folder: Path | None, how: str) -> subprocess.Popen[str]:
    environ = dict(os.environ)
    environ.pop("TORCH_EXTENSIONS_DIR", None)
    if folder is not None:
        environ["TORCH_EXTENSIONS_DIR"] = str(folder / "torch_extensions_dir")
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(REPOSITORY), how],
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
    )


def _spans(folder: Path | None, hows: tuple[str, ...]) -> list[tuple[str, float, float]]:
    spans = []
    for process in [_start(folder, how) for how in hows]:
        held, began, ended = process.communicate(timeout=30)[0].split()
        spans.append((held, float(began), float(ended)))
    return sorted(spans, key=lambda span: span[1])


def test_blocks_of_one_name_never_overlap_even_if_one_dies(tmp_path: Path) -> None:
    spans = _spans(tmp_path, ("live", "die", "live"))
    assert [held for held, _, _ in spans] == ["True"] * 3
    for before, after in itertools.pairwise(spans):
        assert before[2] <= after[1] + 0.01


def test_without_a_folder_there_are_no_turns(tmp_path: Path) -> None:
    began = time.monotonic()
    spans = _spans(None, ("live", "live"))
    assert [held for held, _, _ in spans] == ["False", "False"]
    assert time.monotonic() - began < 10
    assert _spans(tmp_path / "absent", ("live",))[0][0] == "False"
