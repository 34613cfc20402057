"""Slower or smaller than the card should be, and what cards do when all is well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.model import Clocks, GpuProcess, GpuProcesses, Observations, Partition, PcieLink, Power
from tests.rules.boxes import GIB, H100, SUBJECT, blamed, box, gpu, noted, stage

IDLE_LINK = PcieLink(generation_current=1, generation_max=5, width_current=1, width_max=16)


def load(*reasons: str, tflops: float = 700.0, n: int = 8192, **more: Any) -> Any:
    """A matmul stage: the speed reached and the event reasons seen during it."""
    entry = {"dtype": "bfloat16", "tflops": tflops, "n": n, **more}
    return stage(
        "matmul", SUBJECT, data={"during": {"event_reasons": list(reasons)}, "dtypes": [entry]}
    )


def copies(gigabytes: float) -> Any:
    """A memory stage with what pinned copies reached."""
    rate = gigabytes * 1e9
    rates = {
        "host_to_device_pinned_bytes_per_second": rate,
        "device_to_host_pinned_bytes_per_second": rate,
    }
    return stage("memory", SUBJECT, data={"bandwidth": rates})


def counts(torch: int, driver: int) -> Any:
    """A device stage with both counts."""
    return stage("device", data={"torch_count": torch, "driver_count": driver})


FAULTS: dict[str, tuple[str, Observations]] = {
    "heat": ("thermal-slowdown", box(load("SwThermalSlowdown"))),
    "heat-slow": ("thermal-slowdown", box(load("HwThermalSlowdown", tflops=150.0))),
    "brake": ("power-brake", box(load("HwPowerBrakeSlowdown"))),
    "watts": (
        "power-limit-lowered",
        box(load(), devices=gpu(power=Power(
            limit_watts=350.0, default_limit_watts=700.0, enforced_limit_watts=350.0
        ))),
    ),
    "clocks": (
        "clocks-locked",
        box(
            load("ApplicationsClocksSetting"),
            devices=gpu(clocks=Clocks(sm_mhz=900, max_sm_mhz=1980, applications_sm_mhz=900)),
        ),
    ),
    "lanes": (
        "pcie-width-reduced",
        box(copies(0.9), devices=gpu(pcie=replace(IDLE_LINK, generation_current=5))),
    ),
    "slow": ("slower-than-card", box(load(tflops=120.0))),
    "small": ("vram-smaller-than-product", box(devices=gpu(memory_total_bytes=40 * GIB))),
    "used": ("memory-used-by-unseen-process", box(devices=gpu(memory_used_bytes=10 * GIB))),
    "count": ("nvml-torch-count-differs", box(counts(1, 2))),
}  # fmt: skip
HEALTHY = {
    "power-cap-under-load": box(load("SwPowerCap")),
    "idle": box(
        devices=gpu(clocks=Clocks(sm_mhz=210, max_sm_mhz=1980, event_reasons=("GpuIdle",)))
    ),
    "hot-once-at-rest": box(
        devices=gpu(
            clocks=Clocks(sm_mhz=210, max_sm_mhz=1980, event_reasons=("SwThermalSlowdown",))
        )
    ),
    "idle-link-and-fast-copies": box(copies(52.0), devices=gpu(pcie=IDLE_LINK)),
    "raised-limit": box(devices=gpu(power=Power(limit_watts=700.0, default_limit_watts=600.0))),
    "small-products": box(load(tflops=30.0, n=1024)),
    "simulated-timing": box(load(tflops=10.0, timing="cpu")),
    "a-slice-is-smaller": box(
        devices=gpu(
            memory_total_bytes=20 * GIB,
            partition=Partition(kind="mig", mig_mode="enabled", parent_uuid="GPU-1"),
        )
    ),
    "own-process": box(
        devices=gpu(
            memory_used_bytes=30 * GIB,
            processes=GpuProcesses(own=(GpuProcess(pid=7, memory_bytes=29 * GIB),)),
        )
    ),
    "unknown-card": box(load(tflops=1.0), devices=gpu(name="NVIDIA Z9999")),
    "same-count": box(counts(1, 1)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_makes_a_card_slow_is_named(name: str) -> None:
    """One cause each, and the slowness itself is folded into it."""
    code, observations = FAULTS[name]
    assert blamed(observations) == [code]


@pytest.mark.parametrize("name", HEALTHY)
def test_what_healthy_cards_do_is_quiet(name: str) -> None:
    """Neither blame nor note."""
    assert blamed(HEALTHY[name]) == []


def test_a_narrow_idle_link_that_nobody_measured() -> None:
    """An x1 link is worth a word even unmeasured; x8 in an x16 slot is a note."""
    narrow = H100.pcie and replace(H100.pcie, width_current=8)
    assert noted(box(devices=gpu(pcie=narrow))) == ["pcie-width-reduced"]
