# ruff: noqa: E501  (a pattern stays readable in one piece)
"""What the dynamic loader, linkers and programs say about shared libraries."""

from __future__ import annotations

from agent.tables.signatures import Signature

_GLIBC = "glibc elf/dl-load.c and elf/dl-lookup.c"

ROWS: tuple[Signature, ...] = (
    Signature(
        "library_missing",
        (".so",),
        r"(lib[\w.+-]{1,60}?\.so[\w.]{0,40})'?: cannot open shared object file"
        r"|Could not load dynamic library '(lib[\w.+-]{1,60}\.so[\w.]{0,40})'"
        r"|(lib[\w.+-]{1,60}\.so[\w.]{0,40})['\"]? (?:not found|is not found|cannot be found)"
        r"|(?:unable|failed) to (?:load|open|find)[^\n]{0,30}[ '\"](lib(?:cu|nv|nccl)[\w.+-]{0,40}\.so"
        r"[\w.]{0,40})",
        "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
        _GLIBC,
    ),
    Signature(
        "library_not_found_listed",
        ("=> not found",),
        r"(lib[\w.+-]{1,60}\.so[\w.]{0,40}) => not found",
        "libcublas.so.12 => not found",
        "ldd",
    ),
    Signature(
        "dlopen_gpu_libraries",
        ("cannot dlopen some gpu libraries", "could not load dynamic library"),
        r"Cannot dlopen some GPU libraries|Could not load dynamic library '(lib\S{1,160})'; dlerror",
        "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above"
        " are installed properly if you would like to use GPU.",
        "tensorflow gpu_device.cc",
    ),
    Signature(
        "gpu_library_loaded",
        ("successfully opened dynamic library", "successfully opened cuda library"),
        r"[Ss]uccessfully opened (?:dynamic|CUDA) library (lib\S{1,160})",
        "Successfully opened dynamic library libcudart.so.10.1",
        "tensorflow dso_loader.cc",
    ),
    Signature(
        "symbol_undefined",
        ("undefined symbol", "symbol not found", "could not be located in the dynamic"),
        r"(?:(\S{1,160}): )?undefined symbol:? (\w{1,120})"
        r"(?:, version (\S{1,160}))?",
        "ImportError: /opt/lib/libtorch_cuda.so: undefined symbol: ncclMemFree",
        _GLIBC,
    ),
    Signature(
        "symbol_of_torch",
        ("_zn2at", "_zn3c10", "_zn5torch", "_znk3c10", "_znk2at", "_znk5torch", "_zt", "undefined"),
        r"(?:undefined symbol:? |undefined reference to .)(_Z(?:N|NK|TI|TV|TIN|TVN|NSt)\S{0,160}?"
        r"(?:2at|3c10|5torch|c10d)\w{0,120})",
        "undefined symbol: _ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEE",
        "github.com/Dao-AILab/flash-attention/issues/919",
    ),
    Signature(
        "symbol_old_abi",
        ("ess", "rkss", "undefined symbol"),
        r"undefined symbol:? (_ZN(?:2at|3c10|5torch)\w{0,120}?(?:RKSs|ESs|SsE|NS_14SourceLocationESs"
        r"|_Ss\b|Ss\b)\w{0,120})",
        "ImportError: flash_attn_2_cuda.so: undefined symbol:"
        " _ZN3c105ErrorC2ENS_14SourceLocationESs",
        "github.com/Dao-AILab/flash-attention/issues/1644",
    ),
    Signature(
        "symbol_new_abi",
        ("__cxx11", "b5cxx11"),
        r"undefined symbol:? (_ZN\w{0,120}?(?:2at|3c10|5torch)\w{0,120}?(?:__cxx11|B5cxx11)\w{0,120})",
        "ImportError: x.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112"
        "basic_stringIcSt11char_traitsIcESaIcEEE",
        "github.com/Dao-AILab/flash-attention/issues/1691, 1832",
    ),
    Signature(
        "nccl_symbol",
        ("undefined symbol: nccl",),
        r"undefined symbol: (nccl\w{1,120})",
        "libtorch_cuda.so: undefined symbol: ncclCommRegister",
        "github.com/pytorch/pytorch/issues/119932",
    ),
    Signature(
        "nccl_library_old",
        ("nccl library is too old", "mismatched nccl version", "nccl version mismatch"),
        r"NCCL library is too old\. This application was compiled with NCCL version"
        r"|Mismatched NCCL version detected",
        "RuntimeError: NCCL library is too old. This application was compiled with NCCL version"
        " 2.27.3",
        "torch NCCLUtils",
    ),
    Signature(
        "cuda_library_symbol",
        (
            "__nvjitlink",
            "undefined symbol: cu",
            "undefined symbol: __cu",
            "undefined symbol: _z",
            "libcublas",
            "libcudnn",
            "not defined in file lib",
        ),
        r"undefined symbol: (__nvJitLink\w{1,120}|__cudaRegister\w{0,120}|cu(?:blas|sparse|solver|fft|rand|dnn"
        r"|tlass|da)\w{1,120}|cudnn\w{1,120}|_Z\d{1,3}cudnn\w{1,400}|_ZN\d*cublas\w{0,120})(?:, version (\S{1,160}))?"
        r"|symbol (\w{1,120})(?:, version|[^\n]{0,8}) ?(\S{0,160}) not defined in file (lib(?:cu|nv)\S{1,160})"
        r" with link time reference",
        "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version"
        " libnvJitLink.so.12",
        "github.com/pytorch/pytorch/issues/111469, 134929, 140797",
    ),
    Signature(
        "glibc_version",
        ("glibc_",),
        r"version [`'\"]?GLIBC_([\d.]{1,16})['\"]? not found",
        "ImportError: /lib64/libc.so.6: version `GLIBC_2.28' not found (required by libtorch.so)",
        "github.com/pytorch/pytorch/issues/123649",
    ),
    Signature(
        "glibcxx_version",
        ("glibcxx_", "cxxabi_"),
        r"version [`'\"]?((?:GLIBCXX|CXXABI)_[\d.]{1,16})['\"]? not found",
        "ImportError: /opt/conda/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found",
        "libstdc++ ABI policy",
    ),
    Signature(
        "platform_tag_refused",
        ("manylinux", "is not a supported wheel on this platform", "glibc"),
        r"\S{0,160}manylinux_2_(\d+)\S{0,160} is not a supported wheel on this platform"
        r"|(?:requires|needs) (?:a )?glibc (?:>= ?|version )?(\d\.\d+)[^\n]{0,40}",
        "ERROR: torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl is not a supported wheel on this"
        " platform.",
        "pip",
    ),
    Signature(
        "linker_lcuda",
        ("-lcuda",),
        r"cannot find -lcuda\b(?!rt)|unable to find library -lcuda\b|library not found for -lcuda\b",
        "/usr/bin/ld: cannot find -lcuda: No such file or directory",
        "binutils ld; github.com/triton-lang/triton/pull/1981",
    ),
    Signature(
        "triton_libcuda",
        ("libcuda.so cannot found", "libcuda.so cannot be found"),
        r"libcuda\.so cannot (?:be )?found!?",
        "AssertionError: libcuda.so cannot found!",
        "triton common/build.py; github.com/triton-lang/triton/pull/1981, 2019",
    ),
    Signature(
        "triton_libcuda_candidates",
        ("possible files are located at",),
        r"Possible files are located at \[([^\]\n]+)\]",
        "Possible files are located at ['/lib64/libcuda.so.1'].Please create a symlink of libcuda.so"
        " to any of the file.",
        "triton common/build.py",
    ),
    Signature(
        "ldconfig_absent",
        ("ldconfig",),
        r"[Nn]o such file or directory: '(?:(?:/usr)?/sbin/)?ldconfig'"
        r"|'(?:(?:/usr)?/sbin/)?ldconfig', '-p'\]' (?:died|returned non-zero)"
        r"|ldconfig: Can't open cache file",
        "FileNotFoundError: [Errno 2] No such file or directory: '/sbin/ldconfig'",
        "github.com/NixOS/nixpkgs/issues/426296: triton looks for libcuda with ldconfig -p",
    ),
    Signature(
        "torch_wheels_not_found",
        ("not found in the system path",),
        r"(lib(?:cu|nv|nccl)\w{1,30}\.so)\S{0,12} not found in the system path",
        "ValueError: libcublas.so.*[0-9] not found in the system path ['/app']",
        "torch/__init__.py, _preload_cuda_deps",
    ),
    Signature(
        "libcuda_unversioned_missing",
        ("libcuda.so:", "libcuda.so "),
        r"libcuda\.so: cannot open shared object file|Error: libcuda\.so\b(?!\.)"
        r"|(?:cannot|could not|unable to|failed to) (?:find|load|open) libcuda\.so\b(?!\.)",
        "Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared"
        " object file: No such file or directory",
        "cuDNN 8 loader",
    ),
    Signature(
        "libcuda_missing",
        ("libcuda.so.1", "nvcuda"),
        r"libcuda\.so\.1'?: cannot open shared object file"
        r"|(?:cannot|could not|unable to|failed to) (?:find|load|open|locate) libcuda\.so\.1"
        r"|libcuda\.so\.1 (?:is )?not found|Could not load dynamic library 'libcuda\.so\.1'",
        "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
        _GLIBC,
    ),
    Signature(
        "libcuda_file",
        ("libcuda.so",),
        r"(/\S{1,160}/libcuda\.so(?:\.[\d.]*\d)?)\b",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.525.105.17",
        "names of the driver package",
    ),
    Signature(
        "torch_library_missing",
        ("libtorch", "libc10", "libcaffe2", "libshm"),
        r"(lib(?:torch|c10|caffe2|shm)\w{0,120}\.so[\w.]{0,40}): cannot open shared object file"
        r"|(lib(?:torch|c10)\w{0,120}\.so) => not found",
        "OSError: libtorch_cuda_cu.so: cannot open shared object file: No such file or directory",
        "layout of torch/lib",
    ),
    Signature(
        "nvrtc_builtins",
        ("libnvrtc-builtins", "builtin_operation_failure", "failed to load builtins"),
        r"failed to open libnvrtc-builtins\.(?:so\.)?(\d+\.\d+)|NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"
        r"|nvrtc: error: failed to load builtins",
        "nvrtc: error: failed to open libnvrtc-builtins.so.11.1.",
        "github.com/WisconsinAIVision/yolact_edge/issues/186; github.com/nanoporetech/dorado/1319",
    ),
    Signature(
        "bnb_missing_library",
        ("setup error", "libcudart", "no compatible", "bitsandbytes", "version mismatch"),
        r"CUDA SETUP ERROR: Missing dependency: (\S{1,160})"
        r"|(?:CUDA|ROCm) (?:Setup failed|SETUP: CUDA runtime path found|SETUP: Required library)"
        r"|Required library version not found: (libbitsandbytes_cuda\d+\w{0,120}\.so)"
        r"|No compatible (?:CUDA|ROCm) binary found at (\S{1,160})"
        r"|[Cc]ould not find (?:the )?bitsandbytes CUDA binary at \S{0,160}?(libbitsandbytes_cuda\d+\S{0,160})",
        "CUDA SETUP ERROR: Missing dependency: libcudart.so.12",
        "bitsandbytes 0.50.2 Python sources",
    ),
    Signature(
        "provider_library_failed",
        ("failed to load library libonnxruntime", "libonnxruntime_providers_cuda"),
        r"Failed to load library \S{0,160}libonnxruntime_providers_cuda\.so with error: (lib\S{1,160}?\.so[\w.]{0,40})",
        "FAIL : Failed to load library libonnxruntime_providers_cuda.so with error:"
        " libcublasLt.so.11: cannot open shared object file: No such file or directory",
        "onnxruntime provider_bridge_ort.cc",
    ),
    Signature(
        "bundled_library_path",
        ("site-packages/nvidia", "dist-packages/nvidia"),
        r"(/?\S{0,160}(?:site|dist)-packages/nvidia/\w{1,120}/lib(?:/(lib[\w.+-]{1,60}\.so[\w.]{0,40}))?)",
        "/venv/lib/python3.10/site-packages/nvidia/cusparse/lib/libcusparse.so.11",
        "layout of the nvidia-* wheels",
    ),
    Signature(
        "duplicate_runtime",
        ("multiple", "two versions", "cudart"),
        r"Found duplicate[^\n]{0,60}libcudart[^\n]{0,160}"
        r"|libcudart\.so\.(\d+)[^\n]{0,200}libcudart\.so\.(?!\1)(\d+)",
        "Found duplicate ['libcudart.so', 'libcudart.so.11.0', 'libcudart.so.12.0'] files",
        "bitsandbytes cuda_setup",
    ),
    Signature(
        "mkl_symbol",
        ("ijit_", "mkl", "libiomp", "__kmpc"),
        r"undefined symbol: (iJIT_\w{1,120}|mkl_\w{1,120}|MKL_\w{1,120}|__kmpc_\w{1,120}|omp_\w{1,120}|GOMP_\w{1,120})"
        r"|Intel MKL FATAL ERROR|INTEL MKL ERROR|MKL_SERVICE_FORCE_INTEL"
        r"|mkl-service \+ Intel\(R\) MKL: MKL_THREADING_LAYER=INTEL is incompatible",
        "ImportError: /opt/lib/libtorch_cpu.so: undefined symbol: iJIT_NotifyEvent",
        "github.com/pytorch/pytorch/issues/123097",
    ),
    Signature(
        "noexec_mount",
        ("failed to map segment from shared object",),
        r"failed to map segment from shared object(?:: (\w[\w ]{1,60}))?",
        "ImportError: /tmp/x.so: failed to map segment from shared object: Operation not permitted",
        _GLIBC,
    ),
    Signature(
        "static_tls",
        ("static tls block",),
        r"cannot allocate memory in static TLS block",
        "ImportError: libgomp.so.1: cannot allocate memory in static TLS block",
        _GLIBC,
    ),
)
