"""Prints of system tools, AMD's tools, kernel and containers become facts."""

from __future__ import annotations

import pytest

from agent.reading.read import read_text

MIB = 1 << 20


def test_pci_functions_with_and_without_numbers() -> None:
    pci = read_text(
        "0001:00:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100] [10de:2330] (rev a1)\n"
        "        Subsystem: NVIDIA Corporation Device\n"
        "        Kernel driver in use: vfio-pci\n"
        "05:00.0 Display controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 (rev c8)\n"
        "06:00.0 Ethernet controller [0200]: Intel Corporation I210 [8086:1533]\n"
    ).facts.host.pci
    assert [(p.address, p.vendor, p.device_id, p.class_code) for p in pci] == [
        ("0001:00:00.0", "nvidia", "2330", "030200"),
        ("0000:05:00.0", "amd", "", "038000"),
    ]
    assert (pci[0].kernel_driver, pci[1].kernel_driver) == ("vfio-pci", None)


def test_modules_loaded_and_missing() -> None:
    seen = read_text(
        "nvidia              20430848  1119 nvidia_uvm,nvidia_modeset\n"
        "i915                 3000000  2\n"
        "modprobe: FATAL: Module nvidia-uvm not found in directory /lib/modules/6.8.0\n"
    )
    assert {(m.name, m.loaded) for m in seen.facts.host.modules} == {
        ("nvidia", True),
        ("nvidia_uvm", False),
    }
    assert seen.facts.packages == ()


def test_device_nodes_with_their_rights() -> None:
    nodes = read_text(
        "crw-rw---- 1 root video 195,   0 Jan  5 10:00 /dev/nvidia0\n"
        "crw-rw-rw-. 1 root root 235, 0 Jan 5 10:00 nvidia-uvm\n"
        "crw-rw---- 1 root render 226, 128 Jan  5 10:00 renderD128\n"
        "ls: cannot access '/dev/nvidiactl': No such file or directory\n"
    ).facts.host.nodes
    assert [(n.path, n.present, n.mode, n.group) for n in nodes] == [
        ("/dev/nvidia0", True, "0660", "video"),
        ("/dev/nvidia-uvm", True, "0666", "root"),
        ("/dev/dri/renderD128", True, "0660", "render"),
        ("/dev/nvidiactl", False, None, None),
    ]
    assert (nodes[0].major, nodes[0].minor) == (195, 0)


def test_libraries_that_the_loader_would_take() -> None:
    seen = read_text(
        "        libcuda.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcuda.so.1\n"
        "        libm.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libm.so.6\n"
        "        libcublas.so.12 => not found\n"
        "lrwxrwxrwx 1 root root 20 /usr/lib/x86_64-linux-gnu/libcuda.so.570.99.01\n"
        "loaded /usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs/libcuda.so\n"
    )
    found = {(lib.soname, lib.origin, lib.path is not None) for lib in seen.facts.libraries}
    assert found == {
        ("libcuda.so.1", "system", True),
        ("libcublas.so.12", None, False),
        ("libcuda.so", "stub", True),
    }
    assert seen.facts.drivers.nvidia is not None
    assert seen.facts.drivers.nvidia.libcuda_version == "570.99.01"


def test_disks_and_shared_memory() -> None:
    seen = read_text(
        "Filesystem      Size  Used Avail Use% Mounted on\n"
        "overlay         100G   99G  1.0G  99% /\n"
        "shm              64M     0   64M   0% /dev/shm\n"
    )
    root, shm = seen.facts.host.disks
    assert (root.mount, root.role, root.free_bytes) == ("/", "root", 1 << 30)
    assert shm.role == "shm"
    assert seen.facts.limits.shm_total_bytes == 64 * MIB


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("max locked memory           (kbytes, -l) 64", "memlock_soft_bytes", 65536),
        ("$ ulimit -l\nunlimited\n", "memlock_soft_bytes", "unlimited"),
        ("open files                          (-n) 1024", "nofile_soft", 1024),
        ("-n: file descriptors (file descriptors) 256", "nofile_soft", None),
        ("/sys/fs/cgroup/memory.max:8589934592", "memory_limit_bytes", 8 << 30),
        ("$ cat /sys/fs/cgroup/memory.max\n4194304\n", "memory_limit_bytes", 4194304),
        ("/a/memory.max:max\n/a/b/memory.max:4194304\n", "memory_limit_bytes", 4194304),
        ("/sys/fs/cgroup/cpu.max:150000 100000", "cpu_quota_cores", 1.5),
        ("docker run --shm-size=2g --gpus all image:1", "shm_total_bytes", 2 << 30),
        ("--shm-size 512m", "shm_total_bytes", 512 * MIB),
    ],
)
def test_limits(text: str, field: str, value: object) -> None:
    assert getattr(read_text(text).facts.limits, field) == value


