# ruff: noqa: E501  (printed lines are as wide as they are)
"""How a process starts: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="initialised-before-fork",
        fires="""RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you
must use the 'spawn' start method""",
        quiet="""torch.multiprocessing.set_start_method("spawn")
torch.cuda.is_available(): True""",
        elsewhere=(
            """  File "/usr/lib/python3.8/multiprocessing/process.py", line 108, in run
cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorInitializationError: initialization error""",
            """DataLoader worker (pid 22) ...
RuntimeError: cuda runtime error (3) : initialization error at THCGeneral.cpp:50
the dataset calls .cuda() in __getitem__; fork start method""",
        ),
        source="torch multiprocessing notes; cupy issue 2059; pytorch issue 40403",
    ),
    Row(
        code="visible-devices-uuid-unsupported",
        fires="""ValueError: invalid literal for int() with base 10: 'GPU-2f1e1a9c-1111-2222-3333-444455556666'
CUDA_VISIBLE_DEVICES=GPU-2f1e1a9c-1111-2222-3333-444455556666""",
        quiet="""CUDA_VISIBLE_DEVICES=GPU-2f1e1a9c-1111-2222-3333-444455556666
torch.cuda.is_available(): True""",
        elsewhere=(
            """torch 1.7.1, A100 with MIG enabled
CUDA_VISIBLE_DEVICES=MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0
torch.cuda.is_available(): False""",
        ),
        source="vllm platforms/interface.py; NVIDIA MIG user guide",
    ),
    Row(
        code="visible-devices-wrong-index",
        fires="""RuntimeError: No CUDA GPUs are available
CUDA_VISIBLE_DEVICES=2
GPU 0: NVIDIA A40 (UUID: GPU-aaaa)""",
        quiet="""CUDA_VISIBLE_DEVICES=0
GPU 0: NVIDIA A40 (UUID: GPU-aaaa)
torch.cuda.is_available(): True""",
        elsewhere=(
            """RuntimeError: CUDA error: invalid device ordinal
torchrun --nproc_per_node=8 on a machine with 4 GPUs""",
            """ValueError: Invalid CUDA 'device=1' requested. Use 'device=cpu' or pass valid CUDA device(s) if
available, i.e. 'device=0' or 'device=0,1,2,3' for Multi-GPU.
os.environ['CUDA_VISIBLE_DEVICES']: None""",
        ),
        source="pytorch forum; ultralytics select_device",
    ),
    Row(
        code="device-order-differs",
        fires="""The index of the GPU in PyTorch differs from nvidia-smi: cuda:0 is the RTX 3090, nvidia-smi lists the
GTX 1080 as 0
GPU 0: NVIDIA GeForce GTX 1080
GPU 1: NVIDIA GeForce RTX 3090""",
        quiet="""GPU 0: NVIDIA GeForce GTX 1080
GPU 1: NVIDIA GeForce RTX 3090
CUDA_DEVICE_ORDER=PCI_BUS_ID
torch.cuda.is_available(): True""",
        elsewhere=(
            """CUDA_VISIBLE_DEVICES=0 uses the wrong GPU: the job runs on what nvidia-smi shows as GPU 1
GPU 0: Tesla K40c
GPU 1: GeForce GTX TITAN X""",
        ),
        source="CUDA programming guide, CUDA_DEVICE_ORDER; pytorch forum",
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
