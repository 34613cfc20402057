"""The lines that say what was measured."""

from __future__ import annotations

from agent.model import Stage
from agent.report.layout import size
from agent.report.measurements import measurement_lines

GPU = "gpu:GPU-00000000-0000-4000-8000-000000000001"


def test_speeds_copies_and_the_parts_of_a_step_each_have_a_line() -> None:
    matmul = Stage(
        name="matmul", subject=GPU, status="passed",
        data={
            "dtypes": [
                {"dtype": "bfloat16", "tflops": 612.4},
                {"dtype": "float64", "tflops": 5},
            ]
        },
    )  # fmt: skip
    memory = Stage(
        name="memory", subject=GPU, status="passed",
        data={
            "kind": "device memory", "free_bytes": 80 << 30,
            "sweep": {"tested_bytes": 40 << 30, "wrong_blocks": 0},
            "bandwidth": {"device_copy_bytes_per_second": 2.5e12},
            "step": {"model": "layer", "parameters_bytes": 12 << 20, "activations_bytes": 13 << 20},
        },
    )  # fmt: skip
    assert list(measurement_lines((matmul, memory))) == [
        f"{GPU} products: bf16 612, fp64 5.0 TFLOP/s",
        f"{GPU} device memory: 40.0 GiB of 80.0 GiB free written and read, all as written",
        f"{GPU} copies: on the device 2500 GB/s",
        f"{GPU} a training step of one layer: parameters 12.0 MiB, activations 13.0 MiB",
    ]


def test_a_changed_block_and_a_busy_device_are_said() -> None:
    stages = (
        Stage(
            name="matmul", subject=GPU, status="passed",
            data={"timing": {"skipped": "device-busy"}},
        ),
        Stage(
            name="memory", subject="host", status="failed",
            data={"sweep": {"tested_bytes": 1 << 20, "wrong_blocks": 2}, "free_bytes": 1 << 21},
        ),
    )  # fmt: skip
    lines = list(measurement_lines(stages))
    assert lines[0].endswith("not timed (device-busy)")
    assert lines[1].endswith("2 blocks changed")


def test_nonsense_of_a_stranger_gives_no_line() -> None:
    data = {"dtypes": 5, "timing": [], "sweep": "x", "bandwidth": [1], "step": {"model": None}}
    strange = [
        Stage(name=n, subject="host", status="passed", data=data) for n in ("matmul", "memory")
    ]
    assert list(measurement_lines(strange)) == []


def test_sizes_in_words() -> None:
    assert [size(n) for n in (512, 5 << 20, 200 << 30)] == ["0 KiB", "5.0 MiB", "200.0 GiB"]
    assert size(None) is size("x") is size(True) is None
