"""Causes in building extensions: toolkits, compilers, headers, and memory for the compilers."""

from __future__ import annotations

from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.versions import dotted, version


def build_oom_killed(case: Case) -> Diagnosis | None:
    """Compiler processes were killed because the parallel build ran out of memory."""
    hits = case.hits("build_killed")
    if hits:
        return Diagnosis(weight=90, hits=hits)
    building = case.hits("building")
    killed = case.hits("plain_killed")
    if building and killed:
        return Diagnosis(weight=74, hits=(*killed, *building[:2]))
    return None


def cuda_home_malformed(case: Case) -> Diagnosis | None:
    """CUDA_HOME is not a single directory."""
    hits = case.hits("cuda_home_malformed")
    for name in ("CUDA_HOME", "CUDA_PATH"):
        value = case.env(name) or ""
        if ":" in value[2:] or value.startswith(":") or value.rstrip("/").endswith("/bin"):
            if case.place == "windows" and ":\\" in value:
                continue
            return Diagnosis(
                weight=92 if hits else 82,
                hits=hits,
                evidence=case.env_at(name),
                values={"value": value},
            )
    if hits:
        value = next((part for part in hits[0].groups if part), hits[0].text)
        return Diagnosis(weight=90, hits=hits, values={"value": value})
    return None


def nvcc_torch_cuda_mismatch(case: Case) -> Diagnosis | None:
    """The toolkit found for building has another CUDA version than torch."""
    hits = case.hits("cuda_versions_differ")
    if not hits:
        return _nvcc_of_other_major(case)
    numbers = [part for part in hits[0].groups if part]
    values = {"found": numbers[0], "wanted": numbers[1]} if len(numbers) == 2 else {}
    return Diagnosis(weight=92, hits=hits, evidence=torch_at(case), values=values)


def _nvcc_of_other_major(case: Case) -> Diagnosis | None:
    """A build fails, and the nvcc found is of another CUDA major than torch."""
    nvcc, wanted = _nvcc(case), case.torch_cuda
    failing = case.says("error compiling", "error building extension", "subcommand failed")
    if not nvcc or not wanted or nvcc[0] == wanted[0] or not failing:
        return None
    return Diagnosis(
        weight=62,
        hits=case.hits("building")[:2],
        evidence=torch_at(case),
        values={"found": dotted(nvcc[:2]), "wanted": dotted(wanted[:2])},
    )


def nvcc_too_old_for_arch(case: Case) -> Diagnosis | None:
    """The nvcc found first is too old for the architecture asked for."""
    for hit in case.hits("nvcc_lacks_arch"):
        capability = _capability(hit.group(1) or hit.group(2))
        nvcc = _nvcc(case)
        if _is_dropped(capability, nvcc):
            continue
        return Diagnosis(
            weight=90 if nvcc else 84,
            hits=(hit, *case.hits("nvcc_release")),
            values={
                "architecture": dotted(capability) or "the GPU's architecture",
                "found": dotted(nvcc) or "the nvcc found first",
            },
        )
    return None


def nvcc_dropped_arch(case: Case) -> Diagnosis | None:
    """The nvcc found no longer knows an old architecture that the build asks for."""
    for hit in case.hits("nvcc_lacks_arch"):
        capability = _capability(hit.group(1) or hit.group(2))
        if _is_dropped(capability, _nvcc(case)):
            return Diagnosis(weight=86, hits=(hit,), values={"architecture": dotted(capability)})
    return None


def _capability(text: str) -> tuple[int, ...]:
    """(12, 0) from "compute_120", "sm_90a" or "12.0"."""
    if "." in text:
        return version(text)
    digits = text.rpartition("_")[2].rstrip("af+PTX")
    return (int(digits[:-1]), int(digits[-1])) if digits.isdigit() and len(digits) > 1 else ()


def _is_dropped(capability: tuple[int, ...], nvcc: tuple[int, ...]) -> bool:
    from agent.rules.architectures import range_of_toolkit

    span = range_of_toolkit(nvcc)
    if span:
        return bool(capability) and capability < span[0]
    return bool(capability) and capability < (5, 0)  # no supported nvcc is too old for these


def _nvcc(case: Case) -> tuple[int, ...]:
    for hit in case.hits("nvcc_release"):
        if number := next((part for part in hit.groups if part), ""):
            return version(number)
    for tool in case.facts.toolkits.tools:
        if tool.name == "nvcc" and tool.version:
            return version(tool.version)
    return ()


def python_headers_missing(case: Case) -> Diagnosis | None:
    """Python.h is absent, so an extension or a Triton launcher cannot be compiled."""
    hits = case.hits("python_header_missing")
    if hits:
        return Diagnosis(weight=92, hits=hits)
    if case.facts.toolkits.python_headers is False and _has_extension_failure(case):
        return Diagnosis(weight=60, evidence=case.at("/facts/toolkits/python_headers"))
    if case.facts.toolkits.python_headers is False and case.package("triton"):
        return Diagnosis(
            weight=40, evidence=case.at("/facts/toolkits/python_headers"), severity="note"
        )
    return None


def _has_extension_failure(case: Case) -> bool:
    return any(
        stage.status in ("failed", "crashed")
        and stage.error is not None
        and ("gcc" in stage.error.text or "compile" in stage.error.text.lower())
        for _, stage in case.stages("extensions")
    )


