"""nvidia-smi's prints become devices and driver versions, in every layout it has had.

Layouts as nvidia-smi of the named driver prints them; addresses, loads and memory are made up.
"""

from __future__ import annotations

import pytest

from agent.model import Device, NvidiaDriver, Observations
from agent.reading.read import read_text

GIB = 1 << 30
MIB = 1 << 20

R430 = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 430.50       Driver Version: 430.50       CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  GeForce GTX 1080    Off  | 00000000:07:00.0  On |                  N/A |
|ERR!   41C    P8    11W / 180W |    512MiB /  8119MiB |      3%      Default |
+-------------------------------+----------------------+----------------------+
"""
R535 = """\
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.154.05             Driver Version: 535.154.05   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA A30                     On  | 00000000:21:00.0 Off |                   On |
| N/A   44C    P0              31W / 165W |      1MiB / 24576MiB |     N/A   E. Process |
|                                         |                      |              Enabled |
+-----------------------------------------+----------------------+----------------------+
+---------------------------------------------------------------------------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
|  0    1   0   0  |             12MiB / 11968MiB   | 28      0 |  2   0    2    0    0 |
|                  |              0MiB / 16383MiB   |           |                       |
|  0    2   0   1  |             12MiB / 11968MiB   | 28      0 |  2   0    2    0    0 |
+------------------+--------------------------------+-----------+-----------------------+
"""
R610 = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.50.01              KMD Version: 610.50.01     CUDA UMD Version: 13.4     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H200                    On  |   00000000:0A:00.0 Off |                    0 |
| N/A   31C    P0             77W /  700W |       2MiB / 143771MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H200                    On  |   00000000:0B:00.0 N/A |                  N/A |
|ERR!   50C    P0            N/A  /  N/A  |       0MiB / 143771MiB |     N/A      Default |
|                                         |                        |                 ERR! |
+-----------------------------------------+------------------------+----------------------+
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|=========================================================================================|
|    0   N/A  N/A           41321      C   python3                                1512MiB |
+-----------------------------------------------------------------------------------------+
"""


def driver(seen: Observations) -> NvidiaDriver:
    found = seen.facts.drivers.nvidia
    assert found is not None
    return found


def only(seen: Observations) -> Device:
    assert len(seen.facts.devices) == 1
    return seen.facts.devices[0]


def test_the_narrow_table_without_a_mig_row() -> None:
    seen = read_text(R430)
    device = only(seen)
    assert driver(seen).userspace_version == "430.50"
    assert driver(seen).nvml_cuda_version == "10.1"
    assert (device.name, device.architecture) == ("GeForce GTX 1080", "6.1")
    assert device.pci_address == "0000:07:00.0"
    assert (device.memory_used_bytes, device.memory_total_bytes) == (512 * MIB, 8119 * MIB)
    assert device.power is not None
    assert device.power.usage_watts == 11
    assert device.error is None, "a fan without a reading is no sick GPU"


def test_the_wide_table_with_mig_and_an_exclusive_mode() -> None:
    device = only(read_text(R535))
    assert device.compute_mode == "exclusive-process"
    assert device.partition is not None
    assert device.partition.mig_mode == "enabled"
    assert device.partition.mig_instances == 2
    assert device.ecc is None, "the MIG state in the ECC cell is no count of errors"


def test_the_header_from_driver_610_on() -> None:
    seen = read_text(R610)
    assert driver(seen).userspace_version == "610.50.01"
    assert driver(seen).nvml_cuda_version == "13.4"
    first, second = seen.facts.devices
    assert (first.driver_index, second.driver_index) == (0, 1)
    assert (first.error, second.error) == (None, "ERR!")
    assert first.ecc is not None
    assert first.ecc.volatile_uncorrected == "0"
    assert first.processes is not None
    assert [(p.pid, p.name, p.memory_bytes) for p in first.processes.own] == [
        (41321, "python3", 1512 * MIB)
    ]


def test_wsl_is_known_by_the_two_versions() -> None:
    text = R430.replace("NVIDIA-SMI 430.50 ", "NVIDIA-SMI 470.223 ")
    assert read_text(text).facts.host.system == "wsl"
    assert read_text(R430).facts.host.system is None


def test_a_cut_name_waits_for_the_name_that_a_person_gives() -> None:
    cut = R430.replace("GeForce GTX 1080    Off", "NVIDIA GeForce ...  Off")
    device = only(read_text(cut + "\nEnvironment:\nGPU: RTX 3070\n"))
    assert (device.name, device.architecture) == ("RTX 3070", "8.6")
    assert device.pci_address == "0000:07:00.0"


