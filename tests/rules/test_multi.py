# ruff: noqa: E501, E101  (printed lines are as wide as they are)
"""Several GPUs: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="fabric-manager-not-installed",
        fires="""RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
$ systemctl status nvidia-fabricmanager
Unit nvidia-fabricmanager.service could not be found.
8x NVIDIA A100-SXM4-80GB""",
        quiet="""● nvidia-fabricmanager.service - NVIDIA fabric manager service
     Active: active (running) since Mon 2026-01-05 10:00:00 UTC; 2 days ago
torch.cuda.is_available(): True""",
        elsewhere=(
            """GPU 0: NVIDIA H100 80GB HBM3 ...
terminate called after throwing an instance of 'std::runtime_error'
  what():  Error (gpu_burn-drv.cpp:298): system not yet initialized""",
            """numba.cuda.cudadrv.driver.CudaAPIError: [802] Call to cuInit results in UNKNOWN_CUDA_ERROR
A100-SXM4-40GB x8""",
            """jaxlib: cuInit(0) failed: CUDA_ERROR_SYSTEM_NOT_READY
HGX H200""",
        ),
        source="pytorch issue 35710; gpu-burn issue 92; numba issue 7187; jax pull 34113",
    ),
    Row(
        code="fabric-manager-version-mismatch",
        fires="""fabric manager NVIDIA GPU driver interface version 550.90.07 don't match with driver version 550.107.02. Please update with matching NVIDIA driver package.""",
        quiet="""fabric manager: 550.107.02
driver: 550.107.02
torch.cuda.is_available(): True""",
        elsewhere=(
            """cuInit failed: system not yet initialized
fabric manager version: 535.129.03
driver: 535.183.01
gpu: 8x H100 SXM""",
        ),
        source="NVIDIA/nvtrust issue 55",
    ),
    Row(
        code="iommu-acs-blocks-p2p",
        fires="""NCCL all_reduce_perf hangs on 4 GPUs; with NCCL_P2P_DISABLE=1 it runs.
$ sudo lspci -vvv | grep ACSCtl
                ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-""",
        quiet="""$ cat /proc/cmdline
BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt
torch.cuda.is_available(): True""",
        elsewhere=(
            """init.cc:179 NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!
vllm serve gets stuck with two RX 7900 XTX""",
            """amdgpu 0000:03:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0010 address=0xe0000000 flags=0x0020]
multi-GPU training freezes at the first all-reduce""",
        ),
        source="NCCL issues 199, 257, 606; ROCm/vllm issue 390",
    ),
    Row(
        code="p2p-not-supported-by-platform",
        fires="""RuntimeError: CUDART error: peer access is not supported between these two devices
python -m sglang.launch_server --tensor-parallel-size=2 on 8x NVIDIA GeForce RTX 4090""",
        quiet="""WARNING 05-13 08:48:35 custom_all_reduce.py:166] Custom allreduce is disabled because your platform lacks GPU P2P capability or P2P test failed. To silence this warning, specify disable_custom_all_reduce=True explicitly.
torch.cuda.is_available(): True""",
        elsewhere=(
            """[TensorRT-LLM][ERROR] CUDA runtime error in cudaDeviceEnablePeerAccess: cudaErrorPeerAccessUnsupported
2x A30 in a VM""",
        ),
        source="sglang issue 4814; TensorRT-LLM issues 1498, 1499",
    ),
    Row(
        code="nvlink-bridge-badly-seated",
        fires="""GPU 0: NVIDIA RTX A6000 (UUID: GPU-00000000-0000-4000-8000-000000000000)
	 Link 0: 14.062 GB/s
	 Link 1: <inactive>
	 Link 2: 14.062 GB/s
	 Link 3: <inactive>""",
        quiet="""GPU 0: NVIDIA RTX A6000 (UUID: GPU-00000000-0000-4000-8000-000000000000)
	 Link 0: 14.062 GB/s
	 Link 1: 14.062 GB/s
GPU 1: NVIDIA RTX A6000 (UUID: GPU-00000000-0000-4000-8000-000000000001)
NVML: Unable to retrieve NVLink information as all links are inActive""",
        elsewhere=(
            """two GeForce RTX 3090 with a 4-slot NVLink bridge
NVRM: Xid (PCI:0000:0a:00): 74, pid=1234, NVLink: fatal error detected on link 2""",
        ),
        source="NCCL issues 340, 557; nvidia-smi nvlink -s",
    ),
    Row(
        code="nvlink-down",
        fires="""        GPU0    GPU1    GPU2    GPU3    NIC0    CPU Affinity
GPU0     X      NV18    NODE    NV18    PXB     0-55
GPU1    NV18     X      NODE    NV18    NODE    0-55
GPU2    NODE    NODE     X      NODE    NODE    0-55
GPU3    NV18    NV18    NODE     X      NODE    0-55""",
        quiet="""        GPU0    GPU1    GPU2    GPU3    GPU4    CPU Affinity
GPU0     X      NV4     PHB     PHB     PHB     0-31
GPU1    NV4      X      PHB     PHB     PHB     0-31
GPU2    PHB     PHB      X      NV4     PHB     0-31
GPU3    PHB     PHB     NV4      X      PHB     0-31
GPU4    PHB     PHB     PHB     PHB      X      0-31""",
        elsewhere=(
            """GPU 3: Tesla V100-SXM2-32GB (UUID: GPU-00000000-0000-4000-8000-000000000000)
         Link 0: 25.781 GB/s
         Link 1: 25.781 GB/s
         Link 2: <inactive>
         Link 3: 25.781 GB/s
         Link 4: <inactive>""",
        ),
        source="nvidia-smi topo -m and nvlink -s; Azure/azhpc-diagnostics issue 73",
    ),
    Row(
        code="nvlink-errors",
        fires="""NVRM: Xid (PCI:0000:3b:00): 74, pid=1234, name=python, NVLink: fatal error detected on link 6
gpu: 8x NVIDIA A100-SXM4-80GB""",
        quiet="""GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-4000-8000-000000000000)
	 Link 0: Replay Errors: 0
	 Link 0: CRC Errors: 0""",
        elsewhere=(
            """RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution
H100 SXM""",
        ),
        source="NVIDIA's Xid catalogue; cudaErrorNvlinkUncorrectable",
    ),
    Row(
        code="nccl-no-usable-interface",
        fires="""gpu617:22841:22841 [0] bootstrap.cc:37 NCCL WARN Bootstrap : no socket interface found
RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:410, internal error
NCCL_SOCKET_IFNAME=eth0""",
        quiet="""NCCL INFO Bootstrap : Using eth0:192.0.2.1<0>
NCCL INFO NET/Socket : Using [0]eth0:192.0.2.1<0>
NCCL INFO comm 0x55 rank 0 nranks 2 - Init COMPLETE""",
        elsewhere=(
            """ncclInternalError: Internal check failed.
Last error:
ncclSocketInit: connecting to address  with family 59936 is neither AF_INET(2) nor AF_INET6(10)""",
            """bootstrap.cc:39 NCCL WARN NET/Socket : No usable listening interface found
container started with --network none""",
        ),
        source="NCCL issues 929, 1837; pytorch issue 29482",
    ),
    Row(
        code="nccl-wrong-interface",
        fires="""NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>
misc/socket.cc:480 NCCL WARN socketStartConnect: Connect to 172.17.0.1<38847> failed : Connection refused
torch.distributed.DistBackendError: NCCL error, unhandled system error""",
        quiet="""NCCL INFO NET/Socket : Using [0]enp67s0:192.0.2.8<0>
NCCL INFO comm 0x55 rank 0 nranks 16 - Init COMPLETE
step 100 loss 2.1""",
        elsewhere=(
            """NCCL INFO NET : Using interface lo:127.0.0.1<0>
NCCL INFO NET : Using interface eth0:10.0.0.12<0>
include/socket.h:361 NCCL WARN Call to connect timeout : Connection refused""",
            """node1 [0] include/socket.h:409 NCCL WARN Net : Connect to 192.0.2.9<54263> failed : No route to host
NCCL INFO NET/Socket : Using [0]enp67s0:192.0.2.8<0>""",
            """NCCL WARN Net : No interface found in the same subnet as remote address 198.51.100.4<1778>
NCCL_COMM_ID set; torchrun on two machines""",
        ),
        source="NCCL issues 697, 929, 1105; horovod issues 584, 789",
    ),
    Row(
        code="mig-single-instance",
        fires="""$ nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-4000-8000-000000000000)
  MIG 3g.40gb     Device  0: (UUID: MIG-00000000-0000-4000-8000-000000000001)
  MIG 3g.40gb     Device  1: (UUID: MIG-00000000-0000-4000-8000-000000000002)
>>> torch.cuda.device_count()
1""",
        quiet="""  MIG 1g.10gb     Device  0: (UUID: MIG-00000000-0000-4000-8000-000000000001)
CUDA_VISIBLE_DEVICES=MIG-00000000-0000-4000-8000-000000000001
torch.cuda.is_available(): True""",
        elsewhere=(
            """[error] Invalid CUDA device index "1" from device string ,1,2, there are 1 visible CUDA devices.
Our HPC uses multi-instance GPU; I booked three MIG slices with --gres=gpu:3""",
            """CUDA_VISIBLE_DEVICES=MIG-89c850dc-38e3-57df-85c7-690c186b68e9,MIG-f2b5fbbd-850e-51bb-8ffa-ac9fb48126da
RuntimeError: CUDA error: invalid device ordinal""",
        ),
        source="pytorch issues 102715, 130181; dorado issue 812; MIG user guide",
    ),
    Row(
        code="mig-without-instance",
        fires="""|   0  NVIDIA A30                     On  | 00000000:98:00.0 Off |                   On |
| N/A   35C    P0              29W / 165W |      0MiB / 24576MiB |     N/A      Default |
|                                         |                      |              Enabled |
| MIG devices:                                                                          |
|  No MIG devices found                                                                 |
| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
RuntimeError: No CUDA GPUs are available""",
        quiet="""| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
|   0  NVIDIA A30                     On  | 00000000:98:00.0 Off |                    0 |
| N/A   35C    P0              29W / 165W |      0MiB / 24576MiB |      0%      Default |
|                                         |                      |             Disabled |""",
        elsewhere=(),
        source="nvidia-smi of an A30 in MIG mode",
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
