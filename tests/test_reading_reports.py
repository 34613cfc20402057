"""Environment reports, "key: value" lines, packages and variables become facts."""

from __future__ import annotations

import pytest

from agent.model import Interpreter, Observations, Torch
from agent.reading.read import read_text

COLLECT_ENV = """\
Collecting environment information...
PyTorch version: 2.7.1+cu126
Is debug build: False
CUDA used to build PyTorch: 12.6
ROCM used to build PyTorch: N/A

OS: Debian GNU/Linux 12 (bookworm) (x86_64)
GCC version: (Debian 12.2.0-14) 12.2.0
Clang version: Could not collect
CMake version: version 3.25.1
Libc version: glibc-2.36

Python version: 3.12.3 | packaged by conda-forge | (main) [GCC 12.3.0] (64-bit runtime)
Python platform: Linux-6.1.0-20-amd64-x86_64-with-glibc2.17
Is CUDA available: False
CUDA runtime version: 12.4.131
CUDA_MODULE_LOADING set to: LAZY
GPU models and configuration:
GPU 0: NVIDIA L40S
GPU 1: NVIDIA L40S

Nvidia driver version: 550.54.15
cuDNN version: Probably one of the following:
/usr/lib/x86_64-linux-gnu/libcudnn.so.9.1.0
HIP runtime version: N/A
Is XNNPACK available: True

CPU:
Architecture:                    x86_64
CPU(s):                          64
Model name:                      AMD EPYC 9354 32-Core Processor

Versions of relevant libraries:
[pip3] numpy==2.2.6
[pip3] nvidia-cublas-cu12==12.6.4.1
[pip3] torch==2.7.1+cu126
[pip3] triton==3.3.1
[conda] numpy                     2.2.6                    pypi_0    pypi
"""


def torch_of(seen: Observations) -> Torch:
    found = interpreter_of(seen).torch
    assert found is not None
    return found


def interpreter_of(seen: Observations) -> Interpreter:
    assert len(seen.facts.interpreters) == 1
    return seen.facts.interpreters[0]


def versions(seen: Observations) -> list[tuple[str, str]]:
    return [(package.name, package.version) for package in seen.facts.packages]


def tools(seen: Observations) -> dict[str, str | None]:
    return {tool.name: tool.version for tool in seen.facts.toolkits.tools}


@pytest.mark.parametrize("aligned", [False, True], ids=["torch", "vllm"])
def test_the_report_of_collect_env(aligned: bool) -> None:
    text = COLLECT_ENV.replace(": ", "   : ", 14) if aligned else COLLECT_ENV
    seen = read_text(text)
    host = seen.facts.host
    assert (torch_of(seen).version, torch_of(seen).build) == ("2.7.1+cu126", "cu126")
    assert torch_of(seen).cuda_version == "12.6"
    assert interpreter_of(seen).version == "3.12.3"
    assert interpreter_of(seen).kind == "conda"
    assert (host.os_id, host.os_version, host.architecture) == ("debian", "12", "x86_64")
    assert host.libc_version == "2.36", "the running libc, not the one Python was built for"
    assert host.kernel_release == "6.1.0-20-amd64"
    assert host.cpu_count == 64
    assert tools(seen) == {"gcc": "12.2.0", "cmake": "3.25.1", "nvcc": "12.4.131"}
    assert [d.name for d in seen.facts.devices] == ["NVIDIA L40S", "NVIDIA L40S"]
    assert [d.architecture for d in seen.facts.devices] == ["8.9", "8.9"]
    assert seen.facts.drivers.nvidia is not None
    assert seen.facts.drivers.nvidia.userspace_version == "550.54.15"
    assert ("nvidia-cublas-cu12", "12.6.4.1") in versions(seen)
    assert ("torch", "2.7.1+cu126") in versions(seen)
    (stage,) = seen.stages
    assert (stage.name, stage.data["is_available"]) == ("import", False)


