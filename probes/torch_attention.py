"""Does each of torch's attention back ends give what the formula gives?"""

from __future__ import annotations

from typing import Any

from .outcome import NotRunError, Place, WrongResultError, same

BACK_ENDS = ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
# What torch says where a back end is not for this device, format or build.
NOT_FOR_THIS = ("no available kernel", "no viable backend", "not compiled", "not built with")
# Rounding of the format: the inputs, the weights in it, and the result.
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def run(place: Place) -> dict[str, Any]:
    """Every back end on one small head, causal and not; fails with the first wrong one."""
    torch = place.torch
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        raise NotRunError("not-in-this-torch", "this torch lets no back end be chosen") from None
    formats = ("float16", "bfloat16") if place.on_gpu else ("float32", "bfloat16")
    rows = []
    for name in BACK_ENDS:
        backend = getattr(SDPBackend, name, None)
        if backend is None:
            rows.append({"back_end": name, "skipped": "not-in-this-torch"})
            continue
        for form in formats:
            place.report.step("attention: %s, %s" % (name.lower(), form))
            rows.append(one(torch, place.device, sdpa_kernel, backend, name, form))
            place.report.data(back_ends=rows)
    wrong = [row["wrong"] for row in rows if "wrong" in row]
    if wrong:
        raise WrongResultError(wrong[0])
    return {"operation": "scaled_dot_product_attention"}


def one(
    torch: Any, device: str, sdpa_kernel: Any, backend: Any, name: str, form: str
) -> dict[str, Any]:
    """One back end in one format: its largest difference, or why it is not for this device."""
    row: dict[str, Any] = {"back_end": name, "dtype": form}
    dtype = getattr(torch, form)
    query, key, value = (
        torch.randn(2, 4, 64, 64, device=device).to(dtype).requires_grad_() for _ in range(3)
    )
    try:
        with sdpa_kernel(backend):
            for causal in (False, True):
                got = torch.nn.functional.scaled_dot_product_attention(
                    query, key, value, is_causal=causal
                )
                got.float().sum().backward()
                wanted = formula(torch, query, key, value, causal)
                label = "attention by %s in %s" % (name.lower(), form)
                row["largest_difference"] = same(label, got, wanted, TOLERANCE[form])
    except WrongResultError as error:
        row["wrong"] = str(error)
    except RuntimeError as error:
        if not any(words in str(error).lower() for words in NOT_FOR_THIS):
            raise
        row["skipped"] = "not-in-this-torch: " + str(error).split("\n")[0][:200]
    return row


def formula(torch: Any, query: Any, key: Any, value: Any, causal: bool) -> Any:
    """softmax(Q K^T / sqrt(d)) V in float64 on the CPU."""
    q, k, v = (tensor.detach().double().cpu() for tensor in (query, key, value))
    weights = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        later = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
        weights = weights.masked_fill(later, float("-inf"))
    return weights.softmax(-1) @ v
