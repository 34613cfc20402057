"""The kernel that Triton compiles; imported only where Triton is there."""

# ruff: noqa: N803 - Triton's constants are written in capitals
# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def add(a, b, out, count, BLOCK: tl.constexpr):
    """out = a + b."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    total = tl.load(a + places, mask=inside) + tl.load(b + places, mask=inside)
    tl.store(out + places, total, mask=inside)
