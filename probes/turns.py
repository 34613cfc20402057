"""Lets the processes of a run take turns: host copies of several GPUs would starve each other."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[bool]:
    """Waits until no other process of this run is in a block of that name; True if it could.

    The lock is a file among the run's caches, which the kernel frees when its holder dies.
    Without that folder there are no turns.
    """
    folder = os.path.dirname(os.environ.get("TORCH_EXTENSIONS_DIR", ""))
    descriptor = None
    if os.path.isdir(folder):
        with contextlib.suppress(OSError):
            path = os.path.join(folder, name + ".lock")
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)
