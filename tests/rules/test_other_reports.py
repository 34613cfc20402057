# ruff: noqa: E501  (printed lines are as wide as they are)
"""Causes as other reports word them: each fires, and its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="gpu-newer-than-build",
        fires="""The current PyTorch install supports CUDA capabilities sm_50 sm_86 compute_37.
NVIDIA GeForce RTX 5060 with CUDA capability sm_120 is not compatible with the current PyTorch installation.""",
        quiet="""PyTorch version: 2.7.1+cu128
NVIDIA GeForce RTX 5060
torch.cuda.is_available(): True""",
        elsewhere=(
            """RuntimeError: CUDA error: no kernel image is available for execution on the device
PyTorch version: 1.8.1
GPU: NVIDIA GeForce RTX 3080""",
            """CUDA error: no kernel image is available for execution on the device
GPU: NVIDIA GeForce RTX 5080""",
        ),
        source="torch.cuda; pytorch issues 31285, 150733",
    ),
    Row(
        code="gpu-older-than-build",
        fires="""RuntimeError: cuda runtime error (209) : no kernel image is available for execution on the device at /b/aten/src/THC/generic/THCTensorMath.cu:12
GPU: Tesla K80""",
        quiet="""GPU: Tesla K80
torch.cuda.is_available(): True""",
        elsewhere=(
            """CUDA error: no kernel image is available for execution on the device
PyTorch version: 2.9.0
GPU: Tesla P100-PCIE-16GB""",
            """CUDA error: no kernel image is available for execution on the device
