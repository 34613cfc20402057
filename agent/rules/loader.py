"""Causes in which library the loader or the linker finds, and where it looks."""

from __future__ import annotations

import re

from agent.model import Package
from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.sonames import component, cuda_majors
from agent.rules.versions import version

# A CUDA library in a conda environment's lib, by its path or as seen from torch/lib.
_CONDA_LIB = re.compile(
    r"/(?:ana|mini)?(?:conda|forge)\d?/(?:envs/[^/\s]+/)?lib/libcu\w+\.so"
    r"|/envs/[^/\s]+/(?:bin/\.\./)?lib/libcu\w+\.so|torch/lib/(?:\.\./){4}libcu\w+\.so"
)


def missing_cuda_libraries(case: Case) -> tuple[tuple[Hit, str], ...]:
    """Each missing library of NVIDIA's with the line that says so."""
    found = []
    for hit in case.hits(
        "library_missing",
        "library_not_found_listed",
        "provider_library_failed",
        "bnb_missing_library",
        "cudnn_sublibrary_loading",
    ):
        for name in hit.groups:
            if name and component(name):
                found.append((hit, name))
                break
    return tuple(found)


def bundled_cuda_libs_not_on_path(case: Case) -> Diagnosis | None:
    """NVIDIA's pip libraries are installed, but the loader does not look in their directories."""
    missing = missing_cuda_libraries(case)
    dlopen = case.hits("dlopen_gpu_libraries")
    if searched := case.hits("torch_wheels_not_found"):
        return Diagnosis(
            weight=84 if case.packages("nvidia-") else 66,
            hits=(*searched, *(hit for hit, _ in missing)),
            values={"library": searched[0].group(1)},
        )
    if not missing:
        unloadable = case.hits("jax_library_unloadable")
        blind = tuple(hit for hit in case.hits("cudnn_symbol") if hit.group(1))
        if blind and not case.hits("cuda_library_symbol", "cudnn_incompatible"):
            return Diagnosis(weight=78 if case.packages("nvidia-cudnn") else 64, hits=blind)
        if (dlopen or unloadable) and case.packages("nvidia-"):
            return Diagnosis(weight=76, hits=(*dlopen, *unloadable))
        return Diagnosis(weight=50, hits=unloadable) if unloadable else None
    for hit, name in missing:
        paths = [
            item
            for item in case.hits("bundled_library_path")
            if item.group(2).startswith(name.split(".so")[0]) or not item.group(2)
        ]
        full = [item for item in paths if item.group(2) and _same_soname(item.group(2), name)]
        packages = _bringing(case, name)
        if not full and not packages:
            continue
        here = [package for package in packages if _major_fits(package, name)]
        if packages and not here and not full:
            continue
        return Diagnosis(
            weight=90 if full else 80,
            hits=(hit, *full),
            evidence=tuple(at for package in here for at in case.package_at(package)),
            values={"library": name},
        )
    if case.says("pip install nvidia-", "site-packages/nvidia/"):
        return Diagnosis(
            weight=74,
            hits=tuple(hit for hit, _ in missing),
            values={"library": missing[0][1]},
        )
    name = missing[0][1]
    return Diagnosis(
        weight=20,
        look_at=(
            f"where {name.split('.so')[0]} is: find / -name '{name.split('.so')[0]}*' 2>/dev/null;"
            " echo $LD_LIBRARY_PATH; python -m pip list | grep -i nvidia",
        ),
    )


def _same_soname(found: str, wanted: str) -> bool:
    return found.startswith(wanted) or wanted.startswith(found)


def _bringing(case: Case, soname: str) -> list[Package]:
    """Installed wheels that bring this library."""
    part = component(soname)
    names = {f"nvidia-{part}", *(f"nvidia-{part}-cu{major}" for major in (11, 12, 13))}
    return [item for item in case.facts.packages if part and item.name in names]


def _major_fits(package: Package, soname: str) -> bool:
    majors = cuda_majors(soname)
    if component(soname) == "cudnn":
        wanted = version(soname.partition(".so")[2])
        return not wanted or version(package.version)[:1] == wanted[:1]
    suffix = package.name.rpartition("-cu")[2]
    if not majors:
        return True
    return int(suffix) in majors if suffix.isdigit() else 13 in majors


