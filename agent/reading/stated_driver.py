"""What a "key: value" line states of drivers, toolkits, compilers and libraries."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.model import DeviceNode, Gap, Library
from agent.reading.draft import REPORT, Draft
from agent.reading.packages import add_package
from agent.reading.versions import cuda_of, dotted, driver_version

Reader = Callable[[Draft, str, int], None]


def _driver(draft: Draft, value: str, line: int) -> None:
    version = driver_version(value)
    if version is None:
        if re.search(r"\d{3}", value):
            draft.gaps.append(
                Gap(
                    pointer="/facts/drivers/nvidia/userspace_version",
                    why=f"line {line} bounds the driver without naming it: {value[:80]}",
                    said_by="reading",
                )
            )
        return
    draft.put("nvidia.userspace_version", version, line, REPORT)
    if re.search(r"\bopen\b", value, re.I):
        draft.put("nvidia.kernel_open", True, line, REPORT)


def _driver_kernel(draft: Draft, value: str, line: int) -> None:
    draft.put("nvidia.kernel_version", driver_version(value), line, REPORT)
    if re.search(r"\bopen\b", value, re.I):
        draft.put("nvidia.kernel_open", True, line, REPORT)


def _driver_userspace(draft: Draft, value: str, line: int) -> None:
    draft.put("nvidia.userspace_version", driver_version(value), line, REPORT)


def _driver_cuda(draft: Draft, value: str, line: int) -> None:
    draft.put("nvidia.nvml_cuda_version", cuda_of(value), line, REPORT)


def _cuda_driver(draft: Draft, value: str, line: int) -> None:
    # SGLang prints the driver here; others the driver's highest CUDA version.
    if re.match(r"\d{3}\.", value):
        _driver(draft, value, line)
    else:
        draft.put("nvidia.cuda_version", cuda_of(value), line, REPORT)


def _toolkit(draft: Draft, value: str, line: int) -> None:
    version = dotted(value)
    if version is None:
        return
    if version.split(".")[0] in ("0", "1"):
        return  # the container toolkit counts 1.x
    found = re.search(r"(\d{1,2}\.\d)[\d.]*(?:\s*system)|\bV(\d+\.\d+\.\d+)", value)
    if found:
        version = found[1] or found[2]
    draft.add_tool("nvcc", version)
    path = re.search(r"/[\w./-]*cuda[\w./-]*", value)
    if path:
        draft.cuda_toolkits.append(path[0])


def _cuda_home(draft: Draft, value: str, line: int) -> None:
    draft.put("toolkits.cuda_home", value, line, REPORT)


def _gcc(draft: Draft, value: str, line: int) -> None:
    version = dotted(value.rpartition(")")[2]) or dotted(value)
    draft.add_tool("gcc", version)


def _clang(draft: Draft, value: str, line: int) -> None:
    draft.add_tool("clang", dotted(value))


def _cmake(draft: Draft, value: str, line: int) -> None:
    draft.add_tool("cmake", dotted(value))


def _rocm(draft: Draft, value: str, line: int) -> None:
    draft.put("amd.rocm_version", dotted(value), line, REPORT)


def _amdgpu(draft: Draft, value: str, line: int) -> None:
    draft.put("amd.kernel_version", dotted(value), line, REPORT)


def _hip(draft: Draft, value: str, line: int) -> None:
    draft.put("amd.hip_version", dotted(value), line, REPORT)


def _fabric_manager(draft: Draft, value: str, line: int) -> None:
    draft.put("nvidia.fabric_manager_version", driver_version(value), line, REPORT)
    for word, state in (
        ("not installed", "not-installed"),
        ("missing", "not-installed"),
        ("running", "running"),
        ("stopped", "stopped"),
        ("inactive", "stopped"),
        ("failed", "stopped"),
    ):
        if word in value.lower():
            draft.put("nvidia.fabric_manager_state", state, line, REPORT)
            break


def _libcuda(draft: Draft, value: str, line: int) -> None:
    path = re.search(r"/[^\s,()'\"]+", value)
    off_path = re.search(r"not (?:on|in)\b|outside", value)
    draft.add_library(
        Library(
            soname="libcuda.so.1",
            path=path[0] if path else None,
            seen_by="text",
            on_loader_path=False if off_path else None,
        )
    )


def _nodes(draft: Draft, value: str, line: int) -> None:
    for path in re.findall(r"/dev/[\w./-]+", value):
        if not any(n.path == path for n in draft.nodes):
            draft.nodes.append(DeviceNode(path=path, present=True))


def _lacks(draft: Draft, value: str, line: int) -> None:
    for name in re.findall(r"lib[\w.+-]+\.so[\w.]*|/dev/[\w./-]+", value):
        if name.startswith("/dev/"):
            draft.nodes.append(DeviceNode(path=name, present=False))
            continue
        draft.gaps.append(
            Gap(
                pointer="/facts/libraries",
                why=f"line {line} says that {name} is missing",
                said_by="reading",
            )
        )


def _has(draft: Draft, value: str, line: int) -> None:
    for name in re.findall(r"lib[\w.+-]+\.so[\w.]*", value):
        draft.add_library(Library(soname=name, seen_by="text"))
    _nodes(draft, value, line)


def _package_list(draft: Draft, value: str, line: int) -> None:
    for name, version in re.findall(r"([a-z][\w.-]+)[ =:@]{1,2}(\d[\w.+!-]*)", value):
        add_package(draft, name, version, line, "text", REPORT)


def _mlnx(draft: Draft, value: str, line: int) -> None:
    add_package(draft, "mofed", dotted(value) or value, line, "text", REPORT)


KEYS: dict[str, Reader] = {
    **dict.fromkeys(
        (
            "nvidia driver version",
            "nvidia driver",
            "driver",
            "driver version",
            "gpu driver",
            "gpu driver version",
            "nvidia drivers",
            "kmd version",
            "display driver",
            "驱动版本",
            "显卡驱动",
            "nvidia驱动版本",
            "cuda driver version (nvidia)",
            "host driver",
            "driver on the host",
        ),
        _driver,
    ),
    **dict.fromkeys(
        (
            "cuda runtime version",
            "toolkit",
            "cuda toolkit",
            "cuda toolkit version",
            "system cuda",
            "system cuda version",
            "nvcc",
            "nvcc version",
            "cuda compiler",
            "cuda",
            "cuda toolkit (nvcc)",
            "local cuda",
            "cuda sdk",
            "detected cuda_home nvcc",
            "build cuda",
            "cuda nvcc",
            "cudatoolkit",
        ),
        _toolkit,
    ),
    **dict.fromkeys(
        (
            "driver kernel",
            "kernel driver",
            "kernel module",
            "kernel module version",
            "nvidia kernel module",
            "nvrm version",
            "driver (kernel)",
            "kernel driver version",
            "loaded driver",
        ),
        _driver_kernel,
    ),
    **dict.fromkeys(
        (
            "driver userspace",
            "userspace driver",
            "user space driver",
            "nvml library version",
            "nvml version",
            "driver libraries",
            "driver (userspace)",
            "driver user space",
        ),
        _driver_userspace,
    ),
    **dict.fromkeys(
        (
            "driver cuda",
            "driver cuda version",
            "cuda umd version",
            "nvidia smi cuda",
            "cuda (driver)",
            "cuda version (driver)",
            "max cuda",
            "driver max cuda",
            "cuda driver api",
        ),
        _driver_cuda,
    ),
    **dict.fromkeys(
        (
            "cuda driver version",
            "cuda driver",
        ),
        _cuda_driver,
    ),
    **dict.fromkeys(
        (
            "cuda home",
            "cuda path",
            "cuda root",
            "cuda home (detected)",
        ),
        _cuda_home,
    ),
    **dict.fromkeys(
        (
            "gcc version",
            "gcc",
            "compiler",
            "c compiler",
        ),
        _gcc,
    ),
    **dict.fromkeys(
        (
            "clang version",
            "clang",
        ),
        _clang,
    ),
    **dict.fromkeys(
        (
            "cmake version",
            "cmake",
        ),
        _cmake,
    ),
    **dict.fromkeys(
        (
            "rocm",
            "rocm version",
            "rocm runtime",
            "system rocm",
            "rocm release",
            "host rocm",
        ),
        _rocm,
    ),
    **dict.fromkeys(
        (
            "amdgpu version",
            "amdgpu driver",
            "amdgpu",
            "amdgpu driver version",
            "rock module version",
        ),
        _amdgpu,
    ),
    **dict.fromkeys(
        (
            "hip runtime version",
            "hip version",
            "hip",
        ),
        _hip,
    ),
    **dict.fromkeys(
        (
            "fabric manager",
            "fabricmanager",
            "nvidia fabricmanager",
            "fabric manager version",
            "nv fabricmanager",
        ),
        _fabric_manager,
    ),
    **dict.fromkeys(
        (
            "libcuda path",
            "libcuda",
            "libcuda location",
            "libcuda.so.1",
        ),
        _libcuda,
    ),
    **dict.fromkeys(
        (
            "device nodes",
            "nodes present",
            "dev nodes",
            "device files",
        ),
        _nodes,
    ),
    **dict.fromkeys(
        (
            "container lacks",
            "lacks",
            "missing",
            "missing libraries",
            "container missing",
        ),
        _lacks,
    ),
    **dict.fromkeys(
        (
            "container has",
            "has",
            "mounted libraries",
        ),
        _has,
    ),
    **dict.fromkeys(
        (
            "nccl packages",
            "packages",
            "cuda packages",
            "nvidia packages",
            "installed packages",
            "cudnn packages",
        ),
        _package_list,
    ),
    **dict.fromkeys(
        (
            "mofed",
            "ofed",
            "mlnx ofed",
        ),
        _mlnx,
    ),
}
