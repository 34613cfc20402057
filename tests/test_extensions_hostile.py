"""Extensions that crash, hang, lie or were built for something else: each costs its own line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .agent_command import Ran, run_agent
from .extension_packages import UNDEFINED, build_stub, install
from .simulate import has_compiler

pytestmark = pytest.mark.torch
LOAD = "import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), {name!r}))\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


def _run(tmp_path: Path, python: Path, site: Path, *arguments: str) -> Ran:
    return run_agent(
        "--backend", "cpu", "--python", str(python), *arguments,
        cwd=tmp_path, PYTHONPATH=str(site),
    )  # fmt: skip


def _stages(ran: Ran) -> dict[str, dict[str, Any]]:
    return {s["subject"]: s for s in ran.bundle["stages"] if s["name"] == "extensions"}


def _finding(ran: Ran, code: str) -> dict[str, Any]:
    found: dict[str, Any] = next(f for f in ran.bundle["findings"] if f["code"] == code)
    return found


def test_a_package_that_crashes_on_import_costs_only_its_own_line(
    tmp_path: Path, torch_python: Path, site: Path
) -> None:
    install(site, "xformers", "xformers", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    install(site, "flash-attn", "flash_attn", "import os\nos._exit(0)")
    install(site, "apex", "apex", "raise SystemExit('no licence')")
    ran = _run(tmp_path, torch_python, site)
    stages = _stages(ran)
    crashed = stages["ext:xformers"]
    assert (crashed["status"], crashed["signal"]) == ("crashed", "SIGSEGV")
    assert crashed["steps"][-1]["name"] == "import xformers"
    # The build was read before the import, so it is known of a package that crashed, too.
    assert crashed["data"]["build"]["version"] == "1.2.3"
    assert (stages["ext:flash-attn"]["status"], stages["ext:flash-attn"]["exit_code"]) == (
        "crashed",
        0,
    )
    assert (stages["ext:apex"]["status"], stages["ext:apex"]["reason"]) == ("failed", "raised")
    assert stages["ext:torch-attention"]["status"] == "passed"
    assert ran.stage("memory")["status"] == "passed"
    assert ran.stage("matmul")["status"] == "passed"
    assert ran.bundle["verdict"]["status"] == "degraded"
    assert ran.code == 0
    finding = _finding(ran, "extension-crashes")
    assert "xformers" in finding["title"]
    assert "flash-attn" in finding["title"]
    assert finding["severity"] == "degrading"


def test_an_extension_built_for_another_torch_is_named_as_such(
    tmp_path: Path, torch_python: Path, site: Path
) -> None:
    if not has_compiler():
        pytest.skip("gcc is not installed")
    source = LOAD.format(name="flash_attn_2_cuda.so")
    version = "2.6.3+cu12torch2.4cxx11abiFALSE"
    folder = install(site, "flash-attn", "flash_attn", source, version)
    build_stub(folder, "flash_attn_2_cuda", symbol=UNDEFINED)
    folder = install(site, "causal-conv1d", "causal_conv1d", LOAD.format(name="conv.so"))
    build_stub(folder, "conv", needs="libcudart.so.11.0")
    ran = _run(tmp_path, torch_python, site, "--only", "extensions")
    flash = _stages(ran)["ext:flash-attn"]
    assert (flash["status"], flash["reason"]) == ("failed", "does-not-load")
    why = flash["data"]["load_error"]
    assert (why["kind"], why["symbol"], why["of"]) == ("symbol", UNDEFINED, "torch")
    assert why["abi"] == "new"
    assert why["built_for"]["torch"] == "2.4"
    assert why["built_for"]["cuda"] == "12"
    assert UNDEFINED in flash["error"]["text"]
    conv = _stages(ran)["ext:causal-conv1d"]
    assert conv["data"]["load_error"]["library"] == "libcudart.so.11.0"
    assert "ext-wheel-built-for-other-torch" in ran.codes
    assert all(f["severity"] != "blocking" for f in ran.bundle["findings"])


KEPT = """
class E(Exception):
    def __str__(self):
        return (
            "xFormers can't load C++/CUDA extensions. xFormers was built for:\\n"
            "    PyTorch 2.8.0+cu128 with CUDA 1208 (you have 2.13.0+cpu)\\n"
            "    Python  3.10.18 (you have 3.11.7)"
        )
