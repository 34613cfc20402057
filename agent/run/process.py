"""What does a worker process have under way, and which of its stages does a record mean?"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from agent.run.attempt import Attempt
from agent.run.child import Running
from agent.run.records import Record
from agent.run.tasks import Task

Key = tuple[str, str]  # stage and subject


@dataclass(slots=True, eq=False)
class Process:
    """A worker process: the tasks it runs itself, then, as a server, the forks it was asked for.

    ``extras`` are stages that a probe began beyond its task, such as one for a device that did
    not open; ``names`` are the stages that it may speak of at all.
    """

    todo: deque[Task]
    serves: bool
    names: set[str]
    attempt: Attempt | None = None
    running: Running | None = None
    booted: bool = False
    ready: bool = False
    forks: dict[Key, Attempt] = field(default_factory=dict)
    extras: dict[Key, Attempt] = field(default_factory=dict)


def key_of(record: Record) -> Key:
    """The stage and subject that a record names."""
    return record.stage or "", record.subject or "host"


def attempt_of(process: Process, record: Record) -> Attempt | None:
    """The stage under way that a record speaks of; a stray one speaks of none."""
    key = key_of(record)
    if key in process.forks:
        return process.forks[key]
    own = process.attempt
    if own is not None and own.task.stage == key[0] and record.subject in (None, own.task.subject):
        return own
    return process.extras.get(key)


def extra_of(process: Process, record: Record, keep: int = 1024) -> Attempt | None:
    """The stage that a probe begins beyond its task, or None if it may not begin one."""
    key = key_of(record)
    if key[0] not in process.names or len(process.extras) >= keep:
        return None
    attempt = Attempt(task=Task(stage=key[0], subject=key[1]), forked=False)
    process.extras[key] = attempt
    return attempt
