"""Climbs a target's stages in worker processes and says what became of each, whatever they do.

One process imports torch and stays as a fork server: stages that touch a device run in processes
forked from it, several devices side by side. Where a fork is not sound, or its result in doubt, a
task gets a process of its own. A process that dies or hangs costs the stage it was in; a fresh one
goes on after it. docs/forking.md has the reasons.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable

from agent.model import ErrorText, Stage
from agent.run.attempt import (
    FORKING,
    STARTING,
    Attempt,
    Death,
    death_by_code,
    death_by_exit,
    doubts_the_fork,
    stage_of,
    timeout,
    with_first,
)
from agent.run.child import Exit
from agent.run.launch import IS_PYTHON, probe_child, python_question
from agent.run.outcome import Event as Event  # re-exported: callers listen to workers
from agent.run.outcome import Outcome, ignore_event
from agent.run.process import Process, attempt_of, extra_of, key_of
from agent.run.records import Record
from agent.run.runner import Runner
from agent.run.schedule import bound_of
from agent.run.tasks import (
    IN_WORKER,
    Order,
    Task,
    deadline_of,
    expand,
    left_as_one,
    missing_need,
    needs_torch,
    plan_of,
    take_batch,
    task_json,
)

LEAVING_SECONDS = 15.0  # for a process that has given its last result, to be gone


class Worker:
    """One order under way in a runner's loop: ``begin`` it, serve the runner, read ``stages``."""

    def __init__(
        self, runner: Runner, order: Order, on_event: Callable[[Event], None] = ignore_event
    ) -> None:
        self._outcome = Outcome(on_event)
        self.stages = self._outcome.stages
        self.gaps = self._outcome.gaps
        self.simulated = False
        self.finished = False
        self._runner = runner
        self._order = order
        self._queue = list(order.tasks)
        self._waiting: deque[tuple[Task, Stage | None]] = deque()
        self._active = 0
        self._server: Process | None = None
        self._fork_sound: bool | None = None if order.fork else False
        self._held = order.hold

    # ------------------------------------------------------------ what comes next
    def begin(self) -> None:
        """Starts the first process; everything else follows from what the loop hears."""
        self._next()

    def release(self) -> None:
        """Lets the stages that touch a device begin."""
        self._held = False
        self._next()

    def put(self, stage: str, tasks: Iterable[Task]) -> None:
        """Puts tasks in the place of a stage's that have not begun: known only by now."""
        places = [place for place, task in enumerate(self._queue) if task.stage == stage]
        if places:
            self._queue[places[0] : places[-1] + 1] = tasks

    def _next(self) -> None:
        """Takes up the next tasks when none is under way."""
        while not self._active and not self._waiting and not self.finished:
            if self._runner.over:
                self._leave_out()
            if self._held and self._queue and self._queue[0].stage not in IN_WORKER:
                return
            batch = take_batch(self._queue, self._order.one_process)
            if not batch:
                self._close_server()
                self.finished = True
                return
            able = self._able(one for task in batch for one in expand(task, self.stages))
            if not able:
                continue
            if batch[0].stage in IN_WORKER or self._order.one_process:
                self._start(deque(able), serves=self._wants_server())
            else:
                self._waiting.extend((task, None) for task in able)
                self._fill()

    def _wants_server(self) -> bool:
        more = any(task.stage not in IN_WORKER for task in self._queue)
        return self._fork_sound is not False and more and not self._order.one_process

    def _able(self, tasks: Iterable[Task]) -> list[Task]:
        """Those tasks whose needs are met; the others are skipped."""
        able: list[Task] = []
        left: list[tuple[Task, str]] = []
        for task in tasks:
            if (need := missing_need(task, self.stages)) is None:
                able.append(task)
            else:
                left.append((task, need))
        for task, need in left_as_one(left, able):
            self._outcome.skip(task, "needs-stage", need)
        return able

    def _leave_out(self) -> None:
        """The run is over: what has not begun never will."""
        rest = [task for task, _ in self._waiting] + self._queue
        self._waiting.clear()
        self._queue.clear()
        interrupted = self._runner.interrupted is not None
        reason = "interrupted" if interrupted else "deadline"
        text = "the run was interrupted" if interrupted else "the run's time was over"
        for task in rest:
            self._outcome.skip(task, reason, f"{text} before this stage began")

    def _fill(self) -> None:
        """Starts waiting tasks as far as the bound allows."""
        bound = bound_of(self._order, len(self._waiting) + self._active)
        while self._waiting and self._active < bound:
            if self._runner.over:
                self._leave_out()
                return
            task, first = self._waiting.popleft()
            forks = first is None and not task.fresh and self._fork_sound is not False
            if forks and self._server is not None:
                self._fork(self._server, task)
            else:
                self._start(deque([task]), serves=False, first=first)

    # ------------------------------------------------------------ processes
    def _start(self, tasks: deque[Task], *, serves: bool, first: Stage | None = None) -> None:
        process = Process(todo=tasks, serves=serves, names={task.stage for task in tasks})
        self._active += 1
        child = probe_child(
            self._order.python,
            plan_of(self._order, tasks, serves),
            self._order.environ,
            name=f"{self._order.module}: {tasks[0].stage}",
            sources=self._order.sources,
            keep_source_open=serves,
            memory_limit_bytes=self._order.memory_limit_bytes,
            grace_seconds=self._order.grace_seconds,
        )
        self._open(process, Attempt(task=tasks[0], forked=False, first=first), STARTING)
        process.running = self._runner.start(
            child,
            lambda ended: self._process_ended(process, ended),
            lambda record: self._heard(process, record),
        )
        if process.attempt is not None:
            process.attempt.running = process.running

    def _open(self, process: Process, attempt: Attempt, step: str | None) -> None:
        """A stage begins: its clock runs, its noise is counted from here."""
        task = attempt.task
        attempt.running = process.running
        if process.running is not None:
            # What came together with the end of the stage before may belong to this one.
            attempt.err_mark = process.running.err_before
        if attempt.forked:
            process.forks[task.stage, task.subject] = attempt
        else:
            process.attempt = attempt
        self._outcome.begin(task.stage, task.subject)
        if step is not None:
            attempt.steps.append((step, attempt.began))
            self._outcome.step(task, step)
        seconds = deadline_of(self._order, task.stage, task)
        if not attempt.forked and needs_torch(task.stage):
            seconds += deadline_of(self._order, "import")
        attempt.timer = self._runner.later(seconds, lambda: self._expire(process, attempt))

    def _fork(self, server: Process, task: Task) -> None:
        if server.running is None:
            raise RuntimeError("a fork was asked of a server that does not run")
        self._active += 1
        server.names.add(task.stage)
        self._open(server, Attempt(task=task, forked=True), FORKING)
        line = json.dumps(task_json(task)).encode("ascii") + b"\n"
        self._runner.send(server.running, line)

    def _close_server(self) -> None:
        server, self._server = self._server, None
        if server is not None and server.running is not None:
            self._runner.send(server.running, b"", last=True)
            self._see_off(server)

    def _see_off(self, process: Process) -> None:
        """A process that ran its tasks has a bounded time to be gone, or to serve forks."""

        def insist() -> None:
            if process.running is not None and self._server is not process:
                self._runner.stop(process.running)

        self._runner.later(LEAVING_SECONDS, insist)

    def _expire(self, process: Process, attempt: Attempt) -> None:
        """A stage's time is over: its process ends, or only its fork."""
        if attempt.closed or process.running is None:
            return
        attempt.expired = True
        if not attempt.forked or attempt.pid is None:
            self._runner.stop(process.running, "deadline")
            return
        self._runner.stop_group(process.running, attempt.pid)
        patience = self._order.grace_seconds + self._runner.unkillable_seconds
        self._runner.later(patience, lambda: self._give_up(process, attempt))

    def _give_up(self, process: Process, attempt: Attempt) -> None:
        if not attempt.closed and attempt.pid is not None:
            self._runner.unkillable.append(attempt.pid)
            said = ErrorText(type="unkillable", text="the process does not end on SIGKILL")
            self._close_fork(process, attempt, Death("timed_out", "unkillable", said))

    # ------------------------------------------------------------ what processes say
    def _heard(self, process: Process, record: Record) -> None:
        if record.kind == "simulated":
            self.simulated = True
        elif record.kind == "booted":
            process.booted = True
        elif record.kind == "ready":
            self._server_ready(process, record)
        elif record.kind == "forked":
            self._fork_began(process, record)
        elif record.kind == "ended":
            self._fork_ended(process, record)
        elif (attempt := attempt_of(process, record)) is not None:
            self._stage_said(process, attempt, record)
        elif record.kind == "stage" and extra_of(process, record) is not None:
            self._outcome.begin(*key_of(record))
        elif record.kind == "result":
            self._outcome.contradicted(*key_of(record), str(record.status))

    def _stage_said(self, process: Process, attempt: Attempt, record: Record) -> None:
        attempt.hear(record)
        task = attempt.task
        if record.kind == "step":
            self._outcome.step(task, record.name)
        elif record.kind != "result" or attempt.forked or attempt.closed:
            return
        elif attempt is not process.attempt:
            process.extras.pop((task.stage, task.subject))
            self._close(attempt, None)
        else:
            if record.status == "passed" and len(process.todo) > 1 and process.running is not None:
                attempt.err_end = process.running.err_before
            self._close(attempt, None)
            process.attempt = None
            process.todo.popleft()
            self._go_on(process)

    def _go_on(self, process: Process) -> None:
        """The process has given a result: its next task begins, or it is done."""
        if process.todo:
            self._open(process, Attempt(task=process.todo[0], forked=False), None)
        else:
            self._see_off(process)

    def _server_ready(self, process: Process, record: Record) -> None:
        if process.ready or not process.serves or process.todo:
            return
        process.ready = True
        if record.why is None:
            self._server = process
        else:
            self._fork_sound = False
            if self._outcome.passed("import"):
                self._outcome.gap(
                    "fork", f"device stages ran in processes of their own: {record.why}"
                )
        self._one_less()

    def _fork_began(self, process: Process, record: Record) -> None:
        attempt = process.forks.get(key_of(record))
        if attempt is None or attempt.pid is not None or record.pid is None:
            return
        if process.running is not None and self._runner.adopt_group(process.running, record.pid):
            attempt.pid = record.pid

    def _fork_ended(self, process: Process, record: Record) -> None:
        attempt = process.forks.get(key_of(record))
        if attempt is None or record.code is None:
            return
        attempt.stderr = record.stderr
        self._close_fork(process, attempt, self._death_of_fork(process, attempt, record.code))

    def _death_of_fork(self, process: Process, attempt: Attempt, code: int) -> Death:
        if self._runner.interrupted is not None:
            return death_by_exit(attempt, Exit(ended_by="interrupted"))
        if attempt.expired or self._runner.over:
            return timeout(attempt)
        held = process.running.too_large.get(attempt.pid or 0) if process.running else None
        if held is not None:
            return death_by_exit(attempt, Exit(ended_by="memory", peak_bytes=held))
        return death_by_code(attempt, code)

    # ------------------------------------------------------------ how things end
    def _close_fork(self, process: Process, attempt: Attempt, death: Death) -> None:
        process.forks.pop((attempt.task.stage, attempt.task.subject), None)
        if process.running is not None and attempt.pid is not None:
            self._runner.drop_group(process.running, attempt.pid)
        self._close(attempt, death)
        self._one_less()

    def _close(self, attempt: Attempt, death: Death | None) -> None:
        """A stage is over: it is kept, or tried again where its fork may be at fault."""
        attempt.closed = True
        if attempt.timer is not None:
            attempt.timer.cancelled = True
        stage = stage_of(attempt, death)
        in_doubt = attempt.forked and self._fork_sound is None and doubts_the_fork(stage)
        if in_doubt and not self._runner.over:
            self._waiting.append((attempt.task, stage))
            return
        if attempt.first is not None:
            stage = self._second_opinion(stage, attempt.first)
        self._outcome.keep(stage)

    def _second_opinion(self, stage: Stage, first: Stage) -> Stage:
        if stage.status == "passed":
            self._fork_sound = False
            self._outcome.gap(
                "fork", f"{stage.name} of {stage.subject} fails in a forked process only"
            )
        elif stage.status == first.status:
            self._fork_sound = True
        return with_first(stage, first)

    def _process_ended(self, process: Process, ended: Exit) -> None:
        self._outcome.note(ended)
        if self._server is process:
            self._server = None
        for attempt in list(process.forks.values()):
            self._orphaned(process, attempt, ended)
        for attempt in process.extras.values():
            self._close(attempt, death_by_exit(attempt, ended))
        own = process.attempt
        if own is None:
            if not (process.serves and process.ready):
                self._one_less()
        elif ended.ended_by == "itself" and not process.booted:
            self._ask_whether_python(process, own, ended)
        else:
            self._process_died(process, own, death_by_exit(own, ended))
        process.running = None

    def _orphaned(self, process: Process, attempt: Attempt, ended: Exit) -> None:
        """A server is gone with its forks: they are tried again, unless the run ends."""
        if attempt.result is not None or ended.ended_by != "itself" or self._runner.over:
            self._close_fork(process, attempt, death_by_exit(attempt, ended))
            return
        if attempt.timer is not None:
            attempt.timer.cancelled = True
        attempt.closed = True
        self._fork_sound = False
        process.forks.pop((attempt.task.stage, attempt.task.subject), None)
        self._waiting.append((attempt.task, None))
        self._one_less()

    def _process_died(self, process: Process, attempt: Attempt, death: Death) -> None:
        """The stage it was in is lost; a fresh process takes the rest."""
        self._close(attempt, death)
        process.attempt = None
        process.todo.popleft()
        rest = self._able(process.todo)
        if rest and not self._runner.over:
            self._start(deque(rest), serves=process.serves)
        else:
            self._queue[:0] = rest
        self._one_less()

    def _ask_whether_python(self, process: Process, attempt: Attempt, ended: Exit) -> None:
        """It ended before our first line ran: is it no Python, or does its start-up code end it?"""
        death = death_by_exit(attempt, ended)

        def answered(answer: Exit) -> None:
            if IS_PYTHON in answer.stdout_tail:
                self._process_died(process, attempt, death)
                return
            said = ErrorText(type="not-python", text=f"{self._order.python} does not run Python")
            foreign = Death("failed", "not-python", said, death.exit_code, death.signal)
            self._process_died(process, attempt, foreign)

        self._runner.start(python_question(self._order.python, self._order.environ), answered)

    def _one_less(self) -> None:
        self._active -= 1
        self._fill()
        self._next()
