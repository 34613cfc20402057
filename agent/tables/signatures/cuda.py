# ruff: noqa: E501  (a pattern stays readable in one piece)
"""What torch, the CUDA runtime and its libraries print."""

from __future__ import annotations

from agent.tables.signatures import Signature

_TORCH = "torch 2.14.1+cu130: string read in the shipped library or Python file"
_RUNTIME = "nvidia-cuda-runtime 13.0: cudaGetErrorString and cudaGetErrorName"
_DRIVER = "cuda.h of CUDA 13.0: names of CUresult"

ROWS: tuple[Signature, ...] = (
    # ------------------------------------------------------------ does torch see a GPU
    Signature(
        "cuda_available_true",
        ("available",),
        r"(?:Is CUDA available|CUDA available|cuda_available|torch\.cuda\.is_available\(\))"
        r"[\"'`)]{0,3}\s{0,60}(?:[:=]|==|->|returns|is)*\s{0,60}True\b",
        "Is CUDA available: True",
        "torch.utils.collect_env",
    ),
    Signature(
        "cuda_available_false",
        ("available",),
        r"(?:Is CUDA available|CUDA available|cuda_available|torch\.cuda\.is_available\(\))"
        r"[\"'`)]{0,3}\s{0,60}(?:[:=]|==|->|returns|is)*\s{0,60}False\b",
        "Is CUDA available: False",
        "torch.utils.collect_env",
    ),
    Signature(
        "no_nvidia_driver",
        ("found no nvidia driver",),
        r"Found no NVIDIA driver on your system",
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA"
        " GPU and installed a driver from http://www.nvidia.com/Download/index.aspx",
        _TORCH,
    ),
    Signature(
        "no_cuda_gpus",
        ("no cuda gpus are available", "no cuda-capable device", "cudaerrornodevice", "no_device"),
        r"No CUDA GPUs are available|no CUDA-capable device is detected|cudaErrorNoDevice\b"
        r"|CUDA_ERROR_NO_DEVICE",
        "RuntimeError: No CUDA GPUs are available",
        _TORCH,
    ),
    Signature(
        "driver_init_failed",
        ("you might not have a cuda gpu", "cudaerrorinitializationerror", "initialization error"),
        r"CUDA driver initialization failed, you might not have a CUDA gpu"
        r"|cudaErrorInitializationError|CUDA error: initialization error"
        r"|cuda runtime error \(3\)|Cuda failure.{0,30}initialization error",
        "RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.",
        _TORCH,
    ),
    Signature(
        "not_compiled_with_cuda",
        ("not compiled with cuda", "not linked with support for cuda", "not compiled with gpu"),
        r"Torch not compiled with CUDA enabled|not linked with support for cuda"
        r"|not compiled with CUDA (?:enabled|support)|not compiled with GPU support",
        "AssertionError: Torch not compiled with CUDA enabled",
        _TORCH,
    ),
    # ------------------------------------------------------------ code for the GPU
    Signature(
        "no_kernel_image",
        ("no kernel image", "nokernelimage", "no_binary_for_gpu"),
        r"no kernel image is available for execution|cudaErrorNoKernelImageForDevice"
        r"|CUDA_ERROR_NO_BINARY_FOR_GPU",
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        _RUNTIME,
    ),
    Signature(
        "capability_not_compatible",
        ("is not compatible with the current pytorch",),
        r"with CUDA capability sm_(\d+)\w? is not compatible with the current PyTorch",
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current"
        " PyTorch installation.",
        _TORCH,
    ),
    Signature(
        "torch_lacks_kernels",
        ("does not include kernels for this gpu", "no longer supports this gpu", "no published"),
        r"Your installed torch==(\S{1,160}) does not include kernels for this GPU"
        r"|PyTorch no longer supports this GPU because it is too old"
        r"|No published PyTorch CUDA builds for release \S{1,160} support this GPU",
        "Your installed torch==2.14.1+cu130 does not include kernels for this GPU.",
        _TORCH,
    ),
    Signature(
        "found_gpu_of_capability",
        ("which is of ",),
        r"Found GPU\s?(\d+) (.+?),? which is of (?:compute|cuda) capability (?:\(CC\) )?(\d+\.\d+)",
        "Found GPU0 Tesla P100-PCIE-16GB which is of compute capability (CC) 6.0.",
        _TORCH,
    ),
    Signature(
        "supported_capabilities",
        ("supports cuda capabilities",),
        r"PyTorch install(?:ation)? supports CUDA capabilities ((?:(?:sm|compute)_\d+\w?[ ,]*)+)",
        "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80"
        " sm_86 sm_90.",
        _TORCH,
    ),
    Signature(
        "invalid_device_function",
        ("invalid device function", "invaliddevicefunction", "named symbol not found"),
        r"CUDA error:? ?(?:\d+: )?invalid device function|cudaErrorInvalidDeviceFunction"
        r"|[Ee]rror (?:8|98)\W{1,3}invalid device function|^invalid device function"
        r"|Error named symbol not found at line|CUDA[^\n]{0,40}invalid device function",
        "RuntimeError: CUDA error: invalid device function",
        _RUNTIME,
    ),
    Signature(
        "extension_not_for_arch",
        (
            "but was built for",
            "not compiled with any cuda arch",
            "not compiled for any cuda arch",
            "(too new)",
        ),
        r"requires device with capability <=? \(\d+, \d+\) but your GPU has capability \(\d+, \d+\) \(too new\)"
        r"|kernel `?\S{1,160}`? is for sm\d+[-\w]{0,40}, but was built for sm\d+"
        r"|was not compiled (?:with|for) any CUDA arch(?:itecture)?s?",
        "FATAL: kernel `fmha_cutlassF_f16_aligned_64x64_rf_sm80` is for sm80-sm100, but was built"
        " for sm37",
        "xformers 0.0.35 kernels; ggml-cuda common.cuh",
    ),
    Signature(
        "gpu_too_old_for_kernel",
        (
            "ampere gpus or newer",
            "hopper gpus or newer",
            "turing gpus or newer",
            "compute capability of at least",
            "compute capability >=",
            "compute capability >",
            "too old to be supported",
            "compute capability",
            "requires .target",
            "arch_mismatch",
            "requires sm",
            "require sm",
            "minimum capability",
            "not supported in this architecture",
            "hopper gpu",
            "does not support bf",
            "does not support fp",
            "doesn't support bf",
            "bf16 is not supported",
            "bfloat16 is not supported",
            "cuda architecture",
        ),
        r"[Oo]nly supports? (?:\w{1,120}, )*(?:and )?(?:Volta|Turing|Ampere|Ada|Hopper|Blackwell)"
        r"(?:[^\n]{0,40}) GPUs? (?:or|and) newer"
        r"|[Oo]nly support(?:s|ed)? (?:[^\n]{0,80})compute capability (?:of )?(?:at least|>=?|from)"
        r"|[Rr]equires?(?:[^\n]{0,60})compute capability (?:of )?(?:at least |>=? ?|\(?>=? ?)"
        r"\(?\d+[.,]? ?\d"
        r"|compute capability (?:of )?(?:at least \d+\.\d|\d+\.\d or (?:higher|newer|above))"
        r"|[Mm]inimum (?:\w{1,120} )?(?:compute |cuda )?capability: ?\d+"
        r"|which is too old to be supported by the triton GPU compiler"
        r"|Feature '[^'\n]{1,160}' requires \.target sm_\d+ or higher"
        r"|CUBLAS_STATUS_ARCH_MISMATCH|CUDNN_STATUS_ARCH_MISMATCH"
        r"|CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH"
        r"|GPUs? with compute capability (?:less than|below|under|<) \d+(?:\.\d)?"
        r"|not supported (?:on|for) (?:\w{1,120} )?(?:GPUs? )?(?:with )?compute capability \d+"
        r"|[Rr]equires? (?:at least )?sm_?\d+\+?"
        r"|[Mm]inimum capability: ?\d+\. Current capability: ?\d+"
        r"|not supported in this architecture\. The supported fp8 dtypes"
        r"|[Oo]nly supports? (?:H100 ?/? ?)?(?:Hopper|Blackwell|Ampere|Ada)\b[^\n]{0,30}GPU"
        r"|(?:GPU|[Dd]evice|card) (?:does not|doesn't) support (?:bf16|bfloat16|fp8|float8|fp16)"
        r"|(?:bf16|bfloat16|BF16) is not supported (?:on|by) (?:this|your|the)",
        "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        "flash-attn, vllm, torch._inductor and ptxas texts; CUDA library status names",
    ),
    Signature(
        "ptxas_lacks_arch",
        ("is not defined for option 'gpu-name'", "ptxas too old", "ptxas is too old", "support cc"),
        r"ptxas fatal\s{0,60}: Value '(sm_\w{1,120})' is not defined for option 'gpu-name'"
        r"|ptxas (?:is )?too old|ptxas does not support CC \d",
        "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
        "ptxas of nvidia-cuda-nvcc wheels",
    ),
    Signature(
        "nvrtc_lacks_arch",
        ("--gpu-architecture", "nvrtc_error_invalid_option", "gpu-architecture"),
        r"nvrtc: error: invalid value for --gpu-architecture|NVRTC_ERROR_INVALID_OPTION"
        r"|invalid value for --gpu-architecture \(-arch\)",
        "RuntimeError: nvrtc: error: invalid value for --gpu-architecture (-arch)",
        "github.com/cupy/cupy/issues/2087, 9475",
    ),
    Signature(
        "llvm_lacks_arch",
        ("is not a recognized processor", "is not a recognized processor for this target"),
        r"'(sm_\w{1,120})' is not a recognized processor for this target",
        "'sm_120' is not a recognized processor for this target (ignoring processor)",
        "LLVM as shipped in triton and numba",
    ),
    # ------------------------------------------------------------ driver against build
    Signature(
        "driver_too_old",
        ("driver on your system is too old", "driver too old", "driver is too old"),
        r"(?:NVIDIA |CUDA )?driver (?:on your system )?(?:is )?too old"
        r"(?:[^\n]{0,30}?\(found (?:version )?(\d+)\))?",
        "RuntimeError: The NVIDIA driver on your system is too old (found version 12040).",
        _TORCH,
    ),
    Signature(
        "insufficient_driver",
        ("driver version is insufficient", "cudaerrorinsufficientdriver"),
        r"CUDA driver version is insufficient for CUDA runtime version"
        r"|cudaErrorInsufficientDriver",
        "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version",
        _RUNTIME,
    ),
    Signature(
        "ptx_too_new",
        (
            "unsupported toolchain",
            "unsupportedptxversion",
            "unsupported_ptx_version",
            "unsupported .version",
        ),
        r"PTX was compiled with an unsupported toolchain|cudaErrorUnsupportedPtxVersion"
        r"|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|Unsupported \.version \d+\.\d+; current version is",
        "RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",
        _RUNTIME,
    ),
    Signature(
        "call_needs_newer_driver",
        ("not supported in the installed cuda driver", "callrequiresnewerdriver"),
        r"API call is not supported in the installed CUDA driver"
        r"|cudaErrorCallRequiresNewerDriver",
        "Cuda failure 'API call is not supported in the installed CUDA driver'",
        _RUNTIME,
    ),
    Signature(
        "driver_function_missing",
        ('function "cu', "undefined symbol: cu", ": symbol not found"),
        r"Function \"(cu[A-Z]\w{1,120})\" not found|undefined symbol: (cu(?:Mem|Launch|Ctx|Stream|Graph"
        r"|Device|Module|Library|Kernel|Multicast|Event|Tensor|GetProc)[A-Z]?\w{0,120})\b"
        r"|(cu[A-Z]\w{1,120}): symbol not found|symbol lookup error:[^\n]{0,160}undefined symbol: (cu[A-Z]\w{1,120})",
        'RuntimeError: Function "cuMemAllocAsync" not found',
        "github.com/NVIDIA/cuda-python/issues/23",
    ),
    Signature(
        "operation_not_supported",
        ("operation not supported", "cudaerrornotsupported", "error_not_supported"),
        r"(?:CUDA error|Cuda failure|failed)[^\n]{0,40}operation not supported"
        r"|cudaErrorNotSupported|CUDA_ERROR_NOT_SUPPORTED|[Ee]rror 801\b",
        "RuntimeError: CUDA error: operation not supported",
        _RUNTIME,
    ),
    Signature(
        "driver_mismatch_803",
        ("unsupported display driver", "systemdrivermismatch", "system_driver_mismatch", "803"),
        r"system has unsupported display driver / cuda driver combination"
        r"|cudaErrorSystemDriverMismatch|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|[Ee]rror 803\b"
        r"|code=803\b|cuda runtime error \(803\)",
        "Error 803: system has unsupported display driver / cuda driver combination",
        _RUNTIME,
    ),
    Signature(
        "forward_compat_804",
        (
            "forward compatibility was attempted",
            "compatnotsupported",
            "compat_not_supported",
            "804",
        ),
        r"forward compatibility was attempted on non supported HW"
        r"|cudaErrorCompatNotSupportedOnDevice|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"
        r"|[Ee]rror 804\b|code=804\b",
        "Error 804: forward compatibility was attempted on non supported HW",
        _RUNTIME,
    ),
    Signature(
        "stub_library",
        (
            "stub library",
            "cudaerrorstublibrary",
            "error_stub_library",
            "[34]",
            "code=34",
            "(34)",
            "cuinit",
            "error 34",
        ),
        r"CUDA driver is a stub library|cudaErrorStubLibrary|CUDA_ERROR_STUB_LIBRARY"
        r"|CudaAPIError:? ?\[34\]|code=34\(|cuda runtime error \(34\)|[Ee]rror 34\b|cuInit\S{0,20} (?:failed|returned|->|=)"
        r"[^\n]{0,20}\b34\b",
        "RuntimeError: CUDA error: CUDA driver is a stub library",
        _RUNTIME,
    ),
    Signature(
        "stub_path",
        ("/stubs",),
        r"/\S{0,160}/stubs(?:/libcuda\.so\S{0,160}|\b)",
        "/usr/local/cuda-11.8/targets/x86_64-linux/lib/stubs/libcuda.so",
        "numba -s on a machine with a toolkit",
    ),
    Signature(
        "compat_path",
        ("compat",),
        r"/\S{0,160}/compat(?:\.real)?(?:/libcuda\.so\S{0,160}|/lib\S{0,160}|\b)|cuda-compat[-\w.]{0,40}",
        "/usr/local/cuda/compat/lib.real/libcuda.so.1",
        "NVIDIA's images; package cuda-compat-12-4",
    ),
    # ------------------------------------------------------------ memory
    Signature(
        "out_of_memory",
        ("out of memory", "outofmemory", "memoryallocation", "out_of_memory", "resource_exhausted"),
        r"(?:CUDA|HIP) out of memory\.?(?: Tried to allocate ([\d.]{1,16} [KMG]i?B))?"
        r"|CUDA error: out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY"
        r"|OutOfMemoryError|RESOURCE_EXHAUSTED: [^\n]{0,40}[Oo]ut of memory"
        r"|cuda runtime error \(2\)|hipErrorOutOfMemory|Cuda failure[^\n]{0,12}out of memory"
        r"|cudaMalloc failed: out of memory|CUDAMallocAsync|OOM when allocating tensor",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
        " capacity of 23.64 GiB of which 1.10 GiB is free.",
        _TORCH,
    ),
    Signature(
        "oom_capacity",
        ("total capacity",),
        r"total capacity of ([\d.]{1,16}) ([KMG]i?B)|([\d.]{1,16}) ([KMG]i?B) total capacity",
        "GPU 0 has a total capacity of 23.64 GiB of which 1.10 GiB is free.",
        _TORCH,
    ),
    Signature(
        "oom_free",
        ("free",),
        r"([\d.]{1,16}) ([KMG]i?B|bytes) (?:is )?free\b",
        "GPU 0 has a total capacity of 23.64 GiB of which 1.10 GiB is free.",
        _TORCH,
    ),
    Signature(
        "oom_allocated",
        ("allocated",),
        r"([\d.]{1,16}) ([KMG]i?B|bytes) (?:is |already )allocated",
        "Of the allocated memory 20.10 GiB is allocated by PyTorch, and 1.20 GiB is reserved by"
        " PyTorch but unallocated.",
        _TORCH,
    ),
    Signature(
        "oom_reserved",
        ("reserved", "cached"),
        r"([\d.]{1,16}) ([KMG]i?B|bytes) (?:is )?(?:reserved (?:in total )?by PyTorch|cached)",
        "7.80 GiB total capacity; 5.93 GiB already allocated; 31.69 MiB free; 6.06 GiB reserved in"
        " total by PyTorch",
        _TORCH,
    ),
    Signature(
        "oom_other_process",
        ("memory in use",),
        r"Process (\d+) has ([\d.]{1,16}) ([KMG]i?B) memory in use",
        "Process 12345 has 21.00 GiB memory in use.",
        _TORCH,
    ),
    Signature(
        "oom_this_process",
        ("this process has",),
        r"this process has ([\d.]{1,16}) ([KMG]i?B) memory in use",
        "Including non-PyTorch memory, this process has 2.00 GiB memory in use.",
        _TORCH,
    ),
    Signature(
        "fragmentation_hint",
        ("max_split_size_mb", "expandable_segments", "fragmentation"),
        r"[Rr]eserved (?:memory is >>|but unallocated memory is large)[^\n]{0,160}"
        r"|avoid fragmentation|memory fragmentation",
        "If reserved but unallocated memory is large try setting"
        " PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
        _TORCH,
    ),
    Signature(
        "handle_failed",
        (
            "cudnn_status_not_initialized",
            "cublas_status_not_initialized",
            "cublas_status_alloc_failed",
            "cudnn_status_alloc_failed",
            "cusolver_status_",
            "device_allocation_failed",
            "cufft_alloc_failed",
            "could not create cudnn handle",
            "failed to create cublas handle",
            "could not create cublas handle",
            "valid cudnn algorithm",
            "cusparse_status_",
            "curand_status_",
            "get was unable to find an engine",
        ),
        r"CUDNN_STATUS_NOT_INITIALIZED\b|CUBLAS_STATUS_NOT_INITIALIZED|CUBLAS_STATUS_ALLOC_FAILED"
        r"|CUDNN_STATUS_ALLOC_FAILED|CUSOLVER_STATUS_(?:NOT_INITIALIZED|ALLOC_FAILED|INTERNAL_ERROR)"
        r"|CUSPARSE_STATUS_(?:NOT_INITIALIZED|ALLOC_FAILED|INSUFFICIENT_RESOURCES)"
        r"|CURAND_STATUS_(?:INITIALIZATION_FAILED|ALLOCATION_FAILED)"
        r"|CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED|CUFFT_ALLOC_FAILED"
        r"|[Cc]ould not create cu(?:dnn|blas|DNN|BLAS) handle|failed to create cublas handle"
        r"|Unable to find a valid cuDNN algorithm to run convolution"
        r"|GET was unable to find an engine to execute this computation",
        "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
        "cuDNN, cuBLAS and cuSOLVER status names; torch and TensorFlow texts",
    ),
    # ------------------------------------------------------------ processes and visible devices
    Signature(
        "reinit_in_fork",
        ("forked subprocess", "fork", "spawn"),
        r"Cannot re-initialize (?:CUDA|HIP|XPU) in forked subprocess"
        r"|must use the 'spawn' start method"
        r"|CUDA (?:was|has been|is) already initiali[sz]ed (?:before|in the parent)[^\n]{0,160}fork"
        r"|not fork[- ]safe[^\n]{0,160}CUDA|CUDA[^\n]{0,60}before (?:the )?fork",
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with"
        " multiprocessing, you must use the 'spawn' start method",
        _TORCH,
    ),
    Signature(
        "invalid_device_ordinal",
        (
            "invalid device ordinal",
            "invalid device id",
            "invalid cuda",
            "error_invalid_device",
            "cudaerrorinvaliddevice",
            "num_gpus",
        ),
        r"invalid device ordinal|cudaErrorInvalidDevice\b|Invalid device id"
        r"|device >= 0 && device < num_gpus|CUDA_ERROR_INVALID_DEVICE\b"
        r"|Invalid CUDA '?device[^\n]{0,60}requested",
        "RuntimeError: CUDA error: invalid device ordinal",
        _RUNTIME,
    ),
    Signature(
        "uuid_not_parsed",
        ("gpu-", "mig-"),
        r"invalid literal for int\(\) with base 10: '(?:GPU|MIG)-"
        r"|(?:ValueError|could not parse|invalid device|Invalid|unsupported|not an integer)"
        r"[^\n]{0,80}['\" ]((?:GPU|MIG)-[0-9a-fx]{4,8})"
        r"|(?:GPU|MIG)-[0-9a-f]{8}\S{0,160} (?:is not|not) (?:a valid|an integer|recogni[sz]ed)",
        "ValueError: invalid literal for int() with base 10:"
        " 'GPU-1d8f6f21-0000-0000-0000-000000000000'",
        "github.com/vllm-project/vllm platforms/interface.py",
    ),
    Signature(
        "fork_context",
        ("fork", "multiprocessing", "dataloader", "worker", "celery", "gunicorn", "uwsgi"),
        r"multiprocessing|DataLoader worker|\bfork(?:s|ed|ing)?\b|gunicorn|celery|uwsgi|prefork|preload_app|os\.fork"
        r"|_utils[./]worker|ForkProcess",
        '  File "/usr/lib/python3.10/multiprocessing/process.py", line 108, in run',
        "CPython traceback frames",
    ),
    # ------------------------------------------------------------ cuDNN
    Signature(
        "cudnn_incompatible",
        ("cudnn version incompatibility",),
        r"cuDNN version incompatibility: PyTorch was compiled\s{1,60}against \((\d+), ?(\d+), ?(\d+)\) "
        r"but (?:linked against|found runtime version) \((\d+), ?(\d+), ?(\d+)\)",
        "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but"
        " found runtime version (8, 9, 7)",
        _TORCH,
    ),
    Signature(
        "cudnn_older_runtime",
        ("loaded runtime cudnn library", "cudnn library needs", "loaded cudnn"),
        r"Loaded runtime CuDNN library: ([\d.]{1,16})(?: \(compatibility version \d{1,6}\))? but source was compiled with:? ([\d.]{1,16}?)\.?(?:\s|$)"
        r"|Loaded cu[Dd][Nn][Nn] version (\d\S{0,160})[^\n]{0,60}(?:compiled|requires|expected)\D+(\d\S{0,160})",
        "Loaded runtime CuDNN library: 7.1.2 but source was compiled with: 7.4.2.",
        "tensorflow stream_executor cuda_dnn.cc",
    ),
    Signature(
        "jax_library_older",
        ("but jax was built against",),
        r"Found (\w{2,12}) version (\d{3,6}), but JAX was built against version (\d{3,6}), which is newer",
        "RuntimeError: Found cuDNN version 8700, but JAX was built against version 8907, which is newer.",
        "jax _src/xla_bridge.py, _check_cuda_versions",
    ),
    Signature(
        "jax_library_outdated",
        ("version jax was built against:",),
        r"Outdated (\w{2,12}) installation found\.?\s{1,4}Version JAX was built against: \d{3,6}",
        "Outdated cuDNN installation found.\nVersion JAX was built against: 8907",
        "jax _src/xla_bridge.py from 0.4.26 on, _check_cuda_versions",
    ),
    Signature(
        "jax_library_unloadable",
        ("is it installed?",),
        r"Unable to load (?:CUDA|cu[A-Za-z]{2,9})\. Is it installed\?",
        "RuntimeError: Unable to load cuDNN. Is it installed?",
        "jax _src/xla_bridge.py, _check_cuda_versions",
    ),
    Signature(
        "device_number_and_name",
        ("using gpu device ", "with properties:", ", compute capability"),
        r"Using gpu device (\d{1,2}): ([A-Z][\w ()-]{4,60}?)(?: \(CNMeM|\n|$)"
        r"|Found device (\d{1,2}) with properties:\s{1,4}(?:pciBusID: \S{5,20} )?name: ([A-Z][\w ()-]{4,60}?)(?: major|\n|$)"
        r"|^\s{1,4}Device (\d{1,2}): (NVIDIA [^,\n]{4,60}), compute capability",
        "Using gpu device 0: TITAN X (Pascal)",
        "theano; tensorflow gpu_device.cc; ggml-cuda.cu",
    ),
    Signature(
        "device_name_answer",
        ("get_device_name(",),
        r"get_device_name\((\d{1,2})\)\)?\s{0,3}(?:[:=>-]{1,3}|\n[ \t]*)\s{0,3}['\"]?([A-Z][\w ()-]{4,60})",
        ">>> torch.cuda.get_device_name(0)\n'NVIDIA GeForce RTX 3090'",
        "torch.cuda",
    ),
    Signature(
        "smi_no_processes",
        ("no running processes found",),
        r"No running processes found",
        "|  No running processes found                                                 |",
        "nvidia-smi",
    ),
    Signature(
        "smi_memory_used",
        ("mib", " mb"),
        r"(\d{3,6})(?:MiB| MB)? ?/ ?(\d{4,6}) ?(?:MiB|MB)",
        "| 31%   54C    P2    58W / 250W |  11829MiB / 12189MiB |      3%      Default |",
        "nvidia-smi, gpustat",
    ),
    Signature(
        "cudnn_sublibraries",
        ("sublibrary_version_mismatch", "cudnn_status_version_mismatch", "version_mismatch"),
        r"CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH|CUDNN_STATUS_VERSION_MISMATCH",
        "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
        "cuDNN 9.24 status names",
    ),
    Signature(
        "cudnn_sublibrary_loading",
        ("sublibrary_loading_failed", "could not load library libcudnn", "unable to load any of"),
        r"CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED|Could not load library (libcudnn\S{1,160}?)\.? Error"
        r"|Unable to load any of \{?(libcudnn[^\s,}]{1,160})",
        "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot"
        " open shared object file: No such file or directory",
        "cuDNN 8 and 9 loaders",
    ),
    Signature(
        "cudnn_symbol",
        ("cudnn",),
        r"Cannot load symbol (cudnn\w{1,80})|undefined symbol: (cudnn\w{1,80})",
        "Invalid handle. Cannot load symbol cudnnCreateTensorDescriptor",
        "cuDNN 9 shim",
    ),
    Signature(
        "cublas_invalid_value",
        ("cublas_status_invalid_value",),
        r"CUBLAS_STATUS_INVALID_VALUE",
        "RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm(...)`",
        "github.com/pytorch/pytorch/issues/88038",
    ),
    Signature(
        "process_row",
        ("mib |",),
        r"^\|\s{1,6}(\d+)\s+(?:N/A\s+N/A\s+)?(\d+)\s+[CG+]{1,3}\s+(\S[^|\n]{0,80}?)\s+(\d+)MiB \|",
        "|    0     31794    C   Unknown Error                                 5371MiB |",
        "nvidia-smi",
    ),
    Signature(
        "device_order_told",
        ("nvidia-smi", "device_order", "device order"),
        r"(?:order|index|ids?|number\w{0,4})[^\n]{0,60}(?:differ|mismatch|not (?:the )?same|wrong"
        r"|not match|reversed|inconsistent)[^\n]{0,60}nvidia-smi"
        r"|nvidia-smi[^\n]{0,80}(?:differ|mismatch|not (?:the )?same|not match|reversed)"
        r"[^\n]{0,60}(?:order|index|ids?|number)"
        r"|(?:other|different|wrong) (?:card|GPU|gpu|device)[^\n]{0,50}nvidia-smi"
        r"|(?:cuda:|VISIBLE_DEVICES=)(\d)\b[^\n]{0,80}nvidia-smi[^\n]{0,60}(?:GPU |as |on )(?!\1)\d\b"
        r"|GPUs? (\d)[^\n]{0,60}(?:selected|chosen|asked)[^\n]{0,40}nvidia-smi[^\n]{0,60}GPU (?!\2)\d\b",
        "The GPU ids differ from those of nvidia-smi",
        "how people describe CUDA_DEVICE_ORDER",
    ),
    Signature(
        "stub_mapped",
        ("/stubs",),
        r"libcuda\.so[.\d]{0,12} (?:=>|->) /\S{0,120}/stubs/",
        "libcuda.so.1 => /usr/local/cuda/lib64/stubs/libcuda.so.1 (0x00007f)",
        "ldd",
    ),
    Signature(
        "library_internal_error",
        ("cudnn_status_internal_error", "cudnn_status_execution_failed"),
        r"CUDNN_STATUS_INTERNAL_ERROR\b(?!_)|CUDNN_STATUS_EXECUTION_FAILED\b(?!_)",
        "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
        "cuDNN status names",
    ),
    Signature(
        "cufft_internal_error",
        ("cufft_internal_error",),
        r"CUFFT_INTERNAL_ERROR",
        "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR",
        "github.com/pytorch/pytorch/issues/88038",
    ),
)
