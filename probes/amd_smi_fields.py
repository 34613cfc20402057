"""What amdsmi's calls fill of a device, and what their answers may be (standard library only)."""

from __future__ import annotations

from typing import Any

from .nvml_fields import ImplausibleError

VIRTUALIZATION = {
    "BAREMETAL": "none",
    "HOST": "host-vgpu",
    "GUEST": "vgpu",
    "PASSTHROUGH": "passthrough",
}


def within(low: float, high: float, scale: float = 1) -> Any:
    """A reader of numbers between two bounds, divided by the scale."""

    def read(value: Any) -> Any:
        if value is None or isinstance(value, str):
            raise ImplausibleError("amdsmi says %r" % (value,))
        if not low <= value <= high:
            raise ImplausibleError("amdsmi says %s, which cannot be" % hex(value))
        return value if scale == 1 else round(value / float(scale), 3)

    return read


def text(value: Any) -> str:
    """A string that says something."""
    if not value or str(value).strip() in ("N/A", "NA", "None", "0x0000000000000000"):
        raise ImplausibleError("amdsmi says %r" % (value,))
    return str(value).strip()


def counter(value: Any) -> str:
    """A 64-bit counter as a string."""
    if isinstance(value, str) or value >= 2**64 - 1:
        raise ImplausibleError("amdsmi says %s, its mark for not available" % (value,))
    return str(value)


def gfx(value: Any) -> str:
    """The target's name, such as gfx942."""
    name = text(value)
    if not name.startswith("gfx") or name in ("gfx0", "gfxffffffffffffffff"):
        raise ImplausibleError("amdsmi says %r" % name)
    return name


def generation(value: Any) -> int:
    """PCI Express generation of a link speed in MT/s (older modules: in GT/s)."""
    speed = within(1, 10**6)(value)
    speed = speed if speed > 100 else speed * 1000
    for number, least in ((6, 60000), (5, 30000), (4, 15000), (3, 7500), (2, 4500), (1, 1)):
        if speed >= least:
            return number
    return 1


MEGAHERTZ = within(0, 10000)
CELSIUS = within(-60, 200)
BYTES = within(0, 2**50)


def parts(*keys: str) -> Any:
    """A function that follows keys into the dictionaries of an answer."""

    def follow(answer: Any) -> Any:
        for key in keys:
            answer = answer[key]
        return answer

    return follow


def whole(answer: Any) -> Any:
    """The answer itself."""
    return answer


def watts(key: str) -> Any:
    """A power cap: microwatts in the library's units, watts in some modules."""

    def read(answer: Any) -> Any:
        value = within(0, 20 * 10**9)(answer[key])
        return round(value / 1e6, 3) if value > 20000 else float(value)

    return read


def power_usage(answer: Any) -> float:
    """The first of the power readings that is a number and not zero."""
    for key in ("current_socket_power", "socket_power", "average_socket_power"):
        value = answer.get(key)
        if isinstance(value, int) and 0 < value < 0xFFFF:
            return float(value)
    raise ImplausibleError("amdsmi says %r" % (answer.get("current_socket_power"),))


# Call, names of its enum arguments ("Class.MEMBER" of the loaded module), and for each field
# that the answer fills: where in the answer it stands and how it is read.
ROWS = (
    (
        "amdsmi_get_gpu_asic_info",
        (),
        (
            ("name", parts("market_name"), text),
            ("architecture", parts("target_graphics_version"), gfx),
            ("multiprocessor_count", parts("num_compute_units"), within(1, 10000)),
            ("serial", parts("asic_serial"), text),
        ),
    ),
    ("amdsmi_get_gpu_vbios_info", (), (("vbios", parts("version"), text),)),
    (
        "amdsmi_get_gpu_memory_total",
        ("AmdSmiMemoryType.VRAM",),
        (("memory_total_bytes", whole, within(1, 2**50)),),
    ),
    (
        "amdsmi_get_gpu_memory_usage",
        ("AmdSmiMemoryType.VRAM",),
        (("memory_used_bytes", whole, BYTES),),
    ),
    (
        "amdsmi_get_gpu_activity",
        (),
        (("utilization_percent", parts("gfx_activity"), within(0, 100)),),
    ),
    (
        "amdsmi_get_pcie_info",
        (),
        (
            ("pcie.width_max", parts("pcie_static", "max_pcie_width"), within(1, 32)),
            ("pcie.generation_max", parts("pcie_static", "max_pcie_speed"), generation),
            ("pcie.width_current", parts("pcie_metric", "pcie_width"), within(1, 32)),
            ("pcie.generation_current", parts("pcie_metric", "pcie_speed"), generation),
            ("pcie.replay_count", parts("pcie_metric", "pcie_replay_count"), counter),
        ),
    ),
    ("amdsmi_get_power_info", (), (("power.usage_watts", whole, power_usage),)),
    (
        "amdsmi_get_power_cap_info",
        (),
        (
            ("power.limit_watts", whole, watts("power_cap")),
            ("power.default_limit_watts", whole, watts("default_power_cap")),
            ("power.max_limit_watts", whole, watts("max_power_cap")),
        ),
    ),
    (
        "amdsmi_get_clock_info",
        ("AmdSmiClkType.GFX",),
        (
            ("clocks.sm_mhz", parts("clk"), MEGAHERTZ),
            ("clocks.max_sm_mhz", parts("max_clk"), MEGAHERTZ),
        ),
    ),
    (
        "amdsmi_get_clock_info",
        ("AmdSmiClkType.MEM",),
        (
            ("clocks.memory_mhz", parts("clk"), MEGAHERTZ),
            ("clocks.max_memory_mhz", parts("max_clk"), MEGAHERTZ),
        ),
    ),
    (
        "amdsmi_get_temp_metric",
        ("AmdSmiTemperatureType.HOTSPOT", "AmdSmiTemperatureMetric.CURRENT"),
        (("temperature.gpu_celsius", whole, CELSIUS),),
    ),
    (
        "amdsmi_get_temp_metric",
        ("AmdSmiTemperatureType.VRAM", "AmdSmiTemperatureMetric.CURRENT"),
        (("temperature.memory_celsius", whole, CELSIUS),),
    ),
    (
        "amdsmi_get_temp_metric",
        ("AmdSmiTemperatureType.HOTSPOT", "AmdSmiTemperatureMetric.CRITICAL"),
        (("temperature.slowdown_celsius", whole, CELSIUS),),
    ),
    (
        "amdsmi_get_temp_metric",
        ("AmdSmiTemperatureType.HOTSPOT", "AmdSmiTemperatureMetric.EMERGENCY"),
        (("temperature.shutdown_celsius", whole, CELSIUS),),
    ),
    (
        "amdsmi_get_gpu_total_ecc_count",
        (),
        (
            ("ecc.volatile_corrected", parts("correctable_count"), counter),
            ("ecc.volatile_uncorrected", parts("uncorrectable_count"), counter),
        ),
    ),
    ("amdsmi_get_gpu_compute_partition", (), (("partition.compute_mode", whole, text),)),
    ("amdsmi_get_gpu_memory_partition", (), (("partition.memory_mode", whole, text),)),
    (
        "amdsmi_get_gpu_virtualization_mode",
        (),
        (("virtualization", lambda a: VIRTUALIZATION.get(a["mode"].name), text),),
    ),
)
