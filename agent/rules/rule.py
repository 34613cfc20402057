"""What a rule is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.model import Confidence, Severity, Who
from agent.rules.case import Case
from agent.rules.lines import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a rule answers when its cause fits.

    `weight` says how much points to this cause and no other:
    90 the error names it and a fact agrees; 80 no other cause prints this; 60 the error fits, the
    facts fit, others are possible; 40 the error fits, and so do others; 30 facts alone, before
    anything failed; below 25 it is no finding, only its `look_at` is passed on.
    `hits` are the printed lines it explains, `evidence` the pointers of the facts (see `Case.at`);
    `values` fill the text. `look_at` says what would decide between this cause and its rivals.
    """

    weight: int
    hits: tuple[Hit, ...] = ()
    evidence: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    severity: Severity | None = None  # where this occurrence differs from the rule's own
    look_at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One cause: how it is recognised, how bad it is, whose it is, and what follows from it.

    `find` is pure: no input or output, no clock, no exception for control. None means that the
    cause does not apply, also where the deciding fact is a gap. `explains` are the codes that
    are only effects where this cause is found; they are folded under it. `source` says where
    the knowledge comes from.
    """

    code: str
    severity: Severity
    who: Who
    source: str
    find: Callable[[Case], Diagnosis | None]
    explains: tuple[str, ...] = ()


def confidence_of(weight: int) -> Confidence:
    """The word for a weight."""
    return "high" if weight >= 80 else "medium" if weight >= 55 else "low"
