"""Texts for WSL."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "wsl-linux-driver-shadows-wsl-libcuda": Text(
        title="WSL: a Linux driver inside hides Windows' own",
        cause="In WSL the driver comes from Windows (/usr/lib/wsl/lib); a Linux NVIDIA driver was"
        " installed inside, and its libcuda is found first.",
        fix=(
            "ldconfig -p | grep libcuda",
            "sudo apt remove --purge 'nvidia-driver-*' 'libnvidia-compute-*' cuda-drivers; keep"
            " only"
            " cuda-toolkit-*",
            "In PowerShell: wsl --shutdown",
        ),
    ),
    "wsl-windows-build-bug": Text(
        title="This Windows build breaks the GPU in WSL",
        cause="The virtual GPU comes from Windows; some (preview) builds break it, so that CUDA"
        " finds"
        " its device busy, unavailable or absent.",
        fix=(
            "Update Windows and WSL (wsl --update), then wsl --shutdown",
            "On an Insider build: go back to the one before, or to a release.",
            "Install NVIDIA's current Windows driver.",
        ),
        message="This Windows build breaks the GPU in WSL. Please update or roll back Windows.",
    ),
    "bundled-hsa-runtime-wsl": Text(
        title="WSL: the HSA runtime inside the torch wheel cannot reach the GPU",
        cause="Under WSL ROCm needs its own libhsa-runtime64.so, which talks to /dev/dxg; the wheel"
        " brings the one for /dev/kfd.",
        fix=(
            "rocminfo must list the GPU first (amdgpu-install --usecase=wsl,rocm).",
            "cd $(python -c 'import torch,os;print(os.path.dirname(torch.__file__))')/lib && rm"
            " libhsa-runtime64.so* && cp /opt/rocm/lib/libhsa-runtime64.so.1.* libhsa-runtime64.so",
            "Or install AMD's wheels for WSL from repo.radeon.com.",
        ),
    ),
}
