"""The tables: keys, types, sources, and that each pattern finds its example and no healthy text."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from agent.model import Line
from agent.rules.lines import LONGEST_LINE, Lines, wrapped
from agent.rules.versions import version
from agent.rules.wheels import INDEX, recommend, wheel
from agent.tables.drivers import BRANCHES, CAPABILITIES, TOOLKITS
from agent.tables.gpus import GPUS, architecture_of, gpu_named
from agent.tables.signatures import Signature, all_signatures, all_topics
from agent.tables.wheels import WHEELS

SIGNATURES = tuple(all_signatures().values())
# Statements of health, and lines that healthy programs print, however alarming they look.
HEALTHY = (
    "NVIDIA-SMI 570.86.15    Driver Version: 570.86.15    CUDA Version: 12.8",
    "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |",
    "CUDA runtime version: Could not collect",
    "cuDNN version: Could not collect",
    "GCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0",
    "step 1200 loss 2.31 lr 3.0e-4 tokens/s 51230",
    "INFO 10-16 15:01:13 Loading model weights took 13.5 GB",
    "Successfully installed torch-2.7.0 torchvision-0.22.0",
    "NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM",
    "NCCL INFO comm 0x55 rank 0 nranks 8 cudaDev 0 - Init COMPLETE",
    "UserWarning: The given NumPy array is not writable",
    "ValueError: not enough values to unpack (expected 2, got 1)",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x4)",
    "warnings.warn('resume_download is deprecated')",
    "HIP runtime version: N/A",
    "Is XPU available: False",
)
# These say that something works or which version is there; they are facts, not complaints.
STATEMENTS = frozenset(
    ("cuda_available_true", "nvcc_release", "application_error", "driver_version_shown")
)


@pytest.mark.parametrize("row", SIGNATURES, ids=lambda row: row.id)
def test_a_pattern_finds_its_own_example(row: Signature) -> None:
    found = Lines((Line(text=row.example, pointer="line 1"),)).found(row.id)
    assert found
    assert found[0].pointer == "line 1"
    assert row.source


@pytest.mark.parametrize("row", SIGNATURES, ids=lambda row: row.id)
def test_literals_are_lower_case_and_occur_in_the_example(row: Signature) -> None:
    assert all(need == need.lower() for need in row.needs)
    assert not row.needs or any(need in row.example.lower() for need in row.needs)


@pytest.mark.parametrize("text", HEALTHY)
def test_no_pattern_finds_a_healthy_text(text: str) -> None:
    lines = Lines((Line(text=text, pointer="line 1"),))
    found = {row.id for row in SIGNATURES if lines.found(row.id)}
    assert found <= STATEMENTS


def test_ids_are_unique() -> None:
    ids = [row.id for topic in all_topics() for row in topic]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("row", SIGNATURES, ids=lambda row: row.id)
def test_a_pattern_does_not_blow_up(row: Signature) -> None:
    pattern = re.compile(wrapped(row.pattern), re.MULTILINE)
    pieces = ("a", " ", "/", "lib.so", "_ZN2at", "sm_80 ", "'", "/cuda", "1.", "CUDA ", "=", ": ")
    for piece in (*pieces, row.example + " "):
        line = (piece * LONGEST_LINE)[:LONGEST_LINE]
        started = time.process_time()
        pattern.search(line)
        assert time.process_time() - started < 1.0, f"{row.id} on {piece!r}"


def test_a_long_line_is_judged_by_its_ends() -> None:
    filler = "x" * (3 * LONGEST_LINE)
    lines = Lines((Line(text=f"{filler} cannot find -lcuda", pointer="line 1"),))
    assert lines.found("linker_lcuda")
    assert lines.too_long == ("line 1",)
    middle = Lines((Line(text=f"{filler} cannot find -lcuda {filler}", pointer="line 1"),))
    assert not middle.found("linker_lcuda")


def test_a_wrapped_sentence_is_found_at_its_first_line() -> None:
    lines = Lines(
        (
            Line(text="ImportError: a.so: undefined", pointer="line 1"),
            Line(text="symbol: ncclMemFree", pointer="line 2"),
        )
    )
    assert lines.found("nccl_symbol")[0].pointer == "line 1"


def test_wheels_are_whole() -> None:
    keys = [(row.torch, row.build) for row in WHEELS]
    assert len(keys) == len(set(keys))
    for row in WHEELS:
        assert re.fullmatch(r"\d+\.\d+", row.torch)
        assert re.fullmatch(r"cu\d{3}|rocm[\d.]+|cpu", row.build)
        assert version(row.python_min) <= version(row.python_max)
        assert all(re.fullmatch(r"sm_\d+[af]?|gfx\w+", item) for item in row.architectures)
        assert row.source


def test_one_default_build_a_release() -> None:
    for series in {row.torch for row in WHEELS}:
        assert sum(row.torch == series and row.default for row in WHEELS) == 1


def test_drivers_are_whole() -> None:
    versions = [row.cuda for row in TOOLKITS]
    assert len(versions) == len(set(versions))
    assert all(row.source for row in TOOLKITS)
    shown = [version(found) for _, found in sorted(BRANCHES.items())]
    assert shown == sorted(shown)
    for lowest, highest in CAPABILITIES.values():
        assert lowest < highest


def test_gpus_are_whole() -> None:
    for row in GPUS:
        assert row.vendor in ("nvidia", "amd")
        assert re.fullmatch(r"\d+\.\d|gfx\w+", row.architecture)
        assert row.confidence in ("A", "B", "C")
        assert row.source
        for number in (row.memory_gib, row.power_watts, row.fp32_tflops, row.bf16_tflops):
            assert number is None or number > 0


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("NVIDIA GeForce RTX 4080 Laptop GPU", "8.9"),
        ("4x RTX 2080", "7.5"),
        ("Tesla K80", "3.7"),
        ("NVIDIA A10G", "8.6"),
        ("NVIDIA A100-SXM4-40GB", "8.0"),
        ("RTX A6000", "8.6"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9"),
        ("NVIDIA GB10", "12.1"),
        ("Jetson AGX Orin", "8.7"),
        ("AMD Radeon RX 7900 XTX", "gfx1100"),
        ("AMD Instinct MI300X", "gfx942"),
        ("Radeon 780M", "gfx1103"),
        ("Matrox G200", None),
    ],
)
def test_architecture_by_name(name: str, architecture: str | None) -> None:
    assert architecture_of(name) == architecture


def test_a_name_with_or_without_its_maker() -> None:
    with_maker, without = gpu_named("NVIDIA L40S"), gpu_named("L40S")
    assert with_maker is not None
    assert with_maker == without


@pytest.mark.parametrize("gpu", sorted({row.architecture for row in GPUS}))
@pytest.mark.parametrize("driver_cuda", [(), (11, 4), (12, 2), (13, 0)])
@pytest.mark.parametrize("python", [(), (3, 8), (3, 12), (3, 15)])
def test_a_recommended_wheel_exists_and_fits(
    gpu: str, driver_cuda: tuple[int, ...], python: tuple[int, ...]
) -> None:
    backend = "rocm" if gpu.startswith("gfx") else "cuda"
    found = recommend(architectures=(gpu,), driver_cuda=driver_cuda, python=python, backend=backend)
    if found is None:
        return
    row = found.wheel
    assert wheel(version(row.torch), row.build) == row
    assert f"{INDEX}{row.build}" in found.command
    if python:
        assert version(row.python_min) <= python <= version(row.python_max)
    if driver_cuda and row.build.startswith("cu"):
        assert int(row.build[2:-1]) <= driver_cuda[0]


@pytest.mark.parametrize(
    ("gpu", "driver_cuda", "python", "wanted"),
    [
        ("12.0", (12, 8), (3, 12), "cu128"),
        ("6.1", (12, 4), (3, 11), "cu126"),
        ("9.0", (13, 0), (3, 12), "cu132"),
        ("8.0", (11, 4), (3, 10), "cu118"),
        ("gfx1103", (), (3, 12), None),
        ("3.5", (11, 4), (3, 10), None),
    ],
)
def test_recommendations(
    gpu: str, driver_cuda: tuple[int, ...], python: tuple[int, ...], wanted: str | None
) -> None:
    backend = "rocm" if gpu.startswith("gfx") else "cuda"
    found = recommend(architectures=(gpu,), driver_cuda=driver_cuda, python=python, backend=backend)
    assert (found.wheel.build if found else None) == wanted


def test_tables_do_not_import_the_rest() -> None:
    for path in (Path(__file__).parent.parent / "agent" / "tables").rglob("*.py"):
        imports = re.findall(r"^from agent\.(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(imports) <= {"tables"}
