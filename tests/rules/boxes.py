"""Constructed observations: a sound H100 box, changed in one place for each test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent.bundle import with_lines
from agent.codec import to_json
from agent.judge import Judgement
from agent.model import (
    CallResult,
    Clocks,
    Container,
    Device,
    DeviceNode,
    Drivers,
    Facts,
    Host,
    Interpreter,
    KernelModule,
    Library,
    Limits,
    NvidiaDriver,
    Observations,
    Partition,
    PciDevice,
    PcieLink,
    Power,
    Stage,
    Torch,
)
from tests.rules.judged import of

GIB = 1 << 30
ADDRESS = "0000:18:00.0"
UUID = "GPU-00000000-0000-4000-8000-000000000000"
SUBJECT = f"gpu:{UUID}"
H100 = Device(
    id=UUID,
    vendor="nvidia",
    name="NVIDIA H100 80GB HBM3",
    uuid=UUID,
    pci_address=ADDRESS,
    architecture="9.0",
    integrated=False,
    memory_total_bytes=85520809984,
    memory_used_bytes=600 << 20,
    memory_reserved_bytes=550 << 20,
    pcie=PcieLink(generation_current=5, generation_max=5, width_current=16, width_max=16),
    power=Power(limit_watts=700.0, default_limit_watts=700.0, enforced_limit_watts=700.0),
    clocks=Clocks(sm_mhz=1980, max_sm_mhz=1980, event_reasons=("GpuIdle",)),
    partition=Partition(kind="none", mig_mode="disabled"),
    compute_mode="default",
    virtualization="none",
)
DRIVER = NvidiaDriver(
    kernel_version="580.65.06",
    kernel_open=True,
    userspace_version="580.65.06",
    libcuda_version="580.65.06",
    cuda_version="13.0",
    nvml_cuda_version="13.0",
    nvml=CallResult(call="nvmlInit_v2", code=0, name="NVML_SUCCESS"),
    cuinit=CallResult(call="cuInit", code=0, name="CUDA_SUCCESS"),
)
PCI = PciDevice(
    address=ADDRESS,
    vendor="nvidia",
    vendor_id="10de",
    device_id="2330",
    class_code="030200",
    kernel_driver="nvidia",
)
NODES = tuple(
    DeviceNode(path=f"/dev/{name}", present=True, openable=True)
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm")
)
HOST = Host(
    system="linux",
    os_id="ubuntu",
    kernel_release="6.8.0-60-generic",
    virtualization="none",
    cpu_count=64,
    cpu_total_count=64,
    memory_total_bytes=512 * GIB,
    nodes=NODES,
    modules=(
        KernelModule(name="nvidia", loaded=True, version="580.65.06"),
        KernelModule(name="nvidia_uvm", loaded=True),
    ),
    pci=(PCI,),
)
LIBRARIES = (
    Library(
        soname="libcuda.so.1",
        path="/usr/lib/x86_64-linux-gnu/libcuda.so.1",
        origin="driver",
        on_loader_path=True,
    ),
)
TARGET = Interpreter(
    path="/opt/venv/bin/python",
    version="3.12.3",
    chosen=True,
    torch=Torch(
        version="2.8.0+cu128",
        build="cu128",
        cuda_version="12.8",
        architectures=("sm_80", "sm_90", "sm_100"),
        known_from="files",
    ),
)
FACTS = Facts(
    host=HOST,
    container=Container(kind="none"),
    limits=Limits(shm_total_bytes=256 * GIB, shm_free_bytes=256 * GIB),
    libraries=LIBRARIES,
    devices=(H100,),
    drivers=Drivers(nvidia=DRIVER),
    interpreters=(TARGET,),
)
CPU_TORCH = replace(TARGET, torch=Torch(version="2.8.0+cpu", build="cpu", known_from="files"))


def stage(name: str, subject: str = "host", **rest: Any) -> Stage:
    """A stage that passed, unless told otherwise."""
    return Stage(name=name, subject=subject, **{"status": "passed", **rest})


def driver_stage(**data: Any) -> Stage:
    """The driver's stage, whose questions were answered, unless told otherwise."""
    known = {"questions": {"cuda": "answered", "nvml": "answered"}, "counts": {"pci": 1, "nvml": 1}}
    return stage("driver", data={**known, **data})


def gpu(**changes: Any) -> tuple[Device, ...]:
    """The one card, changed."""
    return (replace(H100, **changes),)


def cuinit(code: int, **changes: Any) -> Drivers:
    """The driver, with what cuInit returned, and other changes."""
    return Drivers(nvidia=replace(DRIVER, cuinit=CallResult(call="cuInit", code=code), **changes))


def box(*stages: Stage, host: Host | None = None, **facts: Any) -> Observations:
    """Observations of the sound box with these stages and changed facts."""
    changed = replace(FACTS, **facts)
    if host is not None:
        changed = replace(changed, host=host)
    known = stages if any(item.name == "driver" for item in stages) else (driver_stage(), *stages)
    return with_lines(Observations(facts=changed, stages=known, backend="cuda"))


def judged(observations: Observations) -> Judgement:
    """The judgement; fails where evidence points nowhere."""
    judgement = of(observations)
    whole = {
        "facts": to_json(observations.facts),
        "stages": to_json(observations.stages),
        "order": to_json(observations.order),
    }
    for finding in judgement.findings:
        assert finding.evidence, f"{finding.code} shows no evidence"
        for pointer in finding.evidence:
            value: Any = whole
            for part in pointer.split("/")[1:]:
                try:
                    value = value[int(part)] if isinstance(value, list) else value[part]
                except (KeyError, IndexError, TypeError):
                    raise AssertionError(f"{finding.code}: {pointer} points nowhere") from None
    return judgement


def blamed(observations: Observations) -> list[str]:
    """Codes of blocking and degrading findings, best first."""
    return [item.code for item in judged(observations).findings if item.severity != "note"]


def noted(observations: Observations) -> list[str]:
    """Codes of notes."""
    return [item.code for item in judged(observations).findings if item.severity == "note"]
