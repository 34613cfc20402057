# ruff: noqa: E501  (printed lines are as wide as they are)
"""CUDA that does not start: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="nvidia-uvm-missing",
        fires="""nvidia-smi works, but:
>>> torch.cuda.is_available()
UserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment
False
$ ls /dev/nvidia-uvm
ls: cannot access '/dev/nvidia-uvm': No such file or directory""",
        quiet="""$ ls /dev/nvidia-uvm
/dev/nvidia-uvm
$ lsmod | grep nvidia
nvidia_uvm           1540096  0
nvidia              56807424  42 nvidia_uvm,nvidia_modeset
torch.cuda.is_available(): True""",
        elsewhere=(
            """E0 failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error
$ lsmod | grep uvm
$ sudo modprobe nvidia_uvm
modprobe: FATAL: Module nvidia-uvm not found in directory /lib/modules/5.4.0-42-generic
Driver Version: 440.100""",
            """cudaGetDeviceCount returned 30
-> unknown error
After boot there is no /dev/nvidia-uvm until I run nvidia-modprobe -u -c=0""",
            """podman: RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment
The files /dev/nvidia-uvm and /dev/nvidia-uvm-tools were missing on the host; nvidia-smi is fine""",
        ),
        source="pytorch issue 49081; cuda-installation-guide, device nodes",
    ),
    Row(
        code="uvm-broken-after-suspend",
        fires="""After suspend and resume every program says
RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start.
nvidia-smi looks normal; sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm fixes it.""",
        quiet="""The laptop was suspended twice since.
torch.cuda.is_available(): True
Driver Version: 550.120""",
        elsewhere=(
            """especially after waking the laptop up from sleep, torch.cuda.is_available() returns False
UserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment""",
            """external/xla/xla/stream_executor/cuda/cuda_driver.cc:268] failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error
No GPU/TPU found, falling back to CPU.
I rely on OS suspension in most cases.""",
            """GPU becomes unavailable after computer wakes up
failed call to cuInit: CUDA_ERROR_UNKNOWN""",
        ),
        source="pytorch issue 88639; NixOS/nixpkgs issue 348769; gbionics/jaxsim issue 50",
    ),
    Row(
        code="uvm-hmm-init-failure",
        fires="""level=INFO source=gpu.go:612 msg="Unable to load cudart library /usr/lib/x86_64-linux-gnu/libcuda.so.575.57.08: cuda driver library init failure: 3"
GPU: RTX PRO 6000 Blackwell""",
        quiet="""nvidia-uvm: Loaded the UVM driver, major device number 509.
torch.cuda.is_available(): True
Driver Version: 580.82.07""",
        elsewhere=(
            """cuInit returns 3 with the open kernel modules, the proprietary ones work
Rocky 9.6, kernel 5.14.0-570.23.1.el9_6.x86_64, driver 575.57.08, RTX 6000 Ada""",
            """nvidia-uvm: uvm_pmm_gpu.c:3226 devmem_alloc_pagemap[pid:4711] request_free_mem_region() err -34
torch: CUDA driver initialization failed, you might not have a CUDA gpu.""",
        ),
        source="ollama issue 11593; open-gpu-kernel-modules issues 901, 947",
    ),
    Row(
        code="nvidia-device-permission",
        fires="""$ nvidia-smi
Failed to initialize NVML: Insufficient Permissions
$ ls -l /dev/nvidia*
crw-rw---- 1 root vglusers 195,   0 Jan  5 10:00 /dev/nvidia0
crw-rw---- 1 root vglusers 195, 255 Jan  5 10:00 /dev/nvidiactl""",
        quiet="""$ ls -l /dev/nvidia*
crw-rw-rw- 1 root root 195,   0 Jan  5 10:00 /dev/nvidia0
crw-rw-rw- 1 root root 195, 255 Jan  5 10:00 /dev/nvidiactl
torch.cuda.is_available(): True""",
        elsewhere=(
            """open("/dev/nvidiactl", O_RDWR) = -1 EACCES (Permission denied)
torch.cuda.is_available(): False, as root it is True
Driver Version: 470.82""",
            """NVML: Insufficient Permissions
/dev/nvidia0: Permission denied
RuntimeError: No CUDA GPUs are available""",
        ),
        source="nvml.h; NVIDIA driver README, device files",
    ),
    Row(
        code="compute-mode-exclusive",
        fires="""Check failed: error == cudaSuccess (46 vs. 0)  all CUDA-capable devices are busy or unavailable
| NVIDIA-SMI 375.26                 Driver Version: 375.26                    |
|   0  Tesla K40m          On   | 0000:04:00.0     Off |                    0 |
| N/A   35C    P0    63W / 235W |     74MiB / 11439MiB |      0%   E. Process |""",
        quiet="""| NVIDIA-SMI 535.129.03             Driver Version: 535.129.03   CUDA Version: 12.2     |
|   0  Tesla V100-SXM2-16GB           On  | 00000000:04:00.0 Off |                    0 |
| N/A   35C    P0              63W / 300W |      0MiB / 16384MiB |      0%      Default |""",
        elsewhere=(
            """RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
$ nvidia-smi -q -d COMPUTE
    Compute Mode                          : Exclusive_Process
8 ranks on one node""",
            """THCudaCheck FAIL line=66 error=46 : all CUDA-capable devices are busy or unavailable
the cluster's nodes are in exclusive mode and only one script can use GPU 0""",
        ),
        source="NVIDIA/DIGITS issue 2005; pytorch issue 3871",
    ),
    Row(
        code="vgpu-unlicensed",
        fires="""RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
    vGPU Software Licensed Product
        Product Name                      : NVIDIA Virtual Compute Server
        License Status                    : Unlicensed (Restricted)""",
        quiet="""    vGPU Software Licensed Product
        Product Name                      : NVIDIA RTX Virtual Workstation
        License Status                    : Licensed (Expiry: 2026-12-1 10:0:0 GMT)
torch.cuda.is_available(): True""",
        elsewhere=(
            """nvidia-gridd: Failed to acquire license from 192.0.2.7 (Info: NVIDIA Virtual Compute Server - Error: timed out)
tensorflow InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: all CUDA-capable devices are busy or unavailable""",
            """GRID A100D-20C in a VM; the first minutes are fine, then
RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable""",
        ),
        source="NVIDIA/gpu-operator issues 220, 628; DDMAL/Rodan issue 1332",
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
