"""The order of a run: look, redact, judge, decide, seal, write, report."""

from __future__ import annotations

import hashlib
import os
import pwd
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from agent import __version__
from agent.bundle import (
    Written,
    assemble,
    file_name,
    places,
    seal,
    with_lines,
    within_limit,
    write,
)
from agent.climb import Climbed, Listeners, climb
from agent.codec import from_json, to_json
from agent.errors import UsageError
from agent.jsonio import strict_loads
from agent.judge import Judgement, judge
from agent.ladder import RUNGS
from agent.model import Bundle, Facts, Gap, Host, Json, Observations, OrderItem, Run, Stage
from agent.options import RunOptions
from agent.redact import Redactor, names_of
from agent.report.screen import Screen
from agent.report.shown import Shown
from agent.report.text import screen_rows, verdict_rows
from agent.run import partial as notes
from agent.run.partial import Partial
from agent.run.worker import Event
from agent.signature import Signer, key_id, one_time_signer, signer_from_file
from agent.verdict import decide

EXIT_OF_SIGNAL = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is fixed before anything is looked at."""

    options: RunOptions
    run: Run
    signer: Signer
    environ: Mapping[str, str]
    workdir: Path

    @property
    def candidates(self) -> tuple[Path, ...]:
        """Where the bundle may go, best first."""
        output = self.options.output
        asked = Path(output) if output and output != "-" else None
        name = file_name(self.run.started_at, self.run.id)
        return places(name, asked, self.environ, self.workdir)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A finished bundle, its bytes, and where they went."""

    bundle: Bundle
    data: bytes
    written: Written
    fingerprint: str
    judged: Judgement


# ---------------------------------------------------------------- the commands
def run_ladder(options: RunOptions) -> int:
    """``agent run``: climb, judge, write and report; returns the exit code."""
    screen = Screen(quiet=options.quiet)
    screen.started(options.depth, __version__)
    start = begin(options)
    items = ordered_items(options)
    if options.replay:
        climbed, parent = replayed(options.replay)
        sealed = conclude(start, climbed, items, parent=parent)
        return report(sealed, start, screen)
    partial = open_partial(start)
    climbed = climb(options, start.environ, start.workdir, listeners(screen, partial, start))
    screen.close()
    command_code = None
    if options.command and climbed.interrupted is None:
        climbed, command_code = with_command(climbed, options, partial)
    sealed = conclude(start, climbed, items)
    notes.close_partial(partial, remove=sealed.written.path is not None)
    code = report(sealed, start, screen)
    return code if command_code is None else command_code


def run_measure(options: RunOptions) -> int:
    """``agent measure``: the user's command alone; returns the command's own exit code."""
    start = begin(options)
    partial = open_partial(start)
    climbed, code = with_command(Climbed(observations=Observations()), options, partial)
    sealed = conclude(start, climbed, ())
    notes.close_partial(partial, remove=sealed.written.path is not None)
    report(sealed, start, Screen(quiet=options.quiet), measured=True)
    return code


def run_recover(partial: str, *, output: str | None, sign_with: str | None) -> int:
    """``agent recover``: a signed bundle of what a killed run had noted."""
    from agent.recover import recover

    found = recover(Path(partial))
    options = RunOptions(output=output, sign_with=sign_with)
    start = begin(options)
    started = from_json(Run, found.run)
    run = replace(
        started, finished_at=now(), interrupted="SIGKILL", key_source=start.run.key_source
    )
    observations = Observations(
        facts=from_json(Facts, found.facts),
        stages=found.stages,
        gaps=found.gaps,
        backend=run.backend,
        backend_asked=run.backend_asked,
    )
    climbed = Climbed(observations=observations, simulated=run.simulated, interrupted="SIGKILL")
    sealed = conclude(replace(start, run=run), climbed, ())
    return report(sealed, start, Screen())


# ---------------------------------------------------------------- before
def begin(options: RunOptions) -> Start:
    """Fix what must not change later: identity, key, environment. Fails before anything runs."""
    signer = signer_from_file(Path(options.sign_with)) if options.sign_with else one_time_signer()
    run = Run(
        id=secrets.token_hex(4),
        started_at=now(),
        finished_at="",
        agent_version=__version__,
        depth=options.depth,
        argv=tuple(argv_without_command(options)),
        backend_asked=options.backend,
        challenge=options.challenge,
        ticket=options.ticket,
        key_source=signer.source,
    )
    return Start(
        options=options, run=run, signer=signer, environ=dict(os.environ), workdir=workdir()
    )


