"""Where an extension is tried, and what is blamed: without a GPU, by a torch that plays one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .in_target import lines_of, stage_of

pytestmark = pytest.mark.torch

# A torch with three devices of which only the second computes; its tensors stay on the CPU.
CARDS = """
import sys, types, torch
torch.version.cuda = "13.0"
chosen = []
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: {count}
torch.cuda.set_device = chosen.append
ones = torch.ones
def broken(*given, **named):
    if named.pop("device", None) and chosen[-1] != 1:
        raise RuntimeError("CUDA error: uncorrectable ECC error encountered")
    return ones(*given, **named)
torch.ones = broken
from firstlight_probes import worker, extension_table
made = types.ModuleType("apex")
made.__version__ = "1.0"
sys.modules["apex"] = made
operations = types.ModuleType("firstlight_probes.stand_in")
sys.modules["firstlight_probes.stand_in"] = operations
from firstlight_probes.outcome import NotRunError, WrongResultError
def run(place, module):
    {body}
operations.run = run
row = extension_table.Extension("apex", ("apex",), ("apex",), "stand_in:run", {proven}, True)
extension_table.EXTENSIONS += (row,)
extension_table.row = lambda name: row
task = dict(stage="extensions", subject="ext:apex", options=dict(row="apex"))
worker.main(descriptor, dict(tasks=[task], backend="cuda"))
"""


def _tried(python: Path, body: str, proven: tuple[str, ...] = (), count: int = 3) -> dict[str, Any]:
    program = CARDS.replace("{body}", body).replace("{proven}", repr(proven))
    records = lines_of(python, program.replace("{count}", str(count)))
    return stage_of(records, "extensions", "ext:apex")


def test_the_first_device_that_computes_is_used(torch_python: Path) -> None:
    stage = _tried(torch_python, "return {'operation': place.device}", ("cuda",))
    assert stage["status"] == "passed", stage
    assert stage["data"]["operation"] == "cuda:1"
    assert stage["data"]["proven"] is True


def test_no_extension_is_blamed_for_devices_that_do_not_compute(torch_python: Path) -> None:
    stage = _tried(torch_python, "return {}", count=1)
    assert (stage["status"], stage["reason"]) == ("skipped", "needs-stage")
    assert "uncorrectable ECC" in stage["error"]["text"]


# What an operation ends in; the result if it was never proven, and if it was.
ENDS = (
    ("raise TypeError('f() takes 2 arguments')", ("skipped", "unproven"), ("failed", "raised")),
    ("raise WrongResultError('off by 2')", ("skipped", "unproven"), ("failed", "wrong-result")),
    (
        "raise RuntimeError('CUDA error: no kernel image is available for execution')",
        ("failed", "raised"),
        ("failed", "raised"),
    ),
    (
        "raise ImportError('x.so: undefined symbol: _ZN2at4gone')",
        ("failed", "does-not-load"),
        ("failed", "does-not-load"),
    ),
    (
        "raise torch.OutOfMemoryError('CUDA out of memory.')",
        ("failed", "no-memory"),
        ("failed", "no-memory"),
    ),
    ("raise NotRunError('not-asked', 'why')", ("skipped", "not-asked"), ("skipped", "not-asked")),
)


@pytest.mark.parametrize(("body", "unproven", "proven"), ENDS, ids=[e[0][6:30] for e in ENDS])
def test_what_is_blamed(
    torch_python: Path, body: str, unproven: tuple[str, str], proven: tuple[str, str]
) -> None:
    first = _tried(torch_python, body)
    assert (first["status"], first["reason"]) == unproven
    assert first["data"]["proven"] is False
    assert first["steps"][-1] == "compute (not yet proven on cuda)"
    again = _tried(torch_python, body, ("cuda",))
    assert (again["status"], again["reason"]) == proven
    assert again["error"]["text"]
