# ruff: noqa: E501  (printed lines are as wide as they are)
"""Short texts as people paste them: the cause comes first; what is the program's own stays quiet.

Written anew after public threads of the kind (trackers of pytorch, vision, triton, flash-attention,
bitsandbytes, cupy, numba, tensorflow, onnxruntime, deepspeed, apex, vllm), none of them copied.
"""

from __future__ import annotations

import pytest

from tests.rules.judged import alarms, first

CAUSES: tuple[tuple[str, str], ...] = (
    (
        "gpu-older-than-build",
        """1.4.0
True
_CudaDeviceProperties(name='GeForce GTX TITAN', major=3, minor=5, total_memory=6082MB, multi_processor_count=14)
RuntimeError: CUDA error: no kernel image is available for execution on the device

Environment:
PyTorch version: 1.4.0
GPU models and configuration: GeForce GTX TITAN
compute capability: 3.5""",
    ),
    (
        "extension-arch-list-missing-gpu",
        """RuntimeError: CUDA error: no kernel image is available for execution on the device
  File ".../detectron2/layers/roi_align.py", line 95
Environment:
GPU models and configuration: Tesla K80
compute capability: 3.7
PyTorch version: 1.3.1
note: torch.rand(1).cuda() works""",
    ),
    (
        "extension-arch-list-missing-gpu",
        """RuntimeError: CUDA error: no kernel image is available for execution on the device
Built with pytorch 1.7, cuda 10.2, TITAN X, mish-cuda
Environment:
PyTorch version: 1.7""",
    ),
    (
        "extension-arch-list-missing-gpu",
        """error in ms_deformable_im2col_cuda: no kernel image is available for execution on the device
Environment:
GPU models and configuration: NVIDIA A100-PCIE-40GB
PyTorch version: 1.9.0+cu111""",
    ),
    (
        "extension-arch-list-missing-gpu",
        """Error no kernel image is available for execution on the device at line 89 in file /mmfs1/gscratch/zlab/timdettmers/git/bitsandbytes/csrc/ops.cu
Environment:
GPU models and configuration: Tesla P40
arch: sm_61
PyTorch version: 2.0.1+cu117
packages: bitsandbytes
bitsandbytes: 0.37.2""",
    ),
    (
        "cudnn-older-than-build",
        """E tensorflow/stream_executor/cuda/cuda_dnn.cc:378] Loaded runtime CuDNN library: 7201 (compatibility version 7200) but source was compiled with 7401 (compatibility version 7400).  If using a binary install, upgrade your CuDNN library to match.""",
    ),
    (
        "cudnn-older-than-build",
        """E0000 00:00:1738697930.202924    7665 cuda_dnn.cc:522] Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0.  CuDNN library needs to have matching major version and equal or higher minor version.
Environment:
packages:
tensorflow: 2.18
torch: 2.5.1""",
    ),
    (
        "cudnn-older-than-build",
        """jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.
Loaded runtime CuDNN library: 8.9.2 but source was compiled with: 8.9.4.""",
    ),
    (
        "wsl-linux-driver-shadows-wsl-libcuda",
        """numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: Call to cuInit results in CUDA_ERROR_NO_DEVICE
$ dpkg --get-selections | grep nvidia
libnvidia-compute-510:amd64                     install
Environment:
OS: WSL2 Ubuntu""",
    ),
    (
        "wsl-libcuda-so-link-missing",
        """>>> cdll.LoadLibrary('libcuda.so.1')
<CDLL 'libcuda.so.1', handle 562f22ae4160 at 0x7f74fb662c10>
>>> cdll.LoadLibrary('libcuda.so')
OSError: libcuda.so: cannot open shared object file: No such file or directory
Environment:
OS: WSL2, Windows 10.0.22000.778""",
    ),
    (
        "libcuda-not-in-ldcache",
        """AssertionError: libcuda.so cannot found!
Environment:
PyTorch version: 2.1.0+cu118
platform: Kaggle""",
    ),
    (
        "libcuda-not-in-ldcache",
        """CUDA SETUP: WARNING! libcuda.so not found! Do you have a CUDA driver installed? If you are on a cluster, make sure you are on a CUDA machine!
OSError: libcuda.so: cannot open shared object file: No such file or directory
Environment:
note: sudo ldconfig solved it""",
    ),
    (
        "libcuda-not-in-ldcache",
        """  File ".../triton/backends/nvidia/driver.py", line 21, in libcuda_dirs
    libs = subprocess.check_output(["/sbin/ldconfig", "-p"]).decode()
AssertionError: libcuda.so cannot found!
Environment:
OS: NixOS""",
    ),
    (
        "mkl-version-conflict",
        """ImportError: /opt/conda/lib/python3.10/site-packages/torch/lib/libtorch_cpu.so: undefined symbol: iJIT_NotifyEvent
Environment:
PyTorch version: 2.1.2
mkl: 2024.1
installer: conda""",
    ),
    (
        "mkl-version-conflict",
        """OSError: /opt/miniconda3/envs/x/lib/python3.8/site-packages/torch/lib/libtorch_cpu.so: undefined symbol: iJIT_IsProfilingActive""",
    ),
    (
        "nvcc-too-old-for-arch",
        """nvcc fatal   : Unsupported gpu architecture 'compute_86'
Environment:
GPU models and configuration: GeForce RTX 3090
system cuda: 11.0""",
    ),
    (
        "nvcc-too-old-for-arch",
        """RuntimeError: Error compiling objects for extension
nvcc fatal   : Unsupported gpu architecture 'compute_120'
Environment:
nvcc: 12.1
PyTorch version: 2.7.0+cu128""",
    ),
    (
        "nvcc-too-old-for-arch",
        """CMake Error: nvcc fatal : Unsupported gpu architecture 'compute_90'
llama.cpp build, Ubuntu apt nvidia-cuda-toolkit 11.5""",
    ),
    (
        "stale-torch-in-user-site",
        """>>> import torch
>>> print(torch.__version__)
1.1.0
An old Torch version was installed as a user, to ~/.local/lib/python3.7/site-packages/
Environment:
installed: torch 1.4.0 system-wide""",
    ),
    (
        "stale-torch-in-user-site",
        """$ conda list | grep pytorch
pytorch                   2.0.1           py3.10_cuda11.8_cudnn8.7.0_0    pytorch
>>> torch.__version__
'1.12.1+cu102'
>>> torch.__file__
'/home/user/.local/lib/python3.10/site-packages/torch/__init__.py'
UserWarning: NVIDIA A100 with CUDA capability sm_80 is not compatible with the current PyTorch installation.""",
    ),
    (
        "cuda-home-malformed",
        """FileNotFoundError: [Errno 2] No such file or directory: ':/usr/local/cuda:/usr/local/cuda/bin/nvcc'""",
    ),
    (
        "cuda-home-malformed",
        """unable to execute '/usr/local/cuda-10.1:/bin/nvcc': No such file or directory
error: command '/usr/local/cuda-10.1:/bin/nvcc' failed with exit status 1""",
    ),
    (
        "cuda-home-malformed",
        """/bin/sh: 1: :/usr/local/cuda/bin/nvcc: not found
ninja: build stopped: subcommand failed.
Environment:
CUDA_HOME=:/usr/local/cuda""",
    ),
    (
        "cuda-home-malformed",
        """RuntimeError: Error building extension 'fused'
Environment:
CUDA_HOME=/usr/local/cuda-11.3:/usr/local/cuda-11.1""",
    ),
    (
        "build-for-other-gpu-family",
        """RuntimeError: CUDA error: no kernel image is available for execution on the device
Environment:
GPU models and configuration: Jetson AGX Orin
compute capability: 8.7
PyTorch version: 2.6.0.dev20241112+cu124
OS: JetPack 6.2
installer: pip nightly cu124 aarch64""",
    ),
    (
        "build-for-other-gpu-family",
        """torch 2.9.1+cu128   arch_list: ['sm_80', 'sm_90', 'sm_100', 'sm_120']
>>> a @ b  ->  CUDA error: no kernel image is available for execution on the device
Environment:
GPU models and configuration: Jetson Thor
compute capability: 11.0""",
    ),
    (
        "gpu-too-old-for-kernel",
        """ImportError / RuntimeError: FlashAttention only supports Ampere GPUs or newer.
Environment:
GPU models and configuration: NVIDIA GeForce RTX 2080 Ti""",
    ),
    (
        "gpu-too-old-for-kernel",
        """ValueError: The quantization method awq_marlin is not supported for the current GPU. Minimum capability: 80. Current capability: 75.
Environment:
GPU models and configuration: Tesla T4""",
    ),
    (
        "gpu-too-old-for-kernel",
        """torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9, or ROCm MI300+
Environment:
GPU models and configuration: A100""",
    ),
    (
        "gpu-too-old-for-kernel",
        """ptxas error   : Feature 'cp.async' requires .target sm_80 or higher
Environment:
GPU models and configuration: Tesla V100""",
    ),
    (
        "gpu-too-old-for-kernel",
        """triton.runtime.errors / RuntimeError: Device does not support bfloat16 / type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')
Environment:
GPU models and configuration: NVIDIA A100-SXM4-80GB
arch: sm_80""",
    ),
    (
        "gpu-too-old-for-kernel",
        """RuntimeError: FlashAttention-3 only supports H100 / Hopper GPUs
Environment:
GPU models and configuration: A100""",
    ),
    (
        "gpu-too-old-for-kernel",
        """cuDNN error: CUDNN_STATUS_ARCH_MISMATCH
Environment:
GPU models and configuration: GeForce GTX 660
compute capability: 3.0""",
    ),
    (
        "gpu-too-old-for-kernel",
        """AssertionError: Tensor cores (FP16 MMA) require sm_70. ValueError: GPUs with compute capability below 7.0 are not supported
Environment:
GPU models and configuration: Tesla P40""",
    ),
    (
        "torch-family-version-mismatch",
        """  File ".../torchvision/_meta_registrations.py", line 163, in <module>
    @torch.library.register_fake("torchvision::nms")
RuntimeError: operator torchvision::nms does not exist
Environment:
PyTorch version: 2.4.0+cu121
packages:
torchvision: 0.18.0""",
    ),
    (
        "torch-family-version-mismatch",
        """AttributeError: module 'torchvision' has no attribute 'extension' (partially initialized)
ImportError: cannot import name 'InterpolationMode' from 'torchvision.transforms'
Environment:
PyTorch version: 1.13.1
torchvision: 0.8.2""",
    ),
    (
        "torch-family-version-mismatch",
        """OSError: .../torchaudio/lib/libtorchaudio.so: undefined symbol: _ZN2at4_ops9transpose4callERKNS_6TensorENS_7DimnameES5_
Environment:
PyTorch version: 2.5.0
torchaudio: 2.4.1""",
    ),
    (
        "torch-family-version-mismatch",
        """RuntimeError: Couldn't load custom C++ ops. This can happen if your PyTorch and torchvision versions are incompatible, or if you had errors while compiling torchvision from source.
Environment:
PyTorch version: 2.0.1""",
    ),
    (
        "torch-family-version-mismatch",
        """ImportError: /opt/conda/lib/python3.10/site-packages/torchtext/_torchtext.so: undefined symbol: _ZN2at4_ops
Installing collected packages: torch
  Attempting uninstall: torch
    Found existing installation: torch 2.0.0
Successfully installed torch-2.1.0""",
    ),
    (
        "torch-family-backend-mismatch",
        """RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA versions. PyTorch has CUDA Version=11.7 and torchvision has CUDA Version=11.8. Please reinstall the torchvision that matches your PyTorch install.""",
    ),
    (
        "torch-family-backend-mismatch",
        """NotImplementedError: Could not run 'torchvision::nms' with arguments from the 'CUDA' backend. This could be because the operator doesn't exist for this backend
Environment:
PyTorch version: 2.1.0+cu121
torchvision: 0.16.0+cpu""",
    ),
    (
        "triton-torch-version-mismatch",
        """torch._inductor.exc.InductorError: ImportError: cannot import name 'get_cuda_stream' from 'triton.runtime.jit'
Environment:
PyTorch version: 2.1.0
triton: 2.2.0""",
    ),
    (
        "triton-torch-version-mismatch",
        """AttributeError: module 'triton.language' has no attribute 'constexpr_function'
Environment:
PyTorch version: 2.9.0+cu128
triton: 3.3.1""",
    ),
    (
        "triton-torch-version-mismatch",
        """ModuleNotFoundError: No module named 'triton.backends.compiler'
Environment:
PyTorch version: 2.5.1
packages:
triton: 2.1.0""",
    ),
    (
        "triton-torch-version-mismatch",
        """TypeError: JITFunction.__init__() got an unexpected keyword argument 'noinline'
Environment:
triton: 2.0.0.dev20221202
PyTorch version: 2.0.0""",
    ),
    (
        "ext-cxx11-abi-mismatch",
        """ImportError: .../flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
Environment:
PyTorch version: 2.4.0+cu121
flash-attn: 2.6.3 cxx11abiTRUE""",
    ),
    (
        "ext-cxx11-abi-mismatch",
        """undefined symbol: _ZN3c106detail14torchCheckFailEPKcS2_jRKSs
torch._C._GLIBCXX_USE_CXX11_ABI True
Environment:
PyTorch version: nvcr.io/nvidia/pytorch:24.01-py3 (2.2.0a0)
flash-attn: 2.5.6""",
    ),
    (
        "ext-wheel-built-for-other-torch",
        """ImportError: /usr/local/lib/python3.10/dist-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZNK3c1011StorageImpl27throw_data_ptr_access_errorEv
Environment:
PyTorch version: 2.3.0""",
    ),
    (
        "ext-wheel-built-for-other-torch",
        """ImportError: libtorch_cuda_cpp.so: cannot open shared object file: No such file or directory
  File ".../mmcv/ops/__init__.py"
Environment:
PyTorch version: 2.0.0+cu118
mmcv-full: 1.7.1""",
    ),
    (
        "ext-wheel-built-for-other-torch",
        """ImportError: DLL load failed while importing flash_attn_2_cuda: The specified procedure could not be found.
Environment:
PyTorch version: 2.7.0+cu128
flash_attn: 2.7.4+cu126torch2.6.0
OS: Windows""",
    ),
    (
        "nvcc-torch-cuda-mismatch",
        """The detected CUDA version (12.2) mismatches the version that was used to compile PyTorch (11.8). Please make sure to use the same CUDA versions.""",
    ),
    (
        "nvcc-torch-cuda-mismatch",
        """RuntimeError: Cuda extensions are being compiled with a version of Cuda that does not match the version used to compile Pytorch binaries.  Pytorch binaries were compiled with Cuda 11.3.""",
    ),
    (
        "python-headers-missing",
        """/tmp/tmp1/main.c:5:10: fatal error: Python.h: No such file or directory
torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised: CalledProcessError""",
    ),
    (
        "build-oom-killed",
        """Building wheel for flash-attn (setup.py): still running...
Killed
ERROR: Failed building wheel for flash-attn
Environment:
memory: 16 GB""",
    ),
    (
        "build-oom-killed",
        """c++: fatal error: Killed signal terminated program cc1plus""",
    ),
    (
        "build-oom-killed",
        """ERROR: process "/bin/sh -c pip install flash-attn" did not complete successfully: exit code: 137
nvcc ... flash_bwd_hdim128.cu""",
    ),
    (
        "libcuda-linker-symlink-missing",
        """/usr/bin/ld: cannot find -lcuda: No such file or directory
collect2: error: ld returned 1 exit status
InductorError: CalledProcessError""",
    ),
    (
        "libcuda-linker-symlink-missing",
        """AssertionError: libcuda.so cannot found!
Possible files are located at ['/usr/lib64/libcuda.so.1'].Please create a symlink of libcuda.so to any of the files.""",
    ),
    (
        "libcuda-stub-loaded",
        """RuntimeError: CUDA error: CUDA driver is a stub library
Environment:
LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs""",
    ),
    (
        "libcuda-stub-loaded",
        """CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 34: CUDA driver is a stub library""",
    ),
    (
        "libcuda-stub-loaded",
        """cuInit(0) -> 34
ldd shows libcuda.so.1 => /usr/local/cuda/lib64/stubs/libcuda.so.1""",
    ),
    (
        "ld-library-path-shadows-torch-libs",
        """ImportError: .../torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12
Environment:
PyTorch version: 2.1.2
LD_LIBRARY_PATH=/usr/local/cuda-12.0/lib64""",
    ),
    (
        "ld-library-path-shadows-torch-libs",
        """Could not load library libcudnn_cnn_train.so.8. Error: /usr/local/cuda/lib64/libcudnn_cnn_train.so.8: undefined symbol: _ZN5cudnn3cnn34layerNormFwd_execute_internal_implERKNS_7backend11VariantPackE
Environment:
PyTorch version: 2.1.0+cu121
LD_LIBRARY_PATH=/usr/local/cuda/lib64""",
    ),
    (
        "ld-library-path-shadows-torch-libs",
        """RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm( handle, opa, opb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)`
unset LD_LIBRARY_PATH fixes it
Environment:
PyTorch version: 1.13.1+cu117
LD_LIBRARY_PATH=/usr/local/cuda-11.3/lib64""",
    ),
    (
        "ld-library-path-shadows-torch-libs",
        """OSError: /usr/local/cuda/lib64/libcublas.so.11: symbol free_gemm_select, version libcublasLt.so.11 not defined in file libcublasLt.so.11 with link time reference
Environment:
PyTorch version: 1.13.0""",
    ),
    (
        "bundled-cuda-libs-not-on-path",
        """Could not load library libcublas.so.12 / RuntimeError: Library libcublas.so.12 is not found or cannot be loaded
Environment:
packages:
nvidia-cublas-cu12: 12.4.5.8
nvidia-cudnn-cu12: 9.1.0.70
faster-whisper: 1.0.3""",
    ),
    (
        "bundled-cuda-libs-not-on-path",
        """Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}
Invalid handle. Cannot load symbol cudnnCreateTensorDescriptor
Environment:
packages:
nvidia-cudnn-cu12: 9.1.0.70
ctranslate2: 4.5.0""",
    ),
    (
        "lib-built-for-other-cuda-major",
        """ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory
Environment:
packages:
cupy-cuda11x: 12.0
system cuda: 12.2""",
    ),
    (
        "lib-built-for-other-cuda-major",
        """OSError: libcublas.so.11: cannot open shared object file: No such file or directory
  paddlepaddle-gpu
Environment:
system cuda: 12.1""",
    ),
    (
        "lib-built-for-other-cuda-major",
        """ImportError: libnvrtc.so.11.2: cannot open shared object file
Environment:
tensorrt: 8.6 for CUDA 11
PyTorch version: 2.3.0+cu121""",
    ),
    (
        "lib-built-for-other-cuda-major",
        """RuntimeError: CUDA Setup failed despite GPU being available... CUDA SETUP: Required library version not found: libbitsandbytes_cuda118.so
libcudart.so.11.0: cannot open shared object file
Environment:
PyTorch version: 2.4.0+cu124""",
    ),
    (
        "cuda-runtime-libs-missing-in-container",
        """ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory
Environment:
container: True
image: nvidia/cuda:11.8.0-runtime-ubuntu22.04""",
    ),
    (
        "nvidia-wheel-version-conflict",
        """ImportError: /usr/local/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclGroupSimulateEnd
Environment:
PyTorch version: 2.6.0+cu124
nvidia-nccl-cu12: 2.19.3""",
    ),
    (
        "nvidia-wheel-version-conflict",
        """CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH
Environment:
nvidia-cudnn-cu11: 8.9
nvidia-cudnn-cu12: 9.1
PyTorch version: 2.4.0""",
    ),
    (
        "conda-cuda-lib-mismatch",
        """ImportError: /home/user/miniconda3/envs/x/lib/python3.9/site-packages/torch/lib/../../../../libcublas.so.11: undefined symbol: cublasLtHSHMatmulAlgoInit, version libcublasLt.so.11
installer: conda install pytorch pytorch-cuda=11.8""",
    ),
    (
        "mixed-cuda-toolkits",
        """RuntimeError: nvrtc: error: failed to open libnvrtc-builtins.so.11.7. Make sure that libnvrtc-builtins.so.11.7 is installed correctly.
Environment:
PyTorch version: 1.13.1+cu117
system cuda: 11.6""",
    ),
    (
        "ld-library-path-clobbered",
        """W tensorflow/core/common_runtime/gpu/gpu_device.cc:2211] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly
Environment:
note: the module command resets LD_LIBRARY_PATH and drops the cudnn directory""",
    ),
    (
        "numpy-abi-mismatch",
        """UserWarning: Failed to initialize NumPy: _ARRAY_API not found (Triggered internally at ../torch/csrc/utils/tensor_numpy.cpp:84.)
Environment:
PyTorch version: 2.2.1
numpy: 2.0.1""",
    ),
    (
        "numpy-abi-mismatch",
        """RuntimeError: Numpy is not available
Environment:
PyTorch version: 2.1.0
numpy: 2.1.0""",
    ),
    (
        "glibc-too-old",
        """ImportError: /lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.29' not found (required by .../flash_attn_2_cuda.so)
OS: Ubuntu 18.04""",
    ),
    (
        "glibc-too-old",
        """ERROR: torch-2.6.0-cp310-cp310-manylinux_2_28_x86_64.whl is not a supported wheel on this platform.
OS: CentOS 7""",
    ),
    (
        "python-too-new-for-torch",
        """ERROR: Could not find a version that satisfies the requirement torch (from versions: none)
ERROR: No matching distribution found for torch
Environment:
Python version: 3.13.0""",
    ),
    (
        "python-too-new-for-torch",
        """error: Distribution `torch==2.5.1` can't be installed because it doesn't have a source distribution or wheel for the current platform
hint: You're using CPython 3.14 (`cp314`), but `torch` (v2.5.1) only has wheels with the following Python ABI tags: `cp39`, `cp310`, `cp311`, `cp312`, `cp313`""",
    ),
    (
        "local-module-shadows-import",
        """AttributeError: module 'torch' has no attribute '__version__'
Environment:
note: the working directory holds a folder called torch""",
    ),
    (
        "local-module-shadows-import",
        """  File "/home/user/project/queue.py", line 2, in <module>
    import torch
ImportError: cannot import name 'Empty' from partially initialized module 'queue' (most likely due to a circular import) (/home/user/project/queue.py)""",
    ),
    (
        "local-module-shadows-import",
        """ModuleNotFoundError: No module named 'triton.language'; 'triton' is not a package
  File "/home/user/triton.py", line 1""",
    ),
    (
        "initialised-before-fork",
        """RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method""",
    ),
    (
        "initialised-before-fork",
        """RuntimeError: CUDA error: initialization error
  File ".../torch/utils/data/_utils/worker.py", line 302, in _worker_loop""",
    ),
    (
        "visible-devices-wrong-index",
        """RuntimeError: CUDA error: invalid device ordinal
Environment:
CUDA_VISIBLE_DEVICES=4,5,6,7
gpu count: 4""",
    ),
    (
        "visible-devices-uuid-unsupported",
        """ValueError: invalid literal for int() with base 10: 'MIG-GPU-aaaa'
Environment:
CUDA_VISIBLE_DEVICES=MIG-GPU-aaaa/7/0""",
    ),
    (
        "device-order-differs",
        """CUDA_VISIBLE_DEVICES=1 selects the other card than nvidia-smi's GPU 1
Environment:
GPU models and configuration: GTX 1080 + Titan X""",
    ),
    (
        "gpu-memory-exhausted",
        """RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`""",
    ),
    (
        "gpu-memory-exhausted",
        """RuntimeError: Unable to find a valid cuDNN algorithm to run convolution""",
    ),
    (
        "gpu-memory-exhausted",
        """cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`""",
    ),
    (
        "gpu-memory-exhausted",
        """jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to allocate ... / Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR""",
    ),
    (
        "gpu-memory-held-by-other-process",
        """RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 0 bytes already allocated; 7.50 MiB free; 0 bytes reserved in total by PyTorch)""",
    ),
    (
        "gpu-memory-held-by-other-process",
        """RuntimeError: CUDA error: out of memory
nvidia-smi shows 11000MiB / 11178MiB used, no processes listed
Environment:
note: zombie python processes after ctrl-c""",
    ),
    (
        "gpu-memory-fragmented",
        """CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 24.00 GiB total capacity; 10.2 GiB already allocated; 0 bytes free; 22.4 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.""",
    ),
    (
        "gpu-memory-too-small",
        """torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 7.79 GiB of which 50.19 MiB is free. Process has 7.60 GiB memory in use. Of the allocated memory 7.40 GiB is allocated by PyTorch""",
    ),
    (
        "driver-too-old-for-build",
        """UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).
Environment:
PyTorch version: 2.0.1+cu118
Nvidia driver version: 470.57""",
    ),
    (
        "driver-too-old-for-ptx-toolchain",
        """RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.
Environment:
Nvidia driver version: 535.104""",
    ),
    (
        "forward-compat-on-unsupported-gpu",
        """CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW
Environment:
container: True
GPU models and configuration: RTX 3090""",
    ),
    (
        "compat-libs-shadow-driver",
        """Error 803: system has unsupported display driver / cuda driver combination
Environment:
LD_LIBRARY_PATH=/usr/local/cuda-12.1/compat:/usr/lib
Nvidia driver version: 545.23""",
    ),
    (
        "gpu-newer-than-build",
        """NVIDIA GeForce RTX 4090 with CUDA capability sm_89 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70.""",
    ),
    (
        "runtime-compiler-too-old-for-gpu",
        """ptxas fatal   : Value 'sm_103a' is not defined for option 'gpu-name'
Environment:
GPU models and configuration: NVIDIA B300""",
    ),
    (
        "cpu-only-build",
        """AssertionError: Torch not compiled with CUDA enabled""",
    ),
    (
        "cpu-only-build",
        """>>> torch.cuda.is_available()
False
>>> torch.version.cuda
None
Environment:
GPU models and configuration: RTX 3060""",
    ),
    (
        "cpu-only-build",
        """WARNING: No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)
jax 0.4.1""",
    ),
    (
        "cuda-wheel-on-amd",
        """AssertionError / RuntimeError: Found no NVIDIA driver on your system.
Environment:
GPU models and configuration: AMD Radeon RX 6700 XT
PyTorch version: 2.3.0+cu121""",
    ),
    (
        "gpu-memory-exhausted",
        """RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR

Environment:
note: works with a smaller batch""",
    ),
    (
        "mixed-cuda-toolkits",
        """ImportError: /usr/local/cuda-10.0/lib64/libcublas.so.10.0: version mismatch

Environment:
system cuda: 9.0 and 10.0 both on LD_LIBRARY_PATH
LD_LIBRARY_PATH=/usr/local/cuda-9.0/lib64:/usr/local/cuda-10.0/lib64""",
    ),
    (
        "nvcc-torch-cuda-mismatch",
        """RuntimeError: The detected CUDA version (10.1) mismatches the version that was used to compile PyTorch (9.2)""",
    ),
    (
        "nvcc-torch-cuda-mismatch",
        """Error compiling objects for extension: identifier undefined in device code

Environment:
PyTorch version: 1.8.0
CUDA used to build PyTorch: 11.1
nvcc: 10.1
note: CUDA extension build""",
    ),
    (
        "driver-too-old-for-build",
        """torch.cuda.is_available() False

Environment:
PyTorch version: 2.11.0
CUDA used to build PyTorch: 13.0
Nvidia driver version: 550.54.15""",
    ),
    (
        "driver-too-old-for-build",
        """AssertionError:
The NVIDIA driver on your system is too old (found version 9000).
Please update your GPU driver

Environment:
PyTorch version: 1.3.0""",
    ),
    (
        "driver-too-old-for-build",
        """cudaGetDeviceCount returned 35
-> CUDA driver version is insufficient for CUDA runtime version

Environment:
Nvidia driver version: 384.130
system cuda: 10.0""",
    ),
    (
        "driver-too-old-for-ptx-toolchain",
        """CUDA driver error: the provided PTX was compiled with an unsupported toolchain. [triton]

Environment:
Nvidia driver version: 525.147
triton: 3.1.0""",
    ),
    (
        "gpu-newer-than-build",
        """RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED
UserWarning: GeForce RTX 3090 with CUDA capability sm_86 is not compatible with the current PyTorch installation.

Environment:
PyTorch version: 1.6.0""",
    ),
    (
        "gpu-newer-than-build",
        """RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR

Environment:
GPU models and configuration: NVIDIA GeForce RTX 4090
PyTorch version: 1.13.1+cu117""",
    ),
    (
        "gpu-older-than-build",
        """Found GPU0 Quadro K2000 which is of cuda capability 3.0.
PyTorch no longer supports this GPU because it is too old.""",
    ),
    (
        "torch-family-version-mismatch",
        """ImportError: cannot import name 'PILLOW_VERSION' / undefined symbol: _ZN3c104cuda20CUDACachingAllocator9allocatorE torchvision/_C.so

Environment:
PyTorch version: 2.1.0
torchvision: 0.15.1""",
    ),
    (
        "torch-family-version-mismatch",
        """RuntimeError: No such operator torchvision::nms

Environment:
PyTorch version: 1.7.0
torchvision: 0.8.0 cpu""",
    ),
    (
        "ext-wheel-built-for-other-torch",
        """ImportError: .../torch_scatter/_scatter_cuda.so: undefined symbol: _ZNK2at6Tensor6deviceEv""",
    ),
    (
        "ext-wheel-built-for-other-torch",
        """Failed to import from vllm._C with ImportError('libcudart.so.12: cannot open shared object file')

Environment:
PyTorch version: 2.9.0+cu130
vllm: 0.11.0""",
    ),
    (
        "ext-wheel-built-for-other-torch",
        """No module named 'flash_attn_2_cuda' ImportError: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs

Environment:
PyTorch version: 2.1.0
flash-attn: 2.5.0 built for torch 2.2""",
    ),
    (
        "local-module-shadows-import",
        """AttributeError: partially initialized module 'torchvision' has no attribute 'transforms' (most likely due to a circular import)
  File "/home/u/code/torchvision.py", line 2""",
    ),
    (
        "numpy-abi-mismatch",
        """RuntimeError: module compiled against API version 0x10 but this version of numpy is 0xe""",
    ),
    (
        "python-headers-missing",
        """fatal error: Python.h: No such file or directory

Environment:
bitsandbytes or deepspeed JIT build
python: 3.12 from deadsnakes""",
    ),
    (
        "visible-devices-wrong-index",
        """AssertionError: Invalid device id

Environment:
gpu count: 1
note: DataParallel(device_ids=[0,1])""",
    ),
    (
        "initialised-before-fork",
        """Fatal Python error / RuntimeError: CUDA error: initialization error

Environment:
note: gunicorn preloads the app and forks workers after the model is on the GPU""",
    ),
    (
        "triton-torch-version-mismatch",
        """AttributeError: 'NoneType' object has no attribute / ImportError: cannot import name 'builtins' from 'triton.language'

Environment:
triton: 3.5.0
PyTorch version: 2.4.1""",
    ),
    (
        "libcuda-stub-loaded",
        """Could not initialize CUDA: CUDA_ERROR_STUB_LIBRARY (34)""",
    ),
    (
        "runtime-compiler-too-old-for-gpu",
        """CompileException: nvrtc: error: invalid value for --gpu-architecture (-arch)

Environment:
GPU models and configuration: RTX 5090
cupy: cupy-cuda12x 13.3 with nvrtc 12.4""",
    ),
    (
        "runtime-compiler-too-old-for-gpu",
        """jaxlib: ptxas too old. Falling back to the driver to compile. / INTERNAL: ptxas 11.5 has a bug / ptxas does not support CC 9.0""",
    ),
    (
        "bundled-cuda-libs-not-on-path",
        """ImportError: libcudnn.so.9: cannot open shared object file

Environment:
packages:
nvidia-cudnn-cu12: 9.1.0.70
note: TensorRT / onnxruntime-gpu does not look into site-packages""",
    ),
)

