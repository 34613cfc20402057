"""Products on a GPU: right, and how fast. Only a machine with a GPU can run what is here."""

from __future__ import annotations

from typing import Any

from . import gpu_device, gpu_load, gpu_timing, matmul
from .report import Report


def run(
    report: Report, torch: Any, backend: str, options: dict[str, Any], state: dict[str, Any]
) -> None:
    """Stage ``matmul`` of the device that the task's ``index`` or its subject names."""
    device = chosen(report, torch, backend, options, state)
    index = device["index"]
    report.step("open device %d" % index)
    load = device.get("load") or gpu_load.read(backend, device["pci_address"])
    torch.cuda.set_device(index)
    bench = matmul.Bench(
        torch,
        "cuda:%d" % index,
        backend,
        capability(device),
        (device.get("gfx") or "").split(":")[0] or None,
    )
    report.data(index=index, pci_address=device["pci_address"])
    faults = matmul.examine(report, bench)
    busy = options.get("busy") or gpu_load.busy(load, device["memory_bytes"])
    if busy:
        report.data(timing={"skipped": "device-busy", "why": str(busy)})
    elif not faults:
        faults += gpu_timing.time_formats(report, bench, device["pci_address"])
    matmul.finish(report, faults)


def capability(device: dict[str, Any]) -> tuple[int, int]:
    """The compute capability as two numbers; (0, 0) for AMD, which has none."""
    major, minor = device.get("capability", "0.0").split(".")
    return int(major), int(minor)


def chosen(
    report: Report, torch: Any, backend: str, options: dict[str, Any], state: dict[str, Any]
) -> dict[str, Any]:
    """The device of the task, listed anew if the stage ``device`` ran in another process."""
    devices = state.get("devices")
    if devices is None:
        report.step("torch.cuda.init")
        torch.cuda.init()
        devices = gpu_device.list_devices(report, torch, backend)
    for device in devices:
        if device["index"] == options.get("index") or device["id"] == state["subject"]:
            return device
    raise LookupError("torch lists no device %s" % state["subject"])
