# ruff: noqa: E501  (printed lines are as wide as they are)
"""How a container was started: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="container-started-without-gpu",
        fires="""$ docker run -it --rm -p 8888:8888 myorg/trainer:latest python train.py
RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver""",
        quiet="""$ docker run --gpus all -it --rm pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime python -c 'import torch; print(torch.cuda.is_available())'
True""",
        elsewhere=(
            """=============
== PyTorch ==
=============
WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.
   Use the NVIDIA Container Toolkit to start this container with GPU support; see
   https://docs.nvidia.com/datacenter/cloud-native/ .""",
            """$ sudo podman run --rm --gpus all ubuntu nvidia-smi -L
Error: crun: executable file `nvidia-smi` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found""",
            """root@101acc334128:/var/lib/jenkins# /opt/rocm/bin/rocminfo
ROCk module is loaded
Unable to open /dev/kfd read-write: No such file or directory
Failed to get user name to check for video group membership""",
        ),
        source="NGC entry point; NVIDIA/nvidia-container-runtime issue 190; ROCm issue 1798",
    ),
    Row(
        code="container-toolkit-missing",
        fires="""docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |""",
        quiet="""Runtimes: io.containerd.runc.v2 nvidia runc
 Default Runtime: nvidia
torch.cuda.is_available(): True""",
        elsewhere=(
            """docker: Error response from daemon: Unknown runtime specified nvidia.
See 'docker run --help'.""",
            """Emulate Docker CLI using podman.
Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all""",
            """Attaching to webui-docker-auto-1
Error response from daemon: could not select device driver "nvidia" with capabilities: [[compute utility gpu]]""",
            """Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured""",
        ),
        source="docker, podman and containerd texts; warmshao/FasterLivePortrait issue 116",
    ),
    Row(
        code="host-driver-missing-for-container",
        fires="""docker: Error response from daemon: OCI runtime create failed: nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.""",
        quiet="""I0902 nvc.c:376] initializing library context (version=1.10.0)
torch.cuda.is_available(): True""",
        elsewhere=(
            """nvidia-container-cli: initialization error: nvml error: driver not loaded""",
        ),
        source="libnvidia-container",
    ),
    Row(
        code="container-compute-capability-missing",
        fires="""$ docker run --rm --gpus all -e NVIDIA_DRIVER_CAPABILITIES=utility app
ImportError: libcuda.so.1: cannot open shared object file: No such file or directory
nvidia-smi works inside the container""",
        quiet="""$ docker run --rm --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility app
torch.cuda.is_available(): True""",
        elsewhere=(
            """docker-compose.yml
          devices:
            - driver: nvidia
              count: 1
              capabilities: [utility]
RuntimeError: Found no NVIDIA driver on your system.""",
            """kubectl exec pod/trainer -- nvidia-smi shows the GPU inside the pod, yet
OSError: libcuda.so.1: cannot open shared object file: No such file or directory""",
        ),
        source="NVIDIA container toolkit, driver capabilities; nvidia-docker issue 533",
    ),
    Row(
        code="container-libcuda-not-on-loader-path",
        fires="""On a GKE node pool with L4:
torch.cuda.is_available() is False in the pod, /dev/nvidia0 exists and
$ ls /usr/local/nvidia/lib64/libcuda.so.1
/usr/local/nvidia/lib64/libcuda.so.1
$ echo $LD_LIBRARY_PATH
""",
        quiet="""GKE pod
LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/local/cuda/lib64
torch.cuda.is_available(): True""",
        elsewhere=(
            """kubectl logs: ImportError: libcuda.so.1: cannot open shared object file: No such file or directory
cluster: GKE 1.29, container-optimized OS, nvidia.com/gpu: 1""",
            """bash: nvidia-smi: command not found
the driver is mounted by the platform at /usr/local/nvidia/lib64 and /usr/local/nvidia/bin
RuntimeError: Found no NVIDIA driver on your system.
pod in kubernetes""",
        ),
        source="GoogleCloudPlatform/community issue 2227; text-generation-inference issue 1711; OpenDroneMap pull 2003",
    ),
    Row(
        code="container-gpu-access-revoked",
        fires="""root@098b49afe624:/# nvidia-smi
Failed to initialize NVML: Unknown Error
It worked until somebody ran systemctl daemon-reload on the host, where nvidia-smi still works.""",
        quiet="""root@098b49afe624:/# nvidia-smi -L
GPU 0: NVIDIA A10 (UUID: GPU-00000000-0000-4000-8000-000000000000)
$ sudo systemctl daemon-reload
torch.cuda.is_available(): True""",
        elsewhere=(
            """docker container, after a random amount of time (several days) GPUs become invalid:
Failed to initialize NVML: Unknown Error
on the host machine nvidia-smi works well""",
            """kubectl exec: Failed to initialize NVML: Unknown Error
cat /sys/fs/cgroup/devices/devices.list shows only c 195:* m""",
        ),
        source="NVIDIA/nvidia-docker issues 1671, 1678; nvidia-container-toolkit issues 48, 1227",
    ),
    Row(
        code="container-render-group-missing",
        fires="""$ docker run -it --rm --device=/dev/kfd --device=/dev/dri --group-add video --ipc=host rocm/rocm-terminal
$ rocminfo
ROCk module is loaded
Unable to open /dev/kfd read-write: Permission denied
$ groups
rocm-user sudo video""",
        quiet="""$ docker run -u 1000 -it --device=/dev/kfd --device=/dev/dri --group-add video --group-add render rocm/pytorch
$ rocminfo | grep gfx
  Name:                    gfx90a
torch.cuda.is_available(): True""",
        elsewhere=(
            """RuntimeError: No HIP GPUs are available
toolbox container on Fedora; /dev/kfd and /dev/dri/renderD128 are owned by group 105 on the host and the container user is not in it
GPU: Strix Halo""",
            """podman run --device /dev/kfd --device /dev/dri rocm/pytorch
open /dev/dri/renderD128: Permission denied
torch.cuda.is_available(): False""",
        ),
        source="ROCm/ROCm-docker issue 116; kyuz0/amd-strix-halo-vllm-toolboxes issue 6",
    ),
    Row(
        code="container-cdi-stale-device-major",
        fires="""In the container cuInit returns 999 although nvidia-smi works.
$ grep -A1 nvidia-uvm$ /etc/cdi/nvidia.yaml
      major: 510
$ grep nvidia-uvm /proc/devices
509 nvidia-uvm""",
        quiet="""CDI spec directories: /etc/cdi
 cdi: nvidia.com/gpu=all
torch.cuda.is_available(): True""",
        elsewhere=(
            """podman, RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment
running nvidia-ctk cdi generate again after the reboot cures it""",
        ),
        source="NVIDIA/nvidia-container-toolkit issue 1934",
    ),
    Row(
        code="driver-too-old-for-image",
        fires="""nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update your driver to a newer version, or use an earlier cuda container: unknown.
Driver Version: 535.104.05""",
        quiet="""NVIDIA_REQUIRE_CUDA=cuda>=12.4
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
torch.cuda.is_available(): True""",
        elsewhere=(
            """docker: Error response from daemon: oci runtime error: container_linux.go:265: starting container process caused: nvidia-container-cli: requirement error: unsatisfied condition: cuda >= 9.2""",
            """ERROR: This container was built for NVIDIA Driver Release 535.86 or later, but
       version 470.141.03 was detected and compatibility mode is UNAVAILABLE.""",
        ),
        source="NVIDIA/nvidia-docker issues 536, 753; llama.cpp issue 9665; NGC entry point",
    ),
    Row(
        code="container-memory-limit",
        fires="""Last State:     Terminated
  Reason:       OOMKilled
  Exit Code:    137
pod/trainer-0, limits: memory 16Gi""",
        quiet="""resources:
  limits:
    memory: 64Gi
    nvidia.com/gpu: 1
training finished, exit code 0""",
        elsewhere=(
            """slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4711.0. Some of your processes may have been killed by the cgroup out-of-memory handler.""",
            """Memory cgroup out of memory: Killed process 2917 (python3) total-vm:98304000kB, anon-rss:33030144kB""",
            """the container exits with code 137 while it loads the checkpoint into memory; docker run -m 16g""",
        ),
        source="Kubernetes, SLURM and kernel texts",
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


def test_another_hosts_refusal_is_not_this_drivers_fault() -> None:
    text = "host 1: unsatisfied condition: cuda>=12.8\ndriver: 570.195.03"
    assert first(text) != "driver-too-old-for-image"
