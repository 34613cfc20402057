"""One loop, many children: what they write, how they end, and that the second ways work too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from agent.run import kin
from agent.run.child import Child, Exit
from agent.run.launch import probe_child
from agent.run.records import Record
from agent.run.runner import Runner
from tests.hostile.torches import STRAY
from tests.hostile.witness import none_left, processes_of

SLOW = 8.0  # a loaded machine's margin


def script(code: str, token: str = "", **options: float | int | None) -> Child:
    environ = {**os.environ, "HOSTILE_TOKEN": token}
    return Child(
        name="script",
        argv=(sys.executable, "-S", "-c", code),
        environ=environ,
        deadline_seconds=float(options.get("deadline") or 30),
        grace_seconds=0.2,
    )


def speaking(code: str, deadline: float = 30) -> Child:
    """A child whose probe is ``code`` in ``main(fd, plan)``, with ``say`` at hand."""
    source = (
        "import json, os, time\n"
        "def main(fd, plan):\n"
        "    def say(**record): os.write(fd, json.dumps(record).encode() + b'\\n')\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
    )
    sources = {"firstlight_probes": "", "firstlight_probes.worker": source}
    child = probe_child(
        sys.executable, {"tasks": []}, dict(os.environ), name="speaking", sources=sources
    )
    return Child(
        name=child.name,
        argv=child.argv,
        environ=child.environ,
        source=child.source,
        deadline_seconds=deadline,
        grace_seconds=0.2,
    )


def run(runner: Runner, child: Child) -> tuple[Exit, list[Record]]:
    exits: list[Exit] = []
    records: list[Record] = []
    runner.start(child, exits.append, records.append)
    runner.serve()
    assert len(exits) == 1
    return exits[0], records


def test_exit_code_signal_and_tails_are_reported() -> None:
    with Runner() as runner:
        ended, _ = run(
            runner, script("import sys; print('out'); sys.stderr.write('err'); sys.exit(4)")
        )
        assert (ended.ended_by, ended.code, ended.signal) == ("itself", 4, None)
        assert (ended.stdout_tail, ended.stderr_tail) == ("out\n", "err")
        ended, _ = run(runner, script("import os; os.kill(os.getpid(), 10)"))
        assert (ended.code, ended.signal) == (None, "SIGUSR1")


def test_a_hundred_megabytes_are_drained_and_counted() -> None:
    code = "import os\nfor _ in range(1600): os.write(1, b'y' * 65536)"
    with Runner() as runner:
        ended, _ = run(runner, script(code))
    assert ended.code == 0
    assert ended.dropped_bytes + 64 * 1024 * 2 >= 1600 * 65536
    assert len(ended.stdout_tail) == 16 * 1024


def test_stdin_is_empty_and_the_directory_is_the_root() -> None:
    code = "import os, sys; print(repr(sys.stdin.read()), os.getcwd(), os.getpid() == os.getsid(0))"
    with Runner() as runner:
        ended, _ = run(runner, script(code))
    assert ended.stdout_tail == "'' / True\n"


def test_the_agents_descriptors_stay_with_the_agent() -> None:
    with Runner() as runner:
        ended, _ = run(runner, script("import os; print(os.listdir('/proc/self/fd'))"))
    assert ended.stdout_tail == "['0', '1', '2', '3']\n"


@pytest.mark.parametrize("packets", [True, False])
def test_records_of_many_writers_arrive_whole(packets: bool) -> None:
    # Over a pipe only records below PIPE_BUF are safe; over packets any are.
    size = 30_000 if packets else 3_000
    code = (
        "for writer in range(4):\n"
        "    if os.fork() == 0:\n"
        "        for number in range(50):\n"
        f"            data = {{'w': writer, 'n': number, 'x': 'x' * {size}}}\n"
        "            say(record='data', stage='s', data=data)\n"
        "        os._exit(0)\n"
        "for writer in range(4): os.wait()\n"
        "say(record='done')"
    )
    with Runner(use_packets=packets) as runner:
        ended, records = run(runner, speaking(code))
    assert ended.bad_records == 0
    seen = {(r.data["w"], r.data["n"]) for r in records if r.kind == "data"}
    assert seen == {(writer, number) for writer in range(4) for number in range(50)}
    assert records[-1].kind == "done"


@pytest.mark.parametrize("packets", [True, False])
def test_a_record_without_end_is_dropped_and_counted(packets: bool) -> None:
    code = (
        "os.write(fd, b'{' * 70000)\n" if packets else "os.write(fd, b'{' * 200000)\n"
    ) + "os.write(fd, b'\\n')\nsay(record='done')\nos.write(fd, b'{\"half\":')\nos._exit(0)"
    with Runner(use_packets=packets) as runner:
        ended, records = run(runner, speaking(code))
    assert ended.bad_records >= 1
    assert ended.first_bad is not None
    assert any(record.kind == "done" for record in records)


def test_two_hundred_thousand_bytes_of_sources_arrive() -> None:
    child = speaking("say(record='step', stage='s', name=str(len(plan['long'])))")
    plan = {"tasks": [], "long": "x" * 500_000}
    sources = {
        "firstlight_probes": "",
        "firstlight_probes.worker": (
            "import json, os\n"
            "def main(fd, plan):\n"
            "    record = {'record': 'step', 'stage': 's', 'name': str(len(plan['long']))}\n"
            "    os.write(fd, json.dumps(record).encode())\n"
        ),
    }
    child = probe_child(sys.executable, plan, dict(os.environ), name="long", sources=sources)
    with Runner() as runner:
        _, records = run(runner, child)
    assert [r.name for r in records if r.kind == "step"] == ["500000"]


def test_a_child_that_never_reads_its_sources_stops_nobody() -> None:
    sources = {"firstlight_probes": "x" * 1_000_000}
    blocked = probe_child("/bin/sleep", {"tasks": []}, {}, name="no reader", sources=sources)
    blocked = Child(
        name="no reader", argv=("/bin/sh", "-c", "sleep 1"), source=blocked.source, environ={}
    )
    with Runner() as runner:
        began = time.monotonic()
        ended, _ = run(runner, blocked)
        assert (ended.ended_by, ended.code) == ("itself", 0)
        assert time.monotonic() - began < SLOW


@pytest.mark.parametrize("use_pidfd", [True, False])
@pytest.mark.parametrize("use_subreaper", [True, False])
def test_a_fork_that_holds_the_pipes_delays_nothing(use_pidfd: bool, use_subreaper: bool) -> None:
    token = f"token-{uuid.uuid4().hex}"
    code = "import os, time\nif os.fork() == 0: time.sleep(3600)"
    with Runner(use_pidfd=use_pidfd, use_subreaper=use_subreaper) as runner:
        began = time.monotonic()
        ended, _ = run(runner, script(code, token))
        assert (ended.ended_by, ended.code) == ("itself", 0)
        assert time.monotonic() - began < SLOW
        assert none_left(token) == []


def test_a_stray_without_session_group_or_environment_is_found_by_descent() -> None:
    token = f"token-{uuid.uuid4().hex}"
    with Runner() as runner:
        if not runner.is_subreaper:
            pytest.skip("this kernel does not let a process adopt its descendants")
        ended, _ = run(runner, script(STRAY + "import time; time.sleep(0.3)", token))
        assert ended.left_behind == 1
        assert none_left(token) == []


def test_a_stray_is_found_by_its_marker_where_descent_is_refused() -> None:
    token = f"token-{uuid.uuid4().hex}"
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    time.sleep(3600)\n"
        "time.sleep(0.3)"
    )
    with Runner(use_subreaper=False) as runner:
        ended, _ = run(runner, script(code, token))
        assert ended.left_behind == 1
        assert none_left(token) == []


def test_strays_of_one_child_are_ended_and_those_of_another_are_left_alone() -> None:
    first, second = f"token-{uuid.uuid4().hex}", f"token-{uuid.uuid4().hex}"
    with Runner() as runner:
        exits: list[Exit] = []
        other: list[Exit] = []
        runner.start(script(STRAY + "import time; time.sleep(4)", second), other.append)
        until = time.monotonic() + SLOW
        while len(processes_of(second)) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        runner.start(script(STRAY + "import time; time.sleep(0.3)", first), exits.append)
        runner.serve(until=lambda: bool(exits))
        strays = [found for found in processes_of(second) if "import time" in found]
        assert strays
        runner.serve()
        assert none_left(first) == []
        assert none_left(second) == []


def test_a_collectors_own_subprocess_is_not_swept_up() -> None:
    helper = subprocess.Popen(["/bin/sleep", "30"])
    try:
        with Runner() as runner:
            run(runner, script("pass"))
            assert helper.poll() is None
        assert helper.poll() is None
    finally:
        helper.kill()
        helper.wait()


@pytest.mark.parametrize("use_pidfd", [True, False])
def test_a_deadline_ends_even_who_ignores_the_first_signal(use_pidfd: bool) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(3600)"
    with Runner(use_pidfd=use_pidfd) as runner:
        began = time.monotonic()
        ended, _ = run(runner, script(code, deadline=0.5))
        assert (ended.ended_by, ended.signal) == ("deadline", "SIGKILL")
        assert time.monotonic() - began < SLOW


def test_who_cannot_be_killed_is_reported_and_not_waited_for() -> None:
    def powerless(group: int, number: int) -> None:
        raise PermissionError

    token = f"token-{uuid.uuid4().hex}"
    runner = Runner(unkillable_seconds=0.3, send_group=powerless, use_subreaper=False)
    ended, _ = run(runner, script("import time; time.sleep(3600)", token, deadline=0.5))
    assert ended.ended_by == "unkillable"
    assert len(runner.unkillable) == 1
    runner.close()  # by the marker, one by one, which is not refused here
    assert none_left(token) == []
    os.waitpid(runner.unkillable[0], 0)


def test_children_run_side_by_side() -> None:
    exits: list[Exit] = []
    with Runner() as runner:
        began = time.monotonic()
        for _ in range(6):
            runner.start(script("import time; time.sleep(1)"), exits.append)
        runner.serve()
        assert time.monotonic() - began < 3
    assert [ended.code for ended in exits] == [0] * 6


def test_the_runs_time_bounds_every_child() -> None:
    exits: list[Exit] = []
    with Runner(deadline_seconds=1) as runner:
        began = time.monotonic()
        runner.start(script("import time; time.sleep(3600)"), exits.append)
        runner.serve()
        runner.start(script("pass"), exits.append)
        assert time.monotonic() - began < SLOW
    assert [ended.ended_by for ended in exits] == ["deadline", "deadline"]


def test_a_program_that_is_not_there_is_an_exit_with_its_error() -> None:
    exits: list[Exit] = []
    with Runner() as runner:
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        assert runner.start(Child(name="none", argv=("/no/such",)), exits.append) is None
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert exits[0].ended_by == "not-started"
    assert exits[0].error is not None
    assert exits[0].error.type == "FileNotFoundError"


def test_nothing_of_a_run_stays_open() -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    with Runner() as runner:
        for _ in range(5):
            run(runner, script("import os; os.write(1, b'x')"))
            run(runner, speaking("say(record='done')"))
    assert descriptors() == before


def test_a_pid_that_a_child_names_must_be_of_its_session() -> None:
    bystander = subprocess.Popen(["/bin/sleep", "30"], start_new_session=True)
    try:
        with Runner() as runner:
            running = runner.start(script("import time; time.sleep(5)"), lambda ended: None)
            assert running is not None
            assert not runner.adopt_group(running, bystander.pid)
            assert not runner.adopt_group(running, 1)
            assert not runner.adopt_group(running, -1)
            runner.stop_group(running, bystander.pid)
            runner.stop(running)
            runner.serve()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_child_dies_with_the_agent_even_without_guard(tmp_path: Path) -> None:
    token = f"token-{uuid.uuid4().hex}"
    code = (
        "import os, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
        "from tests.test_run_runner import Runner, speaking\n"
        "runner = Runner(guarded=False)\n"
        "running = runner.start(speaking('say(record=\"done\")\\ntime.sleep(3600)'),"
        " print, lambda record: record.kind == 'done' and os.kill(os.getpid(), 9))\n"
        "runner.serve()"
    )
    agent = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "HOSTILE_TOKEN": token}, timeout=30
    )
    assert agent.returncode == -signal.SIGKILL
    assert none_left(token, 3) == []


def test_a_reused_number_is_not_killed() -> None:
    bystander = subprocess.Popen(["/bin/sleep", "30"])
    try:
        row = kin.read_process(bystander.pid)
        assert row is not None
        kin.kill_process(row._replace(born=row.born - 1), signal.SIGKILL)
        time.sleep(0.1)
        assert bystander.poll() is None
        kin.kill_process(row, signal.SIGKILL)
        assert bystander.wait(5) == -signal.SIGKILL
    finally:
        bystander.kill()
        bystander.wait()
