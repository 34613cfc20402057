"""Makes the environments that the tests need, runs them, and prints branch coverage.

    python3 tests/run.py [--no-skips] [pytest arguments]

Needs only Python with pip and venv (and a C compiler for the simulated machines; without one
those tests are skipped with that reason). Everything it makes lies in build/tests. A torch that
is already there is used when FIRSTLIGHT_TORCH_PYTHON names its interpreter.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
BUILD = HERE / "build" / "tests"
# A build for the CPU, as many tests are about one. Torch's own index stands second, since naming it
# replaces configured ones; the plain wheel of x86_64 is a CUDA build, with which a few tests fail.
TORCH = (
    ("torch==2.13.0+cpu",),
    ("torch==2.13.0+cpu", "--extra-index-url", "https://download.pytorch.org/whl/cpu"),
    ("torch==2.13.0",),
)
AGENT_FLOOR_PERCENT = 90


def main() -> int:
    arguments = sys.argv[1:]
    no_skips = "--no-skips" in arguments
    arguments = [a for a in arguments if a != "--no-skips"]
    if sys.version_info < (3, 10):  # noqa: UP036 - run by whatever python3 is at hand
        sys.stderr.write(f"tests need Python 3.10 or newer, this is {sys.version.split()[0]}\n")
        return 2
    python = make_environment("venv", ["-e", f"{HERE}[test]"])
    environment = dict(os.environ)
    if not environment.get("FIRSTLIGHT_TORCH_PYTHON"):
        place = make_environment("torch", *([*torch, "numpy", "coverage"] for torch in TORCH))
        environment["FIRSTLIGHT_TORCH_PYTHON"] = str(place)
    for old in HERE.glob(".coverage*"):
        old.unlink()
    jobs = ["-n", str(min(4, os.cpu_count() or 1))]
    environment["FIRSTLIGHT_MEASURE"] = "1"
    command = [
        str(python),
        "-m",
        "pytest",
        "--cov",
        "--cov-report=",
        *jobs,
        "-q",
        "-rs",
        *arguments,
    ]
    if no_skips:
        environment["FIRSTLIGHT_NO_SKIPS"] = "1"
    passed = subprocess.run(command, cwd=HERE, env=environment, check=False).returncode
    if passed != 0:
        return passed
    return report_coverage(python, whole_suite=not arguments)


def make_environment(name: str, *alternatives: list[str]) -> Path:
    """Return the interpreter of build/tests/<name>, made and filled if it was not there.

    It is filled with the first of the ``alternatives`` that can be installed.
    """
    place = BUILD / name
    python = place / "bin" / "python"
    stamp = place / "complete"
    # The checkout's own requirements are in pyproject.toml, so a change there counts, too.
    wanted = (
        "\n".join(alternatives[0])
        + hashlib.sha256((HERE / "pyproject.toml").read_bytes()).hexdigest()
    )
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    venv.create(place, with_pip=True, clear=True)
    for packages in alternatives:
        install = [str(python), "-m", "pip", "install", "-q", *packages]
        last = packages is alternatives[-1]
        if subprocess.run(install, check=last, stdout=sys.stderr).returncode == 0:
            break
    stamp.write_text(wanted)
    return python


def report_coverage(python: Path, *, whole_suite: bool) -> int:
    """Print the branch coverage of agent/ and probes/; 1 if that of agent/ is under the floor."""
    coverage = [str(python), "-m", "coverage"]
    subprocess.run([*coverage, "combine", "-q", "--append"], cwd=HERE, check=False)
    floor = [f"--fail-under={AGENT_FLOOR_PERCENT}"] if whole_suite else []
    print("\nbranch coverage of probes/:")
    subprocess.run([*coverage, "report", "--include=probes/*"], cwd=HERE, check=False)
    print("\nbranch coverage of agent/:", flush=True)
    return subprocess.run(
        [*coverage, "report", "--include=agent/*", *floor], cwd=HERE, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