def lib_built_for_other_cuda_major(case: Case) -> Diagnosis | None:
    """A library wants the CUDA libraries of another major than those present."""
    for hit, name in missing_cuda_libraries(case):
        majors = cuda_majors(name)
        if component(name) == "cudnn":
            if found := _other_cudnn(case, hit, name):
                return found
            continue
        if not majors:
            continue
        present = _majors_present(case)
        if present & set(majors):
            continue
        if not present and is_boxed(case) and not case.says("onnxruntime-gpu "):
            continue
        return Diagnosis(
            weight=84 if present else 64,
            hits=(hit,),
            evidence=torch_at(case) if case.torch_cuda else (),
            values={
                "library": name,
                "wanted": " or ".join(map(str, majors)),
                "found": " and ".join(map(str, sorted(present))) or "another major",
            },
        )
    return None


def _other_cudnn(case: Case, hit: Hit, name: str) -> Diagnosis | None:
    """A missing cuDNN of another major than the installed one."""
    wanted = version(name.partition(".so")[2])[:1]
    packages = [item for item in case.facts.packages if item.name.startswith("nvidia-cudnn")]
    found = {version(item.version)[:1] for item in packages}
    if case.torch and case.torch.cudnn_version:
        text = case.torch.cudnn_version
        numbers = version(text)
        found.add((numbers[0] // 1000,) if numbers and numbers[0] > 1000 else numbers[:1])
    found.discard(())
    if not wanted or not found or wanted in found:
        return None
    return Diagnosis(
        weight=76,
        hits=(hit,),
        values={
            "library": name,
            "wanted": f"cuDNN {wanted[0]}",
            "found": "cuDNN " + ", ".join(str(item[0]) for item in sorted(found)),
        },
    )


def _majors_present(case: Case) -> set[int]:
    """CUDA majors whose libraries are here: in torch's build, wheels, toolkits."""
    found = set(case.torch_cuda[:1])
    for package in case.packages("nvidia-"):
        suffix = package.name.rpartition("-cu")[2]
        if suffix.isdigit():
            found.add(int(suffix))
    for path in case.facts.toolkits.cuda_toolkits:
        found.update(version(path.rsplit("-", 1)[-1])[:1])
    for tool in case.facts.toolkits.tools:
        if tool.name == "nvcc":
            found.update(version(tool.version)[:1])
    return {number for number in found if number >= 8}


def cuda_runtime_libs_missing_in_container(case: Case) -> Diagnosis | None:
    """CUDA or cuDNN exist on the host but not inside the image or on its loader path."""
    missing = missing_cuda_libraries(case)
    if not missing or not is_boxed(case):
        return None
    base = case.says("-base-ubuntu", "-base\n", "cuda:", "-runtime-ubuntu", "python:3", "slim")
    return Diagnosis(
        weight=74 if case.in_container and base else 68 if case.in_container else 56,
        hits=tuple(hit for hit, _ in missing),
        values={"library": missing[0][1]},
    )


def is_boxed(case: Case) -> bool:
    """Whether this happens in a container, as facts or words say."""
    return case.in_container or case.says(
        "dockerfile", "docker run", "docker-compose", "kubernetes", " pod", "container"
    )


def ld_library_path_clobbered(case: Case) -> Diagnosis | None:
    """A later module or script overwrote LD_LIBRARY_PATH and dropped a directory."""
    failing = case.hits("dlopen_gpu_libraries") + tuple(
        hit for hit, _ in missing_cuda_libraries(case)
    )
    if not failing:
        return None
    told = case.says("ld_library_path") and case.says(
        "overwritten",
        "overwrote",
        "overwrites",
        "clobber",
        "replaced",
        "reset",
        "dropped",
        "module load",
        "module system",
        "lmod",
        "module purge",
        "setvars.sh",
        "no longer contains",
        "was unset",
        "lost",
    )
    loaded = case.hits("gpu_library_loaded")
    if told:
        return Diagnosis(weight=86, hits=failing, evidence=case.env_at("LD_LIBRARY_PATH"))
    if loaded:
        return Diagnosis(
            weight=52,
            hits=failing,
            look_at=("echo $LD_LIBRARY_PATH in the failing shell: is the directory still in it?",),
        )
    return None


def ld_library_path_shadows_torch_libs(case: Case) -> Diagnosis | None:
    """LD_LIBRARY_PATH or a system CUDA supplies an older library than the one in the wheel."""
    symbols = tuple(
        hit for hit in case.hits("cuda_library_symbol") if not case.hits("driver_function_missing")
    )
    symbols += tuple(
        hit
        for hit in case.hits("jax_library_older", "jax_library_outdated")
        if hit.group(1).lower() != "cudnn"
    )
    cudnn = case.hits("cudnn_incompatible", "cudnn_sublibraries")
    value = case.env("LD_LIBRARY_PATH") or ""
    on_path = _has_cuda(value) or _echoed_path(case)
    conda = in_conda_lib(case) or case.says(
        "conda install", "conda list", "linux-64", "/conda-meta/"
    )
    if symbols or cudnn:
        hits = (*symbols, *cudnn)
        weight = 90 if on_path else 66 if symbols and not conda else 58
        return Diagnosis(weight=weight, hits=hits, evidence=case.env_at("LD_LIBRARY_PATH"))
    if on_path and (hits := case.hits("cublas_invalid_value", "cudnn_sublibrary_loading")):
        return Diagnosis(weight=70, hits=hits, evidence=case.env_at("LD_LIBRARY_PATH"))
    return _mapped_from_elsewhere(case)


def in_conda_lib(case: Case) -> bool:
    """Whether a CUDA library of a conda environment's own lib directory is named."""
    return _CONDA_LIB.search(case.lines.text) is not None


def _has_cuda(value: str) -> bool:
    lower = value.lower()
    return any(word in lower for word in ("cuda", "cudnn", "nccl", "/hpc_sdk"))


def _echoed_path(case: Case) -> bool:
    """Whether the text shows an LD_LIBRARY_PATH with CUDA directories."""
    lower = case.lines.lower
    place = lower.find("ld_library_path")
    return place >= 0 and _has_cuda(lower[place + 15 : place + 400].replace("cuda_visible", ""))


def _mapped_from_elsewhere(case: Case) -> Diagnosis | None:
    """Torch's process mapped a CUDA library that is not the wheel's own."""
    own = [item for item in case.facts.libraries if item.seen_by == "mapped" and item.path]
    wheels = [item for item in own if item.origin in ("wheel", "conda")]
    for index, item in enumerate(case.facts.libraries):
        foreign = item.seen_by == "mapped" and item.origin in ("toolkit", "system", "user")
        if foreign and wheels and component(item.soname):
            failed = any(
                stage.status in ("failed", "crashed")
                for stage in case.observations.stages
                if stage.name in ("import", "device", "matmul")
            )
            return Diagnosis(
                weight=76 if failed else 50,
                evidence=case.at(f"/facts/libraries/{index}", item.path),
                severity=None if failed else "note",
            )
    return None


RULES: tuple[Rule, ...] = (
    Rule(
        code="bundled-cuda-libs-not-on-path",
        severity="blocking",
        who="renter",
        source="layout of the nvidia-* wheels; tensorflow issue 63362; faster-whisper README",
        find=bundled_cuda_libs_not_on_path,
        explains=("cuda-runtime-libs-missing-in-container", "lib-built-for-other-cuda-major"),
    ),
    Rule(
        code="lib-built-for-other-cuda-major",
        severity="blocking",
        who="renter",
        source="sonames of toolkits 10.2 to 13.0; onnxruntime CUDA execution provider page",
        find=lib_built_for_other_cuda_major,
        explains=("ld-library-path-clobbered",),
    ),
    Rule(
        code="cuda-runtime-libs-missing-in-container",
        severity="blocking",
        who="either",
        source="NVIDIA images: base, runtime, devel; the container toolkit mounts the driver only",
        find=cuda_runtime_libs_missing_in_container,
    ),
    Rule(
        code="ld-library-path-clobbered",
        severity="blocking",
        who="renter",
        source="ld.so(8); environment modules",
        find=ld_library_path_clobbered,
        explains=("cuda-runtime-libs-missing-in-container",),
    ),
    Rule(
        code="ld-library-path-shadows-torch-libs",
        severity="blocking",
        who="renter",
        source="pytorch issues 111469, 134929, 140797; ld.so(8), search order",
        find=ld_library_path_shadows_torch_libs,
    ),
)
