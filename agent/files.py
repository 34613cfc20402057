"""Files that the command line names: read up to a limit, refused in words."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agent.errors import UsageError


def read_file(name: str, limit_bytes: int) -> bytes:
    """Return a file's bytes, at most ``limit_bytes`` plus one, whatever endless thing it names.

    A pipe, as of ``<(command)``, is read to its end. Raises UsageError where it cannot be read.
    """
    path = Path(name)
    data = bytearray()
    try:
        with path.open("rb", buffering=0) as file:
            if stat.S_ISDIR(os.fstat(file.fileno()).st_mode):
                raise IsADirectoryError
            while len(data) <= limit_bytes and (chunk := file.read(1 << 20)):
                data += chunk
    except IsADirectoryError:
        raise UsageError(f"{name} is a directory", "name the file in it") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot read {name}: {why}", "check the path") from error
    return bytes(data[: limit_bytes + 1])
