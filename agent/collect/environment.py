"""Which environment variables steer Python, the loader, the GPU libraries and the scheduler."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..model import EnvironmentVariable
from .tree import plain

LONGEST_VALUE = 4096
# Families whose variables are switches. A variable outside of these is never read out.
PREFIXES = (
    "ACCELERATE_",
    "AMD_",
    "BNB_",
    "CUBLAS_",
    "CUBLASLT_",
    "CUDA_",
    "CUDNN_",
    "CUPY_",
    "DISABLE_ADDMM_",
    "FLASH_ATTENTION_",
    "GLOO_",
    "GOMP_",
    "GPU_",
    "HIP_",
    "HSA_",
    "KMP_",
    "MIOPEN_",
    "MKL_",
    "NCCL_",
    "NUMBA_",
    "NVCC_",
    "NVIDIA_",
    "NVTE_",
    "OMPI_COMM_WORLD_",
    "OMP_",
    "OPENBLAS_",
    "PYTHON",
    "PYTORCH_",
    "RCCL_",
    "ROCBLAS_",
    "ROCM_",
    "ROCR_",
    "SLURM_CPUS_",
    "SLURM_GPUS",
    "SLURM_MEM_",
    "SLURM_NTASKS",
    "TORCH",
    "TRITON_",
    "UCX_",
    "VLLM_",
    "XFORMERS_",
)
NAMES = frozenset(
    (
        *(
            "CC",
            "CXX",
            "CUDAHOSTCXX",
            "CFLAGS",
            "CXXFLAGS",
            "LDFLAGS",
            "MAX_JOBS",
            "FORCE_CUDA",
            "NINJA_STATUS",
        ),
        *(
            "CONDA_DEFAULT_ENV",
            "CONDA_PREFIX",
            "CONDA_SHLVL",
            "VIRTUAL_ENV",
            "PATH",
            "LIBRARY_PATH",
            "CPATH",
        ),
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LD_BIND_NOW", "MALLOC_ARENA_MAX"),
        *(
            "HF_HUB_OFFLINE",
            "HF_HUB_ENABLE_HF_TRANSFER",
            "HF_HOME",
            "TRANSFORMERS_OFFLINE",
            "TRANSFORMERS_CACHE",
        ),
        *("TOKENIZERS_PARALLELISM", "USE_FLASH_ATTENTION"),
        *(
            "PIP_INDEX_URL",
            "PIP_EXTRA_INDEX_URL",
            "PIP_CONSTRAINT",
            "PIP_NO_BINARY",
            "PIP_TARGET",
            "PIP_USER",
        ),
        *("UV_TORCH_BACKEND", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_PYTHON"),
        *(
            "MASTER_ADDR",
            "MASTER_PORT",
            "RANK",
            "WORLD_SIZE",
            "LOCAL_RANK",
            "LOCAL_WORLD_SIZE",
            "NODE_RANK",
            "GROUP_RANK",
        ),
        *(
            "SLURM_JOB_ID",
            "SLURM_JOB_GPUS",
            "SLURM_STEP_GPUS",
            "SLURM_NNODES",
            "SLURM_PROCID",
            "SLURM_LOCALID",
        ),
        *("SLURM_JOB_NUM_NODES", "SLURM_NODEID", "SLURM_JOB_CPUS_PER_NODE", "SLURM_JOB_PARTITION"),
        *(
            "RUNPOD_GPU_COUNT",
            "RUNPOD_CPU_COUNT",
            "RUNPOD_MEM_GB",
            "RUNPOD_DC_ID",
            "RUNPOD_GPU_NAME",
        ),
        *("TMPDIR", "XDG_CACHE_HOME", "container", "LANG", "LC_ALL", "LC_CTYPE"),
    )
)
# Never, whatever family it belongs to.
SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE|JWT|AUTH|COOKIE")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def read_environment(
    environ: Mapping[str, str], first: Mapping[str, str] | None
) -> tuple[EnvironmentVariable, ...]:
    """The allowed variables of this process, then those of process 1 that differ.

    ``first`` is None where process 1 is no part of the user's box or cannot be read. Values
    are cut at 4096 characters and lose the credentials of a URL.
    """
    own = [
        EnvironmentVariable(name=name, value=_shown(environ[name]))
        for name in sorted(environ)
        if allowed(name)
    ]
    others = [
        EnvironmentVariable(name=name, value=_shown(value), scope="init")
        for name, value in sorted((first or {}).items())
        if allowed(name) and environ.get(name) != value
    ]
    return (*own, *others)


def allowed(name: str) -> bool:
    """Whether a variable of this name may be written into a bundle."""
    return (name in NAMES or name.startswith(PREFIXES)) and not SECRET.search(name.upper())


def _shown(value: str) -> str:
    value = _CREDENTIALS.sub("", plain(value))
    return value if len(value) <= LONGEST_VALUE else value[:LONGEST_VALUE] + "…"
