"""Processes and their memory: with psutil, without it, and on a recorded tree, the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.processes import (
    ProcessId,
    grow_tree,
    held_bytes,
    load_psutil,
    parents,
    peak_resident_bytes,
    resident_and_proportional_bytes,
    tree_memory,
    tree_of,
)

HERE = Path(__file__).resolve().parent.parent
HOLD = "import sys; block = bytearray(b'x') * (40 << 20); print('ready', flush=True)"
# The same function in an interpreter whose psutil cannot be imported, or is broken.
OTHERS = """
import sys, types
sys.modules["psutil"] = {state}
from agent.processes import load_psutil, resident_and_proportional_bytes
assert not load_psutil()
print(*resident_and_proportional_bytes(int(sys.argv[1])))
"""


@pytest.fixture
def family() -> Iterator[int]:
    """The number of a process whose child holds 40 MiB."""
    child = f"{HOLD}; sys.stdin.read()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        yield parent.pid
        parent.communicate(b"")


def test_a_tree_and_what_it_holds(family: int) -> None:
    everyone = parents()
    tree = grow_tree([ProcessId(family, everyone[family][1])], everyone)
    assert len(tree) == 2
    assert {process.pid for process in tree} == tree_of([family])
    memory = tree_memory(tree)
    assert memory.processes == 2
    assert memory.rss_bytes > 40 << 20
    assert memory.pss_bytes is None or 40 << 20 < memory.pss_bytes <= memory.rss_bytes
    (child,) = {process.pid for process in tree} - {family}
    assert held_bytes(child) >= 40 << 20
    assert (peak_resident_bytes(child) or 0) >= 40 << 20


@pytest.mark.parametrize("state", ["None", "types.ModuleType('psutil')"])
def test_without_psutil_or_with_a_broken_one_the_numbers_are_the_same(
    state: str, family: int
) -> None:
    assert load_psutil()
    ours = resident_and_proportional_bytes(family)
    assert ours is not None
    printed = subprocess.run(
        [sys.executable, "-c", OTHERS.format(state=state), str(family)],
        capture_output=True, text=True, check=True, cwd=HERE,
    ).stdout.split()  # fmt: skip
    assert int(printed[0]) == pytest.approx(ours[0], rel=0.05)
    if ours[1] is not None:
        assert int(printed[1]) == pytest.approx(ours[1], rel=0.2)  # shared pages come and go


def test_a_process_that_is_gone_holds_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    assert resident_and_proportional_bytes(child.pid) is None
    assert peak_resident_bytes(child.pid) is None
    assert held_bytes(child.pid) == 0
    assert tree_of([os.getpid()]) == set()


def test_a_recorded_tree_is_read_from_its_files(tmp_path: Path) -> None:
    for pid, parent in ((7, 1), (8, 7)):
        folder = tmp_path / "proc" / str(pid)
        folder.mkdir(parents=True)
        fields = " ".join(["S", str(parent), "7", "7", *["0"] * 15, str(100 + pid)])
        (folder / "stat").write_text(f"{pid} (a ) b) {fields} 0 0\n")
        (folder / "statm").write_text("900 100 10 1 0 20 0\n")
        (folder / "status").write_text("Name:\tx\nVmHWM:\t  2048 kB\nThreads:\t1\n")
    (tmp_path / "proc" / "8" / "smaps_rollup").write_text("head\nRss: 300 kB\nPss: 200 kB\n")
    assert parents(tmp_path) == {7: (1, 107), 8: (7, 108)}
    assert peak_resident_bytes(7, tmp_path) == 2 << 20
    pages = 100 * os.sysconf("SC_PAGE_SIZE")
    assert resident_and_proportional_bytes(7, tmp_path) == (pages, None)
    assert resident_and_proportional_bytes(8, tmp_path) == (300 << 10, 200 << 10)
    both = (ProcessId(7, 107), ProcessId(8, 108))
    assert tree_memory(both[1:], tmp_path).pss_bytes == 200 << 10
    assert tree_memory(both, tmp_path).pss_bytes is None  # one was not told
