"""Which processes did children leave behind, and how does the agent come to own and end them?

The agent asks to be the reaper of its descendants: a process whose parent died becomes the
agent's child, though it may have left its session and group. Where that is refused, processes
are found in /proc by session and by the marker in their environment; one that cleared its
environment, left its session and lost its parent cannot be found then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress

from agent.run import kin
from agent.run.child import Running

PR_SET_CHILD_SUBREAPER = 36


def set_subreaper(on: bool) -> bool:
    """Whether this process is now the reaper of its descendants, where ``on`` asks for it."""
    try:
        import ctypes

        done: int = ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return False
    return on and done == 0


def adopted(known: Collection[int]) -> list[kin.Process]:
    """Children of the agent that it did not start itself.

    ``known`` are those that the runner started, or that were there before it. A child in the
    agent's own session is another part's subprocess, not one that fell to it.
    """
    me, own_session = os.getpid(), os.getsid(0)
    numbers = kin.children_of(me)
    rows = (
        [row for row in kin.all_processes() if row.parent == me]
        if numbers is None
        else [row for row in map(kin.read_process, numbers) if row is not None]
    )
    return [row for row in rows if row.pid not in known and row.session != own_session]


def left_by(
    running: Running, others: Collection[Running], known: Collection[int]
) -> list[kin.Process]:
    """The adopted processes that stem from one child, or from nobody if it was the last."""
    found = []
    for row in adopted(known):
        mine = row.session == running.pid or kin.is_marked(row.pid, running.marker)
        theirs = any(
            row.session == other.pid or kin.is_marked(row.pid, other.marker) for other in others
        )
        if mine or not (others or theirs):
            found.append(row)
    return found


def reap(rows: Collection[kin.Process]) -> list[kin.Process]:
    """Takes the dead ones off the process table; returns the live ones."""
    live = []
    for row in rows:
        if row.state != "Z":
            live.append(row)
            continue
        with suppress(OSError):
            os.waitpid(row.pid, os.WNOHANG)
    return live


def sweep(
    running: Running, others: Collection[Running], known: Collection[int], is_subreaper: bool
) -> int:
    """Ends the processes that a dead child left, group or no group; returns how many there were.

    Looks twice with a short pause: what the group's end has just orphaned takes a moment to arrive.
    """
    sessions = {running.pid, *running.groups}

    def by_scan() -> list[kin.Process]:
        return kin.kin(running.marker, sessions)

    def by_descent() -> list[kin.Process]:
        return reap(left_by(running, others, known))

    find: Callable[[], list[kin.Process]] = by_descent if is_subreaper else by_scan
    return kin.end_all(find, 1.0, 0.005)
