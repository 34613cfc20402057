"""Texts for CUDA that does not start."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "nvidia-uvm-missing": Text(
        title="CUDA's unified-memory module or its device node is missing",
        cause="nvidia-smi works without nvidia_uvm, CUDA does not: /dev/nvidia-uvm is absent or the"
        " module nvidia_uvm is not loaded, so that initialisation ends in an unknown error.",
        fix=(
            "On the host: sudo modprobe nvidia_uvm && sudo nvidia-modprobe -u -c=0",
            "Keep it across boots: enable nvidia-persistenced, or list nvidia_uvm in"
            " /etc/modules-load.d.",
        ),
        fix_at={
            "container": (
                "Only the host can load the module; then start the container anew, with the GPU"
                " requested, so that /dev/nvidia-uvm is mounted.",
            )
        },
        message="CUDA fails with an unknown error while nvidia-smi works: /dev/nvidia-uvm is"
        " missing"
        " or dead. Please load nvidia_uvm on the host (nvidia-modprobe -u -c=0).",
    ),
    "uvm-broken-after-suspend": Text(
        title="CUDA is broken since the machine slept",
        cause="nvidia_uvm did not survive suspend and resume; device listings still work.",
        fix=(
            "With no GPU program running: sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
            "If it is in use, reboot. To keep it from coming back:"
            " NVreg_PreserveVideoMemoryAllocations=1"
            " and the services nvidia-suspend, nvidia-resume.",
        ),
        message="CUDA fails since the host was suspended. Please reload nvidia_uvm or reboot.",
    ),
    "uvm-hmm-init-failure": Text(
        title="Heterogeneous memory management of nvidia_uvm does not start",
        cause="On some kernels nvidia_uvm cannot reserve the address range for HMM, and cuInit"
        " returns"
        " 3 (not initialized) although nvidia-smi works.",
        fix=(
            "echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee"
            " /etc/modprobe.d/nvidia-uvm-hmm.conf",
            "Reload nvidia_uvm or reboot. The other way round it is to boot with nokaslr.",
        ),
        message="cuInit returns 3 on this host: HMM of nvidia_uvm fails to start. Please set"
        " uvm_disable_hmm=1 for nvidia_uvm and reload it.",
    ),
    "nvidia-device-permission": Text(
        title="This user may not open the NVIDIA device nodes",
        cause="/dev/nvidia* exist, and opening them is refused.",
        fix=(
            "Look: ls -l /dev/nvidia* and id",
            "Add the user to the group that owns them (often video or vglusers) and log in anew, or"
            " let the driver make them 0666 (NVreg_DeviceFileMode=0666).",
        ),
        message="Processes of this user cannot open /dev/nvidia*. Please correct their mode or"
        " group.",
    ),
    "compute-mode-exclusive": Text(
        title="The GPU allows only one process, and a second one asked",
        cause="The compute mode is exclusive (or prohibited), so that a further context is"
        " refused as"
        " busy or unavailable.",
        fix=(
            "Look who holds it: nvidia-smi; nvidia-smi -q -d COMPUTE",
            "Let every process take its own GPU first (torch.cuda.set_device(local_rank) before any"
            " other CUDA call).",
            "Or share it: sudo nvidia-smi -c DEFAULT",
        ),
        message="The GPU is in exclusive-process or prohibited compute mode. Please set it to"
        " DEFAULT"
        " (nvidia-smi -c 0).",
    ),
    "vgpu-unlicensed": Text(
        title="The virtual GPU has no licence",
        cause="A vGPU guest driver without a licence slows down after a while and then refuses new"
        " contexts.",
        fix=(
            "Look: nvidia-smi -q | grep -i license; systemctl status nvidia-gridd",
            "Place the client token in /etc/nvidia/ClientConfigToken and restart nvidia-gridd.",
        ),
        message="The vGPU guest is unlicensed. Please make the licence service reachable and"
        " provide"
        " its client token.",
    ),
}
