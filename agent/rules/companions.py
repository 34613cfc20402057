"""Causes between torch and the packages that must match it: companions, Triton, extensions."""

from __future__ import annotations

import re

from agent.model import Package
from agent.rules.build import EXTENSIONS
from agent.rules.case import Case
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
    missing = case.hit("torch_library_missing")
    if missing and "hip" in missing.group(1) and case.built_for != "rocm":
        return Diagnosis(weight=80, hits=(missing,), evidence=torch_at(case))
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
    hits = case.hits(*_COMPANION_FAILS, "family_requirement") + _companion_symbols(case)
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


def _companion_symbols(case: Case) -> tuple[Hit, ...]:
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


def ext_cxx11_abi_mismatch(case: Case) -> Diagnosis | None:
    """The extension and torch are built with different C++11 ABI settings."""
    abi = _abi_of_torch(case)
    named = next((hit for hit in case.hits("extension_wheel_name") if hit.group(5)), None)
    symbols = case.hits("symbol_new_abi", "symbol_old_abi")
    failed = case.hits("symbol_undefined")
    if named and _wheel_differs(case, named):
        return None
    if named and abi is not None and (named.group(5) == "TRUE") != abi:
        return Diagnosis(
            weight=92 if failed else 70,
            hits=(named, *failed),
            evidence=torch_at(case),
            values=_abi_values(abi),
        )
    if not symbols:
        return None
    if any(hit.line in _companion_lines(case) for hit in symbols):
        return None
    wants_new = symbols[0].signature == "symbol_new_abi"
    if abi is None:
        said = case.says("cxx11_abi", "cxx11abi", "_glibcxx_use_cxx11_abi")
        return Diagnosis(
            weight=66 if said else 50,
            hits=symbols,
            look_at=(
                "torch.compiled_with_cxx11_abi(): the symbol asked for ends in the "
                f"{'new' if wants_new else 'old'} ABI",
            ),
        )
    if wants_new == abi:
        return None
    return Diagnosis(weight=90, hits=symbols, evidence=torch_at(case), values=_abi_values(abi))


def _abi_values(abi: bool) -> dict[str, str]:
    return {"wanted": "cxx11abiTRUE" if abi else "cxx11abiFALSE"}


def _abi_of_torch(case: Case) -> bool | None:
    if case.torch and case.torch.cxx11_abi is not None:
        return case.torch.cxx11_abi
    row = wheel(case.torch_version, case.torch_build or "")
    if row and row.cxx11_abi is not None:
        return row.cxx11_abi
    known = {item.cxx11_abi for item in wheels_of(case.torch_version)} - {None}
    if len(known) == 1:
        return known.pop()
    if case.torch_version and case.torch_version[:2] < (1, 12):
        return False  # binaries before 2.6 have the old ABI
    return None


def _companion_lines(case: Case) -> set[int]:
    return {hit.line for hit in _companion_symbols(case)}


def ext_wheel_built_for_other_torch(case: Case) -> Diagnosis | None:
    """A prebuilt or cached extension was compiled against another torch than the one installed."""
    for hit in case.hits("xformers_built_for"):
        if hit.group(1) != hit.group(3):
            return Diagnosis(
                weight=94,
                hits=(hit,),
                evidence=torch_at(case),
                values={"package": "xformers", "wanted": hit.group(1)},
            )
    for hit in case.hits("extension_wheel_name"):
        if _wheel_differs(case, hit):
            failed = case.hits("symbol_undefined", "library_missing", "invalid_device_function")
            return Diagnosis(
                weight=90 if failed else 55,
                hits=(hit, *failed),
                evidence=torch_at(case),
                values={"package": hit.group(1), "wanted": hit.group(3)},
                severity=None if failed else "note",
            )
    if found := _tagged_package(case):
        return found
    companions = _companion_lines(case)
    symbols = tuple(
        hit
        for hit in case.hits("symbol_of_torch", "torch_library_missing")
        if hit.line not in companions and not _own_library(hit)
    )
    if not symbols:
        return _extension_lacks_runtime(case)
    named = case.hits("extension_import_failed")
    return Diagnosis(
        weight=80 if named else 74,
        hits=(*symbols, *named),
        evidence=torch_at(case),
        values={"package": named[0].group(1)} if named else {},
        look_at=(
            "the torch version that the extension was built for (its wheel's name), and"
            " torch.__version__",
        ),
    )


