"""Real packages: what computes on a CPU does so, what does not fit is named, and in time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .agent_command import Ran, run_agent

Stages = Mapping[str, dict[str, Any]]
VISION = "torchvision==0.29.1"  # pairs with torch 2.14.1
SECONDS = 30.0
# The claim is for two cores of one's own; a machine that does other work takes a multiple.
PATIENCE = 4


def _stages(ran: Ran) -> dict[str, dict[str, Any]]:
    return {s["subject"]: s for s in ran.bundle["stages"] if s["name"] == "extensions"}


@pytest.fixture(scope="module")
def whole_run(
    extensions_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Ran, float]:
    """One ordinary run over an environment full of extensions, and what it took."""
    began = time.monotonic()
    ran = run_agent(
        "--backend", "cpu", "--python", str(extensions_python),
        cwd=tmp_path_factory.mktemp("packages"), timeout=300,
    )  # fmt: skip
    return ran, time.monotonic() - began


@pytest.fixture(scope="module")
def stages(whole_run: tuple[Ran, float]) -> Stages:
    return _stages(whole_run[0])


@pytest.mark.parametrize("name", ["torchao", "bitsandbytes", "onnxruntime", "numba", "jax"])
def test_what_can_compute_on_a_cpu_does(stages: Stages, name: str) -> None:
    stage = stages[f"ext:{name}"]
    assert stage["status"] == "passed", stage
    data = stage["data"]
    assert data["imported"] is True
    assert data["proven"] is True
    assert data["operation"]
    assert data["build"]["version"] == data["module_version"]


def test_torchs_own_against_their_definitions(stages: Stages) -> None:
    attention = stages["ext:torch-attention"]
    assert attention["status"] == "passed"
    tried = [row for row in attention["data"]["back_ends"] if "largest_difference" in row]
    assert {("MATH", "float32"), ("FLASH_ATTENTION", "float32")} <= {
        (row["back_end"], row["dtype"]) for row in tried
    }
    own = stages["ext:torch-conv-fft-solve"]["data"]["largest_differences"]
    assert all(0 < difference < 1e-5 for difference in own.values())


def test_triton_compiles_for_both_vendors_without_a_device(stages: Stages) -> None:
    stage = stages["ext:triton"]
    assert (stage["status"], stage["reason"]) == ("skipped", "compiles-not-run")
    made = {row["architecture"]: row for row in stage["data"]["compiled"]}
    assert made["sm_90"]["cubin_bytes"] > 1000
    assert made["gfx942"]["hsaco_bytes"] > 1000


def test_a_torchvision_for_another_torch_is_named(whole_run: tuple[Ran, float]) -> None:
    """PyPI's wheel beside a CPU build of torch: the right release, for another back end."""
    ran = whole_run[0]
    stage = _stages(ran)["ext:torchvision"]
    assert (stage["status"], stage["reason"]) == ("failed", "does-not-load")
    assert stage["error"]["text"] == "operator torchvision::nms does not exist"
    # What torchvision swallowed: the loader's own words.
    refused = {row["file"]: row["text"] for row in stage["data"]["load_error"]["refused"]}
    assert "libc10_cuda.so: cannot open shared object file" in refused["_C.so"]
    assert stage["data"]["build"]["built_for"]["cuda"] == "13"
    assert "sm_90" in stage["data"]["build"]["architectures"]
    [finding] = [f for f in ran.bundle["findings"] if f["code"] == "torch-family-backend-mismatch"]
    assert finding["severity"] == "degrading"  # nobody asked for torchvision
    assert ran.bundle["verdict"]["status"] == "degraded"
    assert ran.bundle["verdict"]["stage_reached"] == "memory"


def test_a_named_torchvision_that_does_not_fit_blocks(
    extensions_python: Path, tmp_path: Path
) -> None:
    ran = run_agent(
        "--backend", "cpu", "--python", str(extensions_python), "--depth", "quick",
        "--extension", "torchvision", cwd=tmp_path,
    )  # fmt: skip
    assert list(_stages(ran)) == ["ext:torchvision"]
    assert ran.bundle["verdict"]["status"] == "blocked"


def test_a_whole_run_ends_in_its_time(whole_run: tuple[Ran, float]) -> None:
    ran, seconds = whole_run
    assert seconds < SECONDS * PATIENCE
    assert "about" in ran.err  # the time to come is told before the deeper stages


@pytest.mark.torch
def test_torchvision_that_fits_computes(torch_cuda_python: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [torch_cuda_python, "-m", "pip", "install", "-q", "--no-deps", "--target", site, VISION,
         "pillow"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"{VISION} cannot be installed here: {done.stderr[-300:]}")
    ran = run_agent(
        "--backend", "cpu", "--python", str(torch_cuda_python), "--only", "extensions",
        cwd=tmp_path, PYTHONPATH=str(site),
    )  # fmt: skip
    stage = _stages(ran)["ext:torchvision"]
    assert stage["status"] == "passed", stage
    assert 0 < stage["data"]["boxes_kept"] < 64
    assert stage["data"]["build"]["built_for"]["cuda"].startswith("13")


@pytest.mark.torch
def test_toolchain_and_runtime_compiler_of_a_cuda_build(
    torch_cuda_python: Path, tmp_path: Path
) -> None:
    ran = run_agent("--python", str(torch_cuda_python), "--only", "extensions", cwd=tmp_path)
    stages = _stages(ran)
    nvrtc = stages["ext:nvrtc"]
    assert nvrtc["reason"] == "compiles-not-run", nvrtc
    [row] = [r for r in nvrtc["data"]["compiled"] if r["architecture"] == "sm_90"]
    assert "libnvrtc.so" in row["library"]
    toolchain = stages["ext:toolchain"]
    if toolchain["data"]["nvcc"] is None:
        assert toolchain["reason"] == "no-toolchain"
        return
    assert toolchain["reason"] == "compiles-not-run", toolchain
    assert toolchain["data"]["compiled"][0]["bytes"] > 1000
    assert toolchain["data"]["host_compilers_accepted"]["gcc"] >= 11


@pytest.mark.slow
@pytest.mark.torch
def test_deep_builds_an_operator_in_cpp_and_compiles_a_function(
    torch_python: Path, tmp_path: Path
) -> None:
    ran = run_agent(
        "--backend", "cpu", "--python", str(torch_python), "--only", "extensions",
        "--depth", "deep", cwd=tmp_path, timeout=500,
    )  # fmt: skip
    stages = _stages(ran)
    built = stages["ext:cpp-extension"]
    assert built["status"] == "passed" or built["reason"] == "no-toolchain", built
    assert stages["ext:torch-compile"]["status"] == "passed", stages["ext:torch-compile"]
