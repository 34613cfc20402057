"""What NVML's calls fill of a device, and what their answers may be (standard library only)."""

from __future__ import annotations

from typing import Any

EVENT_REASONS = (
    (0x1, "GpuIdle"),
    (0x2, "ApplicationsClocksSetting"),
    (0x4, "SwPowerCap"),
    (0x8, "HwSlowdown"),
    (0x10, "SyncBoost"),
    (0x20, "SwThermalSlowdown"),
    (0x40, "HwThermalSlowdown"),
    (0x80, "HwPowerBrakeSlowdown"),
    (0x100, "DisplayClockSetting"),
    (0x200, "BoardLimit"),
    (0x400, "Reliability"),
)
P2P_STATUS = (
    "ok",
    "chipset-not-supported",
    "gpu-not-supported",
    "topology-not-supported",
    "disabled-by-regkey",
    "not-supported",
    "unknown",
)
TOPOLOGY = {0: "INTERNAL", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
VIRTUALIZATION = ("none", "passthrough", "vgpu", "host-vgpu", "host-vsga")
LICENSE = (None, "uninitialized", "unlicensed", "unlicensed", "unlicensed", "licensed")
RECOVERY = (
    "none",
    "gpu-reset",
    "node-reboot",
    "drain-p2p",
    "drain-and-reset",
    "recover-imex-domain",
    "bus-reset",
    "system-reboot",
)
FABRIC_STATE = ("not-supported", "not-started", "in-progress", "completed")
FABRIC_HEALTH = (None, "healthy", "unhealthy", "limited-capacity")
FIELD_MEMORY_TEMPERATURE, FIELD_RECOVERY_ACTION = 82, 230


class ImplausibleError(Exception):
    """A value that cannot be one: the library's mark for "not available", or nonsense."""


def text(answer: Any) -> str:
    """The library's string, which old versions give as bytes."""
    found = answer.decode("utf-8", "backslashreplace") if isinstance(answer, bytes) else answer
    if not found or found in ("N/A", "[N/A]", "Unknown Error", "0", "00.00.00.00.00"):
        raise ImplausibleError("the library says %r" % found)
    return found


def within(low: float, high: float, scale: float = 1) -> Any:
    """A reader of numbers between two bounds; others are the library's marks or nonsense."""

    def read(answer: Any) -> Any:
        if not low <= answer <= high:
            raise ImplausibleError("the library says %#x, which cannot be" % answer)
        return answer if scale == 1 else round(answer / scale, 3)

    return read


def among(words: Any) -> Any:
    """A reader of a number that stands for one of the words."""

    def read(answer: Any) -> Any:
        word = words[answer] if 0 <= answer < len(words) else None
        if word is None:
            raise ImplausibleError("the library says %d, which has no meaning here" % answer)
        return word

    return read


def counter(answer: Any) -> str:
    """A 64-bit counter as a string."""
    if answer == 2**64 - 1:
        raise ImplausibleError("the library says 2**64-1, its mark for not available")
    return str(answer)


def each(*readers: Any) -> Any:
    """A reader of an answer with several parts, one reader a part."""
    return lambda answer: [reader(part) for reader, part in zip(readers, answer)]


def event_reasons(mask: int) -> list[str]:
    """The names of the bits; a bit without a name is shown as a number, not dropped."""
    names = [name for bit, name in EVENT_REASONS if mask & bit]
    rest = mask & ~0x7FF
    return names + ([hex(rest)] if rest else [])


def pci_address(info: Any) -> str:
    """The address as dddd:bb:dd.f in lower case; NVML's domain has eight digits."""
    name = text(info.busId).lower()
    domain, bus, rest = name.split(":")
    return "%04x:%s:%s" % (int(domain, 16), bus, rest)


ON_OFF = among(("disabled", "enabled"))
MEGAHERTZ = within(0, 10000)
WATTS = within(0, 20000000, 1000)
BYTES = within(0, 2**50)
COUNT = within(0, 2**31)
CELSIUS = within(-60, 200)
YES_NO = among((False, True))

# Fields of the device that a call fills, the call (or several spellings, newest first), its
# further arguments, and how its answer becomes the fields' values.
IDENTITY = (
    (("uuid",), "nvmlDeviceGetUUID", (), text),
    (("pci_address",), "nvmlDeviceGetPciInfo", (), pci_address),
    (("name",), "nvmlDeviceGetName", (), text),
)
ROWS = (
    (("serial",), "nvmlDeviceGetSerial", (), text),
    (("vbios",), "nvmlDeviceGetVbiosVersion", (), text),
    (
        ("architecture",),
        "nvmlDeviceGetCudaComputeCapability",
        (),
        lambda pair: "%d.%d" % tuple(each(within(1, 99), within(0, 9))(pair)),
    ),
    (
        ("utilization_percent",),
        "nvmlDeviceGetUtilizationRates",
        (),
        lambda a: within(0, 100)(a.gpu),
    ),
    (("pcie.generation_current",), "nvmlDeviceGetCurrPcieLinkGeneration", (), within(1, 8)),
    (("pcie.generation_max",), "nvmlDeviceGetMaxPcieLinkGeneration", (), within(1, 8)),
    (("pcie.width_current",), "nvmlDeviceGetCurrPcieLinkWidth", (), within(1, 32)),
    (("pcie.width_max",), "nvmlDeviceGetMaxPcieLinkWidth", (), within(1, 32)),
    (("pcie.replay_count",), "nvmlDeviceGetPcieReplayCounter", (), lambda a: str(COUNT(a))),
    (("power.usage_watts",), "nvmlDeviceGetPowerUsage", (), WATTS),
    (("power.limit_watts",), "nvmlDeviceGetPowerManagementLimit", (), WATTS),
    (("power.default_limit_watts",), "nvmlDeviceGetPowerManagementDefaultLimit", (), WATTS),
    (("power.enforced_limit_watts",), "nvmlDeviceGetEnforcedPowerLimit", (), WATTS),
    (
        ("power.max_limit_watts",),
        "nvmlDeviceGetPowerManagementLimitConstraints",
        (),
        lambda bounds: WATTS(bounds[1]),
    ),
    (("clocks.sm_mhz",), "nvmlDeviceGetClockInfo", (1,), MEGAHERTZ),
    (("clocks.memory_mhz",), "nvmlDeviceGetClockInfo", (2,), MEGAHERTZ),
    (("clocks.max_sm_mhz",), "nvmlDeviceGetMaxClockInfo", (1,), MEGAHERTZ),
    (("clocks.max_memory_mhz",), "nvmlDeviceGetMaxClockInfo", (2,), MEGAHERTZ),
    (("clocks.applications_sm_mhz",), "nvmlDeviceGetApplicationsClock", (1,), MEGAHERTZ),
    (
        ("clocks.event_reasons",),
        ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
        (),
        event_reasons,
    ),
    (("temperature.gpu_celsius",), "nvmlDeviceGetTemperature", (0,), CELSIUS),
    (("temperature.shutdown_celsius",), "nvmlDeviceGetTemperatureThreshold", (0,), CELSIUS),
    (("temperature.slowdown_celsius",), "nvmlDeviceGetTemperatureThreshold", (1,), CELSIUS),
    (("temperature.max_operating_celsius",), "nvmlDeviceGetTemperatureThreshold", (3,), CELSIUS),
    (("ecc.mode", "ecc.pending_mode"), "nvmlDeviceGetEccMode", (), each(ON_OFF, ON_OFF)),
    (("ecc.volatile_corrected",), "nvmlDeviceGetTotalEccErrors", (0, 0), counter),
    (("ecc.volatile_uncorrected",), "nvmlDeviceGetTotalEccErrors", (1, 0), counter),
    (("ecc.aggregate_corrected",), "nvmlDeviceGetTotalEccErrors", (0, 1), counter),
    (("ecc.aggregate_uncorrected",), "nvmlDeviceGetTotalEccErrors", (1, 1), counter),
    (
        (
            "ecc.remapped_correctable",
            "ecc.remapped_uncorrectable",
            "ecc.remap_pending",
            "ecc.remap_failed",
        ),
        "nvmlDeviceGetRemappedRows",
        (),
        each(COUNT, COUNT, YES_NO, YES_NO),
    ),
    (("ecc.retired_single_bit",), "nvmlDeviceGetRetiredPages", (0,), len),
    (("ecc.retired_double_bit",), "nvmlDeviceGetRetiredPages", (1,), len),
    (("ecc.retirement_pending",), "nvmlDeviceGetRetiredPagesPendingStatus", (), YES_NO),
    (
        ("performance_state",),
        "nvmlDeviceGetPerformanceState",
        (),
        lambda a: "P%d" % within(0, 15)(a),
    ),
    (("persistence_mode",), "nvmlDeviceGetPersistenceMode", (), ON_OFF),
    (
        ("compute_mode",),
        "nvmlDeviceGetComputeMode",
        (),
        among(("default", "exclusive-thread", "prohibited", "exclusive-process")),
    ),
    (("virtualization",), "nvmlDeviceGetVirtualizationMode", (), among(VIRTUALIZATION)),
)
INSTANCE_ROWS = (
    (
        ("multiprocessor_count",),
        "nvmlDeviceGetAttributes",
        (),
        lambda a: within(1, 10000)(a.multiprocessorCount),
    ),
)


def part_of(fields: Any) -> str:
    """The part of a device that the first field belongs to, such as power."""
    part, _, inner = fields[0].partition(".")
    return part if inner else ""


def calls_of_part(rows: Any, part: str) -> list[str]:
    """The calls of the rows from here on that belong to the part, each once."""
    calls = []
    for fields, spellings, _, _ in rows:
        if part_of(fields) != part:
            break
        call = spellings if isinstance(spellings, str) else spellings[0]
        if call not in calls:
            calls.append(call)
    return calls


def call_result(nvml: Any, call: str, error: Any) -> dict[str, Any]:
    """The number, name and text that a call failed with."""
    names = [
        n for n in dir(nvml) if n.startswith("NVML_ERROR_") and getattr(nvml, n) == error.value
    ]
    return {
        "call": call,
        "code": error.value,
        "name": names[0] if names else None,
        "text": word(error),
    }


def named(nvml: Any, error: Any) -> dict[str, str]:
    """The error as a record's type and text."""
    return {"type": type(error).__name__, "text": word(error)}


def word(error: Any) -> str:
    """The library's own word for an error; a stand-in or a broken library may have none."""
    try:
        return str(error)
    except Exception:
        return "NVML error %s" % getattr(error, "value", "?")
