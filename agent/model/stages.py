"""What a rung of the ladder answered, and what could not be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.model.words import Json, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What could not be looked at: where it would stand, why, and who said so."""

    pointer: str
    why: str
    said_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorText:
    """An error as its raiser worded it."""

    type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One announced act inside a stage; ``seconds`` is None for the step that never ended."""

    name: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How far one rung of the ladder got for one subject.

    ``subject`` is ``host``, ``gpu:<uuid or pci>``, ``ext:<name>`` or ``pair:<a>><b>``;
    ``reason`` is from the closed list in ``ladder.REASONS`` for every status but ``passed``;
    ``data`` is what the probe measured, documented per stage in docs/bundle.md.
    """

    name: str
    subject: str
    status: Status
    reason: str | None = None
    seconds: float = 0.0
    steps: tuple[Step, ...] = ()
    data: Mapping[str, Json] = field(default_factory=dict)
    error: ErrorText | None = None
    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: str | None = None
