"""Causes in which libcuda is found: a stub, none for the linker, none in the cache, none in WSL."""

from __future__ import annotations

from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule

_STUB_ENV = "LD_LIBRARY_PATH"


def libcuda_stub_loaded(case: Case) -> Diagnosis | None:
    """The toolkit's link-time stub of libcuda is found at run time."""
    hits = case.hits("stub_library")
    for index, library in enumerate(case.facts.libraries):
        if library.soname.startswith("libcuda.so") and (
            library.origin == "stub" or "/stubs" in (library.path or "")
        ):
            seen = library.seen_by in ("mapped", "loader")
            if seen or hits:
                where = case.at(f"/facts/libraries/{index}", library.path)
                return Diagnosis(weight=92, hits=hits, evidence=where)
    paths = case.hits("stub_path")
    if mapped := case.hits("stub_mapped"):
        return Diagnosis(weight=92 if hits else 84, hits=(*hits, *mapped))
    if hits:
        return Diagnosis(weight=92 if paths else 88, hits=(*hits, *paths))
    if paths and case.says("libcuda.so: undefined symbol", "unknown_cuda_error"):
        return Diagnosis(weight=82, hits=paths)
    if "stubs" in (case.env(_STUB_ENV) or "") and (
        case.works is False
        or case.hits(
            "driver_init_failed", "no_nvidia_driver", "insufficient_driver", "no_cuda_gpus"
        )
    ):
        return Diagnosis(weight=74, evidence=case.env_at(_STUB_ENV))
    return None


def libcuda_linker_symlink_missing(case: Case) -> Diagnosis | None:
    """Only libcuda.so.1 is there; the unversioned name that the linker needs is missing."""
    if hits := case.hits("triton_libcuda_candidates"):
        return Diagnosis(weight=90, hits=(*hits, *case.hits("triton_libcuda")))
    hits = case.hits("linker_lcuda")
    if hits:
        files = case.hits("libcuda_file")
        return Diagnosis(weight=88 if files else 82, hits=(*hits, *files))
    hits = case.hits("libcuda_unversioned_missing")
    if hits and case.place != "wsl" and not case.says("ldconfig"):
        return Diagnosis(weight=52, hits=hits)
    return None


def libcuda_not_in_ldcache(case: Case) -> Diagnosis | None:
    """Libcuda exists, but only where the cache that the tool searches does not look."""
    hits = case.hits("triton_libcuda")
    if hits and not case.hits("triton_libcuda_candidates"):
        return Diagnosis(weight=80, hits=hits)
    if absent := case.hits("ldconfig_absent"):
        return Diagnosis(weight=78, hits=absent)
    if hits or not case.says("ldconfig"):
        return None
    hits = case.hits("libcuda_missing", "libcuda_unversioned_missing") or tuple(
        hit for hit in case.hits("library_missing") if "libcuda" in hit.text
    )
    elsewhere = tuple(
        hit
        for hit in case.hits("libcuda_file")
        if not hit.group(1).startswith(("/usr/lib/x86", "/lib/"))
    )
    if hits and elsewhere:
        return Diagnosis(weight=66, hits=(*hits, *elsewhere))
    if hits and not case.works and case.says("sudo ldconfig", "running ldconfig", "ran ldconfig"):
        return Diagnosis(weight=62, hits=hits)
    if not case.works and case.says("not in ldconfig", "ldconfig cache", "ld cache", "ldcache"):
        words = case.hits("libcuda_file")
        if words or hits:
            return Diagnosis(weight=58, hits=(*hits, *words))
    return None


def wsl_libcuda_so_link_missing(case: Case) -> Diagnosis | None:
    """WSL: only libcuda.so.1 is visible, and cuDNN opens libcuda.so."""
    hits = case.hits("libcuda_unversioned_missing")
    if not hits:
        return None
    if case.place == "wsl" or case.says("/usr/lib/wsl", "wsl2", "wsl "):
        return Diagnosis(weight=90, hits=hits)
    if case.says("libcudnn"):
        return Diagnosis(weight=58, hits=hits, look_at=("is this WSL? (uname -r says so)",))
    return None


RULES: tuple[Rule, ...] = (
    Rule(
        code="libcuda-stub-loaded",
        severity="blocking",
        who="renter",
        source="cudaErrorStubLibrary (34), CUDA runtime API; /usr/local/cuda/lib64/stubs",
        find=libcuda_stub_loaded,
        explains=("no-nvidia-driver-here", "driver-too-old-for-build"),
    ),
    Rule(
        code="libcuda-linker-symlink-missing",
        severity="blocking",
        who="renter",
        source="triton pull requests 1981, 3053; state-spaces/mamba issue 123",
        find=libcuda_linker_symlink_missing,
        explains=("libcuda-not-in-ldcache",),
    ),
    Rule(
        code="libcuda-not-in-ldcache",
        severity="blocking",
        who="renter",
        source="triton pull requests 2019, 2883",
        find=libcuda_not_in_ldcache,
    ),
    Rule(
        code="wsl-libcuda-so-link-missing",
        severity="blocking",
        who="renter",
        source="github.com/microsoft/WSL/issues/5663, 8587",
        find=wsl_libcuda_so_link_missing,
        explains=(
            "libcuda-linker-symlink-missing",
            "no-libcuda",
            "bundled-cuda-libs-not-on-path",
            "cuda-runtime-libs-missing-in-container",
        ),
    ),
)
