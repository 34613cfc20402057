"""Banners and property dumps of programs; layouts as the programs print them, values made up."""

from __future__ import annotations

import pytest

from agent.model import Observations, Torch
from agent.reading.read import read_text


def torch_of(seen: Observations) -> Torch:
    assert seen.facts.interpreters, "nothing was read of a Python"
    found = seen.facts.interpreters[0].torch
    assert found is not None
    return found


CARDS: dict[str, tuple[str, list[tuple[str, str, int | None]]]] = {
    "ultralytics": (
        "Ultralytics 8.3.1 Python-3.11.2 torch-2.4.0+cu121 CUDA:0 (NVIDIA A10G, 22502MiB)",
        [("NVIDIA A10G", "8.6", 22502)],
    ),
    "comfyui": (
        "Total VRAM 12282 MB, total RAM 65247 MB\npytorch version: 2.4.1+cu124\n"
        "Device: cuda:0 NVIDIA GeForce RTX 4070 : cudaMallocAsync\n",
        [("NVIDIA GeForce RTX 4070", "8.9", 12282)],
    ),
    "unsloth": (
        "   \\\\   /|    NVIDIA L4. Num GPUs = 1. Max memory: 22.0 GB. Platform: Linux.\n"
        "O^O/ \\_/ \\    Torch: 2.6.0+cu124. CUDA: 8.9. CUDA Toolkit: 12.4. Triton: 3.2.0\n"
        "Unsloth\n",
        [("NVIDIA L4", "8.9", 22 << 10)],
    ),
    "ollama": (
        'msg="inference compute" id=GPU-1 library=cuda variant=v12 compute=7.5 driver=12.4 '
        'name="NVIDIA GeForce RTX 2070" total="7.8 GiB"\n',
        [("NVIDIA GeForce RTX 2070", "7.5", None)],
    ),
    "llama.cpp on rocm": (
        "ggml_cuda_init: found 1 ROCm devices:\n"
        "  Device 0: AMD Radeon RX 7800 XT, gfx1101 (0x1101)\n",
        [("AMD Radeon RX 7800 XT", "gfx1101", None)],
    ),
    "detectron2": (
        "detectron2   0.6 @/opt/x\nGPU 0,1      Tesla V100-SXM2-16GB (arch=7.0)\n",
        [("Tesla V100-SXM2-16GB", "7.0", None)] * 2,
    ),
    "properties": (
        "_CudaDeviceProperties(name='NVIDIA GeForce RTX 5070', major=12, minor=0, "
        "total_memory=12226MB, multi_processor_count=48)",
        [("NVIDIA GeForce RTX 5070", "12.0", 12226)],
    ),
    "properties on rocm": (
        "_CudaDeviceProperties(name='AMD Instinct MI300X', major=9, minor=4, "
        "gcnArchName='gfx942:sramecc+:xnack-', total_memory=196288MB)",
        [("AMD Instinct MI300X", "gfx942", 196288)],
    ),
    "python": (
        ">>> torch.cuda.get_device_name(0)\n'NVIDIA RTX A5000'\n",
        [("NVIDIA RTX A5000", "8.6", None)],
    ),
}


@pytest.mark.parametrize("program", list(CARDS))
def test_the_cards_that_a_program_names(program: str) -> None:
    text, cards = CARDS[program]
    seen = read_text(text).facts.devices
    wanted = [(name, arch, mib and mib << 20) for name, arch, mib in cards]
    assert [(d.name, d.architecture, d.memory_total_bytes) for d in seen] == wanted


def test_an_interactive_python_answers() -> None:
    seen = read_text(
        "Python 3.9.18 (main, Sep 11 2023) [GCC 11.2.0] on linux\n"
        ">>> torch.__version__\n'2.0.1'\n>>> torch.version.cuda\n'11.7'\n"
        ">>> torch.backends.cudnn.version()\n90100\n>>> torch.cuda.is_available()\nFalse\n"
        ">>> torch.cuda.get_arch_list()\n['sm_37', 'sm_90']\n"
    )
    torch = torch_of(seen)
    assert (torch.version, torch.cuda_version) == ("2.0.1", "11.7")
    assert torch.cudnn_version == "9.1.0"
    assert torch.architectures == ("sm_37", "sm_90")
    assert seen.facts.interpreters[0].version == "3.9.18"
    assert seen.stages[0].data["is_available"] is False


def test_what_torch_says_of_its_build() -> None:
    seen = read_text(
        "PyTorch built with:\n  - GCC 9.3\n  - CUDA Runtime 12.1\n  - NVCC architecture flags: "
        "-gencode;arch=compute_50,code=sm_50;-gencode;arch=compute_90,code=sm_90\n"
    )
    assert torch_of(seen).cuda_version == "12.1"
    assert torch_of(seen).architectures == ("sm_50", "sm_90")


def test_the_dotted_report_of_deepspeed() -> None:
    seen = read_text(
        "torch version .................... 2.3.1+cu121\nnvcc version ..................... 12.4\n"
        "deepspeed wheel compiled w. ...... torch 2.1, cuda 12.1\n"
    )
    assert torch_of(seen).version == "2.3.1+cu121"
    assert [(t.name, t.version) for t in seen.facts.toolkits.tools] == [("nvcc", "12.4")]


@pytest.mark.parametrize(
    "text",
    [
        "### GPU\n\nRTX 3060\n\n### PyTorch version\n\n2.5.0+cu124\n",
        "- GPU [e.g. RTX 4090]: RTX 3060\n- PyTorch version (e.g., 1.0): 2.5.0+cu124\n",
        '{\n  "gpu": "RTX 3060",\n  "torch": "2.5.0+cu124"\n}\n',
        "显卡：RTX 3060\npytorch版本：2.5.0+cu124\n",
        "gpu.name: RTX 3060\npytorch.version: 2.5.0+cu124\npytorch.cuda: available\n",
    ],
)
def test_forms_in_which_people_answer(text: str) -> None:
    seen = read_text(text)
    assert [d.name for d in seen.facts.devices] == ["RTX 3060"]
    assert torch_of(seen).version == "2.5.0+cu124"


def test_the_architectures_of_tensorflow_are_not_those_of_torch() -> None:
    seen = read_text("('cuda_compute_capabilities', ['sm_60', 'compute_80']), ('is_cuda_build', 1)")
    assert seen.facts.interpreters == ()


def test_huggingface_states_in_one_line_whether_torch_sees_a_gpu() -> None:
    seen = read_text("- PyTorch version (GPU?): 2.5.1+cu124 (False)\n- GPU type: NVIDIA A10G\n")
    assert torch_of(seen).version == "2.5.1+cu124"
    assert seen.stages[0].data == {"is_available": False}
