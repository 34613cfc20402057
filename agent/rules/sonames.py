"""What the file name of an NVIDIA library says: which component it is, of which CUDA major."""

from __future__ import annotations

import re

# library -> the component of the nvidia-* wheels that brings it
COMPONENTS: dict[str, str] = {
    "libcublas": "cublas",
    "libcublasLt": "cublas",
    "libcudnn": "cudnn",
    "libcufft": "cufft",
    "libcufile": "cufile",
    "libcupti": "cuda-cupti",
    "libcurand": "curand",
    "libcusolver": "cusolver",
    "libcusparse": "cusparse",
    "libcusparseLt": "cusparselt",
    "libcudart": "cuda-runtime",
    "libnccl": "nccl",
    "libnvJitLink": "nvjitlink",
    "libnvrtc": "cuda-nvrtc",
    "libnvrtc-builtins": "cuda-nvrtc",
    "libnvToolsExt": "nvtx",
    "libnvshmem_host": "nvshmem",
    "libnvinfer": "tensorrt",
}

# (library, major of its soname) -> CUDA majors that ship it so; source: toolkits 10.2 to 13.0
_MAJORS: dict[tuple[str, int], tuple[int, ...]] = {
    ("libcudart", 9): (9,),
    ("libcudart", 10): (10,),
    ("libcudart", 11): (11,),
    ("libcudart", 12): (12,),
    ("libcudart", 13): (13,),
    ("libcublas", 10): (10,),
    ("libcublas", 11): (11,),
    ("libcublas", 12): (12,),
    ("libcublas", 13): (13,),
    ("libcufft", 10): (10, 11),
    ("libcufft", 11): (12,),
    ("libcufft", 12): (13,),
    ("libcusparse", 10): (10,),
    ("libcusparse", 11): (11,),
    ("libcusparse", 12): (12, 13),
    ("libcusolver", 10): (10, 11),
    ("libcusolver", 11): (11, 12),
    ("libcusolver", 12): (13,),
    ("libnvrtc", 10): (10,),
    ("libnvrtc", 11): (11,),
    ("libnvrtc", 12): (12,),
    ("libnvrtc", 13): (13,),
    ("libnvJitLink", 12): (12,),
    ("libnvJitLink", 13): (13,),
    ("libcupti", 10): (10,),
    ("libcupti", 11): (11,),
    ("libcupti", 12): (12,),
    ("libcupti", 13): (13,),
}


def component(soname: str) -> str | None:
    """The wheel component of "libcublasLt.so.12" ("cublas"), None for another library."""
    stem = soname.split(".so")[0]
    if stem.startswith("libcudnn"):
        return "cudnn"
    return COMPONENTS.get(stem)


def cuda_majors(soname: str) -> tuple[int, ...]:
    """The CUDA majors that ship a library of this name; () where the name does not tell."""
    stem, _, rest = soname.partition(".so")
    number = re.match(r"\.(\d+)", rest)
    if number is None:
        return ()
    stem = {"libcublasLt": "libcublas", "libnvrtc-builtins": "libnvrtc"}.get(stem, stem)
    return _MAJORS.get((stem, int(number.group(1))), ())
