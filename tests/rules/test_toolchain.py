# ruff: noqa: E501  (printed lines are as wide as they are)
"""Building extensions: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="build-oom-killed",
        fires="""[17/64] /usr/local/cuda/bin/nvcc -c flash_bwd_hdim256_bf16_sm80.cu
Killed
ninja: build stopped: subcommand failed.
RuntimeError: Error compiling objects for extension""",
        quiet="""[64/64] /usr/local/cuda/bin/nvcc -c flash_bwd_hdim256_bf16_sm80.cu
Successfully built flash-attn""",
        elsewhere=(
            """g++: fatal error: Killed signal terminated program cc1plus
compilation terminated.
make[2]: *** [caffe2/CMakeFiles/torch_cpu.dir/build.make:7490] Error 1""",
            """nvcc error   : 'ptxas' died due to signal 9 (Kill signal)
Building wheel for mamba-ssm (setup.py): finished with status 'error'""",
        ),
        source="flash-attention issues 945, 1038; gcc driver; pytorch build issues",
    ),
    Row(
        code="cuda-home-malformed",
        fires="""unable to execute ':/usr/local/cuda-11.3/bin/nvcc': No such file or directory
error: command ':/usr/local/cuda-11.3/bin/nvcc' failed with exit status 1""",
        quiet="""CUDA_HOME=/usr/local/cuda-11.3
