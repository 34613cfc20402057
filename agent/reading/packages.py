"""Installed packages as pip, conda, uv, apt and people print them.

``torch==2.4.0``, ``torch 2.4.0``, ``torch: 2.4.0``, ``torch @ file:…``, ``[pip3] torch==2.4.0``,
pip's and conda's tables, ``Name:``/``Version:`` of pip show, wheel file names, and what pip says
it installed or removed. Every statement is kept in order: a package named with two versions is a
before and an after.
"""

from __future__ import annotations

import re

from agent.reading.draft import MENTION, MESSAGE, TOOL, Draft
from agent.reading.page import Page
from agent.reading.versions import build_of_conda, torch_version

# Names that matter to a GPU; a bare "name version" line counts only for these.
_NAMES = """
torch torchvision torchaudio torchtext torchdata torchao torch-xla torch-tensorrt pytorch
pytorch-triton pytorch-triton-rocm pytorch-cuda pytorch-mutex pytorch-lightning lightning triton
triton-windows triton-rocm triton-xpu cpuonly cudatoolkit cuda-toolkit cudnn nccl libcublas
libcusparse libcusolver libcufft libcurand libnvjitlink cuda-version cuda-runtime cuda-nvcc
cuda-cudart cuda-nvrtc cuda-python cuda-bindings cuda-compat magma mkl intel-openmp llvm-openmp
numpy scipy numba numba-cuda cupy cupy-cuda11x cupy-cuda12x cupy-cuda13x cudf jax jaxlib
jax-cuda12-plugin jax-cuda13-plugin jax-cuda12-pjrt jax-rocm60-plugin flax tensorflow
tensorflow-gpu tensorflow-cpu tensorflow-rocm tf-nightly tensorrt tensorrt-llm tensorrt-cu12
keras paddlepaddle paddlepaddle-gpu mxnet mxnet-cu112 onnxruntime onnxruntime-gpu
onnxruntime-rocm onnxruntime-directml onnx ctranslate2 faiss-gpu faiss-cpu flash-attn
flash-attn-3 flash-attention flashinfer flashinfer-python flashinfer-cubin xformers
sageattention spargeattn mamba-ssm causal-conv1d apex transformer-engine deepspeed megatron-core
bitsandbytes auto-gptq autoawq autoawq-kernels gptqmodel exllamav2 exllama exllamav3 awq
llama-cpp-python vllm vllm-flash-attn sglang sgl-kernel lmdeploy tgi ray transformers accelerate
diffusers peft trl unsloth unsloth-zoo kernels optimum sentence-transformers detectron2 mmcv
mmcv-full mmdet mmengine mmsegmentation pytorch3d torch-geometric torch-scatter torch-sparse
torch-cluster torch-spline-conv pyg-lib dgl spconv spconv-cu118 spconv-cu120 kaolin nvdiffrast
tiny-cuda-nn gsplat diff-gaussian-rasterization fairseq k2 pycuda pynvml nvidia-ml-py
nvidia-ml-py3 amdsmi rocm rocm-sdk aiter hip-python openai-whisper faster-whisper whisperx
ultralytics gradio comfyui fastai horovod rmm cugraph cuml nvmath-python natten torchmetrics
setuptools ninja cmake pip wheel packaging typing-extensions xgrammar
"""
PACKAGE_NAMES = frozenset(_NAMES.split())
_FROM_CUDA = re.compile(
    r"nvidia-(?!smi|driver|persistenced|modprobe|settings|uvm|drm|modeset|peermem|fabric)[a-z0-9-]+$"
)

