"""amdsmi and HIP over the stand-ins: which copy is taken, what refuses, what is a sentinel."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from agent.model import Stage
from agent.run.worker import Worker

from .simulate import Simulation, examine, simulate


def answer_of(workers: list[Worker], question: str) -> Stage:
    return next(s for worker in workers for s in worker.stages if s.subject == question)


@pytest.fixture
def amd(tmp_path: Path, stand_ins: Path) -> Simulation:
    return simulate("mi300x-8", tmp_path, stand_ins)


def test_amdsmi_that_refuses_keeps_its_word(amd: Simulation) -> None:
    amd.say(**{"amd.init": 34, "hip.init": 100})
    facts, stage, _, _ = examine(amd, only=("amd_smi", "hip"))
    assert (stage.status, stage.reason) == ("failed", "refused")
    assert facts.drivers.amd is not None
    said = facts.drivers.amd.amdsmi
    assert said is not None
    assert (said.code, said.name) == (34, "AMDSMI_STATUS_DRIVER_NOT_LOADED")


def test_an_import_that_prints_and_raises_is_a_gap_and_hip_still_answers(amd: Simulation) -> None:
    """amdsmi prints to stdout and raises KeyError where its library does not load."""
    library = Path(amd.environ["ROCM_PATH"]) / "lib" / "libamd_smi.so"
    library.parent.mkdir(parents=True)
    library.write_text("not an ELF file")
    (amd.libraries / "libamd_smi.so").unlink()
    facts, stage, gaps, workers = examine(amd, only=("amd_smi", "hip"))
    answer = answer_of(workers, "amd_smi")
    assert (answer.status, answer.reason) == ("skipped", "does-not-load")
    assert answer.error is not None
    assert answer.error.type == "KeyError"
    assert stage.status == "passed"
    assert stage.data["questions"]["amd_smi"] == "unknown"
    assert len(facts.devices) == 8
    assert facts.devices[0].id == "0000:05:00.0"
    assert any(gap.said_by == "amd_smi" and "KeyError" in gap.why for gap in gaps) or any(
        "libamd_smi.so" in gap.why for gap in gaps
    )


def test_rocms_own_copy_of_amdsmi_is_taken_before_the_installed_one(amd: Simulation) -> None:
    spec = importlib.util.find_spec("amdsmi")
    assert spec is not None
    assert spec.origin is not None
    place = Path(amd.environ["ROCM_PATH"]) / "share" / "amd_smi"
    place.mkdir(parents=True)
    shutil.copytree(Path(spec.origin).parent, place / "amdsmi")
    facts, _, _, _ = examine(amd, only=("amd_smi",))
    assert facts.drivers.amd is not None
    assert facts.drivers.amd.amdsmi_origin == "rocm"
    assert len(facts.devices) == 8


def test_without_rocms_copy_the_installed_one_is_named_as_origin(amd: Simulation) -> None:
    facts, _, _, _ = examine(amd, only=("amd_smi",))
    assert facts.drivers.amd is not None
    assert facts.drivers.amd.amdsmi_origin == "pypi"


def test_amd_sentinels_are_gaps(amd: Simulation) -> None:
    changed = {
        "amd.0.power_usage": 0xFFFF,
        "amd.0.pcie_width": 0xFFFF,
        "amd.0.compute_units": 2**32 - 1,
        "amd.0.utilization": 0xFFFF,
        "amd.0.clock.0": f"{2**32 - 1} {2**32 - 1}",
        "amd.0.memory_total": 2**64 - 1,
    }
    amd.say(**changed)
    facts, _, gaps, _ = examine(amd, only=("amd_smi",))
    device = facts.devices[0]
    assert device.power is not None
    assert (device.power.usage_watts, device.power.limit_watts) == (None, 750.0)
    assert device.pcie is not None
    assert device.pcie.width_current is None
    assert device.multiprocessor_count is None
    assert device.memory_total_bytes is None
    assert device.utilization_percent is None
    pointers = {gap.pointer for gap in gaps}
    assert "/facts/devices/0/power/usage_watts" in pointers
    assert "/facts/devices/0/memory_total_bytes" in pointers
