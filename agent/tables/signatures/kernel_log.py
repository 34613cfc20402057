# ruff: noqa: E501  (a wording stays on one line)
"""What the kernel log says of hardware: Xid lines, the bus, memory errors."""

from __future__ import annotations

from agent.tables.signatures import Signature

_OPEN = "github.com/NVIDIA/open-gpu-kernel-modules: format strings of nvidia.ko"
_NVML = "libnvidia-ml: nvmlErrorString; nvidia-smi"

ROWS: tuple[Signature, ...] = (
    Signature(
        "xid",
        ("xid",),
        r"NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)[^\n]*",
        "NVRM: Xid (PCI:0000:02:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the"
        " bus.",
        _OPEN,
    ),
    Signature(
        "xid_mentioned",
        ("xid",),
        r"\b[Xx][Ii][Dd][ :#]{1,3}(?:error )?(\d{1,3})\b",
        "dmesg shows Xid 79",
        "how people quote the kernel log",
    ),
    Signature(
        "off_the_bus",
        (
            "fallen off",
            "gpu is lost",
            "gpuislost",
            "gpu_is_lost",
            "unable to determine the device handle",
            "rev ff",
            "requires reset",
            "requires restart",
        ),
        r"fallen off (?:of )?the bus|GPU is lost|NVMLError_GpuIsLost|NVML_ERROR_GPU_IS_LOST"
        r"|Unable to determine the device handle for (?:gpu|GPU)[^\n]*"
        r"|NVIDIA Corporation[^\n]{0,80}\(rev ff\)",
        "Unable to determine the device handle for GPU 0000:0B:00.0: Unknown Error.",
        _NVML,
    ),
    Signature(
        "reset_required",
        ("requires reset", "requires restart", "reset_required", "resetrequired"),
        r"GPU requires (?:reset|restart)|NVML_ERROR_RESET_REQUIRED|NVMLError_ResetRequired",
        "GPU requires reset",
        _NVML,
    ),
    Signature(
        "ecc_error",
        ("ecc", "double bit", "dbe"),
        r"uncorrectable ECC error(?: encountered)?|CUDA_ERROR_ECC_UNCORRECTABLE"
        r"|cudaErrorECCUncorrectable|[Dd]ouble[- ][Bb]it ECC [Ee]rror"
        r"|DBE \(double bit error\) ECC [Ee]rror|(?:[Uu]ncontained|[Cc]ontained) ECC error",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "nvidia-cuda-runtime 13.0: cudaGetErrorString; NVIDIA's Xid catalogue",
    ),
    Signature(
        "amd_ras_uncorrectable",
        ("uncorrectable hardware errors", "ras", "poison", "uncorrectable"),
        r"\b([1-9]\d*) (?:new )?uncorrectable hardware errors? detected in (?:total in )?(?:\w+)"
        r"|amdgpu[^\n]{0,80}(?:RAS: )?uncorrectable (?:hardware )?error[^\n]*"
        r"|amdgpu[^\n]{0,60}[Bb]ad pages? (?:over|exceed)[^\n]*threshold"
        r"|amdgpu[^\n]{0,60}poison (?:is )?(?:consumption|consumed)",
        "amdgpu 0000:c1:00.0: amdgpu: 1 uncorrectable hardware errors detected in umc block",
        "linux drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c",
    ),
    Signature(
        "remap_pending_text",
        ("pending",),
        r"(?:Remapped Rows(?:[^\n]*\n){1,4}?[^\n]*Pending\s*: Yes)"
        r"|[Rr]ow [Rr]emap(?:ping|per)?[^\n]{0,30}[Pp]ending|remappings? (?:are |is )?pending"
        r"|remapped_rows\.pending[^\n]{0,20}(?:1|Yes)"
        r"|Pending Page Blacklist\s*: Yes|[Rr]etired [Pp]ages?[^\n]{0,20}[Pp]ending\s*:? ?Yes",
        "Remapped Rows\n        Correctable Error                 : 0\n"
        "        Uncorrectable Error               : 4\n        Pending                           : Yes",
        "nvidia-smi -q",
    ),
    Signature(
        "remap_failed_text",
        ("remapping failure",),
        r"Remapping Failure Occurred\s*: Yes",
        "        Remapping Failure Occurred        : Yes",
        "nvidia-smi -q",
    ),
    Signature(
        "machine_check",
        ("machine check", "mce:", "hardware error", "edac"),
        r"mce: \[Hardware Error\][^\n]*|Machine [Cc]heck[^\n]{0,40}(?:exception|error|event)"
        r"|event severity: (?:fatal|recoverable)|EDAC [^\n]*\bUE\b[^\n]*",
        "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 5: bea0000000000108",
        "linux arch/x86/kernel/cpu/mce",
    ),
    Signature(
        "aer_fatal",
        ("aer", "pcie bus error", "dpc:"),
        r"PCIe Bus Error: severity=Uncorrect(?:ed|able) \((?:Fatal|Non-Fatal)\)[^\n]*"
        r"|AER: (?:Multiple )?Uncorrect(?:ed|able) \((?:Fatal|Non-Fatal)\)[^\n]*"
        r"|DPC: containment event[^\n]*",
        "pcieport 0000:00:01.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction"
        " Layer",
        "linux drivers/pci/pcie/aer.c",
    ),
    Signature(
        "oom_of_cgroup",
        ("memory cgroup out of memory", "constraint_memcg", "oom-kill"),
        r"Memory cgroup out of memory(?:: Kill(?:ed)? process (\d+))?|constraint=CONSTRAINT_MEMCG",
        "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:98304000kB",
        "linux mm/oom_kill.c",
    ),
    Signature(
        "oom_of_host",
        ("out of memory: kill",),
        r"^(?:.{0,40}\] ?)?Out of memory: Kill(?:ed)? process (\d+)",
        "Out of memory: Killed process 4711 (python3) total-vm:98304000kB",
        "linux mm/oom_kill.c",
    ),
    Signature(
        "nvlink_error",
        ("nvlink", "xid"),
        r"NVRM: Xid \(PCI:[^)\n]*\): (?:74|136|14[4-9]|150|155)\b[^\n]*"
        r"|uncorrectable NVLink error|cudaErrorNvlinkUncorrectable"
        r"|caused by previous Xid (?:74|14[4-9]|150)\b",
        "NVRM: Xid (PCI:0000:3b:00): 74, pid=1234, name=python, NVLink: fatal error detected on"
        " link 2",
        "NVIDIA's Xid catalogue",
    ),
    Signature(
        "hardware_slowdown",
        ("slowdown", "thermal", "power brake"),
        r"^[ \t]*HW (?:Thermal|Power Brake) Slowdown\s*: Active\b",
        "            HW Power Brake Slowdown       : Active",
        "nvidia-smi -q -d PERFORMANCE",
    ),
    Signature(
        "amdgpu_hang",
        ("ring ", "failed to respond", "gpu reset"),
        r"(?:amdgpu|drm)[^\n]{0,60}[Rr]ing \S+ timeout[^\n]*|amdgpu[^\n]{0,40}MES(?:\(\d\))? failed to respond"
        r"[^\n]*|amdgpu[^\n]{0,40}GPU reset begin[^\n]*|amdgpu[^\n]{0,60}VRAM is lost due to GPU reset",
        "amdgpu 0000:28:00.0: ring gfx_0.0.0 timeout, signaled seq=57638, emitted seq=57641",
        "linux drivers/gpu/drm/amd/amdgpu/amdgpu_job.c",
    ),
    Signature(
        "nvswitch_fatal",
        ("sxid",),
        r"SXid \(PCI:[^)\n]*\): (\d+), (?:Fatal|Severity [1-9])[^\n]*",
        "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
        "Fabric Manager user guide, SXid errors",
    ),
    Signature(
        "smi_err_cells",
        ("err!",),
        r"^\|[^\n]*ERR![^\n]*ERR![^\n]*$|^\|[^\n]{0,12}\bP\d\d? +ERR!"
        r"|^\|ERR![^\n]*\n\|[^\n]*\bERR! *\|$",
        "|ERR!   36C    P0            145W / ERR!  |       1MiB /  81559MiB |    100%      Default |",
        "nvidia-smi",
    ),
)
