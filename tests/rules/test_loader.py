# ruff: noqa: E501  (printed lines are as wide as they are)
"""What the loader and the linker find: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="libcuda-stub-loaded",
        fires="""RuntimeError: CUDA error: CUDA driver is a stub library
LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/usr/local/cuda/lib64""",
        quiet="""LIBRARY_PATH=/usr/local/cuda/lib64/stubs
LD_LIBRARY_PATH=/usr/local/cuda/lib64
torch.cuda.is_available(): True""",
        elsewhere=(
            """cuInit(0) failed: CUDA_ERROR_STUB_LIBRARY, the library loaded was
/usr/local/cuda-12.1/targets/x86_64-linux/lib/stubs/libcuda.so""",
            """CUDA error at deviceQuery.cpp code=34(cudaErrorStubLibrary)""",
        ),
        source="CUDA runtime API, cudaErrorStubLibrary; numba issue 7006",
    ),
    Row(
        code="libcuda-linker-symlink-missing",
        fires="""/usr/bin/ld: cannot find -lcuda
collect2: error: ld returned 1 exit status
$ ls /usr/lib/x86_64-linux-gnu/libcuda*
/usr/lib/x86_64-linux-gnu/libcuda.so.1""",
        quiet="""$ ls /usr/lib/x86_64-linux-gnu/libcuda*
/usr/lib/x86_64-linux-gnu/libcuda.so
/usr/lib/x86_64-linux-gnu/libcuda.so.1
torch.cuda.is_available(): True""",
        elsewhere=(
            """AssertionError: libcuda.so cannot found!
Possible files are located at ['/lib/x86_64-linux-gnu/libcuda.so.1'].Please create a symlink of
libcuda.so to any of the file.""",
            """../x86_64-conda-linux-gnu/bin/ld: cannot find -lcuda: No such file or directory
error: command 'gcc' failed with exit status 1""",
        ),
        source="triton pull requests 1981, 3053; state-spaces/mamba issue 123",
    ),
    Row(
        code="libcuda-not-in-ldcache",
        fires="""    assert any(os.path.exists(os.path.join(path, 'libcuda.so')) for path in dirs), msg
