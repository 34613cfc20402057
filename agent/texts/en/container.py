"""Texts for containers."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "container-started-without-gpu": Text(
        title="The container was started without a GPU",
        cause="Neither driver libraries nor device nodes are in the container: nobody asked for"
        " them"
        " when it was started. Installing a driver or torch inside cannot help.",
        fix=(
            "docker run --gpus all … (AMD: --device /dev/kfd --device /dev/dri)",
            "docker compose: deploy.resources.reservations.devices with driver nvidia, capabilities"
            " [gpu]; Kubernetes: nvidia.com/gpu in limits; apptainer: --nv",
        ),
        message="My container was started without its GPU. Please start it with the GPU attached.",
    ),
    "container-toolkit-missing": Text(
        title="The host's container engine has no NVIDIA runtime",
        cause="The engine cannot hand out GPUs: the NVIDIA container toolkit is not installed,"
        " or not"
        " registered with this engine. The driver is not the matter.",
        fix=(
            "On the host install nvidia-container-toolkit",
            "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
            "For CDI: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
        ),
        message="docker on this host has no NVIDIA runtime. Please install and register the NVIDIA"
        " container toolkit.",
    ),
    "host-driver-missing-for-container": Text(
        title="The container toolkit finds no NVIDIA driver on the host",
        cause="nvidia-container-cli cannot load the driver's library or finds the driver not"
        " loaded.",
        fix=("Make nvidia-smi work on the host first; then start the container again.",),
        message="nvidia-container-cli finds no working driver on the host. Please repair the"
        " driver.",
    ),
    "container-compute-capability-missing": Text(
        title="The container got nvidia-smi, and not CUDA",
        cause="It was given the capability utility only: NVML is mounted, libcuda.so.1 is not.",
        fix=(
            "Start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility (or all)",
            "docker compose: capabilities: [gpu, compute, utility]",
        ),
        message="The container has no libcuda: its driver capabilities lack compute. Please"
        " start it"
        " with NVIDIA_DRIVER_CAPABILITIES=compute,utility.",
    ),
    "container-libcuda-not-on-loader-path": Text(
        title="libcuda is mounted where the image's loader does not look",
        cause="The platform mounts the driver's libraries in a directory of its own (GKE:"
        " /usr/local/nvidia/lib64), and the image has no entry for it.",
        fix=(
            "export LD_LIBRARY_PATH=/usr/local/nvidia/lib64:$LD_LIBRARY_PATH",
            "Or in the image: echo /usr/local/nvidia/lib64 > /etc/ld.so.conf.d/nvidia.conf;"
            " ldconfig",
        ),
        message="The driver's libraries are mounted outside the image's loader path.",
    ),
    "container-gpu-access-revoked": Text(
        title="The running container lost its right to the GPU",
        cause="The host rewrote the container's device rules (systemd daemon-reload does): the"
        " nodes"
        " are there, opening them is refused. The GPU itself is fine.",
        fix=(
            "Restart the container.",
            "To keep it from coming back: pass --device=/dev/nvidia0 --device=/dev/nvidiactl"
            " --device=/dev/nvidia-uvm as well, use CDI, or docker's cgroupfs driver.",
        ),
        message="The container lost access to its GPU (Failed to initialize NVML: Unknown"
        " Error) after"
        " a change on the host. Please restart it, and pass the device nodes explicitly.",
    ),
    "container-render-group-missing": Text(
        title="The container's user is not in the group of the AMD render node",
        cause="/dev/kfd and /dev/dri/renderD* are mounted, and their group (usually render) was not"
        " given to the process, so that HIP lists no device.",
        fix=(
            "Look on the host: stat -c %g /dev/kfd /dev/dri/renderD128",
            "docker run --device /dev/kfd --device /dev/dri --group-add video --group-add <that"
            " number>",
        ),
        message="The container may not open /dev/kfd or /dev/dri/renderD*. Please start it with"
        " --group-add and the number of the host's render group.",
    ),
    "container-cdi-stale-device-major": Text(
        title="The container's device node has an old number",
        cause="The saved CDI file names the major number that nvidia-uvm had at an earlier"
        " boot; it is"
        " given out anew each time, so that the node in the container is dead.",
        fix=(
            "On the host: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml, then"
            " start the"
            " container anew.",
            "Let that run at every boot (nvidia-cdi-refresh.service).",
        ),
        message="The CDI file of this host is stale (device major of nvidia-uvm). Please"
        " regenerate it"
        " at boot: nvidia-ctk cdi generate.",
    ),
    "driver-too-old-for-image": Text(
        title="The host's driver is older than the image demands",
        cause="The image demands {wanted}; the host's driver {driver} offers less, so that the"
        " container is not started.",
        fix=(
            "Take a tag of the image with an older CUDA.",
            "Or a host with a newer driver.",
            "If only the minor version differs, NVIDIA_DISABLE_REQUIRE=1 skips the check.",
        ),
        message="My image demands {wanted}; the host's driver is older. Please move the"
        " instance to a"
        " host with a newer driver.",
    ),
    "container-memory-limit": Text(
        title="The container's memory limit ended the process",
        cause="The control group reached its limit of host memory and the kernel killed the process"
        " (exit 137, Killed). GPU memory is not the matter.",
        fix=(
            "Use less host memory: fewer DataLoader workers, no whole data set in memory, load the"
            " checkpoint with mmap or on the GPU.",
            "Or a larger limit: docker -m, the pod's limits.memory, SLURM --mem.",
        ),
        message="My process is killed at the container's memory limit. Please raise it.",
    ),
}
