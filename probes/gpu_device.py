"""Opening GPUs and naming them. Only a machine with a GPU can run what is in this file."""

from __future__ import annotations

import ctypes
from typing import Any

from . import gpu_load, libraries
from .report import Report, describe


def open_all(report: Report, torch: Any, backend: str, state: dict[str, Any]) -> None:
    """Lists and opens every device; the stage passes if one of them answers.

    Each device that does not gets a failed stage of its own, subject ``gpu:...``.
    """
    report.step("torch.cuda.device_count")
    count = torch.cuda.device_count()
    report.data(torch_count=count)
    if count == 0:
        report.result("failed", "no-device", {"type": "NoDevice", "text": "torch lists no device"})
        return
    devices = list_devices(report, torch, backend)
    report.step("read how busy the devices are")
    for device in devices:
        device["load"] = gpu_load.read(backend, device["pci_address"])
    report.data(devices=devices)
    host = dict(report.here)
    failures = []
    for device in devices:
        report.step("open device %d" % device["index"])
        try:
            open_one(torch, device)
        except BaseException as error:
            device["error"] = describe(error)
            failures.append(device)
        report.data(devices=devices)
    state["devices"] = [device for device in devices if "error" not in device]
    if len(failures) == len(devices):
        report.result("failed", "raised", failures[0]["error"], devices=devices)
        return
    report.result("passed", devices=devices)
    for device in failures:
        report.stage("device", device["id"])
        report.result("failed", "raised", device["error"], index=device["index"])
    report.here, report.last = host, "passed"


def list_devices(report: Report, torch: Any, backend: str) -> list[dict[str, Any]]:
    """What torch says of each device, in torch's order; reading it creates no context."""
    devices = []
    for index in range(torch.cuda.device_count()):
        report.step("properties of device %d" % index)
        properties = torch.cuda.get_device_properties(index)
        address, uuid = _names(backend, index, properties)
        device = {
            "index": index,
            "name": properties.name,
            "uuid": uuid,
            "pci_address": address,
            "memory_bytes": int(properties.total_memory),
            "multiprocessors": int(properties.multi_processor_count),
            "integrated": _flag(properties, "is_integrated"),
        }
        if backend == "rocm":
            device["gfx"] = getattr(properties, "gcnArchName", None)
        else:
            device["capability"] = "%d.%d" % (properties.major, properties.minor)
        device["id"] = subject_of(device)
        devices.append(device)
    return devices


def open_one(torch: Any, device: dict[str, Any]) -> None:
    """A context and a small allocation; no kernel of torch's runs yet."""
    index = device["index"]
    torch.cuda.set_device(index)
    torch.empty(256, dtype=torch.uint8, device="cuda:%d" % index)
    torch.cuda.synchronize(index)
    free, total = torch.cuda.mem_get_info(index)
    device["free_bytes"], device["total_bytes"] = int(free), int(total)


def subject_of(device: dict[str, Any]) -> str:
    """The subject of the device's stages: by UUID, else PCI address, else torch's index.

    HIP's UUID is none that AMD's tools print, so AMD devices go by their address.
    """
    return "gpu:" + (
        device.get("uuid") or device.get("pci_address") or "torch-%d" % device["index"]
    )


def _flag(properties: Any, name: str) -> bool | None:
    value = getattr(properties, name, None)
    return None if value is None else bool(value)


def _names(backend: str, index: int, properties: Any) -> tuple[str | None, str | None]:
    """PCI address and UUID: from the driver API, which every torch has mapped; else torch's."""
    if backend == "rocm":
        return _ask_hip(index) or _torch_address(properties), None
    address, uuid = _ask_cuda(index)
    if uuid is None and getattr(properties, "uuid", None) is not None:
        uuid = "GPU-" + str(properties.uuid)
    return address or _torch_address(properties), uuid


def _torch_address(properties: Any) -> str | None:
    bus = getattr(properties, "pci_bus_id", None)
    if bus is None:
        return None
    domain = getattr(properties, "pci_domain_id", 0)
    return "%04x:%02x:%02x.0" % (domain, bus, getattr(properties, "pci_device_id", 0))


def _ask_cuda(index: int) -> tuple[str | None, str | None]:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        device = ctypes.c_int()
        if cuda.cuDeviceGet(ctypes.byref(device), index) != 0:
            return None, None
        text = ctypes.create_string_buffer(32)
        asked = cuda.cuDeviceGetPCIBusId(text, 32, device)
        address = gpu_load.address(text.value.decode()) if asked == 0 else None
        raw = ctypes.create_string_buffer(16)
        # _v2 gives the instance's own UUID under MIG; drivers before 11.4 do not have it.
        ask_uuid = getattr(cuda, "cuDeviceGetUuid_v2", None) or cuda.cuDeviceGetUuid
        uuid = _uuid(raw.raw) if ask_uuid(raw, device) == 0 else None
    except (OSError, AttributeError):
        return None, None
    return address, uuid


def _uuid(raw: bytes) -> str | None:
    digits = raw.hex()
    if not digits.strip("0"):
        return None
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    text = "-".join(parts)
    return ("MIG-" if gpu_load.is_instance("MIG-" + text) else "GPU-") + text


def _ask_hip(index: int) -> str | None:
    for path in libraries.mapped_paths():
        if "libamdhip64.so" in path:
            try:
                hip = ctypes.CDLL(path)
                text = ctypes.create_string_buffer(32)
                if hip.hipDeviceGetPCIBusId(text, 32, index) == 0:
                    return gpu_load.address(text.value.decode())
            except (OSError, AttributeError):
                return None
    return None
