from __future__ import annotations

import pytest

from agent.collect.environment import allowed, read_environment
from agent.model import EnvironmentVariable as Variable


@pytest.mark.parametrize(
    "name",
    [
        "CUDA_VISIBLE_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
        "NCCL_DEBUG",
        "PYTORCH_CUDA_ALLOC_CONF",
        "TORCH_CUDA_ARCH_LIST",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "HSA_OVERRIDE_GFX_VERSION",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PYTHONPATH",
        "PYTHONNOUSERSITE",
        "CONDA_PREFIX",
        "SLURM_JOB_GPUS",
        "GPU_DEVICE_ORDINAL",
        "BNB_CUDA_VERSION",
    ],
)
def test_what_steers_a_gpu_program_is_kept(name: str) -> None:
    assert allowed(name)


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "NVIDIA_API_KEY",
        "NCCL_AUTH",
        "TORCH_PASSWORD",
        "SLURM_JWT",
        "RUNPOD_API_KEY",
        "VLLM_API_KEY",
        "USER",
        "HOME",
        "SSH_CONNECTION",
        "DATABASE_URL",
        "WANDB_API_KEY",
    ],
)
def test_what_may_hold_a_secret_is_not(name: str) -> None:
    assert not allowed(name)


def test_only_what_differs_is_taken_from_the_first_process() -> None:
    own = {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": "", "HOME": "/root"}
    first = {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": "0", "LD_LIBRARY_PATH": "/x", "HF_TOKEN": "t"}
    assert read_environment(own, first) == (
        Variable(name="CUDA_VISIBLE_DEVICES", value=""),
        Variable(name="PATH", value="/bin"),
        Variable(name="CUDA_VISIBLE_DEVICES", value="0", scope="init"),
        Variable(name="LD_LIBRARY_PATH", value="/x", scope="init"),
    )


def test_values_lose_credentials_bytes_and_length() -> None:
    found = read_environment(
        {
            "PIP_INDEX_URL": "https://user:hunter2@pypi.example/simple https://tok@b/",
            "PYTHONPATH": "/a\udcff",
            "LD_LIBRARY_PATH": "x" * 9000,
        },
        None,
    )
    values = {variable.name: variable.value for variable in found}
    assert values["PIP_INDEX_URL"] == "https://pypi.example/simple https://b/"
    assert values["PYTHONPATH"] == "/a\\xff"
    assert len(values["LD_LIBRARY_PATH"]) == 4097
