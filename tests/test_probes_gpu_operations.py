"""Operations for a GPU, tried on this processor with stand-ins: references, shapes, arguments.

What a stand-in cannot show is that the real package computes so; that needs a GPU.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from probes import kernel_launch

from .in_target import lines_of, stage_of
from .simulate import has_compiler

START = """
import sys, types, torch, numpy
from firstlight_probes import gpu_operations, cpu_operations, torch_own, triton_compile
from firstlight_probes.outcome import NotRunError, Place, WrongResultError
F = torch.nn.functional
class Quiet:
    def __getattr__(self, name): return lambda *a, **k: None
def place(**options):
    torch.manual_seed(0)
    return Place(Quiet(), torch, "cpu", "cpu", options)
def module(name, **members):
    made = types.ModuleType(name)
    made.__path__ = []
    made.__dict__.update(members)
    sys.modules[name] = made
    return made
def attention(q, k, v, causal=False):
    moved = [t.transpose(1, 2).float() for t in (q, k, v)]
    return F.scaled_dot_product_attention(*moved, is_causal=causal).transpose(1, 2).to(q.dtype)
def norm(x, w, eps):
    x = x.float()
    return (x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * w.float()).half()
def verdict(function, given, **options):
    try:
        return [function(place(**options), given)["operation"], ""]
    except WrongResultError as error:
        return ["wrong", str(error)]
    except NotRunError as error:
        return [error.reason, str(error)]
def answer(*value):
    os.write(descriptor, json.dumps(value).encode() + b"\\n")
"""
# For each operation: a right stand-in for its package, and one that is wrong in a small way.
STAND_INS = {
    "flash_attn": (
        "module('flash_attn', flash_attn_func=attention)",
        "module('flash_attn', flash_attn_func=lambda q, k, v, causal: attention(q, k, v))",
    ),
    "flash_attn_3": (
        "module('f', flash_attn_func=lambda q, k, v, causal: (attention(q, k, v, causal), None))",
        "module('f', flash_attn_func=lambda q, k, v, causal: attention(q, k, v, causal) * 1.05)",
    ),
    "xformers": (
        "module('xformers', ops=module('xformers.ops', memory_efficient_attention=attention))",
        "module('xformers', ops=module('xformers.ops', memory_efficient_attention="
        "lambda q, k, v: attention(q, v, k)))",
    ),
    "apex": (
        "module('apex', normalization=module('apex.normalization', "
        "FusedLayerNorm=torch.nn.LayerNorm))",
        "module('apex', normalization=module('apex.normalization', "
        "FusedLayerNorm=lambda n: torch.nn.LayerNorm(n, eps=1e-2)))",
    ),
    "causal_conv1d": (
        "module('c', causal_conv1d_fn=lambda x, w, b: "
        "F.conv1d(F.pad(x, (3, 0)), w[:, None], b, groups=64))",
        "module('c', causal_conv1d_fn=lambda x, w, b: "
        "F.conv1d(F.pad(x, (0, 3)), w[:, None], b, groups=64))",
    ),
    "vllm": (
        "module('vllm', _custom_ops=module('vllm._custom_ops', "
        "rms_norm=lambda out, x, w, eps: out.copy_(norm(x, w, eps))))",
        "module('vllm', _custom_ops=module('vllm._custom_ops', rms_norm=lambda *given: None))",
    ),
    "flashinfer": (
        "module('flashinfer', rmsnorm=norm)",
        "module('flashinfer', rmsnorm=lambda x, w, eps: x)",
    ),
    "transformer_engine": (
        "module('te', Linear=torch.nn.Linear)",
        "module('te', Linear=type('L', (torch.nn.Linear,), "
        "{'forward': lambda s, x: x @ s.weight.T}))",
    ),
    "cupy": (
        "module('cupy', asarray=numpy.asarray, asnumpy=numpy.asarray)",
        "module('cupy', asarray=lambda x: numpy.asarray(x).T.copy(), asnumpy=numpy.asarray)",
    ),
}  # fmt: skip


@pytest.mark.torch
def test_each_reference_is_met_by_a_right_package_and_not_by_a_wrong_one(
    torch_python: Path,
) -> None:
    program = START
    for name, (right, wrong) in STAND_INS.items():
        for given in (right, wrong):
            program += f"answer({name!r}, verdict(gpu_operations.{name}, {given}))\n"
    said: list[Any] = lines_of(torch_python, program)
    assert [name for name, _ in said] == [name for name in STAND_INS for _ in range(2)]
    for right, wrong in zip(said[::2], said[1::2], strict=True):
        assert right[1][0] not in ("wrong",), right
        assert wrong[1][0] == "wrong", wrong


@pytest.mark.torch
def test_deepspeed_does_not_compile_unless_the_run_is_deep(torch_python: Path) -> None:
    program = (
        START
        + """
