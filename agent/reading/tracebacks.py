"""Which exceptions Python tracebacks in a text end in, and how they hang together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agent.model import Line

# What launchers and loggers put before a line: "[rank0]: ", "(Worker pid=7) ", "ERROR … [x.py:3] ".
_PREFIX = re.compile(
    r"^(?:\[rank\d+\]:? ?|\([\w ]+ ?(?:pid|rank)=\d+[^)]*\) ?"
    r"|[A-Z]+ \d\d-\d\d [\d:]+ \[[\w.:/ ]+\] ?|[\w.-]{1,40}\s*\| ?)+"
)
_HEAD = "Traceback (most recent call last):"
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(?:: ?(.*))?$")
_CHAIN = re.compile(
    r"direct cause of the following exception|During handling of the above exception"
)


class Raised(NamedTuple):
    """One exception: class, words, where it stands, and whether the one before led to it."""

    type: str
    text: str
    pointer: str
    chained: bool


def exceptions(lines: Sequence[Line]) -> tuple[Raised, ...]:
    """Return the exceptions of all tracebacks, in the order of the text."""
    found: list[Raised] = []
    inside = chained = False
    for line in lines:
        text = _PREFIX.sub("", line.text)
        if _HEAD in text:
            inside = True
        elif _CHAIN.search(text):
            chained = True
        elif inside and text[:1] not in (" ", "\t", ""):
            ended = _EXCEPTION.match(text)
            if ended:
                raised = Raised(ended[1], (ended[2] or "").strip(), line.pointer, chained)
                found.append(raised)
            inside = chained = False
    return tuple(found)


def last_chain(lines: Sequence[Line]) -> tuple[Raised, ...]:
    """Return the last exception of a text with those that led to it, the first cause first."""
    chain: list[Raised] = []
    for raised in reversed(exceptions(lines)):
        chain.insert(0, raised)
        if not raised.chained:
            break
    return tuple(chain)
