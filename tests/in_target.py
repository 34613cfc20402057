"""Runs probes in an interpreter under test, from their files, and reads what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
# Branch coverage of probes/ is taken where the target has the package and this run measures.
START = """
import importlib.util, json, os, sys
repository, descriptor, measure = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "yes"
place = os.path.join(repository, "probes")
meter = None
if measure and importlib.util.find_spec("coverage"):
    import coverage
    meter = coverage.Coverage(os.path.join(repository, ".coverage"), data_suffix=True, branch=True,
                              source=[place], config_file=False)
    meter.start()
spec = importlib.util.spec_from_file_location(
    "firstlight_probes", os.path.join(place, "__init__.py"), submodule_search_locations=[place])
package = importlib.util.module_from_spec(spec)
sys.modules["firstlight_probes"] = package
spec.loader.exec_module(package)
sys.argv[:] = ["-c"]
try:
    exec(sys.stdin.read())
finally:
    if meter:
        meter.stop()
        meter.save()
"""
RUN_PLAN = """
from firstlight_probes import worker
worker.main(descriptor, json.loads(os.environ["PLAN"]))
"""


def lines_of(
    python: str | Path, program: str, environ: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """What a program wrote to ``descriptor``, one JSON object a line; it must end well."""
    reader, writer = os.pipe()
    measure = "yes" if "coverage" in sys.modules else "no"
    argv = [str(python), "-B", "-X", "faulthandler", "-c", START]
    process = subprocess.Popen(
        [*argv, str(REPOSITORY), str(writer), measure],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writer],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", **(environ or {})},
    )
    os.close(writer)
    assert process.stdin is not None
    process.stdin.write(program.encode())
    process.stdin.close()
    with os.fdopen(reader) as channel:
        lines = [json.loads(line, parse_constant=_refuse) for line in channel]
    assert process.stdout is not None
    noise = process.stdout.read().decode(errors="replace")
    process.stdout.close()
    assert process.wait() == 0, noise
    return lines


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def run_plan(
    python: str | Path,
    *stages: str,
    backend: str = "auto",
    environ: Mapping[str, str] | None = None,
    before: str = "",
) -> list[dict[str, Any]]:
    """The records of a plan of these stages; ``before`` is code that the target runs first."""
    plan = {"tasks": [{"stage": stage} for stage in stages], "backend": backend, "depth": "quick"}
    asked = {**(environ or {}), "PLAN": json.dumps(plan)}
    return lines_of(python, before + RUN_PLAN, asked)


def ask(python: str | Path, program: str, environ: Mapping[str, str] | None = None) -> Any:
    """The object that a program passed to ``answer``; ``torch`` and the probes' names are there."""
    start = """
import torch
torch.set_num_threads(1)  # tests run side by side; threads that wait for each other are slow
from firstlight_probes import formats, precision, products
def answer(value):
    os.write(descriptor, json.dumps(value).encode() + b"\\n")
"""
    [value] = lines_of(python, start + program, environ)
    return value


def stage_of(records: list[dict[str, Any]], name: str, subject: str = "host") -> dict[str, Any]:
    """A stage's result, with all its data merged as the agent does, and its steps' names."""
    own = [r for r in records if (r.get("stage"), r.get("subject")) == (name, subject)]
    assert own[0]["record"] == "stage"
    assert own[-1]["record"] == "result"
    data: dict[str, Any] = {}
    for record in own:
        data.update(record.get("data", {}))
    steps = [record["name"] for record in own if record["record"] == "step"]
    return {**own[-1], "data": data, "steps": steps}
