"""The order of a run: look, then conclude.

What is only needed to conclude is imported then, so that the children start first.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent import __version__
from agent.climb import Climbed, Listeners, climb
from agent.codec import from_json, to_json
from agent.errors import AgentError, UsageError
from agent.files import read_file
from agent.jsonio import MAX_BYTES, strict_loads
from agent.ladder import RUNGS
from agent.model import Facts, Gap, Json, Observations, OrderItem, Run, Stage
from agent.options import RunOptions
from agent.redact import Redactor, names_of
from agent.report.measured import keep_alive_line
from agent.report.screen import Screen
from agent.run import partial as notes
from agent.run.interruption import postponed
from agent.run.partial import Partial
from agent.run.worker import Event
from agent.start import Start, begin, own_names
from agent.stdin import waiting_bytes

if TYPE_CHECKING:
    from agent.conclude import Sealed


# ---------------------------------------------------------------- the commands
def run_ladder(options: RunOptions) -> int:
    """``agent run``: climb, judge, write and report; returns the exit code."""
    screen = Screen(quiet=options.quiet)
    screen.started(options.depth, __version__)
    start = begin(options)
    warn_of_waiting_input(options, screen)
    items = ordered_items(options)
    code: int | None = None
    with postponed() as signals:
        partial: Partial | None = None
        parent: str | None = None
        if options.replay:
            climbed, parent = replayed(options.replay)
        else:
            partial = open_partial(start)
            climbed = climbed_or_refused(start, screen, partial, signals)
            if options.command and climbed.interrupted is None:
                climbed, code = with_command(climbed, options, partial)
        sealed = concluded(start, climbed, items=items, partial=partial, parent=parent)
    # Written and safe: from here a signal ends the program, which may hang in a pipe.
    shown = reported(sealed, start, screen, signals)
    return shown if code is None else code


def climbed_or_refused(
    start: Start, screen: Screen, partial: Partial, signals: list[str]
) -> Climbed:
    """The climb; wrong usage that only the climb can see leaves no notes behind."""
    heard = replace(listeners(screen, partial, start), signals=signals)
    try:
        climbed = climb(start.options, start.environ, start.workdir, heard)
    except AgentError:
        notes.close_partial(partial, remove=True)
        raise
    finally:
        screen.close()
    if climbed.interrupted is None and signals:
        climbed = replace(climbed, interrupted=signals[0])
    return climbed


def run_measure(options: RunOptions) -> int:
    """``agent measure``: the user's command alone; returns the command's own exit code."""
    start = begin(options)
    screen = Screen(quiet=options.quiet)
    if sys.stderr.isatty() and not {"TMUX", "STY"} & set(start.environ):
        screen.say(keep_alive_line(Path(options.command[0]).name), "faint")
    with postponed():
        partial = open_partial(start)
        climbed, code = with_command(Climbed(observations=Observations()), options, partial)
        sealed = concluded(start, climbed, partial=partial)
    reported(sealed, start, screen, [], measured=True)
    return code


def run_recover(partial: str, *, output: str | None, sign_with: str | None) -> int:
    """``agent recover``: a signed bundle of what a killed run had noted."""
    from agent.recover import recover

    found = recover(Path(partial))
    start = begin(RunOptions(output=output, sign_with=sign_with))
    noted = from_json(Run, found.run)
    run = replace(noted, interrupted="SIGKILL", key_source=start.run.key_source)
    observations = Observations(
        facts=from_json(Facts, found.facts),
        stages=found.stages,
        gaps=found.gaps,
        backend=run.backend,
        backend_asked=run.backend_asked,
    )
    climbed = Climbed(observations=observations, simulated=run.simulated, interrupted="SIGKILL")
    start = replace(start, run=run)
    with postponed() as signals:
        sealed = concluded(start, climbed)
    return reported(sealed, start, Screen(), signals)


def concluded(
    start: Start,
    climbed: Climbed,
    *,
    items: tuple[OrderItem, ...] = (),
    partial: Partial | None = None,
    parent: str | None = None,
) -> Sealed:
    """Judge, sign and write; the notes go when the bundle is safely written."""
    from agent.conclude import conclude

    sealed = conclude(start, climbed, items, parent=parent)
    if partial is not None:
        only_printed = start.options.output == "-"
        notes.close_partial(partial, remove=only_printed or sealed.written.path is not None)
    return sealed


def reported(
    sealed: Sealed, start: Start, screen: Screen, signals: list[str], *, measured: bool = False
) -> int:
    """Say what was found; returns the exit code, a signal's own if one came while signing."""
    from agent.conclude import EXIT_OF_SIGNAL, report

    code = report(sealed, start, screen, measured=measured)
    return EXIT_OF_SIGNAL.get(signals[0], code) if signals else code


