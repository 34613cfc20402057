"""Whatever a target does, at start-up, import or its device, a stage says what and where."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.model import Gap, Stage
from agent.run.runner import Runner
from agent.run.tasks import Order, Task
from agent.run.worker import Worker
from tests.hostile.torches import AT_DEVICE, HOLD_LOCK, IMPORTS, SITES, write_site, write_torch
from tests.hostile.witness import none_left, pythons

DEADLINE = 1.5
GRACE = 0.3
MARGIN = 6.0  # of a loaded machine, for starting interpreters; far below any deadline of the ladder


@dataclass(frozen=True)
class Climbed:
    stages: Mapping[tuple[str, str], Stage]
    gaps: tuple[Gap, ...]
    seconds: float


def climb(
    python: str,
    folder: Path,
    *stages: str,
    deadline: float = DEADLINE,
    memory: int | None = None,
    import_deadline: float | None = None,
    **environ: str,
) -> Climbed:
    """Climbs stages in a target whose PYTHONPATH is the folder; asserts that nothing is left."""
    token = f"hostile-{uuid.uuid4().hex}"
    order = Order(
        python=python,
        tasks=tuple(Task(stage=name) for name in stages),
        environ={**os.environ, "PYTHONPATH": str(folder), "HOSTILE_TOKEN": token, **environ},
        deadlines={
            "interpreter": deadline + 5,
            "import": import_deadline or deadline,
            "device": deadline,
        },
        grace_seconds=GRACE,
        memory_limit_bytes=memory,
    )
    began = time.monotonic()
    with Runner() as runner:
        worker = Worker(runner, order)
        worker.begin()
        runner.serve()
        seconds = time.monotonic() - began
        assert worker.finished
    assert none_left(token) == []
    found = {(stage.name, stage.subject): stage for stage in worker.stages}
    assert len(found) == len(worker.stages), "a stage was reported twice"
    return Climbed(found, tuple(worker.gaps), seconds)


def last_step(stage: Stage) -> str | None:
    return stage.steps[-1].name if stage.steps else None


CRASHES = {
    "segfaults": ("signal", "SIGSEGV", None),
    "aborts": ("signal", "SIGABRT", None),
    "kills itself": ("signal", "SIGKILL", None),
    "leaves": ("exited", None, 3),
    "leaves with zero": ("exited", None, 0),
    "forks and dies": ("signal", "SIGABRT", None),
    "forks and leaves": ("exited", None, 0),
    "leaves a stray and dies": ("signal", "SIGABRT", None),
}


@pytest.mark.parametrize("name", CRASHES)
def test_an_import_that_dies_is_a_crash_with_its_step(name: str, tmp_path: Path) -> None:
    seen = climb(sys.executable, write_torch(tmp_path, IMPORTS[name]), "import", "device")
    stage = seen.stages["import", "host"]
    reason, signal, code = CRASHES[name]
    assert (stage.status, stage.reason) == ("crashed", reason)
    assert (stage.signal, stage.exit_code) == (signal, code)
    assert last_step(stage) == "import torch"
    assert stage.steps[-1].seconds is None
    assert stage.error is not None
    assert "import torch" in stage.error.text
    assert seen.stages["device", "host"].reason == "needs-stage"
    assert seen.seconds < MARGIN


def test_a_fork_that_goes_on_as_if_it_were_the_worker_is_ended(tmp_path: Path) -> None:
    # Its words count as far as they came before the worker's own end; either way it ends.
    folder = write_torch(tmp_path, IMPORTS["forks and lets the fork go on"])
    stage = climb(sys.executable, folder, "import").stages["import", "host"]
    assert (stage.status, stage.reason) in {("crashed", "exited"), ("failed", "raised")}


@pytest.mark.parametrize("python", pythons())
def test_a_segfault_leaves_its_traceback_in_every_version(python: str, tmp_path: Path) -> None:
    seen = climb(python, write_torch(tmp_path, IMPORTS["segfaults"]), "interpreter", "import")
    stage = seen.stages["import", "host"]
    assert (stage.status, stage.signal) == ("crashed", "SIGSEGV")
    assert stage.stderr_tail is not None
    assert "torch.py" in stage.stderr_tail
    assert "firstlight_probes" in stage.stderr_tail


HANGS = (
    "hangs holding the lock",
    "hangs in threads",
    "ignores SIGTERM",
    "closes everything and hangs",
    "stops itself",
)


@pytest.mark.parametrize("name", HANGS)
def test_an_import_that_hangs_times_out_within_its_deadline(name: str, tmp_path: Path) -> None:
    seen = climb(sys.executable, write_torch(tmp_path, IMPORTS[name]), "import", "device")
    stage = seen.stages["import", "host"]
    assert (stage.status, stage.reason) == ("timed_out", "deadline")
    assert last_step(stage) == "import torch"
    assert DEADLINE <= stage.seconds < DEADLINE + GRACE + MARGIN
    assert seen.seconds < DEADLINE + GRACE + MARGIN


@pytest.mark.parametrize("python", pythons())
def test_a_hang_in_c_shows_where_it_hung_in_every_version(python: str, tmp_path: Path) -> None:
    source = IMPORTS["hangs holding the lock"]
    stage = climb(python, write_torch(tmp_path, source), "import").stages["import", "host"]
    assert (stage.status, last_step(stage)) == ("timed_out", "import torch")
    assert stage.stderr_tail is not None
    assert "torch.py" in stage.stderr_tail


FAILURES = {
    "raises OSError": ("does-not-load", "OSError"),
    "raises ImportError": ("does-not-load", "ImportError"),
    "raises KeyboardInterrupt": (None, "KeyboardInterrupt"),
    "raises SystemExit": (None, "SystemExit"),
    "raises an error that cannot be printed": (None, "torch.Mute"),
    "prints 100 MB and fails": ("does-not-load", "OSError"),
    "prints records to stdout": ("does-not-load", "ImportError"),
    "writes noise to every descriptor": ("does-not-load", "ImportError"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_an_import_that_raises_is_a_failure_with_its_own_words(name: str, tmp_path: Path) -> None:
    folder = write_torch(tmp_path, IMPORTS[name])
    seen = climb(sys.executable, folder, "import", deadline=30)
    stage = seen.stages["import", "host"]
    reason, kind = FAILURES[name]
    assert stage.status == "failed"
    assert reason is None or stage.reason == reason
    assert stage.error is not None
    assert stage.error.type == kind
    assert last_step(stage) == "import torch"


def test_100_mb_of_noise_are_read_and_not_kept(tmp_path: Path) -> None:
    folder = write_torch(tmp_path, IMPORTS["prints 100 MB and fails"])
    stage = climb(sys.executable, folder, "import", deadline=30).stages["import", "host"]
    assert stage.error is not None
    assert stage.error.text == "after the noise"
    assert stage.stderr_tail is not None
    assert len(stage.stderr_tail) <= 8 * 1024


def test_noise_on_the_record_channel_is_counted_and_said(tmp_path: Path) -> None:
    folder = write_torch(tmp_path, IMPORTS["writes noise to every descriptor"])
    seen = climb(sys.executable, folder, "import", deadline=30)
    assert any("records" in gap.why and "unreadable" in gap.why for gap in seen.gaps)


def test_a_child_that_eats_memory_is_ended_before_the_machine(tmp_path: Path) -> None:
    folder = write_torch(tmp_path, IMPORTS["eats memory"])
    seen = climb(sys.executable, folder, "import", deadline=30, memory=256 << 20)
    stage = seen.stages["import", "host"]
    assert (stage.status, stage.reason) == ("crashed", "no-memory")
    assert last_step(stage) == "import torch"
    assert stage.seconds < 15


def test_left_processes_are_said(tmp_path: Path) -> None:
    folder = write_torch(tmp_path, IMPORTS["leaves a stray and dies"])
    seen = climb(sys.executable, folder, "import")
    assert any("outlived" in gap.why for gap in seen.gaps)


# ---------------------------------------------------------------- start-up code of the target
@pytest.mark.parametrize("python", pythons())
def test_noise_and_errors_of_sitecustomize_do_no_harm(python: str, tmp_path: Path) -> None:
    for name in ("prints", "raises"):
        folder = write_site(tmp_path / name, SITES[name])
        seen = climb(python, write_torch(folder, IMPORTS["raises ImportError"]), "import")
        assert seen.stages["import", "host"].reason == "does-not-load"


@pytest.mark.parametrize(("name", "code"), [("exits", 5), ("leaves", 6)])
def test_start_up_code_that_exits_is_named_as_the_start(
    name: str, code: int, tmp_path: Path
) -> None:
    seen = climb(sys.executable, write_site(tmp_path, SITES[name]), "interpreter", "import")
    stage = seen.stages["interpreter", "host"]
    assert (stage.status, stage.reason) == ("crashed", "exited")
    assert stage.exit_code in (code, 1)  # site turns SystemExit into its own exit in some versions
    assert last_step(stage) == "start the interpreter"
    assert seen.stages["import", "host"].reason == "needs-stage"


@pytest.mark.parametrize("name", ["deletes modules", "closes descriptors"])
@pytest.mark.parametrize("python", pythons())
def test_start_up_code_that_breaks_python_ends_with_a_stage(
    python: str, name: str, tmp_path: Path
) -> None:
    folder = write_torch(write_site(tmp_path, SITES[name]), IMPORTS["raises ImportError"])
    seen = climb(python, folder, "interpreter", "import")
    stage = seen.stages["import", "host"]
    assert stage.status in ("failed", "skipped", "crashed")
    assert seen.seconds < 2 * MARGIN


# ---------------------------------------------------------------- no target at all
def test_a_program_that_is_not_python_is_said(tmp_path: Path) -> None:
    seen = climb("/bin/true", tmp_path, "interpreter", "import")
    stage = seen.stages["interpreter", "host"]
    assert (stage.status, stage.reason) == ("failed", "not-python")
    assert seen.stages["import", "host"].reason == "needs-stage"


def test_a_file_that_is_no_program_is_said(tmp_path: Path) -> None:
    file = tmp_path / "python"
    file.write_bytes(b"\x00\x01not a program")
    file.chmod(0o755)
    stage = climb(str(file), tmp_path, "interpreter").stages["interpreter", "host"]
    assert (stage.status, stage.reason) == ("failed", "not-python")


def test_a_program_that_hangs_instead_of_being_python(tmp_path: Path) -> None:
    file = tmp_path / "python"
    file.write_text("#!/bin/sh\nexec sleep 3600\n")
    file.chmod(0o755)
    seen = climb(str(file), tmp_path, "import", "device")
    assert seen.stages["import", "host"].status == "timed_out"
    assert seen.seconds < DEADLINE + GRACE + MARGIN


def test_a_target_that_is_gone_is_said(tmp_path: Path) -> None:
    stage = climb(str(tmp_path / "gone"), tmp_path, "interpreter").stages["interpreter", "host"]
    assert (stage.status, stage.reason) == ("failed", "raised")
    assert stage.error is not None
    assert stage.error.type == "FileNotFoundError"


def test_a_target_that_vanishes_during_the_run(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    source = AT_DEVICE % "import os; os.unlink(os.environ['GOES']); os.abort()"
    seen = climb(str(python), write_torch(tmp_path, source), "import", "device", GOES=str(python))
    stage = seen.stages["device", "host"]
    assert stage.status == "failed"
    assert stage.error is not None
    assert stage.error.type == "FileNotFoundError"
    assert stage.data["in_fork"]["text"].startswith("the process was ended by SIGABRT")


# ---------------------------------------------------------------- at the device, in forks
@pytest.mark.parametrize("python", pythons())
def test_a_crash_at_the_device_is_seen_twice_before_it_is_believed(
    python: str, tmp_path: Path
) -> None:
    source = AT_DEVICE % "import ctypes; ctypes.string_at(0)"
    seen = climb(python, write_torch(tmp_path, source), "import", "device", deadline=10)
    assert seen.stages["import", "host"].status == "passed"
    stage = seen.stages["device", "host"]
    assert (stage.status, stage.reason, stage.signal) == ("crashed", "signal", "SIGSEGV")
    assert last_step(stage) == "torch.cuda.init"
    assert stage.data["in_fork"]["status"] == "crashed"
    assert stage.data["in_fork"]["last_step"] == "torch.cuda.init"


def test_a_hang_at_the_device_keeps_its_deadline_twice(tmp_path: Path) -> None:
    folder = write_torch(tmp_path, AT_DEVICE % HOLD_LOCK)
    seen = climb(sys.executable, folder, "import", "device")
    stage = seen.stages["device", "host"]
    assert (stage.status, last_step(stage)) == ("timed_out", "torch.cuda.init")
    assert stage.data["in_fork"]["status"] == "timed_out"
    assert seen.seconds < 3 * DEADLINE + 2 * GRACE + MARGIN


def test_what_fails_in_a_fork_only_is_put_right_by_a_process_of_its_own(tmp_path: Path) -> None:
    source = AT_DEVICE % (
        "import os, sys\n"
        "    if os.getpid() != os.getsid(0): os.abort()\n"
        "    raise RuntimeError('as it is without a fork')"
    )
    folder = write_torch(tmp_path, source)
    stage = climb(sys.executable, folder, "import", "device", deadline=10).stages["device", "host"]
    assert stage.status == "failed"
    assert stage.error is not None
    assert stage.error.text == "as it is without a fork"
    assert stage.data["in_fork"]["status"] == "crashed"


def test_a_stage_that_is_reported_twice_is_told(tmp_path: Path) -> None:
    """Nothing keeps a target from writing to its channel; that it did can be seen."""
    source = (
        "import json, os\n"
        "lie = {'record': 'result', 'stage': 'import', 'subject': 'host', 'status': 'passed',\n"
        "       'seq': 99, 'data': {}}\n"
        "for number in range(3, 64):\n"
        "    try: os.write(number, json.dumps(lie).encode() + b'\\n')\n"
        "    except OSError: pass\n"
        "raise ImportError('the real end')\n"
    )
    seen = climb(sys.executable, write_torch(tmp_path, source), "import")
    told = [gap.why for gap in seen.gaps if gap.why.startswith("records: import on host was")]
    assert told == ["records: import on host was passed first and failed later"]
