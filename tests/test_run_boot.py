"""What the boot code asks before it trusts a fork, on real descriptors, libraries and threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
