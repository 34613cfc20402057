"""How many children run at once, and who starts when another ends?"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from agent.run.child import Child, EndedBy, Exit
from agent.run.memory import available_bytes
from agent.run.records import Record
from agent.run.runner import Runner
from agent.run.tasks import Order

TASK_BYTES = 2 << 30  # what a process with torch and a device context takes of the host
LIGHT = 8  # children that mostly wait (for a driver, a disk) may run so many even on one core


def width(
    asked: int,
    *,
    cores: int,
    available_bytes: int | None = None,
    bytes_each: int = 0,
    heavy: bool = False,
) -> int:
    """How many of ``asked`` children may run at once, at least one.

    ``heavy`` ones keep a core busy, so that there are no more of them than cores; light ones are
    bounded by eight or the cores, whichever is more. Memory bounds both.
    """
    bound = cores if heavy else max(LIGHT, cores)
    if available_bytes is not None and bytes_each > 0:
        bound = min(bound, available_bytes // bytes_each)
    return max(1, min(asked, bound))


def bound_of(order: Order, asked: int) -> int:
    """How many tasks of an order may run at once: as it says, else by cores and free memory."""
    return order.at_once or width(
        asked,
        cores=len(os.sched_getaffinity(0)),
        available_bytes=available_bytes(),
        bytes_each=TASK_BYTES,
        heavy=True,
    )


def run_all(
    runner: Runner,
    children: Iterable[Child],
    at_once: int,
    on_record: Callable[[Child, Record], None] | None = None,
) -> list[Exit]:
    """Runs independent children, at most ``at_once`` at a time; their exits in the given order.

    After an interruption or the end of the run's time the rest have ``ended_by`` saying so.
    """
    order = list(children)
    waiting = deque(enumerate(order))
    exits: dict[int, Exit] = {}
    active = 0

    def fill() -> None:
        nonlocal active
        while waiting and active < at_once:
            place, child = waiting.popleft()
            active += 1
            runner.start(child, partial(finished, place), hear(child))

    def hear(child: Child) -> Callable[[Record], None]:
        return lambda record: on_record(child, record) if on_record is not None else None

    def finished(place: int, ended: Exit) -> None:
        nonlocal active
        active -= 1
        exits[place] = ended
        if active < at_once and not runner.over:
            fill()

    fill()
    runner.serve(until=lambda: len(exits) == len(order) or (runner.over and not runner.running))
    ended_by: EndedBy = "interrupted" if runner.interrupted else "deadline"
    return [exits.get(place, Exit(ended_by=ended_by)) for place in range(len(order))]


def parallel_seconds(seconds_each: float, count: int, at_once: int) -> float:
    """What ``count`` equal children take, ``at_once`` at a time: a rung's expected time."""
    return seconds_each * math.ceil(count / max(1, at_once))
