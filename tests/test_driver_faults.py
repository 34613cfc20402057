"""Driver libraries that hang, crash, leave, lie or refuse: the stage says which call, on what."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.codec import to_json

from .simulate import Simulation, ask_drivers, examine, simulate


@pytest.fixture
def eight(tmp_path: Path, stand_ins: Path) -> Simulation:
    return simulate("h100-sxm-8", tmp_path, stand_ins)


@pytest.fixture
def one(tmp_path: Path, stand_ins: Path) -> Simulation:
    return simulate("h100-sxm", tmp_path, stand_ins)


# ---------------------------------------------------------------- death of a child
@pytest.mark.parametrize(
    ("fault", "status", "reason", "signal", "code"),
    [
        ("crash", "crashed", "signal", "SIGSEGV", None),
        ("abort", "crashed", "signal", "SIGABRT", None),
        ("exit", "crashed", "exited", None, 3),
        ("hang", "timed_out", "deadline", "SIGTERM", None),
        ("spin", "timed_out", "deadline", "SIGTERM", None),
    ],
)
def test_death_in_a_call_names_call_and_device_and_the_next_question_is_asked(
    eight: Simulation,
    fault: str,
    status: str,
    reason: str,
    signal: str | None,
    code: int | None,
) -> None:
    eight.say(**{"fault.nvmlDeviceGetPowerUsage.2": fault})
    facts, stage, _, _ = examine(eight, only=("nvml", "cuda"), seconds=3.0)
    assert (stage.status, stage.reason) == (status, reason)
    # A crash or a hang leaves a traceback with the call; an exit only what was announced last.
    said = stage.steps[0].name
    assert said.startswith("nvml: GPU 2: nvmlDeviceGetPowerUsage")
    assert fault == "exit" or said == "nvml: GPU 2: nvmlDeviceGetPowerUsage"
    assert stage.steps[0].seconds is None
    assert stage.error is not None
    if status == "crashed":
        assert (stage.signal, stage.exit_code) == (signal, code)
    assert stage.data["questions"]["nvml"] == "unknown"
    assert stage.data["questions"]["cuda"] == "ok"
    # What NVML told before it died stands; the rest is known from the driver API alone.
    assert len(facts.devices) == 8
    assert facts.devices[1].power is not None
    assert facts.devices[2].power is None
    assert {device.multiprocessor_count for device in facts.devices} == {132}


def test_death_in_the_driver_api_leaves_the_devices_of_nvml(eight: Simulation) -> None:
    eight.say(**{"fault.cuDevicePrimaryCtxRetain.5": "crash"})
    facts, stage, _, _ = examine(eight, only=("nvml", "cuda"))
    assert (stage.status, stage.signal) == ("crashed", "SIGSEGV")
    assert stage.steps[1].name == "cuda: CUDA device 5: cuDevicePrimaryCtxRetain"
    assert len(facts.devices) == 8
    assert facts.drivers.nvidia is not None
    assert facts.drivers.nvidia.userspace_version == "565.57.01"


# ---------------------------------------------------------------- nonsense
NONSENSE = {
    "gpu.0.temperature.0": 2**32 - 1,
    "gpu.0.memory_total": 2**64 - 1,
    "gpu.0.power_usage": 2**32 - 1,
    "gpu.0.pcie_width": 0xFFFF,
    "gpu.0.pcie_generation": 0,
    "gpu.0.ecc_errors.0.0": 2**64 - 1,
    "gpu.0.compute_mode": 77,
    "gpu.0.virtualization_mode": 2**63,
    "gpu.0.utilization": 2**31,
    "gpu.0.remapped_rows": "4294967295 0 7 0",
    "gpu.0.fabric": "99 0 99",
    "gpu.0.compute_capability": "0 0",
    "gpu.0.serial": "0",
    "gpu.0.name": "x" * 60,
}


def test_sentinels_and_nonsense_are_gaps_and_never_numbers(one: Simulation) -> None:
    one.say(**NONSENSE)
    facts, stage, gaps, _ = examine(one, only=("nvml",))
    device = facts.devices[0]
    assert stage.status == "passed"
    assert device.temperature is not None
    assert device.power is not None
    assert device.pcie is not None
    assert device.ecc is not None
    empty = (
        device.temperature.gpu_celsius,
        device.memory_total_bytes,
        device.power.usage_watts,
        device.pcie.width_current,
        device.pcie.generation_current,
        device.ecc.volatile_corrected,
        device.ecc.remapped_correctable,
        device.compute_mode,
        device.virtualization,
        device.utilization_percent,
        device.architecture,
        device.fabric and device.fabric.state,
    )
    assert empty == (None,) * len(empty)
    told = {gap.pointer: gap.why for gap in gaps}
    for pointer in ("temperature/gpu_celsius", "memory_total_bytes", "pcie/width_current"):
        assert "cannot be" in told[f"/facts/devices/0/{pointer}"]
    assert device.power.limit_watts == 700.0


def test_what_is_not_supported_is_a_gap_with_the_librarys_word(one: Simulation) -> None:
    one.say(**{"fault.nvmlDeviceGetEccMode": 3, "fault.nvmlDeviceGetPowerUsage": 13})
    _, _, gaps, _ = examine(one, only=("nvml",))
    told = {gap.pointer: (gap.why, gap.said_by) for gap in gaps}
    assert told["/facts/devices/0/ecc/mode"] == ("Not Supported", "nvmlDeviceGetEccMode")
    assert told["/facts/devices/0/power/usage_watts"] == (
        "Function Not Found",
        "nvmlDeviceGetPowerUsage",
    )


ASKED_OF_EVERY_DEVICE = (
    "memory_total_bytes",
    "utilization_percent",
    "architecture",
    "pcie/width_max",
    "power/limit_watts",
    "clocks/sm_mhz",
    "clocks/event_reasons",
    "temperature/gpu_celsius",
    "temperature/memory_celsius",
    "ecc/mode",
    "ecc/remap_pending",
    "ecc/retired_double_bit",
    "persistence_mode",
    "compute_mode",
    "virtualization",
    "performance_state",
    "partition/mig_mode",
    "fabric/state",
    "recovery_action",
    "links",
    "vbios",
)


def test_every_unknown_of_a_known_part_has_a_gap(one: Simulation) -> None:
    """With every call refused but those that name the device, each field says why."""
    keep = ("name", "uuid", "pci")
    kept = one.answers.read_text().splitlines()
    lines = [
        line
        for line in kept
        if not line.startswith("gpu.0.") or line.split(" = ")[0].removeprefix("gpu.0.") in keep
    ]
    one.answers.write_text("\n".join(lines) + "\n")
    facts, _, gaps, _ = examine(one, only=("nvml",))
    pointers = {gap.pointer for gap in gaps}
    assert facts.devices[0].name == "NVIDIA H100 80GB HBM3"
    assert {f"/facts/devices/0/{field}" for field in ASKED_OF_EVERY_DEVICE} <= pointers


def test_three_hundred_devices_are_read_and_stay_small(one: Simulation) -> None:
    one.say(**{"nvml.count": 300})
    text = one.answers.read_text().replace("gpu.0.", "gpu.*.")
    text = text.replace("gpu.*.uuid = GPU-00000000-0000-4000-8000-000000000000\n", "")
    text += "".join(f"gpu.{n}.uuid = GPU-{n:08x}-0000-4000-8000-000000000000\n" for n in range(300))
    one.answers.write_text(text)
    facts, stage, gaps, _ = examine(one, only=("nvml",))
    assert stage.status == "passed"
    assert len({device.id for device in facts.devices}) == 300
    assert stage.data["counts"]["nvml"] == 300
    assert len(gaps) < 80
    assert any("peers" in gap.why for gap in gaps)
    assert len(json.dumps(to_json(facts.devices))) < 2_000_000


@pytest.mark.parametrize("count", [2**32 - 1, 5000])
def test_a_count_that_cannot_be_does_not_cost_the_deadline(one: Simulation, count: int) -> None:
    one.say(**{"nvml.count": count, "cuda.count": -3})
    began = time.monotonic()
    facts, stage, gaps, _ = examine(one, only=("nvml", "cuda"))
    assert time.monotonic() - began < 20
    assert stage.data["questions"]["nvml"] == "ok"
    assert 1 <= len(facts.devices) <= 1024
    told = [gap.why for gap in gaps if "were asked" in gap.why]
    assert told == [
        f"nvmlDeviceGetCount says {count} devices; 1024 were asked",
        "cuDeviceGetCount says -3 devices; 0 were asked",
    ]


def test_a_refused_list_of_devices_is_a_gap(one: Simulation) -> None:
    one.say(**{"fault.nvmlDeviceGetCount": 999})
    _, _, gaps, _ = examine(one, only=("nvml",))
    assert "nvmlDeviceGetCount: Unknown Error" in [gap.why for gap in gaps]


# ---------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("code", "text"),
    [
        (9, "Driver Not Loaded"),
        (18, "Driver/library version mismatch"),
        (4, "Insufficient Permissions"),
        (999, "Unknown Error"),
    ],
)
def test_a_refusal_of_nvml_keeps_number_name_and_text(
    one: Simulation, code: int, text: str
) -> None:
    one.say(**{"nvml.init": code})
    facts, stage, gaps, _ = examine(one, only=("nvml",))
    assert (stage.status, stage.reason) == ("failed", "refused")
    assert facts.drivers.nvidia is not None
    said = facts.drivers.nvidia.nvml
    assert said is not None
    assert said.text is not None
    assert (said.call, said.code) == ("nvmlInit", code)
    assert (said.name or "").startswith("NVML_ERROR_")
    # pynvml words the known codes itself; either way it is the library's word.
    assert said.text in (text, "RM has detected an NVML/RM version mismatch.")
    assert any(gap.pointer.endswith("userspace_version") and said.text in gap.why for gap in gaps)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (34, "CUDA_ERROR_STUB_LIBRARY"),
        (100, "CUDA_ERROR_NO_DEVICE"),
        (802, "CUDA_ERROR_SYSTEM_NOT_READY"),
        (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        (804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"),
        (999, "CUDA_ERROR_UNKNOWN"),
    ],
)
def test_a_refusal_of_cuinit_keeps_number_name_and_text(
    one: Simulation, code: int, name: str
) -> None:
    one.say(**{"cuda.init": code})
    facts, stage, _, _ = examine(one, only=("nvml", "cuda"))
    assert (stage.status, stage.reason) == ("failed", "refused")
    assert stage.error is not None
    assert stage.error.type == name
    assert f"cuInit returned {code}" in stage.error.text
    assert facts.drivers.nvidia is not None
    assert facts.drivers.nvidia.cuda_version == "12.7"
    assert facts.drivers.nvidia.cuinit is not None
    assert facts.drivers.nvidia.cuinit.code == code
    assert len(facts.devices) == 1


def test_no_device_is_no_refusal_where_nothing_shows_one(tmp_path: Path, stand_ins: Path) -> None:
    """An image that carries libcuda on a machine without a GPU."""
    simulation = simulate("cpu-only", tmp_path, stand_ins)
    shutil.copy(stand_ins / "libcuda.so.1", simulation.libraries / "libcuda.so.1")
    simulation.say(**{"cuda.init": 100})
    _, stage, _, _ = examine(simulation, only=("nvml", "cuda"))
    assert stage.status == "passed"
    assert stage.data["questions"]["nvml"] == "absent"


def test_a_library_that_is_no_library_does_not_load(one: Simulation) -> None:
    (one.libraries / "libnvidia-ml.so.1").unlink()
    (one.libraries / "libnvidia-ml.so.1").write_text("not an ELF file")
    facts, stage, _, _ = examine(one, only=("nvml",))
    assert (stage.status, stage.reason) == ("failed", "does-not-load")
    assert stage.error is not None
    assert "libnvidia-ml.so.1" in stage.error.text
    assert facts.devices == ()


def test_one_device_that_refuses_a_context_does_not_fail_the_stage(eight: Simulation) -> None:
    eight.say(**{"fault.cuDevicePrimaryCtxRetain.6": 46})
    facts, stage, _, _ = examine(eight, only=("nvml", "cuda"))
    assert stage.status == "passed"
    assert "returned 46" in (facts.devices[6].error or "")
    assert [device.error for device in facts.devices[:6]] == [None] * 6


def test_when_every_device_refuses_the_stage_fails(eight: Simulation) -> None:
    eight.say(**{"fault.cuDevicePrimaryCtxRetain": 46})
    _, stage, _, _ = examine(eight, only=("nvml", "cuda"))
    assert (stage.status, stage.reason) == ("failed", "refused")
    assert stage.error is not None
    assert stage.error.type == "CUDA_ERROR_DEVICE_UNAVAILABLE"


@pytest.mark.parametrize(("name", "api"), [("h100-sxm", "cuda"), ("mi300x-cpx", "hip")])
def test_a_copy_that_comes_back_different_is_seen(
    name: str, api: str, tmp_path: Path, stand_ins: Path
) -> None:
    simulation = simulate(name, tmp_path, stand_ins)
    simulation.say(**{f"{api}.*.corrupt_copy": 1})
    facts, stage, _, _ = examine(simulation)
    assert (stage.status, stage.reason) == ("failed", "wrong-result")
    assert {copy["differing_bytes"] for copy in stage.data["copies"]} == {1}
    assert "changed 1 bytes" in (facts.devices[0].error or "")


def test_a_device_whose_handle_is_refused_keeps_its_place_and_gets_its_address(
    eight: Simulation,
) -> None:
    eight.say(**{"fault.nvmlDeviceGetHandleByIndex.3": 999, "fault.cuDeviceGet.3": 999})
    facts, _, _, _ = examine(eight, only=("nvml", "cuda"))
    assert facts.devices[3].error == "Unknown Error"
    # Seven of eight addresses are taken, so the eighth on the bus is this one's.
    assert facts.devices[3].id == "0000:5d:00.0"
    assert facts.devices[4].error is None


# ---------------------------------------------------------------- two vendors, two users
def test_an_amd_gpu_that_refuses_does_not_fail_a_machine_whose_nvidia_cards_work(
    one: Simulation, stand_ins: Path
) -> None:
    shutil.copy(stand_ins / "libamdhip64.so.6", one.libraries / "libamdhip64.so.6")
    shutil.copy(stand_ins / "libamd_smi.so", one.libraries / "libamd_smi.so")
    one.say(**{"hip.init": 101, "amd.init": 34})
    _, stage, gaps, _ = examine(one)
    assert stage.status == "passed"
    assert stage.data["questions"]["hip"] == "refused"
    assert any(gap.said_by == "hip" and "invalid device ordinal" in gap.why for gap in gaps)


def test_own_processes_have_names_and_others_are_counted(one: Simulation) -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        gone = 2**22 - 3  # no process of this namespace has this number
        one.say(
            **{
                "gpu.0.process.0": f"{sleeper.pid} 5000000",
                "gpu.0.process.1": f"{gone} 7000000",
                "gpu.0.graphics.0": f"{gone - 1} -",
            }
        )
        facts, _, _, _ = examine(one, only=("nvml",))
    finally:
        sleeper.kill()
        sleeper.wait()
    found = facts.devices[0].processes
    assert found is not None
    assert [(p.pid, p.memory_bytes) for p in found.own] == [(sleeper.pid, 5000000)]
    assert found.own[0].name
    assert (found.other_count, found.other_memory_bytes) == (2, 7000000)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start another user's process")
def test_another_users_process_is_never_named(one: Simulation) -> None:
    sleeper = subprocess.Popen(["/bin/sleep", "60"], user=65534, cwd="/")
    try:
        one.say(**{"gpu.0.process.0": f"{sleeper.pid} 5000000"})
        facts, _, _, _ = examine(one, only=("nvml",))
    finally:
        sleeper.kill()
        sleeper.wait()
    found = facts.devices[0].processes
    assert found is not None
    assert (found.own, found.other_count) == ((), 1)


# ---------------------------------------------------------------- speed
def test_eight_devices_take_little_longer_than_one(tmp_path: Path, stand_ins: Path) -> None:
    """The child of eight devices takes at most 1.2 times that of one; noise gets more tries."""
    few = simulate("h100-sxm", tmp_path / "few", stand_ins)
    many = simulate("h100-sxm-8", tmp_path / "many", stand_ins)

    def seconds(simulation: Simulation) -> float:
        began = time.monotonic()
        ask_drivers(simulation, only=("nvml",))
        return time.monotonic() - began

    ratios = []
    for _ in range(6):
        pairs = [(seconds(few), seconds(many)) for _ in range(5)]
        ratios.append(sorted(b for _, b in pairs)[2] / sorted(a for a, _ in pairs)[2])
        if ratios[-1] <= 1.2:
            return
    pytest.fail(f"eight devices took {min(ratios):.2f} times as long as one")
