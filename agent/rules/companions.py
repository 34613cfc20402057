"""Causes between torch and the packages that must match it: companions, Triton, extensions."""

from __future__ import annotations

import re

from agent.model import Package
from agent.rules.case import Case
from agent.rules.kernels import EXTENSIONS
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.versions import Version, dotted, version
from agent.rules.wheels import wheel, wheels_of

COMPANIONS = ("torchvision", "torchaudio", "torchtext", "torchdata")
_TAG = re.compile(r"\+(?:pt\w*?)?(cu\d{2,3}|rocm[\d.]+|cpu)")
_UNRELEASED = re.compile(r"dev|a0|git|rc|\+(?!cu\d|rocm|cpu)")
_COMPANION_FAILS = ("operator_missing", "family_cuda_versions", "torch_library_missing")


def torch_family_backend_mismatch(case: Case) -> Diagnosis | None:
    """Torch and a companion are built for different back ends."""
    said = case.hits("family_cuda_versions")
    build = case.torch_build
    for package in _companions(case):
        tag = _TAG.search(package.version)
        if tag is None or build is None or _same_build(tag.group(1), build):
            continue
        hits = case.hits(*_COMPANION_FAILS, "symbol_of_torch", "library_missing")
        other_kind = _kind(tag.group(1)) != _kind(build)
        if not hits and not other_kind:
            return None  # another CUDA number alone may still work
        return Diagnosis(
            weight=92 if hits else 62,
            hits=hits,
            evidence=(*case.package_at(package), *torch_at(case)),
            values={"package": f"{package.name} {package.version}"},
            severity=None if hits else "degrading",
        )
    if said:
        return Diagnosis(weight=86, hits=said, values={"package": said[0].group(1)})
    if (tried := _companion_needs_other_backend(case)) is not None:
        return tried
    if (plain := _plain_beside_cpu(case)) is not None:
        return plain
    missing = case.hit("torch_library_missing")
    if missing and "hip" in missing.group(1) and case.built_for != "rocm":
        return Diagnosis(weight=80, hits=(missing,), evidence=torch_at(case))
    return None


def _plain_beside_cpu(case: Case) -> Diagnosis | None:
    """A text names the right release beside torch for the CPU: PyPI's, which needs CUDA's torch."""
    hits = case.hits("operator_missing")
    if not case.observations.from_text:
        return None  # there what its files need is known
    if case.torch_build != "cpu" or not hits or _companion_of_other_release(case):
        return None
    for package in _companions(case):
        paired = version(package.version)[:2] == companion_version(package.name, case.torch_version)
        if paired and "+" not in package.version and package.name in hits[0].text:
            return Diagnosis(
                weight=84,
                hits=hits,
                evidence=(*case.package_at(package), *torch_at(case)),
                values={"package": f"{package.name} {package.version}"},
            )
    return None


def _companion_needs_other_backend(case: Case) -> Diagnosis | None:
    """A companion's libraries ask for torch's GPU libraries, which this torch does not have.

    A wheel from PyPI has no tag of its back end, but what its files need says it.
    """
    for index, stage in case.stages("extensions"):
        build = stage.data.get("build")
        needed = build.get("needed") if isinstance(build, dict) else None
        if stage.status != "failed" or stage.subject[4:] not in COMPANIONS or not needed:
            continue
        wanted = {"c10_cuda": "cuda", "torch_cuda": "cuda", "c10_hip": "rocm", "torch_hip": "rocm"}
        kinds = {kind for name in needed for word, kind in wanted.items() if word in str(name)}
        if kinds and case.built_for and case.built_for not in kinds:
            package = case.package(stage.subject[4:])
            hits = [
                h for h in case.hits(*_COMPANION_FAILS) if h.pointer.startswith(f"/stages/{index}/")
            ]
            return Diagnosis(
                weight=92,
                hits=tuple(hits),
                evidence=(f"/stages/{index}/data/build/needed", *torch_at(case)),
                values={"package": f"{package.name} {package.version}"} if package else {},
            )
    return None


def _same_build(tag: str, build: str) -> bool:
    return tag == build or (tag.startswith("rocm") and build.startswith(tag[:7]))


def _kind(build: str) -> str:
    return "cuda" if build.startswith("cu") else "rocm" if build.startswith("rocm") else "cpu"


def _companions(case: Case) -> list[Package]:
    return [package for name in COMPANIONS if (package := case.package(name))]


def torch_family_version_mismatch(case: Case) -> Diagnosis | None:
    """A companion belongs to another torch release than the torch now installed."""
    wrong = _companion_of_other_release(case)
    hits = case.hits(*_COMPANION_FAILS, "family_requirement") + companion_symbols(case)
    hits = tuple(hit for hit in hits if _speaks_of_companions(case, hit))
    replaced = case.hits("torch_replaced") if hits or wrong else ()
    if not hits and wrong is None:
        return None
    if not hits and case.observations.from_text and not replaced:
        return _note(case, wrong) if wrong else None
    direct = [hit for hit in hits if hit.signature != "torch_library_missing"]
    weight = 92 if hits and wrong else 78 if direct else 66 if hits else 60
    return Diagnosis(
        weight=weight + (4 if replaced else 0),
        hits=(*hits, *replaced),
        evidence=(*torch_at(case), *(case.package_at(wrong) if wrong else ())),
        values=_pair_values(case, wrong),
        severity=None if hits else "degrading",
    )


