# ruff: noqa: E501  (printed lines are as wide as they are)
"""The driver's CUDA against programs: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="driver-too-old-for-build",
        fires="""RuntimeError: The NVIDIA driver on your system is too old (found version 12040).
torch: 2.11.0+cu130
driver: 550.90.07""",
        quiet="""torch: 2.9.1+cu128
driver: 550.90.07
torch.cuda.is_available(): True
gpu: NVIDIA A40""",
        elsewhere=(
            """CUDA error at bandwidthTest.cu:686 code=35(cudaErrorInsufficientDriver)
CUDA driver version is insufficient for CUDA runtime version
NVIDIA-SMI 470.199.02   Driver Version: 470.199.02   CUDA Version: 11.4
image: pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime""",
            """UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version
11070). Please update your GPU driver by downloading and installing a new version
Is CUDA available: False
PyTorch version: 2.1.0+cu121
Nvidia driver version: 515.105.01""",
        ),
        source="pytorch forum; cuda samples; docs.nvidia.com/deploy/cuda-compatibility",
    ),
    Row(
        code="driver-too-old-for-ptx-toolchain",
        fires="""RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.
driver: 525.85.12
torch: 2.4.0+cu121""",
        quiet="""driver: 525.85.12
torch: 2.4.0+cu121
torch.cuda.is_available(): True""",
        elsewhere=(
            """numba.cuda.cudadrv.driver.LinkerError: [222] Call to cuLinkAddData results in
CUDA_ERROR_UNSUPPORTED_PTX_VERSION
ptxas application ptx input, line 9; fatal   : Unsupported .version 8.4; current version is '8.2'
nvidia-smi: 535.129.03, CUDA Version: 12.2""",
            """ggml_cuda_init: found 1 CUDA devices
CUDA error: the provided PTX was compiled with an unsupported toolchain.
  current device: 0, in function ggml_cuda_op_mul_mat
Driver Version: 550.120  CUDA Version: 12.4, built with nvcc 12.8""",
        ),
        source="numba issue 8894; llama.cpp issues; CUDA compatibility guide",
    ),
    Row(
        code="driver-too-old-for-toolkit-feature",
        fires="""transport/nvls.cc:76 NCCL WARN Cuda failure 'API call is not supported in the installed CUDA
driver'
nvidia-smi: Driver Version: 515.65.01, CUDA Version: 11.7, toolkit 11.8""",
        quiet="""NCCL INFO NVLS multicast support is not available on dev 0
nvidia-smi: Driver Version: 535.183.01, CUDA Version: 12.2""",
        elsewhere=(
            """RuntimeError: Function "cuMemAllocAsync" not found
cuda-python 11.7, Driver Version: 455.23.05""",
            """CUDA error at memtransfer_wrapper.cu:33 code=801(cudaErrorNotSupported) "cudaMallocAsync(...)"
Driver Version: 470.223.02   CUDA Version: 11.4
Cuda compilation tools, release 11.8, V11.8.89""",
        ),
        source="NCCL issue 955; cuda-python issue 23; finufft issue 396",
    ),
    Row(
        code="forward-compat-on-unsupported-gpu",
        fires="""Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on
non supported HW
NVIDIA GeForce RTX 2080 Ti, driver 470.103.01
image: nvcr.io/nvidia/pytorch:22.12-py3""",
        quiet="""NOTE: CUDA Forward Compatibility mode ENABLED.
  Using CUDA 12.0 driver version 525.60.13 with kernel driver version 470.103.01.
torch.cuda.is_available(): True
gpu: Tesla T4""",
        elsewhere=(
            """CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported
HW
kernel reported version is: 450.119.3, libcuda reported version is: 465.19.1""",
            """cudaErrorCompatNotSupportedOnDevice in a DeepStream container on a GTX 1660""",
        ),
        source="nvidia-docker issue 1256; tensorflow stream_executor; NGC entry point",
    ),
    Row(
        code="compat-libs-shadow-driver",
        fires="""RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported
display driver / cuda driver combination
$ ldconfig -p | grep libcuda.so
    libcuda.so.1 (libc6,x86-64) => /usr/local/cuda-12.4/compat/libcuda.so.1
Nvidia driver version: 570.124.06""",
        quiet="""$ ldconfig -p | grep libcuda.so
    libcuda.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcuda.so.1
Nvidia driver version: 570.124.06
torch.cuda.is_available(): True""",
        elsewhere=(
            """failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver
/ cuda driver combination
LD_LIBRARY_PATH=/usr/local/cuda/compat/lib:/usr/local/nvidia/lib64""",
            """vLLM pod: torch.cuda reports Error 803: system has unsupported display driver / cuda driver
combination, but nvidia-smi in the container works (driver 580.95.05)
container: kubernetes""",
        ),
        source="tensorflow forum on CUDA_ERROR_SYSTEM_DRIVER_MISMATCH; vllm issues on error 803",
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
