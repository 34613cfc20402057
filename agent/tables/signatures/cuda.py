"""What torch, the CUDA runtime and its libraries print."""

from __future__ import annotations

from agent.tables.signatures import Signature

_TORCH = "torch 2.14.1+cu130: string read in the shipped library or Python file"

ROWS: tuple[Signature, ...] = (
    Signature(
        "cuda_available_true",
        ("available", "cuda"),
        r"^\s*(?:Is CUDA available|CUDA available|torch\.cuda\.is_available\(\))\s*[:=]*\s*True\b",
        "Is CUDA available: True",
        "torch.utils.collect_env",
    ),
    Signature(
        "cuda_available_false",
        ("available",),
        r"^\s*(?:Is CUDA available|CUDA available|torch\.cuda\.is_available\(\))\s*[:=]*\s*False\b",
        "Is CUDA available: False",
        "torch.utils.collect_env",
    ),
    Signature(
        "no_kernel_image",
        ("no kernel image", "nokernelimage"),
        r"no kernel image is available for execution|cudaErrorNoKernelImageForDevice"
        r"|CUDA_ERROR_NO_BINARY_FOR_GPU",
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "nvidia-cuda-runtime 13.0: cudaGetErrorString",
    ),
    Signature(
        "capability_not_compatible",
        ("is not compatible with the current pytorch",),
        r"with CUDA capability sm_(\d+)\w? is not compatible with the current PyTorch",
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current"
        " PyTorch installation.",
        _TORCH,
    ),
    Signature(
        "torch_lacks_kernels",
        ("does not include kernels for this gpu", "no longer supports this gpu"),
        r"Your installed torch==(\S+) does not include kernels for this GPU"
        r"|PyTorch no longer supports this GPU because it is too old",
        "Your installed torch==2.14.1+cu130 does not include kernels for this GPU.",
        _TORCH,
    ),
    Signature(
        "found_gpu_of_capability",
        ("compute capability (cc)", "cuda capability"),
        r"Found GPU\s?(\d+) (.+?),? which is of (?:compute|cuda) capability (?:\(CC\) )?(\d+\.\d+)",
        "Found GPU0 Tesla P100-PCIE-16GB which is of compute capability (CC) 6.0.",
        _TORCH,
    ),
    Signature(
        "driver_too_old",
        ("driver on your system is too old", "driver too old"),
        r"NVIDIA driver (?:on your system is )?too old \(found (?:version )?(\d+)\)",
        "RuntimeError: The NVIDIA driver on your system is too old (found version 12040).",
        _TORCH,
    ),
    Signature(
        "insufficient_driver",
        ("driver version is insufficient", "cudaerrorinsufficientdriver"),
        r"CUDA driver version is insufficient for CUDA runtime version"
        r"|cudaErrorInsufficientDriver",
        "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version",
        "nvidia-cuda-runtime 13.0: cudaGetErrorString",
    ),
    Signature(
        "not_compiled_with_cuda",
        ("not compiled with cuda",),
        r"Torch not compiled with CUDA enabled",
        "AssertionError: Torch not compiled with CUDA enabled",
        _TORCH,
    ),
    Signature(
        "no_nvidia_driver",
        ("found no nvidia driver",),
        r"Found no NVIDIA driver on your system",
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA"
        " GPU and installed a driver from http://www.nvidia.com/Download/index.aspx",
        _TORCH,
    ),
)
