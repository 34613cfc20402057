"""Which extension packages are examined, how each is found, and what shows that it computes.

Data only: the agent reads it to make the tasks, the probe reads it in the target. An operation
that has never run on a back end is not in ``proven``; what it fails with there is told, but blamed
only where the error itself names the environment (a missing symbol, no kernel for the device).
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple


class Extension(NamedTuple):
    """One line of the stage ``extensions``.

    ``name`` is the subject after ``ext:``. ``distributions`` are normalised names of what
    installs it, none for what is looked for without a package; the first of ``modules`` that
    exists is imported. ``operation`` is ``module:function`` below probes/. ``needs_gpu``: the
    operation has no way to run on a CPU. ``on_torch``: torch is imported before the package, as
    every program does that uses it; the others get a process without torch, because torch would
    bring libraries that they lack by themselves. ``own``: written against torch's or a toolkit's
    documented interface, so that its failures are always real. ``seconds`` is what it takes on
    two ordinary cores.
    """

    name: str
    distributions: Tuple[str, ...] = ()
    modules: Tuple[str, ...] = ()
    operation: Optional[str] = None
    proven: Tuple[str, ...] = ()
    needs_gpu: bool = False
    on_torch: bool = True
    own: bool = False
    depth: str = "standard"
    seconds: float = 3.0
    deadline_seconds: Optional[float] = None


OWN = (
    Extension("toolchain", (), (), "toolchain:run", ("cpu",), False, False, True, "standard", 1.0),
    Extension("nvrtc", (), (), "nvrtc:run", ("cpu",), False, False, True, "standard", 0.5),
    Extension("triton", (), (), "triton_compile:run", ("cpu",), False, True, True, "standard", 2.0),
    Extension(
        "torch-attention", (), (), "torch_attention:run", ("cpu",), False, True, True, seconds=0.5
    ),
    Extension(
        "torch-conv-fft-solve",
        (),
        (),
        "torch_own:run",
        ("cpu",),
        False,
        True,
        True,
        seconds=0.5,
    ),
    Extension(
        "torch-compile",
        (),
        (),
        "torch_own:compiled",
        ("cpu",),
        own=True,
        depth="deep",
        seconds=30.0,
        deadline_seconds=240.0,
    ),
    Extension(
        "cpp-extension",
        (),
        (),
        "cpp_extension:run",
        ("cpu",),
        own=True,
        depth="deep",
        seconds=20.0,
        deadline_seconds=240.0,
    ),
)

PACKAGES = (
    Extension(
        "torchvision", ("torchvision",), ("torchvision",), "cpu_operations:torchvision", ("cpu",)
    ),
    Extension("torchaudio", ("torchaudio",), ("torchaudio",), "cpu_operations:torchaudio"),
    Extension(
        "torchao", ("torchao",), ("torchao",), "cpu_operations:torchao", ("cpu",), seconds=5.0
    ),
    Extension(
        "bitsandbytes",
        ("bitsandbytes",),
        ("bitsandbytes",),
        "cpu_operations:bitsandbytes",
        ("cpu",),
        seconds=5.0,
    ),
    Extension(
        "onnxruntime",
        ("onnxruntime", "onnxruntime-gpu", "onnxruntime-rocm", "onnxruntime-training"),
        ("onnxruntime",),
        "cpu_operations:onnxruntime",
        ("cpu",),
        on_torch=False,
        seconds=1.0,
    ),
    Extension("numba", ("numba",), ("numba",), "cpu_operations:numba", ("cpu",), on_torch=False),
    Extension("jax", ("jax",), ("jax",), "cpu_operations:jax", ("cpu",), on_torch=False),
    Extension(
        "flash-attn", ("flash-attn",), ("flash_attn",), "gpu_operations:flash_attn", needs_gpu=True
    ),
    Extension(
        "flash-attn-3",
        ("flash-attn-3", "flashattn-hopper"),
        ("flash_attn_interface",),
        "gpu_operations:flash_attn_3",
        needs_gpu=True,
    ),
    Extension("xformers", ("xformers",), ("xformers",), "gpu_operations:xformers", needs_gpu=True),
    Extension("apex", ("apex",), ("apex",), "gpu_operations:apex", needs_gpu=True),
    Extension(
        "mamba-ssm",
        ("mamba-ssm",),
        ("mamba_ssm",),
        "gpu_operations:mamba_ssm",
        needs_gpu=True,
        seconds=6.0,
    ),
    Extension(
        "causal-conv1d",
        ("causal-conv1d",),
        ("causal_conv1d",),
        "gpu_operations:causal_conv1d",
        needs_gpu=True,
    ),
    Extension("vllm", ("vllm",), ("vllm",), "gpu_operations:vllm", needs_gpu=True, seconds=20.0),
    Extension(
        "flashinfer",
        ("flashinfer", "flashinfer-python"),
        ("flashinfer",),
        "gpu_operations:flashinfer",
        needs_gpu=True,
        seconds=10.0,
    ),
    Extension(
        "transformer-engine",
        ("transformer-engine", "transformer-engine-torch"),
        ("transformer_engine.pytorch",),
        "gpu_operations:transformer_engine",
        needs_gpu=True,
        seconds=10.0,
    ),
    Extension(
        "deepspeed",
        ("deepspeed",),
        ("deepspeed",),
        "gpu_operations:deepspeed",
        needs_gpu=True,
        seconds=10.0,
    ),
    Extension(
        "cupy",
        ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-4-3", "cupy-rocm-5-0"),
        ("cupy",),
        "gpu_operations:cupy",
        needs_gpu=True,
        on_torch=False,
    ),
    Extension(
        "tensorflow",
        ("tensorflow", "tensorflow-cpu", "tensorflow-rocm"),
        ("tensorflow",),
        "gpu_operations:tensorflow",
        on_torch=False,
        seconds=10.0,
    ),
)

EXTENSIONS = OWN + PACKAGES


def row(name: str) -> Extension | None:
    """The line of that name, or None."""
    for extension in EXTENSIONS:
        if extension.name == name:
            return extension
    return None
