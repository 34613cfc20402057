# ruff: noqa: E501  (printed lines are as wide as they are)
"""AMD GPUs: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="amdsmi-library-not-found",
        fires="""  File "/opt/venv/lib/python3.12/site-packages/amdsmi/amdsmi_interface.py", line 28, in <module>
    from . import amdsmi_wrapper
KeyError: 'libamd_smi.so'
torch 2.8.0+rocm6.4""",
        quiet="""torch 2.8.0+rocm6.4
amdsmi 6.4.1
torch.cuda.device_count() 8
torch.cuda.is_available(): True""",
        elsewhere=(
            """Unable to find libamd_smi.so library try installing amd-smi-lib from your package manager
vllm on MI300X fails at import""",
            """OSError: libamd_smi.so: cannot open shared object file: No such file or directory
import torch
ROCm 7.0 wheels""",
        ),
        source="PyPI amdsmi 7.0.2",
    ),
    Row(
        code="amdsmi-version-mismatch",
        fires="""AttributeError: /opt/rocm-7.0.1/lib/libamd_smi.so: undefined symbol: amdsmi_get_gpu_partition_metrics_info
  File "/opt/rocm-7.1.1/libexec/amdsmi_cli/amdsmi_init.py", line 38, in <module>""",
        quiet="""$ amd-smi version
AMDSMI Tool: 25.3.0 | AMDSMI Library version: 25.3.0 | ROCm version: 6.4.0
torch.cuda.is_available(): True""",
        elsewhere=(
            """AttributeError: module 'amdsmi.amdsmi_interface' has no attribute 'amdsmi_get_node_handle'
multi rocm installation with 7.2.0 and 6.2.4""",
            """every import torch fails: undefined symbol: amdsmi_get_cpu_affinity_with_scope
amdsmi 7.0.2
torch 2.8.0+rocm6.4""",
        ),
        source="ROCm/amdsmi issues 98, 186; ROCm issue 5966; RLinf pull 1507",
    ),
    Row(
        code="duplicate-amdsmi-libraries",
        fires=""">>> torch.cuda.device_count()
0
hipGetDeviceCount reports 1. Two copies are mapped:
/opt/rocm/lib/libamd_smi.so.26
/usr/local/lib/python3.12/dist-packages/amdsmi/libamd_smi.so
AssertionError: Invalid device id""",
        quiet="""/opt/rocm/lib/libamd_smi.so.26
torch.cuda.device_count() 8
torch.cuda.is_available(): True""",
        elsewhere=(
            """torch.cuda.device_count() returns 0 on ROCm when amdsmi is installed
_rocm_sdk_core/lib/libamd_smi.so.26 and amdsmi/libamd_smi.so both mapped""",
            """amdsmi_get_processor_handles() returns 0 handles once librocm_smi64.so.1 is loaded before libamd_smi.so
8x MI355X, ROCm 7.14 wheels and pip install amdsmi""",
            """torch.cuda.device_count() returns 0 on ROCm when amdsmi is installed: duplicate libamd_smi, HIP sees the GPU""",
        ),
        source="pytorch issue 186516; ROCm/rocm-systems issue 7643, pull 5303",
    ),
    Row(
        code="pynvml-breaks-rocm-torch",
        fires="""    device_count = _device_count_amdsmi() if torch.version.hip else _device_count_nvml()
NameError: name 'amdsmi' is not defined
torch 2.5.1+rocm6.2
nvidia-ml-py 12.560.30""",
        quiet="""torch 2.9.1+rocm6.4
nvidia-ml-py 12.560.30
torch.cuda.is_available(): True""",
        elsewhere=(
            """except amdsmi.AmdSmiException as e:
NameError: name 'amdsmi' is not defined
pynvml 11.5.3 came with a monitoring package""",
        ),
        source="pytorch issue 133259, pull 175077",
    ),
    Row(
        code="kfd-driver-not-loaded",
        fires="""$ rocminfo
ROCk module is NOT loaded, possibly no GPU devices
$ lspci | grep -i amd
03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XT/7900 XTX] (rev c8)""",
        quiet="""$ rocminfo
ROCk module version 6.10.5 is loaded
  Name:                    gfx1100