def workdir() -> Path:
    """The user's directory; ``/`` where it has been removed under us."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def argv_without_command(options: RunOptions) -> list[str]:
    """Our own arguments; of the user's command only its name, since its arguments are private."""
    arguments = sys.argv[1:]
    if not options.command:
        return arguments
    own = arguments[: arguments.index("--") + 1] if "--" in arguments else []
    return [*own, Path(options.command[0]).name]


def now() -> str:
    """This moment in UTC, ISO 8601, to the millisecond."""
    moment = datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def ordered_items(options: RunOptions) -> tuple[OrderItem, ...]:
    """What was ordered, item by item, still to be compared."""
    if options.order is None:
        return ()
    from agent.order import read_order

    return read_order(options.order)


def replayed(name: str) -> tuple[Climbed, str]:
    """The observations of a recorded file, and the SHA-256 of the file."""
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}", "check the path") from error
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
        if partial.descriptor is not None:
            break
    if partial is None:
        raise UsageError("there is no place for the bundle", "give one with -o")
    notes.note_run(partial, to_json(start.run))
    return partial


def own_names() -> Facts:
    """The names of user and machine, before anything else is known; enough to redact by."""
    try:
        user: str | None = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        user = None
    return Facts(host=Host(user_name=user, host_name=os.uname().nodename))


def listeners(screen: Screen, partial: Partial, start: Start) -> Listeners:
    """Those who hear of the climb: the screen and the notes."""

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
            screen.finished(event.result)
            notes.note_stage(partial, event.result)

    def tick() -> None:
        for (stage, subject), (began, step) in list(under_way.items())[-1:]:
            limit = RUNGS[stage].deadline_seconds
            screen.waiting(stage, subject, step, time.monotonic() - began, limit)

    def quick(seen: Observations) -> None:
        seen = with_lines(seen)
        judged = judge(seen)
        bundle = assemble(
            run=start.run,
            verdict=decide(seen, judged.findings),
            findings=judged.findings,
            observations=seen,
            redactions=(),
        )
        screen.rows(verdict_rows(_shown(bundle, judged)), sys.stderr)
        screen.say("Going on with the deeper stages.")

    return Listeners(
        event=heard,
        facts=lambda facts: notes.note_facts(partial, to_json(facts)),
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


# ---------------------------------------------------------------- after
def conclude(
    start: Start, climbed: Climbed, items: tuple[OrderItem, ...], *, parent: str | None = None
) -> Sealed:
    """Redact, judge, decide, assemble, seal and write."""
    seen = climbed.observations
    redactor = Redactor(names_of(with_names(seen.facts), start.environ))
    seen = redactor.redact(seen)
    if items:
        from agent.order import compare

        seen = replace(seen, order=compare(items, seen))
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
    data = seal(bundle, start.signer)
    only_printed = start.options.output == "-"
    written = Written(path=None) if only_printed else write(data, start.candidates)
    return Sealed(
        bundle=bundle,
        data=data,
        written=written,
        fingerprint=key_id(start.signer.public_key),
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
    printed = options.as_json or options.output == "-"
    if sealed.written.path is None and options.output != "-":
        sys.stderr.write("agent: no directory takes the bundle, so it is printed here:\n")
        for refusal in sealed.written.refused:
            sys.stderr.write(f"  {refusal}\n")
        printed = True
    elif sealed.written.refused:
        for refusal in sealed.written.refused:
            sys.stderr.write(f"agent: cannot write to {refusal}\n")
    if printed:
        sys.stdout.buffer.write(sealed.data)
        sys.stdout.flush()
    if not options.quiet:
        shown = replace(
            _shown(sealed.bundle, sealed.judged),
            key_id=sealed.fingerprint,
            place=str(sealed.written.path) if sealed.written.path else None,
        )
        screen.rows(screen_rows(shown), sys.stderr if printed or measured else sys.stdout)
    return exit_code(sealed.bundle, strict=options.strict)


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