def _note(case: Case, wrong: Package) -> Diagnosis:
    return Diagnosis(
        weight=40,
        evidence=(*torch_at(case), *case.package_at(wrong)),
        values=_pair_values(case, wrong),
        severity="note",
    )


def _speaks_of_companions(case: Case, hit: Hit) -> bool:
    """Whether a missing library of torch's is missed by a companion, as far as the text tells."""
    if hit.signature != "torch_library_missing":
        return True
    if "hip" in hit.text:
        return False
    if case.hits("torch_replaced") or case.says(*COMPANIONS):
        return True
    return not case.hits("extension_import_failed") and not case.says(*EXTENSIONS)


def companion_symbols(case: Case) -> tuple[Hit, ...]:
    """Missing torch symbols where a companion's library is named."""
    words = ("torchvision", "torchaudio", "torchtext", "torchdata")
    lines = case.observations.lines
    return tuple(
        hit
        for hit in case.hits("symbol_of_torch")
        if any(word in lines[hit.line].text.lower() for word in words)
    )


def _companion_of_other_release(case: Case) -> Package | None:
    torch = case.torch
    if torch is None or not torch.version or _UNRELEASED.search(torch.version):
        return None
    for package in _companions(case):
        wanted = companion_version(package.name, case.torch_version)
        if _UNRELEASED.search(package.version) or not wanted:
            continue
        found = version(package.version)[:2]
        if package.name == "torchaudio" and found >= (2, 11):
            continue  # the last series asks only for torch >= 2.11
        if len(found) == 2 and found != wanted:
            return package
    return None


def companion_version(name: str, torch: Version) -> Version:
    """The series of a companion that pairs with this torch, () where none is known.

    Source: the tables' pairs; for releases before them the rule that the pairs follow.
    """
    if len(torch) < 2:
        return ()
    rows = wheels_of(torch)
    if name == "torchvision":
        if rows and rows[0].torchvision:
            return version(rows[0].torchvision)
        if torch[0] == 1 and torch[1] >= 4:
            return (0, torch[1] + 1)
    if name == "torchaudio":
        if rows and rows[0].torchaudio:
            return version(rows[0].torchaudio)
        if torch[0] == 1 and torch[1] >= 4:
            return (0, torch[1])
    return ()


def _pair_values(case: Case, wrong: Package | None) -> dict[str, str]:
    values = {}
    if wrong:
        values["package"] = f"{wrong.name} {wrong.version}"
    vision = companion_version("torchvision", case.torch_version)
    if vision:
        values["wanted"] = f"torchvision {dotted(vision)}"
    row = wheel(case.torch_version, case.torch_build or "")
    if row:
        from agent.rules.wheels import command_for

        values["wheel"] = command_for(row)
    return values


def triton_torch_version_mismatch(case: Case) -> Diagnosis | None:
    """The installed triton is not the release that this torch pairs with."""
    hits = case.hits("triton_name_missing")
    package = case.package("triton") or case.package("pytorch-triton")
    wanted = _triton_of(case)
    differs = bool(
        package
        and wanted
        and not _UNRELEASED.search(package.version)
        and version(package.version)[:2] != wanted[:2]
    )
    if not hits and not differs:
        return None
    if not hits:
        return Diagnosis(
            weight=45,
            evidence=case.package_at(package) if package else (),
            values={"found": package.version if package else "", "wanted": dotted(wanted)},
            severity="note" if case.observations.from_text else "degrading",
        )
    if package and wanted and not differs and not _UNRELEASED.search(package.version):
        return None
    return Diagnosis(
        weight=92 if differs else 82 if package or "cannot import" in hits[0].text else 62,
        hits=hits,
        evidence=(*torch_at(case), *(case.package_at(package) if package else ())),
        values={
            "found": package.version if package else "the installed triton",
            "wanted": dotted(wanted) if wanted else "the version that this torch pins",
        },
    )


def _triton_of(case: Case) -> Version:
    if case.torch and case.torch.version and _UNRELEASED.search(case.torch.version):
        return ()
    rows = [row for row in wheels_of(case.torch_version) if row.triton and row.build[:2] == "cu"]
    return version(rows[0].triton) if rows else ()


RULES: tuple[Rule, ...] = (
    Rule(
        code="torch-family-backend-mismatch",
        severity="blocking",
        who="renter",
        source="local version tags of the wheels; torchvision extension.py",
        find=torch_family_backend_mismatch,
        explains=("torch-family-version-mismatch", "ext-wheel-built-for-other-torch"),
    ),
    Rule(
        code="torch-family-version-mismatch",
        severity="blocking",
        who="renter",
        source="pytorch RELEASE.md compatibility matrix; torchvision README",
        find=torch_family_version_mismatch,
        explains=("ext-wheel-built-for-other-torch", "ext-cxx11-abi-mismatch"),
    ),
    Rule(
        code="triton-torch-version-mismatch",
        severity="blocking",
        who="renter",
        source="the wheels' pins: torch METADATA, Requires-Dist triton",
        find=triton_torch_version_mismatch,
    ),
)
