# ruff: noqa: E501  (printed lines are as wide as they are)
"""WSL: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="wsl-linux-driver-shadows-wsl-libcuda",
        fires="""WSL2 Ubuntu 22.04
$ ldconfig -p | grep libcuda.so
	libcuda.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcuda.so.1
$ sudo apt install nvidia-driver-535
UserWarning: CUDA initialization: CUDA driver initialization failed, you might not have a CUDA gpu.""",
        quiet="""WSL2 Ubuntu 22.04
	libcuda.so.1 (libc6,x86-64) => /usr/lib/wsl/lib/libcuda.so.1
torch.cuda.is_available(): True""",
        elsewhere=(
            """I followed a guide and ran sudo apt-get install cuda-drivers inside WSL2, since then
$ nvidia-smi
Segmentation fault
RuntimeError: No CUDA GPUs are available""",
        ),
        source="CUDA on WSL user guide",
    ),
    Row(
        code="wsl-windows-build-bug",
        fires="""Windows build number: 10.0.20170.0 (Insider, Dev Channel)
WSL 2, Ubuntu 18.04
>>> torch.randn(5).to(0)
RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable""",
        quiet="""Windows 11 22631.4460, WSL2
Driver Version: 566.36
torch.cuda.is_available(): True""",
        elsewhere=(
            """After my computer upgraded to Windows 10 preview build 21337 the /dev/dxg device is not available in my Linux distros
WSL2: RuntimeError: No CUDA GPUs are available""",
        ),
        source="microsoft/WSL issues 5598, 6098, 6617, 6702",
    ),
    Row(
        code="bundled-hsa-runtime-wsl",
        fires="""Ubuntu 22.04 (WSL2), AMD Radeon RX 7900 XTX
PyTorch version: 2.8.0.dev20250529+rocm6.4
RuntimeError: No HIP GPUs are available
rocminfo lists gfx1100""",
        quiet="""Ubuntu 22.04 (WSL2), AMD Radeon RX 7900 XTX
torch 2.3.0+rocm6.2.3
torch.cuda.is_available(): True""",
        elsewhere=(
            """Platform: WSL2; hipErrorNoDevice when printing torch.cuda.is_available()
location/torch/lib holds libhsa-runtime64.so
torch 2.5.1+rocm6.2""",
        ),
        source="ROCm issues 3470, 5866; ROCm/hip issue 3710",
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
