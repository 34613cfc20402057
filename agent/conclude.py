"""After the looking: redact, judge, decide, assemble, seal, write and report, in this order."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TextIO

from agent.bundle import (
    Written,
    assemble,
    seal,
    with_lines,
    within_limit,
    write,
)
from agent.climb import Climbed
from agent.judge import Judgement, judge
from agent.model import Bundle, Facts, Line, Observations, OrderItem
from agent.redact import Redactor, names_of
from agent.report.layout import Row
from agent.report.measured import measured_rows
from agent.report.screen import Screen
from agent.report.shown import Shown
from agent.report.text import command_rows, screen_rows, verdict_rows
from agent.signature import key_id, one_time_signer
from agent.start import Start, now, own_names
from agent.texts import text_for
from agent.verdict import decide

EXIT_OF_SIGNAL = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A finished bundle, its bytes, and where they went."""

    bundle: Bundle
    data: bytes
    written: Written
    fingerprint: str
    judged: Judgement


@cache
def load_the_rest() -> None:
    """Load what only a first judgement and a first signature ask for, while nobody waits."""
    judge(Observations(lines=(Line(text="none", pointer=""),)))
    text_for("cpu-only-build")
    one_time_signer()


def conclude(
    start: Start, climbed: Climbed, items: tuple[OrderItem, ...], *, parent: str | None = None
) -> Sealed:
    """Redact, judge, decide, assemble, seal and write."""
    seen = climbed.observations
    redactor = Redactor(names_of(with_names(seen.facts), start.environ))
    seen = redactor.redact(seen)
    if items:
        from agent.order import compare

        compared = compare(items, seen)
        seen = replace(seen, order=tuple(redactor.redact(item) for item in compared))
    seen = with_lines(within_limit(seen))
    judged = judge(seen)
    run = redactor.redact(
        replace(
            start.run,
            finished_at=now(),
            backend=seen.backend,
            backend_asked=seen.backend_asked,
            simulated=start.run.simulated or climbed.simulated,
            interrupted=climbed.interrupted,
            parent=parent,
            overrides=climbed.overrides,
        )
    )
    bundle = assemble(
        run=run,
        verdict=decide(seen, judged.findings),
        findings=judged.findings,
        observations=seen,
        redactions=redactor.redactions(),
    )
    signer = start.signer or one_time_signer()
    data = seal(bundle, signer)
    only_printed = start.options.output == "-"
    written = Written(path=None) if only_printed else write(data, start.candidates)
    return Sealed(
        bundle=bundle,
        data=data,
        written=written,
        fingerprint=key_id(signer.public_key),
        judged=judged,
    )


def with_names(facts: Facts) -> Facts:
    """The facts with this machine's own names where the collectors did not give them."""
    own = own_names().host
    host = replace(
        facts.host,
        user_name=facts.host.user_name or own.user_name,
        host_name=facts.host.host_name or own.host_name,
    )
    return replace(facts, host=host)


def report(sealed: Sealed, start: Start, screen: Screen, *, measured: bool = False) -> int:
    """Say where the bundle went and what it means; returns the exit code."""
    options = start.options
    code = exit_code(sealed.bundle, strict=options.strict)
    printed = options.as_json or options.output == "-"
    if sealed.written.path is None and options.output != "-":
        complain("no directory takes the bundle, so it is printed here:")
        printed = True
    for refusal in sealed.written.refused:
        complain(f"cannot write to {refusal}")
    if printed:
        problem = print_bytes(sealed.data)
        if problem is not None:
            sealed, code = _not_printed(sealed, start, problem, code)
    if not options.quiet:
        to_stderr = printed or bool(options.command)
        stream = sys.stderr if to_stderr else sys.stdout
        try:
            screen.rows(_rows(sealed, measured), stream)
        except (OSError, ValueError) as error:
            give_up(stream)
            if not isinstance(error, BrokenPipeError):
                complain(f"the report could not be printed ({error}); the bundle has everything")
    return code


def _not_printed(sealed: Sealed, start: Start, problem: OSError, code: int) -> tuple[Sealed, int]:
    """The bundle goes to a file after all; 3 says that what was asked for did not happen."""
    if sealed.written.path is None:
        sealed = replace(sealed, written=write(sealed.data, start.candidates))
    place = sealed.written.path
    where = f"it is in {place}" if place else "and no directory takes it"
    complain(f"standard output does not take the bundle ({problem.strerror}); {where}")
    # A reader that has seen enough and gone is nobody's fault.
    return sealed, code if isinstance(problem, BrokenPipeError) and place else 3


def print_bytes(data: bytes) -> OSError | None:
    """Print to standard output; returns why that failed, if it did."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except OSError as error:
        give_up(sys.stdout)
        return error
    return None


def give_up(stream: TextIO) -> None:
    """Send what is left in a stream nowhere, so that Python does not fail again when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def complain(text: str) -> None:
    """One line on standard error; that nobody reads it is no reason to fail."""
    try:
        sys.stderr.write(f"agent: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        give_up(sys.stderr)


def _rows(sealed: Sealed, measured: bool) -> list[Row]:
    """What is shown at the end: of the command, of the machine, and where the file is."""
    shown = replace(
        _shown(sealed.bundle, sealed.judged),
        key_id=sealed.fingerprint,
        place=str(sealed.written.path) if sealed.written.path else None,
    )
    workload = [stage for stage in sealed.bundle.stages if stage.name == "workload"]
    rows = [row for stage in workload for row in (*measured_rows(stage), Row())]
    return [*rows, *(command_rows(shown) if measured else screen_rows(shown))]


def _shown(bundle: Bundle, judged: Judgement) -> Shown:
    """Our own bundle: it was judged a moment ago, so that need not be done again."""
    return Shown(
        bundle=bundle,
        verdict=bundle.verdict,
        findings=judged.findings,
        look_at=judged.look_at,
    )


def exit_code(bundle: Bundle, *, strict: bool) -> int:
    """0 ready, or degraded without ``--strict``; 1 otherwise; a signal's own code after one."""
    if bundle.run.interrupted in EXIT_OF_SIGNAL:
        return EXIT_OF_SIGNAL[bundle.run.interrupted]
    status = bundle.verdict.status
    return 0 if status == "ready" or (status == "degraded" and not strict) else 1


def report_quick(start: Start, seen: Observations, screen: Screen, seconds_to_come: float) -> None:
    """Say what the quick rungs have shown, while the deeper ones go on for some seconds."""
    redactor = Redactor(names_of(with_names(seen.facts), start.environ))
    seen = with_lines(redactor.redact(seen))
    judged = judge(seen)
    bundle = assemble(
        run=start.run,
        verdict=decide(seen, judged.findings),
        findings=judged.findings,
        observations=seen,
        redactions=(),
    )
    with suppress(OSError, ValueError):  # the deeper stages and the bundle matter more
        screen.rows(verdict_rows(_shown(bundle, judged)), sys.stderr)
    screen.say(f"Going on with the deeper stages, about {seconds_to_come:.0f} s on such a machine.")
