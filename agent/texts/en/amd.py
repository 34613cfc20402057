"""Texts for AMD GPUs."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "amdsmi-library-not-found": Text(
        title="The amdsmi package cannot find libamd_smi.so",
        cause="The Python binding is installed and ROCm's library is not where it looks. torch"
        " imports"
        " the binding, and its failure ends the import.",
        fix=(
            "pip uninstall amdsmi, if nothing else needs it",
            "Or install ROCm's own: pip install /opt/rocm/share/amd_smi; for wheels of ROCm set"
            " ROCM_PATH=$(rocm-sdk path --root)",
        ),
    ),
    "amdsmi-version-mismatch": Text(
        title="amdsmi and ROCm's library are of different releases",
        cause="The binding asks for functions that this libamd_smi.so does not have (or no"
        " longer).",
        fix=(
            "pip uninstall amdsmi, then pip install /opt/rocm/share/amd_smi (the copy of this"
            " ROCm)",
            "Or a version not newer than ROCm: pip install 'amdsmi<={version}'",
        ),
    ),
    "duplicate-amdsmi-libraries": Text(
        title="Two copies of libamd_smi are loaded",
        cause="torch's ROCm and the amdsmi package bring a library each; calls reach the wrong"
        " one and"
        " torch.cuda.device_count() says 0, while HIP lists the GPU.",
        fix=(
            "pip uninstall amdsmi",
            "Or let both use one copy: PYTHONPATH=$(rocm-sdk path --root)/share/amd_smi",
        ),
    ),
    "pynvml-breaks-rocm-torch": Text(
        title="NVIDIA's pynvml misleads this ROCm build of torch",
        cause="With pynvml installed torch believes that a management library is there, and calls"
        " amdsmi, which is not.",
        fix=(
            "pip uninstall pynvml nvidia-ml-py",
            "Or install amdsmi from /opt/rocm/share/amd_smi.",
        ),
    ),
    "kfd-driver-not-loaded": Text(
        title="AMD's compute driver is not loaded",
        cause="/dev/kfd is absent: the module amdgpu (with kfd) is not loaded for the running"
        " kernel.",
        fix=(
            "lsmod | grep amdgpu; dkms status; sudo modprobe amdgpu; dmesg | grep -iE 'amdgpu|kfd'",
            "Install amdgpu-dkms for this kernel, or boot a kernel that it supports.",
        ),
        fix_at={
            "container": (
                "Start the container with --device /dev/kfd --device /dev/dri.",
                "If the host has no /dev/kfd either, its driver is not loaded.",
            )
        },
        message="/dev/kfd is missing: amdgpu/kfd is not loaded for the running kernel. Please"
        " load it.",
    ),
    "kfd-permission-denied": Text(
        title="This user may not open /dev/kfd or the render node",
        cause="The nodes exist, and their group (render, or video) is not among this user's.",
        fix=(
            "ls -l /dev/kfd /dev/dri/renderD*; id",
            "sudo usermod -aG render,video $USER, then log in anew.",
        ),
        message="/dev/kfd cannot be opened by my user. Please add it to the render group.",
    ),
    "kfd-rejects-runtime": Text(
        title="AMD's compute driver rejects this ROCm runtime",
        cause="Opening /dev/kfd fails with “{value}” although it is permitted: kernel driver"
        " and ROCm"
        " libraries are too far apart, or the driver is in a bad state.",
        fix=(
            "Compare modinfo amdgpu | grep ^version with the ROCm release in use.",
            "Use an image of a ROCm release that this driver supports; else reboot the host.",
        ),
        message="/dev/kfd answers “{value}”. Please update amdgpu or reboot the host.",
    ),
    "amdgpu-hang": Text(
        title="The driver found the AMD GPU hanging and reset it",
        cause="A ring timed out or the scheduler did not answer. A program's kernel, an"
        " override of the"
        " gfx version, firmware, heat or power can do that.",
        fix=(
            "Remove HSA_OVERRIDE_GFX_VERSION; repeat with the newest kernel and firmware.",
            "If other programs hang as well, let the card be checked.",
        ),
        message="amdgpu reports ring timeouts and resets. Please check driver, firmware and card.",
    ),
    "dkms-driver-wrong-for-apu": Text(
        title="The DKMS driver is installed where the kernel's own is required",
        cause="For GPUs in Ryzen processors AMD asks for the kernel's own amdgpu (an OEM or recent"
        " kernel); amdgpu-dkms replaces it and faults.",
        fix=(
            "sudo apt remove amdgpu-dkms amdgpu-dkms-firmware; reboot",
            "Use a recent or OEM kernel (Ubuntu: linux-oem-24.04).",
        ),
        message="amdgpu-dkms is installed on a Ryzen APU. Please use the kernel's own driver.",
    ),
    "gfx-not-in-build": Text(
        title="This build has no code for the AMD GPU",
        cause="torch {torch}, or a ROCm library it uses, holds no code objects for {architecture}.",
        fix=(
            'Look: python -c "import torch; print(torch.cuda.get_arch_list())"; rocminfo',
            "Install a build that has the target (AMD's wheels for it, or another ROCm release).",
            "Within one family HSA_OVERRIDE_GFX_VERSION may do, such as 10.3.0 for gfx1031 and"
            " 1032.",
        ),
    ),
    "igpu-selected": Text(
        title="The integrated GPU gets in the way of the discrete one",
        cause="The processor's own GPU is listed too, and is chosen or has no code in this build.",
        fix=(
            "rocminfo | grep -E 'Name:|gfx'; export HIP_VISIBLE_DEVICES=<index of the card>"
            " (ROCR_VISIBLE_DEVICES hides it from all libraries)",
            "Or switch the integrated GPU off in the firmware.",
        ),
    ),
    "hipblaslt-unsupported-arch": Text(
        title="hipBLASLt has no kernels for this GPU; torch uses hipBLAS",
        cause="This is a warning: torch falls back by itself.",
        fix=("To silence it: TORCH_BLAS_PREFER_HIPBLASLT=0",),
    ),
    "rocm-dev-headers-missing": Text(
        title="Headers for ROCm's run-time compiler are missing",
        cause="A kernel is compiled when it is first used and needs {library}, which is not"
        " installed.",
        fix=(
            "Install the development packages, such as rocrand-dev hiprand-dev rocprim-dev hip-dev"
            " (or rocm-hip-sdk; with wheels: rocm[devel]).",
        ),
    ),
    "rocm-device-package-missing": Text(
        title="ROCm's wheels are here without the package of this GPU",
        cause="Multi-arch wheels keep the kernels of each GPU target in a package of its own;"
        " the one"
        " for {architecture} is not installed.",
        fix=(
            "rocminfo | grep -o -m1 'gfx[0-9a-f]*'",
            'pip install "torch[device-<gfx>]" "rocm[device-<gfx>]" from the same index and of the'
            " same version.",
        ),
    ),
    "partition-not-enumerated": Text(
        title="Partitions of the GPU exist and are not listed",
        cause="The card is cut into partitions, and a layer above (device plugin, tool, driver)"
        " does"
        " not list all of them.",
        fix=(
            "Compare rocminfo | grep -c 'Device Type: *GPU' with amd-smi list",
            "Update the plugin or tool, or go back to one partition: sudo amd-smi set -C SPX",
        ),
        message="Not all partitions of the GPU are offered. Please update the device plugin, or set"
        " SPX.",
    ),
}
