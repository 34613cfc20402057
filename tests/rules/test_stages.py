"""How stages, calls and limits of a run end in causes of the machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.model import (
    AmdDriver,
    Container,
    Disk,
    Drivers,
    Ecc,
    ErrorText,
    Fabric,
    KernelEvent,
    KernelLog,
    Limits,
    Observations,
    Partition,
    Peer,
)
from tests.rules.boxes import (
    DRIVER,
    GIB,
    HOST,
    LIBRARIES,
    NODES,
    SUBJECT,
    blamed,
    box,
    cuinit,
    driver_stage,
    gpu,
    judged,
    noted,
    stage,
)

FAILED = stage("device", status="failed", reason="no-device", data={"torch_count": 0})
DOCKER = Container(kind="docker")


def workload(by: str, **more: Any) -> Any:
    """A workload that was ended by something."""
    return stage("workload", status="failed", data={"ended": {"by": by, **more}})


def logged(kind: str, text: str, code: int | None = None) -> KernelLog:
    """A kernel log with one event."""
    return KernelLog(readable=True, events=(KernelEvent(kind=kind, text=text, code=code),))


def xid(number: int, text: str = "", *stages: Any) -> Observations:
    """The sound box with one Xid in its kernel log."""
    line = f"NVRM: Xid (PCI:0000:18:00): {number}, {text}"
    return box(*stages, kernel_log=logged("xid", line, number))


def node(name: str, **changes: Any) -> Any:
    """The host with one device node changed."""
    nodes = tuple(
        replace(item, **changes) if item.path == f"/dev/{name}" else item for item in NODES
    )
    return replace(HOST, nodes=nodes)


HMM = "nvidia-uvm: HMM failed to initialize"
CASES: dict[str, tuple[str, Observations]] = {
    # what cuInit returns
    "cuinit-3": ("uvm-hmm-init-failure", box(FAILED, drivers=cuinit(3))),
    "cuinit-46": (
        "compute-mode-exclusive",
        box(FAILED, drivers=cuinit(46), devices=gpu(compute_mode="exclusive-process")),
    ),
    "cuinit-802": (
        "fabric-manager-not-installed",
        box(
            FAILED,
            drivers=cuinit(802, fabric_manager_state="stopped"),
            devices=gpu(fabric=Fabric(state="in-progress")),
        ),
    ),
    "cuinit-999-no-uvm": (
        "nvidia-uvm-missing",
        box(FAILED, drivers=cuinit(999), host=node("nvidia-uvm", present=False, openable=None)),
    ),
    "cuinit-803": (
        "driver-update-needs-reboot",
        box(
            FAILED,
            drivers=cuinit(803, libcuda_version="580.95.05", userspace_version=None),
        ),
    ),
    "cuinit-34": (
        "libcuda-stub-loaded",
        box(
            FAILED,
            drivers=cuinit(34),
            libraries=(
                replace(
                    LIBRARIES[0], origin="stub", path="/usr/local/cuda/lib64/stubs/libcuda.so.1"
                ),
            ),
        ),
    ),
    "no-right": (
        "nvidia-device-permission",
        box(
            FAILED,
            drivers=cuinit(100),
            host=node("nvidiactl", openable=False, error="EACCES"),
        ),
    ),
    # what the kernel wrote
    "xid-79": ("gpu-off-bus", xid(79, "GPU has fallen off the bus.")),
    "xid-48": ("ecc-uncorrectable", xid(48, "DBE (double bit error) detected")),
    "xid-119": (
        "gsp-firmware-driver-bug",
        xid(119, "Timeout after 6s of waiting for RPC response"),
    ),
    "xid-74": ("nvlink-errors", xid(74, "NVLink: fatal error detected on link 6")),
    # counters and states of the card
    "ecc-count": (
        "ecc-uncorrectable",
        box(devices=gpu(ecc=Ecc(mode="enabled", volatile_uncorrected="3"))),
    ),
    "pending": (
        "row-remap-pending",
        box(devices=gpu(ecc=Ecc(mode="enabled", remap_pending=True))),
    ),
    "failed": ("remap-failed", box(devices=gpu(ecc=Ecc(mode="enabled", remap_failed=True)))),
    "rising": (
        "ecc-errors-rising",
        box(devices=gpu(ecc=Ecc(mode="enabled", volatile_corrected="90000"))),
    ),
    "mig-empty": (
        "mig-without-instance",
        box(
            FAILED,
            drivers=cuinit(100),
            devices=gpu(partition=Partition(kind="none", mig_mode="enabled", mig_instances=0)),
        ),
    ),
    "no-licence": (
        "vgpu-unlicensed",
        box(devices=gpu(virtualization="vgpu", license_state="unlicensed")),
    ),
    # what the stages measured
    "sweep": (
        "vram-aliases",
        box(
            stage(
                "memory",
                SUBJECT,
                status="failed",
                reason="wrong-result",
                data={"sweep": {"wrong_blocks": 5}},
            )
        ),
    ),
    "product": (
        "wrong-results",
        box(
            stage(
                "matmul",
                SUBJECT,
                status="failed",
                reason="wrong-result",
                data={"dtypes": []},
                error=ErrorText(type="WrongResult", text="12 of 4096 elements differ in float32"),
            )
        ),
    ),
    "dies": (
        "torch-crashes-on-device",
        box(stage("device", status="crashed", signal="SIGSEGV", data={"torch_count": 1})),
    ),
    "hangs": ("torch-crashes-on-device", box(stage("matmul", SUBJECT, status="timed_out"))),
    # how a workload ends
    "oom-killer": (
        "container-memory-limit",
        box(
            workload("oom-killer"),
            container=DOCKER,
            limits=Limits(memory_limit_bytes=8 * GIB, oom_kill_count=1, shm_total_bytes=64 * GIB),
        ),
    ),
    "shm-full": ("shm-too-small", box(workload("shm-full"), container=DOCKER)),
    # limits
    "disk": (
        "disk-nearly-full",
        box(
            host=replace(
                HOST,
                disks=(Disk(mount="/", role="root", total_bytes=100 * GIB, free_bytes=200 << 20),),
            )
        ),
    ),
    "threads": ("pids-limit", box(limits=Limits(pids_limit=100, pids_used=98))),
    "clock": ("host-clock-off", box(host=replace(HOST, clock_offset_seconds=7200.0))),
}
NOTES: dict[str, tuple[str, Observations]] = {
    "files": ("nofile-limit", box(limits=Limits(nofile_soft=256))),
    "quota": ("cpu-quota-small", box(limits=Limits(cpu_quota_cores=1.0))),
    "memory": (
        "memory-limit-small",
        box(container=DOCKER, limits=Limits(memory_limit_bytes=16 * GIB)),
    ),
    "shm": ("shm-too-small", box(container=DOCKER, limits=Limits(shm_total_bytes=64 << 20))),
    "workdir": (
        "workdir-does-not-survive-stop",
        box(
            host=replace(
                HOST,
                disks=(
                    Disk(
                        mount="/root",
                        role="work",
                        total_bytes=100 * GIB,
                        free_bytes=90 * GIB,
                        survives_stop="no",
                    ),
                ),
            )
        ),
    ),
    "xid-13": ("application-fault", xid(13, "Graphics Exception")),
    "peers": (
        "peers-without-p2p",
        box(devices=gpu(peers=(Peer(device="GPU-2", path="PHB", access="not-supported"),))),
    ),
}
QUIET = {
    "ecc-corrected-a-few": box(devices=gpu(ecc=Ecc(mode="enabled", volatile_corrected="12"))),
    "ecc-old-aggregate": box(
        devices=gpu(ecc=Ecc(mode="enabled", volatile_uncorrected="0", aggregate_uncorrected="2"))
    ),
    "remapped-long-ago": box(
        devices=gpu(ecc=Ecc(mode="enabled", remapped_uncorrectable=1, remap_pending=False))
    ),
    "xid-43-of-a-program": xid(43, "Ch 00000010"),
    "kernel-log-hidden": box(kernel_log=KernelLog(readable=False)),
    "hmm-disabled-and-works": box(
        stage("device", data={"torch_count": 1, "driver_count": 1}),
        kernel_log=logged(
            "nvidia-uvm", "nvidia-uvm: Loaded the UVM driver, major device number 511."
        ),
    ),
    "fabric-not-supported": box(devices=gpu(fabric=Fabric(state="not-supported"))),
    "workload-fine": box(stage("workload", data={"ended": {"by": "itself"}})),
    "plain-limits": box(
        limits=Limits(
            pids_limit=4096,
            pids_used=20,
            nofile_soft=1024,
            memlock_soft_bytes=8 << 20,
            cpu_quota_cores=16.0,
            memory_limit_bytes=128 * GIB,
            shm_total_bytes=8 * GIB,
        )
    ),
    "mig-slice": box(
        devices=gpu(partition=Partition(kind="mig", mig_mode="enabled", parent_uuid="GPU-1"))
    ),
    "amd-library-beside": box(drivers=Drivers(nvidia=DRIVER, amd=AmdDriver(amdsmi_origin="none"))),
    "driver-answers": box(driver_stage(copies=[{"differing_bytes": 0}])),
}


@pytest.mark.parametrize("name", CASES)
def test_the_cause_comes_first(name: str) -> None:
    """What the run saw leads to one cause, and the rest folds under it."""
    code, observations = CASES[name]
    assert blamed(observations)[:1] == [code]
    assert len(blamed(observations)) == 1, blamed(observations)


@pytest.mark.parametrize("name", NOTES)
def test_what_is_only_worth_a_word_is_a_note(name: str) -> None:
    """A note blames nobody."""
    code, observations = NOTES[name]
    assert code in noted(observations)
    assert blamed(observations) == []


@pytest.mark.parametrize("name", QUIET)
def test_what_is_in_order_is_quiet(name: str) -> None:
    """Neither blocking nor degrading."""
    assert blamed(QUIET[name]) == []


def test_hmm_and_its_line_in_the_kernel_log_are_one_cause() -> None:
    """cuInit's code and the kernel's line are evidence for the same finding."""
    both = box(FAILED, drivers=cuinit(3), kernel_log=logged("nvidia-uvm", HMM))
    found = judged(both).findings
    assert [item.code for item in found] == ["uvm-hmm-init-failure"]
    assert "/facts/drivers/nvidia/cuinit" in found[0].evidence
