"""Texts for how torch and extensions were built."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "gpu-newer-than-build": Text(
        title="This torch is older than the GPU: it holds no code for it",
        cause="torch⟦ {torch}⟧ was compiled before this GPU generation⟦ ({gpu}, capability"
        " {architecture})⟧ and has"
        " no kernels for it. Driver and GPU are not at fault.",
        fix=(
            "Install a build that covers the GPU: {wheel}",
            "Reinstall extensions (flash-attn, xformers and the like) for that torch afterwards.",
        ),
    ),
    "gpu-older-than-build": Text(
        title="This torch no longer holds code for this GPU",
        cause="torch⟦ {torch}⟧ was compiled without code for {gpu}⟦ (capability"
        " {architecture})⟧, so"
        " its kernels cannot start. Neither driver nor GPU is broken.",
        fix=("Install a build that still covers the GPU: {wheel}",),
    ),
    "build-for-other-gpu-family": Text(
        title="A wheel for servers on an embedded GPU",
        cause="The GPU is an embedded one (Jetson) whose capability has a compile target of its"
        " own. torch⟦ {torch}⟧ comes from the index for servers and holds no code for it.",
        fix=(
            "Find the JetPack release: cat /etc/nv_tegra_release",
            "Install NVIDIA's torch wheel for that JetPack"
            " (https://pypi.jetson-ai-lab.io or developer.download.nvidia.com/compute/redist/jp).",
            "Or start from a container of NVIDIA for that JetPack (l4t-pytorch, nvcr.io igpu).",
        ),
    ),
    "extension-arch-list-missing-gpu": Text(
        title="An extension holds no code for this GPU, torch itself does",
        cause="The extension⟦ ({package})⟧ was compiled for other GPU architectures⟦ than"
        " {architecture}⟧"
        " (TORCH_CUDA_ARCH_LIST at its build). torch's own kernels are not concerned.",
        fix=(
            "Look for a newer release or another wheel of it that names this GPU.",
            'Else rebuild it here: TORCH_CUDA_ARCH_LIST="<capability>" python -m pip install'
            " --no-build-isolation --no-binary :all: --force-reinstall --no-deps <package>",
        ),
    ),
    "cpu-only-build": Text(
        title="What is installed was built without GPU support",
        cause="torch⟦ {torch}⟧ (or the framework named in the evidence) is a CPU build. A driver or"
        " a CUDA toolkit on the machine does not change that: GPU support is part of the wheel.",
        fix=(
            "⟦Check that this is the environment you meant: {python_path}⟧",
            "Replace it by a GPU build: {wheel}",
            "If it comes back, find what pulls it in (conda's `cpuonly`, a pinned `+cpu` version,"
            " an index for CPU wheels in pip's configuration) and remove that.",
        ),
    ),
    "cuda-wheel-on-amd": Text(
        title="A CUDA build of torch on a machine with AMD GPUs",
        cause="torch⟦ {torch}⟧ can only use NVIDIA GPUs; this machine has AMD's. Installing an"
        " NVIDIA driver would not help.",
        fix=(
            "Install the ROCm build: {wheel}",
            "Pin it (requirements, image), so that the next install does not take PyPI's default,"
            " which is the CUDA build.",
        ),
    ),
    "rocm-wheel-on-nvidia": Text(
        title="A ROCm build of torch on a machine with NVIDIA GPUs",
        cause="torch⟦ {torch}⟧ can only use AMD GPUs; this machine has NVIDIA's.",
        fix=("Install the CUDA build: {wheel}",),
    ),
    "gpu-too-old-for-kernel": Text(
        title="This kernel needs a newer GPU generation",
        cause="⟦The library asks for {wanted}; the GPU has {architecture}. ⟧The"
        " environment is sound, the GPU cannot run this kernel.",
        fix=(
            'Choose another implementation: attn_implementation="sdpa", float16 instead of'
            " bfloat16, the library's fallback for older GPUs.",
            "Or use a GPU of a newer generation.",
        ),
    ),
    "runtime-compiler-too-old-for-gpu": Text(
        title="The compiler used at run time does not know this GPU",
        cause="Precompiled kernels may run, but the compiler⟦ ({tool})⟧ is older than the GPU's"
        " architecture"
        "⟦ ({architecture})⟧ and refuses to compile for it.",
        fix=(
            "For Triton: upgrade torch (it brings its triton), or point TRITON_PTXAS_PATH to the"
            " ptxas of a newer toolkit.",
            "For NVRTC (cupy, torch's jiterator): install the package for a newer CUDA: {wheel}",
        ),
    ),
}
