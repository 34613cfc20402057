"""How is a child started: its own session, no input, bounded output, a channel for records?"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

from agent.run import kin
from agent.run.channel import Tail, open_channel
from agent.run.child import Child, Exit, Running
from agent.run.records import Record


def spawn(
    child: Child,
    marker: str,
    on_record: Callable[[Record], None],
    on_exit: Callable[[Exit], None],
    packets: bool = True,
) -> Running:
    """Starts the process and returns without waiting for it; raises ``OSError``, ``ValueError``.

    ``marker`` is put into its environment, where its descendants inherit it.
    """
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    ours, theirs, passed = [out_read, err_read], [out_write, err_write], []
    argv = list(child.argv)
    channel = source_fd = None
    try:
        if child.source is not None:
            channel, record_fd = open_channel(packets)
            source_read, source_fd = os.pipe()
            passed = [record_fd, source_read]
            ours += [channel.reader, source_fd]
            argv += [str(record_fd), str(source_read), str(os.getpid())]
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out_write,
            stderr=err_write,
            pass_fds=passed,
            start_new_session=True,
            cwd=child.cwd,
            env={**child.environ, kin.MARKER: marker},
        )
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs + passed:
            os.close(descriptor)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    now = time.monotonic()
    return Running(
        child=child,
        marker=marker,
        on_record=on_record,
        on_exit=on_exit,
        process=process,
        channel=channel,
        out=Tail(out_read),
        err=Tail(err_read),
        started=now,
        deadline=now + child.deadline_seconds,
        source_fd=source_fd,
        unsent=bytearray(child.source or b""),
        close_source=not child.keep_source_open,
    )


def write_source(running: Running) -> bool:
    """Writes what the child's source pipe takes now; whether more must be written later."""
    descriptor = running.source_fd
    if descriptor is None:
        return False
    try:
        while running.unsent:
            del running.unsent[: os.write(descriptor, running.unsent)]
    except BlockingIOError:
        return True
    except OSError:  # the child closed its end
        running.unsent.clear()
        running.close_source = True
    return False


def reap(running: Running) -> int | None:
    """The wait status of an ended child; None for one that would not die."""
    try:
        pid, status = os.waitpid(running.pid, os.WNOHANG)
    except ChildProcessError:  # somebody else reaped it: its status is lost
        pid, status = running.pid, 0
    with suppress(ValueError):
        running.process.returncode = os.waitstatus_to_exitcode(status)
    return status if pid else None


def has_exited(pid: int) -> bool:
    """Whether a child has ended, without reaping it."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
