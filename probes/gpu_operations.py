"""The smallest real operation of extensions that compute on a GPU only, against plain torch.

None of these has run on a device so far. Each is written from the interface that its package
documents, and stays without a place in ``extension_table``'s ``proven`` until a recorded run on a
device shows it: what it fails with is then told, but blames nobody.
"""

from __future__ import annotations

from typing import Any

from .outcome import NotRunError, Place, same
from .torch_attention import formula

HALF = 4e-3  # of the largest value, for results rounded to float16


def attention_inputs(place: Place) -> tuple[Any, Any, Any]:
    """Query, key and value as these packages want them: batch, position, head, channel."""
    torch = place.torch
    made = [torch.randn(2, 128, 4, 64, device=place.device).half() for _ in range(3)]
    return made[0], made[1], made[2]


def attention_by_formula(place: Place, inputs: Any, causal: bool) -> Any:
    """The same attention by its definition, in float64."""
    query, key, value = (tensor.transpose(1, 2) for tensor in inputs)
    return formula(place.torch, query, key, value, causal).transpose(1, 2)


def flash_attn(place: Place, module: Any) -> dict[str, Any]:
    """github.com/Dao-AILab/flash-attention, README: flash_attn_func(q, k, v, causal=...)."""
    inputs = attention_inputs(place)
    for causal in (False, True):
        got = module.flash_attn_func(*inputs, causal=causal)
        same("flash_attn_func", got, attention_by_formula(place, inputs, causal), HALF)
    return {"operation": "flash_attn.flash_attn_func"}


def flash_attn_3(place: Place, module: Any) -> dict[str, Any]:
    """The same repository's hopper/flash_attn_interface.py; older ones return a pair."""
    inputs = attention_inputs(place)
    got = module.flash_attn_func(*inputs, causal=True)
    got = got[0] if isinstance(got, tuple) else got
    same("flash_attn_interface", got, attention_by_formula(place, inputs, True), HALF)
    return {"operation": "flash_attn_interface.flash_attn_func"}


def xformers(place: Place, module: Any) -> dict[str, Any]:
    """facebookresearch.github.io/xformers: ops.memory_efficient_attention(query, key, value)."""
    from xformers import ops

    inputs = attention_inputs(place)
    got = ops.memory_efficient_attention(*inputs)
    same("memory_efficient_attention", got, attention_by_formula(place, inputs, False), HALF)
    return {"operation": "xformers.ops.memory_efficient_attention"}


def apex(place: Place, module: Any) -> dict[str, Any]:
    """nvidia.github.io/apex/layernorm.html: FusedLayerNorm as torch.nn.LayerNorm."""
    from apex.normalization import FusedLayerNorm

    torch = place.torch
    given = torch.randn(8, 256, device=place.device)
    got = FusedLayerNorm(256).to(place.device)(given)
    same("FusedLayerNorm", got, torch.nn.functional.layer_norm(given, (256,)), 1e-5)
    return {"operation": "apex.normalization.FusedLayerNorm"}


def mamba_ssm(place: Place, module: Any) -> dict[str, Any]:
    """github.com/state-spaces/mamba, ops/selective_scan_interface.py, with its plain reference."""
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn, selective_scan_ref

    torch = place.torch
    u, delta = (torch.randn(2, 16, 64, device=place.device) for _ in range(2))
    rates = -torch.rand(16, 8, device=place.device)
    b, c = (torch.randn(2, 8, 64, device=place.device) for _ in range(2))
    given = (u, delta, rates, b, c)
    got = selective_scan_fn(*given, delta_softplus=True)
    same("selective_scan_fn", got, selective_scan_ref(*given, delta_softplus=True), 1e-3)
    return {"operation": "mamba_ssm selective_scan_fn"}


def causal_conv1d(place: Place, module: Any) -> dict[str, Any]:
    """github.com/Dao-AILab/causal-conv1d, README: causal_conv1d_fn(x, weight, bias)."""
    torch = place.torch
    given = torch.randn(2, 64, 128, device=place.device)
    weight, bias = torch.randn(64, 4, device=place.device), torch.randn(64, device=place.device)
    got = module.causal_conv1d_fn(given, weight, bias)
    wanted = torch.nn.functional.conv1d(
        given.double(), weight.double()[:, None], bias.double(), padding=3, groups=64
    )
    same("causal_conv1d_fn", got, wanted[..., :128], 1e-4)
    return {"operation": "causal_conv1d.causal_conv1d_fn"}


