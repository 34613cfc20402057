"""The smallest real operation of each extension that has one on a CPU, against a plain reference.

Each function takes the place to compute and the imported package, raises WrongResultError where
the result is wrong, and returns what to tell. On a GPU the same operation runs there.
"""

from __future__ import annotations

from typing import Any

from .outcome import NotRunError, Place, WrongResultError, equal, on_host, same


def torchvision(place: Place, module: Any) -> dict[str, Any]:
    """Non-maximum suppression by torchvision's compiled operator, and by its definition."""
    torch = place.torch
    corners = torch.randint(0, 60, (64, 2)).float()
    boxes = torch.cat((corners, corners + torch.randint(5, 40, (64, 2)).float()), 1)
    scores = torch.randperm(64).float() / 64
    kept = module.ops.nms(boxes.to(place.device), scores.to(place.device), 0.5).tolist()
    equal("torchvision.ops.nms", kept, kept_boxes(boxes.tolist(), scores.tolist(), 0.5))
    return {"operation": "torchvision.ops.nms", "boxes_kept": len(kept)}


def kept_boxes(boxes: list[list[float]], scores: list[float], most: float) -> list[int]:
    """Boxes by falling score, each kept unless it overlaps a kept one by more than ``most``."""
    kept: list[int] = []
    for index in sorted(range(len(boxes)), key=lambda i: -scores[i]):
        if all(overlap(boxes[index], boxes[other]) <= most for other in kept):
            kept.append(index)
    return kept


def overlap(a: list[float], b: list[float]) -> float:
    """The area two boxes share over the area both cover."""
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = width * height
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def torchaudio(place: Place, module: Any) -> dict[str, Any]:
    """Resampling to twice the rate: every second sample of the result is the input's."""
    torch = place.torch
    time = torch.arange(4000, device=place.device) / 8000.0
    wave = torch.sin(2 * 3.141592653589793 * 440 * time)
    twice = module.functional.resample(wave, 8000, 16000)
    inner = slice(400, 3600)
    error = same("torchaudio.functional.resample", twice[::2][inner], wave[inner], 2e-2)
    return {"operation": "torchaudio.functional.resample", "largest_difference": error}


def torchao(place: Place, module: Any) -> dict[str, Any]:
    """A linear layer with weights of 8 bits: near the layer, and exactly its stored weights'."""
    torch = place.torch
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    layer = torch.nn.Linear(64, 32).to(place.device)
    given = torch.randn(8, 64, device=place.device)
    wanted = layer(given)
    quantised = torch.nn.Sequential(torch.nn.Linear(64, 32).to(place.device))
    quantised[0].load_state_dict(layer.state_dict())
    quantize_(quantised, Int8WeightOnlyConfig())
    got = quantised(given)
    error = same("torchao int8 linear layer", got, wanted, 0.05)
    if type(quantised[0].weight) is type(layer.weight) or error == 0:
        raise WrongResultError("torchao.quantize_ left the weights as they were")
    return {"operation": "torchao.quantize_ to int8", "largest_difference": error}


def bitsandbytes(place: Place, module: Any) -> dict[str, Any]:
    """Numbers in blocks of 8 bits and back: each within the step of its block."""
    torch = place.torch
    from bitsandbytes import functional

    given = torch.randn(4096, device=place.device)
    stored, state = functional.quantize_blockwise(given, blocksize=256)
    if stored.dtype != torch.uint8:
        raise WrongResultError("quantize_blockwise stored %s, not 8 bits" % stored.dtype)
    back = functional.dequantize_blockwise(stored, state)
    # Its code has 255 values in [-1, 1]; the widest step between two of them is 0.0142.
    largest = given.view(-1, 256).abs().amax(1, keepdim=True)
    worst = float(((back - given).view(-1, 256).abs() / largest).max())
    if not worst <= 0.0142:
        raise WrongResultError("dequantize_blockwise is off by %.3g of a block's largest" % worst)
    exact = on_host(state.code)[stored.long().cpu()].view(-1, 256) * on_host(state.absmax)[:, None]
    same("dequantize_blockwise", back.view(-1, 256), exact, 1e-6)
    return {"operation": "bitsandbytes quantize_blockwise", "largest_step": worst}


def onnxruntime(place: Place, module: Any) -> dict[str, Any]:
    """A product of two matrices in a model written here by hand, against the numbers themselves."""
    import numpy

    from . import onnx_model

    offered = module.get_available_providers()
    chosen = "CPUExecutionProvider"
    if place.on_gpu:
        gpu = ("CUDAExecutionProvider", "ROCMExecutionProvider", "MIGraphXExecutionProvider")
        chosen = next((name for name in gpu if name in offered), chosen)
    session = module.InferenceSession(onnx_model.product(3, 5, 2), providers=[chosen])
    used = session.get_providers()
    place.report.data(providers=offered, used=used)
    if chosen not in used:
        # onnxruntime goes on with the CPU of itself, with a line on stderr for a reason.
        raise WrongResultError("%s was asked for; the session runs on %s" % (chosen, used))
    a = numpy.arange(15, dtype=numpy.float32).reshape(3, 5)
    b = numpy.arange(10, dtype=numpy.float32).reshape(5, 2)
    [got] = session.run(None, {"a": a, "b": b})
    equal("a product by onnxruntime", got.tolist(), (a @ b).tolist())
    if place.on_gpu and chosen == "CPUExecutionProvider":
        raise NotRunError("no-device", "this onnxruntime offers %s, none for the GPU" % offered)
    return {"operation": "MatMul of a model of one node"}


def numba(place: Place, module: Any) -> dict[str, Any]:
    """A loop compiled for the processor and, with a GPU, a kernel; both against numpy."""
    import numpy

    def squares(values: Any) -> float:
        total = 0.0
        for value in values:
            total += value * value
        return total

    values = numpy.arange(1000, dtype=numpy.float64)
    equal("a loop by numba.njit", module.njit(squares)(values), float((values * values).sum()))
    if place.on_gpu and place.backend != "rocm":
        from numba import cuda

        @cuda.jit  # type: ignore[untyped-decorator,unused-ignore]
        def double(array: Any) -> None:
            index = cuda.grid(1)
            if index < array.size:
                array[index] *= 2

        on_device = cuda.to_device(values)
        double[8, 128](on_device)
        equal("a kernel by numba.cuda", on_device.copy_to_host().tolist(), (values * 2).tolist())
    return {"operation": "numba.njit"}


def jax(place: Place, module: Any) -> dict[str, Any]:
    """A compiled product on the first device, against numpy."""
    import numpy

    devices = [str(device) for device in module.devices()]
    place.report.data(devices=devices[:8], default_backend=module.default_backend())
    a = numpy.arange(64, dtype=numpy.float32).reshape(8, 8)
    got = numpy.asarray(module.jit(lambda x: x @ x.T)(a))
    equal("a product by jax.jit", got.tolist(), (a @ a.T).tolist())
    if place.on_gpu and module.default_backend() == "cpu":
        raise NotRunError("no-device", "jax sees no GPU; its devices are %s" % devices)
    return {"operation": "jax.jit of a product"}
