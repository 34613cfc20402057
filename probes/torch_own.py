"""Do torch's own convolution, Fourier transform, linear solver and compiler compute right?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from . import precision
from .outcome import NotRunError, Place, WrongResultError, same


def run(place: Place) -> dict[str, Any]:
    """Each against its definition, computed in float64 on the CPU."""
    differences = {}
    with precision.settings(place.torch, tf32=False), full_convolutions(place.torch):
        for name, check in (
            ("convolution", convolution),
            ("fourier", fourier),
            ("solve", solve),
        ):
            place.report.step(name)
            differences[name] = check(place.torch, place.device)
            place.report.data(largest_differences=differences)
    return {"operation": "conv2d, fft, linalg.solve"}


@contextlib.contextmanager
def full_convolutions(torch: Any) -> Iterator[None]:
    """Convolutions in full float32, as they were at the end.

    torch 2.9 and later have ``conv.fp32_precision`` in place of ``allow_tf32`` and raise at the
    convolution if both were used; ``cudnn.flags`` would touch the older one.
    """
    cudnn = torch.backends.cudnn
    conv = getattr(cudnn, "conv", None)
    newer = hasattr(conv, "fp32_precision")
    holder, name = (conv, "fp32_precision") if newer else (cudnn, "allow_tf32")
    value = "ieee" if newer else False
    before = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, before)


def convolution(torch: Any, device: str) -> float:
    """A 3 by 3 convolution as the product of unfolded patches and weights."""
    given = torch.randn(2, 8, 17, 19, device=device)
    weight = torch.randn(6, 8, 3, 3, device=device)
    got = torch.nn.functional.conv2d(given, weight, padding=1)
    patches = torch.nn.functional.unfold(given.double().cpu(), 3, padding=1)
    wanted = (weight.double().cpu().reshape(6, -1) @ patches).reshape(2, 6, 17, 19)
    return same("conv2d", got, wanted, 1e-5)


def fourier(torch: Any, device: str) -> float:
    """A transform of 60 numbers as the product with the matrix of the transform."""
    given = torch.randn(4, 60, device=device)
    got = torch.view_as_real(torch.fft.fft(given))
    angles = torch.outer(torch.arange(60), torch.arange(60)).double() * (-2 * torch.pi / 60)
    values = given.double().cpu()
    wanted = torch.stack((values @ angles.cos(), values @ angles.sin()), -1)
    return same("fft", got, wanted, 1e-5)


def solve(torch: Any, device: str) -> float:
    """The residual of a well-conditioned system of 64 equations."""
    matrix = torch.randn(64, 64, device=device) + 16 * torch.eye(64, device=device)
    right = torch.randn(64, 4, device=device)
    found = torch.linalg.solve(matrix, right)
    return same("linalg.solve", matrix.double().cpu() @ found.double().cpu(), right, 1e-5)


def compiled(place: Place) -> dict[str, Any]:
    """A small function by torch.compile, forward and backward, against the same uncompiled."""
    torch = place.torch
    if not hasattr(torch, "compile"):
        raise NotRunError("not-in-this-torch", "torch.compile came with torch 2.0")

    def function(x: Any, y: Any) -> Any:
        return (torch.sin(x) * y + x.relu()).sum(-1)

    given = [torch.randn(32, 33, device=place.device, requires_grad=True) for _ in range(2)]
    wanted = function(*given)
    gradients = torch.autograd.grad(wanted.sum(), given)
    place.report.step("torch.compile")
    got = torch.compile(function, backend="inductor")(*given)
    again = torch.autograd.grad(got.sum(), given)
    error = same("torch.compile", got, wanted, 1e-5)
    for ours, theirs in zip(again, gradients):
        same("the gradient of torch.compile", ours, theirs, 1e-5)
    if torch._dynamo.utils.counters["stats"].get("unique_graphs", 0) < 1:
        raise WrongResultError("torch.compile returned, but compiled nothing")
    return {"operation": "torch.compile", "largest_difference": error}
