"""Causes between CUDA libraries of different versions in one environment."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.loader import in_conda_lib, missing_cuda_libraries
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.versions import version
from agent.rules.wheels import wheel

_COMPONENT = re.compile(r"nvidia-([a-z-]+?)-cu(\d+)$")


def nvidia_wheel_version_conflict(case: Case) -> Diagnosis | None:
    """Two nvidia-* wheels, or a second package, bring the same library."""
    hits = case.hits("nccl_symbol", "nccl_library_old")
    symbols = case.hits("cuda_library_symbol", "cudnn_sublibraries", "cudnn_incompatible")
    doubled = _doubled(case)
    if doubled:
        failing = (*hits, *symbols)
        if failing:
            return Diagnosis(
                weight=91,
                hits=failing,
                evidence=tuple(at for name in doubled for at in _at(case, name)),
                values={"package": " and ".join(doubled)},
            )
        if case.observations.from_text:
            return None  # both may lie there without harm
        return Diagnosis(
            weight=45,
            evidence=tuple(at for name in doubled for at in _at(case, name)),
            values={"package": " and ".join(doubled)},
            severity="note",
        )
    if hits:
        return Diagnosis(weight=74, hits=hits, evidence=torch_at(case))
    return _other_cudnn_than_pinned(case)


def _other_cudnn_than_pinned(case: Case) -> Diagnosis | None:
    """The installed cuDNN wheel is not the one that torch pins, and cuDNN complains."""
    hits = case.hits("cudnn_sublibraries", "cudnn_incompatible", "cudnn_sublibrary_loading")
    row = wheel(case.torch_version, case.torch_build or "")
    packages = list(case.packages("nvidia-cudnn-cu"))
    if not hits or row is None or not row.cudnn or not packages:
        return None
    if any(version(item.version)[:3] == version(row.cudnn)[:3] for item in packages):
        return None
    return Diagnosis(
        weight=78,
        hits=hits,
        evidence=case.package_at(packages[0]),
        values={"package": f"{packages[0].name} {packages[0].version} (torch pins {row.cudnn})"},
    )


def _doubled(case: Case) -> tuple[str, ...]:
    """Names of wheels that bring the same component for two CUDA majors."""
    seen: dict[str, list[str]] = {}
    for package in case.packages("nvidia-"):
        if match := _COMPONENT.match(package.name):
            seen.setdefault(match.group(1), []).append(package.name)
    return next((tuple(names) for names in seen.values() if len(set(names)) > 1), ())


def _at(case: Case, name: str) -> tuple[str, ...]:
    package = case.package(name)
    return case.package_at(package) if package else ()


def conda_cuda_lib_mismatch(case: Case) -> Diagnosis | None:
    """The conda environment itself mixes CUDA libraries of different versions."""
    hits = case.hits("cuda_library_symbol", "nvrtc_builtins")
    conda = case.says("conda", "miniforge", "mamba install")
    if not conda:
        return None
    majors = _conda_majors(case)
    if hits:
        listed = (
            len(majors) > 1
            or in_conda_lib(case)
            or case.says("conda install", "conda list", "linux-64")
        )
        return Diagnosis(weight=80 if listed else 52, hits=hits, evidence=torch_at(case))
    missing = tuple(hit for hit, _ in missing_cuda_libraries(case))
    if missing and len(majors) > 1:
        return Diagnosis(weight=66, hits=missing)
    return None


def _conda_majors(case: Case) -> set[int]:
    """CUDA majors among conda's own packages of CUDA."""
    found: set[int] = set()
    for package in case.facts.packages:
        if package.origin == "conda" and package.name.startswith(
            ("libcu", "cuda-cudart", "cuda-nvrtc", "cudatoolkit", "cuda-libraries", "cuda-version")
        ):
            found.update(version(package.version)[:1])
    return {number for number in found if number >= 9}


