"""If the agent is killed at any moment, its processes are gone within five seconds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from agent.recover import recover
from agent.run import kin
from agent.run.guard import Guard, dismiss, start_guard, tell
from tests.hostile.witness import none_left, processes_of
from tests.sigkill import FIRST_MOMENT, LAST_MOMENT, kill_once

ROOT = Path(__file__).parent.parent

# An agent in small: a worker whose stages fork, start a compiler-like program in a session of its
# own and sleep, observed into a partial file. Its first argument is the bundle to come.
AGENT = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from agent.run import partial as partials
from agent.run.runner import Runner
from agent.run.tasks import Order, Task
from agent.run.worker import Worker
source = '''
import json, os, subprocess, sys, time, types
def main(fd, plan):
    for task in plan["tasks"]:
        here = dict(stage=task["stage"], subject=task["subject"], seq=0)
        def say(**record): os.write(fd, json.dumps(dict(here, **record)).encode())
        say(record="stage")
        say(record="step", name="go")
        if task["stage"] == "import":
            cuda = types.SimpleNamespace(is_initialized=lambda: False,
                                         _is_in_bad_fork=lambda: False)
            sys.modules["torch"] = types.SimpleNamespace(cuda=cuda)
        else:
            subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True)
            subprocess.Popen(["/bin/sleep", "3600"])
            time.sleep(float(task["options"].get("seconds", 0)))
        say(record="result", status="passed", data={{"text": "word " * 500}})
'''
notes = partials.open_partial(Path(sys.argv[1]), lambda value: value)
partials.note_run(notes, {{"id": "r", "started_at": "2026-01-01T00:00:00Z"}})
def heard(event):
    if event.kind == "begin": partials.note_begin(notes, event.stage, event.subject)
    if event.kind == "step": partials.note_step(notes, event.stage, event.subject, event.step)
    if event.kind == "stage": partials.note_stage(notes, event.result)
tasks = [Task(stage="interpreter"), Task(stage="import"), Task(stage="device")]
tasks += [Task(stage="matmul", subject=f"gpu:{{n}}", options={{"seconds": 0.2 + n * 0.05}})
          for n in range(4)]
tasks += [Task(stage="extensions", options={{"seconds": 3600}})]
order = Order(python=sys.executable, tasks=tuple(tasks), environ=os.environ, at_once=4,
              sources={{"firstlight_probes": "", "firstlight_probes.worker": source}})
with Runner() as runner:
    Worker(runner, order, heard).begin()
    runner.serve()
"""


def start_agent(bundle: Path, token: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", AGENT, str(bundle)],
        env={**os.environ, "HOSTILE_TOKEN": token},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


# FIRSTLIGHT_KILLS=200 for the long count by hand.
MOMENTS = int(os.environ.get("FIRSTLIGHT_KILLS", "30"))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_killed_at_random_moments_nothing_lives_and_the_rest_is_readable(
    part: int, tmp_path: Path
) -> None:
    chance = random.Random(part)
    for number in range(-(-MOMENTS // 3)):
        token = f"token-{uuid.uuid4().hex}"
        bundle = tmp_path / f"{number}.json"
        agent = start_agent(bundle, token)
        time.sleep(chance.uniform(0.05, 1.6))
        agent.kill()
        agent.wait()
        assert none_left(token, 5) == []
        rest = bundle.with_name(bundle.name + ".partial")
        if rest.exists() and rest.stat().st_size:
            found = recover(rest)
            assert found.run["id"] == "r"
            cut = [s for s in found.stages if s.reason == "agent-killed"]
            assert all(stage.status == "interrupted" for stage in cut)


def test_a_kill_during_a_stage_is_told_with_its_step(tmp_path: Path) -> None:
    token = f"token-{uuid.uuid4().hex}"
    bundle = tmp_path / "b.json"
    rest = tmp_path / "b.json.partial"
    agent = start_agent(bundle, token)
    until = time.monotonic() + 20
    while time.monotonic() < until and not (
        rest.exists() and b'"extensions"' in rest.read_bytes() and b'"go"' in rest.read_bytes()
    ):
        time.sleep(0.05)
    time.sleep(0.3)
    assert len(processes_of(token)) > 3
    os.killpg(os.getpgid(agent.pid), 0)
    agent.kill()
    agent.wait()
    assert none_left(token, 5) == []
    stages = {(stage.name, stage.subject): stage for stage in recover(rest).stages}
    assert stages["matmul", "gpu:3"].status == "passed"
    killed = stages["extensions", "host"]
    assert (killed.status, killed.reason) == ("interrupted", "agent-killed")
    assert killed.steps[-1].name == "go"
    assert killed.error is not None
    assert "go" in killed.error.text


def test_a_guard_is_started_without_waiting_and_goes_away() -> None:
    began = time.monotonic()
    guard = start_guard("no-such-run")
    assert time.monotonic() - began < 0.5
    assert guard.process is not None
    pid = guard.process.pid
    assert os.getsid(pid) == pid  # a signal to the agent's group does not reach it
    dismiss(guard)
    assert guard.process.returncode == 0
    tell(guard, "+1")  # nothing to tell it any more, and no error


def test_a_guard_ignores_the_signals_of_a_closing_terminal() -> None:
    guard = start_guard("no-such-run")
    assert guard.process is not None
    time.sleep(0.5)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        guard.process.send_signal(number)
    time.sleep(0.2)
    assert guard.process.poll() is None
    dismiss(guard)


def test_a_guard_that_is_not_dismissed_ends_sessions_and_folders_it_was_told(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "caches"
    (folder / "deep").mkdir(parents=True)
    told = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    untold = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    gone = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    marked = subprocess.Popen(
        ["/bin/sleep", "60"], start_new_session=True, env={kin.MARKER: "run.7."}
    )
    other = subprocess.Popen(["/bin/sleep", "60"], env={kin.MARKER: "another.7."})
    try:
        guard = start_guard("run.")
        for word in (f"+{told.pid}", f"+{gone.pid}", f"-{gone.pid}", f"d{folder}"):
            tell(guard, word)
        assert guard.pipe is not None
        assert guard.process is not None
        os.close(guard.pipe)  # as the kernel does when the agent is killed
        assert guard.process.wait(5) == 0
        assert told.wait(5) == -signal.SIGKILL
        assert marked.wait(5) == -signal.SIGKILL
        assert untold.poll() is None
        assert gone.poll() is None
        assert other.poll() is None
        assert not folder.exists()
    finally:
        for process in (told, untold, gone, marked, other):
            process.kill()
            process.wait()


def test_without_a_guard_its_calls_do_nothing() -> None:
    guard = Guard(marker="x", why_not="refused")
    tell(guard, "+1")
    dismiss(guard)


def test_the_guards_own_program_in_this_process() -> None:
    told = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        reader, writer = os.pipe()
        os.write(writer, b"end\n")
        kin.guard(reader, "no-such-run.")
        assert told.poll() is None
        os.write(writer, f"+{told.pid}\n-1\nd/no/such/folder\nhalf".encode())
        os.close(writer)
        kin.guard(reader, "no-such-run.")
        assert told.wait(5) == -signal.SIGKILL
        os.close(reader)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        told.kill()
        told.wait()


@pytest.mark.slow
@pytest.mark.torch
def test_the_whole_agent_killed_at_random_moments_keeps_every_promise(torch_python: Path) -> None:
    """docs/sigkill.md has the count of 200 such runs."""
    chance = random.Random("whole")
    for _ in range(30):
        left = kill_once(str(torch_python), chance.uniform(FIRST_MOMENT, LAST_MOMENT))
        assert left.good, left
