"""Kills the whole agent at random moments, and counts what is left; prints docs/sigkill.md's table.

python tests/sigkill.py TARGET_PYTHON [RUNS] [SEED]
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parent.parent))

from agent.verify import verify
from tests.agent_command import command, environment
from tests.hostile.witness import processes_of

LONGEST = 5.0
FIRST_MOMENT, LAST_MOMENT = 0.02, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What one killed run left: its files, and the seconds until no process of it lived."""

    moment: float
    bundle: str  # absent, valid, BROKEN
    partial: str  # absent, recovered, empty, BROKEN
    seconds: float
    files: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether all that is promised holds."""
        whole = "BROKEN" not in (self.bundle, self.partial)
        return whole and self.seconds < LONGEST and not self.files


def kill_once(target: str, moment: float, *, depth: str = "quick") -> Left:
    """Run the agent on ``target``, kill it after ``moment`` seconds, look at what remains."""
    token = f"token-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory() as name:
        folder, caches = Path(name, "work"), Path(name, "tmp")
        folder.mkdir()
        caches.mkdir()
        process = subprocess.Popen(
            command("run", "--depth", depth, "--backend", "cpu", "--python", target),
            cwd=folder, env=environment(HOSTILE_TOKEN=token, TMPDIR=str(caches)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(moment)
        guards = _children(process.pid)
        process.kill()
        process.wait()
        began = time.monotonic()
        while time.monotonic() - began < LONGEST + 1:
            alive = [pid for pid, born in guards.items() if _born(pid) == born]
            if not alive and not processes_of(token):
                break
            time.sleep(0.02)
        seconds = time.monotonic() - began
        bundles = list(folder.glob("firstlight-*.json"))
        partials = list(folder.glob("*.partial"))
        known = {*bundles, *partials}
        rest = tuple(
            str(path.relative_to(name))
            for path in (*folder.iterdir(), *caches.iterdir())
            if path not in known and not path.name.endswith(".tmp")
        )
        return Left(
            moment=moment,
            bundle=_bundle(bundles),
            partial=_partial(partials, folder),
            seconds=seconds,
            files=rest,
        )


def _whole_run(target: str) -> float:
    """Seconds that a run takes which nobody kills."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(
            command("run", "--depth", "quick", "--backend", "cpu", "--python", target),
            cwd=name, env=environment(), capture_output=True, timeout=120, check=True,
        )  # fmt: skip
    return time.monotonic() - began


def _bundle(found: list[Path]) -> str:
    if not found:
        return "absent"
    return "valid" if all(verify(path.read_bytes()).intact for path in found) else "BROKEN"


def _partial(found: list[Path], folder: Path) -> str:
    if not found:
        return "absent"
    if b"\n" not in found[0].read_bytes():
        return "empty"  # killed before the first line was whole
    made = folder / "recovered.json"
    subprocess.run(
        command("recover", str(found[0]), "-o", str(made)), env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False,
    )  # fmt: skip
    return "recovered" if made.exists() and verify(made.read_bytes()).intact else "BROKEN"


def _children(pid: int) -> dict[int, str]:
    """The children of a process, with the moment each began; the guard is one of them."""
    found: dict[int, str] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found[int(stat.parent.name)] = fields[19]
    return found


def _born(pid: int) -> str | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def table(left: list[Left]) -> list[str]:
    """The counts as lines of Markdown."""
    kinds = Counter((one.bundle, one.partial) for one in left)
    slowest = max(one.seconds for one in left)
    lines = ["| bundle | partial file | runs |", "|---|---|---|"]
    lines += [f"| {b} | {p} | {count} |" for (b, p), count in sorted(kinds.items())]
    return [
        *lines,
        "",
        f"Runs: {len(left)}; kept every promise: {sum(one.good for one in left)}. "
        f"Last process gone after at most {slowest:.2f} s. "
        f"Cache folders left: {sum(bool(one.files) for one in left)}.",
    ]


def main() -> None:
    """Kill as often as asked and print the table."""
    target = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    chance = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    left, whole = [], 0.0
    for number in range(runs):
        if number % 20 == 0:  # how long a whole run takes now; others may use the machine
            whole = _whole_run(target)
        left.append(kill_once(target, chance.uniform(FIRST_MOMENT, 1.1 * whole)))
        if not left[-1].good:
            sys.stderr.write(f"{left[-1]}\n")
    sys.stdout.write("\n".join(table(left)) + "\n")


if __name__ == "__main__":
    main()
