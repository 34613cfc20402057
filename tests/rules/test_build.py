# ruff: noqa: E501  (printed lines are as wide as they are)
"""How torch and extensions were built: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="gpu-newer-than-build",
        fires="""RuntimeError: CUDA error: no kernel image is available for execution on the device
PyTorch version: 2.5.1+cu124
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 5090
Nvidia driver version: 570.86.10""",
        quiet="""PyTorch version: 2.7.0+cu128
Is CUDA available: True
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 5090
Nvidia driver version: 570.86.10""",
        elsewhere=(
            """/usr/lib/python3/dist-packages/torch/cuda/__init__.py:235: UserWarning:
NVIDIA H100 PCIe with CUDA capability sm_90 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86.
If you want to use the NVIDIA H100 PCIe GPU with PyTorch, please check the instructions at
https://pytorch.org/get-started/locally/""",
            """| NVIDIA-SMI 525.60.13    Driver Version: 525.60.13    CUDA Version: 12.0     |
|   0  NVIDIA GeForce RTX 3090 ...  On   | 00000000:01:00.0 Off |                  N/A |
$ pip list
torch                     1.7.1+cu101
RuntimeError: CUDA error: no kernel image is available for execution on the device""",
        ),
        source="pytorch issues 86683, 45028; forum threads on the RTX 30, H100 and RTX 50 launches",
    ),
    Row(
        code="gpu-older-than-build",
        fires="""torch.AcceleratorError: CUDA error: no kernel image is available for execution
torch: 2.9.1+cu128
gpu: Quadro P4000 (compute capability 6.1)
driver: 570.133.07""",
        quiet="""torch: 2.9.1+cu126
torch.cuda.is_available(): True
gpu: Quadro P4000 (compute capability 6.1)
driver: 570.133.07""",
        elsewhere=(
            """UserWarning:
    Found GPU0 Tesla K40m which is of cuda capability 3.5.
    PyTorch no longer supports this GPU because it is too old.
    The minimum cuda capability supported by this library is 3.7.
torch 1.8.1""",
            """    Found GPU0 Tesla V100-SXM2-16GB which is of compute capability (CC) 7.0.
    The following list shows the CCs this version of PyTorch was built for and the hardware CCs it
    supports:
torch 2.13.0+cu130 is installed
torch.cuda.get_arch_list() -> ['sm_75', 'sm_80', 'sm_86', 'sm_90', 'sm_100', 'sm_120']""",
        ),
        source="pytorch issues 30532, 157517; torch/cuda/__init__.py of 1.8 and 2.13",
    ),
    Row(
        code="build-for-other-gpu-family",
        fires="""CUDA error: no kernel image is available for execution on the device
device: Jetson AGX Orin developer kit, JetPack 6.2
torch: 2.5.1+cu124 (pip, download.pytorch.org)
arch: sm_87""",
        quiet="""device: Jetson AGX Orin developer kit, JetPack 6.2
torch: 2.5.0a0+872d972e41.nv24.08
torch.cuda.is_available(): True
arch: sm_87""",
        elsewhere=(
            """UserWarning: Orin with CUDA capability sm_87 is not compatible with the current PyTorch
installation.
The current PyTorch install supports CUDA capabilities sm_50 sm_80 sm_86 sm_89 sm_90 sm_90a.
Linux-5.15.148-tegra-aarch64""",
            """RuntimeError: Error named symbol not found at line 233 in file /src/csrc/ops.cu
bitsandbytes 0.46.1 from PyPI, aarch64
NVIDIA Jetson Orin Nano Super, compute capability 8.7""",
        ),
        source="pytorch issue 145560; bitsandbytes issue 1930; conda-forge pytorch-cpu-feedstock 303",
    ),
    Row(
        code="extension-arch-list-missing-gpu",
        fires="""  File "/opt/venv/lib/python3.10/site-packages/mmcv/ops/nms.py", line 27, in forward
RuntimeError: nms_impl: CUDA error: no kernel image is available for execution on the device
PyTorch version: 2.1.2+cu121
GPU models and configuration: GPU 0: NVIDIA A100-SXM4-80GB
Is CUDA available: True""",
        quiet="""PyTorch version: 2.1.2+cu121
mmcv 2.1.0
GPU models and configuration: GPU 0: NVIDIA A100-SXM4-80GB
Is CUDA available: True""",
        elsewhere=(
            """Error no kernel image is available for execution on the device at line 167 in file
/mmfs1/bitsandbytes/csrc/ops.cu
GPU: Tesla K80 and A40
torch 2.0.1+cu118""",
            """FATAL: kernel `fmha_cutlassF_f16_aligned_64x64_rf_sm80` is for sm80-sm90, but was built for sm75
RTX 4090, torch 2.1.0+cu121, xformers built from source""",
            """ggml_cuda_compute_forward: MUL_MAT failed
CUDA error: the ggml code was not compiled for any CUDA arch that this GPU has
llama.cpp on GeForce GTX 1060""",
        ),
        source="mmcv issue 1684; bitsandbytes issue 85; xformers kernels; llama.cpp common.cuh",
    ),
    Row(
        code="cpu-only-build",
        fires="""AssertionError: Torch not compiled with CUDA enabled
>>> torch.__version__
'2.6.0+cpu'
NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4""",
        quiet=""">>> torch.__version__
'2.6.0+cu124'
>>> torch.cuda.is_available()
True
NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4""",
        elsewhere=(
            """$ conda list | grep torch
pytorch                   2.3.1           cpu_generic_py310_0    conda-forge
torchvision               0.18.1          cpu_py310_0    conda-forge
nvidia-smi shows an RTX A5000; torch.cuda.is_available() is False""",
            """UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.
Available providers: 'AzureExecutionProvider, CPUExecutionProvider'
onnxruntime 1.17.1
Tesla T4, driver 535.104.05""",
            """UserWarning: The installed version of bitsandbytes was compiled without GPU support. 8-bit
optimizers, 8-bit multiplication, and GPU quantization are unavailable.
GPU: RTX 3060""",
            """DGLError: Check failed: allocator: Device API cuda is not enabled. Please install the cuda
version of dgl.
RTX 3090, CUDA 11.8""",
        ),
        source="pytorch forum, conda cpu builds; onnxruntime issue 7748; bitsandbytes; dgl issue 1530",
    ),
    Row(
        code="cuda-wheel-on-amd",
        fires="""RuntimeError: Found no NVIDIA driver on your system.
torch: 2.9.1+cu128
gpu: AMD Radeon RX 7900 XTX (gfx1100)""",
        quiet="""torch: 2.9.1+rocm6.4
torch.cuda.is_available(): True
gpu: AMD Radeon RX 7900 XTX (gfx1100)""",
        elsewhere=(
            """$ python -c "import torch; print(torch.__version__, torch.cuda.is_available())"
2.4.1+cu121 False
$ rocminfo | grep gfx
  Name:                    gfx1030
  Marketing Name:          AMD Radeon RX 6800 XT""",
        ),
        source="ROCm/ROCm discussions; ComfyUI issues on AMD",
    ),
    Row(
        code="gpu-too-old-for-kernel",
        fires="""RuntimeError: FlashAttention only supports Ampere GPUs or newer.
GPU 0: Tesla T4
torch 2.3.1+cu121""",
        quiet="""GPU 0: NVIDIA A10G
torch 2.3.1+cu121
flash-attn 2.5.9
Is CUDA available: True""",
        elsewhere=(
            """ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your
Tesla V100-SXM2-32GB GPU has compute capability 7.0. You can use float16 instead by explicitly
setting the `dtype` flag in CLI, for example: --dtype=half.""",
            """torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:
RuntimeError: Found Tesla P100-PCIE-16GB which is too old to be supported by the triton GPU compiler,
which is used as the backend. Triton only supports devices of CUDA Capability >= 7.0, but your device
is of CUDA capability 6.0
torch 2.2.0+cu121""",
            """ptxas /tmp/x.ptx, line 120; error   : Feature '.bf16' requires .target sm_80 or higher
GPU: GeForce RTX 2080 Ti""",
        ),
        source="flash-attention issue 524; vllm issue 1157; torch._inductor; triton issue 4173",
    ),
    Row(
        code="runtime-compiler-too-old-for-gpu",
        fires="""ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'
triton 3.2.0
torch 2.7.0+cu128
GPU: NVIDIA GeForce RTX 5080""",
        quiet="""triton 3.3.0
torch 2.7.0+cu128
torch.cuda.is_available(): True
GPU: NVIDIA GeForce RTX 5080""",
        elsewhere=(
            """cupy.cuda.compiler.CompileException: nvrtc: error: invalid value for --gpu-architecture (-arch)
CuPy cupy-cuda11x 11.6, GPU: NVIDIA H100 80GB HBM3""",
            """RuntimeError: nvrtc: error: invalid value for --gpu-architecture (-arch)
nvrtc compilation failed:
torch 1.11.0+cu113 on an RTX 4060 Ti, nvidia-smi says CUDA 12.5""",
        ),
        source="triton issue 5950; cupy issue 2087; handpose_and_yolo issue 1",
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