GPU: Tesla M60""",
        ),
        source="pytorch issues 44828, 46647; kaggle-cli issue 1151",
    ),
    Row(
        code="extension-arch-list-missing-gpu",
        fires="""`fa2F@2.5.7` is not supported because:
    requires device with capability <= (9, 0) but your GPU has capability (12, 0) (too new)""",
        quiet="""`smallkF` is not supported because:
    max(query.shape[-1] != value.shape[-1]) > 32
    operator wasn't built - see `python -m xformers.info` for more info""",
        elsewhere=(
            """  File "/env/lib/python3.10/site-packages/my_ops_cuda/__init__.py", line 3, in forward
    return torch.ops.my_ops_cuda.forward(x)
RuntimeError: CUDA error: no kernel image is available for execution on the device
PyTorch version: 2.1.0+cu118
GPU: NVIDIA RTX A4000""",
            """CUDA kernel failed : no kernel image is available for execution on the device
void my_kernel_wrapper(int) at L:38 in pointnet2_ops/_ext-src/src/group.cu
PyTorch version: 1.11.0
GPU: NVIDIA GeForce RTX 3080""",
        ),
        source="xformers issue 1356; torch.utils.cpp_extension",
    ),
    Row(
        code="ext-wheel-built-for-other-torch",
        fires="""NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:
    xFormers wasn't build with CUDA support
PyTorch version: 2.1.0+cu118""",
        quiet="""NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:
    attn_bias type is <class 'torch.Tensor'>
PyTorch version: 2.1.0+cu118""",
        elsewhere=("""    xFormers wasn't built with CUDA support""",),
        source="xformers ops/common.py",
    ),
    Row(
        code="driver-too-old-for-build",
        fires="""PyTorch version: 1.6.0
CUDA used to build PyTorch: 10.2
Is CUDA available: No
Nvidia driver version: 418.87.00""",
        quiet="""PyTorch version: 1.6.0
CUDA used to build PyTorch: 10.1
Is CUDA available: Yes
Nvidia driver version: 418.87.00""",
        elsewhere=(
            """PyTorch version: 1.3.1
CUDA used to build PyTorch: 10.1
torch.cuda.is_available(): False
Nvidia driver version: 410.78""",
        ),
        source="CUDA release notes, toolkits and drivers; pytorch issues 31243, 37320",
    ),
    Row(
        code="driver-update-needs-reboot",
        fires="""failed call to cuInit: CUDA_ERROR_NO_DEVICE
kernel version 430.26.0 does not match DSO version 440.33.1 -- cannot find working devices in this configuration""",
        quiet="""libcuda reported version is: 440.33.1
kernel reported version is: 440.33.1
kernel version seems to match DSO: 440.33.1""",
        elsewhere=(
            """kernel version 455.23.4 does not match DSO version 455.32.0 -- cannot find working devices""",
        ),
        source="tensorflow cuda_diagnostics.cc; issue 4768",
    ),
    Row(
        code="forward-compat-on-unsupported-gpu",
        fires="""failed call to cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW
kernel version 470.141.3 does not match DSO version 515.65.1 -- cannot find working devices in this configuration""",
        quiet="""kernel reported version is: 515.65.1
[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]""",
        elsewhere=(
            """Error 804: forward compatibility was attempted on non supported HW
kernel version 470.141.3 does not match DSO version 525.60.13""",
        ),
        source="tensorflow cuda_diagnostics.cc; omniglue issue 14",
    ),
    Row(
        code="kernel-module-not-built-for-running-kernel",
        fires="""Resolving Linux kernel version...
Could not resolve Linux kernel version""",
        quiet="""Resolving Linux kernel version...
Proceeding with Linux kernel version 5.15.0-91-generic""",
        elsewhere=("""nvidia-driver-daemonset-x7k2p: Could not resolve Linux kernel version""",),
        source="nvidia-driver of gpu-driver-container; gpu-operator issue 85",
    ),
    Row(
        code="p2p-not-supported-by-platform",
        fires="""InternalError: failed to enable peer access from 0x5a to 0x5b: CUDA_ERROR_TOO_MANY_PEERS: peer mapping resources exhausted
GPU 0-9: NVIDIA GeForce GTX 1080 Ti""",
        quiet="""GPU 0-9: NVIDIA GeForce GTX 1080 Ti
peer access enabled between 0 and 1""",
        elsewhere=("""RuntimeError: peer mapping resources exhausted""",),
        source="cuda.h: CUDA_ERROR_TOO_MANY_PEERS; nccl issue 51",
    ),
    Row(
        code="conda-cuda-lib-mismatch",
        fires="""OSError: /home/u/miniconda3/envs/a/lib/python3.9/site-packages/torch/lib/../../../../libcublas.so.11: undefined symbol: cublasLt_x, version libcublasLt.so.11""",
        quiet="""/home/u/miniconda3/envs/a/lib/libcublas.so.11
torch.cuda.is_available(): True""",
        elsewhere=(
            """Could not load library libcudnn_cnn_train.so.8. Error: /home/u/anaconda3/envs/a/bin/../lib/libcudnn_ops_train.so.8: undefined symbol: _Z22cudnnSomethingILi2EE13cudnnStatus_t, version libcudnn_ops_infer.so.8""",
            """ImportError: /opt/conda/lib/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12""",
        ),
        source="pytorch issue 90673; conda-forge cuda-version",
    ),
    Row(
        code="local-module-shadows-import",
        fires="""ImportError: cannot import name 'Random' from 'random' (/env/lib/python3.9/site-packages/torch/random.py)""",
        quiet="""ImportError: cannot import name 'Thing' from 'transformers' (/env/lib/python3.9/site-packages/transformers/__init__.py)""",
        elsewhere=(
            """ImportError: cannot import name 'wraps' from 'functools' (/code/app/functools.py)""",
        ),
        source="CPython; pytorch issue 19943",
    ),
    Row(
        code="uvm-broken-after-suspend",
        fires="""RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment
the laptop was in standby""",
        quiet="""the laptop was in standby
torch.cuda.is_available(): True""",
        elsewhere=(
            """cuda driver library init failure: 999
after resume""",
        ),
        source="pytorch issue 88639; ollama issue 2934",
    ),
    Row(
        code="kfd-permission-denied",
        fires="""hsa api call failure at: rocminfo.cc:1102
crw-rw---- 1 root render 238, 0 /dev/kfd
$ groups
u adm video""",
        quiet="""crw-rw---- 1 root render 238, 0 /dev/kfd
$ groups
u adm video render""",
        elsewhere=(
            """HSA_STATUS_ERROR_OUT_OF_RESOURCES
crw-rw---- 1 root render 236, 0 Mar  3 10:01 /dev/kfd
$ groups
u sudo""",
        ),
        source="rocminfo issue 34",
    ),
    Row(
        code="device-order-differs",
        fires="""CUDA_VISIBLE_DEVICES=1 python train.py, and nvidia-smi shows the process on GPU 0""",
        quiet="""CUDA_VISIBLE_DEVICES=1 python train.py, and nvidia-smi shows the process on GPU 1""",
        elsewhere=("""run with --device cuda:2, nvidia-smi lists it as 0""",),
        source="CUDA programming guide, CUDA_DEVICE_ORDER; bonito issue 120",
    ),
    Row(
        code="cudnn-older-than-build",
        fires="""Outdated cuDNN installation found.
Version JAX was built against: 8907
Minimum supported: 9100
Installed version: 8907""",
        quiet="""jax.devices(): [CudaDevice(id=0)]
Version JAX was built against: 8907""",
        elsewhere=(
            """RuntimeError: Found cuDNN version 8500, but JAX was built against version 8800, which is newer.""",
        ),
        source="jax _src/xla_bridge.py; jax-feedstock issue 149",
    ),
    Row(
        code="bundled-cuda-libs-not-on-path",
        fires="""Unable to load cuDNN. Is it installed?
nvidia-cudnn-cu12: 8.9.7.29
jaxlib: 0.4.25+cuda12.cudnn89""",
        quiet="""nvidia-cudnn-cu12: 8.9.7.29
jax.devices(): [cuda(id=0)]""",
        elsewhere=(
            """CUDA backend failed to initialize: Unable to load cuSPARSE. Is it installed?""",
        ),
        source="jax _src/xla_bridge.py; jax issue 20519",
    ),
    Row(
        code="python-headers-missing",
        fires="""cuda_utils.c:14: error: include file 'Python.h' not found""",
        quiet="""cuda_utils.c:14: warning: unused variable""",
        elsewhere=(
            """C:\\Temp\\a\\cuda_utils.c(12): fatal error C1083: Cannot open include file: 'Python.h': No such file or directory""",
        ),
        source="triton-windows issues 77, 113",
    ),
    Row(
        code="container-gpu-access-revoked",
        fires="""Error 304: OS call failed or operation not supported on this OS
host: systemctl daemon-reload
in a container""",
        quiet="""in a container
host: systemctl daemon-reload
torch.cuda.is_available(): True""",
        elsewhere=(
            """docker container: RuntimeError: No CUDA GPUs are available
systemctl daemon-reload ran on the host""",
        ),
        source="NVIDIA container toolkit, troubleshooting; libnvidia-container issue 176",
    ),
    Row(
        code="wsl-linux-driver-shadows-wsl-libcuda",
        fires="""WSL2
NVIDIA-SMI: 535.183.01
Windows Driver Version: 581.29
munmap_chunk(): invalid pointer""",
        quiet="""WSL2
NVIDIA-SMI 580.82.07
Windows Driver Version: 581.29
torch.cuda.is_available(): True""",
        elsewhere=(
            """WSL2, nvidia-smi
NVIDIA-SMI 470.256.02   Driver Version: 560.94
Segmentation fault (core dumped)""",
        ),
        source="docs.nvidia.com/cuda/wsl-user-guide: no Linux driver inside WSL",
    ),
    Row(
        code="stale-torch-in-user-site",
        fires="""['', '/home/u/.local/lib/python3.8/site-packages', '/home/u/miniconda3/envs/a/lib/python3.8/site-packages']
sys.path
PyTorch version: 1.4.0
torch.cuda.is_available(): False""",
        quiet="""sys.path ['', '/home/u/miniconda3/envs/a/lib/python3.8/site-packages']
PyTorch version: 1.4.0
torch.cuda.is_available(): False""",
        elsewhere=(
            """/home/u/.local/lib/python3.9/site-packages/torch/__init__.py
conda list: pytorch 2.1.0
torch.__file__ is not the environment's""",
        ),
        source="PEP 370; conda issues 6018, 13746",
    ),
    Row(
        code="gpu-memory-too-small",
        fires="""torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 130.00 MiB. GPU 0 has a total capacity of 23.60 GiB of which 90.00 MiB is free. Process 7 has 23.40 GiB memory in use. Of the allocated memory 21.90 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.""",
        quiet="""GPU 0 has a total capacity of 23.60 GiB
torch.cuda.is_available(): True""",
        elsewhere=(
            """OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 6.00 GiB total capacity; 4.10 GiB already allocated; 0.90 GiB free; 4.20 GiB reserved in total by PyTorch)""",
        ),
        source="torch OutOfMemoryError text; cobra issue 24",
    ),
    Row(
        code="gpu-memory-fragmented",
        fires="""OutOfMemoryError: CUDA out of memory. Tried to allocate 900.00 MiB. GPU 0 has a total capacity of 23.99 GiB of which 14.00 GiB is free. Of the allocated memory 8.00 GiB is allocated by PyTorch, and 80.00 MiB is reserved by PyTorch but unallocated.""",
        quiet="""memory fragmentation is low
torch.cuda.is_available(): True""",
        elsewhere=(
            """CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 31.00 GiB of which 12.00 GiB is free. Including non-PyTorch memory, this process has 18.00 GiB memory in use. Of the allocated memory 8.00 GiB is allocated by PyTorch, and 9.50 GiB is reserved by PyTorch but unallocated.""",
        ),
        source="torch CUDA memory management notes; Diffuman4D issue 20",
    ),
    Row(
        code="build-oom-killed",
        fires="""collect2: fatal error: ld terminated with signal 9 [Killed]""",
        quiet="""collect2: error: ld returned 1 exit status""",
        elsewhere=("""g++: fatal error: Killed signal terminated program cc1plus""",),
        source="gcc; flashlight issue 581",
    ),
    Row(
        code="kfd-driver-not-loaded",
        fires="""Loading new amdgpu-6.3.6 DKMS files...
Error! Bad return status for module build on kernel: 6.2.0-39-generic (x86_64)""",
        quiet="""Loading new amdgpu-6.3.6 DKMS files...
Building initial module for 6.2.0-39-generic
Done.""",
        elsewhere=(
            """Error! Bad return status for module build on kernel: 5.15.0-1 (x86_64)
Consult /var/lib/dkms/amdgpu/6.2.4/build/make.log for more information.""",
        ),
        source="dkms; ROCm issue 1748",
    ),
    Row(
        code="build-for-other-gpu-family",
        fires="""GPU 0: Orin (nvgpu)
PyTorch version: 2.8.0
CUDA used to build PyTorch: 12.8
Is CUDA available: False""",
        quiet="""GPU 0: Orin (nvgpu)
PyTorch version: 2.5.0a0+872d972e41.nv24.08
CUDA used to build PyTorch: 12.6
Is CUDA available: True""",
        elsewhere=(
            """torch 2.8.0+cu128
CUDA error: no kernel image is available for execution on the device
GPU: NVIDIA Thor (Jetson), compute capability 11.0""",
        ),
        source="developer.nvidia.com, PyTorch for Jetson; jetson-containers issue 1495",
    ),
    Row(
        code="libcuda-stub-loaded",
        fires="""Call to cuInit results in UNKNOWN_CUDA_ERROR
AttributeError: /opt/cuda/lib64/stubs/libcuda.so: undefined symbol: _undef""",
        quiet="""-L/opt/cuda/lib64/stubs -lcuda
torch.cuda.is_available(): True""",
        elsewhere=(
            """Warp CUDA error 34
LD_LIBRARY_PATH=/opt/cuda/lib64/stubs""",
        ),
        source="numba issue 8985; cuda.h: CUDA_ERROR_STUB_LIBRARY",
    ),
    Row(
        code="container-cdi-stale-device-major",
        fires="""Error: setting up CDI devices: failed to inject devices: failed to stat CDI host device "/dev/dri/renderD130": no such file or directory""",
        quiet="""podman run --device nvidia.com/gpu=all ubuntu nvidia-smi
GPU 0: NVIDIA GeForce RTX 4070""",
        elsewhere=(
            """crun: failed to stat CDI host device "/dev/nvidia-uvm": no such file or directory""",
        ),
        source="container-device-interface; nvidia-container-toolkit issue 885",
    ),
    Row(
        code="nvidia-device-permission",
        fires="""crw-rw---- 1 root video 195, 0 Oct 20 21:39 /dev/nvidia0
torch.cuda.is_available(): False
sudo python -c "import torch" finds the GPU""",
        quiet="""crw-rw-rw- 1 root root 195, 0 Oct 20 21:39 /dev/nvidia0
sudo nvidia-smi""",
        elsewhere=(
            """works as root only
crw-rw---- 1 root video 195, 255 /dev/nvidiactl
RuntimeError: No CUDA GPUs are available""",
        ),
        source="NVIDIA driver README, NVreg_DeviceFileMode; stable-diffusion-webui issue 3207",
    ),
    Row(
        code="dkms-driver-wrong-for-apu",
        fires="""dkms status: amdgpu/6.16.6-2238427.24.04, 6.14.0-29-generic, x86_64: installed
hipErrorOutOfMemory on gfx1151""",
        quiet="""dkms status: amdgpu/6.16.6-2238427.24.04, 6.14.0-29-generic, x86_64: installed
gfx942, torch.cuda.is_available(): True""",
        elsewhere=(
            """ii  amdgpu-dkms 1:6.14.14
Memory access fault by GPU node-1 on gfx1150""",
        ),
        source="AMD's guide for Ryzen APUs; ROCm issues 6143, 6182",
    ),
    Row(
        code="libcuda-not-in-ldcache",
        fires="""subprocess.CalledProcessError: Command '['ldconfig', '-p']' returned non-zero exit status 1.""",
        quiet="""ldconfig -p | grep libcuda
libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1""",
        elsewhere=("""ldconfig: Can't open cache file /nix/store/a1-glibc-2.39/etc/ld.so.cache""",),
        source="nixpkgs issues 285307, 426296",
    ),
    Row(
        code="mixed-cuda-toolkits",
        fires="""cupy.cuda.compiler.CompileException: nvrtc: error: failed to load builtins""",
        quiet="""nvrtc: error: invalid conversion in kernel.cu(3)""",
        elsewhere=("""nvrtc: error: failed to open libnvrtc-builtins.so.11.2.""",),
        source="cupy issues 1057, 7560",
    ),
    Row(
        code="duplicate-amdsmi-libraries",
        fires="""torch.cuda.device_count() = 0
_rocm_sdk_core/lib/libamd_smi.so.26
site-packages/amdsmi/libamd_smi.so""",
        quiet="""torch.cuda.device_count() = 8
_rocm_sdk_core/lib/libamd_smi.so.26""",
        elsewhere=(
            """amdsmi_get_processor_handles() returns 0 handles
/opt/rocm/lib/libamd_smi.so
/env/lib/python3.12/site-packages/amdsmi/libamd_smi.so""",
        ),
        source="pytorch issue 186516; rocm-systems issue 7643",
    ),
    Row(
        code="rocm-device-package-missing",
        fires="""hipErrorInvalidImage: invalid kernel file on gfx1100
$ find .venv -name 'blas_lib_*.kpack' (no output)""",
        quiet="""$ find .venv -name '*.kpack'
blas_lib_gfx1100.kpack""",
        elsewhere=(
            """WARNING: rocm 7.14.0 does not provide the extra 'device-gfx942'
pip install "rocm[device-gfx942]\"""",
        ),
        source="TheRock issues 5347, 5446",
    ),
    Row(
        code="cpu-only-build",
        fires="""torch.cuda.is_available() -> False
PyTorch version: 2.4.1
OS: Windows 10
GPU models and configuration: NVIDIA GeForce RTX 3060
Nvidia driver version: 552.22""",
        quiet="""torch.cuda.is_available() -> True
PyTorch version: 2.4.1
OS: Windows 10
GPU models and configuration: NVIDIA GeForce RTX 3060
Nvidia driver version: 552.22""",
        elsewhere=(),
        source="PyPI: torch's wheels for Windows are without CUDA",
    ),
    Row(
        code="cuda-wheel-on-amd",
        fires="""RuntimeError: Found no NVIDIA driver on your system. Please check the driver
GPU models and configuration: AMD Radeon RX 6800""",
        quiet="""torch.cuda.is_available() -> True
PyTorch version: 2.6.0+rocm6.2
GPU models and configuration: AMD Radeon RX 6800""",
        elsewhere=(),
        source="pytorch c10/cuda/CUDAFunctions.cpp: the ROCm build names HIP",
    ),
    Row(
        code="torch-family-backend-mismatch",
        fires="""RuntimeError: operator torchvision::nms does not exist
torch==2.3.1+cpu
torchvision==0.18.1""",
        quiet="""torch==2.3.1+cpu
torchvision==0.18.1+cpu""",
        elsewhere=(),
        source="pytorch issue 122494",
    ),
    Row(
        code="driver-mixed-package-versions",
        fires="""Failed to initialize NVML: Driver/library version mismatch
NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03
Rebooted, and it still says so.""",
        quiet="NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03",
        elsewhere=(),
        source="Ubuntu, NVIDIA drivers installation",
    ),
    Row(
        code="visible-devices-uuid-unsupported",
        fires="""Value error, Model architectures ['X'] failed to be inspected. Please check the logs.
CUDA_VISIBLE_DEVICES=GPU-11111111-2222-3333-4444-555555555555""",
        quiet="""Model loaded.
CUDA_VISIBLE_DEVICES=GPU-11111111-2222-3333-4444-555555555555""",
        elsewhere=(),
        source="vLLM issue 20939",
    ),
    Row(
        code="amdsmi-library-not-found",
        fires="OSError: Could not load libamd_smi.so",
        quiet="loaded /opt/rocm/lib/libamd_smi.so.26",
        elsewhere=(),
        source="ROCm/amdsmi py-interface/amdsmi_wrapper.py",
    ),
    Row(
        code="container-memory-limit",
        fires="""Killed
memory limit of the container: 4 GiB
dmesg says: Memory cgroup out of memory""",
        quiet="""memory limit of the container: 4 GiB
done""",
        elsewhere=(),
        source="linux mm/oom_kill.c",
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_fires(row: Row) -> None:
    assert first(row.fires) == row.code


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_the_healthy_neighbour_is_quiet(row: Row) -> None:
    assert alarms(row.quiet) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [(row.code, text) for row in ROWS for text in row.elsewhere],
    ids=[f"{row.code}-{number}" for row in ROWS for number in range(len(row.elsewhere))],
)
def test_other_wordings(code: str, text: str) -> None:
    assert first(text) == code