def no_compiler(case: Case) -> Diagnosis | None:
    """No C or C++ compiler is there to build extensions or Triton's launcher with."""
    hits = case.hits("no_compiler")
    if hits:
        return Diagnosis(weight=90, hits=hits)
    tools = {tool.name for tool in case.facts.toolkits.tools}
    if (
        case.observations.from_text
        or tools & {"gcc", "g++", "clang"}
        or case.package("triton") is None
    ):
        return None
    return Diagnosis(weight=40, evidence=case.at("/facts/toolkits/tools"), severity="note")


def cuda_toolkit_missing(case: Case) -> Diagnosis | None:
    """A build needs nvcc or CUDA's headers, and none is there."""
    if case.hits("cuda_home_malformed", "cuda_versions_differ") or case.built_for == "rocm":
        return None
    hits = case.hits("cuda_home_unset", "nvcc_missing", "cuda_header_missing")
    if not hits:
        return None
    return Diagnosis(
        weight=80,
        hits=hits,
        values={"torch_cuda": dotted(case.torch_cuda[:2])} if case.torch_cuda else {},
    )


def compiler_unsuited(case: Case) -> Diagnosis | None:
    """The C++ compiler is newer than this nvcc accepts, or older than torch's headers need."""
    hits = case.hits("compiler_too_new", "compiler_too_old")
    return Diagnosis(weight=88, hits=hits) if hits else None


def ninja_missing(case: Case) -> Diagnosis | None:
    """The build tool ninja is not installed."""
    hits = case.hits("ninja_missing")
    return Diagnosis(weight=88, hits=hits) if hits else None


def build_isolation_hides_torch(case: Case) -> Diagnosis | None:
    """pip builds in an environment of its own, in which torch is not installed."""
    hits = case.hits("no_torch_in_isolation")
    isolated = case.hits("build_isolation")
    if not hits or not isolated:
        return None
    return Diagnosis(weight=88, hits=(*hits, *isolated[:2]), evidence=torch_at(case))


def cuda_home_from_symlink(case: Case) -> Diagnosis | None:
    """The toolkit for building is guessed, and is of another CUDA than torch."""
    toolkits = case.facts.toolkits
    if toolkits.cuda_home_source != "default" or not toolkits.cuda_home or not case.torch_cuda:
        return None
    nvcc = _nvcc(case)
    if not nvcc or nvcc[0] == case.torch_cuda[0]:
        return None
    return Diagnosis(
        weight=45,
        evidence=(*case.at("/facts/toolkits/cuda_home", toolkits.cuda_home), *torch_at(case)),
        values={"found": dotted(nvcc[:2]), "path": toolkits.cuda_home},
    )


RULES: tuple[Rule, ...] = (
    Rule(
        code="build-oom-killed",
        severity="blocking",
        who="renter",
        source="nvcc and gcc drivers; flash-attention README, MAX_JOBS",
        find=build_oom_killed,
        explains=("container-memory-limit",),
    ),
    Rule(
        code="cuda-home-malformed",
        severity="blocking",
        who="renter",
        source="torch.utils.cpp_extension; pytorch_cluster issue 55; apex issues 368, 500",
        find=cuda_home_malformed,
        explains=("cuda-toolkit-missing",),
    ),
    Rule(
        code="nvcc-torch-cuda-mismatch",
        severity="blocking",
        who="renter",
        source="torch.utils.cpp_extension; deepspeed op_builder",
        find=nvcc_torch_cuda_mismatch,
        explains=("cuda-home-from-symlink",),
    ),
    Rule(
        code="nvcc-too-old-for-arch",
        severity="blocking",
        who="renter",
        source="ptxas --help of each release; CUDA release notes",
        find=nvcc_too_old_for_arch,
    ),
    Rule(
        code="nvcc-dropped-arch",
        severity="blocking",
        who="renter",
        source="CUDA release notes, dropped architectures",
        find=nvcc_dropped_arch,
    ),
    Rule(
        code="python-headers-missing",
        severity="blocking",
        who="renter",
        source="gcc; triton runtime/build.py",
        find=python_headers_missing,
    ),
    Rule(
        code="no-compiler",
        severity="blocking",
        who="renter",
        source="triton runtime/build.py; torch._inductor.cpp_builder",
        find=no_compiler,
        explains=("python-headers-missing",),
    ),
    Rule(
        code="cuda-toolkit-missing",
        severity="blocking",
        who="renter",
        source="torch.utils.cpp_extension: a wheel brings libraries, no nvcc and no headers",
        find=cuda_toolkit_missing,
    ),
    Rule(
        code="compiler-unsuited",
        severity="blocking",
        who="renter",
        source="crt/host_config.h of the toolkit; torch.utils.cpp_extension",
        find=compiler_unsuited,
    ),
    Rule(
        code="ninja-missing",
        severity="blocking",
        who="renter",
        source="torch.utils.cpp_extension",
        find=ninja_missing,
    ),
    Rule(
        code="build-isolation-hides-torch",
        severity="blocking",
        who="renter",
        source="pip, build isolation; flash-attention README",
        find=build_isolation_hides_torch,
        explains=("torch-not-installed", "cuda-toolkit-missing"),
    ),
    Rule(
        code="cuda-home-from-symlink",
        severity="note",
        who="renter",
        source="torch.utils.cpp_extension, search order of CUDA_HOME",
        find=cuda_home_from_symlink,
    ),
)
