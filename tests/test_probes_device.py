"""The device stage where there is no GPU: the true error is kept, and a CPU passes if asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .in_target import run_plan, stage_of
from .simulate import environment, simulate

STAGES = ("import", "device", "matmul")


@pytest.mark.torch
def test_cpu_that_was_asked_for(torch_python: Path) -> None:
    records = run_plan(torch_python, "import", "device", backend="cpu")
    stage = stage_of(records, "device")
    assert stage["status"] == "passed"
    assert stage["data"]["backend"] == "cpu"
    [device] = stage["data"]["devices"]
    assert device["processors"] == len(os.sched_getaffinity(0))


@pytest.mark.torch
@pytest.mark.parametrize("backend", ["auto", "cuda", "rocm"])
def test_cpu_build_has_no_gpu_to_open(torch_python: Path, backend: str) -> None:
    records = run_plan(torch_python, *STAGES, backend=backend)
    stage = stage_of(records, "device")
    assert (stage["status"], stage["reason"]) == ("failed", "not-in-this-torch")
    assert stage["error"] == {
        "type": "AssertionError",
        "text": "Torch not compiled with CUDA enabled",
    }
    assert stage["data"]["built_for"] == "cpu"
    assert stage["data"]["torch_count"] == 0
    assert stage["data"]["backend"] == (None if backend == "auto" else backend)
    assert stage_of(records, "matmul")["reason"] == "needs-stage"


@pytest.mark.torch
def test_cuda_build_without_a_driver(torch_cuda_python: Path) -> None:
    records = run_plan(torch_cuda_python, *STAGES)
    stage = stage_of(records, "device")
    assert (stage["status"], stage["reason"]) == ("failed", "raised")
    assert stage["error"]["type"] == "RuntimeError"
    assert stage["error"]["text"].startswith("Found no NVIDIA driver on your system.")
    assert stage["data"]["backend"] == "cuda"
    assert stage["steps"] == ["torch.cuda.init", "torch.cuda.device_count"]
    assert not [record for record in records if record["record"] == "simulated"]


@pytest.mark.torch
def test_cuda_build_where_rocm_was_asked_for(torch_cuda_python: Path) -> None:
    stage = stage_of(run_plan(torch_cuda_python, *STAGES, backend="rocm"), "device")
    assert (stage["status"], stage["reason"]) == ("failed", "not-in-this-torch")


@pytest.mark.torch
def test_nvml_counts_what_torch_cannot_start(
    tmp_path: Path, stand_ins: Path, torch_cuda_python: Path
) -> None:
    machine = simulate("h100-sxm", tmp_path / "machine", stand_ins)
    machine.say(**{"cuda.init": 802, "cuda.driver_version": 13000})
    records = run_plan(torch_cuda_python, *STAGES, environ=environment(machine))
    stage = stage_of(records, "device")
    assert "Error 802: system not yet initialized" in stage["error"]["text"]
    assert stage["data"]["torch_count"] >= 1
    assert [record for record in records if record["record"] == "simulated"]


@pytest.mark.torch
def test_a_device_stage_alone_imports_torch_and_says_so(torch_python: Path) -> None:
    stage = stage_of(run_plan(torch_python, "device", backend="cpu"), "device")
    assert stage["status"] == "passed"
    assert stage["steps"][0] == "import torch (again)"
