"""Where the packages of the Python that runs us lie, for the one that the single file lacks.

The single file takes every foreign directory off ``sys.path``, so that a host's own packages, of
any version or state, change nothing. A key of the user's own is signed with by ``cryptography``,
which is compiled and cannot be carried; for that alone the host's packages are looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def host_packages(zipped: bool | None = None) -> Iterator[None]:
    """Puts the host's packages at the end of ``sys.path`` while the block runs.

    Only where this runs from one file (``zipped``, by default what this module was loaded from);
    an installed agent sees them anyway.
    """
    if zipped is None:
        zipped = not Path(__file__).exists()
    added = [path for path in _directories() if path not in sys.path] if zipped else []
    sys.path.extend(added)
    try:
        yield
    finally:
        for path in added:
            sys.path.remove(path)


def _directories() -> list[str]:
    import site

    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return [*site.getsitepackages(), *user]