def rms_norm(torch: Any, given: Any, weight: Any) -> Any:
    """Division by the root of the mean square, in float64."""
    wide = given.double()
    return wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * weight.double()


def vllm(place: Place, module: Any) -> dict[str, Any]:
    """github.com/vllm-project/vllm, _custom_ops.py: rms_norm(out, input, weight, epsilon)."""
    from vllm import _custom_ops

    torch = place.torch
    given = torch.randn(16, 256, device=place.device).half()
    weight = torch.rand(256, device=place.device).half()
    # Not empty: memory used again may hold the right answer of an earlier run.
    out = torch.full_like(given, float("nan"))
    _custom_ops.rms_norm(out, given, weight, 1e-6)
    same("vllm rms_norm", out, rms_norm(torch, given, weight), HALF)
    return {"operation": "vllm._custom_ops.rms_norm"}


def flashinfer(place: Place, module: Any) -> dict[str, Any]:
    """docs.flashinfer.ai/api/norm.html: rmsnorm(input, weight, eps)."""
    torch = place.torch
    given = torch.randn(16, 256, device=place.device).half()
    weight = torch.rand(256, device=place.device).half()
    got = module.rmsnorm(given, weight, 1e-6)
    same("flashinfer rmsnorm", got, rms_norm(torch, given, weight), HALF)
    return {"operation": "flashinfer.rmsnorm"}


def transformer_engine(place: Place, module: Any) -> dict[str, Any]:
    """docs.nvidia.com/deeplearning/transformer-engine: pytorch.Linear as torch.nn.Linear."""
    torch = place.torch
    layer = module.Linear(128, 64, bias=True).to(place.device)
    given = torch.randn(32, 128, device=place.device)
    wanted = torch.nn.functional.linear(given.double(), layer.weight.double(), layer.bias.double())
    same("transformer_engine.pytorch.Linear", layer(given), wanted, 1e-2)  # it may use TF32
    return {"operation": "transformer_engine.pytorch.Linear"}


def deepspeed(place: Place, module: Any) -> dict[str, Any]:
    """deepspeed.readthedocs.io/en/latest/optimizers.html: FusedAdam as torch.optim.AdamW.

    Where its kernels are not built yet, DeepSpeed compiles them when first used, against torch's
    headers for a minute and more; that is left to ``deep``.
    """
    from deepspeed.git_version_info import installed_ops
    from deepspeed.ops.adam import FusedAdam

    built = bool(installed_ops.get("fused_adam"))
    place.report.data(fused_adam_built=built)
    if not built and place.options.get("depth") != "deep":
        raise NotRunError("not-asked", "DeepSpeed would compile its kernels first; use deep")
    torch = place.torch
    start = torch.randn(256, device=place.device)
    stepped = []
    for kind in (FusedAdam, torch.optim.AdamW):
        parameter = start.clone().requires_grad_()
        parameter.grad = start.sin()
        kind([parameter], lr=1e-2, weight_decay=0.01).step()
        stepped.append(parameter.detach())
    same("FusedAdam", stepped[0], stepped[1], 1e-5)
    return {"operation": "deepspeed.ops.adam.FusedAdam"}


def cupy(place: Place, module: Any) -> dict[str, Any]:
    """docs.cupy.dev: elementwise arithmetic and a product, against numpy."""
    import numpy

    numbers = numpy.arange(64, dtype=numpy.float32).reshape(8, 8)
    there = module.asarray(numbers)
    same("cupy arithmetic", module.asnumpy(there * 2 + 1), numbers * 2 + 1, 0.0)
    same("cupy product", module.asnumpy(there @ there), numbers @ numbers, 1e-6)
    return {"operation": "cupy product"}


def tensorflow(place: Place, module: Any) -> dict[str, Any]:
    """tensorflow.org/api_docs: linalg.matmul on the first GPU, or on the CPU without one."""
    import numpy

    devices = [device.name for device in module.config.list_physical_devices("GPU")]
    place.report.data(devices=devices[:8])
    if place.on_gpu and not devices:
        raise NotRunError("no-device", "tensorflow sees no GPU")
    numbers = numpy.arange(64, dtype=numpy.float32).reshape(8, 8)
    with module.device("/GPU:0" if place.on_gpu else "/CPU:0"):
        got = module.linalg.matmul(numbers, numbers).numpy()
    same("tensorflow.linalg.matmul", got, numbers @ numbers, 1e-6)
    return {"operation": "tensorflow.linalg.matmul"}
