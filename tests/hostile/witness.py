"""Who saw the children: targets to test in, and a search for processes of a test, all its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def pythons() -> list[str]:
    """The interpreters from 3.8 on that this machine has, one a version; at least our own."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    for version in VERSIONS:
        kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        path = str(kept[-1]) if kept else shutil.which(f"python{version}")
        if version not in found and path is not None and _runs(path):
            found[version] = path
    return [found[version] for version in VERSIONS if version in found]


def _runs(path: str) -> bool:
    # A pyenv shim stands for versions that are not installed.
    return subprocess.run([path, "-c", ""], capture_output=True, timeout=20).returncode == 0


def processes_of(token: str) -> list[str]:
    """Live processes that carry a token in their environment or arguments, as text."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            words = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if token.encode() in words and state not in "ZX":
            found.append(f"{folder.name} {state} {words[-80:]!r}")
    return found


def none_left(token: str, seconds: float = 1.0) -> list[str]:
    """The processes of a token that still live after some seconds; [] as soon as there are none."""
    until = time.monotonic() + seconds
    while (found := processes_of(token)) and time.monotonic() < until:
        time.sleep(0.02)
    return found
