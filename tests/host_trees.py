"""Constructed machines as trees of files: a healthy bare machine first, each other one differs.

Values are invented in the layouts that Linux documents (proc(5), cgroup v1 and v2 in the kernel's
admin guide) and that NVIDIA's and AMD's drivers print.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Files = dict[str, str | bytes]
GIB = 1 << 30
# The header of a 64-bit library for x86, as long as the loader wants it.
ELF_64 = b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e" + bytes(45)
NO_LIMIT_V1 = "9223372036854771712\n"  # what version 1 writes for "none" with pages of 4 KiB

STATUS = """Name:\tpython3
Uid:\t{uid}\t{uid}\t{uid}\t{uid}
Gid:\t{gid}\t{gid}\t{gid}\t{gid}
Groups:\t{groups}
CapEff:\t{capabilities}
CapBnd:\t{capabilities}
NoNewPrivs:\t0
Seccomp:\t0
Cpus_allowed_list:\t{cpus}
"""
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max core file size        0                    unlimited            bytes
Max processes             1030000              1030000              processes
Max open files            1024                 1048576              files
Max locked memory         67108864             unlimited            bytes
Max address space         unlimited            unlimited            bytes
"""
ALL_CAPABILITIES = "000001ffffffffff"
DOCKER_CAPABILITIES = "00000000a80425fb"
DMI = "/sys/class/dmi/id"
MOUNTS = "/proc/self/mountinfo"
GPU = "/sys/bus/pci/devices"


# Flags of entries in the loader's cache: a library for glibc, and for which machine.
X86_64, I386, AARCH64 = 0x0303, 0x0003, 0x0A03


def cache(*entries: tuple[str, str, int], old: bool = False, both: bool = False) -> bytes:
    """A loader cache as ldconfig writes it (glibc's elf/cache.c)."""
    strings, places = b"", []
    for name, path, flags in entries:
        places.append((flags, len(strings), len(strings) + len(name) + 1))
        strings += name.encode() + b"\0" + path.encode() + b"\0"
    if old:
        head = struct.pack("<11sxI", b"ld.so-1.7.0", len(entries))
        return head + b"".join(struct.pack("<iII", *place) for place in places) + strings
    start = 48 + 24 * len(entries)
    head = struct.pack("<20sIIB3xI12x", b"glibc-ld.so.cache1.1", len(entries), len(strings), 2, 0)
    body = b"".join(
        struct.pack("<iIIIQ", flags, start + key, start + value, 0, 0)
        for flags, key, value in places
    )
    return (cache(*entries, old=True) if both else b"") + head + body + strings


def plant(root: Path, files: Mapping[str, str | bytes], **stated: Any) -> Path:
    """Write the files of a machine under ``root``; "-> X" as a content makes a symbolic link."""
    for path, content in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            place.write_bytes(content)
        elif content.startswith("-> "):
            place.unlink(missing_ok=True)
            place.symlink_to(content[3:])
        elif content == "dir":
            place.mkdir(exist_ok=True)
        else:
            place.write_text(content)
            if content.startswith("#!"):
                place.chmod(0o755)
    (root / "firstlight.json").write_text(json.dumps(stated))
    return root


def status(
    uid: int = 0,
    gid: int = 0,
    groups: str = "",
    capabilities: str = ALL_CAPABILITIES,
    cpus: str = "0-63",
) -> str:
    """A /proc/self/status."""
    return STATUS.format(uid=uid, gid=gid, groups=groups, capabilities=capabilities, cpus=cpus)


def gpu(
    address: str,
    vendor: str = "0x10de",
    device: str = "0x2330",
    class_code: str = "0x030200",
    driver: str = "nvidia",
    **link: str,
) -> Files:
    """A GPU's files in sysfs; the ids are those of an H100 SXM5 in pci.ids."""
    here = f"{GPU}/{address}"
    return {
        f"{here}/vendor": f"{vendor}\n",
        f"{here}/device": f"{device}\n",
        f"{here}/class": f"{class_code}\n",
        f"{here}/driver": f"-> ../../../../bus/pci/drivers/{driver}",
        f"{here}/current_link_width": link.get("width", "16") + "\n",
        f"{here}/max_link_width": link.get("max_width", "16") + "\n",
        f"{here}/current_link_speed": link.get("speed", "2.5 GT/s PCIe") + "\n",
        f"{here}/max_link_speed": link.get("max_speed", "32.0 GT/s PCIe") + "\n",
        f"{here}/numa_node": link.get("numa", "0") + "\n",
    }


