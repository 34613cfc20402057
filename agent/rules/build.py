"""Causes in how torch was built: for which GPU, which vendor, or for none."""

from __future__ import annotations

from agent.rules.architectures import (
    CAPABILITY_WARNINGS,
    NO_KERNEL,
    capabilities_of,
    covered,
    gap_of,
    in_torch,
    is_embedded,
    within_toolkit,
)
from agent.rules.case import Case
from agent.rules.kernels import EXTENSIONS
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.told import told
from agent.rules.versions import dotted
from agent.rules.wheels import recommend


def gpu_newer_than_build(case: Case) -> Diagnosis | None:
    """The GPU is newer than everything in the build's list."""
    fft = case.hits("cufft_internal_error")
    ada = max(capabilities_of(case), default=()) >= (8, 9)
    if fft and ada and () < case.torch_cuda < (11, 8):
        # Its own kernels run the code for 8.6; cuFFT before CUDA 11.8 does not know the GPU.
        return Diagnosis(weight=70, hits=fft, evidence=torch_at(case), values=wheel_values(case))
    return _architecture_gap(case, newer=True)


def gpu_older_than_build(case: Case) -> Diagnosis | None:
    """The build's list starts above the GPU, or has a hole where the GPU is."""
    return _architecture_gap(case, newer=False)


def _architecture_gap(case: Case, *, newer: bool) -> Diagnosis | None:
    hits = case.hits(*CAPABILITY_WARNINGS, *NO_KERNEL)
    if not newer:
        hits += case.hits("nvrtc_lacks_arch", "ptxas_lacks_arch")
    gap = gap_of(case)
    if gap is None or gap.newer != newer or case.built_for in ("rocm", "cpu"):
        return _named_only(case, newer)
    named = any(hit.signature in CAPABILITY_WARNINGS for hit in hits)
    if gap.guessed and not named and case.says(*EXTENSIONS, *_OTHERS):
        return None
    weight = 92 if named else 74 if gap.guessed else 82 if hits else 70
    if not hits and case.works and case.stage("matmul") is not None:
        return None  # it computes: the list was not the whole truth
    if not hits and case.observations.from_text:
        weight = 45
    return Diagnosis(
        weight=weight,
        hits=hits,
        evidence=torch_at(case),
        values={"architecture": dotted(gap.capability), **wheel_values(case)},
    )


def _named_only(case: Case, newer: bool) -> Diagnosis | None:
    """Torch's own warning where neither its list nor its version is known."""
    hits = case.hits("capability_not_compatible", "torch_lacks_kernels")
    if not hits:
        return _by_generation(case, newer)
    if gap_of(case) is not None or covered(case) or case.built_for == "rocm":
        return None
    capability = next(iter(capabilities_of(case)), ())
    is_new = bool(capability) and capability >= (8, 0)
    if is_new != newer:
        return None
    return Diagnosis(weight=70, hits=hits, values={"architecture": dotted(capability)})


# Beside the names of extensions: what shows that torch's own kernels are not the ones that fail.
_OTHERS = ("torch.ops.", "_cuda/", "_cuda.", "_ext.", "device='cuda")


def _by_generation(case: Case, newer: bool) -> Diagnosis | None:
    """A launch failed for want of code, on a very new or old GPU, and torch's list is not known."""
    hits = case.hits(*NO_KERNEL)
    found = capabilities_of(case)
    known = covered(case) and not in_torch(case)
    if not hits or not found or known or is_embedded(case) or case.says(*EXTENSIONS, *_OTHERS):
        return None
    if gap_of(case) is not None or case.built_for in ("rocm", "cpu"):
        return None
    if newer and (found[0] < (8, 0) or (found[0] < (10, 0) and within_toolkit(case))):
        return None
    if not newer and found[0] >= (7, 0):
        return None
    return Diagnosis(
        weight=60 if found[0] >= (10, 0) or not newer else 50,
        hits=hits,
        evidence=torch_at(case),
        values={"architecture": dotted(found[0]), **wheel_values(case)},
        look_at=("torch.cuda.get_arch_list(): does it hold the GPU's capability?",),
    )


def build_for_other_gpu_family(case: Case) -> Diagnosis | None:
    """A server wheel on an embedded GPU: the list lacks that GPU's own target."""
    hits = case.hits(*CAPABILITY_WARNINGS, *NO_KERNEL)
    if not is_embedded(case) or covered(case) or "nv" in _local(case):
        return None
    gap = gap_of(case)
    unusable = case.works is False and case.built_for == "cuda"
    if not hits and (gap is None or (case.observations.from_text and not unusable)):
        return None
    return Diagnosis(
        weight=88 if gap and hits else 78 if hits else 70,
        hits=hits,
        evidence=torch_at(case),
    )


def _local(case: Case) -> str:
    """What stands behind the version's number: "a0+872d972e41.nv24.08"."""
    text = case.torch.version if case.torch and case.torch.version else ""
    return text.lstrip("0123456789.")


