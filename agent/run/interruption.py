"""What happens on ^C, SIGTERM and SIGHUP: children end, what was observed so far is kept."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def leave_on_signals() -> None:
    """Ends the program at once, with the signal's own exit code, while there is nothing to keep.

    Python's own KeyboardInterrupt may come in the middle of an import, which loses it.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        os._exit(128 + number)

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)


@contextmanager
def python_interrupts() -> Iterator[None]:
    """Has ^C raise KeyboardInterrupt while the block runs, where ``finally`` must be reached."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
