"""The allocator hook: a private ``sitecustomize`` and what the command's processes left there."""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTE_LIMIT_BYTES = 1 << 20
MOST_NOTES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A directory of our own, first on the command's PYTHONPATH."""

    directory: Path

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the command's environment with the hook in front of its PYTHONPATH."""
        before = environ.get("PYTHONPATH")
        path = str(self.directory) if not before else f"{self.directory}{os.pathsep}{before}"
        return {**environ, "PYTHONPATH": path, "FIRSTLIGHT_HOOK_DIR": str(self.directory)}

    def notes(self) -> tuple[dict[str, Any], ...]:
        """Return what each process wrote at its end; a killed process wrote nothing."""
        found = []
        for path in sorted(self.directory.glob("*.json"))[:MOST_NOTES]:
            with contextlib.suppress(OSError, ValueError):
                if path.stat().st_size <= NOTE_LIMIT_BYTES:
                    note = json.loads(path.read_text())
                    if isinstance(note, dict):
                        found.append({"pid": int(path.stem), **note})
        return tuple(found)

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.directory, ignore_errors=True)


def plant_hook() -> Hook | None:
    """Return a planted hook, or None where no directory can be written."""
    source = pkgutil.get_data("probes", "allocator_hook.py")
    if source is None:
        return None
    try:
        directory = Path(tempfile.mkdtemp(prefix="firstlight-hook-"))
        (directory / "sitecustomize.py").write_bytes(source)
    except OSError:
        return None
    return Hook(directory=directory)
