"""The stage ``driver`` out of answers: what decides it, what is compared, what nobody believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.codec import to_json
from agent.collect.driver import QUESTIONS, driver_tasks, read_driver
from agent.model import (
    Container,
    DeviceNode,
    ErrorText,
    Facts,
    Gap,
    Host,
    Interpreter,
    KernelGpu,
    PciDevice,
    Stage,
    Step,
    Torch,
)

UUID = "GPU-00000000-0000-4000-8000-00000000000{}"
ABSENT = {"answer": "absent", "call": {"call": "load it", "code": None, "name": "OSError"}}


def answer(question: str, data: Mapping[str, Any] = ABSENT, **changes: Any) -> Stage:
    given: dict[str, Any] = {"status": "passed", "data": data, "seconds": 0.1}
    return Stage(name="driver", subject=question, **(given | changes))


def nvml(*devices: Mapping[str, Any], **data: Any) -> Stage:
    listed = {
        f"device:{index}": {"index": index, "fields": fields, "gaps": []}
        for index, fields in enumerate(devices)
    }
    call = {"call": "nvmlInit", "code": 0, "name": "NVML_SUCCESS", "text": "Success"}
    return answer("nvml", {"answer": "ok", "call": call, "count": len(devices), **listed, **data})


def cuda(*devices: Mapping[str, Any], code: int = 0) -> Stage:
    listed = {f"device:{i}": {"index": i, **values} for i, values in enumerate(devices)}
    call = {"call": "cuInit", "code": code, "name": "CUDA_X", "text": "no such luck"}
    if code:
        error = ErrorText(type="CUDA_X", text="cuInit refused")
        data = {"answer": "refused", "call": call}
        return answer("cuda", data, status="failed", reason="refused", error=error)
    return answer("cuda", {"answer": "ok", "call": call, "count": len(devices), **listed})


def device(number: int, **more: Any) -> dict[str, Any]:
    return {"uuid": UUID.format(number), "pci_address": f"0000:{number + 1:02x}:00.0", **more}


def pci(number: int, vendor: Any = "nvidia") -> PciDevice:
    return PciDevice(
        address=f"0000:{number + 1:02x}:00.0",
        vendor=vendor,
        vendor_id="10de",
        device_id="2330",
        class_code="030200",
    )


def machine(*cards: PciDevice, kind: str = "none", nodes: tuple[DeviceNode, ...] = ()) -> Facts:
    return Facts(host=Host(pci=cards, nodes=nodes), container=Container(kind=kind))


# ---------------------------------------------------------------- tasks
def test_nvml_is_asked_before_a_context_of_ours_uses_memory() -> None:
    children = [[task["subject"] for task in tasks] for tasks in driver_tasks()]
    assert children == [["nvml", "cuda"], ["amd_smi", "hip"]]
    assert sorted(name for asked in children for name in asked) == sorted(QUESTIONS)


@pytest.mark.parametrize("place", ["torch/lib", "_rocm_sdk_core/lib"])
def test_the_hip_library_that_torch_brings_is_the_one_to_ask(place: str, tmp_path: Path) -> None:
    library = tmp_path / place / "libamdhip64.so.7"
    library.parent.mkdir(parents=True)
    library.touch()
    torch = Torch(path=str(tmp_path / "torch"), hip_version="7.0")
    tasks = driver_tasks(Interpreter(path="/venv/bin/python", torch=torch))
    assert tasks[1][1]["options"]["hip_libraries"] == [str(library)]
    assert driver_tasks(Interpreter(path="/p"))[1][1]["options"]["hip_libraries"] == []


# ---------------------------------------------------------------- what decides the stage
def test_nothing_there_is_passed_with_gaps() -> None:
    facts, stage, gaps = read_driver([answer(name) for name in QUESTIONS], machine())
    assert stage.status == "passed"
    assert set(stage.data["questions"].values()) == {"absent"}
    assert (facts.drivers.nvidia, facts.drivers.amd, facts.devices) == (None, None, ())
    assert "/facts/devices" in {gap.pointer for gap in gaps}


def test_the_stage_takes_as_long_as_the_slower_child() -> None:
    answers = [answer("nvml"), answer("cuda", seconds=0.25), answer("hip", seconds=0.2)]
    _, stage, _ = read_driver(answers, machine())
    assert stage.seconds == pytest.approx(0.35)


def test_a_question_that_nobody_asked_is_unknown() -> None:
    _, stage, gaps = read_driver([], machine(pci(0)))
    assert stage.data["questions"]["nvml"] == "unknown"
    assert any(gap.said_by == "nvml" and "not asked" in gap.why for gap in gaps)


@pytest.mark.parametrize(
    ("question", "vendor", "code"),
    [("nvml", "nvidia", 9), ("cuda", "nvidia", 100), ("amd_smi", "amd", 34), ("hip", "amd", 101)],
)
def test_no_device_is_a_refusal_only_where_the_bus_shows_one(
    question: str, vendor: str, code: int
) -> None:
    """Images and virtual machines without a GPU often carry the libraries."""
    data = {"answer": "refused", "call": {"call": "init", "code": code, "text": "none"}}
    said = answer(question, data, status="failed", reason="refused")
    _, stage, _ = read_driver([said], machine(pci(0, vendor)))
    assert (stage.status, stage.reason) == ("failed", "refused")
    _, stage, gaps = read_driver([said], machine())
    assert stage.status == "passed"
    assert stage.data["questions"][question] == "refused"
    assert any(gap.said_by == question for gap in gaps)


def test_the_other_vendors_refusal_does_not_count_where_devices_work() -> None:
    broken = answer("amd_smi", {"answer": "refused"}, status="failed", reason="refused")
    works = cuda(device(0, copy={"bytes": 4, "differing": 0}))
    _, stage, _ = read_driver([works, broken], machine(pci(0)))
    assert stage.status == "passed"
    _, stage, _ = read_driver([broken], machine(pci(0)))
    assert stage.status == "failed"
    _, stage, _ = read_driver([broken], machine(pci(0)), backend="cuda")
    assert stage.status == "passed"


def test_a_node_that_may_not_be_opened_fails_the_stage_unless_devices_work() -> None:
    closed = DeviceNode(path="/dev/kfd", present=True, openable=False, error="EACCES")
    facts = machine(nodes=(closed,))
    _, stage, _ = read_driver([], facts)
    assert (stage.status, stage.reason) == ("failed", "refused")
    assert stage.error == ErrorText(type="EACCES", text="/dev/kfd cannot be opened")
    works = cuda(device(0, copy={"bytes": 4, "differing": 0}))
    _, stage, _ = read_driver([works], facts)
    assert stage.status == "passed"


@pytest.mark.parametrize("path", ["/dev/dri/renderD128", "/dev/nvidia-caps/nvidia-cap1"])
def test_nodes_that_others_guard_on_purpose_do_not_fail_it(path: str) -> None:
    closed = DeviceNode(path=path, present=True, openable=False, error="EACCES")
    _, stage, _ = read_driver([], machine(nodes=(closed,)))
    assert stage.status == "passed"


def test_a_death_counts_before_a_refusal_and_names_its_call() -> None:
    dead = answer(
        "nvml",
        {},
        status="timed_out",
        reason="deadline",
        signal="SIGTERM",
        steps=(Step(name="GPU 1: nvmlDeviceGetPowerUsage, nvmlDeviceGetSerial"),),
        stderr_tail=(
            "Current thread 0x1 (most recent call first):\n"
            '  File "/x/pynvml.py", line 3 in nvmlDeviceGetSerial\n'
            '  File "<firstlight_probes.nvml>", line 9 in answer\n'
        ),
    )
    _, stage, gaps = read_driver([dead, cuda(code=999)], machine(pci(0)))
    assert (stage.status, stage.reason, stage.signal) == ("timed_out", "deadline", "SIGTERM")
    assert stage.steps[0] == Step(name="nvml: GPU 1: nvmlDeviceGetSerial", seconds=None)
    assert any("nvmlDeviceGetSerial" in gap.why for gap in gaps)


# ---------------------------------------------------------------- who is who
def test_devices_are_matched_by_address_or_uuid_and_never_by_index() -> None:
    listed = nvml(device(0), device(1), device(2))
    calls = cuda(
        {"uuid": UUID.format(2), "multiprocessor_count": 30, "integrated": 0},
        {"pci_address": "0000:01:00.0", "multiprocessor_count": 10, "integrated": 1},
    )
    facts, _, _ = read_driver([listed, calls], machine(pci(0), pci(1), pci(2)))
    assert [d.multiprocessor_count for d in facts.devices] == [10, None, 30]
    assert [d.integrated for d in facts.devices] == [True, None, False]


def test_eight_digit_domains_and_upper_case_are_the_same_address() -> None:
    listed = nvml({"pci_address": "00000000:AB:00.0"})
    calls = cuda({"pci_address": "0000:ab:00.0", "major": 9, "minor": 0})
    facts, stage, _ = read_driver([listed, calls], machine())
    assert (facts.devices[0].id, facts.devices[0].architecture) == ("0000:ab:00.0", "9.0")
    assert stage.data["missing"] == []


def test_partitions_that_share_a_name_get_ids_of_their_own() -> None:
    same = {"uuid": "card", "pci_address": "0000:05:00.0"}
    data = {f"device:{i}": {"index": i, "fields": same, "gaps": []} for i in range(3)}
    facts, _, _ = read_driver([answer("amd_smi", {"answer": "ok", **data})], machine())
    assert len({d.id for d in facts.devices}) == 3


def test_the_bus_is_compared_outside_containers_and_the_kernels_list_inside() -> None:
    cards = (pci(0), pci(1), pci(2))
    _, stage, _ = read_driver([nvml(device(0))], machine(*cards))
    assert [m["address"] for m in stage.data["missing"]] == ["0000:02:00.0", "0000:03:00.0"]
    boxed = machine(*cards, kind="docker")
    _, stage, _ = read_driver([nvml(device(0))], boxed)
    assert stage.data["missing"] == []
    shown = (KernelGpu(vendor="nvidia", address="0000:03:00.0", minor=2),)
    boxed = replace(boxed, host=replace(boxed.host, kernel_gpus=shown))
    _, stage, _ = read_driver([nvml(device(0))], boxed)
    assert [m["address"] for m in stage.data["missing"]] == ["0000:03:00.0"]


def test_the_kernel_names_amds_target_where_amdsmi_does_not() -> None:
    gpu = KernelGpu(vendor="amd", address="0000:05:00.0", architecture="gfx942")
    facts = Facts(host=Host(kernel_gpus=(gpu,)), container=Container(kind="none"))
    calls = {"answer": "ok", "device:0": {"index": 0, "pci_address": "0000:05:00.0"}}
    facts, _, _ = read_driver([answer("hip", calls)], facts)
    assert facts.devices[0].architecture == "gfx942"


def test_serials_stay_out_unless_they_are_wanted() -> None:
    listed = nvml(device(0, serial="123456"))
    assert read_driver([listed], machine())[0].devices[0].serial is None
    assert read_driver([listed], machine(), keep_serials=True)[0].devices[0].serial == "123456"


def test_links_name_the_device_at_their_other_end() -> None:
    ends = [{"index": 0, "state": "active", "peer": "00000000:02:00.0", "error_count": "4"}]
    listed = nvml(device(0), device(1), peers=[{"from": 0, "to": 1, "path": "PHB", "nvlink": True}])
    record = {**listed.data["device:0"], "links": ends}
    listed = replace(listed, data={**listed.data, "device:0": record})
    facts, _, _ = read_driver([listed], machine())
    assert facts.devices[0].links[0].peer == UUID.format(1)
    assert facts.devices[0].links[0].error_count == "4"
    assert facts.devices[0].peers[0].path == "NV1"


# ---------------------------------------------------------------- what nobody believes
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(
    [
        "uuid",
        "pci_address",
        "name",
        "memory_total_bytes",
        "power.usage_watts",
        "power.nonsense",
        "clocks.event_reasons",
        "ecc.remap_pending",
        "partition",
        "partition.mig_mode",
        "processes",
        "links",
        "id",
        "vendor",
        "error",
        "compute_mode",
        "copy",
        "refused",
        "integrated",
        "major",
        "minor",
    ]
)
records = st.dictionaries(
    st.sampled_from(["fields", "gaps", "links", "instances", "error", "index", "copy", "refused"]),
    values | st.dictionaries(names, values, max_size=5),
    max_size=5,
)
answers_data = st.dictionaries(
    st.sampled_from(
        ["device:0", "device:1", "device:x", "answer", "call", "system", "count", "peers", "path"]
    ),
    values | records,
    max_size=6,
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(QUESTIONS), answers_data), max_size=4))
def test_whatever_a_child_says_the_facts_have_the_types_of_the_model(
    said: list[tuple[str, dict[str, Any]]],
) -> None:
    """Hostile code can write to the channel too: it may lie, it may not break the agent."""
    answers = [answer(question, data) for question, data in said]
    facts, stage, gaps = read_driver(answers, machine(pci(0)))
    to_json(facts)
    assert stage.name == "driver"
    assert all(isinstance(gap, Gap) for gap in gaps)
    for found in facts.devices:
        assert isinstance(found.id, str)
        assert found.memory_total_bytes is None or type(found.memory_total_bytes) is int
        assert found.integrated is None or type(found.integrated) is bool
        assert found.power is None or type(found.power.usage_watts) in (float, type(None))
        assert found.vendor in ("nvidia", "amd")
