"""Texts for machines on which no GPU can be reached."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "no-nvidia-driver-here": Text(
        title="No NVIDIA or AMD device or driver on this machine",
        cause="Nothing on the bus, no device node, no driver library: this machine (or this"
        " container) has no GPU to offer. {wheel_reason} Installing torch again cannot change"
        " that.",
        fix=(
            "If a GPU was rented, check that this is the machine, and the instance type, that"
            " has it.",
            "To work without a GPU: python -m agent --backend cpu",
        ),
        fix_at={
            "container": (
                "Start the container with the GPU: docker run --gpus all …, a compose reservation,"
                " or nvidia.com/gpu in the pod's limits.",
                "If that was done, the host has no GPU or no driver: ask its owner.",
            )
        },
        message="This instance shows no GPU at all: no PCI device, no device node, no driver"
        " library."
        " Please attach the GPU that was ordered.",
    ),
    "no-gpu-on-pci": Text(
        title="The driver is here, and no GPU stands on the bus",
        cause="The NVIDIA driver is loaded, and PCI lists no GPU: none is attached, or it fell"
        " off the"
        " bus before this boot.",
        fix=(
            "Look: lspci -nn | grep -iE 'nvidia|amd'",
            "Power the host off and on, not only reboot.",
        ),
        message="The driver is loaded and no GPU is on the PCI bus. Please attach it, or reseat"
        " it.",
    ),
    "no-driver-module": Text(
        title="A GPU is on the bus, and no driver is loaded for it",
        cause="PCI lists the GPU, and neither NVIDIA's module nor another driver has taken it.",
        fix=(
            "sudo modprobe nvidia, and read what dmesg says",
            "If there is no such module, install the driver for this kernel.",
        ),
        message="The GPU is on the PCI bus and no driver is loaded. Please install or load it.",
    ),
    "gpu-given-to-vm": Text(
        title="The GPU is reserved for a virtual machine",
        cause="vfio-pci holds the GPU, so that the host's driver cannot use it.",
        fix=("Run the program in the guest that owns it, or bind the GPU back to its driver.",),
        message="The GPU is bound to vfio-pci. Please bind it to its driver or attach it to my"
        " guest.",
    ),
    "no-device-node": Text(
        title="The driver is loaded, and its device nodes are missing",
        cause="/dev/nvidiactl or /dev/nvidia0 does not exist, so that no program can reach the"
        " GPU.",
        fix=(
            "sudo nvidia-modprobe -c 0 && sudo nvidia-modprobe -u -c 0",
            "Or run nvidia-smi as root.",
        ),
        message="The NVIDIA module is loaded and /dev/nvidia* are missing. Please create them.",
    ),
    "no-libcuda": Text(
        title="The driver's library libcuda.so.1 is not installed",
        cause="Module and device nodes are there, the user-space part of the driver is not.",
        fix=(
            "Install the matching package, such as libnvidia-compute-<branch> or"
            " nvidia-driver-cuda,"
            " in the version of /proc/driver/nvidia/version.",
        ),
        message="The NVIDIA kernel driver runs without its user-space libraries. Please install"
        " them.",
    ),
    "devices-masked": Text(
        title="An environment variable hides every GPU",
        cause="{value} leaves no device for programs, although the driver lists some.",
        fix=("unset the variable, or give it an index that exists, such as 0.",),
    ),
    "gpu-not-in-driver": Text(
        title="A GPU on the bus is missing from the driver's list",
        cause="PCI has a GPU at {value} that the loaded driver does not list: it failed to start.",
        fix=("Read dmesg for that address: RmInitAdapter, Xid, BAR.",),
        message="The driver does not list the GPU at {value} although PCI does. Please check it.",
    ),
}