LD_LIBRARY_PATH=/usr/local/cuda-11.3/lib64:/usr/lib
Successfully built apex""",
        elsewhere=(
            """FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda:/usr/local/cuda/bin/nvcc'""",
            """CUDA_HOME=/usr/local/cuda-10.1/bin
unable to execute '/usr/local/cuda-10.1/bin/bin/nvcc': No such file or directory""",
            """gcc -I/usr/local/cuda-12.1:/include -c ops.cpp
/bin/sh: 1: /usr/local/cuda-12.1:/bin/nvcc: not found""",
        ),
        source="pytorch_cluster issue 55; apex issues 368, 500; mmdetection issue 1756; kat issue 6",
    ),
    Row(
        code="nvcc-torch-cuda-mismatch",
        fires="""RuntimeError:
The detected CUDA version (11.5) mismatches the version that was used to compile
PyTorch (12.1). Please make sure to use the same CUDA versions.""",
        quiet="""The detected CUDA version (12.4) has a minor version mismatch with the version that was used to
compile PyTorch (12.1). Most likely this shouldn't be a problem.
Successfully built pointnet2""",
        elsewhere=(
            """deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA
version 12.6 does not match the version torch was compiled with 13.0, unable to compile cuda/cpp
extensions without a matching cuda version.""",
            """RuntimeError: Cuda extensions are being compiled with a version of Cuda that does not match the
version used to compile Pytorch binaries.  Pytorch binaries were compiled with Cuda 10.2""",
        ),
        source="torch cpp_extension; deepspeed op_builder; apex setup.py",
    ),
    Row(
        code="nvcc-too-old-for-arch",
        fires="""nvcc fatal   : Unsupported gpu architecture 'compute_89'
Cuda compilation tools, release 11.5, V11.5.119""",
        quiet="""Cuda compilation tools, release 12.4, V12.4.131
TORCH_CUDA_ARCH_LIST=8.9
Successfully built xformers""",
        elsewhere=(
            """ValueError: Unknown CUDA arch (12.0) or GPU not supported
torch 2.4.0, building vllm from source on an RTX 5090""",
            """nvcc fatal   : Unsupported gpu architecture 'compute_90a'
which nvcc -> /usr/bin/nvcc""",
        ),
        source="nvcc; torch cpp_extension; Ubuntu's nvidia-cuda-toolkit 11.5",
    ),
    Row(
        code="nvcc-dropped-arch",
        fires="""nvcc fatal   : Unsupported gpu architecture 'compute_35'
Cuda compilation tools, release 12.2, V12.2.140""",
        quiet="""Cuda compilation tools, release 11.8, V11.8.89
-gencode arch=compute_35,code=sm_35
Successfully built pytorch3d""",
        elsewhere=(
            """nvcc fatal : Unsupported gpu architecture 'compute_70'
Build cuda_13.0.r13.0/compiler.36424714_0""",
        ),
        source="CUDA 12.0 and 13.0 release notes",
    ),
    Row(
        code="python-headers-missing",
        fires="""/tmp/tmpab12/cuda_utils.c:6:10: fatal error: Python.h: No such file or directory
    6 | #include <Python.h>
compilation terminated.
subprocess.CalledProcessError: Command '['/usr/bin/gcc', ...]' returned non-zero exit status 1.""",
        quiet="""$ ls /usr/include/python3.10/Python.h
/usr/include/python3.10/Python.h
torch.cuda.is_available(): True""",
        elsewhere=(
            """cuda_utils.c:1:10: fatal error: 'Python.h' file not found (clang)""",
            """CMake Error: Could NOT find Python (missing: Python_INCLUDE_DIRS Development.Module) (found
version "3.12.3")""",
        ),
        source="triton runtime/build.py; CMake FindPython",
    ),
    Row(
        code="no-compiler",
        fires="""torch._inductor.exc.InductorError: RuntimeError: Failed to find C compiler. Please specify via CC
environment variable or set triton.knobs.build.impl.""",
        quiet="""gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
torch.cuda.is_available(): True""",
        elsewhere=("""error: command 'gcc' failed: No such file or directory""",),
        source="triton runtime/build.py; distutils",
    ),
    Row(
        code="cuda-toolkit-missing",
        fires="""OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.
torch 2.6.0+cu124""",
        quiet="""CUDA runtime version: Could not collect
torch 2.6.0+cu124
torch.cuda.is_available(): True""",
        elsewhere=(
            """fatal error: cuda_runtime_api.h: No such file or directory
#include <cuda_runtime_api.h>""",
            """[Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'""",
        ),
        source="torch cpp_extension; gcc",
    ),
    Row(
        code="compiler-unsuited",
        fires="""/usr/local/cuda/include/crt/host_config.h:143:2: error: #error -- unsupported GNU version! gcc
versions later than 12 are not supported!""",
        quiet="""gcc version 12.3.0
Cuda compilation tools, release 12.1, V12.1.105
Successfully built flash-attn""",
        elsewhere=(
            """/torch/include/c10/util/C++17.h:27:2: error: #error You need C++17 to compile PyTorch""",
        ),
        source="crt/host_config.h; torch headers",
    ),
    Row(
        code="ninja-missing",
        fires="""RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get it)""",
        quiet="""ninja 1.11.1.1
Loading extension module fused_adam...""",
        elsewhere=("""ERROR: Could not find ninja; install it to build this extension""",),
        source="torch cpp_extension; meson-python",
    ),
    Row(
        code="build-isolation-hides-torch",
        fires="""  × Getting requirements to build wheel did not run successfully.
      File "<string>", line 20, in <module>
      ModuleNotFoundError: No module named 'torch'
torch 2.3.0+cu121""",
        quiet="""  Getting requirements to build wheel: finished with status 'done'
torch 2.3.0+cu121""",
        elsewhere=(
            """File "/tmp/pip-build-env-x/overlay/setuptools/build_meta.py", line 334
ModuleNotFoundError: No module named 'torch'""",
        ),
        source="flash-attention README; pip, build isolation",
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_fires_first(row: Row) -> None:
    assert first(row.fires) == row.code


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_the_healthy_neighbour_is_quiet(row: Row) -> None:
    assert alarms(row.quiet) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [(row.code, text) for row in ROWS for text in row.elsewhere],
    ids=lambda value: value if len(value) < 50 else "text",
)
def test_other_wordings(code: str, text: str) -> None:
    assert first(text) == code