torch.cuda.is_available(): True""",
        elsewhere=(
            """ERROR:root:Driver not initialized (amdgpu not found in modules)
rocm-smi on a fresh Ubuntu 24.04 with an Instinct MI210""",
            """$ ls -l /dev/kfd
ls: cannot access '/dev/kfd': No such file or directory
Radeon VII, kernel 6.5
Building module amdgpu-6.2.4: Error! Bad return status for module build on kernel: 6.5.0-15-generic""",
        ),
        source="rocminfo, rocm-smi; amdgpu-dkms",
    ),
    Row(
        code="kfd-permission-denied",
        fires="""$ rocminfo
ROCk module is loaded
Unable to open /dev/kfd read-write: Permission denied
user1 is not member of "render" group, the default DRM access group. Users must be a member of the "render" group""",
        quiet="""user1 is member of render group
torch.cuda.is_available(): True
GPU: RX 7900 XTX""",
        elsewhere=(
            """hsa_init failed: HSA_STATUS_ERROR_OUT_OF_RESOURCES
crw-rw---- 1 root render 234, 0 Jan  5 10:00 /dev/kfd
open /dev/kfd: Permission denied; bare metal, user not in the render group""",
            """RuntimeError: No HIP GPUs are available, as root it works
/dev/dri/renderD128: Permission denied""",
        ),
        source="rocminfo; ROCm prerequisites",
    ),
    Row(
        code="dkms-driver-wrong-for-apu",
        fires="""AMD Ryzen AI Max+ 395 w/ Radeon 8060S (gfx1151), Ubuntu 24.04
ii  amdgpu-dkms   1:6.14.14.30100000-2193512.24.04   all   amdgpu driver in DKMS format.
Memory access fault by GPU node-1 (Agent handle: 0x1b376c50) on address 0x7f762a667000. Reason: Page not present or supervisor privilege.""",
        quiet="""AMD Ryzen AI Max+ 395 w/ Radeon 8060S (gfx1151), kernel 6.14.0-1017-oem
torch.cuda.is_available(): True""",
        elsewhere=(
            """Strix Halo, ROCm 7.2 with amdgpu-dkms on kernel 6.12
amdgpu: MES failed to respond to msg=REMOVE_QUEUE
HW Exception by GPU node-1 (Agent handle: 0x55) reason :GPU Hang""",
        ),
        source="ROCm issues 5724, 5905, 6143",
    ),
    Row(
        code="gfx-not-in-build",
        fires="""torch.AcceleratorError: HIP error: invalid device function
GPU: AMD Radeon RX 7600 (gfx1102)
torch 2.4.1+rocm6.1""",
        quiet="""torch 2.9.1+rocm6.4
gpu: AMD Radeon RX 7900 XTX (gfx1100)
torch.cuda.is_available(): True""",
        elsewhere=(
            """"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"
Radeon RX 6600, torch 1.12.1+rocm5.1.1""",
            """/src/external/hip-on-vdi/rocclr/hip_code_object.cpp:120: guarantee(false && "hipErrorNoBinaryForGpu: Coudn't find binary for current devices!")
RX 5700""",
            """rocBLAS error: Cannot read /opt/rocm-6.4.0/lib/llvm/bin/../../../lib/rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : gfx906""",
        ),
        source="pytorch issues 53738, 73534, 132570; ROCm/pytorch issue 2730; ROCm/hip issue 2187",
    ),
    Row(
        code="igpu-selected",
        fires="""RuntimeError: HIP error: invalid device function
CPU: AMD Ryzen 5 3400G with Radeon Vega Graphics
rocminfo lists gfx902 (integrated graphics) before gfx1032 (RX 6600)
setting HIP_VISIBLE_DEVICES=1 helps""",
        quiet="""rocminfo: gfx1100 and gfx1036
HIP_VISIBLE_DEVICES=0
torch.cuda.is_available(): True""",
        elsewhere=(
            """torch.cuda.get_device_name(0) -> AMD Radeon Graphics
gfx1036; the RX 7900 XTX is device 1
HIP error: invalid device function""",
            """Segfault when the iGPU is picked as device 0 instead of the RX 7900 XT
  Name:                    gfx1036
  Name:                    gfx1100
