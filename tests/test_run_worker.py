"""How a worker climbs: one import, forks side by side, and what a death costs."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.model import Json, Stage
from agent.run.outcome import Event
from agent.run.runner import Runner
from agent.run.tasks import EACH_DEVICE, Order, Task
from agent.run.worker import Worker
from tests.hostile.witness import none_left, pythons

# A probe whose stages do what their options' ``do`` says; ``import`` puts a small torch in place.
PROBE = """
import json, os, sys, time, types
def main(fd, plan):
    def say(here, **record):
        os.write(fd, json.dumps(dict(here, seq=0, **record)).encode())
    for task in plan["tasks"]:
        here = {"stage": task["stage"], "subject": task["subject"]}
        say(here, record="stage")
        say(here, record="step", name="first")
        if "torch" not in sys.modules:
            cuda = types.SimpleNamespace(
                is_initialized=lambda: False, _is_in_bad_fork=lambda: False)
            sys.modules["torch"] = types.SimpleNamespace(cuda=cuda, version=None)
        forked = os.getpid() != os.getsid(0)
        data = {"pid": os.getpid(), "forked": forked}
        exec(task["options"].get("do", ""))
        say(here, record="step", name="last")
        say(here, record="result", status="passed", data=data)
    os.write(fd, b'{"record": "done", "seq": 9}')
