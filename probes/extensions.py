"""Does an extension load, and does its smallest real operation compute what plain torch does?

One task is one extension: a line of ``extension_table``, or a module that the user named.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import time
import warnings
from typing import Any

from . import extension_build, extension_table, import_torch, load_error
from .extension_table import Extension
from .outcome import NotRunError, Place, WrongResultError
from .report import Report

LIBRARIES_MAX = 12
# Where a package keeps the error of its libraries, with which its import goes on.
KEPT_ERRORS = (("xformers._cpp_lib", "_cpp_library_load_exception"),)


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage ``extensions`` for one subject; ``options`` name the line and what was installed."""
    row = extension_table.row(options.get("row", ""))
    report.data(named=bool(options.get("named")))
    if row is None:
        row = Extension(options["module"], (), (options["module"],))
    try:
        place = place_of(report, row, options, state)
    except NotRunError as error:
        say_not_run(report, error.reason, str(error))
        return
    report.data(device=place.device)
    module = None
    if row.modules:
        module = load(place, row)
        if module is None:
            return
    ended = not row.operation or operate(place, row, module)
    if ended and (not options.get("callable") or call(place, module)):
        report.result("passed")


def place_of(
    report: Report, row: Extension, options: dict[str, Any], state: dict[str, Any]
) -> Place:
    """Where the operation is to be tried; torch is imported here if the extension is on it."""
    backend = state["backend"]
    if not row.on_torch:
        # The driver's answer counts: ``gpu`` where it listed a device and one is wanted.
        device = "gpu" if backend != "cpu" and options.get("devices") else "cpu"
        if backend == "auto":
            backend = options.get("gpu_backend", "cuda")
        return Place(report, None, device, backend, options)
    torch = import_torch.again(report, state)
    backend = import_torch.backend_of(torch, backend)
    device = "cpu"
    if backend != "cpu":
        report.step("torch.cuda.is_available")
        device = first_device(report, torch) if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    return Place(report, torch, device, backend, options)


def first_device(report: Report, torch: Any) -> str:
    """The first device on which torch itself computes; an extension is not to blame for another.

    Raises NotRunError where there is none.
    """
    said = "torch lists no device"
    for index in range(torch.cuda.device_count()):
        report.step("open device %d" % index)
        try:
            torch.cuda.set_device(index)
            torch.ones(8, device="cuda").sum().item()
        except Exception as error:
            said = str(error).split("\n")[0][:300]
            continue
        return "cuda:%d" % index
    raise NotRunError("needs-stage", "torch itself computes on no device: " + said)


# ---------------------------------------------------------------- loading
def load(place: Place, row: Extension) -> Any:
    """The imported module; None, after the stage's result, where it does not load."""
    report, options = place.report, place.options
    name = row.modules[0]
    report.step("read the files of " + name)
    built = extension_build.describe(options.get("distribution"), name)
    paths = built.pop("libraries")
    report.data(build=built)
    prepare(place, row)
    report.step("import " + name)
    began = time.monotonic()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            module = importlib.import_module(name)
            raise_kept_error(name)
        except BaseException as error:
            why = load_error.classify(error, built, name)
            report.data(load_error=why, warnings=import_torch.texts(warned))
            if place.torch is not None:
                load_one_by_one(report, why, paths)
            report.result("failed", load_error.reason(error, why), error)
            return None
    report.data(
        imported=True,
        import_seconds=round(time.monotonic() - began, 3),
        module_version=str(getattr(module, "__version__", ""))[:100] or None,
        warnings=import_torch.texts(warned),
    )
    return module


def raise_kept_error(name: str) -> None:
    """Raises what a package caught when its libraries did not load, and kept."""
    for place, attribute in KEPT_ERRORS:
        kept = getattr(sys.modules.get(place), attribute, None)
        if place.startswith(name + ".") and isinstance(kept, BaseException):
            raise kept


def load_one_by_one(report: Report, why: dict[str, Any], paths: list[str]) -> None:
    """Says what the loader makes of each library of a package that failed in its Python.

    A package may swallow the loader's words and fail later with words of its own, as torchvision
    does with an operator that does not exist.
    """
    own = [path for path in paths if ".libs/" not in path][:LIBRARIES_MAX]
    if own and why.get("kind") in ("operator", "name", "module", "symbol", None):
        report.step("load its libraries one by one")
        report.data(load_error={**why, **load_error.one_by_one(own)})


def prepare(place: Place, row: Extension) -> None:
    """Keeps a framework from taking the whole device, and finds what the user wrote beside him."""
    variables = {}
    if row.name == "jax":
        variables["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        if not place.on_gpu:
            variables["JAX_PLATFORMS"] = "cpu"
    if row.name == "tensorflow":
        variables["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    os.environ.update(variables)
    if variables:
        place.report.data(variables=variables)
    top = row.modules[0].split(".")[0]
    workdir = place.options.get("workdir")
    if place.options.get("named") and workdir and not found(top):
        sys.path.append(workdir)


def found(top: str) -> bool:
    """Whether a top-level module is on the path; nothing is imported."""
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False


# ---------------------------------------------------------------- computing
def operate(place: Place, row: Extension, module: Any) -> bool:
    """Runs the operation of a line; True if it passed, else the stage has its result."""
    report = place.report
    where = place.backend if place.on_gpu else "cpu"
    proven = where in row.proven
    report.data(proven=proven)
    if row.needs_gpu and not place.on_gpu:
        say_not_run(report, "no-device", "%s loads; its operation needs a GPU" % row.name)
        return False
    name, function = (row.operation or "").split(":")
    report.step("compute" if proven or row.own else "compute (not yet proven on %s)" % where)
    try:
        operation = getattr(importlib.import_module("." + name, __package__), function)
        values = operation(place) if module is None else operation(place, module)
    except NotRunError as error:
        say_not_run(report, error.reason, str(error))
        return False
    except BaseException as error:
        blame(report, error, proven or row.own)
        return False
    report.data(**(values or {}))
    return True


def say_not_run(report: Report, reason: str, text: str) -> None:
    """Ends the stage as skipped, with a sentence that says why."""
    report.result("skipped", reason, {"type": reason, "text": text})


def blame(report: Report, error: BaseException, real: bool) -> None:
    """Ends the stage for an operation that failed.

    An operation that was never proven may be wrong itself: what it fails with counts only where
    the error names the environment; else it is told and the stage is skipped.
    """
    if not real and not load_error.names_environment(error):
        report.result("skipped", "unproven", error)
    elif isinstance(error, WrongResultError):
        report.result("failed", "wrong-result", {"type": "WrongResult", "text": str(error)})
    elif type(error).__name__ in ("OutOfMemoryError", "MemoryError"):
        report.result("failed", "no-memory", error)
    else:
        loads = not isinstance(error, (ImportError, OSError))
        report.result("failed", "raised" if loads else "does-not-load", error)


def call(place: Place, module: Any) -> bool:
    """Calls what the user named; it fails by raising or by returning False."""
    report, name = place.report, place.options["callable"]
    report.step("call %s:%s" % (module.__name__, name))
    try:
        function = module
        for part in name.split("."):
            function = getattr(function, part)
        returned = function()
    except BaseException as error:
        blame(report, error, True)
        return False
    report.data(returned=type(returned).__name__)
    if type(returned).__name__ in ("bool", "bool_") and not returned:
        text = "%s:%s returned False" % (module.__name__, name)
        report.result("failed", "wrong-result", {"type": "WrongResult", "text": text})
        return False
    return True
