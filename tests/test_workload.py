"""The user's own command: untouched, measured, and what ended it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.processes import ProcessId, grow_tree
from agent.workload.command import Outcome, run_command
from agent.workload.ended import Traces, out_of_memory, read_traces, what_ended
from agent.workload.sampler import MOST_POINTS, Course, DeviceReading, Samples, fold_device
from tests.agent_command import run_agent

HERE = Path(__file__).resolve().parent.parent
MIB = 1 << 20


def run(*command: str, plain: bool = True, **environ: str) -> Outcome:
    return run_command(command, environ={**os.environ, **environ}, plain=plain)


def agent_measure(arguments: list[str], command: list[str], cwd: Path) -> subprocess.Popen[str]:
    """Start ``agent measure`` as a user would, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "agent", "measure", *arguments, "--", *command],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(HERE)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize("code", [0, 7, 126, 127])
def test_exit_code_passes_through(code: int) -> None:
    outcome = run("sh", "-c", f"exit {code}")
    assert outcome.exit_code == code
    assert outcome.stage.status == ("passed" if code == 0 else "failed")


def test_death_by_signal_is_128_and_the_signal() -> None:
    outcome = run("sh", "-c", "kill -USR1 $$; sleep 5")
    assert outcome.exit_code == 128 + signal.SIGUSR1
    assert (outcome.stage.status, outcome.stage.signal) == ("crashed", "SIGUSR1")


def test_a_missing_command_is_127_and_one_without_right_126(tmp_path: Path) -> None:
    assert run(str(tmp_path / "none")).exit_code == 127
    plain = tmp_path / "plain"
    plain.write_text("text")
    outcome = run(str(plain))
    assert outcome.exit_code == 126
    assert outcome.stage.error is not None


def test_peak_of_one_process_within_two_percent_of_its_own_figure(tmp_path: Path) -> None:
    said = tmp_path / "said"
    code = (
        "import re, sys; b = bytearray(200 << 20); b[::4096] = b'x' * len(b[::4096]); del b;"
        "open(sys.argv[1], 'w').write(re.search(r'VmHWM:\\s+(\\d+)', "
        "open('/proc/self/status').read()).group(1))"
    )
    # By the command line: what the agent itself holds is the least that can be told exactly.
    ran = run_agent("measure", "-q", "--", sys.executable, "-c", code, str(said), cwd=tmp_path)
    own = int(said.read_text()) * 1024
    data = ran.stage("workload")["data"]
    assert data["process_peak_kind"] == "exact"
    assert data["process_peak_bytes"] == pytest.approx(own, rel=0.02)


def test_numpy_peak_is_seen(torch_python: Path) -> None:
    code = "import numpy; a = numpy.ones(40_000_000); print(a.sum())"
    outcome = run(str(torch_python), "-c", code)
    assert outcome.stage.data["process_peak_bytes"] >= 320_000_000


def test_a_forking_script_is_summed_over_its_tree() -> None:
    code = (
        "import os, time; \n"
        "for _ in range(3):\n"
        "  if os.fork() == 0:\n"
        "    b = bytearray(60 << 20); b[::4096] = b'x' * len(b[::4096]); time.sleep(1.5)\n"
        "    os._exit(0)\n"
        "for _ in range(3): os.wait()"
    )
    data = run(sys.executable, "-c", code).stage.data
    assert data["processes_peak"] == 4
    assert 180 * MIB <= data["tree_peak_bytes"] < 400 * MIB
    assert data["process_peak_bytes"] < 110 * MIB


def test_a_small_command_is_not_charged_with_the_agents_own_memory() -> None:
    data = run("sleep", "0.3").stage.data
    assert data["process_peak_bytes"] < 15 * MIB
    assert data["process_peak_kind"] == "sampled"


def test_killed_by_a_limit_names_the_end() -> None:
    code = "import resource as r; r.setrlimit(r.RLIMIT_CPU, (1, 1))\nwhile True: pass"
    outcome = run(sys.executable, "-c", code)
    assert outcome.stage.data["ended"]["by"] == "signal"
    assert outcome.stage.signal in ("SIGXCPU", "SIGKILL")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_a_full_shm_is_named(tmp_path: Path) -> None:
    program = (
        "import mmap, os; f = os.open('/dev/shm/fill', os.O_RDWR | os.O_CREAT);"
        "os.ftruncate(f, 16 << 20); m = mmap.mmap(f, 16 << 20);"
        "[m.__setitem__(i, 1) for i in range(0, 16 << 20, 4096)]"
    )
    script = (
        "import os, sys, json; from agent.workload.command import run_command\n"
        f"o = run_command((sys.executable, '-c', {program!r}), environ=os.environ, plain=True)\n"
        "print(json.dumps(o.stage.data['ended']))"
    )
    shell = 'mount -t tmpfs -o size=4m tmpfs /dev/shm && exec "$0" -c "$1"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, sys.executable, script],
        capture_output=True, text=True, cwd=HERE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by"] == "shm-full"


