# ruff: noqa: E501  (printed lines are as wide as they are)
"""NVIDIA's kernel driver: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="driver-update-needs-reboot",
        fires="""$ nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 550.144
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120  Fri Sep 13 10:10:01 UTC 2024""",
        quiet="""$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.144.03  Mon Dec 30 17:44:08 UTC 2024
| NVIDIA-SMI 550.144.03             Driver Version: 550.144.03     CUDA Version: 12.4     |""",
        elsewhere=(
            """unattended-upgrades installed nvidia-utils-535 last night and since then:
nvidia-container-cli: initialization error: nvml error: driver/library version mismatch""",
            """pynvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch.
kernel: NVRM: API mismatch: the client has the version 535.183.06, but
kernel: NVRM: this kernel module has the version 535.183.01.  Please""",
            """Training worked until yesterday, before a recent Ubuntu update.
error=804 : forward compatibility was attempted on non supported HW""",
        ),
        source="nvidia-smi and nvidia.ko texts; NVIDIA/nvidia-docker issue 584",
    ),
    Row(
        code="driver-mixed-package-versions",
        fires="""Failed to initialize NVML: Driver/library version mismatch
The error persists after a reboot.
driver kernel: 565.57.01
driver userspace: 560.35.05""",
        quiet="""driver kernel: 565.57.01
driver userspace: 565.57.01
torch.cuda.is_available(): True""",
        elsewhere=(
            """I installed NVIDIA-Linux-x86_64-535.104.05.run over the apt packages.
NVRM: API mismatch: the client has the version 535.104.05, but
NVRM: this kernel module has the version 545.23.08.  Please""",
            """freshly provisioned node, nvidia-driver-daemonset in CrashLoopBackOff
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 550.54""",
        ),
        source="nvidia-smi texts; forum threads on .run files beside packages",
    ),
    Row(
        code="kernel-module-not-built-for-running-kernel",
        fires="""NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
$ sudo dkms install -m nvidia -v 470.86
Error! Bad return status for module build on kernel: 5.13.18-generic (x86_64)
Consult /var/lib/dkms/nvidia/470.86/build/make.log for more information.""",
        quiet="""$ dkms status
nvidia/570.133.07, 6.8.0-57-generic, x86_64: installed
| NVIDIA-SMI 570.133.07             Driver Version: 570.133.07     CUDA Version: 12.8     |""",
        elsewhere=(
            """modprobe: ERROR: ../libkmod/libkmod-module.c:809 kmod_module_insert_module() could not find module by name='nvidia_367'
modprobe: ERROR: could not insert 'nvidia_367': Function not implemented
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.""",
            """Since the kernel update modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.11.0-19-generic
and torch says RuntimeError: Found no NVIDIA driver on your system.
GPU: RTX A4000""",
            """==> dkms install --no-depmod nvidia/525.89.02 -k 6.2.6-zen1-1-zen
Error! Bad return status for module build on kernel: 6.2.6-zen1-1-zen (x86_64)
==> ERROR: Missing 6.2.1-zen1-1-zen kernel headers for module nvidia/525.89.02.""",
        ),
        source="zen-kernel issue 305; M-Bab/linux-kernel-amdgpu-binaries issue 101; kmod",
    ),
    Row(
        code="secure-boot-module-rejected",
        fires="""$ sudo modprobe nvidia
modprobe: ERROR: could not insert 'nvidia': Key was rejected by service
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.""",
        quiet="""$ mokutil --sb-state
SecureBoot enabled
nvidia: module verification failed: signature and/or required key missing - tainting kernel
| NVIDIA-SMI 535.113.01             Driver Version: 535.113.01   CUDA Version: 12.2     |
torch.cuda.is_available(): True""",
        elsewhere=(
            """[ 1748.999277] Loading of module with unavailable key is rejected
