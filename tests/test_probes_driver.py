"""The probes of the stage ``driver`` run from their files: what they announce and report."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.collect.driver import driver_tasks

from .in_target import RUN_PLAN, lines_of
from .simulate import Simulation, simulate

TASKS = {str(task["subject"]): task for tasks in driver_tasks() for task in tasks}


def ask(simulation: Simulation, question: str, **environ: str) -> list[dict[str, Any]]:
    plan = json.dumps({"tasks": [TASKS[question]]})
    return lines_of(sys.executable, RUN_PLAN, {**simulation.environ, "PLAN": plan, **environ})


def result_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    return next(record for record in records if record["record"] == "result")


def data_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        found.update(record.get("data") or {})
    return found


def steps_of(records: list[dict[str, Any]]) -> list[str]:
    return [record["name"] for record in records if record["record"] == "step"]


QUESTIONS_OF = (
    ("h100-sxm-8", "nvml", 8),
    ("h100-sxm-8", "cuda", 8),
    ("a100-mig-slice", "nvml", 1),
    ("a100-mig-slice", "cuda", 1),
    ("vgpu-unlicensed", "nvml", 1),
    ("t4", "nvml", 1),
    ("h100-gpu-lost", "nvml", 8),
    ("jetson", "cuda", 1),
    ("mi300x-8", "amd_smi", 8),
    ("mi300x-8", "hip", 8),
    ("rx7900-igpu", "amd_smi", 2),
)


@pytest.mark.parametrize(("name", "question", "count"), QUESTIONS_OF)
def test_a_question_reports_every_device_and_is_marked_simulated(
    name: str, question: str, count: int, tmp_path: Path, stand_ins: Path
) -> None:
    records = ask(simulate(name, tmp_path, stand_ins), question)
    assert result_of(records)["status"] == "passed"
    data = data_of(records)
    assert (data["answer"], data["count"], data["call"]["code"]) == ("ok", count, 0)
    assert [data[f"device:{n}"]["index"] for n in range(count)] == list(range(count))
    assert {"record": "simulated"} in [{"record": r["record"]} for r in records]
    assert [record["seq"] for record in records] == list(range(len(records)))
    assert max(len(json.dumps(record)) for record in records) < 16_000
    assert not any("cut" in (record.get("data") or {}) for record in records)


@pytest.mark.parametrize("question", ["nvml", "cuda", "amd_smi", "hip"])
def test_without_a_library_the_answer_is_absent(
    question: str, tmp_path: Path, stand_ins: Path
) -> None:
    simulation = simulate("cpu-only", tmp_path, stand_ins)
    records = ask(simulation, question)
    assert result_of(records)["status"] == "passed"
    assert data_of(records)["answer"] == "absent"
    assert not any(record["record"] == "simulated" for record in records)


REFUSALS = (
    ("h100-sxm", "nvml", {"nvml.init": 18}, 18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"),
    ("h100-sxm", "cuda", {"cuda.init": 802}, 802, "CUDA_ERROR_SYSTEM_NOT_READY"),
    ("h100-sxm", "cuda", {"fault.cuDeviceGetCount": 999}, 999, "CUDA_ERROR_UNKNOWN"),
    ("mi300x-8", "amd_smi", {"amd.init": 10}, 10, "AMDSMI_STATUS_NO_PERM"),
    ("mi300x-8", "hip", {"hip.init": 101}, 101, "hipErrorInvalidDevice"),
    ("mi300x-8", "hip", {"hip.count": 0}, 100, "hipErrorNoDevice"),
)


@pytest.mark.parametrize(("name", "question", "keys", "code", "word"), REFUSALS)
def test_a_refusal_names_the_call_the_number_and_the_word(
    name: str,
    question: str,
    keys: dict[str, Any],
    code: int,
    word: str,
    tmp_path: Path,
    stand_ins: Path,
) -> None:
    simulation = simulate(name, tmp_path, stand_ins)
    simulation.say(**keys)
    records = ask(simulation, question)
    result = result_of(records)
    assert (result["status"], result["reason"]) == ("failed", "refused")
    assert (result["error"]["type"], result["error"]["text"]) != ("", "")
    call = data_of(records)["call"]
    assert (call["code"], call["name"]) == (code, word)


def test_calls_are_announced_before_they_are_made_and_few_at_a_time(
    tmp_path: Path, stand_ins: Path
) -> None:
    simulation = simulate("h100-sxm-8", tmp_path, stand_ins)
    steps = steps_of(ask(simulation, "nvml"))
    assert steps[:3] == ["load libnvidia-ml.so.1", "import pynvml", "nvmlInit"]
    third = [step for step in steps if step.startswith("GPU 2: ")]
    named = {call for step in third for call in step.partition(": ")[2].split(", ")}
    for call in ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetEccMode", "nvmlDeviceGetNvLinkState"):
        assert call in named
    assert max(step.count(",") for step in third) < 10
    assert len(third) < 25


def test_calls_of_many_devices_are_announced_once_a_device(tmp_path: Path, stand_ins: Path) -> None:
    simulation = simulate("h100-sxm", tmp_path, stand_ins)
    simulation.say(**{"nvml.count": 40})
    records = ask(simulation, "nvml")
    assert [step for step in steps_of(records) if step.startswith("GPU 7")] == ["GPU 7"]
    assert "40 devices" in data_of(records)["peers_left_out"]


def test_a_device_that_is_lost_midway_is_asked_nothing_more(
    tmp_path: Path, stand_ins: Path
) -> None:
    records = ask(simulate("h100-gpu-lost", tmp_path, stand_ins), "nvml")
    lost = data_of(records)["device:3"]
    assert lost["error"] == "GPU is lost"
    assert lost["fields"]["pci_address"] == "0000:5d:00.0"
    announced = [step for step in steps_of(records) if step.startswith("GPU 3: ")]
    whole = [step for step in steps_of(records) if step.startswith("GPU 4: ")]
    assert len(announced) < len(whole)


def test_a_refused_list_of_devices_is_told(tmp_path: Path, stand_ins: Path) -> None:
    simulation = simulate("h100-sxm", tmp_path, stand_ins)
    simulation.say(**{"fault.nvmlDeviceGetCount": 999})
    data = data_of(ask(simulation, "nvml"))
    assert (data["count"], data["count_error"]["code"]) == (None, 999)
    other = simulate("mi300x-8", tmp_path / "amd", stand_ins)
    other.say(**{"fault.amdsmi_get_socket_handles": 10})
    data = data_of(ask(other, "amd_smi"))
    assert data["count"] is None
    assert "AMDSMI_STATUS_NO_PERM" in data["count_error"]["text"]


def test_versions_that_cannot_be_read_are_gaps(tmp_path: Path, stand_ins: Path) -> None:
    simulation = simulate("h100-sxm", tmp_path, stand_ins)
    simulation.say(**{"fault.nvmlSystemGetDriverVersion": 999, "fault.cuDriverGetVersion": 999})
    system = data_of(ask(simulation, "nvml"))["system"]
    assert "driver_version" not in system
    assert system["gaps"] == [["driver_version", "Unknown Error", "nvmlSystemGetDriverVersion"]]
    data = data_of(ask(simulation, "cuda"))
    assert data["version"] is None
    assert data["version_call"]["code"] == 999


def test_an_older_driver_is_asked_by_its_older_calls(tmp_path: Path, stand_ins: Path) -> None:
    simulation = simulate("h100-sxm", tmp_path, stand_ins)
    simulation.say(
        **{
            "fault.nvmlDeviceGetMemoryInfo_v2": 25,
            "fault.nvmlDeviceGetCurrentClocksEventReasons": 13,
        },
        **{"gpu.0.throttle_reasons": "0x20000804"},
    )
    device = data_of(ask(simulation, "nvml"))["device:0"]
    # The first version of the call counts what the driver reserves as used.
    assert device["fields"]["memory_used_bytes"] == (454 + 1) * 1048576
    assert [
        "memory_reserved_bytes",
        "this driver counts it as used",
        "nvmlDeviceGetMemoryInfo",
    ] in (device["gaps"])
    # A bit without a name is shown, not dropped.
    assert device["fields"]["clocks.event_reasons"] == ["SwPowerCap", "0x20000800"]


def test_the_library_of_the_target_is_tried_first(tmp_path: Path, stand_ins: Path) -> None:
    simulation = simulate("mi300x-8", tmp_path, stand_ins)
    shutil.copy(stand_ins / "libamdhip64.so.6", tmp_path / "libamdhip64.so")
    options = {"question": "hip", "hip_libraries": [str(tmp_path / "libamdhip64.so")]}
    plan = json.dumps({"tasks": [{**TASKS["hip"], "options": options}]})
    records = lines_of(sys.executable, RUN_PLAN, {**simulation.environ, "PLAN": plan})
    assert data_of(records)["library"] == str(tmp_path / "libamdhip64.so")
    assert data_of(records)["count"] == 8


def test_without_pynvml_the_question_is_left_open(tmp_path: Path, stand_ins: Path) -> None:
    """The agent may lack nvidia-ml-py; that says nothing about the driver."""
    simulation = simulate("h100-sxm", tmp_path, stand_ins)
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    (shadow / "pynvml.py").write_text("raise ImportError('No module named pynvml')")
    records = ask(simulation, "nvml", PYTHONPATH=str(shadow))
    assert (result_of(records)["status"], result_of(records)["reason"]) == (
        "skipped",
        "not-installed",
    )
    assert data_of(records)["answer"] == "unknown"
