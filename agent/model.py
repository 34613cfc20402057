"""The types that every other file shares; this file imports the standard library only.

All types are frozen and are written to JSON by ``codec``. A field that is ``None`` was not
learnt; the bundle then holds a ``Gap`` with the reason. Numbers carry their unit in the name.
Values that may pass 2**53, masks and ids are strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any  # what ``json.loads`` may return
Status = Literal["passed", "failed", "crashed", "timed_out", "interrupted", "skipped"]
Severity = Literal["blocking", "degrading", "note"]
Who = Literal["renter", "provider", "either"]
Confidence = Literal["high", "medium", "low"]
Backend = Literal["cuda", "rocm", "cpu"]
Vendor = Literal["nvidia", "amd", "other"]
VerdictStatus = Literal["ready", "degraded", "blocked", "inconclusive"]
Decision = Literal["launch", "fix-environment", "contact-provider", "review-order"]
Limit: TypeAlias = int | str  # a number, or the word "unlimited"


# ---------------------------------------------------------------- observations: gaps and stages
@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What could not be looked at: where it would stand, why, and who said so."""

    pointer: str
    why: str
    said_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorText:
    """An error as its raiser worded it."""

    type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One announced act inside a stage; ``seconds`` is None for the step that never ended."""

    name: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How far one rung of the ladder got for one subject.

    ``subject`` is ``host``, ``gpu:<uuid or pci>``, ``ext:<name>`` or ``pair:<a>><b>``;
    ``reason`` is from the closed list in ``ladder.REASONS`` for every status but ``passed``;
    ``data`` is what the probe measured, documented per stage in docs/bundle.md.
    """

    name: str
    subject: str
    status: Status
    reason: str | None = None
    seconds: float = 0.0
    steps: tuple[Step, ...] = ()
    data: Mapping[str, Json] = field(default_factory=dict)
    error: ErrorText | None = None
    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: str | None = None


# ---------------------------------------------------------------- facts: the host
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


# ---------------------------------------------------------------- facts: devices and drivers
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


