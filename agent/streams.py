"""Are standard input, output and error there at all? Closed ones get a stand-in before any file."""

from __future__ import annotations

import os
import sys


def open_missing_streams() -> None:
    """Put /dev/null where 0, 1 or 2 is closed; no file of ours may get such a number.

    The stand-in for standard input is write-only, by which ``agent.stdin`` knows that nothing was
    connected.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.open(os.devnull, os.O_WRONLY)
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
