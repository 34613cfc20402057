# ruff: noqa: E501  (a pattern stays readable in one piece)
"""What compilers and the building of extensions print."""

from __future__ import annotations

from agent.tables.signatures import Signature

_TORCH = "torch.utils.cpp_extension of torch 2.14.1"

ROWS: tuple[Signature, ...] = (
    Signature(
        "cuda_home_unset",
        ("cuda_home environment variable is not set", "cuda_home is not set", "cuda_home"),
        r"CUDA_HOME environment variable is not set|CUDA_HOME (?:is not set|does not exist)"
        r"|CUDA_HOME=None|Please set it to your CUDA install root",
        "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install"
        " root.",
        _TORCH,
    ),
    Signature(
        "nvcc_missing",
        ("nvcc",),
        r"nvcc was not found|nvcc: (?:command )?not found|[Nn]o such file or directory: '?\S{0,160}nvcc'?"
        r"|nvcc: No such file or directory|Failed to find nvcc|Could not find nvcc"
        r"|unable to execute '\S{0,160}nvcc'|No CMAKE_CUDA_COMPILER could be found",
        "[Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'",
        "CPython subprocess; CMake",
    ),
    Signature(
        "cuda_home_malformed",
        ("nvcc", "cuda_home", "cuda_path", "include"),
        r"(?:^|[\s'\"=I])(:/\S{0,160}cuda[^\s'\"]{0,160}|/[^\s'\"]{0,160}cuda[^\s':\"]{0,160}:[^\s'\"]{0,160})/bin/nvcc"
        r"|(?:^|[\s'\"])(:/\S{0,160}cuda[^\s'\"]{0,160}|/[^\s'\":]{0,160}cuda[^\s':\"]{0,160}:[^\s'\"]{0,160})/include\b"
        r"|(?:CUDA_HOME|CUDA_PATH)\s{0,60}[=:]\s{0,60}['\"]?(:/\S{1,160}|/[^\s:'\"]{1,160}:[^\s'\"]{0,160}|\S{0,160}/bin/nvcc\b)"
        r"|(/\S{0,160}cuda[^\s'\":]{0,160}/bin/bin/nvcc)"
        r"|(['\"]['\"]?/[^\s'\":]{0,160}cuda[^\s'\":]{0,160}['\"]/bin/nvcc)",
        "unable to execute '/usr/local/cuda:/bin/nvcc': No such file or directory",
        "github.com/rusty1s/pytorch_cluster/issues/55; github.com/NVIDIA/apex/issues/368, 500",
    ),
    Signature(
        "cuda_versions_differ",
        (
            "mismatches the version that was used to compile",
            "does not match the version torch was compiled with",
            "of cuda that does not match",
            "were compiled with different cuda versions",
        ),
        r"[Tt]he detected CUDA version \(([\d.]{1,16})\) mismatches the version that was used to "
        r"compile\s{1,60}PyTorch \(([\d.]{1,16})\)"
        r"|Installed CUDA version ([\d.]{1,16}) does not match the version torch was compiled with"
        r" ([\d.]{1,16})"
        r"|Cuda extensions are being compiled with a version of Cuda that does not match",
        "RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to"
        " compile PyTorch (13.0). Please make sure to use the same CUDA versions.",
        _TORCH,
    ),
    Signature(
        "cuda_minor_differs",
        ("has a minor version mismatch",),
        r"has a minor version mismatch with the version that was used to compile PyTorch",
        "The detected CUDA version (12.4) has a minor version mismatch with the version that was"
        " used to compile PyTorch (12.8). Most likely this shouldn't be a problem.",
        _TORCH,
    ),
    Signature(
        "nvcc_lacks_arch",
        ("unsupported gpu architecture", "unknown cuda arch", "unsupported cuda arch"),
        r"nvcc fatal\s{0,60}: Unsupported gpu architecture '(\w{1,120})'"
        r"|Unknown CUDA arch \((\S{1,160}?)\) or GPU not supported"
        r"|CMAKE_CUDA_ARCHITECTURES[^\n]{0,60}(?:invalid|unsupported|not supported)",
        "nvcc fatal   : Unsupported gpu architecture 'compute_120'",
        "nvcc of CUDA 10.2 to 13.0",
    ),
    Signature(
        "compiler_too_new",
        ("unsupported gnu version", "maximum required version by cuda", "unsupported clang"),
        r"unsupported GNU version! gcc versions later than (\d+) are not supported"
        r"|is greater than the maximum required version by CUDA"
        r"|unsupported (?:clang|Microsoft Visual Studio) version",
        "#error -- unsupported GNU version! gcc versions later than 13 are not supported!",
        "crt/host_config.h of the toolkit; torch.utils.cpp_extension",
    ),
    Signature(
        "compiler_too_old",
        ("c++17", "you need c++", "requires gcc", "does not support c++"),
        r"You need C\+\+17 to compile PyTorch|unrecognized command line option .-std=c\+\+17"
        r"|requires (?:at least )?(?:gcc|GCC|g\+\+) (?:>= ?)?(\d+)(?:\.\d)? or (?:later|newer)",
        "#error You need C++17 to compile PyTorch",
        "torch headers",
    ),
    Signature(
        "no_compiler",
        (
            "failed to find c compiler",
            "command 'gcc' failed: no such file",
            "unable to execute 'gcc'",
            "unable to execute 'x86_64",
            "c++: not found",
            "g++: not found",
            "gcc: not found",
            "no such file or directory: 'c++'",
            "no such file or directory: 'gcc'",
            "no such file or directory: 'g++'",
            "no such file or directory: 'which'",
            "invalidcxxcompiler",
            "no working c++ compiler",
            "invalid_cxx",
        ),
        r"Failed to find C compiler|unable to execute '\S{0,160}(?:gcc|g\+\+|cc|c\+\+)'"
        r"|command '\S{0,160}(?:gcc|g\+\+|cc|c\+\+)' failed: No such file"
        r"|\b(?:gcc|g\+\+|cc|c\+\+): (?:command )?not found|InvalidCxxCompiler"
        r"|No such file or directory: '(?:c\+\+|g\+\+|gcc|cc)'|No working C\+\+ compiler found",
        "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
        "triton runtime/build.py; distutils",
    ),
    Signature(
        "ninja_missing",
        ("ninja",),
        r"Ninja is required to load C\+\+ extensions|Could not find ninja|ninja: command not found",
        "RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get it)",
        _TORCH,
    ),
    Signature(
        "python_header_missing",
        ("python.h", "pyconfig.h", "development.module", "python3_include"),
        r"Python\.h:? ?['\"]? ?(?:file not found|No such file)|['\"]Python\.h['\"] file not found"
        r"|pyconfig\.h: No such file|[Cc]annot (?:find|open)[^\n]{0,30}Python\.h"
        r"|missing:[^\n]{0,40}(?:Python3?_INCLUDE_DIRS?|Development(?:\.Module)?)"
        r"|fatal error: Python\.h|include file 'Python\.h' not found|'Python\.h': No such file",
        "/x/main.c:2:10: fatal error: Python.h: No such file or directory",
        "gcc and clang; CMake FindPython",
    ),
    Signature(
        "cuda_header_missing",
        (
            "cuda_runtime",
            "cuda.h",
            "cublas",
            "cusparse.h",
            "cusolver",
            "thrust/",
            "cudnn.h",
            "curand",
        ),
        r"fatal error: ['\"]?((?:cuda_runtime(?:_api)?|cuda|cuda_fp16|cublas\w{0,120}|cusparse|cusolver\w{1,120}"
        r"|cudnn|curand\w{0,120}|cuda_bf16|nvrtc|nvToolsExt|nv/target|crt/host_config|thrust/\S{1,160}?)\.h)"
        r"|fatal error: ['\"]?(nv/target|cuda/std/\S{1,160}|thrust/\S{1,160})",
        "fatal error: cuda_runtime_api.h: No such file or directory",
        "gcc",
    ),
    Signature(
        "build_killed",
        ("killed", "signal 9", "cc1plus", "virtual memory exhausted", "internal compiler error"),
        r"(?:'?(?:cicc|ptxas|cudafe\+\+|nvcc|cc1plus|fatbinary)'?) died due to signal 9"
        r"|fatal error: Killed signal terminated program (\w{1,120})|Killed \(program (\w{1,120})\)"
        r"|\bld terminated with signal 9"
        r"|virtual memory exhausted: Cannot allocate memory|cc1plus: out of memory"
        r"|internal compiler error: Killed|error: command '\S{0,160}(?:gcc|g\+\+|nvcc|c\+\+)\S{0,160}' "
        r"(?:failed with exit (?:status|code) (?:137|-9)|terminated by signal 9)"
        r"|(?:nvcc|cc1plus|cicc|ptxas)[^\n]{0,40}\bKilled\b"
        r"|Killed[^\n]{0,80}(?:nvcc|cc1plus|cicc|ptxas|g\+\+)",
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        "nvcc and gcc drivers; github.com/Dao-AILab/flash-attention/issues/945",
    ),
    Signature(
        "building",
        (
            "building wheel",
            "build_ext",
            "ninja:",
            "max_jobs",
            "running build",
            "setup.py",
            "error building extension",
            "cmake",
            ".cu.o",
            "cc1plus",
            "make:",
            "make[",
            "pip install",
            "pip3 install",
            "docker build",
            "nvcc",
        ),
        r"Building wheel|build_ext|ninja: build stopped|running build|Error building extension"
        r"|CMakeFiles|\.cu\.o\b|MAX_JOBS|cc1plus|make(?:\[\d+\])?: \*\*\*|setup\.py (?:install|bdist"
        r"|develop|build)|pip3? install|docker build|\bnvcc\b",
        "ninja: build stopped: subcommand failed.",
        "ninja, setuptools, make",
    ),
    Signature(
        "nvcc_release",
        ("cuda compilation tools", "build cuda_", "cuda runtime version"),
        r"Cuda compilation tools, release (\d+\.\d+)|Build cuda_(\d+\.\d+)\.r"
        r"|CUDA runtime version\s{0,60}: (\d+\.\d+)",
        "Cuda compilation tools, release 12.4, V12.4.131",
        "nvcc --version; torch.utils.collect_env",
    ),
    Signature(
        "no_torch_in_isolation",
        ("no module named 'torch'",),
        r"No module named 'torch'",
        "ModuleNotFoundError: No module named 'torch'",
        "CPython",
    ),
    Signature(
        "build_isolation",
        (
            "requires_for_build",
            "build-isolation",
            "prepare_metadata",
            "to build wheel",
            "build_meta",
            "pip-build-env",
            "_in_process",
        ),
        r"get_requires_for_build_wheel|no-build-isolation|pip-build-env|prepare_metadata_for_build"
        r"|Getting requirements to build wheel|_in_process\.py|build_meta\.py",
        "× Getting requirements to build wheel did not run successfully.",
        "pip",
    ),
    Signature(
        "cuda_home_shown",
        ("using cuda_home",),
        r"No CUDA runtime is found, using CUDA_HOME='([^'\n]{0,160})'",
        "No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'",
        _TORCH,
    ),
    Signature(
        "xformers_built_for",
        ("xformers was built for",),
        r"xFormers was built for:?\s{1,60}PyTorch (\S{1,160}) with CUDA (\S{1,160}) \(you have (\S{1,160}?)\)",
        "xFormers was built for: PyTorch 2.6.0+cu124 with CUDA 1204 (you have 2.6.0+cu126)",
        "xformers _cpp_lib.py",
    ),
    Signature(
        "xformers_not_built",
        ("xformers wasn't buil",),
        r"xFormers wasn't buil[dt] with CUDA support",
        "xFormers wasn't build with CUDA support",
        "xformers ops/common.py",
    ),
    Signature(
        "extension_wheel_name",
        ("torch2", "torch1", "cu1", "pt2"),
        r"\b([A-Za-z][\w.]{0,40}?)-\d[\w.]{0,40}?\+?(?:cu(\d+))?(?:pt|torch)(\d+\.\d+(?:\.\d+)?)"
        r"(?:cu(\d+))?(?:cxx11abi(TRUE|FALSE))?",
        "flash_attn-2.5.5+cu118torch2.2cxx11abiTRUE-cp38-cp38-linux_x86_64.whl",
        "release files of flash-attention, pyg, natten",
    ),
    Signature(
        "plain_killed",
        ("killed", "137", "-9"),
        r"^\s{0,60}Killed\b|: line \d+:\s+\d+ Killed|exit(?:ed)? (?:with )?(?:code|status):? ?(?:137|-9)"
        r"|\bKilled signal\b|signal 9",
        "Killed",
        "bash",
    ),
)
