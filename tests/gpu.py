"""Runs everything that needs a GPU, in under ten minutes, and leaves figures and a bundle.

    python3 tests/gpu.py [--python PYTHON] [--output FOLDER]

For the owner of a machine with a GPU. PYTHON is an interpreter whose torch can use it; without
one, FIRSTLIGHT_TORCH_PYTHON, else the python3 on PATH. FOLDER (build/gpu) receives ``bundle.json``
(a deep run), ``tests.xml``, and ``figures.md``, which is printed, too. Exit code 0: all tests
passed and the run was ready.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.run import HERE, make_environment

# Together under ten minutes; making the environment is not counted.
DEEP_SECONDS = 280
TESTS_SECONDS = 300
LAW = "import torch; raise SystemExit(0 if torch.cuda.is_available() else 'torch sees no GPU')"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    named = os.environ.get("FIRSTLIGHT_TORCH_PYTHON", "python3")
    parser.add_argument("--python", default=named, help="an interpreter whose torch uses the GPU")
    parser.add_argument("--output", type=Path, default=HERE / "build" / "gpu")
    given = parser.parse_args()
    if subprocess.run([given.python, "-c", LAW], check=False).returncode != 0:
        sys.stderr.write(f"{given.python} has no torch that sees a GPU; name another: --python\n")
        return 2
    given.output.mkdir(parents=True, exist_ok=True)
    own = make_environment("venv", ["-e", f"{HERE}[test]"])
    began = time.monotonic()
    ready = deep_run(own, given.python, given.output)
    passed = gpu_tests(own, given.python, given.output)
    seconds = time.monotonic() - began
    bundle = given.output / "bundle.json"
    lines = list(figures(json.loads(bundle.read_bytes()))) if bundle.exists() else []
    lines += [
        f"tests: {'passed' if passed else 'FAILED, see above'}",
        f"all of it: {seconds:.0f} s",
    ]
    (given.output / "figures.md").write_text("\n".join(f"- {line}" for line in lines) + "\n")
    sys.stdout.write("\n".join(["", *lines, f"written to {given.output}", ""]))
    return 0 if ready and passed else 1


def deep_run(own: Path, python: str, output: Path) -> bool:
    """Climb the whole ladder; True if the verdict is ready."""
    (output / "bundle.json").unlink(missing_ok=True)
    command = [str(own), "-m", "agent", "run", "--depth", "deep", "--strict", "--python", python]
    command += ["--timeout", str(DEEP_SECONDS), "-o", str(output / "bundle.json")]
    return subprocess.run(command, cwd=HERE, check=False).returncode == 0


def gpu_tests(own: Path, python: str, output: Path) -> bool:
    """Run every test that is marked ``gpu``; True if all passed in their time."""
    command = [str(own), "-m", "pytest", "-m", "gpu", "-q", "-rs", "--durations=10"]
    command += [f"--junitxml={output / 'tests.xml'}"]
    environ = {**os.environ, "FIRSTLIGHT_TORCH_PYTHON": python}
    try:
        done = subprocess.run(command, cwd=HERE, env=environ, timeout=TESTS_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"the tests did not end within {TESTS_SECONDS} s\n")
        return False
    return done.returncode == 0


# ---------------------------------------------------------------- figures
def figures(bundle: Mapping[str, Any]) -> Iterator[str]:
    """What the bundle measured, a line each."""
    verdict = bundle["verdict"]
    yield f"verdict: {verdict['status']}, reached {verdict['stage_reached']}"
    for device in bundle["facts"].get("devices", []):
        yield f"{device['id']}: {device.get('name')}, {device.get('architecture')}"
    for stage in bundle["stages"]:
        label = f"{stage['name']} {stage['subject']}"
        reason = f" ({stage['reason']})" if stage.get("reason") else ""
        yield f"{label}: {stage['status']}{reason}, {stage['seconds']:.1f} s"
        yield from (f"{label}: {text}" for text in measured(stage["name"], stage.get("data", {})))


def measured(name: str, data: Mapping[str, Any]) -> Iterator[str]:
    """The figures of one stage."""
    if name == "matmul":
        for row in data.get("dtypes", []):
            if "tflops" in row:
                yield f"{row['dtype']} {row['tflops']:.1f} TFLOPS at n = {row['n']}"
    elif name == "memory":
        if "sweep" in data:
            yield f"{data['sweep']['tested_bytes'] / 1e9:.1f} GB written and read"
        for rate, value in data.get("bandwidth", {}).items():
            yield f"{rate.replace('_bytes_per_second', '')} {value / 1e9:.1f} GB/s"
        peak = data.get("step", {}).get("allocated_peak_bytes")
        if peak is not None:
            yield f"training step: {peak / 1e6:.0f} MB at most in torch's allocator"
    elif name == "extensions" and "operation" in data:
        yield f"{data['operation']} on {data.get('device')}" + (
            "" if data["proven"] else ", not proven before"
        )


if __name__ == "__main__":
    sys.exit(main())
