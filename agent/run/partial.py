"""What is left if the agent itself is killed: one line an observation, as it comes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent import jsonio
from agent.canonical import sanitise
from agent.codec import to_json
from agent.model import Gap, Json, Stage

SCHEMA = "firstlight.partial/1"
SUFFIX = ".partial"


@dataclass(slots=True, eq=False)
class Partial:
    """An open partial file; ``problem`` says why it is not written (any longer), or is None."""

    path: Path
    descriptor: int | None
    redact: Callable[[Json], Json]
    problem: str | None = None
    created: bool = False  # only a file that we made is ever removed


def open_partial(bundle: Path, redact: Callable[[Json], Json]) -> Partial:
    """Creates ``<bundle>.partial`` beside a bundle to come, for its owner only.

    ``redact`` is applied to every record before it is written. A file of that name, a link to one
    included, is never written to; ``problem`` then says so, and writing does nothing.
    """
    path = bundle.with_name(bundle.name + SUFFIX)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        return Partial(path=path, descriptor=None, redact=redact, problem=str(error))
    return Partial(path=path, descriptor=descriptor, redact=redact, created=True)


def write_record(partial: Partial, record: Json) -> None:
    """Appends one record as one line in one write, so that only the last line can be torn.

    A full disk ends the file and sets ``problem``; the run goes on without it.
    """
    if partial.descriptor is None:
        return
    line = jsonio.dumps(sanitise(partial.redact(record))) + b"\n"
    try:
        if os.write(partial.descriptor, line) != len(line):
            raise OSError("the disk is full")
    except OSError as error:
        partial.problem = str(error)
        os.close(partial.descriptor)
        partial.descriptor = None


def note_run(partial: Partial, run: Json) -> None:
    """The first record: what was asked of this run (the ``run`` object of the bundle to come)."""
    write_record(partial, {"record": "run", "schema": SCHEMA, "run": run})


def note_facts(partial: Partial, facts: Json) -> None:
    """Facts as they stand in a bundle, whole or some members; later ones replace earlier."""
    write_record(partial, {"record": "facts", "facts": facts})


def note_gap(partial: Partial, gap: Gap) -> None:
    """Something that could not be looked at."""
    write_record(partial, {"record": "gap", "gap": to_json(gap)})


def note_begin(partial: Partial, stage: str, subject: str) -> None:
    """A stage begins."""
    write_record(partial, {"record": "begin", "stage": stage, "subject": subject})


def note_step(partial: Partial, stage: str, subject: str, step: str) -> None:
    """A stage takes a step."""
    write_record(partial, {"record": "step", "stage": stage, "subject": subject, "step": step})


def note_stage(partial: Partial, stage: Stage) -> None:
    """A stage has ended."""
    write_record(partial, {"record": "stage", "stage": to_json(stage)})


def close_partial(partial: Partial, *, remove: bool) -> None:
    """Closes the file, and removes it if it is of no use, as when the bundle is safely written."""
    if partial.descriptor is not None:
        os.close(partial.descriptor)
        partial.descriptor = None
    if remove and partial.created:
        partial.created = False
        with suppress(OSError):
            partial.path.unlink()