def bare() -> Files:
    """A rack server without a GPU: Ubuntu, 64 processors, 512 GiB, ext4 on NVMe."""
    return {
        "/etc/os-release": (
            'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nNAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\n'
        ),
        "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nalex:x:1000:1000::/home/alex:/bin/bash\n",
        "/etc/group": "root:x:0:\nvideo:x:44:\nrender:x:110:\nalex:x:1000:\n",
        "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet iommu=pt pci=realloc\n",
        "/proc/cpuinfo": (
            "processor\t: 0\nmodel name\t: AMD EPYC 9354 32-Core  Processor\n"
            "flags\t\t: fpu vme de\n\nprocessor\t: 1\n"
        ),
        "/proc/meminfo": (
            "MemTotal:       528000000 kB\nMemFree:        9000000 kB\n"
            "MemAvailable:   500000000 kB\nSwapTotal:       8000000 kB\n"
        ),
        "/proc/modules": "ext4 1000000 1 - Live 0x0\nahci 49152 0 - Live 0x0\n",
        "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n",
        "/proc/self/limits": LIMITS,
        "/proc/self/mountinfo": (
            "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
            "23 22 0:5 / /dev rw,nosuid - devtmpfs udev rw\n"
            "24 22 0:23 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw\n"
            "25 22 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
        ),
        "/proc/self/status": status(1000, 1000, "44 110"),
        "/proc/sys/kernel/arch": "x86_64\n",
        "/proc/sys/kernel/cap_last_cap": "40\n",
        "/proc/sys/kernel/hostname": "node-1\n",
        "/proc/sys/kernel/osrelease": "6.8.0-90-generic\n",
        "/proc/uptime": "86400.55 1000000.00\n",
        "/proc/version": "Linux version 6.8.0-90-generic (buildd@x) #91-Ubuntu SMP\n",
        "/sys/class/rtc/rtc0/since_epoch": "1800000000\n",
        "/sys/devices/system/cpu/online": "0-63\n",
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": (
            b"\x06\0\0\0\x01"
        ),
        f"{DMI}/sys_vendor": "Supermicro\n",
        f"{DMI}/product_name": "AS-8125GS-TNHR\n",
        f"{GPU}/0000:c1:00.0/vendor": "0x1a03\n",
        f"{GPU}/0000:c1:00.0/class": "0x030000\n",
        "/sys/fs/cgroup/cgroup.controllers": "cpu memory pids\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/memory.max": "max\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/memory.swap.max": "max\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/memory.current": "7000000\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/memory.events": "oom_kill 0\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/pids.max": "max\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/pids.current": "12\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/pids.max": "339000\n",
        "/sys/fs/cgroup/user.slice/user-1000.slice/pids.current": "31\n",
        "/lib/x86_64-linux-gnu/libc.so.6": (
            b"\x7fELF...GNU C Library (Ubuntu GLIBC 2.35-0ubuntu3) stable release version 2.35.\n"
        ),
        "/dev/kmsg": "6,1,100,-;Linux version 6.8.0-90-generic\n",
    }


def more_mounts(files: Files, lines: str) -> None:
    """Add lines to a machine's mountinfo."""
    files[MOUNTS] = f"{files[MOUNTS]!s}{lines}"


BARE_STATED: dict[str, Any] = {
    "statvfs": {
        "/": {"total_bytes": 900 * GIB, "free_bytes": 500 * GIB},
        "/dev/shm": {"total_bytes": 252 * GIB, "free_bytes": 252 * GIB},
    },
    "time_seconds": 1800000002.5,
}