_PINNED = re.compile(
    r"(?:^|[\s\[(`'\"])(?:\[?pip\d?\]?\s+|\[conda\]\s+)?([A-Za-z][\w.-]{0,60})(?:\[[\w,-]+\])?=="
    r"(\d[\w.+!-]*)"
)
_TABLE = re.compile(
    r"^[ |]*([A-Za-z][\w.-]{0,60}) {1,}[| ]*v?(\d+(?:\.\w+)+[\w.+!-]*)"
    r"(?: +[| ]*(\S+))?(?: +(\S+))?[^\n]*$",
    re.M,
)
_BARE = re.compile(
    r"(?:^|[\s,(`'\"])(torch|pytorch|triton|vllm|transformers|deepspeed|xformers|flash[-_]attn|"
    r"torchvision|torchaudio|tensorflow|jax|jaxlib|bitsandbytes|numpy|sglang|onnxruntime-gpu|"
    r"tensorrt-llm|cupy|detectron2|mmcv(?:-full)?)[- ](?:version:? ?)?v?(\d{1,2}\.\d[\w.+]*)",
    re.I,
)
_DONE = re.compile(r"Successfully (un)?installed[ :]+([^\n]+)")
_WHEEL = re.compile(
    r"([A-Za-z][\w.]*)-(\d[\w.+!]*)-(?:\d\w*-)?(?:cp\d+|py\d)[\w.]*-[\w.]+-[\w.]+\.whl"
)
_SHOWN = re.compile(r"^Name: ([\w.-]+)\nVersion: (\S+)", re.M)
_CONDA_HEAD = re.compile(r"^# Name\s+Version|^# packages in environment|^\[conda\]", re.M)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft with every package that the text states."""
    text = page.text
    conda = _CONDA_HEAD.search(text) is not None or "conda list" in text
    for match in _SHOWN.finditer(text):
        add_package(draft, match[1], match[2], page.number_at(match.start()), "pip", TOOL)
    if "==" in text:
        for match in _PINNED.finditer(text):
            origin = "conda" if "[conda]" in match[0] else "pip"
            if is_known(match[1]) and not _required(text, match.start()):
                add_package(draft, match[1], match[2], page.number_at(match.start(1)), origin, TOOL)
    for match in _TABLE.finditer(text):
        _add_row(draft, match, page.number_at(match.start()), conda)
    if "[conda]" in text:
        for match in re.finditer(r"^\[conda\] (\S+)\s+(\d\S*)\s+(\S+)", text, re.M):
            line = page.number_at(match.start())
            add_package(draft, match[1], match[2], line, "conda", TOOL, match[3])
    for match in _DONE.finditer(text):
        if match[1] is None:
            for name, version in re.findall(r"([A-Za-z][\w.-]*?)-(\d[\w.+!]*)(?:\s|$)", match[2]):
                if is_known(name):
                    line = page.number_at(match.start())
                    add_package(draft, name, version, line, "pip", MESSAGE)
    for match in _WHEEL.finditer(text):
        if is_known(match[1]):
            line = page.number_at(match.start())
            add_package(draft, match[1], match[2], line, "wheel", MENTION)
    for match in _BARE.finditer(text):
        if not _required(text, match.start()):
            line = page.number_at(match.start(1))
            add_package(draft, match[1], match[2], line, "text", MENTION)


def is_known(name: str) -> bool:
    """Tell whether this is a distribution that matters to a GPU."""
    normal = name.lower().replace("_", "-").replace(".", "-")
    return normal in PACKAGE_NAMES or _FROM_CUDA.match(normal) is not None


def _required(text: str, offset: int) -> bool:
    """Tell whether this is a demand ("requires torch==2.4", "pip install torch==2.4")."""
    start = text.rfind("\n", 0, offset) + 1
    before = text[max(start, offset - 120) : offset]
    return (
        re.search(
            r"requires?\b|require[sd]|pip3? install|conda install|uv add|built (?:for|against)|"
            r"compiled (?:with|against|for|w\.)|Requirement already|depends on|->|ninstall|"
            r"existing installation|you need|Collecting|incompatible with|build_for|built_for",
            before,
        )
        is not None
    )


def _add_row(draft: Draft, match: re.Match[str], line: int, conda: bool) -> None:
    name, version, third, fourth = match[1], match[2], match[3], match[4]
    listed = third is not None and fourth is not None and re.search(r"_\d+$|pypi|^py\d", third)
    if not is_known(name) and not (listed and conda):
        return
    if third is not None and not conda and re.match(r"[a-z]+$", third) and not listed:
        return  # a sentence: "torch 2.4 is …"
    origin = "pip" if third == "pypi_0" or not (conda and third) else "conda"
    add_package(draft, name, version, line, origin, TOOL, third)


def add_package(
    draft: Draft,
    name: str,
    version: str,
    line: int,
    origin: str,
    weight: int,
    build: str | None = None,
) -> None:
    """Keep a package, and what it says of torch where it is torch."""
    version = version.rstrip(".,;)")
    normal = name.lower().replace("_", "-")
    draft.add_package(normal, version, origin)
    if normal == "pytorch":
        draft.add_package("torch", version, origin)
    if normal in ("torch", "pytorch"):
        draft.put("torch.version", torch_version(version), line, weight)
        if build and build_of_conda(build):
            draft.put("torch.build", build_of_conda(build), line, weight)
    elif normal == "pytorch-mutex" and build in ("cpu", "cuda"):
        if build == "cpu":
            draft.put("torch.build", "cpu", line, weight)
    elif normal in ("nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"):
        draft.put("torch.cudnn_version", version, line, MENTION)
    elif normal == "rocm":
        draft.put("amd.rocm_version", version, line, weight)
