"""Facts about GPUs and their drivers."""

from __future__ import annotations

from dataclasses import dataclass

from agent.model.words import Vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieLink:
    """PCI Express link of a device; judged only under load."""

    generation_current: int | None = None
    generation_max: int | None = None
    width_current: int | None = None
    width_max: int | None = None
    replay_count: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """Power of a device in watts."""

    usage_watts: float | None = None
    limit_watts: float | None = None
    default_limit_watts: float | None = None
    enforced_limit_watts: float | None = None
    max_limit_watts: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Clocks of a device in MHz; event reasons by NVML's names without the prefix."""

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    max_sm_mhz: int | None = None
    max_memory_mhz: int | None = None
    applications_sm_mhz: int | None = None
    event_reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Temperature:
    """Temperatures of a device in degrees Celsius and its limits."""

    gpu_celsius: int | None = None
    memory_celsius: int | None = None
    slowdown_celsius: int | None = None
    shutdown_celsius: int | None = None
    max_operating_celsius: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecc:
    """Memory error state: counters since the driver was loaded are strings (64 bits)."""

    mode: str | None = None  # enabled, disabled
    pending_mode: str | None = None
    volatile_corrected: str | None = None
    volatile_uncorrected: str | None = None
    aggregate_corrected: str | None = None
    aggregate_uncorrected: str | None = None
    remapped_correctable: int | None = None
    remapped_uncorrectable: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    retired_single_bit: int | None = None
    retired_double_bit: int | None = None
    retirement_pending: bool | None = None
    ras_blocks: tuple[str, ...] = ()  # AMD: "umc: corrected 0, uncorrected 2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """How a card is cut up; the renter's slice is the device."""

    kind: str | None = None  # none, mig, vgpu, spx, cpx, ...
    mig_mode: str | None = None  # enabled, disabled
    mig_instances: int | None = None
    parent_uuid: str | None = None
    profile: str | None = None
    compute_mode: str | None = None  # AMD compute partition
    memory_mode: str | None = None  # AMD memory partition, such as NPS1


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One NVLink or XGMI link."""

    kind: str  # nvlink, xgmi
    index: int
    state: str | None = None  # active, inactive, disabled (AMD: the link to itself)
    peer: str | None = None
    error_count: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """NVSwitch fabric registration of a device."""

    state: str | None = None  # not-supported, not-started, in-progress, completed
    status: str | None = None
    health: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcess:
    """A process of this user on a device."""

    pid: int
    name: str | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcesses:
    """Who uses a device: own processes by name, others as a count and bytes."""

    own: tuple[GpuProcess, ...] = ()
    other_count: int | None = None
    other_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Whether this device can read another's memory directly."""

    device: str
    path: str | None = None  # NV18, PIX, PHB, NODE, SYS, XGMI
    access: str | None = None  # ok, not-supported, disabled, ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One GPU (or one partition of it) as the driver describes it."""

    id: str  # UUID, else PCI address; the subject of its stages is "gpu:" + id
    vendor: Vendor
    name: str | None = None
    uuid: str | None = None
    pci_address: str | None = None  # dddd:bb:dd.f, lower case
    serial: str | None = None  # only with --keep serials
    vbios: str | None = None
    driver_index: int | None = None
    torch_index: int | None = None
    architecture: str | None = None  # "9.0" (compute capability) or "gfx942"
    integrated: bool | None = None  # shares the host's memory
    multiprocessor_count: int | None = None
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    memory_reserved_bytes: int | None = None
    utilization_percent: int | None = None
    pcie: PcieLink | None = None
    power: Power | None = None
    clocks: Clocks | None = None
    temperature: Temperature | None = None
    ecc: Ecc | None = None
    partition: Partition | None = None
    fabric: Fabric | None = None
    processes: GpuProcesses | None = None
    links: tuple[Link, ...] = ()
    peers: tuple[Peer, ...] = ()
    persistence_mode: str | None = None
    compute_mode: str | None = None  # default, exclusive-process, prohibited
    performance_state: str | None = None
    virtualization: str | None = None  # none, passthrough, vgpu, host-vgpu, host-vsga
    license_state: str | None = None  # licensed, unlicensed
    recovery_action: str | None = None
    error: str | None = None  # the library's word when the device does not answer, "GPU is lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What one library call returned: the number, its name and the library's text."""

    call: str
    code: int | None = None
    name: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvidiaDriver:
    """NVIDIA's driver: kernel part, user-space part, and what each answers."""

    kernel_version: str | None = None  # /proc/driver/nvidia/version
    kernel_open: bool | None = None  # the open kernel modules
    userspace_version: str | None = None  # NVML's driver version
    libcuda_version: str | None = None  # file version of the libcuda the target loads, 580.65.06
    cuda_version: str | None = None  # cuDriverGetVersion of that libcuda, "13.0"
    nvml_cuda_version: str | None = None  # the number nvidia-smi prints
    packages: tuple[str, ...] = ()  # installed driver packages, "nvidia-utils-580 580.65.06"
    nvml: CallResult | None = None
    cuinit: CallResult | None = None
    fabric_manager_state: str | None = None  # running, stopped, not-installed
    fabric_manager_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AmdDriver:
    """AMD's driver and ROCm."""

    kernel_version: str | None = None
    rocm_version: str | None = None
    hip_version: str | None = None
    amdsmi: CallResult | None = None
    amdsmi_origin: str | None = None  # rocm, pypi, none
    hipinit: CallResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drivers:
    """Both vendors' drivers; a vendor without any trace is None."""

    nvidia: NvidiaDriver | None = None
    amd: AmdDriver | None = None
