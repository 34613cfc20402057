# ruff: noqa: E501  (a wording stays on one line)
"""What NVIDIA's kernel driver, its tools and its services print."""

from __future__ import annotations

from agent.tables.signatures import Signature

_NVML = "libnvidia-ml: nvmlErrorString; nvidia-smi"
_OPEN = "github.com/NVIDIA/open-gpu-kernel-modules: format strings of nvidia.ko"
_RUNTIME = "nvidia-cuda-runtime 13.0: cudaGetErrorString and cudaGetErrorName"

ROWS: tuple[Signature, ...] = (
    # ------------------------------------------------------------ versions
    Signature(
        "nvml_version_mismatch",
        ("library version mismatch", "lib_rm_version_mismatch", "librmversionmismatch"),
        r"[Dd]river/library version mismatch|NVML_ERROR_LIB_RM_VERSION_MISMATCH"
        r"|NVMLError_LibRmVersionMismatch",
        "Failed to initialize NVML: Driver/library version mismatch",
        _NVML,
    ),
    Signature(
        "api_mismatch",
        ("api mismatch",),
        r"API mismatch: (?:the |this )?(?:NVIDIA kernel module has version|client)[^\n]*"
        r"|NVRM: API mismatch[^\n]*",
        "NVRM: API mismatch: the client has the version 367.44, but",
        _OPEN,
    ),
    Signature(
        "api_mismatch_client",
        ("has the version", "has version"),
        r"client[^\n]{0,60} has (?:the )?version (\d[\d.]*\d)",
        "NVRM: API mismatch: the client has the version 367.44, but",
        _OPEN,
    ),
    Signature(
        "api_mismatch_kernel",
        ("kernel module has the version", "kernel module has version"),
        r"kernel module has (?:the )?version (\d[\d.]*\d)",
        "NVRM: this kernel module has the version 367.35.  Please",
        _OPEN,
    ),
    Signature(
        "nvml_library_version",
        ("nvml library version",),
        r"NVML library version: (\d[\d.]*\d)",
        "NVML library version: 580.159",
        _NVML,
    ),
    Signature(
        "loaded_module_version",
        ("kernel module",),
        r"NVIDIA UNIX (?:Open )?\w* ?Kernel Module(?: for \w+)?\s+(\d{3}[\d.]*\d)",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.211.01  Tue Nov 25 16:36:36 UTC 2025",
        "/proc/driver/nvidia/version",
    ),
    # ------------------------------------------------------------ the module does not load
    Signature(
        "smi_cannot_talk",
        ("communicate with the nvidia driver", "driver not loaded", "drivernotloaded"),
        r"couldn.t communicate with the NVIDIA driver|[Dd]river [Nn]ot [Ll]oaded"
        r"|NVMLError_DriverNotLoaded|NVML_ERROR_DRIVER_NOT_LOADED",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        _NVML,
    ),
    Signature(
        "module_not_found",
        ("module nvidia", "modprobe"),
        r"modprobe: FATAL: Module (?:nvidia|nvidia[-_]current|nvidia[-_]\d+)\S* not found"
        r"|modprobe: ERROR: could not find module by name='nvidia[^\n]*"
        r"|modinfo: ERROR: Module nvidia\S* not found",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-45-generic",
        "kmod",
    ),
    Signature(
        "module_build_failed",
        (
            "dkms",
            "kernel source",
            "kernel headers",
            "module build",
            "kernel module",
            "linux-headers",
        ),
        r"Bad return status for module build on kernel: (\S+)"
        r"|(?:Your )?kernel (?:headers|source) for kernel (\S+) (?:cannot|could not|can ?not) be found"
        r"|Unable to find the kernel source tree|unable to find the development tools"
        r"|(?:Building|Build of) (?:nvidia|amdgpu)\S*[^\n]{0,60}(?:failed|\(bad exit status[^)]*\))"
        r"|An error occurred while performing the step: .Building kernel modules"
        r"|Building DKMS module .?nvidia[^\n]*FAILED|DKMS module .?nvidia\S*.? failed to build"
        r"|ERROR: [Mm]odule not found: .?nvidia|Missing \S+ kernel headers for module nvidia"
        r"|[Uu]nable to load the kernel module 'nvidia(?:-\w+)?\.ko'"
        r"|Failed to (?:run|execute) `?/(?:usr/)?s?bin/dkms build"
        r"|^nvidia\S*/[\d.]+: added|^nvidia/[\d.]+, [^\n]*: built",
        "Error! Bad return status for module build on kernel: 6.8.0-45-generic (x86_64)",
        "dkms; NVIDIA's installer",
    ),
    Signature(
        "driver_container_kernel",
        ("resolve linux kernel version",),
        r"Could not resolve Linux kernel version",
        "Could not resolve Linux kernel version",
        "nvidia-driver of github.com/NVIDIA/gpu-driver-container; gpu-operator issue 85",
    ),
    Signature(
        "dso_mismatch",
        ("does not match dso version",),
        r"kernel version (\d{3}[\d.]*\d) does not match DSO version (\d{3}[\d.]*\d)",
        "kernel version 352.63.0 does not match DSO version 361.93.2 -- cannot find working devices",
        "tensorflow cuda_diagnostics.cc; tensorflow issue 4768",
    ),
    Signature(
        "module_file",
        ("/lib/modules/",),
        r"/lib/modules/([^/\s]+)/\S*?nvidia[\w-]*\.ko",
        "/lib/modules/3.13.0-88-generic/kernel/drivers/video/nvidia.ko",
        "find",
    ),
    Signature(
        "nouveau_in_use",
        ("nouveau",),
        r"Kernel driver in use: nouveau|[Tt]he Nouveau kernel driver is currently in use"
        r"|^nouveau\s+\d{5,8}\s+[1-9]",
        "Kernel driver in use: nouveau",
        "lspci -k; NVIDIA's installer",
    ),
    Signature(
        "module_key_rejected",
        (
            "key was rejected",
            "required key not available",
            "module verification failed",
            "unsigned module",
            "is rejected",
            "lockdown",
        ),
        r"(?:could not insert (?:module )?'?([\w./-]+)'?: )?"
        r"(?:[Kk]ey was rejected by service|Required key not available)"
        r"|Loading of (?:unsigned )?module[^\n]{0,40}is rejected"
        r"|Lockdown: \S+ ?(?:\S+ )?unsigned module loading is restricted"
        r"|PKCS#7 signature not signed with a trusted key",
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
        "kernel/module/signing.c; kmod",
    ),
    Signature(
        "secure_boot_on",
        ("secureboot enabled", "secure boot"),
        r"SecureBoot enabled|[Ss]ecure ?[Bb]oot(?: is)?(?: |: ?)(?:enabled|on|active)\b",
        "SecureBoot enabled",
        "mokutil --sb-state",
    ),
    # ------------------------------------------------------------ the module refuses the GPU
    Signature(
        "open_module_needs_gsp",
        ("not supported by open", "gpu system processor", "required gpu"),
        r"not supported by open(?:\s+(?:\S+ )?NVRM:)?\s+nvidia\.ko|not supported by open\b"
        r"|does not include the required GPU(?:[^\n]*)",
        "NVRM: installed in this system is not supported by open",
        _OPEN,
    ),
    Signature(
        "needs_open_module",
        ("requires use of the nvidia open", "use of the nvidia open"),
        r"requires use of the NVIDIA open kernel modules",
        "NVRM: installed in this system requires use of the NVIDIA open kernel modules.",
        _OPEN,
    ),
    Signature(
        "legacy_driver_wanted",
        (
            "legacy drivers",
            "legacy driver",
            "will ignore",
            "no longer supported",
            "not supported by",
        ),
        r"supported through the NVIDIA (\d+)\.\w+ Legacy|NVIDIA (\d+)\.xx Legacy drivers?"
        r"|The (?:NVIDIA )?(\d{3}[\d.]*) (?:NVIDIA )?driver will\s+ignore"
        r"|is not supported by the (?:NVIDIA )?(\d{3}[\d.]*) NVIDIA driver"
        r"|[Dd]river (?:branch )?(\d{3})\S* (?:no longer|does not|doesn.t) supports?",
        "NVRM: installed in this system is supported through the NVIDIA 470.xx Legacy drivers.",
        _OPEN,
    ),
    Signature(
        "adapter_init_failed",
        ("rminitadapter failed", "rm_init_adapter failed"),
        r"RmInitAdapter failed!? ?(?:\((0x[0-9a-fA-F]+:0x[0-9a-fA-F]+:\d+)\))?"
        r"|rm_init_adapter failed",
        "NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)",
        _OPEN,
    ),
    Signature(
        "bar_too_small",
        (
            "i/o region assigned",
            "misconfigured your gpu",
            "bar1",
            "bar3",
            "mem size",
            "mmio",
            "above 4g",
            "resizable bar",
            "rebar",
        ),
        r"This PCI I/O region assigned to your NVIDIA device is invalid"
        r"|system BIOS may have misconfigured your GPU"
        r"|NVRM: BAR\d is 0M @ 0x0"
        r"|BAR ?\d+\b(?=[^\n]*mem size 0x(?:0[2-9a-f]|[1-9a-f][0-9a-f])[0-9a-f]{6})[^\n]{0,60}:"
        r" (?:no space for|failed to assign|can.t assign)[^\n]*"
        r"|[Ii]nsufficient (?:PCI )?(?:MMIO|resources)[^\n]{0,40}BAR"
        r"|(?:[Aa]bove 4G [Dd]ecoding|[Rr]esizable BAR|ReBAR)(?: support)?\W{1,4}"
        r"(?:is |was |were |are )?(?:[Dd]isabled|[Oo]ff|not enabled)",
        "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:",
        _OPEN,
    ),
    Signature(
        "no_devices_found",
        ("no devices were found", "no devices found"),
        r"^[ \t>|]*(?:[\w$# -]{0,16}nvidia-smi:? )?No devices (?:were )?found",
        "No devices were found",
        _NVML,
    ),
    # ------------------------------------------------------------ CUDA does not start
    Signature(
        "cuda_unknown_error",
        ("unknown error", "unknown_error", "cudaerrorunknown", "error_unknown", "code=999", "999"),
        r"CUDA unknown error|CUDA error: unknown error|cudaErrorUnknown\b|CUDA_ERROR_UNKNOWN\b"
        r"|cuda runtime error \((?:30|999)\)|[Ee]rror 999\b|code=(?:30|999)\b"
        r"|== cudaSuccess \((?:30|999) vs\. 0\)|cuInit\S*[^\n]{0,30}\b999\b"
        r"|CUDA[^\n]{0,40}failed[^\n]{0,30}unknown error|init failure: 999\b"
        r"|unable to init GPU: unknown error",
        "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment",
        _RUNTIME,
    ),
    Signature(
        "uvm_absent",
        ("nvidia-uvm", "nvidia_uvm", "nvidia_modprobe", "nvidia-modprobe"),
        r"Module nvidia[-_]uvm not found|could not insert 'nvidia[-_]uvm'"
        r"|/dev/nvidia-uvm\S*['\"]?(?::| is| does| was| not)[^\n]{0,30}"
        r"(?:No such file|missing|not (?:exist|present|found|there)|absent)"
        r"|(?:missing|no|lacks?|without) /dev/nvidia-uvm|[Nn]o nvidia[-_]uvm (?:module|device)"
        r"|nvidia[-_]uvm(?: kernel)?(?: module)? (?:is |was )?(?:not|n.t) (?:loaded|found|present)"
        r"|[Uu]nable to (?:load|open|initialize)[^\n]{0,30}nvidia-uvm",
        "ls: cannot access '/dev/nvidia-uvm': No such file or directory",
        "ls, modprobe",
    ),
    Signature(
        "uvm_hmm_failed",
        ("uvm_disable_hmm", "request_free_mem_region", "uvm_hmm", "hmm"),
        r"uvm_disable_hmm|devmem_alloc_pagemap[^\n]{0,60}err -34|nvidia-uvm:[^\n]*HMM[^\n]*"
        r"|request_free_mem_region\(\) err",
        "nvidia-uvm: uvm_pmm_gpu.c:3226 devmem_alloc_pagemap[pid:893] request_free_mem_region()"
        " err -34",
        _OPEN,
    ),
    Signature(
        "cuinit_not_initialized",
        ("not_initialized", "init failure: 3", "cuinit"),
        r"cuInit\S*(?:[^\n]{0,40})CUDA_ERROR_NOT_INITIALIZED"
        r"|cu(?:da )?driver library init failure: 3\b"
        r"|cuInit\S* (?:returned|returns|failed with|=|:|->)\D{0,20}\b3\b(?!\.)",
        "cu->cuInit(0) failed -> CUDA_ERROR_NOT_INITIALIZED: initialization error",
        "cuda.h of CUDA 13.0: CUresult 3",
    ),
    Signature(
        "driver_permission",
        ("insufficient permissions", "permission denied", "no_permission", "eacces"),
        r"(?:Failed to initialize NVML|nvml(?: error)?): [Ii]nsufficient [Pp]ermissions"
        r"|NVML_ERROR_NO_PERMISSION"
        r"|NVMLError_NoPermission"
        r"|/dev/nvidia[\w-]*['\"]?[^\n]{0,60}(?:Permission denied|EACCES)"
        r"|(?:Permission denied|EACCES)[^\n]{0,40}/dev/nvidia",
        "Failed to initialize NVML: Insufficient Permissions",
        _NVML,
    ),
    Signature(
        "nvml_unknown_error",
        ("failed to initialize nvml: unknown error", "nvml: unknown error"),
        r"(?:Failed to initialize|[Ii]nitiali[sz]ation error:?) (?:nvml|NVML)(?: error)?: [Uu]nknown"
        r" [Ee]rror|NVML: Unknown Error",
        "Failed to initialize NVML: Unknown Error",
        _NVML,
    ),
    Signature(
        "os_call_failed",
        ("os call failed", "cudaerroroperatingsystem", "error_operating_system", "error 304"),
        r"OS call failed or operation not supported on this OS|cudaErrorOperatingSystem\b"
        r"|CUDA_ERROR_OPERATING_SYSTEM\b|[Ee]rror 304\b",
        "Error 304: OS call failed or operation not supported on this OS",
        _RUNTIME,
    ),
    Signature(
        "busy_or_unavailable",
        ("busy or unavailable", "devicesunavailable", "devices_unavailable", "device_unavailable"),
        r"CUDA-capable devices?(?:\(s\))? (?:is/|is |are )*are busy or unavailable"
        r"|devices? (?:is|are) busy or unavailable"
        r"|cudaErrorDevices?Unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE",
        "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable",
        _RUNTIME,
    ),
    # ------------------------------------------------------------ NVSwitch
    Signature(
        "system_not_ready",
        ("system not yet initialized", "systemnotready", "system_not_ready", "802"),
        r"system not yet initialized|cudaErrorSystemNotReady|CUDA_ERROR_SYSTEM_NOT_READY"
        r"|[Ee]rror 802\b|\[802\]|code=802\b|cuda runtime error \(802\)|cuInit\S*[^\n]{0,30}\b802\b"
        r"|returned 802\b|(?:err|failure): 802\b",
        "Error 802: system not yet initialized",
        _RUNTIME,
    ),
    Signature(
        "fabric_manager_mismatch",
        ("fabric manager", "fabricmanager"),
        r"[Ff]abric [Mm]anager[^\n]{0,60}?version (\d[\d.]*\d) (?:don.t|doesn.t|does not|do not)"
        r" match (?:with )?(?:the )?(?:NVIDIA )?(?:GPU )?driver version (\d[\d.]*\d)"
        r"|fabric ?manager[^\n]{0,80}version mismatch"
        r"|please update with matching NVIDIA driver package",
        "fabric manager NVIDIA GPU driver interface version 530.30.02 don't match with driver"
        " version 530.41.03. Please update with matching NVIDIA driver package.",
        "nv-fabricmanager log",
    ),
    Signature(
        "fabric_manager_stopped",
        ("fabricmanager", "fabric manager"),
        r"Unit nvidia-fabricmanager(?:\.service)? (?:could not be found|not found)"
        r"|nvidia-fabricmanager(?:\.service)?[^\n]{0,80}(?:inactive|failed|not (?:running|installed))"
        r"|[Ff]abric ?[Mm]anager (?:service )?(?:is |was )?(?:not|n.t) "
        r"(?:installed|running|started|active)",
        "Unit nvidia-fabricmanager.service could not be found.",
        "systemctl",
    ),
    Signature(
        "fabric_unfinished",
        ("fabric", "in progress", "not started"),
        r"^[ \t]*Fabric\s*\n[ \t]*State\s*: (In Progress|Not Started)",
        "    Fabric\n        State                             : In Progress",
        "nvidia-smi -q",
    ),
    # ------------------------------------------------------------ firmware and licences
    Signature(
        "gsp_timeout",
        ("gsp", "xid"),
        r"NVRM: Xid \(PCI:[^)\n]*\): (?:119|120)\b[^\n]*|Timeout (?:waiting for|after [^\n]{0,20} of"
        r" waiting for) RPC (?:response )?from GSP|_kgspRpcRecvPoll|GSP RPC timeout"
        r"|[Gg]spRmRpc[^\n]{0,40}[Tt]imeout|Cannot initialize GSP firmware RM",
        "NVRM: Xid (PCI:0000:61:00): 119, pid=1365232, name=nvidia-smi, Timeout waiting for RPC"
        " from GSP!",
        _OPEN,
    ),
    Signature(
        "vgpu_unlicensed",
        ("unlicensed", "failed to acquire license", "nvidia-gridd", "license"),
        r"License Status\s*:? ?Unlicensed[^\n]*|Unlicensed \((?:Unr|R)estricted\)"
        r"|nvidia-gridd[^\n]{0,80}(?:Failed to acquire|[Ff]ailed server communication"
        r"|Valid GRID license not found|license (?:expired|lost))"
        r"|(?:vGPU|GRID)[^\n]{0,40}(?:unlicensed|license (?:is )?(?:expired|missing|not found))"
        r"|Failed to acquire (?:NVIDIA|GRID|license)[^\n]*",
        "License Status                    : Unlicensed (Restricted)",
        "nvidia-smi -q of a vGPU guest; nvidia-gridd",
    ),
    Signature(
        "gpu_unknown_to_driver",
        ("is not supported by the", "no nvidia gpu found"),
        r"installed in this system is not supported by the\s+(?:\S* ?\S* ?NVRM:\s+)?NVIDIA (\d{3}[\d.]*) driver",
        "NVRM: installed in this system is not supported by the\nNVRM: NVIDIA 550.90.07 driver release.",
        _OPEN,
    ),
)