def mixed_cuda_toolkits(case: Case) -> Diagnosis | None:
    """Two CUDA toolkits are on the paths, and parts of both are loaded together."""
    hits = case.hits("nvrtc_builtins", "duplicate_runtime")
    toolkits = _toolkit_versions(case)
    if hits:
        return Diagnosis(
            weight=84 if len(toolkits) > 1 else 72,
            hits=hits,
            values={"found": ", ".join(sorted(toolkits)) or "two versions"},
        )
    on_path = set(re.findall(r"/cuda-(\d{1,2}\.\d)\b", case.env("LD_LIBRARY_PATH") or ""))
    failing = case.hits("symbol_undefined", "cuda_library_symbol", "library_missing")
    if len(on_path) > 1 and (failing or case.says("version mismatch")):
        return Diagnosis(
            weight=62,
            hits=failing,
            evidence=case.env_at("LD_LIBRARY_PATH"),
            values={"found": ", ".join(sorted(on_path))},
        )
    mixed = case.says("jitify", "nvrtc", "cudart", "libnvvm", "runtime compilation failed")
    if mixed and len(toolkits) > 1 and case.says("error", "exception", "failed"):
        return Diagnosis(
            weight=60,
            values={"found": ", ".join(sorted(toolkits))},
            look_at=(
                "which libnvrtc and libnvrtc-builtins the process maps (/proc/self/maps): of one"
                " toolkit, or of two?",
            ),
        )
    return None


def _toolkit_versions(case: Case) -> set[str]:
    """CUDA versions in the paths, in the toolkits found, and in what the text says of systems."""
    text = case.lines.lower
    found = set(re.findall(r"/cuda-(\d{1,2}\.\d)\b", text))
    for path in case.facts.toolkits.cuda_toolkits:
        if numbers := version(path.rsplit("-", 1)[-1]):
            found.add(".".join(map(str, numbers[:2])))
    for line in text.splitlines():
        if "cuda" in line and len(line) < 200:
            said = re.findall(r"\b(1[0-3]\.\d)\b", line)
            if len(set(said)) > 1:
                found.update(said)
    return found


def cudnn_older_than_build(case: Case) -> Diagnosis | None:
    """An older cuDNN is loaded than the framework was built against."""
    for hit in case.hits("cudnn_incompatible"):
        wanted = tuple(int(hit.group(number)) for number in (1, 2, 3))
        found = tuple(int(hit.group(number)) for number in (4, 5, 6))
        if found < wanted:
            return Diagnosis(weight=78, hits=(hit,), values=_versions(wanted, found))
    for hit in case.hits("cudnn_older_runtime"):
        found = version(hit.group(1) or hit.group(3))
        wanted = version(hit.group(2) or hit.group(4))
        if found and wanted and found < wanted:
            return Diagnosis(weight=90, hits=(hit,), values=_versions(wanted, found))
    for hit in case.hits("jax_library_older", "jax_library_outdated"):
        if hit.group(1).lower() == "cudnn":
            return Diagnosis(weight=88, hits=(hit,))
    hits = case.hits("cudnn_symbol", "cudnn_sublibraries")
    if hits:
        return Diagnosis(weight=62, hits=hits)
    return None


def _versions(wanted: tuple[int, ...], found: tuple[int, ...]) -> dict[str, str]:
    return {"wanted": ".".join(map(str, wanted)), "found": ".".join(map(str, found))}


RULES: tuple[Rule, ...] = (
    Rule(
        code="nvidia-wheel-version-conflict",
        severity="blocking",
        who="renter",
        source="layout of the nvidia-* wheels: one directory a component; pytorch issue 119932",
        find=nvidia_wheel_version_conflict,
        explains=("ld-library-path-shadows-torch-libs", "cudnn-older-than-build"),
    ),
    Rule(
        code="conda-cuda-lib-mismatch",
        severity="blocking",
        who="renter",
        source="pytorch issue 88882; conda-forge cuda-version",
        find=conda_cuda_lib_mismatch,
    ),
    Rule(
        code="mixed-cuda-toolkits",
        severity="blocking",
        who="renter",
        source="NVRTC loads builtins of its own version; arrayfire issue 3550; cudf pull 11787",
        find=mixed_cuda_toolkits,
    ),
    Rule(
        code="cudnn-older-than-build",
        severity="blocking",
        who="renter",
        source="torch backends/cudnn; tensorflow cuda_dnn.cc; cuDNN API compatibility",
        find=cudnn_older_than_build,
    ),
)
