"""Which installed distributions of an interpreter matter to a GPU, read without importing any."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.collect.machine import Machine, machine_of
from agent.collect.target import Layout, SiteDirectory, read_layout
from agent.model import Gap, Interpreter, Package

PACKAGES_MAX = 2000

# Whole names, normalised. Anything else is private to the user unless --keep packages is given.
NAMES = frozenset(
    """
    accelerate aiter amd-aiter amdsmi apache-tvm apex auto-gptq autoawq awscrt
    bitsandbytes causal-conv1d cccl composable-kernel ctranslate2 cuda cudatoolkit cudnn
    cugraph cuml cupy cusparselt cutensor cutlass datasets deepspeed dgl diffusers
    dm-haiku evo2 exllamav2 fairscale fbgemm-gpu fbgemm-gpu-genai flash-mla flax gguf
    gpustat grouped-gemm gsplat hip hip-python huggingface-hub intel-openmp kaolin keras
    kornia liger-kernel lightning llama-cpp-python lmcache lmdeploy magma mamba-ssm
    megatron-core mkl mlc-llm moviepy natten nccl ninja numba numba-cuda numpy nvfuser
    nvitop nvtx onnx onnxruntime openai-whisper opencv-python optimum peft pip pycuda
    pyg-lib pynccl pynvml pyopencl pyrsmi pytorch pytorch-cuda pytorch-lightning
    pytorch-mutex pytorch-triton pytorch-triton-rocm pytorch3d rmm safetensors scipy
    sentence-transformers setuptools sgl-kernel sglang spconv tbb tensordict tensorrt
    tensorrt-llm tilelang tiny-cuda-nn tinygrad tokenizers transformer-engine transformers
    trl unsloth uv vllm warp-lang wheel xformers xgrammar
    """.split()  # noqa: SIM905
)
PREFIXES = (
    "cuda-",
    "cudf",
    "cupy-",
    "dali-",
    "deep-ep",
    "deep-gemm",
    "flash-attn",
    "flash-linear-attention",
    "flashinfer",
    "hip",
    "intel-extension-for-pytorch",
    "jax",
    "libcu",
    "libmagma",
    "libnccl",
    "libnv",
    "libtorch",
    "llvm-openmp",
    "mkl-",
    "nvidia-",
    "onnxruntime-",
    "rocm",
    "sageattention",
    "spconv-",
    "tensorflow",
    "tensorrt-",
    "torch",
    "transformer-engine",
    "triton",
    "vllm-",
    "xla",
)
_INFO = re.compile(r"(?P<stem>.+?)\.(?P<kind>dist-info|egg-info)$")
_CONDA = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)-(?P<build>[^-]+)\.json$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A distribution as its directory's name states it; ``path`` is that directory or file."""

    name: str  # normalised
    version: str | None
    path: str
    directory: SiteDirectory


def read_packages(
    interpreter: Interpreter,
    keep_all: bool = False,
    environ: Mapping[str, str] = os.environ,
    root: Path = Path("/"),
    workdir: Path | None = None,
    uid: int | None = None,
) -> tuple[tuple[Package, ...], tuple[Gap, ...]]:
    """The distributions on the interpreter's path in the order of the path, copies kept.

    Name and version are those of METADATA (else of the directory's name), ``origin`` is what
    INSTALLER says, or ``conda``. With ``keep_all`` also those that do not matter to a GPU.
    Never raises; what cannot be read is a gap.
    """
    machine = machine_of(root=root, environ=environ, workdir=workdir, uid=uid)
    layout = read_layout(machine, interpreter.path)
    gaps = [
        Gap(pointer="/facts/packages", why=f"{one.path} cannot be listed", said_by="packages")
        for one in layout.directories
        if not machine.may_list(one.path)
    ]
    packages: list[Package] = []
    for found in distributions(machine, layout):
        if keep_all or matters(found.name):
            packages.append(_described(machine, found))
    packages += [
        Package(
            name=name, version=version, origin="conda", location=layout.prefix, scope="environment"
        )
        for name, version in conda_packages(machine, layout.prefix)
        if keep_all or matters(name)
    ]
    for package in packages:
        if package.version == "unknown":
            why = f"{package.name} in {package.location} states no version"
            gaps.append(Gap(pointer="/facts/packages", why=why, said_by="packages"))
    if len(packages) > PACKAGES_MAX:
        why = f"{len(packages) - PACKAGES_MAX} of {len(packages)} packages were left out"
        gaps.append(Gap(pointer="/facts/packages", why=why, said_by="packages"))
    return tuple(packages[:PACKAGES_MAX]), tuple(gaps)


def matters(name: str) -> bool:
    """Whether a distribution of this (normalised) name matters to a GPU."""
    return name in NAMES or name.startswith(PREFIXES)


def normalised(name: str) -> str:
    """A distribution's name in the form of PEP 503: lower case, dashes."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions(machine: Machine, layout: Layout) -> Iterator[Distribution]:
    """Every distribution on the path, by the names of its directories alone."""
    for directory in layout.directories:
        for entry in machine.entries(directory.path):
            match = _INFO.fullmatch(entry)
            if match is None or entry.startswith("~"):  # pip's name for what it is replacing
                continue
            # setuptools appends the Python version: name-1.0-py3.11.egg-info
            stem = re.sub(r"-py\d\.\d+(-.*)?$", "", match["stem"])
            name, _, version = stem.partition("-")
            yield Distribution(
                name=normalised(name),
                version=version or None,
                path=f"{directory.path}/{entry}",
                directory=directory,
            )


def conda_packages(machine: Machine, prefix: str) -> Iterator[tuple[str, str]]:
    """Name and version of what conda installed, from the names of the files in conda-meta."""
    for entry in machine.entries(f"{prefix}/conda-meta"):
        match = _CONDA.fullmatch(entry)
        if match:
            yield normalised(match["name"]), match["version"]


def installer(machine: Machine, found: Distribution) -> str | None:
    """Which program says it installed the distribution: pip, uv, conda, ..."""
    words = (machine.read(f"{found.path}/INSTALLER", 256) or "").split()
    return words[0].lower() if words else None


def _described(machine: Machine, found: Distribution) -> Package:
    headers = _headers(machine, found.path)
    return Package(
        name=normalised(headers.get("name") or found.name),
        version=headers.get("version") or found.version or "unknown",
        origin=installer(machine, found),
        location=found.directory.path,
        scope=found.directory.scope,
    )


def _headers(machine: Machine, path: str) -> dict[str, str]:
    """Name and Version of a METADATA or PKG-INFO, whose body may be a book and is not read."""
    for place in (f"{path}/METADATA", f"{path}/PKG-INFO", path):
        text = machine.read(place, 4096)
        if text:
            break
    else:
        return {}
    headers: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            break
        key, _, value = line.partition(":")
        if key.lower() in ("name", "version") and re.fullmatch(r"[\w.+!\-]{1,128}", value.strip()):
            headers.setdefault(key.lower(), value.strip())
    return headers
