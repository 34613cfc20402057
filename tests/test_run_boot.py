"""What the boot code asks before it trusts a fork, on real descriptors, libraries and threads."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.run import boot
from agent.run.sources import boot_code


def test_an_open_device_file_is_seen_by_its_name(tmp_path: Path) -> None:
    names = (str(tmp_path / "nvidia"),)
    assert boot.open_device_file(names) is None
    descriptor = os.open(tmp_path / "nvidiactl", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        said = boot.open_device_file(names)
        assert said == f"{tmp_path}/nvidiactl is open already"
    finally:
        os.close(descriptor)
    assert "/dev/nvidiactl".startswith(boot.DEVICE_FILES)
    assert "/dev/kfd".startswith(boot.DEVICE_FILES)
    assert not "/dev/null".startswith(boot.DEVICE_FILES)


# The boot code without its last act.
BOOT = boot_code().replace('if __name__ == "__main__":', "if False:")


def ask(code: str, **environ: str) -> str:
    """What boot's functions answer in a process of their own, as printed by ``code``."""
    done = subprocess.run(
        [sys.executable, "-c", f"{BOOT}\n{code}"],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


STAND_IN = """
#include <stdlib.h>
int cuDeviceGetCount(int *count) { *count = 1; return atoi(getenv("ANSWER")); }
int firstlight_stand_in;
"""


@pytest.fixture(scope="module")
def libcuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libcuda")
    (folder / "cuda.c").write_text(STAND_IN)
    target = folder / "libcuda.so.1"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", target, folder / "cuda.c"],
        check=True,
    )
    return target


def test_a_driver_that_nobody_started_is_asleep(libcuda: Path) -> None:
    assert ask("print(awake_driver())") == "None"
    load = f"import ctypes; ctypes.CDLL({str(libcuda)!r})\n"
    asleep = ask(load + "print(awake_driver())", ANSWER="3")
    assert asleep == "None"
    awake = ask(load + "print(awake_driver())", ANSWER="0")
    assert awake == "the driver was asked something already"
    broken = ask(load + "print(awake_driver())", ANSWER="999")
    assert broken == "the driver was asked something already"


def test_more_threads_than_a_blas_starts_are_odd() -> None:
    assert ask("print(has_odd_threads())") == "False"
    code = (
        "import _thread, time\n"
        "for _ in range(len(os.sched_getaffinity(0)) + 1):\n"
        "    _thread.start_new_thread(time.sleep, (9,))\n"
        "print(has_odd_threads(), flush=True); os._exit(0)"
    )
    assert ask(code) == "True"


@pytest.mark.torch
def test_lost_openmp_threads_are_found_by_a_trial(torch_python: Path) -> None:
    """A pool that was used before the fork makes torch hang in it: measured, not assumed."""
    code = (
        f"{BOOT}\nimport torch\n"
        "torch.set_num_threads(2)\n"
        "print(failed_trial(torch))\n"
        "torch.randn(1500, 1500).sin().sum()\n"
        "print(has_odd_threads(), failed_trial(torch))\n"
    )
    done = subprocess.run(
        [str(torch_python), "-c", code],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
    )
    assert done.stdout.splitlines()[0] == "None"
    assert done.stdout.splitlines()[1] == "True a trial fork hung"


# ---------------------------------------------------------------- its parts, in this process
def records_of(descriptor: int) -> list[dict[str, Any]]:
    """The records that wait in a pipe whose writing end is closed."""
    with open(descriptor, "rb") as file:
        return [json.loads(line) for line in file.read().splitlines()]


def test_lines_are_taken_one_by_one_and_the_rest_kept() -> None:
    reader, writer = os.pipe()
    os.write(writer, b'{"a": 1}\n{"b"')
    buffer = bytearray()
    assert boot.read_line(reader, buffer) == b'{"a": 1}\n'
    assert buffer == b'{"b"'
    os.write(writer, b": 2}\n")
    os.close(writer)
    assert boot.read_line(reader, buffer) == b'{"b": 2}\n'
    assert boot.read_line(reader, buffer) is None
    os.close(reader)


