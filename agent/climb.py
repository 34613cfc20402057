"""Climbs the ladder: starts the children, collects the host's facts meanwhile, joins what came."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from agent.collect.interpreters import find_interpreters
from agent.collect.trust import may_execute
from agent.errors import TargetError
from agent.ladder import RUNGS, STAGES
from agent.model import ErrorText, Facts, Gap, Interpreter, Observations, Stage
from agent.options import RunOptions, wanted_stages
from agent.run.guard import Guard, tell
from agent.run.interruption import interruptions
from agent.run.launch import overrides
from agent.run.memory import default_limit
from agent.run.runner import Runner
from agent.run.tasks import EACH_DEVICE, Order, Task
from agent.run.worker import Event, Worker

IN_TARGET = ("interpreter", "import", "device", "matmul", "extensions", "memory")
DRIVER_SECONDS = 60.0
FEW_CORES = 2
GIVE_WAY_SECONDS = 0.3
STARTED_BY = "FIRSTLIGHT_STARTED_BY"  # set by the single file when it looks for a newer Python
TICK_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbed:
    """What a climb observed, not yet redacted."""

    observations: Observations
    simulated: bool = False
    interrupted: str | None = None
    overrides: tuple[str, ...] = ()
    unkillable: tuple[int, ...] = ()


@dataclass(slots=True)
class Listeners:
    """Who hears of the climb while it goes on."""

    event: Callable[[Event], None] = lambda event: None
    facts: Callable[[Facts], None] = lambda facts: None
    quick: Callable[[Observations, float], None] = lambda seen, seconds: None  # seconds to come
    tick: Callable[[], None] = lambda: None  # several times a second while children run
    signals: Sequence[str] = ()  # names of those that came before the climb


@dataclass(slots=True)
class _Climb:
    """A climb under way."""

    options: RunOptions
    wanted: tuple[str, ...]
    environ: Mapping[str, str]
    listeners: Listeners
    started_by: str | None = None  # the too old interpreter that handed over to ours
    stages: list[Stage] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    simulated: bool = False


def climb(
    options: RunOptions, environ: Mapping[str, str], workdir: Path, listeners: Listeners
) -> Climbed:
    """Climb the rungs that the options ask for and return what was seen on each.

    Whatever the children do, this returns; a signal ends them and is noted as ``interrupted``.
    """
    wanted = wanted_stages(options)
    environ = dict(environ)
    started_by = environ.pop(STARTED_BY, None)
    state = _Climb(
        options=options,
        wanted=wanted,
        environ=environ,
        listeners=listeners,
        started_by=started_by,
    )
    folder: str | None = None
    seconds = options.timeout_seconds or float("inf")
    try:
        with Runner(run_id=secrets.token_hex(8), deadline_seconds=seconds) as runner:
            folder = _cache_folder(runner.guard)
            runner.when_children_are_gone = partial(_remove, folder)
            set_for_children = overrides(folder)
            children = {**environ, **set_for_children}
            with interruptions(runner.interrupt):
                for name in listeners.signals:
                    runner.interrupt(name)
                _keep_ticking(runner, listeners.tick)
                facts = _climb(state, runner, children, workdir)
            interrupted, unkillable = runner.interrupted, tuple(runner.unkillable)
    finally:
        _remove(folder)
    return Climbed(
        observations=_observations(state, facts),
        simulated=state.simulated,
        interrupted=interrupted,
        overrides=tuple(f"{name}={value}" for name, value in set_for_children.items()),
        unkillable=unkillable,
    )


def _keep_ticking(runner: Runner, tick: Callable[[], None]) -> None:
    """Have the loop call ``tick`` again and again."""

    def again() -> None:
        tick()
        runner.later(TICK_SECONDS, again)

    again()


def _climb(state: _Climb, runner: Runner, children: Mapping[str, str], workdir: Path) -> Facts:
    """Run everything; returns the facts with devices and interpreters."""
    interpreters, gaps = find_interpreters(
        state.options.pythons,
        environ=state.environ,
        workdir=workdir,
        own_executable=state.started_by,
    )
    state.gaps += gaps
    target = next((one for one in interpreters if one.chosen), None)
    missing = [gap for gap in gaps if gap.said_by == "--python"]
    # What is there and is no Python is tried all the same: its stage then says so, in a bundle.
    if state.options.pythons and (target is None or not os.path.exists(target.path)):  # noqa: PTH110
        raise TargetError(
            f"--python {state.options.pythons[0]}: {missing[0].why if missing else 'not found'}",
            "give the path of a python program, such as /venv/bin/python",
        )
    in_target = _start_target(state, runner, children, target, workdir)
    questions = _start_driver(state, runner, children, target)
    _give_way(runner, questions)
    # Imported now that the children are at work: from the single file every import is compiled.
    from agent.collect.facts import collect_host_facts
    from agent.collect.packages import read_packages

    facts, gaps = collect_host_facts(
        environ=state.environ, interpreter=target, workdir=Path(state.options.workspace or workdir)
    )
    state.gaps += gaps
    facts = replace(facts, interpreters=interpreters)
    if target is not None:
        packages, gaps = read_packages(
            target,
            keep_all="packages" in state.options.keep,
            environ=state.environ,
            workdir=workdir,
        )
        facts = replace(facts, packages=packages)
        state.gaps += gaps
    state.listeners.facts(facts)
    runner.serve(until=lambda: all(asked.finished for asked in questions))
    facts = _read_driver(state, questions, facts)
    state.listeners.facts(facts)
    if in_target is not None:
        _finish_target(state, runner, in_target, facts, workdir)
    return _with_torch(facts, state.stages)


def _give_way(runner: Runner, questions: list[Worker]) -> None:
    """Wait a moment for the driver's answers where cores are few.

    Compiling at the same time would only slow the target, which takes longest of all.
    """
    if len(os.sched_getaffinity(0)) > FEW_CORES:
        return
    until = time.monotonic() + GIVE_WAY_SECONDS
    runner.later(GIVE_WAY_SECONDS, lambda: None)
    runner.serve(
        until=lambda: all(asked.finished for asked in questions) or time.monotonic() >= until
    )


# ---------------------------------------------------------------- the target
def _start_target(
    state: _Climb,
    runner: Runner,
    children: Mapping[str, str],
    target: Interpreter | None,
    workdir: Path,
) -> Worker | None:
    """Start the worker in the target; None, with the stages saying why, where there is none."""
    names = [name for name in state.wanted if name in IN_TARGET]
    if target is None:
        _refuse(state, names, "not-installed", "no Python was found to test")
        return None
    why = may_execute(target, os.geteuid(), True if state.options.pythons else None)
    if why is not None:
        _refuse(state, names, "not-executed", why)
        return None
    tasks = tuple(_task(name, workdir) for name in names)
    if not tasks:
        return None
    order = Order(
        python=target.path,
        tasks=tasks,
        environ=children,
        backend=state.options.backend,
        depth=state.options.depth,
        memory_limit_bytes=default_limit(),
        hold=True,
    )
    worker = Worker(runner, order, lambda event: _heard(state, event))
    worker.begin()
    return worker


def _heard(state: _Climb, event: Event) -> None:
    state.begun.add(event.stage)
    state.listeners.event(event)


def _task(name: str, workdir: Path) -> Task:
    if RUNGS[name].per_device:
        return Task(stage=name, subject=EACH_DEVICE)
    if name == "interpreter":
        return Task(stage=name, options={"workdir": str(workdir)})
    return Task(stage=name)


def _refuse(state: _Climb, names: list[str], reason: str, text: str) -> None:
    """The target is not run: its first stage says why, the rest need it."""
    for place, name in enumerate(names):
        stage = Stage(
            name=name,
            subject="host",
            status="skipped",
            reason=reason if place == 0 else "needs-stage",
            error=ErrorText(type=reason, text=text),
        )
        state.stages.append(stage)
        state.listeners.event(Event(kind="stage", stage=name, subject="host", result=stage))
    state.gaps.append(Gap(pointer="/stages", why=text, said_by="agent"))


def _finish_target(
    state: _Climb, runner: Runner, worker: Worker, facts: Facts, workdir: Path
) -> None:
    """Let the device stages begin, now that the driver was asked, and wait for all."""
    deeper = {n for n in state.wanted if n in IN_TARGET and RUNGS[n].depth != "quick"}
    from agent.collect.extensions import expected_seconds, extension_tasks

    extensions = extension_tasks(state.options, facts, workdir)
    worker.put("extensions", extensions)
    worker.release()
    if deeper:
        runner.serve(until=lambda: worker.finished or bool(state.begun & deeper))
        _take(state, worker)
        if not worker.finished:
            seconds = expected_seconds(extensions if "extensions" in deeper else (), facts)
            state.listeners.quick(_observations(state, _with_torch(facts, state.stages)), seconds)
    runner.serve(until=lambda: worker.finished)
    _take(state, worker)


def _take(state: _Climb, worker: Worker) -> None:
    """Take over what a worker has come to so far."""
    known = {(stage.name, stage.subject) for stage in state.stages}
    state.stages += [s for s in worker.stages if (s.name, s.subject) not in known]
    state.gaps += [gap for gap in worker.gaps if gap not in state.gaps]
    state.simulated = state.simulated or worker.simulated


# ---------------------------------------------------------------- the driver
def _start_driver(
    state: _Climb, runner: Runner, children: Mapping[str, str], target: Interpreter | None
) -> list[Worker]:
    """Start the driver's questions, in the agent's own interpreter, two vendors side by side."""
    if "driver" not in state.wanted:
        return []
    # The agent's interpreter must not take the target's modules for its own.
    environ = {n: v for n, v in children.items() if not n.startswith("PYTHON")}
    environ.update(PYTHONDONTWRITEBYTECODE="1", PYTHONNOUSERSITE="1")
    workers = []
    from agent.collect.driver import driver_tasks

    groups = driver_tasks(target)
    if len(os.sched_getaffinity(0)) <= FEW_CORES:
        # A second child would only take time from the target, which has a core of its own so.
        groups = (tuple(task for group in groups for task in group),)
    for tasks in groups:
        order = Order(
            python=sys.executable,
            tasks=tuple(
                Task(stage=str(t["stage"]), subject=str(t["subject"]), options=t["options"])
                for t in tasks
            ),
            environ=environ,
            fork=False,
            one_process=True,
            deadlines={"driver": DRIVER_SECONDS},
        )
        worker = Worker(runner, order)
        worker.begin()
        workers.append(worker)
    return workers


def _read_driver(state: _Climb, questions: list[Worker], facts: Facts) -> Facts:
    """Join the driver's answers with the host's facts."""
    if not questions:
        return facts
    answers = [stage for asked in questions for stage in asked.stages]
    for asked in questions:
        state.gaps += asked.gaps
        state.simulated = state.simulated or asked.simulated
    from agent.collect.driver import read_driver

    facts, stage, gaps = read_driver(
        answers,
        facts,
        backend=state.options.backend,
        keep_serials="serials" in state.options.keep,
    )
    state.gaps += gaps
    state.stages.append(stage)
    state.listeners.event(Event(kind="stage", stage="driver", subject="host", result=stage))
    return facts


# ---------------------------------------------------------------- joining
def _observations(state: _Climb, facts: Facts) -> Observations:
    order = {rung.name: place for place, rung in enumerate(STAGES)}
    stages = [*state.stages, *_skipped(state)]
    stages.sort(key=lambda stage: order[stage.name])
    return Observations(
        facts=facts,
        stages=tuple(stages),
        gaps=tuple(dict.fromkeys(state.gaps)),
        backend=_backend(state),
        backend_asked=state.options.backend,
    )


def _skipped(state: _Climb) -> list[Stage]:
    """A stage for each rung that ``--skip`` left out, so that the file says it was not shown."""
    return [
        Stage(name=name, subject="host", status="skipped", reason="not-asked")
        for name in state.options.skip
        if RUNGS[name].depth == "quick" and name != "workload"
    ]


def _backend(state: _Climb) -> str | None:
    """The back end climbed: as asked, else what the target's torch is built for."""
    if state.options.backend != "auto":
        return state.options.backend
    for name in ("device", "import"):
        for stage in state.stages:
            found = stage.data.get("backend") or stage.data.get("built_for")
            if stage.name == name and isinstance(found, str):
                return found
    return None


def _with_torch(facts: Facts, stages: list[Stage]) -> Facts:
    """Put torch's own index on each device that both torch and the driver list, by address."""
    listed = [s.data.get("devices") for s in stages if s.name == "device" and s.subject == "host"]
    rows = listed[0] if listed and isinstance(listed[0], list) else []
    index_of: dict[str, int] = {}
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("index"), int):
            for key in ("uuid", "pci_address"):
                if isinstance(row.get(key), str):
                    index_of.setdefault(row[key], row["index"])
    devices = tuple(
        replace(d, torch_index=index_of.get(d.uuid or "", index_of.get(d.pci_address or "")))
        for d in facts.devices
    )
    return replace(facts, devices=devices)


def _remove(folder: str | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _cache_folder(guard: Guard) -> str | None:
    """A private folder for the caches of what is run; None where nothing can be written.

    The guard hears of it first, so that a kill at no moment leaves it behind; a name that nobody
    can guess belongs to nobody else.
    """
    try:
        folder = str(Path(tempfile.gettempdir()).absolute() / f"firstlight-{secrets.token_hex(16)}")
        tell(guard, f"d{folder}")
        os.mkdir(folder, 0o700)  # noqa: PTH102 - fails where anything has that name
    except OSError:
        return None
    return folder
