"""How torch rounds inside a product, set for a check and put back afterwards."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any


def forced_tf32() -> bool:
    """True if the environment makes cuBLAS use TF32 for float32, whatever torch asks for."""
    return os.environ.get("NVIDIA_TF32_OVERRIDE") == "1"


def forbidden_tf32() -> bool:
    """True if the environment keeps cuBLAS from using TF32, whatever torch asks for."""
    return os.environ.get("NVIDIA_TF32_OVERRIDE") == "0"


def narrowed_on_cpu() -> str | None:
    """What in the environment makes oneDNN round float32 to something shorter, or None."""
    for name in ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"):
        mode = os.environ.get(name, "strict")
        if mode.lower() != "strict":
            return "not-asked: %s=%s" % (name, mode[:20])
    return None


@contextlib.contextmanager
def settings(torch: Any, tf32: bool) -> Iterator[None]:
    """Products of float32 in TF32 or in full, 16-bit sums in float32; restored at the end.

    torch 2.9 and later have ``fp32_precision`` in place of ``allow_tf32``, and raise if both are
    used: only the newer is touched where there is one.
    """
    wanted = _wanted(torch, tf32)
    before = []
    try:
        for holder, name, value in wanted:
            old = _read(holder, name)
            if old is not None and old != value:
                setattr(holder, name, value)
                before.append((holder, name, old))
        yield
    finally:
        for holder, name, old in reversed(before):
            setattr(holder, name, old)


def _wanted(torch: Any, tf32: bool) -> list[tuple[Any, str, Any]]:
    matmul = torch.backends.cuda.matmul
    wanted: list[tuple[Any, str, Any]] = [
        (matmul, "allow_fp16_reduced_precision_reduction", False),
        (matmul, "allow_bf16_reduced_precision_reduction", False),
        (matmul, "allow_fp16_accumulation", False),
    ]
    if _read(matmul, "fp32_precision") is not None:
        wanted.append((matmul, "fp32_precision", "tf32" if tf32 else "ieee"))
        mkldnn = getattr(getattr(torch.backends, "mkldnn", None), "matmul", None)
        wanted.append((mkldnn, "fp32_precision", "ieee"))
    else:
        wanted.append((matmul, "allow_tf32", tf32))
    return wanted


def _read(holder: Any, name: str) -> Any:
    # Asking a torch that lacks the name raises AttributeError or, from its own __getattr__,
    # AssertionError; a mixture of both interfaces set by the user's own code is a RuntimeError.
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


@contextlib.contextmanager
def one_thread(torch: Any) -> Iterator[None]:
    """One thread for work on the CPU; the number is restored at the end.

    With several, each small operation waits for a thread that another process's work may keep
    from its processor: ten times the cost on a busy machine, for nothing.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
