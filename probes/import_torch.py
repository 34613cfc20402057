"""Does torch load, how was it built, and which libraries did it map?"""

from __future__ import annotations

import os
import select
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

from . import libraries
from .libraries import Library
from .report import Report

FORK_SECONDS = 5.0


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage ``import``: imports torch and describes the build without touching a device."""
    report.step("import torch")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            import torch
        except BaseException as error:
            # What did get mapped shows which copy of a library the loader had taken.
            report.data(libraries=_torch_libraries(), warnings=texts(warned))
            report.result("failed", why_not(error), error)
            return
    report.step("read how torch was built")
    where = getattr(torch, "__file__", None)
    report.data(path=where or [str(path) for path in getattr(torch, "__path__", ())])
    report.data(**describe_build(torch))
    report.step("read the mapped libraries")
    found = libraries.mapped_libraries()
    report.data(libraries=found, duplicates=libraries.duplicates(found), warnings=texts(warned))
    state["torch"] = torch
    report.result("passed")


def again(report: Report, state: dict[str, Any]) -> Any:
    """The torch of this process; imported now if an earlier process did the stage ``import``."""
    if "torch" not in sys.modules:
        report.step("import torch (again)")
    import torch

    state["torch"] = torch
    return torch


def why_not(error: BaseException) -> str:
    """The reason for a failed import: torch is absent, does not load, or raised of itself."""
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return "not-installed"
    if isinstance(error, (ImportError, OSError)):
        return "does-not-load"
    return "raised"


def built_for(torch: Any) -> str:
    """The back end that this torch was built for: cuda, rocm or cpu."""
    if getattr(torch.version, "hip", None):
        return "rocm"
    return "cuda" if getattr(torch.version, "cuda", None) else "cpu"


def backend_of(torch: Any, asked: str) -> str:
    """The back end to climb: the one asked for, else the one that torch was built for."""
    return built_for(torch) if asked == "auto" else asked


def describe_build(torch: Any) -> dict[str, Any]:
    """What torch says about its build; nothing here needs a driver or starts one."""
    version = torch.version
    return {
        "version": str(torch.__version__),
        "git": getattr(version, "git_version", None),
        "debug": getattr(version, "debug", None),
        "cuda": getattr(version, "cuda", None),
        "hip": getattr(version, "hip", None),
        "built_for": built_for(torch),
        "cxx11_abi": _ask(lambda: bool(torch._C._GLIBCXX_USE_CXX11_ABI)),
        "architectures": _architectures(torch),
        "cudnn": _ask(lambda: _cudnn(torch)),
        "nccl": _ask(lambda: _nccl(torch)),
        "threads": _ask(torch.get_num_threads),
        "blas": _ask(lambda: blas_of_the_host(torch)),
    }


def texts(warned: Any) -> list[str]:
    """The texts of caught warnings, ten at most."""
    return ["%s: %s" % (w.category.__name__, str(w.message)[:1000]) for w in warned[:10]]


def blas_of_the_host(torch: Any) -> str | None:
    """The library that multiplies matrices on the CPU, as torch was built: mkl, open, ..."""
    shown: str = torch.__config__.show()
    if "BLAS_INFO=" in shown:
        return shown.split("BLAS_INFO=", 1)[1].split(",", 1)[0].strip().lower()
    return None


def _ask(question: Callable[[], Any]) -> Any:
    """The answer, or None where this torch has no such name or the build lacks the part."""
    try:
        return question()
    except Exception:
        return None


def _architectures(torch: Any) -> list[str]:
    # torch.cuda.get_arch_list() answers [] until a driver is there; the flags are in the binary.
    flags = getattr(torch._C, "_cuda_getArchFlags", None)
    return _in_a_fork(lambda: flags() or "").split() if flags else []


def _in_a_fork(ask: Callable[[], str]) -> str:
    """The answer, asked in a child: this call makes torch refuse the device to later forks."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, ask().encode("utf-8")[:4096])
        finally:
            os._exit(0)
    os.close(writer)
    said = b""
    if select.select([reader], [], [], FORK_SECONDS)[0]:
        said = os.read(reader, 4096)
    os.close(reader)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return said.decode("utf-8", "replace")


def _cudnn(torch: Any) -> str | None:
    # Not torch.backends.cudnn.version(): that asks is_available(), which wakes the driver, and a
    # process that has woken it must not be forked.
    number = torch._C._cudnn.getVersionInt() if hasattr(torch._C, "_cudnn") else None
    if not number:
        return None
    if getattr(torch.version, "hip", None):
        return str(number)  # MIOpen's own numbering
    # Since cuDNN 9 the major version counts 10000, before that 1000.
    unit = 10000 if number >= 90000 else 1000
    return "%d.%d.%d" % (number // unit, number % unit // 100, number % 100)


def _nccl(torch: Any) -> str:
    version = torch.cuda.nccl.version()
    if isinstance(version, tuple):
        return ".".join(str(part) for part in version)
    return str(version)


def _torch_libraries() -> list[Library]:
    return [
        library
        for library in libraries.mapped_libraries()
        if "/torch" in library["path"] or library["package"]
    ]
