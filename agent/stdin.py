"""Standard input: read only when asked for, with limits; noticed when it waits unasked."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import stat
import struct
import termios
import time

from agent.errors import UsageError


def kind_of_stdin(descriptor: int = 0) -> str:
    """Return what is connected: closed, terminal, file, pipe, socket or device."""
    try:
        mode = os.fstat(descriptor).st_mode
        access = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError:
        return "closed"
    if access == os.O_WRONLY:  # also what agent.streams puts where nothing was connected
        return "closed"
    if os.isatty(descriptor):
        return "terminal"
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def waiting_bytes(descriptor: int = 0) -> int:
    """Return how many bytes wait on standard input right now, without reading one."""
    kind = kind_of_stdin(descriptor)
    with contextlib.suppress(OSError):
        if kind == "file":
            at = os.lseek(descriptor, 0, os.SEEK_CUR)
            return max(0, os.fstat(descriptor).st_size - at)
        if kind in ("pipe", "socket"):
            answer = fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0")
            return int(struct.unpack("i", answer)[0])
    return 0


def read_stdin(limit_bytes: int, idle_seconds: float, descriptor: int = 0) -> bytes:
    """Return standard input to its end, at most ``limit_bytes`` plus one.

    Raises UsageError where nothing is connected, or where nothing came for ``idle_seconds``.
    """
    if kind_of_stdin(descriptor) == "closed":
        raise UsageError("standard input is closed", "give a file name instead of “-”")
    data = bytearray()
    last = time.monotonic()
    while len(data) <= limit_bytes:
        ready, _, _ = select.select([descriptor], [], [], 1.0)
        if not ready:
            if time.monotonic() - last > idle_seconds:
                raise UsageError(
                    f"nothing more came on standard input for {idle_seconds:.0f} s",
                    "end the input, or give a file name instead of “-”",
                )
            continue
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            break
        data += chunk
        last = time.monotonic()
    return bytes(data)
