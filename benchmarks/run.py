"""Measures the promises about time, memory and size, each against something in the same run.

    python benchmarks/run.py --torch PYTHON [--pairs 9] [--write]

Commands are run in turn (A B A B …) after one warm-up, and the median of the ratios of each pair
counts, so that a machine whose speed drifts does not decide. ``--write`` puts the figures and
this command into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    torch.cuda.init()
RuntimeError: The NVIDIA driver on your system is too old (found version 12020). Please update
your GPU driver by downloading and installing a new version.
torch==2.13.0+cu130
Driver Version: 535.183.01   CUDA Version: 12.2
"""


@dataclass(frozen=True)
class Figure:
    """One promise: what was measured, what came out, and the bound it must keep."""

    what: str
    value: str
    bound: str
    kept: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch", required=True, help="interpreter with a CPU build of torch")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--write", action="store_true", help="write benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(arguments.torch, arguments.pairs, Path(folder))
    for figure in figures:
        print(f"{'ok ' if figure.kept else 'OUT'}  {figure.what}: {figure.value} ({figure.bound})")
    if arguments.write:
        write(figures, arguments.pairs)
    return 0 if all(figure.kept for figure in figures) else 1


def measure(torch: str, pairs: int, folder: Path) -> list[Figure]:
    quick = ["run", "--depth", "quick", "--backend", "cpu", "--python", torch, "-q"]
    installed = [sys.executable, "-m", "agent"]
    bare = [sys.executable, "-c", "pass"]
    page = folder / "page.txt"
    page.write_text(TRACEBACK * 8)
    figures = [
        ratio("quick run on torch CPU / import torch", [*installed, *quick],
              [torch, "-c", "import torch"], folder, pairs, 1.35),
        ratio("quick run on torch CPU / torch.utils.collect_env", [*installed, *quick],
              [torch, "-m", "torch.utils.collect_env"], folder, pairs, 1.0),
        memory("memory of the agent's own process", [*installed, *quick], folder, 60.0),
        ratio("agent --version / python -c pass", [*installed, "--version"], bare, folder,
              pairs, 4),
        seconds("agent explain, one page", [*installed, "explain", str(page)], folder, pairs, 0.4),
        throughput("agent explain, many files", installed, folder),
    ]  # fmt: skip
    pyz, piped = ROOT / "dist" / "agent.pyz", ROOT / "dist" / "agent.py"
    if not pyz.exists():
        print("(dist/agent.pyz is not there: make pyz first, to measure the single file too)")
        return figures
    single = [sys.executable, str(pyz)]
    pipe = ["sh", "-c", f"{shlex.quote(sys.executable)} - {shlex.join(quick)} < {piped}"]
    return [
        *figures,
        size("size of agent.pyz", pyz, 1.5),
        size("size of agent.py", piped, 2.0),
        ratio("agent.pyz --version / python -c pass", [*single, "--version"], bare, folder,
              pairs, 8),
        ratio("quick run from agent.pyz / installed", [*single, *quick], [*installed, *quick],
              folder, pairs, 1.25),
        ratio("quick run piped / installed", pipe, [*installed, *quick], folder, pairs, 1.6),
    ]  # fmt: skip


def once(command: list[str], folder: Path) -> float:
    """Return the wall seconds of one run; what it prints is thrown away."""
    began = time.perf_counter()
    subprocess.run(
        command, cwd=folder, env=environment(), check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - began


def environment() -> dict[str, str]:
    # Compiled files are what an installed program has; the machine may have switched them off.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT)}


def ratio(
    what: str, ours: list[str], theirs: list[str], folder: Path, pairs: int, most: float
) -> Figure:
    once(ours, folder)
    once(theirs, folder)
    taken = [(once(ours, folder), once(theirs, folder)) for _ in range(pairs)]
    middle = statistics.median(a / b for a, b in taken)
    a, b = (statistics.median(pair[i] for pair in taken) for i in (0, 1))
    value = f"{middle:.2f} × ({a:.3f} s against {b:.3f} s)"
    return Figure(what, value, f"at most {most:g} ×", middle <= most)


def seconds(what: str, command: list[str], folder: Path, runs: int, most: float) -> Figure:
    once(command, folder)
    middle = statistics.median(once(command, folder) for _ in range(runs))
    return Figure(what, f"{middle:.3f} s", f"under {most:g} s", middle < most)


def throughput(what: str, installed: list[str], folder: Path) -> Figure:
    files = []
    for number in range(200):
        path = folder / f"text-{number}.txt"
        path.write_text(TRACEBACK.replace("12020", str(12000 + number % 40)))
        files.append(str(path))
    taken = once([*installed, "explain", "--json", *files], folder)
    return Figure(what, f"{len(files) / taken:.0f} texts a second", "no bound", kept=True)


def memory(what: str, command: list[str], folder: Path, most_mb: float) -> Figure:
    """The most that the process held; the children that it waits for are not in it."""
    code = (
        "import subprocess, sys, re, os\n"
        "p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "peak = 0\n"
        "while p.poll() is None:\n"
        "    try: text = open(f'/proc/{p.pid}/status').read()\n"
        "    except OSError: break\n"
        "    found = re.search(r'VmHWM:\\s+(\\d+)', text)\n"
        "    peak = max(peak, int(found.group(1)) if found else 0)\n"
        "print(peak)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=folder, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    megabytes = int(done.stdout) * 1024 / 1e6
    return Figure(what, f"{megabytes:.1f} MB", f"under {most_mb:g} MB", megabytes < most_mb)


def size(what: str, path: Path, most_mb: float) -> Figure:
    megabytes = path.stat().st_size / 1e6
    return Figure(what, f"{megabytes:.2f} MB", f"under {most_mb:g} MB", megabytes < most_mb)


def write(figures: list[Figure], pairs: int) -> None:
    rows = "\n".join(f"| {f.what} | {f.value} | {f.bound} |" for f in figures)
    text = f"""# Results

Made by `python benchmarks/run.py --torch PYTHON --pairs {pairs} --write`, where PYTHON has
torch 2.13.0 (CPU). Python {platform.python_version()}, {os.cpu_count()} processors,
{platform.system()} {platform.machine()}, {datetime.now(timezone.utc):%Y-%m-%d}. Medians of {pairs}
pairs, run in turn after a warm-up; a ratio is the median of the pairs' ratios.

| what | measured | bound |
|---|---|---|
{rows}
"""
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