def test_the_report_of_sglang() -> None:
    seen = read_text(
        "Python: 3.10.12 (main)\nCUDA available: True\nGPU 0,1: NVIDIA H20\n"
        "GPU 0,1 Compute Capability: 9.0\nCUDA_HOME: /usr/local/cuda\n"
        "NVCC: Cuda compilation tools, release 12.8, V12.8.93\nCUDA Driver Version: 570.86.15\n"
        "PyTorch: 2.8.0+cu128\nsgl_kernel: 0.3.4\nxgrammar: 0.1.21\nvllm: Module Not Found\n"
    )
    assert len(seen.facts.devices) == 2
    assert {d.architecture for d in seen.facts.devices} == {"9.0"}
    assert seen.facts.drivers.nvidia is not None
    assert seen.facts.drivers.nvidia.userspace_version == "570.86.15"
    assert tools(seen)["nvcc"] == "12.8.93"
    assert seen.facts.toolkits.cuda_home == "/usr/local/cuda"
    assert ("sgl-kernel", "0.3.4") in versions(seen)


def test_the_lines_a_support_person_adds() -> None:
    seen = read_text(
        "RuntimeError: boom\n\nEnvironment:\nGPU: 2x RTX 3090 + Tesla P40\n"
        "driver kernel: 570.86.16 (open)\ndriver userspace: 570.124.06\ndriver cuda: 12.8\n"
        "PyTorch version: 2.5.1 (cu121)\narch list: ['sm_50', 'sm_80', 'sm_90']\n"
        "OS: CentOS 7, glibc 2.17\ncontainer: True\nplatform: GKE\n"
        "device nodes: ['/dev/nvidia0', '/dev/nvidiactl']\ncontainer lacks: ['libcuda.so.1']\n"
        "gpu memory: 23.69 GiB\ncompute mode: Exclusive_Process\nsomelib: 1.4.2\n"
        "LD_LIBRARY_PATH=/opt/old/lib64\n"
    )
    facts = seen.facts
    assert [d.architecture for d in facts.devices] == ["8.6", "8.6", "6.1"]
    assert {d.compute_mode for d in facts.devices} == {"exclusive-process"}
    assert facts.devices[0].memory_total_bytes == int(23.69 * 1024**3)
    nvidia = facts.drivers.nvidia
    assert nvidia is not None
    assert (nvidia.kernel_version, nvidia.userspace_version) == ("570.86.16", "570.124.06")
    assert (nvidia.kernel_open, nvidia.nvml_cuda_version) == (True, "12.8")
    assert torch_of(seen).version == "2.5.1+cu121"
    assert torch_of(seen).architectures == ("sm_50", "sm_80", "sm_90")
    assert (facts.host.os_id, facts.host.libc_version) == ("centos", "2.17")
    assert (facts.container.kind, facts.container.provider) == ("kubernetes", "gke")
    assert [node.path for node in facts.host.nodes] == ["/dev/nvidia0", "/dev/nvidiactl"]
    assert any("libcuda.so.1 is missing" in gap.why for gap in seen.gaps)
    assert ("somelib", "1.4.2") in versions(seen)
    assert [(v.name, v.value) for v in facts.environment] == [("LD_LIBRARY_PATH", "/opt/old/lib64")]


@pytest.mark.parametrize(
    "line",
    [
        "torch: 2.4.1+cu121",
        "- PyTorch version: 2.4.1+cu121",
        "* **torch**: 2.4.1+cu121",
        "**PyTorch version:** 2.4.1+cu121",
        "| torch | 2.4.1+cu121 |",
        "PyTorch version = 2.4.1+cu121",
        "torch_version: `2.4.1+cu121`",
        "[pip3] torch==2.4.1+cu121",
        "torch                    2.4.1+cu121",
        "Name: torch\nVersion: 2.4.1+cu121",
        ">>> torch.__version__\n'2.4.1+cu121'",
        "1. PyTorch version: 2.4.1+cu121",
        "I run torch 2.4.1+cu121 here",
        "torch @ file:///x and torch==2.4.1+cu121",
    ],
)
def test_every_spelling_of_one_version(line: str) -> None:
    seen = read_text(f"Some words before.\n{line}\n")
    assert torch_of(seen).version == "2.4.1+cu121"
    assert torch_of(seen).build == "cu121"


