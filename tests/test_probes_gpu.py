"""The GPU parts: what they decide, tried without a card; all of them where there is one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes import gpu_device, gpu_load, gpu_matmul, gpu_timing

from .in_target import lines_of, run_plan, stage_of
from .simulate import environment, simulate

GIB = 1 << 30


@given(st.integers(0, 0xFFFF), st.integers(0, 255), st.integers(0, 31), st.integers(0, 7))
def test_addresses_of_all_spellings(domain: int, bus: int, device: int, function: int) -> None:
    expected = f"{domain:04x}:{bus:02x}:{device:02x}.{function}"
    assert gpu_load.address(f"{domain:08X}:{bus:02X}:{device:02X}.{function}") == expected
    assert gpu_load.address(f"{domain:04x}:{bus:02x}:{device:02x}.{function}\n") == expected
    assert gpu_load.address(f"{domain:04x}:{bus:02x}:{device:02x}") == expected[:-1] + "0"


def test_when_a_device_is_busy() -> None:
    total = 80 * GIB
    assert gpu_load.busy({}, total) is None  # unknown is not busy
    assert gpu_load.busy({"utilization_percent": 5, "used_bytes": 2 * GIB}, total) is None
    assert "6 %" in (gpu_load.busy({"utilization_percent": 6}, total) or "")
    assert "3.0 GiB" in (gpu_load.busy({"used_bytes": 3 * GIB}, total) or "")
    assert gpu_load.busy({"used_bytes": GIB - 1}, 8 * GIB) is None
    assert gpu_load.busy({"used_bytes": GIB + 1}, 8 * GIB)


def test_load_through_the_stand_in_of_nvml(tmp_path: Path, stand_ins: Path) -> None:
    machine = simulate("h100-sxm", tmp_path / "machine", stand_ins)
    answers = dict(line.split(" = ", 1) for line in machine.answers.read_text().splitlines())
    machine.say(
        **{
            "gpu.0.utilization": 37,
            "gpu.0.memory_used": 5 * GIB,
            "gpu.0.clock.1": 1980,
            "gpu.0.power_usage": 412345,
            "gpu.0.event_reasons": 4,
        }
    )
    program = f"""
from firstlight_probes import gpu_load
for address in ({gpu_load.address(answers["gpu.0.pci"])!r}, "0000:ff:1f.0", None):
    os.write(descriptor, json.dumps(gpu_load.read("cuda", address)).encode() + b"\\n")
"""
    known, unknown, none = lines_of(sys.executable, program, environment(machine))
    assert known["utilization_percent"] == 37
    assert known["used_bytes"] == 5 * GIB
    assert (known["sm_mhz"], known["power_watts"]) == (1980, 412.345)
    assert known["event_reasons"] == ["SwPowerCap"]
    assert unknown == {"unknown": "NVML does not know the device"}
    assert none == {}


def test_load_without_nvml() -> None:
    program = """
from firstlight_probes import gpu_load
found = {"cuda": gpu_load.read("cuda", "0000:01:00.0"),
         "rocm": gpu_load.read("rocm", "ffff:ff:1f.7"),
         "instance": gpu_load.is_instance("MIG-1")}
os.write(descriptor, json.dumps(found).encode() + b"\\n")
"""
    [found] = lines_of(sys.executable, program)
    cuda, rocm, instance = found.values()
    assert cuda == {"unknown": "NVML does not answer"}
    assert rocm["unknown"].endswith("is not shown here")
    assert instance is False


def test_subjects() -> None:
    device = {"uuid": "GPU-1", "pci_address": "0000:01:00.0", "index": 3}
    assert gpu_device.subject_of(device) == "gpu:GPU-1"
    assert gpu_device.subject_of({**device, "uuid": None}) == "gpu:0000:01:00.0"
    assert gpu_device.subject_of({"index": 3}) == "gpu:torch-3"
    assert gpu_matmul.capability({"capability": "10.3"}) == (10, 3)
    assert gpu_matmul.capability({"gfx": "gfx942"}) == (0, 0)


def test_samples_are_put_together() -> None:
    samples: list[dict[str, Any]] = [
        {"sm_mhz": 1755, "power_watts": 690.0, "event_reasons": ["SwPowerCap"]},
        {"sm_mhz": 1980, "power_watts": 702.5, "event_reasons": []},
        {"unknown": "NVML does not answer"},
    ]
    assert gpu_timing.summary(samples) == {
        "samples": 3,
        "sm_mhz": 1755,
        "power_watts": 702.5,
        "event_reasons": ["SwPowerCap"],
        "unknown": "NVML does not answer",
    }
    assert gpu_timing.summary([]) == {"samples": 0}


# The order of the GPU stages, tried with the CPU in the place of three cards: the second does not
# open, the third is in use. What a card really does only the tests marked gpu can tell.
CARDS = """
import time, types
import torch
class Event:
    def __init__(self, enable_timing): pass
    def record(self, stream): self.at = time.perf_counter()
    def synchronize(self): pass
    def query(self): return False
    def elapsed_time(self, end): return (end.at - self.at) * 1000
def properties(index):
    return types.SimpleNamespace(name="CPU", total_memory=8 << 30, multi_processor_count=1,
                                 major=8, minor=0, is_integrated=1, pci_bus_id=index + 1)
