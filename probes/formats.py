"""The number formats that are multiplied, and how exact an honest product of each must be.

A product C of A (M x K) and B (K x N) is within its bound if, for every element,

    |C - R| <= SLACK * (u_out + K * u_acc) * (|A| |B|)

where R is the product of the same (already rounded) operands in float64, ``u_out`` the rounding
of the result and ``u_acc`` that of one addition. Any order of summation keeps this with a factor
of 1 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5); SLACK = 4
leaves room for truncating adders and for the reference's own rounding in float64. It also lets an
honest 16-bit adder pass: with operands of both signs its error comes to half of the bound at K up
to 1024 (tried), although torch is told to keep 16-bit sums in float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

SLACK = 4.0


class Format(NamedTuple):
    """A number format, and what may be asked of sums kept in it."""

    name: str
    dtype: str  # the name of the torch.dtype of the operands
    whole: int  # integers up to this are exact as operands
    exact: int  # sums up to this are exact in every place where a sum may be kept
    u_out: float
    u_acc: float


FLOAT64 = Format("float64", "float64", 2**26, 2**53, 2.0**-53, 2.0**-53)
FLOAT32 = Format("float32", "float32", 2**20, 2**24, 2.0**-24, 2.0**-24)
# Tensor cores drop bits of the smaller addend instead of rounding: twice float32's unit.
TF32 = Format("tf32", "float32", 2**11, 2**24, 2.0**-24, 2.0**-23)
FLOAT16 = Format("float16", "float16", 2**11, 2**11, 2.0**-11, 2.0**-23)
BFLOAT16 = Format("bfloat16", "bfloat16", 2**8, 2**8, 2.0**-8, 2.0**-23)
# e4m3 in, bfloat16 out; Hopper's adder for it keeps 13 bits after the point (DeepSeek-V3,
# technical report, section 3.5.2).
FLOAT8 = Format("float8_e4m3", "float8_e4m3fn", 2**4, 2**8, 2.0**-8, 2.0**-13)
INT8 = Format("int8", "int8", 127, 2**31 - 1, 0.0, 0.0)

FORMATS = (FLOAT64, FLOAT32, TF32, FLOAT16, BFLOAT16, FLOAT8, INT8)


def dtype_of(torch: Any, form: Format, hip_architecture: str | None = None) -> Any:
    """The torch.dtype of a format's operands, or None if this torch does not have it.

    gfx94x computes in its own e4m3 without infinities and negative zero ("fnuz"), gfx95x and
    NVIDIA in the OCP one.
    """
    name = form.dtype
    if form is FLOAT8 and (hip_architecture or "").startswith("gfx94"):
        name = "float8_e4m3fnuz"
    return getattr(torch, name, None)