nvidia-smi: couldn't communicate with the NVIDIA driver""",
            """modprobe: ERROR: could not insert 'nvidia_drm': Required key not available
$ mokutil --sb-state
SecureBoot enabled""",
            """Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.""",
        ),
        source="canonical/nvidia-graphics-drivers issue 61; acidanthera/bugtracker issue 2237",
    ),
    Row(
        code="nouveau-holds-gpu",
        fires="""01:00.0 VGA compatible controller: NVIDIA Corporation GA104 [GeForce RTX 3070] (rev a1)
	Kernel driver in use: nouveau
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.""",
        quiet="""01:00.0 VGA compatible controller: NVIDIA Corporation GA104 [GeForce RTX 3070] (rev a1)
	Kernel driver in use: nvidia
	Kernel modules: nvidiafb, nouveau, nvidia_drm, nvidia
torch.cuda.is_available(): True""",
        elsewhere=(
            """ERROR: The Nouveau kernel driver is currently in use by your system.  This driver is incompatible with the NVIDIA driver
GPU: GTX 1660""",
        ),
        source="NVIDIA's installer; lspci -k",
    ),
    Row(
        code="open-module-on-pre-turing-gpu",
        fires="""$ nvidia-smi
No devices were found
kernel: NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b06)
kernel: NVRM: installed in this system is not supported by open
kernel: NVRM: nvidia.ko because it does not include the required GPU
kernel: NVRM: System Processor (GSP).""",
        quiet="""NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.07  Release Build
| NVIDIA-SMI 570.133.07             Driver Version: 570.133.07     CUDA Version: 12.8     |
|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0 Off |                  N/A |""",
        elsewhere=(
            """Tesla P40, nvidia-driver-575-open on Ubuntu 24.04
driver: 575.57.08 (open)
$ nvidia-smi
No devices were found""",
            """journalctl: NVRM: installed in this system is not supported by open nvidia.ko because it does not include the required GPU System Processor (GSP).
V100 PCIe""",
        ),
        source="open-gpu-kernel-modules README; nv.c",
    ),
    Row(
        code="closed-module-on-blackwell-gpu",
        fires="""NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)
NVRM: installed in this system requires use of the NVIDIA open kernel modules.
NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:897)
No devices were found""",
        quiet="""|   0  NVIDIA GeForce RTX 5090        Off |   00000000:01:00.0 Off |                  N/A |
| NVIDIA-SMI 575.57.08              Driver Version: 575.57.08      CUDA Version: 12.9     |""",
        elsewhere=(),
        source="open-gpu-kernel-modules: osinit.c",
    ),
    Row(
        code="gpu-dropped-by-driver-branch",
        fires="""NVRM: The NVIDIA NVIDIA GeForce GTX 1050 GPU installed in this system is
NVRM:  supported through the NVIDIA 580.xx Legacy drivers. Please
NVRM:  visit http://www.nvidia.com/object/unix.html for more
NVRM:  information.  The 595.71.05 NVIDIA driver will ignore
NVRM:  this GPU.  Continuing probe...
NVRM: No NVIDIA GPU found.""",
        quiet="""|   0  NVIDIA GeForce GTX 1050        Off |   00000000:01:00.0 Off |                  N/A |
| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |""",
        elsewhere=(
            """Tesla K80, Ubuntu 22.04, driver 525.147.05
$ nvidia-smi
No devices were found""",
            """NVRM: The NVIDIA Tesla M2090 GPU installed in this system is
NVRM:  supported through the NVIDIA 390.xx Legacy drivers.
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.""",
        ),
        source="NixOS/nixos-hardware issues 1828, 1880",
    ),
    Row(
        code="driver-too-old-for-gpu",
        fires="""NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2330)
NVRM: installed in this system is not supported by the
NVRM: NVIDIA 515.65.01 driver release.
NVRM: Please see 'Appendix A - Supported NVIDIA GPU Products'""",
        quiet="""|   0  NVIDIA H100 PCIe               On  |   00000000:01:00.0 Off |                    0 |
| NVIDIA-SMI 535.129.03             Driver Version: 535.129.03   CUDA Version: 12.2     |""",
        elsewhere=(),
        source="NVIDIA/nvtrust issue 55",
    ),
    Row(
        code="bios-above-4g-rebar-off",
        fires="""NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:
NVRM: BAR1 is 0M @ 0x0 (PCI:0000:0a:00.0)
NVRM: The system BIOS may have misconfigured your GPU.""",
        quiet="""pci 0000:84:00.0: BAR 1 [mem 0xe05c0000000-0xe05cfffffff 64bit pref]
|   0  NVIDIA GeForce RTX 4090        Off |   00000000:84:00.0 Off |                  Off |
| NVIDIA-SMI 570.133.07             Driver Version: 570.133.07     CUDA Version: 12.8     |""",
        elsewhere=(
            """pci 0000:41:00.0: BAR 1: no space for [mem size 0x800000000 64bit pref]
pci 0000:41:00.0: BAR 1: failed to assign [mem size 0x800000000 64bit pref]
nvidia-smi: No devices were found""",
            """kernel: NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:762)
kernel: NVRM: GPU 0000:01:00.0: rm_init_adapter failed, device minor number 0
$ nvidia-smi
No devices were found
Above 4G Decoding: disabled""",
            """amdgpu 0000:0d:00.0: BAR 0: failed to assign [mem size 0x400000000 64bit pref]
amdgpu: probe of 0000:0d:00.0 failed with error -12""",
        ),
        source="open-gpu-kernel-modules issue 862; nv-pci.c",
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_fires_first(row: Row) -> None:
    assert first(row.fires) == row.code


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_the_healthy_neighbour_is_quiet(row: Row) -> None:
    assert alarms(row.quiet) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [(row.code, text) for row in ROWS for text in row.elsewhere],
    ids=lambda value: value if len(value) < 50 else "text",
)
def test_other_wordings(code: str, text: str) -> None:
    assert first(text) == code


@pytest.mark.parametrize(
    "text",
    [
        """modprobe: ERROR: could not insert 'nvhda': Required key not available
torch.cuda.is_available(): True""",
        """pci 0000:00:1c.0: BAR 13: no space for [io  size 0x1000]
pci 0000:00:1c.0: BAR 13: failed to assign [io  size 0x1000]""",
        """amdgpu 0000:0b:00.0: BAR 2: releasing [mem 0xe0000000-0xe01fffff 64bit pref]
amdgpu 0000:0b:00.0: BAR 0: no space for [mem size 0x400000000 64bit pref]
[drm] Detected VRAM RAM=16368M, BAR=256M""",
    ],
    ids=["a keyboard's module", "a bridge's window", "a BAR that stays small"],
)
def test_what_the_kernel_prints_on_healthy_boots(text: str) -> None:
    """Other devices' troubles, and a window that is smaller than wished, are none of the GPU."""
    assert alarms(text) == []


def test_a_kernel_named_after_amdgpu_builds_nvidia() -> None:
    """The word in the kernel's release does not make the module AMD's."""
    text = """NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.
dkms install -m nvidia -v 470.86
Error! Bad return status for module build on kernel: 5.13.18-21.09.16.amdgpu.ubuntu (x86_64)"""
    assert first(text) == "kernel-module-not-built-for-running-kernel"