PROBE = (
    "import os, sys, json\n"
    "def main(fd, plan):\n"
    "    for task in plan['tasks']:\n"
    "        exec(task['do'])\n"
    "        said = {'did': task['subject'], 'from': plan['from']}\n"
    "        os.write(fd, json.dumps(said).encode() + b'\\n')\n"
)


@pytest.fixture
def sources() -> Iterator[None]:
    finder = boot.Sources({"firstlight_probes": "WORD = 7\n", "firstlight_probes.mine": PROBE})
    sys.meta_path.insert(0, finder)
    yield
    sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name.startswith("firstlight_probes")]:
        del sys.modules[name]


def test_sources_become_modules_with_lines(sources: None) -> None:
    module = importlib.import_module("firstlight_probes.mine")
    assert sys.modules["firstlight_probes"].WORD == 7
    assert "plan['tasks']" in inspect.getsource(module.main)
    assert importlib.util.find_spec("firstlight_probes.none") is None


def test_a_plan_runs_in_the_module_that_it_names(sources: None) -> None:
    reader, writer = os.pipe()
    boot.run(writer, {"module": "mine", "from": "here"}, [{"subject": "x", "do": ""}])
    os.close(writer)
    assert records_of(reader) == [{"did": "x", "from": "here"}]


def test_forks_are_served_until_there_are_no_more_tasks(sources: None) -> None:
    reader, writer = os.pipe()
    source_read, source_write = os.pipe()
    tasks = [
        {"stage": "device", "subject": "good", "do": ""},
        {"stage": "device", "subject": "dies", "do": "os.abort()"},
        {"stage": "device", "subject": "raises", "do": "os.write(2, b'so'); raise ValueError"},
        {"stage": "device", "subject": "loud", "do": "os.write(2, b'x' * 100000)"},
    ]
    for task in tasks[1:]:
        os.write(source_write, json.dumps(task).encode() + b"\n")
    os.close(source_write)
    first = bytearray(json.dumps(tasks[0]).encode() + b"\n")  # read along with the plan
    boot.serve_forks(writer, source_read, first, {"module": "mine", "from": "fork"})
    os.close(writer)
    os.close(source_read)
    said = records_of(reader)
    ended = {record["subject"]: record for record in said if record.get("record") == "ended"}
    assert {subject: record["code"] for subject, record in ended.items()} == {
        "good": 0,
        "dies": -6,
        "raises": 1,
        "loud": 0,
    }
    assert "so" in ended["raises"]["stderr"]
    assert ended["loud"]["stderr"] == "x" * boot.TAIL_BYTES
    assert [r["did"] for r in said if "did" in r and r["did"] == "good"] == ["good"]
    forked = {record["pid"] for record in said if record.get("record") == "forked"}
    assert forked == {record["pid"] for record in ended.values()}


def test_what_speaks_against_a_fork_is_said() -> None:
    def reason(torch: Any) -> str | None:
        before = sys.modules.get("torch")
        sys.modules["torch"] = torch
        try:
            return boot.why_no_fork()
        finally:
            del sys.modules["torch"]
            if before is not None:
                sys.modules["torch"] = before

    def torch_with(poisoned: Callable[[], Any], hip: str | None = None) -> Any:
        cuda = SimpleNamespace(is_initialized=lambda: False, _is_in_bad_fork=poisoned)
        return SimpleNamespace(cuda=cuda, version=SimpleNamespace(hip=hip))

    assert boot.why_no_fork() == "torch is not imported"
    assert "AMD" in (reason(torch_with(lambda: False, "7.0")) or "")
    assert boot.failed_trial(torch_with(lambda: False)) is None
    assert boot.failed_trial(torch_with(lambda: True)) == "torch refuses the device to a fork"
    assert boot.failed_trial(torch_with(lambda: os._exit(3))) == "a trial fork failed"
    assert boot.failed_trial(SimpleNamespace()) is None  # its first stage will tell