PROGRAMS_OWN: tuple[str, ...] = (
    """RuntimeError: CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
Assertion `t >= 0 && t < n_classes` failed.
Environment:
PyTorch version: 2.3.0+cu121
GPU models and configuration: RTX 3090
Nvidia driver version: 535.104""",
    """RuntimeError: CUDA error: an illegal memory access was encountered
torch.compile of a custom kernel
PyTorch version: 2.5.0+cu124
GPU 0: NVIDIA H100 80GB HBM3
Is CUDA available: True""",
    """torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.62 GiB is free. Including non-PyTorch memory, this process has 77.40 GiB memory in use. Of the allocated memory 75.00 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated.
memory grows with each step: a leak of the graph in the training loop
Is CUDA available: True""",
    """CUDA out of memory when batch size is set to auto
PyTorch version: 2.4.0+cu121
Is CUDA available: True""",
    """RuntimeError: NCCL communicator was aborted on rank 1. Original reason for failure was: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE)
rank 0 skipped a batch because of uneven data
Is CUDA available: True""",
    """ModuleNotFoundError: No module named 'flash_attn'
transformers falls back to sdpa
Is CUDA available: True
PyTorch version: 2.5.1+cu124""",
    """UserWarning: 1Torch was not compiled with flash attention. (Triggered internally at ..\\aten\\src\\ATen\\native\\transformers\\cuda\\sdp_utils.cpp:455.)
PyTorch version: 2.3.0+cu121
OS: Windows
Is CUDA available: True""",
    """torch._dynamo.exc.Unsupported: call_function BuiltinVariable(print)
[pip3] numpy==1.26.4
[pip3] torch==2.2.0
[pip3] torchvision==0.17.0
[pip3] triton==2.2.0
Is CUDA available: True""",
    """PyTorch version: 2.1.0+cu118
CUDA used to build PyTorch: 11.8
CUDA runtime version: 12.2.140
Nvidia driver version: 535.54.03
GPU 0: NVIDIA GeForce RTX 3080
[pip3] torch==2.1.0+cu118
[pip3] torchaudio==2.1.0+cu118
[pip3] torchvision==0.16.0+cu118
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation""",
    """TypeError: forward() got an unexpected keyword argument 'attention_mask'
PyTorch version: 2.6.0+cu124
xformers==0.0.29
flash-attn==2.7.4.post1
Is CUDA available: True""",
    """The loss is NaN after 200 steps in float16
GPU: Tesla V100
PyTorch version: 1.13.1+cu117
Is CUDA available: True""",
    """AttributeError: module 'torch' has no attribute 'compiler'
PyTorch version: 2.0.1
Is CUDA available: True""",
    """PyTorch version: 2.8.0+cpu
CUDA used to build PyTorch: None
Is CUDA available: False
OS: Ubuntu 22.04 (x86_64)
GPU models and configuration: Could not collect
Nvidia driver version: Could not collect
ValueError: Expected more than 1 value per channel when training""",
    """PyTorch version: 2.4.0
CUDA used to build PyTorch: None
OS: macOS 14.5 (arm64)
Is CUDA available: False
MPS backend out of memory (MPS allocated: 17.00 GB, other allocations: 1.2 GB)""",
    """[rank0]: ImportError: cannot import name 'LlamaFlashAttention2' from 'transformers.models.llama.modeling_llama'
PyTorch version: 2.5.1+cu124
transformers==4.48.0""",
    """ImportError: cannot import name 'cached_download' from 'huggingface_hub'
Is CUDA available: True""",
    """RuntimeError: expected scalar type Half but found Float
Tesla T4, torch 2.3.1+cu121
Is CUDA available: True""",
    """PytorchStreamReader failed reading zip archive: failed finding central directory
torch 2.3.1+cu121""",
    """nvidia-smi
| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:10:1C.0 Off |                    0 |
| N/A   30C    P0             60W /  400W |       4MiB /  81920MiB |      0%      Default |
nvcc: release 11.8
torch 2.4.0+cu121 works; the question is why nvcc and nvidia-smi differ""",
    """vllm 0.6.3
ERROR: ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (20480). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`
GPU 0: NVIDIA A10
Is CUDA available: True""",
    """DataLoader worker (pid 1234) exited unexpectedly with exit code 1
ValueError in __getitem__: cannot reshape array
Is CUDA available: True""",
    """KeyError: 'model_state_dict'
  File "/home/u/project/train.py", line 12, in <module>
  File "/home/u/project/types.py", line 3
torch 2.2.0+cu121
Is CUDA available: True""",
    """[pip3] numpy==2.1.0
[pip3] torch==2.5.1
[pip3] torchvision==0.20.1
Is CUDA available: True
torch.onnx.export fails: Unsupported operator aten::unflatten""",
    """GPU 0: NVIDIA GeForce GTX 1080 Ti
PyTorch version: 2.5.1+cu121
Is CUDA available: True
triton is not supported on this GPU, torch.compile is not used
IndexError: list index out of range""",
    """PyTorch version: 2.9.0+rocm6.4
HIP runtime version: 6.4.43482
GPU models and configuration: AMD Instinct MI300X (gfx942:sramecc+:xnack-)
Is CUDA available: True
AssertionError: Tensor-likes are not close!""",
    """PyTorch version: N/A
OS: Ubuntu 22.04.4 LTS (x86_64)
Is CUDA available: N/A
GPU 0: NVIDIA GeForce RTX 4090
Nvidia driver version: 550.54.14
building docs fails: sphinx error""",
)


@pytest.mark.parametrize(("code", "text"), CAUSES, ids=[code for code, _ in CAUSES])
def test_the_cause_comes_first(code: str, text: str) -> None:
    assert first(text) == code


@pytest.mark.parametrize("text", PROGRAMS_OWN, ids=range(len(PROGRAMS_OWN)))
def test_what_is_the_programs_own_stays_quiet(text: str) -> None:
    assert alarms(text) == []