def cpu_only_build(case: Case) -> Diagnosis | None:
    """What is installed was built without GPU support although a GPU is there or wanted."""
    said = case.hits("not_compiled_with_cuda", "framework_without_gpu")
    if case.works is False and case.built_for is None:
        said += case.hits("torch_cuda_none")
    listed = case.hits("cpuonly_package")
    cpu = case.built_for == "cpu" or (bool(listed) and case.built_for is None)
    if case.built_for in ("cuda", "rocm") and not case.hits("framework_without_gpu"):
        return None
    if case.says("macos", "darwin") or case.observations.backend_asked == "cpu":
        return None
    if not cpu and not said:
        return _plain_on_windows(case)
    wanted = case.has_nvidia or case.has_amd or bool(case.driver_text) or _toolkit_there(case)
    none_here = case.says("could not collect", "no cuda", "no gpu")
    vague = bool(said) and not cpu and all("GPU/TPU" in hit.text for hit in said)
    if vague and (told(case, "slept") or case.hits("cuda_unknown_error", "insufficient_driver")):
        return None  # JAX prints the same where its CUDA did not start
    if not said and not wanted and (case.works is not False or none_here):
        return None
    return Diagnosis(
        weight=60 if vague else 90 if cpu and (said or case.works is False) else 84 if said else 80,
        hits=(*said, *listed, *case.hits("cuda_available_false")),
        evidence=torch_at(case),
        values=wheel_values(case),
        severity="note" if vague and not wanted else None,
    )


def _plain_on_windows(case: Case) -> Diagnosis | None:
    """No word about the build, but PyPI's wheels for Windows are all without CUDA."""
    plain = case.torch is not None and bool(case.torch_version) and not _local(case)
    if not plain or case.place != "windows" or case.works is not False or not case.has_nvidia:
        return None
    if case.built_for or case.hits(*NO_KERNEL, "insufficient_driver", "cuda_unknown_error"):
        return None
    return Diagnosis(
        weight=60,
        hits=case.hits("cuda_available_false"),
        evidence=torch_at(case),
        values=wheel_values(case),
        look_at=("torch.version.cuda: None is a build without CUDA",),
    )


def _toolkit_there(case: Case) -> bool:
    """Whether somebody installed or asked for CUDA: the wish for a GPU build."""
    toolkits = case.facts.toolkits
    return bool(toolkits.cuda_toolkits or toolkits.cuda_home) or bool(
        case.says("cudatoolkit", "pytorch-cuda", "system cuda", "cuda toolkit")
    )


def cuda_wheel_on_amd(case: Case) -> Diagnosis | None:
    """A CUDA build on a machine whose only GPUs are AMD's."""
    asks = case.hits("no_nvidia_driver")  # torch for ROCm words it otherwise
    cuda = case.built_for == "cuda" or (case.built_for is None and bool(asks))
    if not cuda or not case.has_amd or case.has_nvidia or case.works:
        return None
    hits = asks + case.hits("no_cuda_gpus", "cuda_available_false")
    return Diagnosis(
        weight=92 if hits else 85,
        hits=hits,
        evidence=torch_at(case),
        values=wheel_values(case, backend="rocm"),
    )


def rocm_wheel_on_nvidia(case: Case) -> Diagnosis | None:
    """A ROCm build on a machine whose only GPUs are NVIDIA's."""
    if case.built_for != "rocm" or not case.has_nvidia or case.has_amd:
        return None
    return Diagnosis(weight=85, evidence=torch_at(case), values=wheel_values(case))


def wheel_values(case: Case, backend: str = "cuda") -> dict[str, str]:
    """The `wheel` command for the texts, from the tables; what would do where none fits."""
    architectures = tuple(dotted(item) for item in capabilities_of(case))
    if backend == "rocm":
        architectures = case.gfx
    found = recommend(
        architectures=architectures,
        driver_cuda=case.driver_cuda if backend == "cuda" else (),
        python=case.python,
        torch=case.torch_version,
        backend=backend,
    )
    if found:
        return {"wheel": found.command}
    if not architectures:
        return {}
    return {
        "wheel": "no published wheel covers this GPU with this driver and Python: build torch from"
        " source, change one of the three, or use another GPU"
    }


RULES: tuple[Rule, ...] = (
    Rule(
        code="gpu-newer-than-build",
        severity="blocking",
        who="renter",
        source="CUDA programming guide, binary compatibility; arch lists read in the wheels",
        find=gpu_newer_than_build,
        explains=("runtime-compiler-too-old-for-gpu", "wrong-results"),
    ),
    Rule(
        code="gpu-older-than-build",
        severity="blocking",
        who="renter",
        source="CUDA programming guide, binary compatibility; arch lists read in the wheels",
        find=gpu_older_than_build,
        explains=("gpu-too-old-for-kernel",),
    ),
    Rule(
        code="build-for-other-gpu-family",
        severity="blocking",
        who="renter",
        source="developer.nvidia.com/cuda-gpus; pytorch issue 145560; holohub pull request 1687",
        find=build_for_other_gpu_family,
        explains=(
            "gpu-newer-than-build",
            "gpu-older-than-build",
            "extension-arch-list-missing-gpu",
        ),
    ),
    Rule(
        code="cpu-only-build",
        severity="blocking",
        who="renter",
        source="torch.version.cuda is None; PyTorch release matrix; jax xla_bridge",
        find=cpu_only_build,
        explains=("ext-wheel-built-for-other-torch", "nvml-torch-count-differs"),
    ),
    Rule(
        code="cuda-wheel-on-amd",
        severity="blocking",
        who="renter",
        source="PyPI's default torch is a CUDA build; ROCm builds come from their own index",
        find=cuda_wheel_on_amd,
        explains=(
            "no-nvidia-driver-here",
            "no-driver-module",
            "no-libcuda",
            "container-started-without-gpu",
        ),
    ),
    Rule(
        code="rocm-wheel-on-nvidia",
        severity="blocking",
        who="renter",
        source="ROCm builds of torch load no libcuda",
        find=rocm_wheel_on_nvidia,
    ),
)