_cpp_library_load_exception = E()
"""


def test_a_package_that_keeps_its_load_error_for_later_does_not_pass(
    tmp_path: Path, torch_python: Path, site: Path
) -> None:
    folder = install(site, "xformers", "xformers", "from . import _cpp_lib")
    (folder / "_cpp_lib.py").write_text(KEPT)
    (folder / "cpp_lib.json").write_text('{"version": {"cuda": 1208, "torch": "2.8.0+cu128"}}')
    ran = _run(tmp_path, torch_python, site, "--only", "extensions")
    stage = _stages(ran)["ext:xformers"]
    assert (stage["status"], stage["reason"]) == ("failed", "does-not-load")
    assert stage["data"]["build"]["built_for"]["torch"] == "2.8.0+cu128"
    assert "ext-wheel-built-for-other-torch" in ran.codes, ran.bundle["findings"]


def test_what_the_user_names_blocks(tmp_path: Path, torch_python: Path, site: Path) -> None:
    install(site, "xformers", "xformers", "raise ImportError('built for torch 2.1')")
    ran = _run(tmp_path, torch_python, site, "--depth", "quick", "--extension", "xformers")
    stage = _stages(ran)["ext:xformers"]
    assert list(_stages(ran)) == ["ext:xformers"]
    assert stage["data"]["named"] is True
    finding = _finding(ran, "extension-does-not-load")
    assert finding["severity"] == "blocking"
    assert "built for torch 2.1" in finding["cause"]
    assert ran.bundle["verdict"]["status"] == "blocked"
    assert ran.code == 1


MINE = """
import numpy
def right(): return 3
def wrong(): return False
def numpy_wrong(): return numpy.bool_(False)
def nothing(): pass
def raises(): raise ValueError("kernel of mine")
class inner:
    @staticmethod
    def right(): return True
value = 5
"""
CALLED = (
    ("right", "passed", None, None),
    ("nothing", "passed", None, None),
    ("inner.right", "passed", None, None),
    ("wrong", "failed", "wrong-result", "mine:wrong returned False"),
    ("numpy_wrong", "failed", "wrong-result", "returned False"),
    ("raises", "failed", "raised", "kernel of mine"),
    ("absent", "failed", "raised", "has no attribute 'absent'"),
    ("value", "failed", "raised", "not callable"),
)


@pytest.mark.parametrize(("name", "status", "reason", "text"), CALLED, ids=[c[0] for c in CALLED])
def test_the_users_own_check(
    tmp_path: Path, torch_python: Path, name: str, status: str, reason: str | None, text: str | None
) -> None:
    # Beside the user, as a script of his would find it; nothing says so in PYTHONPATH.
    (tmp_path / "mine.py").write_text(MINE)
    ran = run_agent(
        "--backend", "cpu", "--python", str(torch_python), "--only", "extensions",
        "--depth", "quick", "--extension", f"mine:{name}", cwd=tmp_path,
    )  # fmt: skip
    stage = _stages(ran)["ext:mine"]
    assert (stage["status"], stage.get("reason")) == (status, reason)
    if text is not None:
        assert text in stage["error"]["text"]
        assert ran.bundle["verdict"]["status"] == "blocked"


def test_a_module_that_is_not_there(tmp_path: Path, torch_python: Path) -> None:
    ran = run_agent(
        "--backend", "cpu", "--python", str(torch_python), "--depth", "quick",
        "--extension", "no_such_kernels", cwd=tmp_path,
    )  # fmt: skip
    stage = _stages(ran)["ext:no_such_kernels"]
    assert (stage["status"], stage["reason"]) == ("failed", "not-installed")
    assert "extension-not-installed" in ran.codes


def test_a_hanging_extension_ends_with_its_time_and_its_step(
    tmp_path: Path, torch_python: Path
) -> None:
    (tmp_path / "slow.py").write_text("import time\ndef go(): time.sleep(600)")
    ran = run_agent(
        "--backend", "cpu", "--python", str(torch_python), "--depth", "quick",
        "--extension", "slow:go", "--timeout", "12", cwd=tmp_path,
    )  # fmt: skip
    stage = _stages(ran)["ext:slow"]
    assert stage["status"] == "timed_out"
    assert stage["steps"][-1]["name"] == "call slow:go"
    assert ran.stage("matmul")["status"] == "passed"
