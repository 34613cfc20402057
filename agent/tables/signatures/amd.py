# ruff: noqa: E501  (a wording stays on one line)
"""What ROCm, HIP, amdsmi and the amdgpu driver print."""

from __future__ import annotations

from agent.tables.signatures import Signature

_SMI = "PyPI amdsmi 7.0.2: amdsmi_wrapper.py, amdsmi_interface.py"
_HIP = "github.com/ROCm/clr: hipError names and texts"

ROWS: tuple[Signature, ...] = (
    # ------------------------------------------------------------ amdsmi
    Signature(
        "amdsmi_library_missing",
        ("libamd_smi", "amd-smi-lib"),
        r"KeyError: '?libamd_smi\.so|[Uu]nable to find libamd_smi\.so\b"
        r"|Could not load libamd_smi\.so"
        r"|libamd_smi\.so\S*: cannot open shared object file"
        r"|amdsmi is installed but libamd_smi\.so could not be loaded",
        "KeyError: 'libamd_smi.so'",
        _SMI,
    ),
    Signature(
        "amdsmi_symbol_missing",
        ("amdsmi",),
        r"undefined symbol: amdsmi_\w+|module 'amdsmi(?:\.\w+)?' has no attribute '(amdsmi_\w+)'"
        r"|cannot import name '(?:Amd|amd)[Ss]mi\w*' from 'amdsmi|amdsmi[^\n]{0,40}version mismatch"
        r"|AttributeError: [^\n]{0,80}libamd_smi\.so\S*: undefined symbol",
        "AttributeError: /opt/rocm-6.4.0/lib/libamd_smi.so: undefined symbol:"
        " amdsmi_get_gpu_busy_percent",
        "github.com/ROCm/amdsmi/issues/98, 186",
    ),
    Signature(
        "amdsmi_file",
        ("libamd_smi",),
        r"((?:[\w.+@-]{0,80}/){1,15})libamd_smi\.so[\d.]*",
        "/opt/rocm/lib/libamd_smi.so",
        "layout of ROCm",
    ),
    Signature(
        "amdsmi_two_copies",
        ("libamd_smi", "librocm_smi", "amdsmi"),
        r"(?:[Tt]wo|[Dd]uplicate|second|both|2) (?:\w+ ){0,3}(?:copies of |copy of )?"
        r"(?:libamd_smi|librocm_smi|amdsmi)|ODR (?:clash|violation)[^\n]{0,60}amd"
        r"|librocm_smi64\S*[^\n]{0,60}(?:libamd_smi|RTLD_GLOBAL)"
        r"|libamd_smi\S*[^\n]{0,60}(?:\band\b|,)[^\n]{0,60}libamd_smi\S* (?:are )?(?:both|mapped|loaded)",
        "torch.cuda.device_count() returns 0 (duplicate libamd_smi ODR clash); HIP reports 1",
        "github.com/pytorch/pytorch/issues/186516",
    ),
    Signature(
        "amdsmi_sees_none",
        ("amdsmi", "device_count", "processor_handles", "invalid device id", "0 gpu"),
        r"amdsmi_get_processor_handles\(?\)?[^\n]{0,40}(?:\b0\b|\[\])|AMDSMI_STATUS_NOT_INIT"
        r"|\.device_count\(\)[\"')]{0,3}\s{0,4}\n0$"
        r"|(?:device_count\(\)|device_count)\W{1,6}(?:returns? |= |: ?|is )?0\b"
        r"|Unable to detect any GPU devices, check amd",
        "amdsmi_get_processor_handles() returns 0 handles",
        "github.com/ROCm/rocm-systems/issues/7643",
    ),
    Signature(
        "amdsmi_name_undefined",
        ("amdsmi",),
        r"NameError: name 'amdsmi' is not defined",
        "NameError: name 'amdsmi' is not defined",
        "github.com/pytorch/pytorch/issues/133259",
    ),
    Signature(
        "pynvml_installed",
        ("pynvml", "nvidia-ml-py", "nvidia_ml_py"),
        r"^[^\n]{0,40}\b(?:nvidia-ml-py|nvidia_ml_py|pynvml)\b[^\n]*",
        "nvidia-ml-py                  12.575.51",
        "pip list",
    ),
    # ------------------------------------------------------------ the kernel driver
    Signature(
        "kfd_missing",
        ("/dev/kfd", "rock module", "amdgpu", "driver not initialized", "kfd"),
        r"ROCk module is NOT loaded"
        r"|/dev/kfd[^\n]{0,60}(?:[Nn]o such file|does not exist|missing|not (?:found|present|exist))"
        r"|(?:no|missing|without) /dev/kfd|modprobe: FATAL: Module amdgpu not found"
        r"|[Dd]river not initialized \(amdgpu not found in modules\)"
        r"|AMDSMI_STATUS_DRIVER_NOT_LOADED|Unable to open /dev/kfd read-write: No such (?:file|device)"
        r"|ERROR:root:Driver not initiali[sz]ed|could not insert 'amdgpu'",
        "ROCk module is NOT loaded, possibly no GPU devices",
        "rocminfo; rocm-smi",
    ),
    Signature(
        "hsa_out_of_resources",
        ("hsa_status_error_out_of_resources", "returned 4104", "hsa_init failed", "hsa api call"),
        r"HSA_STATUS_ERROR_OUT_OF_RESOURCES|Call returned 4104|hsa_init failed"
        r"|hsa api call failure[^\n]*",
        "hsa api call failure at: /src/rocminfo/rocminfo.cc:1306",
        "rocminfo",
    ),
    Signature(
        "kfd_refused",
        ("/dev/kfd", "render", "/dev/dri", "group", "permission denied"),
        r"Unable to open /dev/kfd read-write: (?:Permission denied|Operation not permitted)"
        r"|/dev/(?:kfd|dri/\w+)['\"]?[^\n]{0,60}(?:Permission denied|Operation not permitted|EACCES)"
        r"|(?:Permission denied|EACCES)[^\n]{0,40}/dev/(?:kfd|dri)"
        r"|is not (?:a )?member of \"?(?:render|video)\"? group"
        r"|not in the (?:render|video) group|Failed to open /dev/(?:kfd|dri\S*)"
        r"|missing the following required groups: [^\n]{0,30}(?:render|video)",
        "Unable to open /dev/kfd read-write: Permission denied",
        "rocminfo",
    ),
    Signature(
        "no_hip_gpus",
        ("no hip gpus", "hiperrornodevice", "no rocm-capable device", "no hip devices"),
        r"No HIP GPUs are available|hipErrorNoDevice|no ROCm-capable device is detected"
        r"|No HIP devices? (?:found|detected)",
        "RuntimeError: No HIP GPUs are available",
        _HIP,
    ),
    Signature(
        "amdgpu_dkms",
        ("amdgpu-dkms", "dkms", "updates/dkms/amdgpu", "amdgpu-install"),
        r"amdgpu-dkms\S*|updates/dkms/amdgpu|(?:^|: )amdgpu/[\d.-]+, |amdgpu-install[^\n]*--usecase=\S*dkms",
        "ii  amdgpu-dkms   1:6.14.14.30100000-2193512.24.04  all",
        "dpkg -l; dkms status",
    ),
    # ------------------------------------------------------------ code for the GPU
    Signature(
        "hip_no_code",
        (
            "invalid device function",
            "nobinaryforgpu",
            "invalidimage",
            "kernel image is invalid",
            "no kernel image",
            "no binary for gpu",
            "unable to find code object",
            "hiperror",
            "shared object initialization failed",
        ),
        r"HIP error: (?:invalid device function|device kernel image is invalid"
        r"|no kernel image is available)|hipError(?:NoBinaryForGpu|InvalidDeviceFunction|InvalidImage"
        r"|SharedObjectInitFailed|InvalidKernelFile)"
        r"|HIP error: shared object initialization failed"
        r"|Unable to find code object for all current devices|HIP[^\n]{0,60}no kernel image",
        "RuntimeError: HIP error: invalid device function",
        _HIP,
    ),
    Signature(
        "rocblas_no_tensile",
        ("tensilelibrary", "rocblas error"),
        r"rocBLAS error: (?:Cannot read|Could not (?:load|initialize)|Tensile)[^\n]*"
        r"|Cannot read \S*TensileLibrary\S*[^\n]*|TensileLibrary\S*[^\n]{0,60}(?:No such file|Illegal seek)",
        "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: Illegal seek"
        " for GPU arch : gfx1103",
        "rocBLAS tensile_host.cpp",
    ),
    Signature(
        "tensile_architecture",
        ("gpu arch",),
        r"for GPU arch ?: ?(gfx\w+)",
        "for GPU arch : gfx1103",
        "rocBLAS tensile_host.cpp",
    ),
    Signature(
        "gfx_unsupported",
        ("gfx", "unsupported"),
        r"(?:[Uu]nsupported|not supported|no support for|not (?:in|among)[^\n]{0,30})[^\n]{0,40}"
        r"\b(gfx\d\w+)|\b(gfx\d\w+)\b[^\n]{0,50}(?:is not (?:supported|in|among)|[Uu]nsupported"
        r"|not (?:officially )?supported)|amdgpu \[\d+\] (gfx\w+) is not supported",
        "error: unsupported GPU architecture gfx1103",
        "ollama, bitsandbytes, flash-attention, aiter",
    ),
    Signature(
        "gfx_override",
        ("hsa_override_gfx_version",),
        r"HSA_OVERRIDE_GFX_VERSION\s*[=:]\s*\"?([\d.]+)",
        "HSA_OVERRIDE_GFX_VERSION=11.0.0",
        "ROCm environment variables",
    ),
    Signature(
        "gfx_named",
        ("gfx",),
        r"\b(gfx(?:[6789]0\w|9[0-5]\w|1[0-2]\d\w))\b",
        "gfx1036",
        "LLVM AMDGPU targets",
    ),
    Signature(
        "hipblaslt_unsupported",
        ("hipblaslt",),
        r"Attempting to use hipBLASLt on an? unsupported architecture"
        r"|hipBLASLt (?:on|is not supported|not supported|does not support)[^\n]*"
        r"|Overriding blas backend to hipblas",
        "UserWarning: Attempting to use hipBLASLt on a unsupported architecture! Overriding blas"
        " backend to hipblas",
        "torch aten/src/ATen/Context.cpp",
    ),
    # ------------------------------------------------------------ pieces of ROCm that are missing
    Signature(
        "rocm_header_missing",
        ("file not found", "no such file"),
        r"fatal error: ['\"<]?((?:hip|rocrand|hiprand|rocblas|hipblas\w*|rocprim|rocthrust|thrust|hipcub"
        r"|miopen|rccl|rocsolver|hipsolver|rocsparse|hipsparse|hipfft|rocfft|ck|ck_tile|rocwmma|hsa"
        r"|amd_comgr|roctracer|cub)/[\w/.-]+)['\">]?(?:: No such file| file not found)",
        "fatal error: 'rocrand/rocrand_xorwow.h' file not found",
        "clang and gcc; MIOpen run-time compilation",
    ),
    Signature(
        "rocm_device_package",
        (
            "rocm-sdk",
            "rocm_sdk",
            "rocm[",
            "device-gfx",
            "amd-torch-device",
            "whl-multi-arch",
            "whl-next",
        ),
        r"rocm[-_]sdk[-_](?:device|libraries|core|devel)\S*|amd[-_]torch[-_]device\S*"
        r"|(?:rocm|torch)\[device-\w+\]|/whl-(?:multi-arch|next)/",
        "rocm-sdk-device-gfx1100==7.14.0a20260519",
        "github.com/ROCm/TheRock RELEASES.md",
    ),
    Signature(
        "rocm_device_package_here",
        ("rocm-sdk-device", "rocm_sdk_device", "amd-torch-device", "amd_torch_device"),
        r"^[^\n]{0,30}(?:rocm[-_]sdk|amd[-_]torch)[-_]device[-_](gfx\w+|all)\W{1,24}\d",
        "rocm-sdk-device-gfx1100==7.14.0a20260519",
        "pip freeze",
    ),
    Signature(
        "rocm_device_files_missing",
        ("device-gfx", "device_gfx", "rocm_sdk", "rocm-sdk", "kpack", "gfx"),
        r"does not provide the extra 'device-gfx\w+'"
        r"|No module named '(?:_?rocm_sdk_(?:device|libraries)\w*)'"
        r"|(?:device|kernel|GPU) (?:package|wheel)s?[^\n]{0,40}(?:missing|not installed)"
        r"|kpack[^\n]{0,60}(?:not found|missing|No such file)"
        r"|[\w*]\.kpack'?\s{0,3}\n?[ \t]*\(?(?:no output|nothing|none|empty)\b",
        "WARNING: rocm 7.14.0a20260519 does not provide the extra 'device-gfx950'",
        "github.com/ROCm/TheRock/issues/5347",
    ),
    Signature(
        "daemon_lacks_device",
        ("adding custom device",),
        r"error gathering device information while adding custom device \\?\"(/dev/[\w/]{1,40})",
        "Error response from daemon: error gathering device information while adding custom device"
        ' "/dev/kfd": no such file or directory',
        "moby daemon/devices: the host has no such node",
    ),
    Signature(
        "amdgpu_probe_failed",
        ("probe of", "probe with driver", "fatal error during gpu init"),
        r"amdgpu[^\n]{0,30}: probe (?:of|with)[^\n]{0,40} failed with error -\d+"
        r"|amdgpu[^\n]{0,60}Fatal error during GPU init",
        "amdgpu: probe of 0000:09:00.0 failed with error -12",
        "linux drivers/base/dd.c; amdgpu_device.c",
    ),
    Signature(
        "partition_wording",
        ("cpx", "dpx", "qpx", "partition", "nps"),
        r"\b(?:CPX|DPX|QPX|TPX)\b(?:[/ -]NPS\d)?|\b[cdqt]px_nps\d\b"
        r"|compute[- ]partition(?:ing)?(?![^\n]{0,20}\bSPX)|amd-smi set -C (?!SPX)",
        "sudo amd-smi set -C CPX -g all",
        "amd-smi; ROCm/k8s-device-plugin issues 157, 167, 184",
    ),
    Signature(
        "partition_not_listed",
        (
            "allocatable",
            "capacity",
            "com/gpu",
            "only",
            "detect",
            "device plugin",
            "listed",
            "_partition: n/a",
            " of ",
        ),
        r"amd\\?\.com/gpu\"?\S{0,6}(?:[: ]{1,4}|\s{0,4}\n)\"?(?:0|8)\b|(?:allocatable|capacity)[^\n]{0,40}\b(?:0|8)\b"
        r"|(?:COMPUTE|MEMORY)_PARTITION: N/A|\b\d{1,2} of (?:the |all )?\d{1,2} (?:GPUs?|partitions?"
        r"|devices?|listed)|[Oo]nly \d{1,2} (?:of \d{1,2} )?(?:GPUs|partitions|devices)"
        r"|(?:still|only) (?:shows? |lists? |sees? |reports? |detects? )?8\b"
        r"|(?:fails? to|does ?n.t|not|cannot|only)[^\n]{0,30}(?:detect|list|enumerat|expose|recogni)"
        r"[^\n]{0,40}(?:partition|GPU|device|all)|partitions?[^\n]{0,40}not (?:listed|correctly|"
        r"enumerated|detected|shown|visible)",
        "Kubernetes fails to detect all MI355 GPUs with CPX mode enabled",
        "github.com/ROCm/k8s-device-plugin/issues/167",
    ),
    Signature(
        "hsa_fault",
        (
            "memory access fault by gpu",
            "hw exception by gpu",
            "hsa_status_error_exception",
            "mes failed",
        ),
        r"Memory access fault by GPU node-\d+[^\n]*|HW Exception by GPU node-\d+[^\n]*"
        r"|HSA_STATUS_ERROR_EXCEPTION|amdgpu[^\n]{0,60}(?:MES failed to respond|ring \S+ timeout)[^\n]*"
        r"|amdgpu[^\n]{0,40}\[gfxhub\d*\] page fault",
        "Memory access fault by GPU node-1 (Agent handle: 0x1b376c50) on address 0x7f762a667000.",
        "ROCR; linux drivers/gpu/drm/amd",
    ),
    Signature(
        "wsl_hsa_runtime",
        ("libhsa-runtime64", "librocdxg", "rocdxg", "roc4wsl"),
        r"libhsa-runtime64\.so\S*|librocdxg\S*|hsa-runtime-rocr4wsl\S*",
        "rm libhsa-runtime64.so*",
        "rocm.docs.amd.com, PyTorch under WSL",
    ),
    Signature(
        "kfd_rejects",
        ("unable to open /dev/kfd",),
        r"Unable to open /dev/kfd read-write: (Invalid argument|Cannot allocate memory|Device or resource busy)",
        "Unable to open /dev/kfd read-write: Invalid argument",
        "rocminfo; github.com/ROCm/ROCm/issues/5379, 1318",
    ),
    Signature(
        "miopen_header_missing",
        ("file not found",),
        r"(?:MIOpen|comgr|hiprtc|HIPRTC)[^\n]*fatal error: '(\w+)' file not found",
        "MIOpen(HIP): Warning [BuildHip] /tmp/comgr-ededb1/input/naive_conv.cpp:39:10: fatal error:"
        " 'limits' file not found",
        "github.com/ROCm/MIOpen/issues/2096",
    ),
)