QUERY = """\
==============NVSMI LOG==============

Timestamp                                 : Tue Feb  3 10:00:00 2026
Driver Version                            : 570.99.01
CUDA Version                              : 12.8

Attached GPUs                             : 2
GPU 00000000:3B:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    GPU UUID                              : GPU-11111111-2222-3333-4444-555555555555
    GPU Virtualization Mode
        Virtualization Mode               : Pass-Through
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 4
                Current                   : 4
            Link Width
                Max                       : 16x
                Current                   : 8x
        Replays Since Reset               : 3
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
    FB Memory Usage
        Total                             : 81920 MiB
        Used                              : 40960 MiB
    Compute Mode                          : Exclusive_Process
    Utilization
        Gpu                               : 97 %
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 1
            DRAM Correctable              : 5
            DRAM Uncorrectable            : 2
        Aggregate
            SRAM Uncorrectable            : 1
            DRAM Uncorrectable            : 9
    Remapped Rows
        Correctable Error                 : 1
        Uncorrectable Error               : 2
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 84 C
        GPU Slowdown Temp                 : 89 C
    GPU Power Readings
        Power Draw                        : 260.12 W
        Current Power Limit               : 300.00 W
        Default Power Limit               : 400.00 W
    Clocks
        SM                                : 900 MHz
        Memory                            : 1593 MHz
    Max Clocks
        SM                                : 1410 MHz
    Fabric
        State                             : In Progress
        Status                            : N/A
GPU 00000000:5E:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    Clocks Event Reasons
        Idle                              : Active
"""


def test_the_long_query() -> None:
    seen = read_text(QUERY)
    first, second = seen.facts.devices
    assert driver(seen).userspace_version == "570.99.01"
    assert first.uuid == "GPU-11111111-2222-3333-4444-555555555555"
    assert first.virtualization == "passthrough"
    assert first.compute_mode == "exclusive-process"
    assert first.pcie is not None
    assert (first.pcie.width_current, first.pcie.width_max) == (8, 16)
    assert first.pcie.replay_count == "3"
    assert first.clocks is not None
    assert first.clocks.event_reasons == ("SwPowerCap", "HwSlowdown", "HwThermalSlowdown")
    assert (first.clocks.sm_mhz, first.clocks.max_sm_mhz) == (900, 1410)
    assert first.ecc is not None
    assert (first.ecc.volatile_corrected, first.ecc.volatile_uncorrected) == ("5", "3")
    assert first.ecc.aggregate_uncorrected == "10"
    assert first.ecc.remap_pending is True
    assert first.ecc.remap_failed is False
    assert first.power is not None
    assert (first.power.limit_watts, first.power.default_limit_watts) == (300.0, 400.0)
    assert first.fabric is not None
    assert first.fabric.state == "in-progress"
    assert second.pci_address == "0000:5e:00.0"
    assert second.clocks is not None
    assert second.clocks.event_reasons == ("GpuIdle",)
    assert second.ecc is None


def test_sections_alone_belong_to_one_device() -> None:
    old = "    Clocks Throttle Reasons\n        SW Power Cap                      : Active\n"
    device = only(read_text(old))
    assert device.clocks is not None
    assert device.clocks.event_reasons == ("SwPowerCap",)


def test_the_xml_form_gives_what_the_text_form_gives() -> None:
    text = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
  <driver_version>570.99.01</driver_version>
  <cuda_version>12.8</cuda_version>
  <gpu id="00000000:3B:00.0">
    <product_name>NVIDIA L40S</product_name>
    <uuid>GPU-11111111-2222-3333-4444-555555555555</uuid>
    <pci>
      <pci_gpu_link_info>
        <pcie_gen><max_link_gen>4</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
        <link_widths>
          <max_link_width>16x</max_link_width><current_link_width>16x</current_link_width>
        </link_widths>
      </pci_gpu_link_info>
    </pci>
    <clocks_event_reasons>
      <clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
      <clocks_event_reason_sw_power_cap>Not Active</clocks_event_reason_sw_power_cap>
    </clocks_event_reasons>
    <fb_memory_usage><total>46068 MiB</total><used>3 MiB</used></fb_memory_usage>
    <remapped_rows>
      <remapped_row_corr>0</remapped_row_corr>
      <remapped_row_pending>Yes</remapped_row_pending>
    </remapped_rows>
    <gpu_power_readings><power_draw>31.5 W</power_draw></gpu_power_readings>
    <compute_mode>Default</compute_mode>
  </gpu>
