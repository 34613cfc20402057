"""How busy is a GPU, and at which clock and power does it run just now?

Only a machine with a GPU answers. NVIDIA is asked through NVML by ctypes (the interpreter under
test may lack pynvml), AMD through sysfs: both are a few calls that need no thread of their own,
made by the process that has just queued the work and waits for it. What is not known is left out.
"""

from __future__ import annotations

import ctypes
import glob
import os
from typing import Any, List

from . import nvml_fields

BUSY_PERCENT = 5
FOREIGN_BYTES = 1 << 30  # idle contexts and a desktop stay below this
FOREIGN_SHARE = 0.03

_NVML: List[Any] = []  # the loaded library, or None after a failure


def address(text: str) -> str:
    """A PCI address as sysfs writes it: four-digit domain, lower case, with the function."""
    domain, bus, rest = text.strip().lower().rsplit(":", 2)
    return "%04x:%s:%s" % (int(domain, 16), bus, rest if "." in rest else rest + ".0")


def read(backend: str, pci_address: str | None) -> dict[str, Any]:
    """Utilisation, memory, clocks, power and event reasons, as far as the driver tells them."""
    try:
        if pci_address is None:
            return {}
        return _read_amd(pci_address) if backend == "rocm" else _read_nvidia(pci_address)
    except Exception as error:
        return {"unknown": "%s: %s" % (type(error).__name__, str(error)[:200])}


def busy(load: dict[str, Any], total_bytes: int) -> str | None:
    """Why a device is not to be timed because somebody else uses it, or None."""
    percent, used = load.get("utilization_percent"), load.get("used_bytes")
    if percent is not None and percent > BUSY_PERCENT:
        return "utilisation is %d %% before this program has started anything" % percent
    if used is not None and used > max(FOREIGN_BYTES, FOREIGN_SHARE * total_bytes):
        return "%.1f GiB are in use before this program has allocated any" % (used / 2**30)
    return None


def is_instance(uuid: str) -> bool:
    """True if NVML knows this UUID, as it does of MIG instances."""
    nvml = _nvml()
    handle = ctypes.c_void_p()
    try:
        found = nvml and nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle))
    except AttributeError:
        return False
    return nvml is not None and found == 0


def _nvml() -> Any:
    if not _NVML:
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            _NVML.append(library if library.nvmlInit_v2() == 0 else None)
        except (OSError, AttributeError):
            _NVML.append(None)
    return _NVML[0]


class _Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class _Memory(ctypes.Structure):
    """nvmlMemory_v2_t, whose ``used`` is without what the driver reserves for itself."""

    _fields_ = [("version", ctypes.c_uint)] + [
        (name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")
    ]


def _read_nvidia(pci_address: str) -> dict[str, Any]:
    nvml = _nvml()
    if nvml is None:
        return {"unknown": "NVML does not answer"}
    handle = ctypes.c_void_p()
    if nvml.nvmlDeviceGetHandleByPciBusId_v2(pci_address.encode(), ctypes.byref(handle)) != 0:
        return {"unknown": "NVML does not know the device"}
    found: dict[str, Any] = {}
    use = _Utilization()
    if _answers(nvml, "nvmlDeviceGetUtilizationRates", handle, ctypes.byref(use)):
        found["utilization_percent"] = use.gpu
    memory = _Memory(version=ctypes.sizeof(_Memory) | 2 << 24)
    if _answers(nvml, "nvmlDeviceGetMemoryInfo_v2", handle, ctypes.byref(memory)):
        found["used_bytes"] = memory.used
    number = ctypes.c_uint()
    if _answers(nvml, "nvmlDeviceGetClockInfo", handle, 1, ctypes.byref(number)):  # 1: SM
        found["sm_mhz"] = number.value
    if _answers(nvml, "nvmlDeviceGetPowerUsage", handle, ctypes.byref(number)):
        found["power_watts"] = number.value / 1000.0
    if _answers(nvml, "nvmlDeviceGetEnforcedPowerLimit", handle, ctypes.byref(number)):
        found["power_limit_watts"] = number.value / 1000.0
    if _answers(nvml, "nvmlDeviceGetTemperature", handle, 0, ctypes.byref(number)):
        found["gpu_celsius"] = number.value
    mask = ctypes.c_ulonglong()
    for call in ("ClocksEventReasons", "ClocksThrottleReasons"):  # the second until driver 535
        if _answers(nvml, "nvmlDeviceGetCurrent" + call, handle, ctypes.byref(mask)):
            found["event_reasons"] = nvml_fields.event_reasons(mask.value)
            break
    return found


def _answers(library: Any, name: str, *arguments: Any) -> bool:
    function = getattr(library, name, None)
    return function is not None and function(*arguments) == 0


def _read_amd(pci_address: str) -> dict[str, Any]:
    folder = "/sys/bus/pci/devices/" + pci_address
    if not os.path.isdir(folder):
        return {"unknown": folder + " is not shown here"}
    found: dict[str, Any] = {"event_reasons": []}
    sensors = (glob.glob(folder + "/hwmon/hwmon*") or [folder])[0]
    for name, path, unit in (
        ("utilization_percent", folder + "/gpu_busy_percent", 1),
        ("used_bytes", folder + "/mem_info_vram_used", 1),
        ("sm_mhz", sensors + "/freq1_input", 1e6),
        ("power_watts", sensors + "/power1_average", 1e6),
        ("power_watts", sensors + "/power1_input", 1e6),
        ("power_limit_watts", sensors + "/power1_cap", 1e6),
        ("gpu_celsius", sensors + "/temp1_input", 1e3),
    ):
        try:
            with open(path, encoding="ascii") as file:
                value = int(file.read())
        except (OSError, ValueError):
            continue
        found.setdefault(name, value if unit == 1 else value / unit)
    return found
