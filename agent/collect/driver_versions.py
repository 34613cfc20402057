"""Which versions do both vendors' drivers have, and what did their libraries answer?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..model import AmdDriver, Drivers, Facts, Gap, Json, NvidiaDriver, Stage
from .device_records import device_records
from .driver_answers import (
    answer_word,
    as_object,
    as_text,
    call_result,
    data_of,
    has_node,
    on_pci,
    why_not,
)
from .libraries import version_of


def read_drivers(answers: Mapping[str, Stage], facts: Facts) -> tuple[Drivers, list[Gap]]:
    """Both drivers, their kernel part as the host facts have it; one without a trace is None."""
    nvidia, gaps = _nvidia(answers, facts)
    amd, more = _amd(answers, facts)
    return Drivers(nvidia=nvidia, amd=amd), gaps + more


def _nvidia(answers: Mapping[str, Stage], facts: Facts) -> tuple[NvidiaDriver | None, list[Gap]]:
    nvml, cuda = data_of(answers, "nvml"), data_of(answers, "cuda")
    trace = facts.drivers.nvidia or on_pci(facts, "nvidia") or has_node(facts, "/dev/nvidia")
    if not trace and all(
        answer_word(answers, name) in ("absent", "unknown") for name in ("nvml", "cuda")
    ):
        return None, []
    system = as_object(nvml.get("system"))
    path = cuda.get("path")
    version = version_of(path) if isinstance(path, str) else None
    found = replace(
        facts.drivers.nvidia or NvidiaDriver(),
        userspace_version=as_text(system.get("driver_version")),
        nvml_cuda_version=_cuda_version(system.get("cuda_version")),
        nvml=call_result(nvml.get("call")),
        libcuda_version=version,
        cuda_version=_cuda_version(cuda.get("version")),
        cuinit=call_result(cuda.get("call")),
    )
    why_nvml = why_not(answers, "nvml")
    why_cuda = why_not(answers, "cuda")
    unversioned = f"its file name states no version: {path}" if path else why_cuda
    missing = (
        ("userspace_version", found.userspace_version, "nvml", why_nvml),
        ("nvml_cuda_version", found.nvml_cuda_version, "nvml", why_nvml),
        ("libcuda_version", found.libcuda_version, "cuda", unversioned),
        ("cuda_version", found.cuda_version, "cuda", why_cuda),
    )
    return found, _missing("/facts/drivers/nvidia", missing)


def _amd(answers: Mapping[str, Stage], facts: Facts) -> tuple[AmdDriver | None, list[Gap]]:
    smi, hip = data_of(answers, "amd_smi"), data_of(answers, "hip")
    trace = facts.drivers.amd or on_pci(facts, "amd") or has_node(facts, "/dev/kfd")
    if not trace and all(
        answer_word(answers, name) in ("absent", "unknown") for name in ("amd_smi", "hip")
    ):
        return None, []
    kernel = [as_text(record.get("driver_version")) for record in device_records(smi)]
    kept = facts.drivers.amd or AmdDriver()
    found = replace(
        kept,
        kernel_version=kept.kernel_version or next((v for v in kernel if v and v != "N/A"), None),
        hip_version=_hip_version(hip.get("runtime") or hip.get("version")),
        amdsmi=call_result(smi.get("call")),
        amdsmi_origin=as_text(smi.get("origin")),
        hipinit=call_result(hip.get("call")),
    )
    return found, _missing(
        "/facts/drivers/amd", (("hip_version", found.hip_version, "hip", why_not(answers, "hip")),)
    )


def _missing(pointer: str, values: Sequence[tuple[str, object, str, str]]) -> list[Gap]:
    return [
        Gap(pointer=f"{pointer}/{name}", why=why, said_by=said_by)
        for name, value, said_by, why in values
        if value is None
    ]


def _cuda_version(number: Json) -> str | None:
    """13000 as "13.0"."""
    if not isinstance(number, int) or not 1000 <= number < 1000000:
        return None
    return f"{number // 1000}.{number % 1000 // 10}"


def _hip_version(number: Json) -> str | None:
    """60443483 as "6.4.43483"."""
    if not isinstance(number, int) or number < 10000000:
        return None
    return f"{number // 10000000}.{number // 100000 % 100}.{number % 100000}"