</nvidia_smi_log>
"""
    seen = read_text(text)
    device = only(seen)
    assert driver(seen).nvml_cuda_version == "12.8"
    assert (device.name, device.architecture) == ("NVIDIA L40S", "8.9")
    assert device.uuid == "GPU-11111111-2222-3333-4444-555555555555"
    assert device.pcie is not None
    assert (device.pcie.generation_current, device.pcie.width_max) == (1, 16)
    assert device.clocks is not None
    assert device.clocks.event_reasons == ("GpuIdle",)
    assert device.ecc is not None
    assert device.ecc.remap_pending is True
    assert device.memory_total_bytes == 46068 * MIB
    assert device.power is not None
    assert device.power.usage_watts == 31.5


def test_the_list_with_slices() -> None:
    text = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
  MIG 3g.40gb     Device  0: (UUID: MIG-bbbbbbbb-0000-0000-0000-000000000000)
  MIG 3g.40gb     Device  1: (UUID: MIG-cccccccc-0000-0000-0000-000000000000)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-dddddddd-0000-0000-0000-000000000000)
"""
    first, second = read_text(text).facts.devices
    assert first.uuid == "GPU-aaaaaaaa-0000-0000-0000-000000000000"
    assert first.partition is not None
    assert first.partition.profile == "3g.40gb"
    assert first.partition.mig_instances == 2
    assert second.partition is None


@pytest.mark.parametrize("gap", ["\t", "     "])
def test_the_topology_in_tabs_and_in_spaces(gap: str) -> None:
    rows = [
        ["", "GPU0", "GPU1", "GPU2", "NIC0", "CPU Affinity"],
        ["GPU0", " X ", "NV18", "NODE", "PIX", "0-31"],
        ["GPU1", "NV18", " X ", "NODE", "SYS", "0-31"],
        ["GPU2", "NODE", "NODE", " X ", "SYS", ""],
        ["NIC0", "PIX", "SYS", "SYS", " X "],
    ]
    devices = read_text("\n".join(gap.join(row) for row in rows)).facts.devices
    assert [[peer.path for peer in device.peers] for device in devices] == [
        ["NV18", "NODE"],
        ["NV18", "NODE"],
        ["NODE", "NODE"],
    ]


def test_links_of_each_card() -> None:
    text = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
\t Link 0: 25 GB/s
\t Link 1: <inactive>
"""
    device = only(read_text(text))
    assert [(link.index, link.state) for link in device.links] == [(0, "active"), (1, "inactive")]


def test_csv_with_a_header() -> None:
    text = """\
index, name, driver_version, memory.total [MiB], power.limit [W], pcie.link.width.current
0, NVIDIA GeForce RTX 4090, 565.77, 24564 MiB, 450.00 W, 16
1, NVIDIA GeForce RTX 4090, 565.77, [GPU is lost], [N/A], [N/A]
"""
    seen = read_text(text)
    first, second = seen.facts.devices
    assert driver(seen).userspace_version == "565.77"
    assert first.memory_total_bytes == 24564 * MIB
    assert first.pcie is not None
    assert first.pcie.width_current == 16
    assert second.error == "GPU is lost"
    assert second.memory_total_bytes is None


def test_a_lost_gpu_is_the_same_one_that_the_description_counts() -> None:
    text = """\
Unable to determine the device handle for GPU 0000:0C:00.0: GPU is lost.  Reboot the system
Environment:
GPU: 4x RTX A6000
"""
    devices = read_text(text).facts.devices
    assert len(devices) == 4
    assert devices[0].error == "GPU is lost"
    assert {device.architecture for device in devices} == {"8.6"}


def test_peers_that_a_sample_program_asked_for() -> None:
    text = "Device=0 CAN Access Peer Device=1\nDevice=0 CANNOT Access Peer Device=2\n"
    peers = only(read_text(text)).peers
    assert [(peer.device, peer.access) for peer in peers] == [
        ("GPU1", "ok"),
        ("GPU2", "not-supported"),
    ]


def test_both_halves_of_a_mismatch() -> None:
    seen = read_text(
        "Failed to initialize NVML: Driver/library version mismatch\n"
        "NVML library version: 580.95\n"
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build\n"
    )
    assert driver(seen).userspace_version == "580.95"
    assert driver(seen).kernel_version == "575.57.08"
    assert driver(seen).kernel_open is True


@pytest.mark.parametrize(
    "message",
    [
        "NVRM: API mismatch: the client has the version 535.54.03, but\n"
        "NVRM: this kernel module has the version 530.30.02.  Please\n",
        "[ 9.4] NVRM: API mismatch: the client 'nvidia-smi' (pid 1005)\n"
        "[ 9.4] NVRM: has the version 535.54.03, but this kernel module has\n"
        "[ 9.4] NVRM: the version 530.30.02.  Please make sure that this\n",
        "kernel version 530.30.02 does not match DSO version 535.54.03 -- cannot find working",
    ],
)
def test_every_wording_of_the_kernel_mismatch(message: str) -> None:
    seen = read_text(message)
    assert driver(seen).kernel_version == "530.30.02"
    assert driver(seen).userspace_version == "535.54.03"
