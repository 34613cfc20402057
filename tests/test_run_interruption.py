"""^C, SIGTERM and SIGHUP end all children quickly, and what was observed is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from agent.run.child import Child, Exit
from agent.run.interruption import interruptions
from agent.run.runner import Runner
from agent.run.tasks import Order, Task
from agent.run.worker import Worker
from agent.verify import verify
from tests.agent_command import HERE, command, environment
from tests.hostile.torches import AT_DEVICE, IMPORTS, write_torch
from tests.hostile.witness import none_left


def send_later(number: int, *seconds: float) -> None:
    for delay in seconds:
        threading.Timer(delay, os.kill, (os.getpid(), number)).start()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_children_and_keeps_what_was_seen(name: str, tmp_path: Path) -> None:
    token = f"token-{uuid.uuid4().hex}"
    folder = write_torch(tmp_path, AT_DEVICE % "import time; time.sleep(3600)")
    order = Order(
        python=sys.executable,
        tasks=tuple(Task(stage=stage) for stage in ("import", "device", "matmul")),
        environ={**os.environ, "PYTHONPATH": str(folder), "HOSTILE_TOKEN": token},
    )
    with Runner() as runner, interruptions(runner.interrupt):
        worker = Worker(runner, order)
        worker.begin()
        send_later(getattr(signal, name), 1.5)
        began = time.monotonic()
        runner.serve()
        assert time.monotonic() - began < 6
        assert runner.interrupted == name
        assert worker.finished
    found = {stage.name: stage for stage in worker.stages}
    assert found["import"].status == "passed"
    assert (found["device"].status, found["device"].reason) == ("interrupted", "interrupted")
    assert found["device"].steps[-1].name == "torch.cuda.init"
    assert (found["matmul"].status, found["matmul"].reason) == ("skipped", "interrupted")
    assert none_left(token) == []


def test_a_second_signal_does_without_the_grace(tmp_path: Path) -> None:
    folder = write_torch(tmp_path, IMPORTS["ignores SIGTERM"])
    exits: list[Exit] = []
    child = Child(
        name="stubborn",
        argv=(sys.executable, "-c", "import torch"),
        environ={**os.environ, "PYTHONPATH": str(folder)},
        grace_seconds=60,
    )
    with Runner() as runner, interruptions(runner.interrupt):
        runner.start(child, exits.append)
        send_later(signal.SIGINT, 0.7, 1.2)
        began = time.monotonic()
        runner.serve()
        assert time.monotonic() - began < 10
    assert (exits[0].ended_by, exits[0].signal) == ("interrupted", "SIGKILL")


def test_handlers_are_put_back_and_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    terminate = signal.getsignal(signal.SIGTERM)
    heard: list[str] = []
    try:
        with interruptions(heard.append):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.05)
        assert heard == ["SIGTERM"]
        assert signal.getsignal(signal.SIGTERM) == terminate
    finally:
        signal.signal(signal.SIGHUP, before)


def test_outside_the_main_thread_signals_stay_as_they_are() -> None:
    seen: list[object] = []

    def inside() -> None:
        with interruptions(lambda name: None):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


@pytest.mark.parametrize("seconds", [0.03, 0.06, 0.09, 0.12, 0.15, 0.2, 0.3])
def test_a_signal_while_the_agent_still_loads_ends_it_in_silence(
    seconds: float, tmp_path: Path
) -> None:
    """Python's own ^C during an import is printed and lost; ours ends, or a bundle says it."""
    process = subprocess.Popen(
        command("run", "--depth", "quick", "--python", sys.executable), cwd=tmp_path,
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(seconds)
    came_too_late = process.poll() is not None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    if came_too_late:
        assert process.returncode == 1, "a run without torch may be over by then"
        return
    if process.returncode == -signal.SIGINT or "KeyboardInterrupt" in err:
        # The interpreter itself was still starting, or the run was over and it was ending.
        assert "looking at this machine" not in err or list(tmp_path.glob("*.json"))
        return
    assert process.returncode == 130
    assert all(verify(path.read_bytes()).intact for path in tmp_path.glob("*.json"))


def test_a_signal_while_the_bundle_is_written_waits_until_it_is(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        f"sys.path.insert(0, {str(HERE)!r})\n"
        "import agent.bundle, agent.conclude\n"
        "real = agent.bundle.write\n"
        "def slow(*arguments):\n"
        "    os.kill(os.getpid(), signal.SIGTERM); os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return real(*arguments)\n"
        "agent.conclude.write = slow\n"
        "from agent.__main__ import main; main()\n"
    )
    arguments = ["run", "--depth", "quick", "--only", "driver", "--python", sys.executable]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 143, done.stderr
    (bundle,) = tmp_path.iterdir()
    assert verify(bundle.read_bytes()).intact
