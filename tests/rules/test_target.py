"""The target and what the ladder alone can show: constructed machines and their neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.bundle import with_lines
from agent.model import (
    Conflict,
    Container,
    Device,
    DeviceNode,
    Drivers,
    EnvironmentVariable,
    ErrorText,
    Facts,
    Host,
    Interpreter,
    Library,
    NvidiaDriver,
    Observations,
    Package,
    Stage,
    Tool,
    Toolkits,
    Torch,
)
from tests.rules.judged import codes, of

GPU = Device(id="GPU-0", vendor="nvidia", name="NVIDIA A40", architecture="8.6")
PYTHON = Interpreter(path="/venv/bin/python", version="3.11.9", chosen=True)


NODES = tuple(
    DeviceNode(path=path, present=True, openable=True)
    for path in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm")
)


def stage(name: str, status: Any = "passed", **more: Any) -> Stage:
    return Stage(name=name, subject=more.pop("subject", "host"), status=status, **more)


def machine(*stages: Stage, torch: str | None = "2.7.0+cu126", **facts: Any) -> Observations:
    """A sound machine with one A40, but for what is given."""
    known: dict[str, Any] = {
        "host": Host(system="linux", is_root=True, nodes=NODES),
        "container": Container(kind="docker"),
        "devices": (GPU,),
        "drivers": Drivers(
            nvidia=NvidiaDriver(
                kernel_version="560.35.03", userspace_version="560.35.03", cuda_version="12.6"
            )
        ),
        "interpreters": (
            replace(PYTHON, torch=Torch(version=torch, known_from="files") if torch else None),
        ),
        **facts,
    }
    return with_lines(Observations(facts=Facts(**known), stages=stages, backend="cuda"))


HEALTHY = (
    stage("import", data={"version": "2.7.0+cu126", "cuda": "12.6", "built_for": "cuda"}),
    stage("device", data={"torch_count": 1, "driver_count": 1}),
    stage("matmul", subject="gpu:GPU-0"),
)


def alarms(observations: Observations) -> list[str]:
    return [item.code for item in of(observations).findings if item.severity != "note"]


def test_the_sound_machine_is_quiet() -> None:
    assert of(machine(*HEALTHY)).findings == ()


def failed(text: str, name: str = "import", kind: str = "ImportError") -> Stage:
    return stage(name, "failed", reason="raised", error=ErrorText(type=kind, text=text))


def env(name: str, value: str, scope: str = "process") -> EnvironmentVariable:
    return EnvironmentVariable(name=name, value=value, scope=scope)


OTHER = Interpreter(path="/opt/conda/bin/python", torch=Torch(version="2.6.0+cu124"))

BROKEN: tuple[tuple[str, Observations], ...] = (
    (
        "torch-not-installed",
        machine(stage("import", "skipped", reason="not-installed"), torch=None),
    ),
    (
        "other-interpreter-has-torch",
        machine(
            stage("import", "skipped", reason="not-installed"),
            interpreters=(PYTHON, OTHER),
        ),
    ),
    ("torch-crashes-on-import", machine(stage("import", "crashed", signal="SIGSEGV"))),
    ("cpu-lacks-instructions", machine(stage("import", "crashed", signal="SIGILL"))),
    ("torch-import-hangs", machine(stage("import", "timed_out", seconds=120.0))),
    (
        "torch-installation-incomplete",
        machine(
            stage("import", "failed", reason="does-not-load"),
            torch=None,
            interpreters=(
                replace(
                    PYTHON,
                    conflicts=(Conflict(code="torch-incomplete", detail="/venv/torch is empty"),),
                ),
            ),
        ),
    ),
    (
        "cpu-only-build",
        machine(
            stage("import", data={"version": "2.7.0+cpu", "built_for": "cpu"}),
            failed("Torch not compiled with CUDA enabled", "device", "AssertionError"),
            torch="2.7.0+cpu",
        ),
    ),
    (
        "rocm-wheel-on-nvidia",
        machine(
            stage("import", data={"version": "2.7.0+rocm6.3", "hip": "6.3", "built_for": "rocm"}),
            failed("No HIP GPUs are available", "device", "RuntimeError"),
            torch="2.7.0+rocm6.3",
        ),
    ),
    (
        "python-paths-disagree",
        machine(
            *HEALTHY,
            interpreters=(
                replace(
                    PYTHON,
                    torch=Torch(version="2.7.0+cu126"),
                    conflicts=(Conflict(code="pip-of-other-interpreter", detail="/usr/bin/pip"),),
                ),
            ),
        ),
    ),
    (
        "cuda-home-from-symlink",
        machine(
            *HEALTHY,
            toolkits=Toolkits(
                tools=(Tool(name="nvcc", version="11.8"), Tool(name="gcc", version="11")),
                cuda_home="/usr/local/cuda",
                cuda_home_source="default",
                python_headers=True,
            ),
        ),
    ),
    (
        "driver-too-old-for-build",
        machine(
            stage("import", data={"version": "2.11.0+cu130", "cuda": "13.0"}),
            failed(
                "The NVIDIA driver on your system is too old (found version 12060).",
                "device",
                "RuntimeError",
            ),
            torch="2.11.0+cu130",
        ),
    ),
    (
        "gpu-older-than-build",
        machine(
            HEALTHY[0],
            failed("CUDA error: no kernel image is available for execution", "matmul"),
            devices=(replace(GPU, name="Tesla K80", architecture="3.7"),),
        ),
    ),
    (
        "libcuda-stub-loaded",
        machine(
            HEALTHY[0],
            failed("CUDA driver is a stub library", "device", "RuntimeError"),
            libraries=(
                Library(
                    soname="libcuda.so.1",
                    path="/usr/local/cuda/lib64/stubs/libcuda.so",
                    origin="stub",
                ),
            ),
        ),
    ),
    (
        "compat-libs-shadow-driver",
        machine(
            HEALTHY[0],
            failed(
                "Error 803: system has unsupported display driver / cuda driver combination",
                "device",
                "RuntimeError",
            ),
            libraries=(
                Library(
                    soname="libcuda.so.1",
                    path="/usr/local/cuda/compat/libcuda.so.1",
                    origin="compat",
                ),
            ),
        ),
    ),
    (
        "ld-library-path-shadows-torch-libs",
        machine(
            failed("libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version x"),
            environment=(env("LD_LIBRARY_PATH", "/usr/local/cuda-12.1/lib64"),),
        ),
    ),
    (
        "nvidia-wheel-version-conflict",
        machine(
            failed("libtorch_cuda.so: undefined symbol: ncclCommSplit"),
            packages=(
                Package(name="nvidia-nccl-cu11", version="2.14.3"),
                Package(name="nvidia-nccl-cu12", version="2.26.2"),
            ),
        ),
    ),
    (
        "torch-family-version-mismatch",
        machine(
            failed("operator torchvision::nms does not exist", "extensions", "RuntimeError"),
            packages=(Package(name="torchvision", version="0.19.0"),),
        ),
    ),
    (
        "ext-wheel-built-for-other-torch",
        machine(
            failed(
                "flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi", "extensions"
            ),
            packages=(Package(name="flash-attn", version="2.6.3+cu123torch2.4cxx11abifalse"),),
        ),
    ),
    (
        "python-headers-missing",
        machine(failed("fatal error: Python.h: No such file or directory", "extensions")),
    ),
    (
        "visible-devices-wrong-index",
        machine(
            HEALTHY[0],
            failed("No CUDA GPUs are available", "device", "RuntimeError"),
            environment=(env("CUDA_VISIBLE_DEVICES", "3"),),
        ),
    ),
    (
        "ssh-session-lacks-environment",
        machine(
            HEALTHY[0],
            stage("device", "failed", reason="raised"),
            environment=(env("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64", "init"),),
        ),
    ),
    (
        "local-module-shadows-import",
        machine(
            *HEALTHY,
            interpreters=(
                replace(
                    PYTHON,
                    torch=Torch(version="2.7.0+cu126"),
                    conflicts=(Conflict(code="workdir-shadows-torch", detail="/code/torch.py"),),
                ),
            ),
        ),
    ),
    (
        "stale-torch-in-user-site",
        machine(
            *HEALTHY,
            packages=(
                Package(name="torch", version="1.13.1", scope="user-site"),
                Package(name="torch", version="2.7.0", scope="environment"),
            ),
        ),
    ),
    (
        "gpu-memory-held-by-other-process",
        machine(
            *HEALTHY,
            devices=(
                replace(
                    GPU,
                    memory_total_bytes=48 << 30,
                    memory_used_bytes=30 << 30,
                    utilization_percent=0,
                ),
            ),
        ),
    ),
)


@pytest.mark.parametrize(("code", "observations"), BROKEN, ids=[code for code, _ in BROKEN])
def test_a_machine_with_this_cause(code: str, observations: Observations) -> None:
    judgement = of(observations)
    assert codes(judgement)[0] == code
    assert judgement.findings[0].evidence


NEIGHBOURS: tuple[tuple[str, Observations], ...] = (
    (
        "another Python has torch, but this one has it too",
        machine(
            *HEALTHY, interpreters=(replace(PYTHON, torch=Torch(version="2.7.0+cu126")), OTHER)
        ),
    ),
    (
        "an older driver of the same major",
        machine(
            *HEALTHY,
            drivers=Drivers(nvidia=NvidiaDriver(kernel_version="525.147.05", cuda_version="12.0")),
        ),
    ),
    (
        "a compat library that works",
        machine(
            *HEALTHY,
            libraries=(
                Library(
                    soname="libcuda.so.1",
                    path="/usr/local/cuda/compat/libcuda.so.1",
                    origin="compat",
                ),
            ),
        ),
    ),
    (
        "a toolkit on the path that nobody loads",
        machine(*HEALTHY, environment=(env("LD_LIBRARY_PATH", "/usr/local/cuda-12.1/lib64"),)),
    ),
    (
        "a mask that names what is there",
        machine(*HEALTHY, environment=(env("CUDA_VISIBLE_DEVICES", "0"),)),
    ),
    (
        "companions of the same release",
        machine(
            *HEALTHY,
            packages=(
                Package(name="torchvision", version="0.22.0+cu126"),
                Package(name="triton", version="3.3.0"),
                Package(name="numpy", version="2.2.1"),
            ),
        ),
    ),
    (
        "a card that works at full load",
        machine(
            *HEALTHY,
            devices=(replace(GPU, memory_total_bytes=48 << 30, memory_used_bytes=1 << 30),),
        ),
    ),
    (
        "a default toolkit of torch's own major",
        machine(
            *HEALTHY,
            toolkits=Toolkits(
                tools=(Tool(name="nvcc", version="12.4"), Tool(name="gcc", version="11")),
                cuda_home="/usr/local/cuda",
                cuda_home_source="default",
                python_headers=True,
            ),
        ),
    ),
    (
        "session and container agree",
        machine(
            *HEALTHY,
            environment=(env("LD_LIBRARY_PATH", "/a"), env("LD_LIBRARY_PATH", "/a", "init")),
        ),
    ),
    (
        "an older GPU that the list covers",
        machine(*HEALTHY, devices=(replace(GPU, name="Tesla P100-PCIE-16GB", architecture="6.0"),)),
    ),
)


@pytest.mark.parametrize(("why", "observations"), NEIGHBOURS, ids=[why for why, _ in NEIGHBOURS])
def test_its_healthy_neighbour(why: str, observations: Observations) -> None:
    assert alarms(observations) == [], why


def test_who_names_an_interpreter_expects_another_pip_on_path() -> None:
    conflicts = (Conflict(code="pip-of-other-interpreter", detail="/usr/bin/pip"),)
    named = replace(PYTHON, conflicts=conflicts, found_by=("--python",))
    assert "python-paths-disagree" not in codes(of(machine(*HEALTHY, interpreters=(named,))))
