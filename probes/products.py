"""Is a product of two matrices right? Judged without trusting the library that made it.

Every check takes the ``multiply`` that it is to judge: a callable of two matrices on the device.
Operands come from a hash of their position, so that they are the same on every device and in
every version of torch, and no random state of the process is touched.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Tuple

from . import formats
from .formats import Format

Shape = Tuple[int, int, int]
Multiply = Callable[[Any, Any], Any]

ELEMENTWISE_LIMIT = 1 << 20  # up to this many multiplications the reference uses no BLAS at all
SIGMAS = 8.0  # Freivalds: honest noise passes this once in 10**15 samples


def hashed(torch: Any, rows: int, columns: int, seed: int, device: Any = "cpu") -> Any:
    """An int64 matrix of values in [0, 65536) that depend on position and seed alone."""
    at = torch.arange(rows * columns, dtype=torch.int64, device=device).reshape(rows, columns)
    at = (at + seed * 7919 + 1) * 2654435761 % 4294967296
    at = (at ^ (at >> 15)) * 1274126177 % 4294967296
    return (at ^ (at >> 13)) % 65536


def whole_numbers(
    torch: Any, form: Format, shape: Shape, seed: int, device: Any = "cpu"
) -> tuple[Any, Any]:
    """Two int64 matrices whose products' sums, in whatever order, are exact in the format.

    The values are as large as the format allows at this K; where even units would not fit, the
    left operand is thinned out evenly.
    """
    rows, inner, columns = shape
    b_most = 3 if inner * 3 <= form.exact else 1
    a_most = min(form.whole - 1, max(1, form.exact // (inner * b_most)))
    if form is formats.INT8:
        a_most = b_most = 127
    a = hashed(torch, rows, inner, seed, device)
    if a_most > 32767:
        a = a * 65536 + hashed(torch, rows, inner, seed + 2, device)
    a = a % (2 * a_most + 1) - a_most
    b = hashed(torch, inner, columns, seed + 1, device) % (2 * b_most + 1) - b_most
    every = -(-inner * a_most * b_most // form.exact)
    if every > 1:
        k = torch.arange(inner, dtype=torch.int64, device=device)
        i = torch.arange(rows, dtype=torch.int64, device=device).reshape(rows, 1)
        a = a * ((k + i) % every == 0)
    return a, b


def fractions(
    torch: Any, form: Format, dtype: Any, rows: int, columns: int, seed: int, device: Any = "cpu"
) -> Any:
    """A matrix of both signs, magnitudes in [1/16, 1], already rounded to the format.

    No operand and no product of two is subnormal: some hardware flushes those to zero (MI200).
    """
    bits = hashed(torch, rows, columns, seed, device)
    parts = (bits // 2).to(torch.float64)
    if form.u_out < 2.0**-16:  # the long formats get digits that a shorter one cannot hold
        parts += hashed(torch, rows, columns, seed + 50, device).to(torch.float64) / 65536.0
    magnitude = 0.0625 + 0.9375 * parts / 32768.0
    value = torch.where(bits % 2 == 0, magnitude, -magnitude)
    return rounded(torch, form, value.to(dtype))


def rounded(torch: Any, form: Format, matrix: Any) -> Any:
    """The matrix as the format holds it: for TF32 without the last 13 bits of its float32."""
    if form is not formats.TF32:
        return matrix
    return (matrix.view(torch.int32) & ~0x1FFF).view(torch.float32)


def reference(torch: Any, a: Any, b: Any) -> Any:
    """The product in float64 on the CPU; small ones without any BLAS."""
    a = a.to("cpu").to(torch.float64)
    b = b.to("cpu").to(torch.float64)
    if a.shape[0] * a.shape[1] * b.shape[1] <= ELEMENTWISE_LIMIT:
        return (a.unsqueeze(2) * b.unsqueeze(0)).sum(1)
    return a @ b


def unequal(
    torch: Any,
    form: Format,
    dtype: Any,
    shape: Shape,
    seed: int,
    device: Any,
    multiply: Multiply,
) -> str | None:
    """None if a product of whole numbers is exactly right, else what differs.

    The operands are both built on the device by torch's own kernels and copied to it.
    """
    a, b = whole_numbers(torch, form, shape, seed)
    expected = reference(torch, a, b)
    origins = [("copied to the device", a.to(dtype).to(device), b.to(dtype).to(device))]
    if str(device) != "cpu":
        built = whole_numbers(torch, form, shape, seed, device)
        origins.append(("built on the device", built[0].to(dtype), built[1].to(dtype)))
    for origin, left, right in origins:
        got = multiply(left, right).to("cpu").to(torch.float64)
        text = difference(torch, got, expected)
        if text is not None:
            return "%s product %s, operands %s: %s" % (form.name, _size(shape), origin, text)
    return None


def difference(torch: Any, got: Any, expected: Any) -> str | None:
    """None if two matrices are equal, else how many elements differ and the first of them."""
    if got.shape != expected.shape:
        return "shape %s instead of %s" % (tuple(got.shape), tuple(expected.shape))
    differs = got != expected
    count = int(differs.sum())
    if count == 0:
        return None
    row, column = [int(index) for index in differs.nonzero()[0]]
    return "%d of %d elements differ, first at (%d, %d): %r instead of %r" % (
        count,
        got.numel(),
        row,
        column,
        float(got[row, column]),
        float(expected[row, column]),
    )


def error_ratio(
    torch: Any,
    form: Format,
    dtype: Any,
    shape: Shape,
    seed: int,
    device: Any,
    multiply: Multiply,
) -> float:
    """The largest error of a product as a share of its bound: at most 1 is within.

    A result that is not a number counts as infinite.
    """
    rows, inner, columns = shape
    a = fractions(torch, form, dtype, rows, inner, seed)
    b = fractions(torch, form, dtype, inner, columns, seed + 1)
    got = multiply(a.to(device), b.to(device)).to("cpu").to(torch.float64)
    expected = reference(torch, a, b)
    sizes = reference(torch, a.to(torch.float64).abs(), b.to(torch.float64).abs())
    worst = float(((got - expected).abs() / sizes).max())
    if not math.isfinite(worst):
        return math.inf
    return worst / (formats.SLACK * (form.u_out + inner * form.u_acc))


def freivalds_ratio(
    torch: Any,
    form: Format,
    a: Any,
    b: Any,
    c: Any,
    seed: int,
    vectors: int = 4,
    rows_at_once: int = 1024,
) -> float:
    """Whether C may be A times B, by C x against A (B x) for random signs x: at most 1 passes.

    Cost is quadratic. The arithmetic is float64 by elementwise kernels and sums, not the library
    that made C. Noise of row i of C x is about sqrt(N) * (u_out + sqrt(K) * u_acc) * |C_i|, and
    |C_i| about the norm of A's row times the root mean square of B; SIGMAS times that is the
    threshold. A wrong tile, a missing slice of K or a large wrong element stands far above it.
    """
    inner, columns = b.shape
    x = (hashed(torch, columns, vectors, seed, b.device) % 2 * 2 - 1).to(torch.float64)
    residual = _times(torch, c, x, rows_at_once)
    residual -= _times(torch, a, _times(torch, b, x, rows_at_once), rows_at_once)
    of_rows = _norms(torch, a, rows_at_once)
    of_b = float(_norms(torch, b, rows_at_once).square().sum()) / (inner * columns)
    noise = math.sqrt(columns) * (form.u_out + math.sqrt(inner) * form.u_acc) * math.sqrt(of_b)
    ratio = float((residual.abs() / (SIGMAS * noise * of_rows).unsqueeze(1)).max())
    return ratio if math.isfinite(ratio) else math.inf


def _times(torch: Any, matrix: Any, vectors: Any, rows_at_once: int) -> Any:
    parts = []
    for start in range(0, matrix.shape[0], rows_at_once):
        block = matrix[start : start + rows_at_once].to(torch.float64)
        parts.append(
            torch.stack([(block * vectors[:, i]).sum(1) for i in range(vectors.shape[1])], 1)
        )
    return torch.cat(parts)


def _norms(torch: Any, matrix: Any, rows_at_once: int) -> Any:
    parts = []
    for start in range(0, matrix.shape[0], rows_at_once):
        block = matrix[start : start + rows_at_once].to(torch.float64)
        parts.append((block * block).sum(1).sqrt())
    return torch.cat(parts)


def _size(shape: Shape) -> str:
    return "%dx%dx%d" % tuple(shape)
