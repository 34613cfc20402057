"""No GPU here: at each step from the slot to the program, the one that is missing is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.model import Container, Drivers, EnvironmentVariable, Facts, Host, Observations
from tests.rules.boxes import (
    CPU_TORCH,
    FACTS,
    HOST,
    NODES,
    PCI,
    TARGET,
    blamed,
    box,
    cuinit,
    driver_stage,
    judged,
    stage,
)

FAILED = stage(
    "device",
    status="failed",
    reason="no-device",
    data={"torch_count": 0},
)
UNANSWERED = driver_stage(
    questions={"cuda": "absent", "nvml": "absent"}, counts={"pci": 0, "nvml": 0}
)
EMPTY = replace(
    FACTS, host=Host(system="linux"), devices=(), libraries=(), drivers=Drivers(),
)  # fmt: skip


def empty(**changes: object) -> Observations:
    """A machine without any trace of a GPU."""
    facts: Facts = replace(EMPTY, **changes)  # type: ignore[arg-type]
    return Observations(facts=facts, stages=(UNANSWERED,), backend="cpu")


def test_a_box_in_order_is_quiet() -> None:
    """Nothing is said of the box from which the others are made."""
    works = stage("device", data={"torch_count": 1, "driver_count": 1})
    assert judged(box(works)).findings == ()


@pytest.mark.parametrize("kind", ["none", "docker"])
def test_no_gpu_and_no_driver_is_the_machine_and_not_torch(kind: str) -> None:
    """A CUDA build without driver or GPU: the machine has none to offer, torch is in order."""
    found = judged(empty(container=Container(kind=kind))).findings
    assert [item.code for item in found][:1] == ["no-nvidia-driver-here"]
    assert "CPU build" not in found[0].cause
    assert not any("pip install" in step for step in found[0].fix)


def test_a_cpu_build_on_such_a_machine_is_told_too() -> None:
    """Both are true, and the machine comes first."""
    found = judged(empty(interpreters=(CPU_TORCH,))).findings
    assert [item.code for item in found] == ["no-nvidia-driver-here"]
    assert "CPU build" in found[0].cause


def test_nobody_who_asks_for_the_cpu_is_told_of_a_missing_gpu() -> None:
    """With --backend cpu no GPU is missing."""
    assert blamed(replace(empty(), backend_asked="cpu")) == []


def test_the_steps() -> None:
    """Each step on the way from the slot to the program has its own name."""
    unbound = replace(HOST, pci=(replace(PCI, kernel_driver=None),), modules=(), nodes=())
    given = replace(unbound, pci=(replace(PCI, kernel_driver="vfio-pci"),))
    control = replace(HOST, nodes=NODES[1:])
    cases = {
        "no-gpu-on-pci": box(
            FAILED, host=replace(HOST, pci=(), nodes=()), devices=(), drivers=cuinit(100)
        ),
        "no-driver-module": box(
            UNANSWERED, FAILED, host=unbound, devices=(), libraries=(), drivers=Drivers()
        ),
        "gpu-given-to-vm": box(
            UNANSWERED, FAILED, host=given, devices=(), libraries=(), drivers=Drivers()
        ),
        "no-device-node": box(FAILED, host=control, devices=(), drivers=cuinit(100)),
        "no-libcuda": box(
            driver_stage(questions={"cuda": "absent", "nvml": "answered"}), FAILED, libraries=()
        ),
    }
    for code, observations in cases.items():
        assert blamed(observations)[:1] == [code], code


@pytest.mark.parametrize("value", ["", "-1", "none"])
def test_masked_devices(value: str) -> None:
    """A variable that hides all devices is named with its value."""
    masked = EnvironmentVariable(name="CUDA_VISIBLE_DEVICES", value=value)
    found = judged(box(FAILED, environment=(masked,))).findings
    assert found[0].code == "devices-masked"
    assert f"CUDA_VISIBLE_DEVICES={value}" in found[0].cause


def test_a_variable_that_chooses_is_quiet() -> None:
    """Choosing a device that exists is no fault."""
    chosen = EnvironmentVariable(name="CUDA_VISIBLE_DEVICES", value="0")
    works = stage("device", data={"torch_count": 1, "driver_count": 1})
    assert blamed(box(works, environment=(chosen,))) == []


def test_a_card_on_the_bus_that_the_driver_does_not_list() -> None:
    """Two on the bus, one in the driver."""
    other = replace(PCI, address="0000:2a:00.0")
    missing = [{"address": other.address, "vendor": "nvidia", "kernel_driver": "nvidia"}]
    seen = box(
        driver_stage(counts={"pci": 2, "nvml": 1}, missing=missing),
        host=replace(HOST, pci=(PCI, other)),
    )
    assert "gpu-not-in-driver" in blamed(seen)


def test_a_cpu_build_beside_a_sound_gpu_is_the_build() -> None:
    """The machine is in order; it must not be blamed."""
    codes = blamed(box(FAILED, interpreters=(CPU_TORCH,)))
    assert codes[:1] == ["cpu-only-build"]
    assert TARGET.torch
