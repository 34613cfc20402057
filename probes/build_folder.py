"""A private folder for what is compiled, and compilers run in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

OUTPUT_BYTES = 8 * 1024


class CompilerError(Exception):
    """A compiler, or the program that it made, ended with an error; the text is its own."""


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """A folder of one's own below the run's caches, removed at the end.

    The run removes its caches, too, if this process is killed before.
    """
    caches = os.path.dirname(os.environ.get("TORCH_EXTENSIONS_DIR", ""))
    parent = caches if os.path.isdir(caches) else None
    folder = tempfile.mkdtemp(prefix="build-", dir=parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def call(arguments: list[str], folder: str) -> str:
    """What a program prints; raises CompilerError with its words where it fails."""
    done = subprocess.run(
        arguments,
        cwd=folder,
        env=dict(os.environ, TMPDIR=folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    said = done.stdout.decode("utf-8", "backslashreplace")
    if done.returncode != 0:
        name = os.path.basename(arguments[0])
        raise CompilerError(
            "%s ended with %d: %s" % (name, done.returncode, said[-OUTPUT_BYTES:].strip())
        )
    return said