torch.cuda = types.SimpleNamespace(
    init=lambda: None, device_count=lambda: 3, get_device_properties=properties, Event=Event,
    set_device=lambda index: None, synchronize=lambda device=None: None, empty_cache=lambda: None,
    mem_get_info=lambda device=None: (64 << 20, 8 << 30), current_stream=lambda device: None)
torch.version.cuda = "13.0"
from firstlight_probes import gpu_device, gpu_load, gpu_timing, matmul
def open_one(torch, device):
    if device["index"] == 1:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
gpu_device.open_one = open_one
gpu_load.read = lambda backend, address: {"utilization_percent": 90 * (address == "0000:03:00.0")}
make = matmul.Bench
matmul.Bench = lambda torch, device, *rest: make(torch, torch.device("cpu"), *rest)
gpu_timing.RAMP_SECONDS = gpu_timing.LATER_RAMP_SECONDS = gpu_timing.TIMED_SECONDS = 0.01
gpu_timing.SIDES = (256, 128)
matmul.GPU_EXACT = matmul.GPU_RANDOM = ((3, 5, 7), (64, 64, 64))
whole = matmul.shapes
matmul.shapes = lambda bench, form: tuple(
    tuple(shape for shape in kind if max(shape) < 300) for kind in whole(bench, form))
torch.set_num_threads(1)
"""


@pytest.mark.torch
def test_the_order_of_stages_for_several_devices(torch_python: Path) -> None:
    records = run_plan(torch_python, "import", "device", "matmul", before=CARDS)
    ids = [f"gpu:0000:0{place}:00.0" for place in (1, 2, 3)]
    stage = stage_of(records, "device")
    assert (stage["status"], stage["data"]["torch_count"]) == ("passed", 3)
    assert [device["id"] for device in stage["data"]["devices"]] == ids
    assert stage["data"]["devices"][0]["capability"] == "8.0"
    dead = stage_of(records, "device", ids[1])
    assert (dead["status"], dead["reason"]) == ("failed", "raised")
    assert "illegal memory access" in dead["error"]["text"]
    ran = [r["subject"] for r in records if (r["record"], r.get("stage")) == ("stage", "matmul")]
    assert ran == [ids[0], ids[2]]

    first = stage_of(records, "matmul", ids[0])
    assert first["status"] == "passed"
    entries = {entry["dtype"]: entry for entry in first["data"]["dtypes"]}
    assert entries.pop("float8_e4m3")["skipped"] == "not-supported"  # needs 8.9
    assert len(entries) == 6
    for entry in entries.values():
        assert (entry["exact"], entry["freivalds"]) == ("equal", "ok"), entry
        assert entry["tflops"] == pytest.approx(2 * entry["n"] ** 3 / entry["seconds"] / 1e12)
    assert first["data"]["during_dtype"] == "bfloat16"
    assert first["data"]["during"]["samples"] == 3

    third = stage_of(records, "matmul", ids[2])
    assert third["status"] == "passed"
    assert third["data"]["timing"]["skipped"] == "device-busy"
    assert all("tflops" not in entry for entry in third["data"]["dtypes"])


@pytest.mark.torch
def test_a_matmul_task_alone_finds_its_device(torch_python: Path) -> None:
    plan = """
os.environ["PLAN"] = json.dumps({"tasks": [
    {"stage": "matmul", "subject": "gpu:0000:01:00.0"},
    {"stage": "matmul", "subject": "gpu:0000:09:00.0"}]})
"""
    records = run_plan(torch_python, before=CARDS + plan)
    assert stage_of(records, "matmul", "gpu:0000:01:00.0")["data"]["index"] == 0
    missing = stage_of(records, "matmul", "gpu:0000:09:00.0")
    assert missing["error"]["type"] == "LookupError"


@pytest.mark.gpu
@pytest.mark.torch
def test_a_real_gpu(torch_python: Path) -> None:
    records = run_plan(torch_python, "import", "device", "matmul")
    stage = stage_of(records, "device")
    assert stage["status"] == "passed", stage
    assert stage["data"]["torch_count"] == len(stage["data"]["devices"])
    for device in stage["data"]["devices"]:
        assert device["id"].startswith("gpu:")
        assert device["pci_address"]
        product = stage_of(records, "matmul", device["id"])
        assert product["status"] == "passed", product
        assert set(product["data"]["kernels"].values()) == {"ok"}
        timed = [entry for entry in product["data"]["dtypes"] if "tflops" in entry]
        if "timing" not in product["data"]:
            assert {"float32", "float16"} <= {entry["dtype"] for entry in timed}
            assert product["data"]["during"]["samples"] > 0
        for entry in timed:
            assert entry["freivalds"] == "ok"
            assert 0 < entry["tflops"] < 20000


@pytest.mark.gpu
@pytest.mark.torch
def test_a_wrong_product_on_a_real_gpu(torch_python: Path) -> None:
    before = """
import torch
honest = torch.matmul
def wrong(a, b):
    c = honest(a, b)
    if c.is_cuda and c.dtype == torch.bfloat16:
        c[-1, -1] += 1
    return c
torch.matmul = wrong
"""
    records = run_plan(torch_python, "import", "device", "matmul", before=before)
    subject = stage_of(records, "device")["data"]["devices"][0]["id"]
    product = stage_of(records, "matmul", subject)
    assert (product["status"], product["reason"]) == ("failed", "wrong-result")
    assert product["error"]["text"].startswith("bfloat16 product 1x1x1")
    assert all("tflops" not in entry for entry in product["data"]["dtypes"])
