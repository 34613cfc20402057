"""Causes in compiled extensions that do not fit the torch they are loaded into."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.companions import companion_symbols
from agent.rules.kernels import EXTENSIONS
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.sonames import cuda_majors
from agent.rules.versions import dotted, version
from agent.rules.wheels import wheel, wheels_of


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
    return {hit.line for hit in companion_symbols(case)}


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
    if (absent := case.hits("xformers_not_built")) and case.built_for in ("cuda", None):
        return Diagnosis(
            weight=70 if case.built_for else 60,
            hits=absent,
            evidence=torch_at(case),
            values={"package": "xformers"},
            look_at=("python -m xformers.info: the torch that its library was built for",),
        )
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