HIP error: invalid device function""",
        ),
        source="ROCm issue 3401; ROCm known limitations",
    ),
    Row(
        code="rocm-dev-headers-missing",
        fires="""torch/include/torch/csrc/inductor/aoti_runtime/device_utils.h:14:10: fatal error: hip/hip_runtime.h: No such file or directory
   14 | #include <hip/hip_runtime.h>
torch 2.9.0+rocm7.0""",
        quiet="""-- Found HIP: /opt/rocm (found suitable version 6.4)
torch 2.9.1+rocm6.4
torch.cuda.is_available(): True""",
        elsewhere=(
            """MIOpen(HIP): Error [BuildHip] HIPRTC status = HIPRTC_ERROR_COMPILATION (6), source file: naive_conv.cpp
MIOpen(HIP): Warning [BuildHip] /tmp/comgr-ededb1/input/naive_conv.cpp:39:10: fatal error: 'limits' file not found""",
            """fatal error: 'rocprim/rocprim.hpp' file not found
compiling a ROCm extension with hipcc""",
        ),
        source="TheRock issue 1837; MIOpen issue 2096; ROCm issue 1889",
    ),
    Row(
        code="rocm-device-package-missing",
        fires="""torch.AcceleratorError: HIP error: device kernel image is invalid
Search for `hipErrorInvalidImage'
$ pip freeze
rocm==7.14.0a20260519
rocm-sdk-core==7.14.0a20260519
rocm-sdk-libraries==7.14.0a20260519
torch==2.13.0+rocm7.14.0
gfx1151""",
        quiet="""rocm-sdk-core==7.14.0a20260519
rocm-sdk-device-gfx1151==7.14.0a20260519
torch==2.13.0+rocm7.14.0
torch.cuda.is_available(): True""",
        elsewhere=(
            """pip install --index-url https://rocm.nightlies.amd.com/whl-multi-arch/ rocm[device-gfx950]
WARNING: rocm 7.14.0a20260519 does not provide the extra 'device-gfx950'""",
            """every kernel launch fails with hipErrorInvalidImage; installed from https://stable.repo.amd.com/rocm/whl-next/ without torch[device-gfx1100]
GPU: RX 7900 XTX""",
        ),
        source="TheRock issues 5347, 7839; RELEASES.md",
    ),
    Row(
        code="partition-not-enumerated",
        fires="""After sudo amd-smi set -C CPX -g all on MI355X, the Kubernetes cluster still shows 8 allocatable amd.com/gpu and rocm-smi prints N/A.""",
        quiet="""MI300X, compute partition SPX, NPS1
  Capacity: amd.com/gpu: 8
torch.cuda.is_available(): True""",
        elsewhere=(
            """cpx_nps1:64: plugin discovers 64 devices, kubelet capacity 0
ROCm/k8s-device-plugin 1.31 on MI300X""",
        ),
        source="ROCm/k8s-device-plugin issues 157, 167, 184",
    ),
    Row(
        code="kfd-rejects-runtime",
        fires="""ROCk module version 6.7.0 is loaded
Unable to open /dev/kfd read-write: Invalid argument
root is member of nogroup group""",
        quiet="""ROCk module version 6.7.0 is loaded
root is member of render group
torch.cuda.is_available(): True""",
        elsewhere=(),
        source="ROCm issue 4043",
    ),
    Row(
        code="amdgpu-hang",
        fires="""amdgpu 0000:28:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=57638, emitted seq=57641
amdgpu 0000:28:00.0: amdgpu: GPU reset begin!. Source:  1
amdgpu 0000:28:00.0: amdgpu: VRAM is lost due to GPU reset!""",
        quiet="""amdgpu 0000:28:00.0: amdgpu: ring gfx_0.0.0 uses VM inv eng 0 on hub 0
torch.cuda.is_available(): True""",
        elsewhere=(),
        source="linux drivers/gpu/drm/amd",
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


def test_a_fallback_is_a_note_and_no_alarm() -> None:
    text = (
        "UserWarning: Attempting to use hipBLASLt on an unsupported architecture!"
        " Overriding blas backend to hipblas\ntorch 2.8.0+rocm7.1.0\ngfx1151"
    )
    assert first(text) == "hipblaslt-unsupported-arch"
    assert alarms(text) == []
