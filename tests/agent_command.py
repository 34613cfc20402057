"""Runs the agent as a user does, in a directory of its own, and keeps what came out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run: exit code, output, and the bundle if one was written."""

    code: int
    out: str
    err: str
    path: Path | None
    bundle: dict[str, Any]

    def stage(self, name: str) -> dict[str, Any]:
        """The stage of that name for its first subject."""
        found: dict[str, Any] = next(s for s in self.bundle["stages"] if s["name"] == name)
        return found

    @property
    def codes(self) -> list[str]:
        """The codes of the findings, the root first."""
        return [finding["code"] for finding in self.bundle["findings"]]


def environment(**changes: str) -> dict[str, str]:
    """The environment of this process with the checkout on the path of the agent alone."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTLIGHT_T")}
    return {**kept, **changes}


# Where this run of the tests measures coverage, the agent's own process is measured, too; its
# children are not, since they must see what a user's program would see.
MEASURE = """
try:
    import atexit, coverage
    meter = coverage.Coverage({data!r}, data_suffix=True, branch=True, source=[{source!r}],
                              config_file=False)
    meter.start()
    atexit.register(lambda: (meter.stop(), meter.save()))
except OSError:
    pass  # a directory that is gone is one of the things tried
"""


def command(*arguments: str) -> list[str]:
    """The command line that runs the checked-out agent whatever the directory."""
    boot = f"import sys; sys.path.insert(0, {str(HERE)!r});from agent.__main__ import main; main()"
    if os.environ.get("FIRSTLIGHT_MEASURE"):
        boot = MEASURE.format(data=str(HERE / ".coverage"), source=str(HERE / "agent")) + boot
    return [sys.executable, "-c", boot, *arguments]


def run_agent(*arguments: str, cwd: Path, timeout: float = 120.0, **changes: str) -> Ran:
    """Run ``agent ARGUMENTS`` in ``cwd`` and read the bundle that it wrote there."""
    before = set(cwd.glob("firstlight-*.json"))
    done = subprocess.run(
        command(*arguments), cwd=cwd, env=environment(**changes), capture_output=True, text=True,
        timeout=timeout, check=False,
    )  # fmt: skip
    written = sorted(set(cwd.glob("firstlight-*.json")) - before)
    path = written[0] if written else None
    bundle = json.loads(path.read_bytes()) if path else {}
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr, path=path, bundle=bundle)


def wait_for_step(folder: Path, step: str, seconds: float = 60.0) -> None:
    """Wait until the notes of a run in ``folder`` say that it has come to ``step``."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for notes in folder.glob("*.partial"):
            if f'"step":"{step}"' in notes.read_text():
                time.sleep(0.3)  # noted, and now under way
                return
        time.sleep(0.05)
    raise AssertionError(f"no run in {folder} came to {step!r} within {seconds} s")
