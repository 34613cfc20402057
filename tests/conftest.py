"""What many tests share: the interpreters with torch, and skips that CI does not allow."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run: whoever looks for new ones says --hypothesis-profile=default.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


def _interpreter(variable: str) -> Path:
    named = os.environ.get(variable)
    if not named:
        pytest.skip(f"{variable} names no interpreter")
    return Path(named)


@pytest.fixture(scope="session")
def torch_python() -> Path:
    """The interpreter of an environment with a CPU build of torch."""
    return _interpreter("FIRSTLIGHT_TORCH_PYTHON")


@pytest.fixture(scope="session")
def torch_cuda_python() -> Path:
    """The interpreter of an environment with a CUDA build of torch."""
    return _interpreter("FIRSTLIGHT_TORCH_CUDA_PYTHON")


@pytest.fixture(scope="session")
def extensions_python() -> Path:
    """The interpreter of an environment with a CPU build of torch and packages beside it.

    bitsandbytes, jax, numba, onnxruntime, torchao, triton, and PyPI's torchvision, which is for
    another back end.
    """
    return _interpreter("FIRSTLIGHT_EXTENSIONS_PYTHON")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """Turn a skip into a failure where FIRSTLIGHT_NO_SKIPS is set; a GPU may still be missing."""
    outcome = yield
    report = outcome.get_result()
    allowed = not os.environ.get("FIRSTLIGHT_NO_SKIPS") or item.get_closest_marker("gpu")
    if report.skipped and not hasattr(report, "wasxfail") and not allowed:
        report.outcome = "failed"
        report.longrepr = f"skipped, which is not allowed here: {report.longrepr}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests for a GPU out unless they were asked for with ``-m gpu``."""
    if "gpu" in (config.getoption("-m") or ""):
        return
    reason = pytest.mark.skip(reason="needs a GPU: run pytest -m gpu on a machine that has one")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(reason)


@pytest.fixture(scope="session")
def agent_python() -> str:
    """The interpreter that runs the agent in tests: the one that runs them."""
    return sys.executable


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled stand-in vendor libraries, built once for all test processes."""
    from .simulate import build_stand_ins, has_compiler

    if not has_compiler():
        pytest.skip("gcc is not installed, so the stand-in vendor libraries cannot be built")
    base = tmp_path_factory.getbasetemp()
    return build_stand_ins(base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base)
