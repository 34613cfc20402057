"""The stage ``memory``: its sweep finds shared cells, its training step adds up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .in_target import lines_of, run_plan, stage_of

pytestmark = pytest.mark.torch

START = """
import torch
from firstlight_probes import sweep, training_step, host_memory
def answer(value):
    os.write(descriptor, json.dumps(value).encode() + b"\\n")
"""


def _ask(python: Path, program: str) -> Any:
    [value] = lines_of(python, START + program)
    return value


# Where four blocks of 1024 words start in memory of so many words; sound ones share no cells.
BLOCKS = {
    "separate": (4096, (0, 1024, 2048, 3072)),
    "two blocks are one": (4096, (0, 1024, 2048, 0)),
    "overlap by one word": (4096, (0, 1023, 2046, 3069)),
    "card of half its size": (2048, (0, 1024, 0, 1024)),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_that_share_cells_are_found(torch_python: Path, name: str) -> None:
    words, places = BLOCKS[name]
    program = f"""
whole = torch.zeros({words}, dtype=torch.int32)
blocks = [whole.as_strided((1024,), (1,), place) for place in {places}]
"""
    program += "answer(sweep.check(torch, blocks, sweep.pattern(torch, 1024, 'cpu'), passes=2))"
    wrong = _ask(torch_python, program)
    if name == "separate":
        assert wrong == []
        return
    assert wrong
    assert {entry["pass"] for entry in wrong} == {0, 1}
    if name == "overlap by one word":
        assert all(entry["wrong_words"] <= 2 for entry in wrong)
        assert {entry["first_word"] for entry in wrong} <= {0, 1023}
    if name == "card of half its size":
        assert {entry["block"] for entry in wrong} == {0, 1, 2, 3}
        assert all(entry["wrong_words"] == 1024 for entry in wrong)


@pytest.mark.parametrize("bit", [0, 7, 31])
def test_one_flipped_bit_is_found_where_it_is(torch_python: Path, bit: int) -> None:
    program = f"""
blocks = [torch.zeros(1024, dtype=torch.int32) for _ in range(3)]
base = sweep.pattern(torch, 1024, 'cpu')
sweep.write_all(blocks, base)
blocks[1][77] ^= sweep.signed(1 << {bit})
answer(sweep.read_all(torch, blocks, base))"""
    assert _ask(torch_python, program) == [[1, 1, 77]]


def test_no_two_words_of_a_block_and_no_two_seeds_are_equal(torch_python: Path) -> None:
    program = """
words = sweep.pattern(torch, 1 << 20, 'cpu')
answer([words.unique().numel(), len({sweep.seed(k) for k in range(4096)})])"""
    assert _ask(torch_python, program) == [1 << 20, 4096]


def test_blocks_stop_where_the_memory_does(torch_python: Path) -> None:
    program = """
class Small:
    "A torch whose memory holds two blocks."
    int32, made = torch.int32, 0
    def empty(self, count, **given):
        self.made += 1
        if self.made > 2: raise RuntimeError("CUDA out of memory. Tried to allocate 4 KiB")
        return torch.empty(count, **given)
answer(len(sweep.allocate(Small(), 'cpu', 1 << 20, 4096)))"""
    assert _ask(torch_python, program) == 2


def test_the_training_step_is_taken_apart(torch_python: Path) -> None:
    program = (
        "answer(training_step.run(torch, 'cpu', lambda: {'host': host_memory.resident_bytes()}))"
    )
    step = _ask(torch_python, program)
    parameters = step["parameters_bytes"]
    assert parameters == 4 * step["parameter_count"]
    assert step["gradients_bytes"] == parameters
    # AdamW keeps two numbers for each parameter, and a counter for each tensor of them.
    assert 2 * parameters <= step["optimizer_bytes"] < 2 * parameters + 1024
    batch, length, width = step["batch"]
    assert step["activations_bytes"] > batch * length * width * 4
    assert step["learns"]
    phases = [phase["phase"] for phase in step["phases"]]
    assert phases == ["before", "model", "forward", "backward", "optimizer"]
    # What the step holds is really taken of the host.
    held = step["phases"][-1]["host"] - step["phases"][0]["host"]
    assert held > parameters + step["gradients_bytes"]


def test_the_stage_on_a_cpu_is_honest_about_whose_memory_it_is(torch_python: Path) -> None:
    records = run_plan(torch_python, "import", "device", "memory", backend="cpu")
    stage = stage_of(records, "memory")
    assert stage["status"] == "passed"
    data = stage["data"]
    assert data["kind"] == "host memory"
    assert data["sweep"]["wrong"] == []
    assert 0 < data["sweep"]["tested_bytes"] <= 256 << 20
    assert data["sweep"]["tested_bytes"] <= data["free_bytes"] / 2
    assert data["host_peak_bytes"] > data["sweep"]["tested_bytes"]
    assert data["step"]["losses"][1] < data["step"]["losses"][0]


# A torch that plays a card with the host's memory, so that the GPU's path is run to its end.
CARD = """
import time, types, torch
MIB = 1 << 20
torch.version.cuda = "13.0"
state = types.SimpleNamespace(used=0)
cuda, cpu = torch.cuda, torch.device("cpu")
class device:
    def __new__(cls, *given): return cpu
