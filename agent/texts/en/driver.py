"""Texts for NVIDIA's kernel driver."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "driver-mixed-package-versions": Text(
        title="The NVIDIA libraries and the kernel module come from two driver versions",
        cause="User space is at {wanted}, the kernel module at {found}: packages of two"
        " versions are"
        " installed. A reboot loads the same pair again.",
        fix=(
            "List what is installed: dpkg -l | grep -i nvidia (or rpm -qa), and cat"
            " /proc/driver/nvidia/version",
            "Remove the version that is not wanted, .run installs included (nvidia-uninstall), and"
            " install one version of module and libraries; then reboot.",
        ),
        fix_at={
            "container": (
                "Remove NVIDIA driver libraries that the image itself brings (libnvidia-*,"
                " nvidia-utils): they must come from the host.",
            )
        },
        message="The NVIDIA user-space libraries ({wanted}) and the loaded kernel module"
        " ({found}) are"
        " of different versions on this host. Please install one version of both.",
    ),
    "driver-update-needs-reboot": Text(
        title="The NVIDIA driver was updated while the old module is still loaded",
        cause="The libraries are at {wanted}, the loaded kernel module is still {found}. Until the"
        " module is loaded anew, nothing can talk to the GPU.",
        fix=(
            "Reboot, or with no GPU program running: sudo rmmod nvidia_drm nvidia_modeset"
            " nvidia_uvm"
            " nvidia && sudo modprobe nvidia",
            "If the message stays after a reboot, two driver versions are installed.",
        ),
        message="The host's NVIDIA driver packages were updated without a reboot (libraries"
        " {wanted}, module {found}). Please reboot the host or reload the module.",
    ),
    "kernel-module-not-built-for-running-kernel": Text(
        title="There is no NVIDIA kernel module for the running kernel",
        cause="The driver's user-space part is installed, and no module fits the kernel that runs:"
        " it was built for another one, its headers are missing, or the build failed.",
        fix=(
            "Look which kernels have it: dkms status; ls /lib/modules/*/updates/dkms; uname -r",
            "Install the headers: sudo apt install linux-headers-$(uname -r)",
            "Build and load it: sudo dkms autoinstall && sudo modprobe nvidia",
            "If the build fails, take a driver that supports this kernel, or boot the older"
            " kernel.",
        ),
        message="nvidia-smi cannot reach the driver: no NVIDIA module is loaded for the running"
        " kernel. Please rebuild it (headers, dkms) or boot the kernel it was built for.",
    ),
    "nouveau-holds-gpu": Text(
        title="The free driver nouveau holds the GPU",
        cause="While nouveau is bound to the GPU, NVIDIA's module cannot take it.",
        fix=(
            "Blacklist it: printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee"
            " /etc/modprobe.d/blacklist-nouveau.conf && sudo update-initramfs -u",
            "Reboot, then install NVIDIA's driver if it is not there.",
        ),
        message="The GPU is bound to nouveau. Please blacklist it and load NVIDIA's driver.",
    ),
    "secure-boot-module-rejected": Text(
        title="Secure boot refuses the GPU's kernel module",
        cause="The module is there, and the kernel does not accept its signature.",
        fix=(
            "Enrol the key that signed it: sudo mokutil --import /var/lib/shim-signed/mok/MOK.der,"
            " reboot, confirm on the console",
            "Or install the distribution's signed module packages, or switch secure boot off in the"
            " firmware.",
        ),
        message="Secure boot rejects the GPU's kernel module (key not enrolled). Please enrol the"
        " key or disable secure boot.",
    ),
    "open-module-on-pre-turing-gpu": Text(
        title="The open kernel module cannot drive this GPU",
        cause="NVIDIA's open kernel modules need a GPU with a system processor (GSP), from"
        " Turing on;"
        " {gpu} is older.",
        fix=(
            "Install the proprietary module of a branch that supports the GPU (580 is the last for"
            " Maxwell, Pascal and Volta), such as nvidia-driver-580 instead of"
            " nvidia-driver-580-open.",
        ),
        message="The open NVIDIA kernel module is installed for a GPU before Turing. Please install"
        " the proprietary module.",
    ),
    "closed-module-on-blackwell-gpu": Text(
        title="This GPU needs NVIDIA's open kernel modules",
        cause="From Blackwell on the proprietary kernel module does not start the GPU.",
        fix=("Install the open flavour, such as nvidia-driver-580-open, and reboot.",),
        message="The GPU requires the open NVIDIA kernel modules; the proprietary ones are"
        " installed."
        " Please install the open flavour.",
    ),
    "gpu-dropped-by-driver-branch": Text(
        title="The installed driver branch no longer supports {gpu}",
        cause="Driver {driver} has no support for this GPU generation; the module ignores the"
        " card.",
        fix=(
            "Install the last branch for it: 580 for Maxwell, Pascal and Volta; 470 for Kepler; 390"
            " for Fermi.",
        ),
        message="Driver {driver} no longer supports this GPU generation. Please install the last"
        " branch that does (580 for Maxwell to Volta, 470 for Kepler).",
    ),
    "bios-above-4g-rebar-off": Text(
        title="The firmware gives the GPU too small an address window",
        cause="The adapter does not start: its memory windows (BARs) do not fit where the firmware"
        " put them. Usually Above 4G Decoding or Resizable BAR is off.",
        fix=(
            "Switch on Above 4G Decoding and Resizable BAR in the firmware, and CSM off; update the"
            " firmware.",
            "In a virtual machine give the guest a larger 64-bit MMIO window.",
            "If it stays, check seating and power, then another slot.",
        ),
        message="The GPU's adapter initialisation fails (RmInitAdapter / BAR assignment). Please"
        " enable Above 4G Decoding and Resizable BAR in the host's firmware.",
    ),
    "driver-too-old-for-gpu": Text(
        title="The driver release does not know this GPU",
        cause="{gpu} came after driver {driver}; the kernel module does not take it.",
        fix=("Install a driver release that lists the GPU as supported.",),
        message="Driver {driver} does not support this GPU yet. Please install a newer release.",
    ),
}