def _tagged_package(case: Case) -> Diagnosis | None:
    """A package whose version names another torch or CUDA than the one installed."""
    failed = case.hits(
        "symbol_undefined", "library_missing", "dll_load_failed", "invalid_device_function"
    )
    for package in case.facts.packages:
        tag = _BUILT_FOR.search(package.version)
        if tag is None or not case.torch_version:
            continue
        built = (int(tag.group(1)), int(tag.group(2)))
        if built == case.torch_version[:2]:
            continue
        return Diagnosis(
            weight=90 if failed else 55,
            hits=failed,
            evidence=(*case.package_at(package), *torch_at(case)),
            values={"package": f"{package.name} {package.version}", "wanted": dotted(built)},
            severity=None if failed else "note",
        )
    loaded = [
        hit
        for hit in case.hits("dll_load_failed")
        if any(name in hit.group(1) for name in EXTENSIONS)
    ]
    return Diagnosis(weight=60, hits=tuple(loaded)) if loaded else None


# "+cu126torch2.6.0cxx11abiFALSE", "+pt21cu118", "+torch2.4.cuda12.1"
_BUILT_FOR = re.compile(r"(?:torch|pt)(\d)\.?(\d{1,2})")


def _own_library(hit: Hit) -> bool:
    """Whether torch's own library is the one that misses the symbol."""
    if hit.signature == "torch_library_missing":
        return False
    head = hit.text.split("undefined symbol")[0]
    return "libtorch" in head or "libc10" in head or "_C.cpython" in head


def _extension_lacks_runtime(case: Case) -> Diagnosis | None:
    """A torch extension that wants the CUDA runtime of another major than torch has."""
    from agent.rules.sonames import cuda_majors

    for hit in case.hits("library_missing"):
        majors = cuda_majors(next((part for part in hit.groups if part), ""))
        here = case.torch_cuda[:1]
        line = case.observations.lines[hit.line].text
        if majors and here and here[0] not in majors and _is_extension(case, hit, line):
            return Diagnosis(weight=78, hits=(hit,), evidence=torch_at(case))
    return None


def _is_extension(case: Case, hit: Hit, line: str) -> bool:
    if case.says("onnxruntime", "tensorflow", "cupy", "jaxlib", "ctranslate2"):
        return False  # these do not link to torch
    if re.search(
        r"\b\w{1,40}\._C\b|_cuda\S{0,60}\.so|_C\.\S{0,60}\.so|_ext\S{0,60}\.so",
        line.split(hit.text)[0],
    ):
        return True
    return bool(case.hits("extension_import_failed"))


def _wheel_differs(case: Case, hit: Hit) -> bool:
    """Whether the wheel's name says another torch or CUDA than the one installed."""
    built = version(hit.group(3))
    if not case.torch_version or not built:
        return False
    if built[:2] != case.torch_version[:2]:
        return True
    cuda = hit.group(2) or hit.group(4)
    here = case.torch_cuda
    return bool(cuda and here and len(cuda) >= 2 and int(cuda[:2]) != here[0])


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
    Rule(
        code="ext-cxx11-abi-mismatch",
        severity="blocking",
        who="renter",
        source="mangled names in libc10.so of each wheel; flash-attention issues 1644, 1691",
        find=ext_cxx11_abi_mismatch,
        explains=("ext-wheel-built-for-other-torch",),
    ),
    Rule(
        code="ext-wheel-built-for-other-torch",
        severity="blocking",
        who="renter",
        source="flash-attention issues 919, 1832; xformers _cpp_lib.py",
        find=ext_wheel_built_for_other_torch,
        explains=("lib-built-for-other-cuda-major",),
    ),
)
