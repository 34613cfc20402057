# ruff: noqa: E501  (printed lines are as wide as they are)
"""CUDA libraries of different versions in one environment: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="nvidia-wheel-version-conflict",
        fires="""ImportError: /venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so: undefined symbol:
ncclCommSplit
nvidia-nccl-cu11 2.14.3
nvidia-nccl-cu12 2.18.1
torch 2.2.0""",
        quiet="""nvidia-nccl-cu12 2.19.3
torch 2.2.0+cu121
torch.cuda.is_available(): True""",
        elsewhere=(
            """ImportError: libtorch_cuda.so: undefined symbol: ncclCommWindowRegister
torch 2.9.0, after pip install of a package that depends on an older nvidia-nccl-cu12""",
            """RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH
torch 2.6.0+cu124
nvidia-cudnn-cu12 9.5.1.17""",
        ),
        source="pytorch issues 119932, 160489; layout of the nvidia-* wheels",
    ),
    Row(
        code="conda-cuda-lib-mismatch",
        fires="""ImportError: /miniconda3/envs/x/lib/python3.9/site-packages/torch/lib/libtorch_cuda.so: undefined
symbol: cublasLtGetStatusString, version libcublasLt.so.11
$ conda list | grep libcublas
libcublas                 11.4.1.1043          0    nvidia
libcublas                 12.1.0.26            0    nvidia""",
        quiet="""$ conda list | grep -i cuda
pytorch                   2.1.0           py3.9_cuda11.8_cudnn8.7.0_0    pytorch
pytorch-cuda              11.8                 h7e8668a_5    pytorch
libcublas                 11.11.3.6                     0    nvidia
torch.cuda.is_available(): True""",
        elsewhere=(
            """conda install pytorch pytorch-cuda=12.1 -c pytorch -c nvidia
OSError: libcufft.so.11: undefined symbol: cufftGetProperty, version libcufft.so.11""",
        ),
        source="pytorch issue 88882; conda-forge documentation on cuda-version",
    ),
    Row(
        code="mixed-cuda-toolkits",
        fires="""nvrtc: error: failed to open libnvrtc-builtins.so.11.1.
  Make sure that libnvrtc-builtins.so.11.1 is installed correctly.
$ ls /usr/local/cuda-11.6/lib64
libnvrtc-builtins.so.11.6""",
        quiet="""$ ls /usr/local/cuda-11.6/lib64
libnvrtc-builtins.so.11.6
libnvrtc.so.11.2
torch.cuda.is_available(): True""",
        elsewhere=(
            """NvrtcError: Failed to call nvrtcCompileProgram: NVRTC_ERROR_BUILTIN_OPERATION_FAILURE
LD_LIBRARY_PATH=/usr/local/cuda-12.0/lib64:/usr/local/cuda-12.8/lib64""",
            """Found duplicate ['libcudart.so', 'libcudart.so.11.0', 'libcudart.so.12.0'] files: which one is
loaded depends on the path""",
        ),
        source="yolact_edge issue 186; numba-cuda pull request 196; bitsandbytes cuda_setup",
    ),
    Row(
        code="cudnn-older-than-build",
        fires="""Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.6.0.  CuDNN library needs to
have matching major version and equal or higher minor version.""",
        quiet="""Loaded cuDNN version 8907
I0000 Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22000 MB memory""",
        elsewhere=(
            """RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (8, 5, 0) but linked
against (8, 2, 4)
the image has an old libcudnn8 from apt""",
        ),
        source="tensorflow cuda_dnn.cc; torch/backends/cudnn/__init__.py",
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