torch.device = device
empty = torch.empty
torch.empty = lambda *given, pin_memory=False, **named: empty(*given, **named)
class Event:
    def __init__(self, enable_timing): self.at = None
    def record(self): self.at = time.monotonic()
    def synchronize(self): pass
    def elapsed_time(self, end): return (end.at - self.at) * 1000
card = types.SimpleNamespace(total_memory=200 * MIB, is_integrated={integrated})
members = dict(
    set_device=lambda device: None, get_device_properties=lambda index: card,
    mem_get_info=lambda index: (100 * MIB, 200 * MIB), synchronize=lambda *index: None,
    empty_cache=lambda: None, reset_peak_memory_stats=lambda index: None, Event=Event,
    memory_allocated=lambda index: 5, memory_reserved=lambda index: 6,
    max_memory_allocated=lambda index: 7, max_memory_reserved=lambda index: 8)
for name, value in members.items():
    setattr(cuda, name, value)
from firstlight_probes import gpu_load, gpu_matmul, gpu_memory, host_memory, worker
gpu_matmul.chosen = lambda *given: dict(index=0, pci_address="0000:01:00.0")
gpu_load.read = lambda backend, address: {load}
gpu_memory.BLOCK_BYTES = gpu_memory.COPY_BYTES = gpu_memory.KEEP_FREE_BYTES = MIB
host_memory.free_bytes = lambda: 60 * MIB
task = dict(stage="memory", subject="gpu:a", options=dict(index=0))
worker.main(descriptor, dict(tasks=[task], backend="cuda", depth={depth}))
"""


def _card(python: Path, **given: Any) -> dict[str, Any]:
    chosen = {"integrated": False, "load": {}, "depth": "standard", **given}
    program = CARD
    for name, value in chosen.items():
        program = program.replace(f"{{{name}}}", repr(value))
    return stage_of(lines_of(python, program), "memory", "gpu:a")


def test_the_path_of_a_gpu_on_a_card_that_is_played(torch_python: Path) -> None:
    stage = _card(torch_python)
    assert stage["status"] == "passed", (stage["error"], stage["data"], stage["steps"])
    data = stage["data"]
    assert data["kind"] == "device memory"
    assert data["sweep"]["tested_bytes"] == 50 << 20  # half of what is free
    assert len(data["bandwidth"]) == 5
    assert all(rate > 0 for rate in data["bandwidth"].values())
    assert data["step"]["allocated_peak_bytes"] == 7
    assert data["step"]["phases"][0]["device_used_bytes"] == 100 << 20
    deep = _card(torch_python, depth="deep")["data"]["sweep"]
    assert (deep["tested_bytes"], deep["passes"]) == (95 << 20, 2)


def test_a_card_that_shares_the_hosts_memory_is_bounded_by_what_is_free_there(
    torch_python: Path,
) -> None:
    data = _card(torch_python, integrated=True)["data"]
    assert data["sweep"]["tested_bytes"] == 15 << 20  # half of half of what the host has left


def test_a_card_in_use_is_left_alone(torch_python: Path) -> None:
    stage = _card(torch_python, load={"utilization_percent": 80})
    assert (stage["status"], stage["reason"]) == ("skipped", "device-busy")
    assert "sweep" not in stage["data"]
