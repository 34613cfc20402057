"""Causes in kernels beside torch's own: extensions, kernel libraries, compilers at run time."""

from __future__ import annotations

import re

from agent.rules.architectures import (
    CAPABILITY_WARNINGS,
    NO_KERNEL,
    capabilities_of,
    covered,
    gap_of,
    in_torch,
    range_of_toolkit,
    within_toolkit,
)
from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.versions import dotted, version

# Packages with kernels of their own, as their names appear in paths and lists.
EXTENSIONS = [
    "flash_attn",
    "flash-attn",
    "flash-attention",
    "xformers",
    "bitsandbytes",
    "detectron2",
    "mmcv",
    "mmdet",
    "apex",
    "torch_scatter",
    "torch-scatter",
    "torch_sparse",
    "torch_cluster",
    "pyg_lib",
    "torch_spline",
    "causal_conv1d",
    "causal-conv1d",
    "mamba_ssm",
    "mamba-ssm",
    "selective_scan",
    "vllm",
    "deepspeed",
    "exllama",
    "awq",
    "auto_gptq",
    "gptq",
    "pytorch3d",
    "nvdiffrast",
    "tinycudann",
    "tiny-cuda-nn",
    "diff_gaussian",
    "diff-gaussian",
    "simple_knn",
    "simple-knn",
    "gsplat",
    "spconv",
    "dgl",
    "sageattention",
    "natten",
    "rotary_emb",
    "kaolin",
    "lightning_attn",
    "ctranslate2",
    "llama_cpp",
    "llama-cpp",
    "llama.cpp",
    "ggml",
    "cupy",
    "torchsparse",
    "minkowskiengine",
    "fused_dense",
    "transformer_engine",
    "flashinfer",
    "onnxruntime",
    "pointnet2",
    "deform_conv",
    "ops.cu",
    "csrc/",
    "stable-fast",
    "torch_cuda_arch_list",
    "ext_module",
    "_ext.cpython",
    "_ext-src",
    "pointops",
    "splatfacto",
    "nerfacc",
    "custom_rasterizer",
    "lmdeploy",
    "turbomind",
]


def extension_arch_list_missing_gpu(case: Case) -> Diagnosis | None:
    """Torch covers the GPU, but a separately built extension has no code for it."""
    own = case.hits("extension_not_for_arch")
    hits = case.hits(*NO_KERNEL, "extension_not_for_arch")
    failed = _failed_extensions(case)
    if (not hits and not failed) or case.hits(*CAPABILITY_WARNINGS):
        return None
    gap = gap_of(case)
    if gap is not None and not (gap.guessed and case.says(*EXTENSIONS)):
        return None
    if case.built_for in ("rocm", "cpu") or case.says("hip error", "hiperror"):
        return None
    if case.hits("xformers_not_built"):
        return None  # its whole library is not loaded
    named = [name for name in EXTENSIONS if case.says(name)]
    if in_torch(case) and not named:
        return None
    fits = covered(case) or bool(case.works)
    likely = within_toolkit(case) or case.says("_cuda: no kernel", "built with", "from source")
    weight = (
        84
        if own or failed
        else 78
        if fits and named
        else 68
        if named or fits
        else 56
        if likely
        else 20
    )
    return Diagnosis(
        weight=weight,
        hits=hits,
        evidence=(*torch_at(case), *failed),
        values={
            **({"package": named[0]} if named else {}),
            "architecture": ", ".join(map(dotted, capabilities_of(case))),
        },
        look_at=()
        if fits
        else (
            "torch.cuda.get_arch_list() and torch.cuda.get_device_capability(): does torch itself"
            " hold code for the GPU, or only the failing extension not?",
        ),
    )


def _failed_extensions(case: Case) -> tuple[str, ...]:
    """Pointers of extension stages that ended for want of code for the GPU."""
    words = ("no kernel image", "invalid device function", "named symbol not found")
    return tuple(
        f"/stages/{index}/error"
        for index, stage in case.stages("extensions")
        if stage.subject.startswith("ext:")
        and stage.status in ("failed", "crashed")
        and stage.error is not None
        and any(word in stage.error.text for word in words)
    )


def gpu_too_old_for_kernel(case: Case) -> Diagnosis | None:
    """A kernel library states a minimum capability that the GPU does not have."""
    hits = case.hits("gpu_too_old_for_kernel")
    if not hits:
        return None
    capabilities = capabilities_of(case)
    wanted = [version(number) for hit in hits for number in _numbers(hit.text)]
    if capabilities and wanted and all(min(capabilities) >= number for number in wanted):
        return None  # the GPU has what is asked for
    if capabilities and not wanted and min(capabilities) >= (8, 0) and "mpere" in hits[0].text:
        return None
    return Diagnosis(
        weight=86 if capabilities else 80,
        hits=hits,
        values={
            "wanted": dotted(wanted[0]) if wanted else "a newer generation",
            "architecture": ", ".join(map(dotted, capabilities)) or "an older capability",
        },
    )


def _numbers(text: str) -> list[str]:
    found = re.search(r"[Mm]inimum capability: ?(\d+)(\d)", text)
    if found:
        return [f"{found.group(1)}.{found.group(2)}"]
    return [
        f"{major}.{minor}" for major, minor in re.findall(r"(?<![\d.])(\d{1,2})[.,] ?(\d)\b", text)
    ]


def runtime_compiler_too_old_for_gpu(case: Case) -> Diagnosis | None:
    """NVRTC or ptxas, run at run time, does not know the GPU."""
    hits = case.hits("ptxas_lacks_arch", "nvrtc_lacks_arch", "llvm_lacks_arch")
    if not hits or case.hits("nvcc_lacks_arch"):
        return None
    asked = next((hit.group(1) for hit in hits if hit.group(1).startswith("sm_")), "")
    digits = asked[3:].rstrip("af")
    capability = (
        (int(digits[:-1]), int(digits[-1]))
        if digits.isdigit()
        else next(iter(capabilities_of(case)), ())
    )
    span = range_of_toolkit(case.torch_cuda)
    if capability and (
        (span and capability < span[0]) or (case.torch_cuda >= (13,) and capability < (7, 5))
    ):
        return None  # the compiler is too new, not too old
    if capability and capability <= (3, 5):
        return None
    return Diagnosis(
        weight=86 if capability else 76,
        hits=hits,
        evidence=torch_at(case),
        values={
            "architecture": dotted(capability) if capability else "the GPU's capability",
            "tool": {
                "ptxas_lacks_arch": "ptxas",
                "nvrtc_lacks_arch": "NVRTC",
                "llvm_lacks_arch": "Triton's LLVM",
            }[hits[0].signature],
        },
    )


RULES: tuple[Rule, ...] = (
    Rule(
        code="extension-arch-list-missing-gpu",
        severity="blocking",
        who="renter",
        source="torch.utils.cpp_extension, TORCH_CUDA_ARCH_LIST; bitsandbytes issue 1930",
        find=extension_arch_list_missing_gpu,
    ),
    Rule(
        code="gpu-too-old-for-kernel",
        severity="blocking",
        who="renter",
        source="flash-attn, vllm and torch._inductor texts; PTX ISA, target requirements",
        find=gpu_too_old_for_kernel,
    ),
    Rule(
        code="runtime-compiler-too-old-for-gpu",
        severity="blocking",
        who="renter",
        source="ptxas and NVRTC of the nvidia wheels; cupy issues 2087, 9475",
        find=runtime_compiler_too_old_for_gpu,
    ),
)
