"""What ends the run's processes if the agent itself is killed? A guard process beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

from agent.run import kin
from agent.run.sources import source_of


@dataclass(slots=True)
class Guard:
    """A running guard; ``pipe`` is None where none could be started, ``why_not`` then says why."""

    marker: str
    pipe: int | None = None
    process: subprocess.Popen[bytes] | None = None
    why_not: str | None = None


def start_guard(marker: str) -> Guard:
    """Starts the guard for the run that marks its processes with ``marker``; does not wait for it.

    The guard has its own session, so that neither a signal to the agent's process group nor the
    end of the terminal ends it, and holds none of the agent's descriptors but its end of a pipe.
    """
    guard = Guard(marker=marker)
    if not sys.executable:
        guard.why_not = "the agent's own interpreter is unknown"
        return guard
    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-S", "-B", "-c", source_of(kin), str(reading), marker]
    try:
        guard.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(reading,),
            start_new_session=True,
            cwd="/",
            env={},
        )
    except OSError as error:
        guard.why_not = str(error)
        os.close(writing)
    else:
        guard.pipe = writing
        os.set_blocking(writing, False)
    finally:
        os.close(reading)
    return guard


def tell(guard: Guard, word: str) -> None:
    """Tells the guard one line: ``+N``, ``-N``, ``dPATH`` or ``end``; a dead guard is no error."""
    if guard.pipe is not None:
        with suppress(OSError):
            os.write(guard.pipe, word.encode("utf-8", "surrogateescape") + b"\n")


def dismiss(guard: Guard) -> None:
    """Tells the guard that the run ended normally, and waits a moment until it is gone."""
    if guard.pipe is None or guard.process is None:
        return
    tell(guard, "end")
    os.close(guard.pipe)
    guard.pipe = None
    try:
        guard.process.wait(1)
    except subprocess.TimeoutExpired:
        guard.process.kill()
        guard.process.wait()
