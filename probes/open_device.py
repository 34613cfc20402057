"""Can torch open each device, and what does it list?"""

from __future__ import annotations

import os
import warnings
from typing import Any

from . import import_torch, libraries
from .report import Report


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage ``device``: makes torch raise the true error, then opens every device it lists."""
    torch = import_torch.again(report, state)
    built = import_torch.built_for(torch)
    asked = state["backend"]
    backend = import_torch.backend_of(torch, asked)
    # A build for the CPU offers no back end to whoever wants a GPU.
    report.data(backend=None if backend == "cpu" != asked else backend, built_for=built)
    if asked == "cpu":
        run_cpu(report, torch, state)
        return
    report.step("torch.cuda.init")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            # Not is_available(): that turns every cause into False.
            torch.cuda.init()
        except BaseException as error:
            report.data(warnings=import_torch.texts(warned))
            fail_to_start(report, torch, "raised" if built == backend != "cpu" else "", error)
            return
    report.data(warnings=import_torch.texts(warned))
    tell_of_stand_ins(report)
    if built != backend:
        text = "this torch is built for %s, and %s was asked for" % (built, backend)
        report.result("failed", "not-in-this-torch", {"type": "WrongBackend", "text": text})
        return
    from . import gpu_device

    gpu_device.open_all(report, torch, backend, state)


def run_cpu(report: Report, torch: Any, state: dict[str, Any]) -> None:
    """The host's processor as the device: allocate, and that is all there is to open."""
    report.step("allocate on the CPU")
    torch.empty(256, dtype=torch.float32, device="cpu")
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    device = {"index": 0, "name": "cpu", "processors": processors}
    state["devices"] = [device]
    report.result("passed", torch_count=1, devices=[device])


def fail_to_start(report: Report, torch: Any, reason: str, error: BaseException) -> None:
    """Ends the stage with torch's error, and with the number of devices torch still counts.

    ``device_count`` asks NVML where it can, so it may name devices that torch cannot start; the
    contradiction is worth knowing.
    """
    tell_of_stand_ins(report)
    report.step("torch.cuda.device_count")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report.data(torch_count=int(torch.cuda.device_count()))
    except BaseException as second:
        report.data(torch_count=None, count_error=str(second)[:500])
    report.result("failed", reason or "not-in-this-torch", error)


def tell_of_stand_ins(report: Report) -> None:
    """Writes ``simulated`` if a mapped vendor library says that it is a stand-in."""
    if libraries.is_stand_in(libraries.mapped_paths()):
        report.write({"record": "simulated"})
