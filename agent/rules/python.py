"""Causes in Python, its packages and the system's C library."""

from __future__ import annotations

import re
import sys

from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.versions import Version, dotted, version
from agent.rules.wheels import wheels_of
from agent.tables.wheels import WHEELS

_LIBRARY = ("site-packages", "dist-packages", "/lib/python", "/lib64/python", "<frozen", "\\lib\\")
# Names of modules that people give to their own files, beside all of the standard library.
_THIRD_PARTY = frozenset(
    ("torch", "numpy", "triton", "torchvision", "torchaudio", "transformers", "scipy", "packaging")
)


def glibc_too_old(case: Case) -> Diagnosis | None:
    """The system's glibc is older than the binary needs."""
    hits = case.hits("glibc_version", "platform_tag_refused")
    if not hits:
        return None
    wanted = [version(next((part for part in hit.groups if part), "")) for hit in hits]
    here = version(case.facts.host.libc_version)
    named = any(hit.signature == "glibc_version" for hit in hits)
    if here and wanted[0] and len(wanted[0]) > 1 and here[:2] >= wanted[0][:2]:
        return None
    return Diagnosis(
        weight=90 if named else 72,
        hits=hits,
        evidence=case.at("/facts/host/libc_version", dotted(here)) if here else (),
        values={
            "wanted": dotted(wanted[0]) if wanted[0] else "a newer one",
            "found": dotted(here) or "older",
        },
    )


def libstdcxx_too_old(case: Case) -> Diagnosis | None:
    """The libstdc++ found first is older than the binary needs."""
    hits = case.hits("glibcxx_version")
    if not hits or case.hits("glibc_version"):
        return None
    return Diagnosis(weight=86, hits=hits, values={"wanted": hits[0].group(1)})


def mkl_version_conflict(case: Case) -> Diagnosis | None:
    """Importing torch fails on a symbol of MKL or of its OpenMP."""
    hits = case.hits("mkl_symbol")
    if not hits:
        return None
    return Diagnosis(weight=90, hits=hits, evidence=torch_at(case))


def numpy_abi_mismatch(case: Case) -> Diagnosis | None:
    """A module built for NumPy 1 runs beside NumPy 2, or the other way round."""
    hits = case.hits("numpy_1_module", "numpy_unavailable")
    numpy = case.package("numpy")
    found = version(numpy.version) if numpy else ()
    older_torch = bool(case.torch_version) and case.torch_version[:2] < (2, 3)
    clash = bool(found) and found >= (2,) and older_torch
    named = any(hit.signature == "numpy_1_module" for hit in hits)
    if not hits and not clash:
        return None
    if hits and not named and not clash:
        return Diagnosis(weight=45, hits=hits, look_at=("is numpy installed, and which version?",))
    if not hits:
        return Diagnosis(
            weight=60,
            evidence=torch_at(case),
            values={"found": dotted(found)},
            severity="degrading",
        )
    return Diagnosis(
        weight=92 if clash else 86,
        hits=hits,
        evidence=(*torch_at(case), *(case.package_at(numpy) if numpy else ())),
        values={"found": dotted(found)} if found else {},
    )


def python_too_new_for_torch(case: Case) -> Diagnosis | None:
    """No torch wheel exists for this Python version (yet)."""
    dynamo = case.hits("python_version_dynamo")
    if dynamo:
        return Diagnosis(weight=80, hits=dynamo)
    hits = case.hits("no_torch_version")
    refused = [hit for hit in case.hits("abi_tag_refused") if "torch" in hit.text]
    python = case.python or _python_of_uv(case)
    wanted = _asked_series(case)
    limit = _python_limit(wanted)
    if not hits and refused and python:
        tag = (int(refused[0].group(1)), int(refused[0].group(2)))
        if python[:2] > tag:
            return Diagnosis(weight=72, hits=tuple(refused), values=_limit_values(limit))
        return None
    if hits and _only_newer_offered(case) and python[:2] not in ((2, 7), (3, 6), (3, 7)):
        return Diagnosis(weight=72 if python else 64, hits=hits, values=_limit_values(limit))
    if not hits or not python:
        return None
    if python[:2] > limit:
        return Diagnosis(weight=90, hits=hits, values=_limit_values(limit))
    if python[:2] >= (3, 12) or case.says("freethread", "free-threading", "3.13t", "3.14t"):
        return Diagnosis(weight=66, hits=hits, values=_limit_values(limit))
    if python[:2] >= (3, 9) and case.says("from versions: none"):
        return Diagnosis(
            weight=42, hits=hits, look_at=("python --version, uname -m and the index asked",)
        )
    return None


