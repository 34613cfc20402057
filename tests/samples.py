"""Bundles of a machine that never was: healthy defaults, each test changes one thing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent.bundle import assemble, seal, with_lines
from agent.judge import judge
from agent.model import (
    AmdDriver,
    Bundle,
    Container,
    Device,
    DeviceNode,
    Drivers,
    EnvironmentVariable,
    ErrorText,
    Facts,
    Gap,
    Host,
    Interpreter,
    KernelEvent,
    KernelLog,
    KernelModule,
    NvidiaDriver,
    Observations,
    Package,
    Redaction,
    Run,
    Stage,
    Step,
    Tool,
    Toolkits,
    Torch,
)
from agent.signature import Signer, one_time_signer
from agent.verdict import decide

UUID = "GPU-6f1d2c3b-1a2b-3c4d-5e6f-0123456789ab"


def sample_facts(**changes: Any) -> Facts:
    facts = Facts(
        host=Host(
            system="linux",
            os_name="Ubuntu 22.04.5 LTS",
            cpu_count=16,
            is_root=True,
            nodes=tuple(
                DeviceNode(path=f"/dev/{name}", present=True, openable=True, mode="0666")
                for name in ("nvidia0", "nvidiactl", "nvidia-uvm")
            ),
            modules=(KernelModule(name="nvidia", loaded=True, version="580.65.06"),),
        ),
        container=Container(kind="docker"),
        devices=(
            Device(
                id=UUID,
                vendor="nvidia",
                name="NVIDIA H100 80GB HBM3",
                uuid=UUID,
                pci_address="0000:3b:00.0",
                architecture="9.0",
                memory_total_bytes=85_520_809_984,
            ),
        ),
        drivers=Drivers(
            nvidia=NvidiaDriver(
                kernel_version="580.65.06",
                userspace_version="580.65.06",
                cuda_version="13.0",
                nvml_cuda_version="13.0",
            )
        ),
        interpreters=(
            Interpreter(
                path="/venv/bin/python",
                version="3.11.7",
                chosen=True,
                torch=Torch(version="2.14.1+cu130", build="cu130", cuda_version="13.0"),
            ),
        ),
        packages=(Package(name="torch", version="2.14.1+cu130", origin="pip"),),
        toolkits=Toolkits(tools=(Tool(name="nvcc", version="12.4.131"),)),
        environment=(EnvironmentVariable(name="CUDA_HOME", value="/usr/local/cuda"),),
    )
    return replace(facts, **changes)


def sample_stages() -> tuple[Stage, ...]:
    torch = {"version": "2.14.1+cu130", "cuda": "13.0", "hip": None, "debug": False}
    return (
        Stage(name="interpreter", subject="host", status="passed", seconds=0.05),
        Stage(name="driver", subject="host", status="passed", seconds=0.2),
        Stage(name="import", subject="host", status="passed", seconds=1.4, data=torch),
        Stage(name="device", subject="host", status="passed", seconds=0.4),
        Stage(name="matmul", subject=f"gpu:{UUID}", status="passed", seconds=3.25),
    )


def failed_stages(text: str = "CUDA error: out of memory", kind: str = "RuntimeError") -> Any:
    *stages, matmul = sample_stages()
    failed = replace(
        matmul,
        status="failed",
        reason="raised",
        steps=(Step(name="fill kernel", seconds=0.01), Step(name="float16 product")),
        error=ErrorText(type=kind, text=text),
        stderr_tail="a line of noise\nanother",
    )
    return (*stages, failed)


def sample_run(**changes: Any) -> Run:
    run = Run(
        id="1a2b3c4d",
        started_at="2026-11-30T22:00:00.000Z",
        finished_at="2026-11-30T22:00:07.250Z",
        agent_version="0.1.0",
        depth="quick",
        argv=("--depth", "quick"),
        backend="cuda",
    )
    return replace(run, **changes)


def sample_bundle(
    *,
    stages: tuple[Stage, ...] | None = None,
    facts: Facts | None = None,
    gaps: tuple[Gap, ...] = (),
    **run: Any,
) -> Bundle:
    observations = with_lines(
        Observations(
            facts=facts or sample_facts(),
            stages=sample_stages() if stages is None else stages,
            gaps=gaps,
            backend="cuda",
        )
    )
    findings = judge(observations).findings
    return assemble(
        run=sample_run(**run),
        verdict=decide(observations, findings),
        findings=findings,
        observations=observations,
        redactions=(Redaction(kind="host", pseudonym="<host-1>", count=3),),
    )


def sealed(bundle: Bundle | None = None, signer: Signer | None = None) -> bytes:
    return seal(bundle or sample_bundle(), signer or one_time_signer())


def lost_gpu() -> Facts:
    """A GPU fell off the bus: what a provider has to be told."""
    text = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus."
    event = KernelEvent(kind="xid", text=text, code=79, pci_address="0000:3b:00.0")
    return sample_facts(kernel_log=KernelLog(readable=True, events=(event,)))


def amd_facts() -> Facts:
    return sample_facts(
        drivers=Drivers(amd=AmdDriver(kernel_version="6.12.12", rocm_version="6.4.1")),
        toolkits=Toolkits(),
    )
