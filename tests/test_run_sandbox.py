"""Where a sandbox refuses pidfd, socket pairs and the subreaper, the run goes on the second way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.hostile.sandbox import NUMBERS
from tests.hostile.torches import AT_DEVICE, write_torch
from tests.hostile.witness import none_left

ROOT = Path(__file__).parent.parent

CLIMB = f"""
import json, os, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.hostile.sandbox import refuse_system_calls
refuse_system_calls()
try: os.pidfd_open(os.getpid())
except OSError: pass
else: raise SystemExit("the sandbox does not hold")
from agent.run.runner import Runner
from agent.run.tasks import Order, Task
from agent.run.worker import Worker
with Runner() as runner:
    assert not runner.is_subreaper
    order = Order(python=sys.executable, tasks=(Task(stage="import"), Task(stage="device")),
                  environ=os.environ, deadlines={{"device": 1.0, "import": 5.0}}, grace_seconds=0.3)
    worker = Worker(runner, order)
    worker.begin()
    runner.serve()
print(json.dumps([(s.name, s.status, s.reason, s.steps[-1].name) for s in worker.stages]))
"""


@pytest.mark.skipif(os.uname().machine not in NUMBERS, reason="system call numbers not known")
def test_a_climb_in_a_sandbox_ends_as_outside_of_it(tmp_path: Path) -> None:
    token = f"token-{uuid.uuid4().hex}"
    does = (
        "import os, time\n"
        "    if os.fork() == 0:\n        os.setsid(); time.sleep(3600)\n"
        "    time.sleep(3600)"
    )
    folder = write_torch(tmp_path, AT_DEVICE % does)
    done = subprocess.run(
        [sys.executable, "-c", CLIMB],
        env={**os.environ, "PYTHONPATH": str(folder), "HOSTILE_TOKEN": token},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        ["import", "passed", None, json.loads(done.stdout)[0][3]],
        ["device", "timed_out", "deadline", "torch.cuda.init"],
    ]
    assert none_left(token) == []