def _python_of_uv(case: Case) -> Version:
    found = re.search(r"using CPython (\d\.\d+)", case.lines.text)
    return version(found.group(1)) if found else ()


def _asked_series(case: Case) -> Version:
    found = re.search(r"torch[=<>~! ]{1,4}(\d+\.\d+)", case.lines.text)
    return version(found.group(1)) if found else ()


def _only_newer_offered(case: Case) -> bool:
    """Whether the index has torch for this Python, and nothing as old as what is asked for."""
    found = re.search(
        r"requirement torch==(\d[\w.]*)\S* \(from versions: (\d[\w., +]*)", case.lines.text
    )
    if found is None:
        return False
    offered = [version(item) for item in found.group(2).split(",") if version(item)]
    return bool(offered) and version(found.group(1)) < min(offered)


def _python_limit(series: Version) -> Version:
    rows = wheels_of(series) if series else ()
    return max(version(row.python_max) for row in (rows or WHEELS))


def _limit_values(limit: Version) -> dict[str, str]:
    return {"limit": dotted(limit)}


def local_module_shadows_import(case: Case) -> Diagnosis | None:
    """A file of the user's is imported instead of the real module."""
    for index, stage in case.stages("interpreter"):
        names = stage.data.get("shadowed") or ()
        if names:
            failed = (imported := case.stage("import")) and imported.status in ("failed", "crashed")
            return Diagnosis(
                weight=86 if failed else 40,
                evidence=case.at(f"/stages/{index}/data/shadowed"),
                values={"value": ", ".join(map(str, names))},
                severity=None if failed else "note",
            )
    if told := case.conflict("workdir-shadows-torch", "workdir-shadows-stdlib"):
        path, where = told
        torch = case.conflict("workdir-shadows-torch") is not None
        return Diagnosis(
            weight=60,
            evidence=where,
            values={"value": path},
            severity="degrading" if torch else "note",
        )
    named = case.hits("stdlib_shadowed")
    if named:
        return Diagnosis(weight=92, hits=named, values={"value": named[0].group(1)})
    if package := case.hits("not_a_package"):
        return Diagnosis(weight=88, hits=package, values={"value": package[0].group(1)})
    partial = case.hits("partially_initialized")
    shadow = _shadowing_frame(case)
    if shadow and partial:
        path = shadow.group(1)
        return Diagnosis(weight=90, hits=(*partial, shadow), values={"value": path})
    for hit in case.hits("name_missing_in_file"):
        module, path, stem = hit.groups
        ours = module.split(".")[0] == stem and not any(word in path for word in _LIBRARY)
        inside = "-packages" in path and module == stem and stem in sys.stdlib_module_names
        if inside:  # run from a package's own directory, whose file has the module's name
            return Diagnosis(weight=84, hits=(hit,), values={"value": path})
        if ours and (stem in sys.stdlib_module_names or stem in _THIRD_PARTY):
            return Diagnosis(weight=88, hits=(hit,), values={"value": path})
    for hit in partial:
        origin = hit.group(2)
        if origin and not any(word in origin for word in _LIBRARY):
            return Diagnosis(weight=84, hits=(hit,), values={"value": origin})
    if shadow and case.says("importerror", "attributeerror", "has no attribute"):
        return Diagnosis(weight=64, hits=(shadow,), values={"value": shadow.group(1)})
    folder = case.hit("namespace_shadow")
    if folder:
        return Diagnosis(weight=78, hits=(folder,))
    if basic := case.hits("basic_attribute_missing"):
        return Diagnosis(
            weight=64,
            hits=basic,
            values={"value": f"a file or folder named {basic[0].group(1)}"},
            look_at=('python -c "import torch; print(torch.__file__)" from another directory',),
        )
    return None


def _shadowing_frame(case: Case) -> Hit | None:
    """A traceback frame in a user's file whose name is that of a module."""
    for hit in case.hits("user_frame"):
        path = hit.group(1)
        stem = path.replace("\\", "/").rsplit("/", 1)[-1][:-3]
        inside = any(word in path.lower() for word in _LIBRARY)
        if not inside and (stem in sys.stdlib_module_names or stem in _THIRD_PARTY):
            if stem in ("__main__", "test", "cmd", "code", "this"):
                continue
            return hit
    return None


