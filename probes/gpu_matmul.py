"""Products on a GPU: right, and how fast. Only a machine with a GPU can run what is here."""

from . import gpu_device, gpu_load, gpu_timing, matmul


def run(report, torch, backend, options, state):
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
        tuple(int(part) for part in device["capability"].split(".")) if backend == "cuda" else None,
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


def chosen(report, torch, backend, options, state):
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
