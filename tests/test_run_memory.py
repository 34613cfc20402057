"""How much memory is there for a child, as a recorded tree and as this machine tells it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from agent.processes import held_bytes, tree_of
from agent.run.memory import available_bytes, default_limit

GIB = 1 << 30


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = "MemTotal:       33554432 kB\nMemAvailable:   16777216 kB\n"


def test_the_machine_alone(tmp_path: Path) -> None:
    root = tree(tmp_path, {"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/\n"})
    assert available_bytes(root) == 16 * GIB
    assert default_limit(root) == int(16 * GIB * 0.8)


def test_a_container_with_version_2(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": f"{8 * GIB}\n",
        "sys/fs/cgroup/memory.current": f"{5 * GIB}\n",
        "sys/fs/cgroup/memory.stat": f"anon 1\ninactive_file {GIB}\n",
    }
    assert available_bytes(tree(tmp_path, files)) == 4 * GIB


def test_a_service_on_the_host_with_version_2_and_no_limit_above(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "0::/user.slice/app.scope\n",
        "sys/fs/cgroup/user.slice/app.scope/memory.max": f"{2 * GIB}\n",
        "sys/fs/cgroup/user.slice/app.scope/memory.current": f"{GIB}\n",
    }
    assert available_bytes(tree(tmp_path, files)) == GIB
    files["sys/fs/cgroup/user.slice/app.scope/memory.max"] = "max\n"
    assert available_bytes(tree(tmp_path, files)) == 16 * GIB


def test_a_container_with_version_1(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{3 * GIB}\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
    }
    assert available_bytes(tree(tmp_path, files)) == 2 * GIB


def test_a_machine_that_says_nothing_sets_no_limit(tmp_path: Path) -> None:
    assert available_bytes(tmp_path) is None
    assert default_limit(tmp_path) is None
    broken = tree(tmp_path, {"proc/meminfo": "MemAvailable: lots\n"})
    assert available_bytes(broken) is None


def test_what_a_child_and_its_child_hold_is_seen() -> None:
    code = (
        "import os, sys\nheld = b'x' * (64 << 20)\n"
        "if os.fork() == 0:\n    more = bytearray(b'y' * (64 << 20)); print('ready', flush=True)\n"
        "sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        found = tree_of([child.pid])
        assert len(found) == 2
        assert held_bytes(child.pid) >= 64 << 20
        assert sum(held_bytes(pid) for pid in found) >= 190 << 20
    finally:
        child.communicate(b"")
        assert child.stdout is not None
        child.stdout.close()