@pytest.mark.parametrize(
    "line",
    [
        "pip install torch==2.4.1",
        "xformers requires torch==2.4.1",
        "Uninstalling torch-2.4.1:",
        "This wheel was built for torch 2.4.1",
        "ERROR: you need torch 2.4.1",
    ],
)
def test_a_wish_is_no_statement(line: str) -> None:
    assert read_text(line).facts.interpreters == ()


def test_conda_builds_tell_what_torch_was_built_for() -> None:
    head = "# Name                    Version                   Build  Channel\n"
    gpu = "pytorch   2.1.0   py3.10_cuda12.1_cudnn8.9.2_0   pytorch\n"
    cpu = "pytorch   1.13.1  py3.10_cpu_0                   pytorch\n"
    assert torch_of(read_text(head + gpu)).build == "cu121"
    assert torch_of(read_text(head + cpu)).build == "cpu"
    assert interpreter_of(read_text(head + gpu)).torch is not None


def test_a_build_without_cuda_is_a_cpu_build() -> None:
    seen = read_text("PyTorch version: 2.6.0\nCUDA used to build PyTorch: None\n")
    assert torch_of(seen).build == "cpu"
    unknown = read_text("PyTorch version: 2.6.0\nCUDA used to build PyTorch: Could not collect\n")
    assert torch_of(unknown).build is None
    absent = read_text("PyTorch version: N/A\nCUDA used to build PyTorch: N/A\n")
    assert absent.facts.interpreters == ()


def test_rocm_builds() -> None:
    seen = read_text("torch 2.9.0+rocm6.4\nROCM used to build PyTorch: 6.4.43483-a187df25c\n")
    assert torch_of(seen).build == "rocm6.4"
    assert torch_of(seen).hip_version == "6.4.43483"
    assert torch_of(seen).cuda_version is None


def test_two_versions_in_one_text_keep_their_order_and_the_first_stands() -> None:
    seen = read_text("[pip3] torch==2.3.0\nafter the upgrade:\n[pip3] torch==2.8.0\n")
    assert torch_of(seen).version == "2.3.0"
    assert versions(seen) == [("torch", "2.3.0"), ("torch", "2.8.0")]
    (gap,) = seen.gaps
    assert gap.pointer == "/facts/torch/version"
    assert "line 1" in gap.why
    assert "line 3" in gap.why


def test_a_report_outweighs_a_message_and_a_fuller_spelling_completes_it() -> None:
    text = "torch 1.13.0 was here before\nPyTorch version: 2.9.1\n[pip3] torch==2.9.1+cu130\n"
    assert torch_of(read_text(text)).version == "2.9.1+cu130"


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("535.104.05", "535.104.05"),
        ("580 or newer", "580"),
        ("early 525", "525"),
        ("<580 after several switches", None),
        ("GRID 550", "550"),
        ("unknown", None),
    ],
)
def test_how_a_driver_is_named(said: str, version: str | None) -> None:
    nvidia = read_text(f"Nvidia driver version: {said}\n").facts.drivers.nvidia
    assert (nvidia.userspace_version if nvidia else None) == version


def test_messages_carry_the_deciding_numbers() -> None:
    seen = read_text(
        "UserWarning: \n"
        "    Found GPU1 NVIDIA GeForce GTX 1070 which is of compute capability (CC) 6.1.\n"
        "UserWarning: NVIDIA GeForce RTX 5080 with CUDA capability sm_120 is not compatible\n"
        "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_90.\n"
        "The NVIDIA driver on your system is too old (found version 11080).\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB. GPU 1 has a total "
        "capacity of 7.92 GiB of which 1 GiB is free.\n"
    )
    assert {(d.driver_index, d.architecture) for d in seen.facts.devices} >= {(1, "6.1")}
    assert any(d.architecture == "12.0" for d in seen.facts.devices)
    assert torch_of(seen).architectures == ("sm_50", "sm_60", "sm_70", "sm_90")
    assert seen.facts.drivers.nvidia is not None
    assert seen.facts.drivers.nvidia.cuda_version == "11.8"
    sizes = [d.memory_total_bytes for d in seen.facts.devices if d.driver_index == 1]
    assert sizes == [int(7.92 * 1024**3)]


