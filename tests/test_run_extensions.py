"""What extensions ask of a worker: tasks known late, processes of their own, times of their own."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from agent.run.runner import Runner
from agent.run.tasks import Order, Task, deadline_of
from agent.run.worker import Worker

from .test_run_worker import SOURCES, climb, do


def test_a_fresh_task_gets_a_process_that_never_imported_torch() -> None:
    tell = "data['torch'] = 'torch' in sys.modules"
    forked = do("extensions", tell, "ext:forked")
    fresh = replace(do("extensions", tell, "ext:fresh"), fresh=True)
    seen = climb(do("interpreter"), do("import"), forked, fresh)
    server = seen["import", "host"].data["pid"]
    assert seen["extensions", "ext:forked"].data["forked"] is True
    alone = seen["extensions", "ext:fresh"].data
    assert alone["forked"] is False
    assert alone["pid"] != server


def test_a_tasks_own_deadline_ends_it_and_nothing_else() -> None:
    hangs = replace(do("extensions", "time.sleep(60)", "ext:hangs"), deadline_seconds=0.5)
    slow = do("extensions", "time.sleep(1)", "ext:slow")
    # A hang in a fork is tried again alone, with the time of an import on top.
    seen = climb(do("interpreter"), do("import"), hangs, slow, deadlines={"import": 2.0})
    assert seen["extensions", "ext:hangs"].status == "timed_out"
    assert seen["extensions", "ext:slow"].status == "passed"
    order = Order(python=sys.executable, tasks=(), environ={}, deadlines={"extensions": 7.0})
    assert deadline_of(order, "extensions", hangs) == 0.5
    assert deadline_of(order, "extensions", slow) == 7.0


def _held(*tasks: Task, put: tuple[Task, ...]) -> Worker:
    """A worker whose later stages wait until their tasks are put in the place that was kept."""
    order = Order(
        python=sys.executable, tasks=tasks, environ=os.environ, sources=SOURCES, hold=True
    )
    with Runner(unkillable_seconds=2) as runner:
        worker = Worker(runner, order)
        worker.begin()
        runner.serve(until=lambda: any(stage.name == "import" for stage in worker.stages))
        worker.put("extensions", put)
        worker.release()
        runner.serve()
    return worker


def test_tasks_put_late_take_the_place_that_was_kept() -> None:
    tasks = (do("interpreter"), do("import"), do("extensions"), do("memory"))
    put = (do("extensions", subject="ext:a"), do("extensions", subject="ext:b"))
    worker = _held(*tasks, put=put)
    found = [(stage.name, stage.subject) for stage in worker.stages]
    assert found[:2] == [("interpreter", "host"), ("import", "host")]
    assert set(found[2:4]) == {("extensions", "ext:a"), ("extensions", "ext:b")}
    assert found[4:] == [("memory", "host")]
    assert worker.finished


def test_nothing_is_put_where_no_place_was_kept() -> None:
    worker = _held(do("interpreter"), do("import"), put=(do("extensions", subject="ext:a"),))
    assert [stage.name for stage in worker.stages] == ["interpreter", "import"]
    assert worker.finished


def test_one_line_says_that_no_extension_could_be_tried() -> None:
    fails = "say(here, record='result', status='failed', reason='raised'); continue"
    tasks = [do("extensions", subject=f"ext:{name}") for name in "abc"]
    seen = climb(do("interpreter"), do("import", fails), *tasks)
    left = [stage for stage in seen.worker.stages if stage.name == "extensions"]
    assert [(stage.subject, stage.reason) for stage in left] == [("host", "needs-stage")]
