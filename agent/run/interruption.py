"""What happens on ^C, SIGTERM and SIGHUP: children end, what was observed so far is kept."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptions(tell: Callable[[str], None]) -> Iterator[None]:
    """Has ``tell`` (a runner's ``interrupt``) called with the signal's name while the block runs.

    A signal that was ignored when the agent started (``nohup``) stays ignored. Outside the main
    thread nothing is changed: signals do not arrive there.
    """

    def heard(number: int, frame: FrameType | None) -> None:
        tell(signal.Signals(number).name)

    before = {}
    try:
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, heard)
    except ValueError:
        pass
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def postponed() -> Iterator[list[str]]:
    """Notes signals by name while the block runs, instead of dying of them: a bundle is written."""
    heard: list[str] = []
    with interruptions(heard.append):
        yield heard