def test_kernel_lines_are_read_as_the_kernel_log_is() -> None:
    seen = read_text(
        "here is dmesg:\n"
        "[  100.5] NVRM: Xid (PCI:0000:65:00): 79, pid=1, name=x, GPU has fallen off the bus.\n"
        "[  101.0] Out of memory: Killed process 4242 (python3) total-vm:1kB\n"
        "a line of prose about Xid 31\n"
    )
    events = [(e.kind, e.code, e.pci_address) for e in seen.facts.kernel_log.events]
    assert events == [("xid", 79, "0000:65:00.0"), ("oom", None, None)]
    assert seen.facts.host.system == "linux"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('docker: Error response from daemon: could not select device driver ""', "docker"),
        ("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8", "docker"),
        ("Warning  FailedScheduling  0/3 nodes: Insufficient nvidia.com/gpu.", "kubernetes"),
        ("5:memory:/docker/c0ffee00000000000000", "docker"),
        ("apptainer exec --nv image.sif python x.py", "apptainer"),
        ("container: no\n", "none"),
        ("a container ship", None),
    ],
)
def test_which_box_a_text_comes_from(text: str, kind: str | None) -> None:
    assert read_text(text).facts.container.kind == kind


def test_the_fabric_manager() -> None:
    state = "● nvidia-fabricmanager.service\n     Active: failed (Result: exit-code)\n"
    nvidia = read_text(state).facts.drivers.nvidia
    assert nvidia is not None
    assert nvidia.fabric_manager_state == "stopped"
    mismatch = read_text(
        "fabric manager NVIDIA GPU driver interface version 550.54.14 don't match with driver "
        "version 550.54.15. Please update\n"
    ).facts.drivers.nvidia
    assert mismatch is not None
    assert (mismatch.fabric_manager_version, mismatch.kernel_version) == ("550.54.14", "550.54.15")


# ---------------------------------------------------------------- AMD
ROCMINFO = """\
ROCk module version 6.12.12 is loaded
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD EPYC 9654 96-Core Processor
  Marketing Name:          AMD EPYC 9654 96-Core Processor
  Device Type:             CPU
  BDFID:                   0
*******
Agent 2
*******
  Name:                    gfx942
  Uuid:                    GPU-0123456789abcdef
  Marketing Name:          AMD Instinct MI300X
  Vendor Name:             AMD
  Feature:                 KERNEL_DISPATCH
  Device Type:             GPU
  BDFID:                   1280
  Compute Unit:            304
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: COARSE GRAINED
      Size:                    201310208(0xbffc000) KB
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
*******
Agent 3
*******
  Name:                    gfx1036
  Marketing Name:          AMD Ryzen 9 7950X 16-Core Processor
  Device Type:             GPU
  BDFID:                   0
  Compute Unit:            2
  Memory Properties:       APU
"""


def test_rocminfo_keeps_the_gpus() -> None:
    seen = read_text(ROCMINFO)
    card, inside = seen.facts.devices
    assert (card.name, card.architecture) == ("AMD Instinct MI300X", "gfx942")
    assert (card.pci_address, card.multiprocessor_count) == ("0000:05:00.0", 304)
    assert card.integrated is None
    assert (inside.architecture, inside.integrated) == ("gfx1036", True)
    assert seen.facts.host.cpu_model == "AMD EPYC 9654 96-Core Processor"
    assert seen.facts.drivers.amd is not None
    assert seen.facts.drivers.amd.kernel_version == "6.12.12"
    assert [(m.name, m.loaded) for m in seen.facts.host.modules] == [("amdgpu", True)]


@pytest.mark.parametrize(
    ("line", "error", "present"),
    [
        ("Unable to open /dev/kfd read-write: Permission denied", "EACCES", True),
        ("Unable to open /dev/kfd read-write: No such file or directory", "ENOENT", False),
        ("Unable to open /dev/kfd read-write: Invalid argument", "EINVAL", True),
    ],
)
def test_how_kfd_refuses(line: str, error: str, present: bool) -> None:
    (node,) = read_text(
        f"ROCk module is loaded\n{line}\nme is member of video group\n"
    ).facts.host.nodes
    assert (node.path, node.error, node.present, node.openable) == (
        "/dev/kfd",
        error,
        present,
        False,
    )


