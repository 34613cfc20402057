# ruff: noqa: E501  (printed lines are as wide as they are)
"""Limits of the box: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="shm-too-small",
        fires="""ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
RuntimeError: DataLoader worker (pid 325) is killed by signal: Bus error.""",
        quiet="""Filesystem      Size  Used Avail Use% Mounted on
shm              64G  1.2G   63G   2% /dev/shm
torch.cuda.is_available(): True""",
        elsewhere=(
            """misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-pZafXL to 7340384 bytes
Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)""",
            """OSError: [Errno 28] No space left on device: '/dev/shm/torch_2917_12345_0'""",
            """RuntimeError: unable to write to file </torch_2917_1845_1>
docker run without --shm-size""",
            """vllm --tensor-parallel-size 2 in docker: Bus error (core dumped), nccl
shm              64M   64M     0 100% /dev/shm""",
        ),
        source="NCCL issues 290, 342; fal-ai-community/video-diffusion-speedrun issue 2; vllm issue 1710",
    ),
    Row(
        code="memlock-limit",
        fires="""misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory
max locked memory       (kbytes, -l) 64""",
        quiet="""max locked memory       (kbytes, -l) unlimited
NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:192.0.2.1<0>
NCCL INFO comm 0x55 rank 0 nranks 16 - Init COMPLETE""",
        elsewhere=(
            """ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory. Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)""",
            """UCX ERROR ibv_reg_mr(address=0x7f, length=4096) failed: Cannot allocate memory""",
        ),
        source="openucx/ucx issues 6264, 8229, 8684; nccl-tests issue 206",
    ),
    Row(
        code="pids-limit",
        fires="""OpenBLAS blas_thread_init: pthread_create failed for thread 31 of 64: Resource temporarily unavailable
RuntimeError: can't start new thread""",
        quiet="""pids.max: 4096
pids.current: 120
torch.cuda.is_available(): True""",
        elsewhere=(
            """BlockingIOError: [Errno 11] Resource temporarily unavailable
bash: fork: retry: Resource temporarily unavailable""",
        ),
        source="OpenBLAS; CPython",
    ),
    Row(
        code="nofile-limit",
        fires="""RuntimeError: received 0 items of ancdata
open files                      (-n) 1024""",
        quiet="""open files                      (-n) 1024
torch.cuda.is_available(): True""",
        elsewhere=("""OSError: [Errno 24] Too many open files: '/data/img_000812.png'""",),
        source="multiprocessing.reduction; errno 24",
    ),
    Row(
        code="disk-nearly-full",
        fires="""OSError: [Errno 28] No space left on device: '/cache/huggingface/hub/tmp4711'
overlay          20G   20G     0 100% /""",
        quiet="""overlay         200G   60G  140G  30% /
Successfully installed torch-2.7.0""",
        elsewhere=(
            """ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device""",
        ),
        source="errno 28; pip",
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
