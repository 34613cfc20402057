# ruff: noqa: E501  (printed lines are as wide as they are)
"""Faults of the hardware: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="gpu-off-bus",
        fires="""kernel: NVRM: GPU at PCI:0000:06:00: GPU-00000000-0000-4000-8000-000000000000
kernel: NVRM: Xid (PCI:0000:06:00): 79, GPU has fallen off the bus.
kernel: NVRM: kgspRcAndNotifyAllChannels_IMPL: RC all channels for critical error 79.""",
        quiet="""$ dmesg | grep -i xid
$ nvidia-smi -L
GPU 0: NVIDIA GeForce RTX 3070 Ti (UUID: GPU-00000000-0000-4000-8000-000000000000)""",
        elsewhere=(
            """[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0
               NVRM: (PCI ID: 10de:26b5) installed in this system has
               NVRM: fallen off the bus and is not responding to commands.""",
            """Unable to determine the device handle for GPU 0000:41:00.0: GPU is lost.  Reboot the system to recover this GPU""",
            """pynvml.NVMLError_GpuIsLost: GPU is lost
training stopped after three hours at full load""",
            """$ lspci | grep -i nvidia
01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev ff)""",
        ),
        source="open-gpu-kernel-modules issues 507, 1151; NVSentinel issue 155",
    ),
    Row(
        code="motherboard-fault",
        fires="""Every card we put into PCIe slot 3 disappears; in another slot it works fine, and two replacements of the GPU died the same way.
Unable to determine the device handle for GPU 0000:81:00.0: Unknown Error
pcieport 0000:80:01.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer""",
        quiet="""pcieport 0000:80:01.0: AER: Corrected error received: 0000:80:01.0
|   0  NVIDIA GeForce RTX 3090        Off |   00000000:81:00.0 Off |                  N/A |
torch.cuda.is_available(): True""",
        elsewhere=(
            """mce: [Hardware Error]: CPU 16: Machine Check: 0 Bank 21: bea0000001000108
CUDA driver initialization failed, you might not have a CUDA gpu. nvidia-smi lists all six GPUs""",
        ),
        source="linux mce and AER reports",
    ),
    Row(
        code="ecc-uncorrectable",
        fires="""RuntimeError: CUDA error: uncorrectable ECC error encountered
CUDA kernel errors might be asynchronously reported at some other API call""",
        quiet="""    ECC Errors
        Volatile
            DRAM Correctable              : 12
            DRAM Uncorrectable            : 0
        Aggregate
            DRAM Correctable              : 40
            DRAM Uncorrectable            : 0""",
        elsewhere=(
            """NVRM: Xid (PCI:0000:b7:00): 48, pid=4711, name=python3, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 2, subpartition 0.""",
            """NVRM: Xid (PCI:0000:0f:00): 95, pid=4711, Uncontained: FBHUB. RST: Yes, D-RST: No""",
            """amdgpu 0000:c1:00.0: amdgpu: 3 uncorrectable hardware errors detected in umc block
amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!""",
        ),
        source="NVIDIA's Xid catalogue; amdgpu_ras.c",
    ),
    Row(
        code="row-remap-pending",
        fires="""    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No""",
        quiet="""    Remapped Rows
        Correctable Error                 : 2
        Uncorrectable Error               : 1
        Pending                           : No
        Remapping Failure Occurred        : No""",
        elsewhere=(
            """Retired Pages
        Single Bit ECC                : 4
        Double Bit ECC                : 1
        Pending Page Blacklist        : Yes""",
            """DCGM: GPU 3 has row remapping pending; reset needed""",
        ),
        source="nvidia-smi -q; leptonai/gpud pull 80",
    ),
    Row(
        code="remap-failed",
        fires="""    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 8
        Pending                           : No
        Remapping Failure Occurred        : Yes""",
        quiet="""    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 0
        Pending                           : No
        Remapping Failure Occurred        : No""",
        elsewhere=(
            """NVRM: Xid (PCI:0000:0f:00): 64, pid='<unknown>', name=<unknown>, Row Remapper: Failed to write into InfoROM""",
        ),
        source="GPU memory error management, RMA criteria",
    ),
    Row(
        code="gsp-firmware-driver-bug",
        fires="""NVRM: Xid (PCI:0000:61:00): 119, pid=2917, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL)""",
        quiet="""GSP Firmware Version                  : 550.54.14
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |""",
        elsewhere=(
            """nvidia-smi hangs for a minute; dmesg: NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out
driver 525.60.13, A100""",
            """NVRM: Xid (PCI:0000:c1:00): 120, pid='<unknown>', name=<unknown>, GSP Error: Task 1 raised error code 0x5""",
        ),
        source="open-gpu-kernel-modules issues 446, 1048",
    ),
    Row(
        code="gpu-needs-reset",
        fires="""name, memory.total [MiB], utilization.gpu [%]
NVIDIA H100 80GB HBM3, [GPU requires reset], [GPU requires reset]""",
        quiet="""name, memory.total [MiB], utilization.gpu [%]
NVIDIA H100 80GB HBM3, 81559 MiB, 0 %""",
        elsewhere=("""pynvml.NVMLError_ResetRequired: GPU requires restart""",),
        source="nvidia-smi --query-gpu; nvmlReturn 16",
    ),
    Row(
        code="gpu-hardware-fault",
        fires="""NVRM: Xid (PCI:0000:3b:00): 62, pid=2917, name=python3, 32de(3080) 00000000 00000000""",
        quiet="""NVRM: Xid (PCI:0000:3b:00): 13, pid=2917, name=python3, Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0): Out Of Range Address
NVRM: Xid (PCI:0000:3b:00): 43, pid=2917, name=python3, Ch 00000008""",
        elsewhere=(
            """NVRM: Xid (PCI:0000:3b:00): 54, pid='<unknown>', name=<unknown>, Auxiliary power is not connected""",
        ),
        source="NVIDIA's Xid catalogue",
    ),
    Row(
        code="power-brake",
        fires="""    Clocks Event Reasons
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Active""",
        quiet="""    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active""",
        elsewhere=(),
        source="nvidia-smi -q -d PERFORMANCE",
    ),
    Row(
        code="thermal-slowdown",
        fires="""    Clocks Throttle Reasons
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active""",
        quiet="""        GPU Current Temp                  : 83 C
        GPU Slowdown Temp                 : 94 C
            HW Thermal Slowdown           : Not Active""",
        elsewhere=(),
        source="nvidia-smi -q -d PERFORMANCE",
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