# ---------------------------------------------------------------- before
def warn_of_waiting_input(options: RunOptions, screen: Screen) -> None:
    """Say in one line that what waits on standard input will not be read."""
    if options.order != "-" and not options.command and waiting_bytes() > 0:
        screen.warn(
            "what waits on standard input is ignored; give an order with --order -, or a text "
            "with: agent explain -"
        )


def ordered_items(options: RunOptions) -> tuple[OrderItem, ...]:
    """What was ordered, item by item, still to be compared."""
    if options.order is None:
        return ()
    from agent.order import read_order

    return read_order(options.order)


def replayed(name: str) -> tuple[Climbed, str]:
    """The observations of a recorded file, and the SHA-256 of the file."""
    data = read_file(name, MAX_BYTES)
    document = strict_loads(data)
    run = document.get("run")
    about: dict[str, Json] = run if isinstance(run, dict) else document
    backend, asked = about.get("backend"), about.get("backend_asked")
    observations = Observations(
        facts=from_json(Facts, document.get("facts", {}), "/facts"),
        stages=from_json(tuple[Stage, ...], document.get("stages", []), "/stages"),
        gaps=from_json(tuple[Gap, ...], document.get("gaps", []), "/gaps"),
        order=from_json(tuple[OrderItem, ...], document.get("order", []), "/order"),
        backend=backend if isinstance(backend, str) else None,
        backend_asked=asked if isinstance(asked, str) else "auto",
    )
    return Climbed(observations=observations, simulated=True), hashlib.sha256(data).hexdigest()


# ---------------------------------------------------------------- while it goes on
def open_partial(start: Start) -> Partial:
    """The notes beside the bundle to come, in the first place that takes them."""
    redactor = Redactor(names_of(own_names(), start.environ))
    partial: Partial | None = None
    for path in start.candidates:
        partial = notes.open_partial(path, redactor.value)
        notes.note_run(partial, to_json(start.run))
        if partial.descriptor is not None:
            break
        notes.close_partial(partial, remove=True)
    if partial is None:
        raise UsageError("there is no place for the bundle", "give one with -o")
    return partial


def listeners(screen: Screen, partial: Partial, start: Start) -> Listeners:
    """Those who hear of the climb: the screen and the notes."""

    def public(text: str) -> str:
        return str(partial.redact(text))  # a step's or an extension's name may hold anything

    under_way: dict[tuple[str, str], tuple[float, str]] = {}

    def heard(event: Event) -> None:
        place = (event.stage, event.subject)
        if event.kind == "begin":
            under_way[place] = (time.monotonic(), "")
            notes.note_begin(partial, event.stage, event.subject)
        elif event.kind == "step" and event.step is not None:
            began, _ = under_way.get(place, (time.monotonic(), ""))
            under_way[place] = (began, event.step)
            notes.note_step(partial, event.stage, event.subject, event.step)
        elif event.result is not None:
            under_way.pop(place, None)
            screen.finished(replace(event.result, subject=public(event.result.subject)))
            notes.note_stage(partial, event.result)

    def tick() -> None:
        for (stage, subject), (began, step) in list(under_way.items())[-1:]:
            limit = RUNGS[stage].deadline_seconds
            screen.waiting(stage, public(subject), public(step), time.monotonic() - began, limit)

    def quick(seen: Observations, seconds_to_come: float) -> None:
        from agent.conclude import report_quick

        report_quick(start, seen, screen, seconds_to_come)

    def facts(found: Facts) -> None:
        notes.note_facts(partial, to_json(found))
        # The children are at work now; what is needed after them is loaded meanwhile.
        importlib.import_module("agent.conclude").load_the_rest()

    return Listeners(
        event=heard,
        facts=facts,
        quick=quick,
        tick=tick,
    )


def with_command(climbed: Climbed, options: RunOptions, partial: Partial) -> tuple[Climbed, int]:
    """Run the user's command after the climb; its stage joins the others."""
    from agent.workload.command import run_command
    from agent.workload.xids import new_xids

    notes.note_begin(partial, "workload", "host")
    outcome = run_command(
        options.command, environ=os.environ, plain=options.plain, new_xids=new_xids()
    )
    notes.note_stage(partial, outcome.stage)
    seen = climbed.observations
    joined = replace(seen, stages=(*seen.stages, outcome.stage))
    overrides = (*climbed.overrides, *outcome.overrides)
    return replace(climbed, observations=joined, overrides=overrides), outcome.exit_code