def eight_gpus() -> tuple[Files, dict[str, Any]]:
    """The same server with eight H100 and NVIDIA's open kernel module; all nodes open."""
    files = bare()
    files["/proc/modules"] = (
        "nvidia_uvm 4000000 2 - Live 0x0 (O)\nnvidia_drm 90000 0 - Live 0x0 (O)\n"
        "nvidia 11000000 900 nvidia_uvm,nvidia_drm, Live 0x0 (O)\n"
    )
    files["/proc/driver/nvidia/version"] = (
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build"
        "  (dvs-builder@U22-1)  Thu Jan 23 03:08:00 UTC 2025\nGCC version:  gcc version 12.3.0\n"
    )
    for name in ("nvidia", "nvidia_uvm", "nvidia_drm"):
        files[f"/sys/module/{name}/version"] = "570.86.15\n"
    nodes: dict[str, Any] = {
        "/dev/nvidiactl": _node(195, 255),
        "/dev/nvidia-uvm": _node(510, 0),
    }
    for number in range(8):
        address = f"0000:{0x19 + 0x10 * number:02x}:00.0"
        files |= gpu(address, numa=str(number // 4))
        files[f"/proc/driver/nvidia/gpus/{address}/information"] = (
            f"Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t {number}\n"
            f"GPU UUID: \t GPU-00000000-0000-4000-8000-00000000000{number}\n"
            f"Device Minor: \t {number}\nGPU Excluded:\t No\n"
        )
        nodes[f"/dev/nvidia{number}"] = _node(195, number)
    return files, {**BARE_STATED, "nodes": nodes}


def _node(major: int, minor: int, result: str = "ok", **other: str) -> dict[str, Any]:
    return {
        "mode": "0666",
        "owner": "root",
        "group": "root",
        "major": major,
        "minor": minor,
        "open": result,
        **other,
    }


def docker() -> tuple[Files, dict[str, Any]]:
    """A rented container on that server: cgroup v2 in a namespace, 96 GiB, 48 cores, no log."""
    files, stated = eight_gpus()
    others = [f"/proc/driver/nvidia/gpus/0000:{0x19 + 0x10 * n:02x}" for n in range(1, 8)]
    hidden = ("/sys/fs/cgroup", "/dev/kmsg", *others)
    for path in [path for path in files if path.startswith(hidden)]:
        del files[path]
    files |= {
        "/.dockerenv": "",
        "/proc/1/environ": "PATH=/opt/conda/bin:/usr/bin\0NVIDIA_VISIBLE_DEVICES=0\0HOME=/root\0",
        "/proc/self/cgroup": "0::/\n",
        "/proc/self/mountinfo": (
            "500 400 0:90 / / rw,relatime - overlay overlay rw,lowerdir=/var/lib/docker/overlay2"
            "/l/A:/var/lib/docker/overlay2/l/B,upperdir=/var/lib/docker/overlay2/c/diff\n"
            "501 500 0:91 / /proc rw - proc proc rw\n"
            "502 500 0:92 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k\n"
            "503 502 0:93 / /dev/shm rw,nosuid,nodev,noexec - tmpfs shm rw,size=65536k\n"
            "504 500 0:28 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"
            "505 500 259:5 /docker/containers/c0ffee/hosts /etc/hosts rw - xfs /dev/md127 rw\n"
            "506 500 259:2 /usr/bin/nvidia-smi /usr/bin/nvidia-smi ro - ext4 /dev/nvme1n1p2 rw\n"
            "507 500 259:2 /usr/lib/libcuda.so.570.86.15"
            " /usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15 ro - ext4 /dev/nvme1n1p2 rw\n"
            "508 500 0:99 / /workspace rw,relatime - fuse mfs#eu-1.runpod.net:9421 rw\n"
            "509 500 259:5 /volumes/data/_data /data rw,relatime - xfs /dev/md127 rw\n"
            "510 500 0:95 / /tmp rw,nosuid,nodev,noexec - tmpfs tmpfs rw\n"
        ),
        "/proc/self/status": status(capabilities=DOCKER_CAPABILITIES, cpus="0-47"),
        "/sys/fs/cgroup/cpu.max": "4800000 100000\n",
        "/sys/fs/cgroup/memory.max": f"{96 * GIB}\n",
        "/sys/fs/cgroup/memory.swap.max": "0\n",
        "/sys/fs/cgroup/memory.current": f"{13 * GIB}\n",
        "/sys/fs/cgroup/memory.stat": f"anon 1\nfile 5\ninactive_file {3 * GIB}\n",
        "/sys/fs/cgroup/memory.events": "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\n",
        "/sys/fs/cgroup/pids.max": "629145\n",
        "/sys/fs/cgroup/pids.current": "77\n",
        "/usr/bin/nvidia-smi": "",
        "/workspace": "dir",
        "/data": "dir",
    }
    space = {"total_bytes": 60 * GIB, "free_bytes": 59 * GIB}
    stated = {
        **stated,
        "statvfs": {
            "/": space,
            "/dev/shm": {"total_bytes": 64 << 20, "free_bytes": 64 << 20},
            "/tmp": space,
            "/workspace": {"total_bytes": 448 << 40, "free_bytes": 112 << 40},
            "/data": space,
        },
        # The box was given one of eight: the others' nodes are there but its cgroup refuses them.
        "nodes": {
            "/dev/nvidiactl": _node(195, 255),
            "/dev/nvidia-uvm": _node(510, 0),
            "/dev/nvidia0": _node(195, 0),
            "/dev/nvidia5": _node(195, 5, "EPERM"),
        },
    }
    return files, stated


def slurm_v1() -> tuple[Files, dict[str, Any]]:
    """A SLURM step with cgroup v1: controllers at different depths, the job holds the limit."""
    files = bare()
    for path in [path for path in files if path.startswith("/sys/fs/cgroup")]:
        del files[path]
    step = "/slurm/uid_1000/job_42/step_0"
    memory = "/sys/fs/cgroup/memory"
    files |= {
        "/proc/self/cgroup": (
            "11:pids:/system.slice/slurmd.service\n"
            f"9:memory:{step}/task_0\n"
            f"5:cpuset:{step}\n"
            f"3:cpuacct,cpu:{step}\n"
            "1:name=systemd:/system.slice/slurmd.service\n"
        ),
        "/proc/self/mountinfo": (
            "22 1 259:2 / / rw,relatime - ext4 /dev/sda2 rw\n"
            "24 22 0:23 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n"
            "30 22 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "31 22 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
            "32 22 0:31 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
            "40 22 0:50 / /home rw,relatime - nfs4 filer:/home rw,vers=4.2\n"
        ),
        f"{memory}/memory.limit_in_bytes": NO_LIMIT_V1,
        f"{memory}{step}/task_0/memory.limit_in_bytes": NO_LIMIT_V1,
        f"{memory}{step}/task_0/memory.memsw.limit_in_bytes": NO_LIMIT_V1,
        f"{memory}/slurm/uid_1000/job_42/memory.limit_in_bytes": f"{4 * GIB}\n",
        f"{memory}/slurm/uid_1000/job_42/memory.memsw.limit_in_bytes": f"{5 * GIB}\n",
        f"{memory}/slurm/uid_1000/job_42/memory.usage_in_bytes": f"{2 * GIB}\n",
        f"{memory}/slurm/uid_1000/job_42/memory.stat": f"cache 1\ntotal_inactive_file {GIB}\n",
        f"{memory}/slurm/uid_1000/job_42/memory.oom_control": "under_oom 0\noom_kill 3\n",
        f"/sys/fs/cgroup/cpu,cpuacct{step}/cpu.cfs_quota_us": "-1\n",
        f"/sys/fs/cgroup/cpu,cpuacct{step}/cpu.cfs_period_us": "100000\n",
        "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_1000/cpu.cfs_quota_us": "250000\n",
        "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_1000/cpu.cfs_period_us": "100000\n",
        "/sys/fs/cgroup/pids/system.slice/slurmd.service/pids.max": "max\n",
        "/sys/fs/cgroup/pids/system.slice/slurmd.service/pids.current": "40\n",
        "/home/alex": "dir",
    }
    return files, {**BARE_STATED, "statvfs": {**BARE_STATED["statvfs"], "/home": {}}}


def wsl() -> tuple[Files, dict[str, Any]]:
    """Ubuntu on WSL 2: /dev/dxg instead of NVIDIA's nodes, no PCI display, its own libcuda."""
    files = bare()
    del files[f"{DMI}/sys_vendor"], files[f"{DMI}/product_name"]
    del files["/proc/modules"]
    files |= {
        "/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n",
        "/proc/self/mountinfo": (
            "60 1 8:32 / / rw,relatime - ext4 /dev/sdc rw\n"
            "61 60 0:20 / /usr/lib/wsl/drivers ro - 9p none ro\n"
            "62 60 0:40 / /mnt/c rw,noatime - 9p C:\\134 rw\n"
        ),
        "/usr/lib/wsl/lib/libcuda.so.1": ELF_64,
        "/usr/lib/wsl/lib/libcuda.so": ELF_64,
        "/usr/lib/wsl/lib/libcuda.so.1.1": ELF_64,
        "/sys/module/ext4/version": "1\n",
    }
    return files, {**BARE_STATED, "nodes": {"/dev/dxg": _node(10, 63)}}


def gvisor() -> tuple[Files, dict[str, Any]]:
    """A sandbox of gVisor: its own kernel, no kernel log, no module list, no PCI."""
    keep = ("/etc/", "/proc/self/limits", "/proc/self/status", "/proc/meminfo", "/lib/")
    files: Files = {path: text for path, text in bare().items() if path.startswith(keep)}
    files |= {
        "/proc/version": "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
        "/proc/sys/kernel/osrelease": "4.4.0\n",
        "/proc/sys/kernel/hostname": "modal\n",
        "/proc/self/mountinfo": "1 0 0:12 / / rw - 9p none rw,trans=fd\n",
        "/proc/self/cgroup": "0::/\n",
        "/proc/cpuinfo": "processor\t: 0\nmodel name\t: unknown\nflags\t: fpu hypervisor\n",
        "/proc/driver/nvidia/version": (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC\n"
        ),
    }
    nodes = {"/dev/nvidiactl": _node(195, 255), "/dev/nvidia0": _node(195, 0)}
    return files, {"architecture": "x86_64", "nodes": nodes}


def amd() -> tuple[Files, dict[str, Any]]:
    """A server with two MI300X and the kernel's own amdgpu; the user is in no render group."""
    files = bare()
    files["/proc/modules"] = "amdgpu 15000000 0 - Live 0x0\nnouveau 1 0 - Live 0x0 (Unloading)\n"
    files["/sys/module/amdgpu/parameters/vm_size"] = "-1\n"
    files["/sys/class/kfd/kfd/topology/nodes/0/gpu_id"] = "0\n"
    files["/opt/rocm"] = "-> /opt/rocm-6.4.1"
    files["/opt/rocm-6.4.1/.info/version"] = "6.4.1-83\n"
    files["/opt/rocm-6.4.1/bin/hipcc"] = "#!/bin/sh\n"
    files["/opt/rocm-6.4.1/lib/libamdhip64.so.6"] = "-> libamdhip64.so.6.4.60401"
    files["/opt/rocm-6.4.1/lib/libamdhip64.so.6.4.60401"] = ELF_64
    files["/usr/share/misc/pci.ids"] = (
        "#\n10de  NVIDIA Corporation\n\t74a1  not AMD's\n"
        "1002  Advanced Micro Devices, Inc. [AMD/ATI]\n\t74a1  Aqua Vanjaram [Instinct MI300X]\n"
        "1022  Advanced Micro Devices, Inc. [AMD]\n"
    )
    files["/proc/self/status"] = status(1000, 1000, "")
    for address in ("0000:0c:00.0", "0000:2a:00.0"):
        files |= gpu(
            address, "0x1002", "0x74a1", "0x120000", "amdgpu", speed="Unknown", width="0", numa="-1"
        )
    refused = {"mode": "0660", "group": "render"}
    nodes = {
        "/dev/kfd": _node(234, 0, "EACCES", **refused),
        "/dev/dri/renderD128": _node(226, 128, "EACCES", **refused),
        "/dev/dri/renderD129": _node(226, 129, "EACCES", **refused),
    }
    return files, {**BARE_STATED, "nodes": nodes}
