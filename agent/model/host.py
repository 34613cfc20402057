"""Facts about the host: limits, container, kernel, device nodes, libraries."""

from __future__ import annotations

from dataclasses import dataclass

from agent.model.words import Limit, Vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A mounted file system that the workload may write to."""

    mount: str
    device: str | None = None
    filesystem: str | None = None
    total_bytes: int | None = None
    free_bytes: int | None = None
    role: str | None = None  # root, work, home, tmp, shm, volume
    survives_stop: str = "unknown"  # yes, no, unknown
    read_only: bool | None = None
    no_exec: bool | None = None  # mounted noexec: compiled kernels cannot be loaded from here


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNode:
    """A GPU device node under /dev and whether this user may open it."""

    path: str
    present: bool
    openable: bool | None = None  # opened read-write and closed; None if not tried
    error: str | None = None  # the errno name of the refusal, such as EACCES or EPERM
    mode: str | None = None  # octal, such as 0660
    owner: str | None = None
    group: str | None = None
    major: int | None = None
    minor: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelModule:
    """A GPU kernel module: loaded or not, and its version."""

    name: str
    loaded: bool
    version: str | None = None
    source: str | None = None  # where it was read


@dataclass(frozen=True, slots=True, kw_only=True)
class PciDevice:
    """A display or accelerator function in /sys/bus/pci."""

    address: str  # dddd:bb:dd.f, lower case
    vendor: Vendor
    vendor_id: str  # four hex digits
    device_id: str
    class_code: str  # six hex digits, such as 030200
    name: str | None = None
    kernel_driver: str | None = None
    link_width_current: int | None = None
    link_width_max: int | None = None
    link_generation_current: int | None = None
    link_generation_max: int | None = None
    numa_node: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelGpu:
    """A GPU as the loaded kernel driver lists it; in a container only those it was given."""

    vendor: Vendor
    address: str  # dddd:bb:dd.f, lower case
    minor: int | None = None  # of /dev/nvidia<minor> or /dev/dri/renderD<minor>
    uuid: str | None = None  # NVIDIA only
    architecture: str | None = None  # AMD only, such as gfx942
    excluded: bool | None = None  # NVIDIA: the driver was told to leave it alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine below the GPU software."""

    system: str | None = None  # linux, wsl, windows
    os_id: str | None = None  # ubuntu, debian, ...
    os_name: str | None = None  # as /etc/os-release prints it
    os_version: str | None = None
    kernel_release: str | None = None
    architecture: str | None = None  # x86_64, aarch64
    libc_name: str | None = None
    libc_version: str | None = None
    cpu_model: str | None = None
    cpu_count: int | None = None  # logical processors this process may use
    cpu_total_count: int | None = None
    memory_total_bytes: int | None = None
    memory_available_bytes: int | None = None
    swap_total_bytes: int | None = None
    virtualization: str | None = None  # none, kvm, vmware, hyperv, xen, wsl, gvisor, ...
    secure_boot: bool | None = None
    clock_offset_seconds: float | None = None  # against a time the host itself states, if any
    uptime_seconds: float | None = None
    is_root: bool | None = None
    user_name: str | None = None  # redacted
    host_name: str | None = None  # redacted
    groups: tuple[str, ...] = ()
    locale: str | None = None
    disks: tuple[Disk, ...] = ()
    nodes: tuple[DeviceNode, ...] = ()
    modules: tuple[KernelModule, ...] = ()
    pci: tuple[PciDevice, ...] = ()
    kernel_gpus: tuple[KernelGpu, ...] = ()
    boot_parameters: tuple[str, ...] = ()  # GPU and IOMMU related words of /proc/cmdline


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the kernel allows this process; a limit is bytes or counts, or "unlimited"."""

    shm_total_bytes: int | None = None
    shm_free_bytes: int | None = None
    cgroup_version: int | None = None
    memory_limit_bytes: Limit | None = None
    memory_used_bytes: int | None = None
    swap_limit_bytes: Limit | None = None
    oom_kill_count: int | None = None
    cpu_quota_cores: float | str | None = None
    pids_limit: Limit | None = None
    pids_used: int | None = None
    memlock_soft_bytes: Limit | None = None
    memlock_hard_bytes: Limit | None = None
    nofile_soft: Limit | None = None
    nofile_hard: Limit | None = None
    nproc_soft: Limit | None = None
    address_space_soft_bytes: Limit | None = None
    core_soft_bytes: Limit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What kind of box this process sits in, and what the box was given."""

    kind: str | None = None  # none, docker, podman, containerd, kubernetes, lxc, apptainer, ...
    sandbox: str | None = None  # gvisor, kata
    privileged: bool | None = None
    provider: str | None = None  # runpod, vast, lambda, colab, ... where the box says so
    image: str | None = None
    nvidia_visible_devices: str | None = None
    nvidia_driver_capabilities: str | None = None
    nvidia_require_cuda: str | None = None
    mounted_nvidia_libraries: bool | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelEvent:
    """One line of the kernel log that concerns a GPU or memory."""

    kind: str  # xid, sxid, nvrm, nvidia-uvm, amdgpu, kfd, oom, aer, mce, segfault, lockdown
    text: str
    code: int | None = None  # the Xid or SXid number
    pci_address: str | None = None
    at_seconds: float | None = None  # since boot
    count: int = 1  # how often this line was seen, numbers aside; the first one stands here


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLog:
    """The kernel log as far as this user may read it."""

    readable: bool = False
    events: tuple[KernelEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A shared library: the copy the loader would take, or one that torch has mapped."""

    soname: str  # libcuda.so.1
    path: str | None = None
    version: str | None = None
    origin: str | None = None  # system, driver, compat, stub, toolkit, wheel, conda, user
    package: str | None = None  # such as nvidia-cublas-cu12 12.8.4.1
    seen_by: str = "loader"  # loader, mapped, disk, text
    on_loader_path: bool | None = None
    defect: str | None = None  # why the loader refuses this file, "file too short"; None if sound