from functools import partial
module("deepspeed")
module("deepspeed.git_version_info", installed_ops={"fused_adam": False})
module("deepspeed.ops")
module("deepspeed.ops.adam", FusedAdam=torch.optim.AdamW)
answer(verdict(gpu_operations.deepspeed, None, depth="standard"))
answer(verdict(gpu_operations.deepspeed, None, depth="deep"))
sys.modules["deepspeed.ops.adam"].FusedAdam = torch.optim.Adam
answer(verdict(gpu_operations.deepspeed, None, depth="deep"))
"""
    )
    said: list[Any] = lines_of(torch_python, program)
    words = [line[0][0] for line in said]
    assert words == ["not-asked", "deepspeed.ops.adam.FusedAdam", "wrong"]


@pytest.mark.torch
def test_settings_for_convolutions_are_put_back_and_not_mixed(torch_cuda_python: Path) -> None:
    """Mixing torch's old and new precision settings makes a convolution on a GPU raise."""
    program = (
        START
        + """
from firstlight_probes import precision
conv = torch.backends.cudnn.conv
before = conv.fp32_precision
with precision.settings(torch, tf32=False), torch_own.full_convolutions(torch):
    inside = conv.fp32_precision
torch._C._get_cudnn_allow_tf32()  # raises where the two do not agree
answer(inside, conv.fp32_precision == before)
"""
    )
    said: list[Any] = lines_of(torch_cuda_python, program)
    assert said == [["ieee", True]]


def test_arguments_of_a_launch(tmp_path: Path) -> None:
    if not has_compiler():
        pytest.skip("gcc is not installed")
    source = Path(__file__).parent / "stand_ins" / "launch.c"
    library = tmp_path / "liblaunch.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    api = kernel_launch.CUDA._replace(library=str(library))
    values = [float(number) for number in range(300)]
    doubled = kernel_launch.launch(api, b"image\0rest", b"twice", values)
    assert doubled == [2 * value for value in values]
    with pytest.raises(kernel_launch.DriverError, match="cuModuleLoadData answered 200"):
        kernel_launch.launch(api, b"something else", b"twice", values)
    with pytest.raises(kernel_launch.DriverError, match="cuModuleGetFunction answered 500"):
        kernel_launch.launch(api, b"image\0rest", b"thrice", values)


def test_tritons_kernel_by_its_interpreter(extensions_python: Path) -> None:
    program = (
        START
        + """
from firstlight_probes import triton_kernel
torch.cuda.synchronize = lambda: None
answer(triton_compile.launched(place(), triton_kernel.add)["operation"])
"""
    )
    said: list[Any] = lines_of(extensions_python, program, {"TRITON_INTERPRET": "1"})
    assert said == [["a sum by Triton"]]


def test_a_compiled_program_that_finds_no_driver_says_so(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    options = {"row": "toolchain", "devices": 1, "architectures": ["sm_90"]}
    task = {"stage": "extensions", "subject": "ext:toolchain", "options": options}
    program = f"""
from firstlight_probes import worker
worker.main(descriptor, {{"tasks": [{task!r}], "backend": "cuda"}})
"""
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    stage = stage_of(lines_of(sys.executable, program, environ), "extensions", "ext:toolchain")
    assert (stage["status"], stage["reason"]) == ("failed", "raised"), stage
    assert stage["error"]["text"].startswith("twice ended with 1: cudaMalloc(")
    assert stage["data"]["device"] == "gpu"
    assert list(tmp_path.iterdir()) == []  # what was built is gone
