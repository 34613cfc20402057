from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.collect.processes import memory_from_proc, memory_of, read_gpu_processes
from agent.collect.tree import Tree, open_tree

from .host_trees import bare, plant

HOLD = "import sys; block = bytearray(40 << 20); print('ready', flush=True); sys.stdin.read()"
# The same functions in an interpreter whose psutil cannot be imported.
WITHOUT = """
import sys
sys.modules["psutil"] = None
from agent.collect.processes import memory_of
memory = memory_of(int(sys.argv[1]))
print(memory.resident_bytes, memory.processes)
"""


def test_memory_of_a_process_and_its_child_with_and_without_psutil() -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        with_psutil = memory_of(parent.pid)
        from_proc = memory_from_proc(parent.pid)
        printed = subprocess.run(
            [sys.executable, "-c", WITHOUT, str(parent.pid)],
            capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent,
        ).stdout.split()  # fmt: skip
        parent.communicate(b"")
    assert with_psutil.processes == 2
    assert with_psutil.resident_bytes > 40 << 20
    assert from_proc.processes == 2
    assert from_proc.resident_bytes == pytest.approx(with_psutil.resident_bytes, rel=0.05)
    assert int(printed[1]) == 2
    assert int(printed[0]) == pytest.approx(with_psutil.resident_bytes, rel=0.05)


def test_a_process_that_is_gone_says_so() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    with pytest.raises(ProcessLookupError):
        memory_of(child.pid)
    with pytest.raises(ProcessLookupError):
        memory_from_proc(child.pid)


def test_who_holds_a_gpu_node(tmp_path: Path) -> None:
    files = bare() | {
        "/proc/7/fd/0": "-> /dev/null",
        "/proc/7/fd/4": "-> /dev/nvidia0",
        "/proc/7/fd/5": "-> /dev/nvidiactl",
        "/proc/7/fd/6": "-> /dev/nvidia0",
        "/proc/7/exe": "-> /usr/bin/python3.10",
        "/proc/8/fd/0": "-> /dev/null",
        "/proc/9/exe": "-> /usr/bin/gone",
    }
    found = read_gpu_processes(open_tree(plant(tmp_path, files)))
    assert [(p.pid, p.executable, p.nodes) for p in found] == [
        (7, "/usr/bin/python3.10", ("/dev/nvidia0", "/dev/nvidiactl"))
    ]


def test_the_living_machine_is_asked_without_harm() -> None:
    assert os.getpid() not in {process.pid for process in read_gpu_processes(Tree())}


def test_where_the_user_is_not_known_nothing_is_claimed(tmp_path: Path) -> None:
    assert read_gpu_processes(open_tree(plant(tmp_path, {}))) == ()