AssertionError: libcuda.so cannot found!
$ ldconfig -p | grep libcuda.so
$""",
        quiet="""$ ldconfig -p | grep libcuda.so
    libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1
    libcuda.so (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so
torch.cuda.is_available(): True""",
        elsewhere=(
            """AssertionError: libcuda.so cannot found!
Kaggle notebook, T4 x2, triton 2.1.0""",
            """OSError: libcuda.so.1: cannot open shared object file
the tool parses `ldconfig -p`; the library is in /run/opengl-driver/lib/libcuda.so.1 (NixOS)""",
        ),
        source="triton pull requests 2019, 2883; huggingface/kernels pull request 670",
    ),
    Row(
        code="wsl-libcuda-so-link-missing",
        fires="""Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file:
No such file or directory
Linux-5.15.90.1-microsoft-standard-WSL2-x86_64""",
        quiet="""torch.cuda.is_available(): True
Linux-5.15.90.1-microsoft-standard-WSL2-x86_64
LD_LIBRARY_PATH=/usr/lib/wsl/lib""",
        elsewhere=(
            """os: WSL2 Ubuntu 22.04 on Windows 11
Could not load library libcudnn_cnn_train.so.8. Error: /usr/local/cuda-12.1/lib64/libcudnn_cnn_train
.so.8: undefined symbol
Error: libcuda.so: cannot open shared object file: No such file or directory""",
        ),
        source="microsoft/WSL issues 5663, 8587; pytorch issue 85773",
    ),
    Row(
        code="bundled-cuda-libs-not-on-path",
        fires="""Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared
object file: No such file or directory
faster-whisper 1.0.1
nvidia-cudnn-cu12 8.9.7.29
nvidia-cublas-cu12 12.4.5.8""",
        quiet="""faster-whisper 1.0.1
nvidia-cudnn-cu12 8.9.7.29
torch 2.3.1+cu121
torch.cuda.is_available(): True""",
        elsewhere=(
            """Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are
installed properly if you would like to use GPU.
tensorflow 2.16.1, installed with pip install tensorflow[and-cuda]
nvidia-cublas-cu12        12.3.4.1
nvidia-cudnn-cu12         8.9.7.29""",
            """RuntimeError: Library libcublas.so.12 is not found or cannot be loaded
>>> ls venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12
venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12""",
        ),
        source="faster-whisper README; tensorflow issue 63362; ctranslate2",
    ),
    Row(
        code="lib-built-for-other-cuda-major",
        fires="""Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.11: cannot open
shared object file: No such file or directory
onnxruntime-gpu 1.16.3
nvidia-cublas-cu12 12.1.3.1
torch 2.1.2+cu121""",
        quiet="""onnxruntime-gpu 1.18.1
nvidia-cublas-cu12 12.1.3.1
torch 2.3.1+cu121
torch.cuda.is_available(): True""",
        elsewhere=(
            """ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory
cupy-cuda11x 12.2.0
/usr/local/cuda -> /usr/local/cuda-12.2""",
            """ImportError: libcudart.so.12: cannot open shared object file: No such file or directory
tensorrt_llm 0.20, torch 2.9.1+cu130""",
        ),
        source="onnxruntime CUDA execution provider page; cupy installation guide; sonames of toolkits",
    ),
    Row(
        code="cuda-runtime-libs-missing-in-container",
        fires="""ImportError: libcublas.so.12: cannot open shared object file: No such file or directory
FROM nvidia/cuda:12.4.1-base-ubuntu22.04
container: docker""",
        quiet="""FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04
container: docker
torch.cuda.is_available(): True""",
        elsewhere=(
            """error while loading shared libraries: libcudart.so.12: cannot open shared object file: No such
file or directory
the same binary runs on the host, where CUDA 12.2 is installed; inside the docker container it does
not (docker run --gpus all ubuntu:22.04)""",
        ),
        source="NVIDIA container images; llama.cpp docker discussions",
    ),
    Row(
        code="ld-library-path-clobbered",
        fires="""Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object
file: No such file or directory; LD_LIBRARY_PATH: /opt/intel/oneapi/mkl/lib
it worked before sourcing setvars.sh, which replaced LD_LIBRARY_PATH""",
        quiet="""Successfully opened dynamic library libcudart.so.11.0
Successfully opened dynamic library libcudnn.so.8
LD_LIBRARY_PATH: /usr/local/cuda/lib64""",
        elsewhere=(
            """Cannot dlopen some GPU libraries. Skipping registering GPU devices...
env: LD_LIBRARY_PATH is overwritten by a later `module load gcc`""",
        ),
        source="environment modules; tensorflow gpu_device.cc",
    ),
    Row(
        code="ld-library-path-shadows-torch-libs",
        fires="""ImportError: /venv/lib/python3.11/site-packages/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12:
undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12
LD_LIBRARY_PATH=/usr/local/cuda-12.1/lib64""",
        quiet="""torch 2.5.1+cu124
LD_LIBRARY_PATH=/usr/local/cuda-12.1/lib64
torch.cuda.is_available(): True""",
        elsewhere=(
            """OSError: libcublas.so.11: symbol cublasLtGetStatusString version libcublasLt.so.11 not defined in
file libcublasLt.so.11 with link time reference
$ echo $LD_LIBRARY_PATH
/usr/local/cuda-11.3/lib64
torch 1.13.1+cu117""",
            """RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found
runtime version (8, 9, 2). PyTorch already comes bundled with cuDNN. One option to resolving this error
is to ensure PyTorch can find the bundled cuDNN. Looks like your LD_LIBRARY_PATH contains incompatible
version of cudnn.
LD_LIBRARY_PATH=/usr/lib/cudnn-8.9/lib""",
        ),
        source="pytorch issues 111469, 88869, 134929; torch/backends/cudnn/__init__.py",
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
