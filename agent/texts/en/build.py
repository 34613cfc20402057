"""Texts for how torch was built."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "gpu-newer-than-build": Text(
        title="This torch is older than the GPU: it holds no code for {gpu}",
        cause="torch {torch} was compiled before this GPU generation ({architecture}) and has no"
        " kernels for it. The driver is not at fault.",
        fix=("Install a build that covers the GPU: {wheel}", "Then run the check again."),
    ),
    "gpu-older-than-build": Text(
        title="This torch no longer holds code for {gpu}",
        cause="torch {torch} was compiled without the GPU's generation ({architecture}), so no"
        " kernel can start. Neither driver nor GPU is broken.",
        fix=("Install a build that still covers the GPU: {wheel}", "Then run the check again."),
    ),
    "cpu-only-build": Text(
        title="The installed torch was built without GPU support",
        cause="torch {torch} is a CPU build. A driver or a CUDA toolkit on the machine does not"
        " change that: GPU support is part of the wheel.",
        fix=(
            "Check that this is the environment you meant: {python_path}",
            "Replace it by a GPU build: {wheel}",
        ),
    ),
    "driver-too-old-for-build": Text(
        title="The NVIDIA driver is too old for this torch",
        cause="torch {torch} needs a driver {wanted} or newer; the driver {driver} understands"
        " CUDA up to {driver_cuda}.",
        fix=(
            "Where the driver cannot be changed, install a build for it: {wheel}",
            "Or move to a host with driver {wanted} or newer.",
        ),
        message="The host's NVIDIA driver {driver} (CUDA {driver_cuda}) is too old for the image."
        " Please move the instance to a host with driver {wanted} or newer.",
    ),
    "cuda-wheel-on-amd": Text(
        title="A CUDA build of torch on a machine with AMD GPUs",
        cause="torch {torch} can only use NVIDIA GPUs; this machine has AMD's.",
        fix=("Install the ROCm build: {wheel}",),
    ),
}