# ---------------------------------------------------------------- facts: software
@dataclass(frozen=True, slots=True, kw_only=True)
class Torch:
    """How a torch was built, from its files, from its import or from text."""

    version: str | None = None  # 2.14.1+cu130
    build: str | None = None  # cpu, cu130, rocm6.4
    cuda_version: str | None = None  # torch.version.cuda
    hip_version: str | None = None
    architectures: tuple[str, ...] = ()  # sm_90, gfx942, compute_90
    cudnn_version: str | None = None
    nccl_version: str | None = None
    cxx11_abi: bool | None = None
    path: str | None = None
    known_from: str | None = None  # files, import, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Something that makes an interpreter load other code than its owner expects."""

    code: str  # a key of collect.shadowing.CONFLICTS
    detail: str  # the paths, or names and versions, that disagree


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python on this machine, read from files unless it is the chosen one.

    ``conflicts`` are looked for in the chosen one only (they depend on the environment that the
    user's program will run in); ``writable-by-others`` and ``python-too-old`` in all.
    """

    path: str
    version: str | None = None
    kind: str | None = None  # system, venv, conda, uv, pyenv, named (a script: not known more)
    chosen: bool = False
    chosen_because: str | None = None
    # --python, agent, VIRTUAL_ENV, CONDA_PREFIX, PATH, well-known, conda, uv, pyenv, jupyter, process
    found_by: tuple[str, ...] = ()
    prefix: str | None = None
    base_prefix: str | None = None  # where the standard library and the headers are
    torch: Torch | None = None
    writable_by_others: bool | None = None
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An installed distribution that matters to a GPU."""

    name: str  # normalised: lower case, dashes
    version: str
    origin: str | None = None  # pip, conda, text, ...
    location: str | None = None
    scope: str | None = None  # environment, user-site, pythonpath, system


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A build tool found on the machine."""

    name: str  # nvcc, hipcc, gcc, g++, clang, ninja, cmake
    path: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkits:
    """What is there to build extensions with."""

    tools: tuple[Tool, ...] = ()
    cuda_home: str | None = None  # the directory torch would take
    cuda_home_source: str | None = None  # CUDA_HOME, CUDA_PATH, nvcc, default
    cuda_home_complete: bool | None = None  # holds include/cuda_runtime.h and libcudart
    cuda_toolkits: tuple[str, ...] = ()  # directories found, "/usr/local/cuda-13.0"
    rocm_home: str | None = None
    python_headers: bool | None = None  # Python.h of the target


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """An allow-listed environment variable of this process or of the container's first one."""

    name: str
    value: str
    scope: str = "process"  # process, init (differs in /proc/1/environ), text


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything known about the machine apart from what the probes did."""

    host: Host = field(default_factory=Host)
    limits: Limits = field(default_factory=Limits)
    container: Container = field(default_factory=Container)
    kernel_log: KernelLog = field(default_factory=KernelLog)
    libraries: tuple[Library, ...] = ()
    devices: tuple[Device, ...] = ()
    drivers: Drivers = field(default_factory=Drivers)
    interpreters: tuple[Interpreter, ...] = ()
    packages: tuple[Package, ...] = ()
    toolkits: Toolkits = field(default_factory=Toolkits)
    environment: tuple[EnvironmentVariable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that a program printed, with the place where the reader can see it again."""

    text: str
    pointer: str  # a JSON pointer into the bundle, or "line 12" of a pasted text


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderItem:
    """One promised property of the machine against what was found."""

    item: str
    ordered: str
    found: str | None = None
    result: str = "unknown"  # met, missed, unknown
    tolerance: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """All that the rules may look at: redacted facts, stages, gaps, and printed lines.

    ``lines`` are derived from the stages and the kernel log of a bundle, or are the lines of a
    pasted text; they are not stored. ``place`` is where the remedy must be typed.
    """

    facts: Facts = field(default_factory=Facts)
    stages: tuple[Stage, ...] = ()
    gaps: tuple[Gap, ...] = ()
    order: tuple[OrderItem, ...] = ()
    lines: tuple[Line, ...] = ()
    backend: str | None = None  # the back end climbed: cuda, rocm, cpu
    backend_asked: str = "auto"
    from_text: bool = False


# ---------------------------------------------------------------- judgement
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One cause, in words, with who can fix it and the evidence."""

    code: str
    severity: Severity
    who: Who
    title: str
    cause: str
    fix: tuple[str, ...]
    evidence: tuple[str, ...]
    confidence: Confidence
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstError:
    """The first failed, crashed or timed-out stage in ladder order."""

    stage: str
    subject: str
    type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """May the real workload start?"""

    status: VerdictStatus
    decision: Decision
    stage_reached: str | None
    blocked_at: str | None
    first_error: FirstError | None
    reason: str
    covered: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was asked of this run and how it went about it."""

    id: str
    started_at: str
    finished_at: str
    agent_version: str
    depth: str
    argv: tuple[str, ...] = ()
    backend: str | None = None
    backend_asked: str = "auto"
    challenge: str | None = None
    ticket: str | None = None
    simulated: bool = False
    interrupted: str | None = None  # the signal's name
    parent: str | None = None  # SHA-256 of the replayed source
    key_source: str = "one-time"
    overrides: tuple[str, ...] = ()  # NAME=value put into the children's environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """How often a kind of private value was replaced, and by what."""

    kind: str
    pseudonym: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """An Ed25519 signature over the RFC 8785 form of the bundle without this member."""

    algorithm: str
    canonicalization: str
    key_id: str
    public_key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The signed file: observations, what they were judged to mean, and the signature."""

    schema: str
    run: Run
    verdict: Verdict
    findings: tuple[Finding, ...]
    stages: tuple[Stage, ...]
    facts: Facts
    gaps: tuple[Gap, ...]
    order: tuple[OrderItem, ...]
    redactions: tuple[Redaction, ...]
    signature: Signature | None = None
