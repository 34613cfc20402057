# ruff: noqa: E501  (printed lines are as wide as they are)
"""The GPU's memory: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="gpu-memory-exhausted",
        fires="""RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`
|   0  NVIDIA A10G    On  | 00000000:00:1E.0 Off |                    0 |
|  0%   31C    P0    61W / 300W |  22980MiB / 23028MiB |      0%      Default |""",
        quiet="""|   0  NVIDIA A10G    On  | 00000000:00:1E.0 Off |                    0 |
|  0%   31C    P0    61W / 300W |   1200MiB / 23028MiB |     40%      Default |
torch.cuda.is_available(): True""",
        elsewhere=(
            """RuntimeError: cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate`""",
            """Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED
UnknownError: Failed to get convolution algorithm""",
        ),
        source="pytorch forum on CUBLAS_STATUS_ALLOC_FAILED; tensorflow issue 24828",
    ),
    Row(
        code="gpu-memory-fragmented",
        fires="""torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity
of 23.64 GiB of which 1.10 GiB is free. Of the allocated memory 12.50 GiB is allocated by PyTorch, and
9.20 GiB is reserved by PyTorch but unallocated.""",
        quiet="""torch.cuda.memory_reserved() 12.50 GiB
PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
torch.cuda.is_available(): True""",
        elsewhere=(
            """RuntimeError: CUDA out of memory. Tried to allocate 2.33 GiB (GPU 0; 15.90 GiB total capacity;
7.12 GiB already allocated; 1.40 GiB free; 12.70 GiB reserved in total by PyTorch) If reserved memory is
>> allocated memory try setting max_split_size_mb to avoid fragmentation.""",
        ),
        source="torch CUDA memory management notes",
    ),
    Row(
        code="gpu-memory-held-by-other-process",
        fires="""torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity
of 79.15 GiB of which 5.62 MiB is free. Process 4182 has 76.10 GiB memory in use. Including non-PyTorch
memory, this process has 3.00 GiB memory in use.""",
        quiet="""|  0%   31C    P0    61W / 300W |   3000MiB / 81559MiB |     40%      Default |
torch.cuda.is_available(): True""",
        elsewhere=(
            """RuntimeError: CUDA out of memory. Tried to allocate 14.00 MiB (GPU 0; 23.70 GiB total capacity;
512.00 MiB already allocated; 3.56 MiB free; 530.00 MiB reserved in total by PyTorch)""",
        ),
        source="torch OutOfMemoryError text of 1.x and 2.x",
    ),
    Row(
        code="gpu-memory-too-small",
        fires="""torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 GiB. GPU 0 has a total capacity
of 23.64 GiB of which 22.10 GiB is free.""",
        quiet="""GPU 0 has a total capacity of 23.64 GiB of which 22.10 GiB is free.
torch.cuda.is_available(): True""",
        elsewhere=(
            """RuntimeError: CUDA out of memory. Tried to allocate 256.00 MiB (GPU 0; 5.80 GiB total capacity;
4.91 GiB already allocated; 120.00 MiB free; 5.02 GiB reserved in total by PyTorch)
GTX 1660 Ti""",
        ),
        source="torch OutOfMemoryError text",
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