CONCISE = {
    "one row": (
        "GPU  Temp   AvgPwr  SCLK    MCLK     Fan   Perf  PwrCap  VRAM%  GPU%\n"
        "0    34.0c  37.0W   300Mhz  1200Mhz  0.0%  auto  290.0W    0%   5%\n"
    ),
    "model and revision": (
        "Device  [Model : Revision]  Temp        Power     Partitions      SCLK  MCLK  Fan  Perf  "
        "PwrCap  VRAM%  GPU%\n"
        "0       [0x74a1 : 0x00]     34.0°C      37.0W     NPS1, SPX    131Mhz  900Mhz  0%  auto  "
        "290.0W  0%   5%\n"
        "        AMD Instinct MI300X\n"
    ),
    "node ids": (
        "Device  Node  IDs            Temp    Power  Partitions       SCLK MCLK  Fan  Perf  PwrCap "
        "VRAM%  GPU%\n"
        "              (DID,   GUID) (Junction)  (Socket)  (Mem, Compute, ID)\n"
        "0       2     0x74a1,  100   34.0°C  37.0W  NPS1, SPX, 0   131Mhz  900Mhz  0%  auto  "
        "290.0W  0%   5%\n"
    ),
    "squeezed": (
        "Device Node IDs Temp Power Partitions SCLK MCLK Fan Perf PwrCap VRAM% GPU%\n"
        "0 2 0x74a1, 100 34.0°C 37.0W NPS1, SPX, 0 131Mhz 900Mhz 0% auto 290.0W 0% 5%\n"
    ),
}


@pytest.mark.parametrize("layout", list(CONCISE))
def test_the_four_layouts_of_rocm_smi(layout: str) -> None:
    text = f"==== Concise Info ====\n{CONCISE[layout]}==== End of ROCm SMI Log ====\n"
    (device,) = read_text(text).facts.devices
    assert device.power is not None
    assert (device.power.usage_watts, device.power.enforced_limit_watts) == (37.0, 290.0)
    assert device.temperature is not None
    assert device.temperature.gpu_celsius == 34
    assert device.utilization_percent == 5


def test_rocm_smi_fields_and_json_say_the_same() -> None:
    text = (
        "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI210\nGPU[0]\t\t: GFX Version: gfx90a\n"
        "GPU[0]\t\t: VRAM Total Memory (B): 68702699520\n"
    )
    as_json = (
        '{\n"card0": {\n"Card Series": "AMD Instinct MI210",\n"GFX Version": "gfx90a",\n'
        '"VRAM Total Memory (B)": "68702699520"\n}}\n'
    )
    assert read_text(text).facts.devices == read_text(as_json).facts.devices
    (device,) = read_text(text).facts.devices
    assert (device.architecture, device.memory_total_bytes) == ("gfx90a", 68702699520)


def test_amd_smi_as_a_table_and_as_fields() -> None:
    table = read_text(
        "| AMD-SMI 26.2.0      amdgpu version: 6.16.6   ROCm version: 7.1.1    |\n"
        "| 0000:ff:00.0 AMD Instinct MI325X    | 0 %      37 °C   2           141/1000 W |\n"
        "|   0       0       2        SPX/NPS1 | 0 %        N/A           285/262144 MB |\n"
    )
    (device,) = table.facts.devices
    assert (device.name, device.architecture) == ("AMD Instinct MI325X", "gfx942")
    assert device.ecc is not None
    assert device.ecc.volatile_uncorrected == "2"
    assert device.partition is not None
    assert (device.partition.compute_mode, device.partition.memory_mode) == ("SPX", "NPS1")
    assert table.facts.drivers.amd is not None
    assert table.facts.drivers.amd.rocm_version == "7.1.1"
    fields = read_text(
        "GPU: 0\n    ASIC:\n        MARKET_NAME: AMD Instinct MI355X\n"
        "        TARGET_GRAPHICS_VERSION: gfx950\n    BUS:\n        BDF: 0000:05:00.0\n"
        "    LIMIT:\n        MAX_POWER: 1400 W\n        SOCKET_POWER: 1000 W\n"
    )
    (static,) = fields.facts.devices
    assert (static.architecture, static.pci_address) == ("gfx950", "0000:05:00.0")
    assert static.power is not None
    assert (static.power.enforced_limit_watts, static.power.max_limit_watts) == (1000.0, 1400.0)
