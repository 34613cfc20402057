"""How torch rounds inside a product, set for a check and put back afterwards."""

import contextlib
import os


def forced_tf32():
    """True if the environment makes cuBLAS use TF32 for float32, whatever torch asks for."""
    return os.environ.get("NVIDIA_TF32_OVERRIDE") == "1"


def forbidden_tf32():
    """True if the environment keeps cuBLAS from using TF32, whatever torch asks for."""
    return os.environ.get("NVIDIA_TF32_OVERRIDE") == "0"


@contextlib.contextmanager
def settings(torch, tf32):
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


def _wanted(torch, tf32):
    matmul = torch.backends.cuda.matmul
    wanted = [
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


def _read(holder, name):
    # Asking a torch that lacks the name raises AttributeError or, from its own __getattr__,
    # AssertionError; a mixture of both interfaces set by the user's own code is a RuntimeError.
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


@contextlib.contextmanager
def one_thread(torch):
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