def test_tensorflow_and_llama_name_their_devices() -> None:
    seen = read_text(
        "Created device /device:GPU:0 with 9 MB memory:  -> device: 0, name: Tesla V100-SXM2-32GB, "
        "pci bus id: 0000:1a:00.0, compute capability: 7.0\n"
        "  Device 1: NVIDIA GeForce RTX 3060, compute capability 8.6, VMM: yes\n"
    )
    assert [(d.name, d.architecture) for d in seen.facts.devices] == [
        ("Tesla V100-SXM2-32GB", "7.0"),
        ("NVIDIA GeForce RTX 3060", "8.6"),
    ]


def test_variables_of_every_kind() -> None:
    seen = read_text(
        "export NCCL_P2P_DISABLE=1\n"
        "$ CUDA_VISIBLE_DEVICES=0,1 NCCL_DEBUG=INFO torchrun train.py\n"
        "docker run -e NVIDIA_DRIVER_CAPABILITIES=utility --gpus all image:tag\n"
        "$ echo $LD_LIBRARY_PATH\n/opt/cuda/lib64:/usr/lib\n"
        'os.environ["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0"\n'
        "CUDA_MODULE_LOADING set to: LAZY\n"
        "MY_PASSWORD=hunter2\n"
    )
    values = {v.name: v.value for v in seen.facts.environment}
    assert values == {
        "NCCL_P2P_DISABLE": "1",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "NCCL_DEBUG": "INFO",
        "NVIDIA_DRIVER_CAPABILITIES": "utility",
        "LD_LIBRARY_PATH": "/opt/cuda/lib64:/usr/lib",
        "HSA_OVERRIDE_GFX_VERSION": "10.3.0",
        "CUDA_MODULE_LOADING": "LAZY",
    }
    assert seen.facts.container.nvidia_driver_capabilities == "utility"


def test_what_was_removed_is_not_installed() -> None:
    seen = read_text("Successfully uninstalled torch-1.11.0\nSuccessfully installed torch-2.4.1\n")
    assert versions(seen) == [("torch", "2.4.1")]


@pytest.mark.parametrize(
    ("line", "system"),
    [
        ("OS: Microsoft Windows 11 Pro", "windows"),
        ("OS: Windows 11 + WSL2 6.6.87", "wsl"),
        ("Python platform: Linux-5.15.167.4-microsoft-standard-WSL2-x86_64-with-glibc2.39", "wsl"),
        ("Linux box 6.8.0-51-generic #52-Ubuntu SMP x86_64 GNU/Linux", "linux"),
        ("ImportError: DLL load failed while importing _C: not found", "windows"),
        ('  File "C:\\Users\\me\\app.py", line 3', "windows"),
        ("OS: macOS 15.1 (arm64)", "macos"),
        ('PRETTY_NAME="x"\nOS: Ubuntu 24.04', "linux"),
    ],
)
def test_which_system_a_text_comes_from(line: str, system: str) -> None:
    assert read_text(line).facts.host.system == system


def test_vietnamese_and_chinese_around_an_english_report() -> None:
    seen = read_text(
        "Chào bạn, máy thuê của tôi báo lỗi như sau, xin giúp đỡ:\n\n"
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n\n"
        "显卡:RTX 5090\n驱动版本如下\ntorch: 2.5.1+cu121\n谢谢大家!\n"
    )
    assert torch_of(seen).version == "2.5.1+cu121"
    assert [d.architecture for d in seen.facts.devices] == ["12.0"]
    assert seen.lines[1].pointer == "line 3"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("CUDA_VISIBLE_DEVICES=\n", ""),
        ("CUDA_VISIBLE_DEVICES=-1 python train.py\n", "-1"),
        ("CUDA_VISIBLE_DEVICES=none\n", "none"),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = ""\n', ""),
        ("$ echo $CUDA_VISIBLE_DEVICES\n\n", None),
        ("CUDA_VISIBLE_DEVICES: not set\n", None),
    ],
)
def test_an_empty_mask_is_a_mask_and_an_unset_one_is_none(text: str, value: str | None) -> None:
    values = {v.name: v.value for v in read_text(text).facts.environment}
    assert values.get("CUDA_VISIBLE_DEVICES") == value