"""
SOURCES = {"firstlight_probes": "", "firstlight_probes.worker": PROBE}
DEVICES = (
    "data.update(backend='cuda', devices=[{'index': n, 'id': 'gpu:%d' % n} for n in range(4)])"
)


def do(stage: str, code: str = "", subject: str = "host") -> Task:
    return Task(stage=stage, subject=subject, options={"do": code})


class Seen:
    def __init__(self, worker: Worker, events: list[Event], seconds: float) -> None:
        self.worker = worker
        self.events = events
        self.seconds = seconds
        self.gaps = " | ".join(gap.why for gap in worker.gaps)

    def __getitem__(self, key: tuple[str, str]) -> Stage:
        found = [s for s in self.worker.stages if (s.name, s.subject) == key]
        assert len(found) == 1, f"{key} was reported {len(found)} times"
        return found[0]


def climb(
    *tasks: Task,
    python: str = sys.executable,
    deadlines: Mapping[str, float] | None = None,
    at_once: int | None = 4,
    fork: bool = True,
    one_process: bool = False,
    memory: int | None = None,
    extra: Mapping[str, Json] | None = None,
) -> Seen:
    token = f"token-{uuid.uuid4().hex}"
    order = Order(
        python=python,
        tasks=tasks,
        environ={**os.environ, "HOSTILE_TOKEN": token},
        sources=SOURCES,
        deadlines=deadlines or {},
        at_once=at_once,
        fork=fork,
        one_process=one_process,
        memory_limit_bytes=memory,
        grace_seconds=0.3,
        extra=extra or {},
    )
    events: list[Event] = []
    with Runner(unkillable_seconds=2) as runner:
        worker = Worker(runner, order, events.append)
        began = time.monotonic()
        worker.begin()
        runner.serve()
        seconds = time.monotonic() - began
    assert worker.finished
    assert none_left(token) == []
    return Seen(worker, events, seconds)


@pytest.mark.parametrize("python", pythons())
def test_one_import_serves_all_stages_and_devices_run_side_by_side(python: str) -> None:
    seen = climb(
        do("interpreter"),
        do("import"),
        do("device", DEVICES),
        do("matmul", "time.sleep(0.5)", EACH_DEVICE),
        python=python,
    )
    server = seen["import", "host"].data["pid"]
    assert seen["interpreter", "host"].data["pid"] == server
    stages = [seen["matmul", f"gpu:{number}"] for number in range(4)]
    assert all(stage.status == "passed" for stage in stages)
    assert all(stage.data["forked"] for stage in stages)
    assert len({stage.data["pid"] for stage in stages} | {server}) == 5
    begun = [event for event in seen.events if event.kind == "begin"]
    assert [event.stage for event in begun[:3]] == ["interpreter", "import", "device"]
    assert sum(stage.seconds for stage in stages) >= 2
    assert seen.seconds < 1.9
    assert seen.worker.gaps == []


def test_no_more_devices_at_once_than_allowed() -> None:
    code = "data['began'] = time.time(); time.sleep(0.2); data['ended'] = time.time()"
    tasks = (do("import"), do("device", DEVICES), do("matmul", code, EACH_DEVICE))
    seen = climb(*tasks, at_once=2)
    spans = [seen["matmul", f"gpu:{number}"].data for number in range(4)]
    for one in spans:
        over = [s for s in spans if s["began"] <= one["began"] < s["ended"]]
        assert len(over) <= 2


def test_a_device_that_dies_leaves_the_others_and_their_noise_apart() -> None:
    code = (
        "n = task['options']['index']\n"
        "sys.stderr.write('words of %d\\n' % n); sys.stderr.flush()\n"
        "if n == 2: os.abort()"
    )
    seen = climb(do("import"), do("device", DEVICES), do("matmul", code, EACH_DEVICE))
    for number in (0, 1, 3):
        stage = seen["matmul", f"gpu:{number}"]
        assert (stage.status, stage.stderr_tail) == ("passed", f"words of {number}\n")
    dead = seen["matmul", "gpu:2"]
    assert (dead.status, dead.signal) == ("crashed", "SIGABRT")
    assert dead.stderr_tail is not None
    assert "words of 2" in dead.stderr_tail
    assert dead.data["in_fork"]["status"] == "crashed"


def test_a_device_that_hangs_costs_only_its_own_time() -> None:
    code = "if task['options']['index'] == 1: time.sleep(3600)"
    seen = climb(
        do("import"),
        do("device", DEVICES),
        do("matmul", code, EACH_DEVICE),
        do("memory"),
        deadlines={"matmul": 0.8, "import": 0.5},
    )
    hung = seen["matmul", "gpu:1"]
    assert (hung.status, hung.reason, hung.steps[-1].name) == ("timed_out", "deadline", "first")
    assert all(seen["matmul", f"gpu:{number}"].status == "passed" for number in (0, 2, 3))
    assert seen["memory", "host"].status == "passed"
    assert seen.seconds < 6


def test_once_a_fork_is_cleared_a_second_death_is_believed() -> None:
    seen = climb(do("import"), do("device", "os.abort()"), do("extensions", "os.abort()"))
    assert "in_fork" in seen["device", "host"].data
    assert "in_fork" not in seen["extensions", "host"].data
    assert seen["extensions", "host"].status == "crashed"


def test_a_fork_at_fault_is_not_used_again() -> None:
    seen = climb(do("import"), do("device", "if forked: os.abort()"), do("extensions"))
    assert seen["device", "host"].status == "passed"
    assert seen["device", "host"].data["in_fork"]["status"] == "crashed"
    assert seen["extensions", "host"].data["forked"] is False
    assert "fails in a forked process only" in seen.gaps


def test_a_server_that_dies_takes_no_result_with_it() -> None:
    # The fork kills its server, which takes the fork along; the task is done again, apart.
    seen = climb(do("import"), do("device", "if forked: os.kill(os.getppid(), 9); time.sleep(9)"))
    assert seen["device", "host"].status == "passed"
    assert seen["device", "host"].data["forked"] is False


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("sys.modules['torch'].cuda.is_initialized = lambda: True", "initialised"),
        ("sys.modules['torch'].cuda._is_in_bad_fork = lambda: True", "refuses the device"),
        ("sys.modules['torch'].version = types.SimpleNamespace(hip='7.0')", "AMD"),
        ("import threading; threading.Timer(5, print).start()", "thread"),
        ("sys.modules['torch'].cuda._is_in_bad_fork = os.abort", "trial"),
        ("sys.modules['torch'].cuda._is_in_bad_fork = lambda: time.sleep(60)", "hung"),
    ],
)
def test_where_a_fork_is_not_sound_each_task_has_a_process(code: str, why: str) -> None:
    seen = climb(do("import", code), do("device", DEVICES), do("matmul", "", EACH_DEVICE))
    assert why in seen.gaps
    stages = [seen["matmul", f"gpu:{number}"] for number in range(4)]
    assert [stage.status for stage in stages] == ["passed"] * 4
    assert not any(stage.data["forked"] for stage in stages)
    assert len({stage.data["pid"] for stage in stages}) == 4


def test_a_death_in_the_first_process_costs_one_stage() -> None:
    seen = climb(
        do("driver", subject="nvml"),
        do("driver", "os._exit(7)", "cuda"),
        do("driver", subject="amd_smi"),
        do("driver", "time.sleep(3600)", "hip"),
        do("driver", subject="last"),
        one_process=True,
        deadlines={"driver": 1.0},
    )
    assert [stage.subject for stage in seen.worker.stages] == [
        "nvml",
        "cuda",
        "amd_smi",
        "hip",
        "last",
    ]
    assert (seen["driver", "cuda"].reason, seen["driver", "cuda"].exit_code) == ("exited", 7)
    assert seen["driver", "hip"].status == "timed_out"
    first, third, last = (seen["driver", name] for name in ("nvml", "amd_smi", "last"))
    assert first.status == third.status == last.status == "passed"
    assert len({stage.data["pid"] for stage in (first, third, last)}) == 3


def test_a_probe_may_report_more_stages_than_its_task() -> None:
    code = (
        DEVICES + "\n"
        "say(here, record='result', status='passed', data=data)\n"
        "there = {'stage': 'device', 'subject': 'gpu:3'}\n"
        "say(there, record='stage')\n"
        "say(there, record='result', status='failed', reason='raised',\n"
        "    error={'type': 'RuntimeError', 'text': 'lost'})\n"
        "say({'stage': 'verdict', 'subject': 'x'}, record='stage')\n"
        "os._exit(0)"
    )
    seen = climb(do("import"), do("device", code), do("matmul", "", EACH_DEVICE))
    assert seen["device", "host"].status == "passed"
    assert seen["device", "gpu:3"].error is not None
    assert seen["matmul", "gpu:3"].reason == "needs-stage"
    assert [seen["matmul", f"gpu:{n}"].status for n in (0, 1, 2)] == ["passed"] * 3
    assert not [stage for stage in seen.worker.stages if stage.name == "verdict"]


def test_a_fork_that_eats_memory_is_ended_alone() -> None:
    code = (
        "if task['options']['index'] == 1:\n"
        "    held = []\n"
        "    while True: held.append(bytearray(b'x' * (8 << 20))); time.sleep(0.01)\n"
        "time.sleep(1)"
    )
    seen = climb(
        do("import"), do("device", DEVICES), do("matmul", code, EACH_DEVICE), memory=400 << 20
    )
    assert (seen["matmul", "gpu:1"].status, seen["matmul", "gpu:1"].reason) == (
        "crashed",
        "no-memory",
    )
    assert [seen["matmul", f"gpu:{n}"].status for n in (0, 2, 3)] == ["passed"] * 3


def test_what_a_fork_leaves_in_its_group_ends_with_it() -> None:
    code = "if os.fork() == 0: time.sleep(3600)"
    seen = climb(do("import"), do("device", code), do("extensions", "time.sleep(0.2)"))
    assert seen["device", "host"].status == "passed"
    assert seen["extensions", "host"].status == "passed"


def test_a_simulated_machine_is_noticed() -> None:
    seen = climb(do("import"), do("device", "say({}, record='simulated')"))
    assert seen.worker.simulated


def test_partial_data_and_steps_survive_a_death() -> None:
    code = (
        "say(here, record='data', data={'torch_count': 2})\n"
        "say(here, record='step', name='open device 1')\n"
        "os.abort()"
    )
    stage = climb(do("import"), do("device", code))["device", "host"]
    assert stage.data["torch_count"] == 2
    assert [step.name for step in stage.steps][-1] == "open device 1"
    assert [step.seconds is None for step in stage.steps] == [False] * (len(stage.steps) - 1) + [
        True
    ]


def test_a_worker_without_a_result_for_its_task_is_a_crash() -> None:
    stage = climb(do("import", "os.write(fd, b'nonsense'); os._exit(0)"))["import", "host"]
    assert (stage.status, stage.reason, stage.exit_code) == ("crashed", "exited", 0)


def test_held_stages_wait_for_their_release() -> None:
    order = Order(
        python=sys.executable,
        tasks=(do("import"), do("device")),
        environ=os.environ,
        sources=SOURCES,
        hold=True,
    )
    with Runner() as runner:
        worker = Worker(runner, order)
        worker.begin()
        runner.later(1.0, worker.release)
        began = time.monotonic()
        runner.serve(until=lambda: bool(worker.stages))
        assert [stage.name for stage in worker.stages] == ["import"]
        runner.serve()
        assert time.monotonic() - began >= 1.0
    assert [stage.name for stage in worker.stages] == ["import", "device"]


def test_the_runs_time_names_what_ran_and_what_did_not_begin() -> None:
    order = Order(
        python=sys.executable,
        tasks=(do("import"), do("device", "time.sleep(60)"), do("extensions")),
        environ=os.environ,
        sources=SOURCES,
        grace_seconds=0.2,
    )
    with Runner(deadline_seconds=1.5) as runner:
        worker = Worker(runner, order)
        worker.begin()
        runner.serve()
    assert [(stage.name, stage.status, stage.reason) for stage in worker.stages] == [
        ("import", "passed", None),
        ("device", "timed_out", "deadline"),
        ("extensions", "skipped", "deadline"),
    ]


# ---------------------------------------------------------------- the real thing
@pytest.mark.torch
def test_a_cpu_torch_is_imported_once_and_computes_in_a_fork(torch_python: Path) -> None:
    order = Order(
        python=str(torch_python),
        tasks=(do("interpreter"), do("import"), do("device"), do("matmul", "", EACH_DEVICE)),
        environ=os.environ,
        backend="cpu",
    )
    with Runner() as runner:
        worker = Worker(runner, order)
        worker.begin()
        runner.serve()
    assert [(stage.name, stage.status) for stage in worker.stages] == [
        ("interpreter", "passed"),
        ("import", "passed"),
        ("device", "passed"),
        ("matmul", "passed"),
    ]
    assert worker.gaps == []
    steps = [step.name for stage in worker.stages for step in stage.steps]
    assert "import torch" in steps
    assert "import torch (again)" not in steps


@pytest.mark.torch
def test_a_cuda_torch_asks_no_driver_before_its_forks(torch_cuda_python: Path) -> None:
    order = Order(
        python=str(torch_cuda_python), tasks=(do("import"), do("device")), environ=os.environ
    )
    with Runner() as runner:
        worker = Worker(runner, order)
        worker.begin()
        runner.serve()
    assert worker.gaps == []
    device = worker.stages[-1]
    assert "import torch (again)" not in [step.name for step in device.steps]
    assert "in_fork" not in device.data
