"""The rungs above ``matmul`` on a real GPU, and a command measured there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .agent_command import Ran, run_agent
from .in_target import lines_of

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
GIB = 1 << 30


@pytest.fixture(scope="module")
def ran(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One ordinary run."""
    return run_agent("--python", str(torch_python), cwd=tmp_path_factory.mktemp("gpu"), timeout=240)


def _stages(ran: Ran, name: str) -> dict[str, dict[str, Any]]:
    return {s["subject"]: s for s in ran.bundle["stages"] if s["name"] == name}


def test_stages_ran_in_forks(ran: Ran) -> None:
    assert not [gap for gap in ran.bundle["gaps"] if gap["said_by"] == "fork"]


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("toolchain", "no-toolchain"),
        ("nvrtc", "not-installed"),
        ("triton", "not-installed"),
        ("torch-attention", "not-in-this-torch"),
        ("torch-conv-fft-solve", None),
    ],
)
def test_what_all_torch_has_computes_on_the_device(ran: Ran, name: str, absent: str | None) -> None:
    stage = _stages(ran, "extensions")[f"ext:{name}"]
    if stage["status"] == "skipped":
        assert stage["reason"] == absent, stage
        return
    assert stage["status"] == "passed", stage
    assert stage["data"]["device"] != "cpu"


def test_several_attention_back_ends_are_right(ran: Ran) -> None:
    rows = _stages(ran, "extensions")["ext:torch-attention"]["data"]["back_ends"]
    right = {row["back_end"] for row in rows if "largest_difference" in row and "wrong" not in row}
    assert "MATH" in right
    assert len(right) >= 2, rows


def test_installed_extensions_end_in_a_known_way(ran: Ran) -> None:
    for subject, stage in _stages(ran, "extensions").items():
        assert stage["status"] in ("passed", "skipped"), (subject, stage)


def test_the_memory_of_every_device(ran: Ran) -> None:
    stages = _stages(ran, "memory")
    assert stages
    for subject, stage in stages.items():
        assert subject.startswith("gpu:")
        if stage.get("reason") == "device-busy":
            continue
        assert stage["status"] == "passed", stage
        data = stage["data"]
        assert data["kind"] == "device memory"
        if not data["integrated"]:
            assert data["sweep"]["tested_bytes"] >= 0.4 * data["free_bytes"]
        rates = data["bandwidth"]
        assert rates["device_copy_bytes_per_second"] > 50e9
        assert rates["host_to_device_pinned_bytes_per_second"] > 1e9
        step = data["step"]
        parts = ("parameters_bytes", "gradients_bytes", "optimizer_bytes")
        assert step["allocated_peak_bytes"] >= sum(step[part] for part in parts)
        assert step["reserved_peak_bytes"] >= step["allocated_peak_bytes"]
        phases = {phase["phase"]: phase for phase in step["phases"]}
        forward = phases["forward"]["allocated_bytes"] - phases["model"]["allocated_bytes"]
        assert forward >= step["activations_bytes"] * 0.9
        assert step["learns"]


def test_shared_cells_on_a_device_are_found(torch_python: Path) -> None:
    program = """
import torch
from firstlight_probes import sweep
whole = torch.zeros(1 << 20, dtype=torch.int32, device="cuda")
half = 1 << 19
blocks = [whole.as_strided((half,), (1,), place) for place in (0, half, 0, half)]
found = []
for tried in (blocks[:2], blocks):
    found.append(len(sweep.check(torch, tried, sweep.pattern(torch, half, "cuda"), passes=2)))
os.write(descriptor, json.dumps(found).encode() + b"\\n")
"""
    found: list[Any] = lines_of(torch_python, program)
    [[sound, shared]] = found
    assert (sound, shared > 0) == (0, True)


def _measured(tmp_path: Path, python: Path, program: str) -> dict[str, Any]:
    ran = run_agent("measure", "--", str(python), "-c", program, cwd=tmp_path)
    return ran.stage("workload")


def test_the_allocators_peak_of_a_command(tmp_path: Path, torch_python: Path) -> None:
    program = "import torch, time; x = torch.ones(1 << 28, device='cuda'); time.sleep(2)"
    stage = _measured(tmp_path, torch_python, program)
    assert stage["status"] == "passed"
    [row] = stage["data"]["allocator"]
    assert row["allocated_peak_bytes"] == GIB
    used = [gpu["used_peak_bytes"] - gpu["used_at_start_bytes"] for gpu in stage["data"]["gpus"]]
    assert not used or max(used) >= GIB


def test_a_command_that_wants_more_memory_than_there_is(tmp_path: Path, torch_python: Path) -> None:
    program = "import torch; torch.empty(1 << 45, dtype=torch.uint8, device='cuda')"
    stage = _measured(tmp_path, torch_python, program)
    assert stage["data"]["ended"]["by"] == "gpu-out-of-memory"
    assert stage["data"]["out_of_memory"]["asked_bytes"] >= 1 << 44