def stale_torch_in_user_site(case: Case) -> Diagnosis | None:
    """An old torch in the user site directory wins over the new one."""
    copies = [item for item in case.facts.packages if item.name == "torch"]
    scopes = {item.scope for item in copies}
    if len({item.version for item in copies}) > 1 and scopes & {"user-site", "pythonpath"}:
        failed = case.works is False or any(
            stage.status in ("failed", "crashed") for _, stage in case.stages("import")
        )
        return Diagnosis(
            weight=86 if failed else 62,
            evidence=tuple(at for item in copies for at in case.package_at(item)),
            values={"found": ", ".join(item.version for item in copies)},
            severity=None if failed else "degrading",
        )
    shadow = case.conflict("user-site-shadows")
    if shadow and "torch" in shadow[0]:
        detail, where = shadow
        return Diagnosis(weight=66, evidence=where, values={"found": detail}, severity="degrading")
    paths = case.hits("user_site_path")
    named = any("torch" in hit.group(2) for hit in paths)
    if not named and not case.says("old torch", "sys.path"):
        return None
    if not paths:
        return None
    other = case.says(
        "/envs/",
        "conda activate",
        "conda install",
        "anaconda",
        "miniconda",
        "virtualenv",
        "venv/",
        "/opt/conda",
        "conda list",
        "conda torch",
        "dist-packages/torch",
    )
    told = case.says(
        "user site",
        "user-site",
        "pythonnousersite",
        "--user",
        "old torch",
        "older torch",
        "wrong version",
        "stale",
        "still shows",
        "still old",
        "as a user,",
        "__file__",
    )
    broken = case.says(
        "undefined symbol",
        "importerror",
        "no kernel image",
        "attributeerror",
        "cannot import",
        "is_available() false",
        "is_available(): false",
        "oserror",
        "is not compatible with",
    )
    own = [item.version for item in copies if item.origin == "conda"]
    frames = any("torch" in hit.group(2) for hit in paths)
    ahead = re.search(
        r"\.local/lib/python3\.\d+/site-packages'[^\n]{0,200}/envs/[^\n']{1,100}/site-packages",
        case.lines.text,
    )
    if ahead and case.torch_version and case.works is False:
        return Diagnosis(weight=62, hits=paths)
    if frames and broken and (own or _installed_another(case)):
        return Diagnosis(weight=88, hits=paths, values={"found": ", ".join(own)} if own else {})
    if other and (told or broken):
        return Diagnosis(weight=72 if told else 58, hits=paths)
    if told:
        return Diagnosis(weight=70, hits=paths)
    return None


def _installed_another(case: Case) -> bool:
    """Whether another torch was installed than the one whose version is shown."""
    asked = re.findall(r"(?:install|has)\b[^\n]{0,40} torch[= ]{1,2}(\d+\.\d+)", case.lines.text)
    return bool(case.torch_version) and any(
        version(item) != case.torch_version[:2] for item in asked
    )


RULES: tuple[Rule, ...] = (
    Rule(
        code="glibc-too-old",
        severity="blocking",
        who="either",
        source="glibc symbol versions; pytorch issue 123649; PEP 600",
        find=glibc_too_old,
        explains=("libstdcxx-too-old",),
    ),
    Rule(
        code="libstdcxx-too-old",
        severity="blocking",
        who="renter",
        source="libstdc++ ABI policy",
        find=libstdcxx_too_old,
    ),
    Rule(
        code="mkl-version-conflict",
        severity="blocking",
        who="renter",
        source="pytorch issue 123097; MKL 2024.1 dropped iJIT symbols",
        find=mkl_version_conflict,
    ),
    Rule(
        code="numpy-abi-mismatch",
        severity="blocking",
        who="renter",
        source="numpy 2 migration guide; torch 2.3 is the first built for NumPy 2",
        find=numpy_abi_mismatch,
    ),
    Rule(
        code="python-too-new-for-torch",
        severity="blocking",
        who="renter",
        source="pytorch RELEASE.md compatibility matrix",
        find=python_too_new_for_torch,
        explains=("torch-not-installed",),
    ),
    Rule(
        code="local-module-shadows-import",
        severity="blocking",
        who="renter",
        source="Python, the module search path: the script's directory comes first",
        find=local_module_shadows_import,
        explains=(
            "torch-crashes-on-import",
            "torch-family-version-mismatch",
            "triton-torch-version-mismatch",
        ),
    ),
    Rule(
        code="stale-torch-in-user-site",
        severity="blocking",
        who="renter",
        source="Python site module; anaconda-issues 9688",
        find=stale_torch_in_user_site,
        explains=(
            "ext-wheel-built-for-other-torch",
            "torch-family-version-mismatch",
            "gpu-newer-than-build",
            "cpu-only-build",
            "conda-cuda-lib-mismatch",
            "ld-library-path-shadows-torch-libs",
        ),
    ),
)