def test_oom_killer_is_told_from_a_plain_kill() -> None:
    before, after = (Traces(oom_kills=n, memory_peak_bytes=None) for n in (3, 4))
    common = {
        "out_of_memory_text": None, "shm_free_least_bytes": None, "new_xids": (),
        "interrupted_by": None,
    }  # fmt: skip
    killed = what_ended(return_code=-9, before=before, after=after, **common)  # type: ignore[arg-type]
    plain = what_ended(return_code=-9, before=before, after=before, **common)  # type: ignore[arg-type]
    assert (killed["by"], plain["by"]) == ("oom-killer", "signal")
    done = what_ended(return_code=0, before=before, after=after, **common)  # type: ignore[arg-type]
    assert done["by"] == "exit"


def test_traces_of_both_control_group_versions(tmp_path: Path) -> None:
    two = tmp_path / "two"
    (two / "proc/self").mkdir(parents=True)
    (two / "proc/self/cgroup").write_text("0::/job\n")
    (two / "sys/fs/cgroup/job").mkdir(parents=True)
    (two / "sys/fs/cgroup/job/memory.events").write_text("low 0\noom 2\noom_kill 1\n")
    (two / "sys/fs/cgroup/job/memory.peak").write_text("4096\n")
    assert read_traces(two) == Traces(oom_kills=1, memory_peak_bytes=4096)
    one = tmp_path / "one"
    (one / "proc/self").mkdir(parents=True)
    (one / "proc/self/cgroup").write_text("9:memory:/job\n1:name=systemd:/\n")
    group = one / "sys/fs/cgroup/memory/job"
    group.mkdir(parents=True)
    (group / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n")
    (group / "memory.max_usage_in_bytes").write_text("8192\n")
    assert read_traces(one) == Traces(oom_kills=5, memory_peak_bytes=8192)


@pytest.mark.parametrize(
    ("text", "asked", "free"),
    [
        (
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 "
            "GiB of which 512.00 MiB is free. Of the allocated memory 20.00 GiB is allocated by "
            "PyTorch, and 1.50 GiB is reserved by PyTorch but unallocated.",
            2 << 30,
            512 * MIB,
        ),
        (
            "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; "
            "10.62 GiB already allocated; 3.31 MiB free; 10.75 GiB reserved in total by PyTorch)",
            20 * MIB,
            round(3.31 * MIB),
        ),
    ],
)
def test_sizes_in_torchs_out_of_memory_text(text: str, asked: int, free: int) -> None:
    sizes = out_of_memory(text)
    assert (sizes["asked_bytes"], sizes["free_bytes"]) == (asked, free)
    assert sizes["total_bytes"] > 10 << 30


STAND_IN_TORCH = """
import sys, types
class OutOfMemoryError(RuntimeError): pass
memory = types.SimpleNamespace(max_memory_allocated=lambda i: 1000 + i,
                               max_memory_reserved=lambda i: 2000 + i)
cuda = types.SimpleNamespace(is_initialized=lambda: True, device_count=lambda: 2, memory=memory)
"""


def test_the_hook_reads_the_allocator_and_chains_to_the_users(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(STAND_IN_TORCH)
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.mine = 'kept'\n")
    code = "import torch, sys; assert mine == 'kept'; assert 'firstlight' not in str(sys.path)"
    outcome = run(sys.executable, "-c", code, plain=False, PYTHONPATH=str(tmp_path))
    assert outcome.exit_code == 0
    rows = outcome.stage.data["allocator"]
    assert [(r["device_index"], r["allocated_peak_bytes"]) for r in rows] == [(0, 1000), (1, 1001)]
    assert outcome.overrides


def test_the_hook_keeps_the_out_of_memory_text(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(STAND_IN_TORCH)
    text = "CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has 1.00 GiB free"
    code = f"import torch; raise torch.OutOfMemoryError({text!r})"
    outcome = run(sys.executable, "-c", code, plain=False, PYTHONPATH=str(tmp_path))
    assert outcome.exit_code == 1
    assert outcome.stage.data["ended"]["by"] == "gpu-out-of-memory"
    assert outcome.stage.data["out_of_memory"] == {"asked_bytes": 4 << 30, "free_bytes": 1 << 30}
    assert outcome.stage.error is not None
    assert outcome.stage.error.text == text


def test_plain_leaves_the_environment_alone() -> None:
    code = "import os, sys; sys.exit('FIRSTLIGHT_HOOK_DIR' in os.environ)"
    assert run(sys.executable, "-c", code, plain=True).exit_code == 0
    assert run(sys.executable, "-c", code, plain=False).exit_code == 1


def test_the_hook_directory_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, sys; open(sys.argv[1], 'w').write(os.environ['FIRSTLIGHT_HOOK_DIR']);"
        "assert os.listdir(os.environ['FIRSTLIGHT_HOOK_DIR'])"
    )
    assert run(sys.executable, "-c", code, str(tmp_path / "out"), plain=False).exit_code == 0
    assert not Path((tmp_path / "out").read_text()).exists()


def test_sampler_costs_at_most_one_percent() -> None:
    data = run("sleep", "3").stage.data
    assert data["sampler"]["samples"] >= 3
    assert data["sampler"]["cpu_seconds"] <= 0.01 * 3 + 0.015  # the first look comes before a pace


def test_a_course_keeps_at_most_its_points() -> None:
    course = Course()
    for n in range(10_000):
        course.add(float(n), float(n % 7))
    assert len(course.points) <= MOST_POINTS
    assert course.points[0] == (0.0, 0.0)
    assert course.points[-1][0] > 9_900


def test_device_peaks_are_the_largest_sample() -> None:
    samples = Samples()
    for used in (100, 900, 300):
        fold_device(samples, 0.0, DeviceReading("GPU-a", used, 50.0))
    fold_device(samples, 0.0, DeviceReading("GPU-b", None, None))
    assert samples.gpu_used_peak_bytes == {"GPU-a": 900}
    assert samples.gpu_used_first_bytes == {"GPU-a": 100}


def test_an_adopted_grandchild_stays_in_the_tree() -> None:
    first = grow_tree([ProcessId(10, 1)], {10: (1, 1), 11: (10, 2), 12: (11, 3), 99: (1, 4)})
    assert {p.pid for p in first} == {10, 11, 12}
    later = grow_tree(first, {12: (1, 3), 11: (1, 50), 13: (12, 60)})
    assert {p.pid for p in later} == {12, 13}, "11 is another process by now"


def test_signals_reach_a_command_that_ignores_sigterm(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    code = (
        "import signal, sys, time; signal.signal(15, lambda *a: print('no', flush=True));"
        f"open({str(ready)!r}, 'w').close(); time.sleep(2); sys.exit(5)"
    )
    process = agent_measure(["-q"], [sys.executable, "-c", code], tmp_path)
    while not ready.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 5, err
    assert out.strip() == "no"


def test_measure_writes_a_bundle_and_outlives_a_lost_terminal(tmp_path: Path) -> None:
    import pexpect

    child = pexpect.spawn(
        sys.executable,
        ["-m", "agent", "measure", "-o", str(tmp_path / "b.json"), "--", "sleep", "30"],
        env={**os.environ, "PYTHONPATH": str(HERE)}, cwd=str(tmp_path),
    )  # fmt: skip
    time.sleep(2)
    os.close(child.fileno())  # the terminal goes away: SIGHUP to the foreground group
    deadline = time.monotonic() + 20
    while not (tmp_path / "b.json").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    bundle = json.loads((tmp_path / "b.json").read_text())
    stage = next(s for s in bundle["stages"] if s["name"] == "workload")
    assert stage["status"] == "interrupted"
    assert stage["data"]["command"] == "sleep"


@pytest.mark.skipif(shutil.which("script") is None, reason="needs the program script")
def test_a_terminal_program_sees_its_terminal(tmp_path: Path) -> None:
    asks = "import os; print(os.isatty(0), os.isatty(1), os.tcgetpgrp(0) == os.getpgrp())"
    ours = f"{sys.executable} -m agent measure -q -- {sys.executable} -c '{asks}'"
    done = subprocess.run(
        ["script", "-qec", ours, "/dev/null"], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(HERE)}, check=False,
    )  # fmt: skip
    assert done.stdout.split()[:3] == ["True", "True", "True"]
