"""Independent children share the time; bounds on them hold."""

from __future__ import annotations

import os
import sys
import threading
import time

import pytest

from agent.run.child import Child
from agent.run.interruption import interruptions
from agent.run.runner import Runner
from agent.run.schedule import parallel_seconds, run_all, width


def sleeper(seconds: float, code: int = 0) -> Child:
    return Child(
        name="sleeper",
        argv=(
            sys.executable,
            "-S",
            "-c",
            f"import time; time.sleep({seconds}); raise SystemExit({code})",
        ),
    )


def test_eight_that_sleep_a_second_take_hardly_longer_than_one() -> None:
    with Runner() as runner:
        began = time.monotonic()
        exits = run_all(runner, [sleeper(1) for _ in range(8)], width(8, cores=1))
        assert time.monotonic() - began <= 1.5
    assert [ended.code for ended in exits] == [0] * 8


def test_no_more_run_at_once_than_allowed_and_exits_keep_their_order() -> None:
    with Runner() as runner:
        seen: list[int] = []

        def look() -> None:
            seen.append(len(runner.running))
            runner.later(0.02, look)

        runner.later(0, look)
        children = [sleeper(0.3 - number * 0.05, number) for number in range(5)]
        exits = run_all(runner, children, 2)
    assert [ended.code for ended in exits] == [0, 1, 2, 3, 4]
    assert max(seen) == 2


def test_what_cannot_start_does_not_stop_the_rest() -> None:
    children = [Child(name="none", argv=("/no/such",)), sleeper(0), sleeper(0)]
    with Runner() as runner:
        exits = run_all(runner, children, 1)
    assert [ended.ended_by for ended in exits] == ["not-started", "itself", "itself"]


def test_after_an_interruption_nothing_new_starts() -> None:
    with Runner() as runner, interruptions(runner.interrupt):
        threading.Timer(0.5, os.kill, (os.getpid(), 15)).start()
        exits = run_all(runner, [sleeper(60) for _ in range(3)], 1)
    assert [ended.ended_by for ended in exits] == ["interrupted"] * 3


def test_the_end_of_the_runs_time_is_said() -> None:
    with Runner(deadline_seconds=0.5) as runner:
        exits = run_all(runner, [sleeper(60) for _ in range(3)], 2)
    assert [ended.ended_by for ended in exits] == ["deadline"] * 3


@pytest.mark.parametrize(
    ("asked", "cores", "available", "each", "heavy", "bound"),
    [
        (8, 2, None, 0, False, 8),
        (20, 2, None, 0, False, 8),
        (20, 64, None, 0, False, 20),
        (8, 2, None, 0, True, 2),
        (8, 64, 7 << 30, 2 << 30, True, 3),
        (8, 64, 1 << 30, 2 << 30, True, 1),
        (1, 64, None, 0, True, 1),
    ],
)
def test_width(
    asked: int, cores: int, available: int | None, each: int, heavy: bool, bound: int
) -> None:
    found = width(asked, cores=cores, available_bytes=available, bytes_each=each, heavy=heavy)
    assert found == bound


def test_parallel_seconds() -> None:
    assert parallel_seconds(10, 8, 3) == 30
    assert parallel_seconds(10, 0, 3) == 0
