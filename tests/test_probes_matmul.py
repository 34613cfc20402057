"""The judgement of products: honest ones pass, and each way of being wrong is caught."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .in_target import ask, run_plan, stage_of

pytestmark = pytest.mark.torch

# Each is a product that is wrong, or honest, in its own way; ``m`` is torch's own product.
PRODUCTS = """
m = torch.matmul

def flipped(bit, at=-1):
    "One bit of one element of the result."
    def multiply(a, b):
        c = m(a, b)
        whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[c.element_size()]
        c.view(whole).view(-1)[at] ^= 1 << bit
        return c
    return multiply

def transposed_block(a, b):
    c = m(a, b)
    n = min(c.shape[0], c.shape[1], 16)
    c[:n, :n] = c[:n, :n].t().clone()
    return c

def rounded_to(narrow):
    "Operands rounded to a shorter format first, as hardware in the wrong mode does."
    return lambda a, b: m(a.to(narrow).to(a.dtype), b.to(narrow).to(b.dtype))

def tf32(a, b):
    cut = lambda x: (x.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return m(cut(a), cut(b))

def without_last_of_k(a, b):
    return m(a[:, :-1], b[:-1]) if a.shape[1] > 1 else m(a, b) * 0

def sums_in(narrow):
    "An honest adder that keeps its sum in a 16-bit format."
    def multiply(a, b):
        c = torch.zeros(a.shape[0], b.shape[1], dtype=narrow)
        for k in range(a.shape[1]):
            c = (c.float() + a[:, k : k + 1].float() * b[k : k + 1].float()).to(narrow)
        return c
    return multiply

def split_sums(parts):
    "An honest product that adds partial products of slices of K, each rounded to the format."
    def multiply(a, b):
        step = -(-a.shape[1] // parts)
        slices = range(0, a.shape[1], step)
        wide = torch.promote_types(a.dtype, torch.float32)
        total = sum(m(a[:, k : k + step], b[k : k + step]).to(wide) for k in slices)
        return total.to(a.dtype)
    return multiply

def not_a_number(a, b):
    c = m(a, b)
    c[0, 0] = float("nan")
    return c

SHAPES = [(1, 1, 1), (17, 17, 17), (64, 64, 64), (33, 255, 31), (20, 1024, 24)]
def judged(form, multiply, shapes=SHAPES):
    "Whether the exact products were equal, and the largest share of the bound."
    dtype = formats.dtype_of(torch, form)
    with precision.settings(torch, tf32=False):
        texts = [products.unequal(torch, form, dtype, s, i, "cpu", multiply)
                 for i, s in enumerate(shapes)]
        ratios = [products.error_ratio(torch, form, dtype, s, i, "cpu", multiply)
                  for i, s in enumerate(shapes)]
    return {"equal": not any(texts), "text": [t for t in texts if t][:1],
            "ratio": min(max(ratios), 1e9)}
"""


def _ask(python: Path, program: str) -> Any:
    return ask(python, PRODUCTS + program)


def test_honest_products_pass(torch_python: Path) -> None:
    found = _ask(
        torch_python,
        """
answer({form.name: judged(form, m) for form in formats.FORMATS[:5]} |
       {"split " + form.name: judged(form, split_sums(7)) for form in formats.FORMATS[:5]})
""",
    )
    assert len(found) == 10
    for name, seen in found.items():
        assert seen["equal"], name
        assert seen["ratio"] < 0.5 or name.startswith("split"), name  # SLACK is room
        assert seen["ratio"] <= 1, name


def test_a_sum_kept_in_half_precision_is_honest(torch_python: Path) -> None:
    found = _ask(
        torch_python,
        """
shapes = [(7, 17, 9), (16, 128, 16), (16, 1023, 16)]
answer({form.name: judged(form, sums_in(getattr(torch, form.dtype)), shapes)
        for form in (formats.FLOAT16, formats.BFLOAT16)})
""",
    )
    for name, seen in found.items():
        assert seen["equal"], name
        assert seen["ratio"] <= 1, name


def test_any_flipped_bit_of_the_result_is_unequal(torch_python: Path) -> None:
    missed = _ask(
        torch_python,
        """
missed = []
for form, bits in ((formats.FLOAT64, 64), (formats.FLOAT32, 32), (formats.FLOAT16, 16),
                   (formats.BFLOAT16, 16)):
    for bit in range(bits):
        seen = judged(form, flipped(bit), [(17, 33, 19)])
        sign_of_zero = bit == bits - 1
        if seen["equal"] and not sign_of_zero:
            missed.append([form.name, bit])
answer(missed)
""",
    )
    assert missed == []


WRONG = (
    ("formats.FLOAT32", "transposed_block"),
    ("formats.FLOAT16", "transposed_block"),
    ("formats.FLOAT64", "without_last_of_k"),
    ("formats.BFLOAT16", "without_last_of_k"),
    ("formats.FLOAT32", "not_a_number"),
    ("formats.FLOAT64", "rounded_to(torch.float32)"),
    ("formats.FLOAT32", "tf32"),
    ("formats.FLOAT32", "rounded_to(torch.bfloat16)"),
    ("formats.FLOAT32", "rounded_to(torch.float16)"),
    ("formats.FLOAT16", "rounded_to(torch.bfloat16)"),
    ("formats.TF32", "rounded_to(torch.bfloat16)"),
    ("formats.FLOAT32", "sums_in(torch.bfloat16)"),
)


def test_wrong_products_fail_both_checks(torch_python: Path) -> None:
    asked = ", ".join(f"judged({form}, {multiply})" for form, multiply in WRONG)
    for (form, multiply), seen in zip(WRONG, _ask(torch_python, f"answer([{asked}])"), strict=True):
        assert not seen["equal"], (form, multiply)
        assert seen["ratio"] > 1, (form, multiply)


def test_the_text_names_the_first_wrong_element(torch_python: Path) -> None:
    [text] = _ask(
        torch_python,
        """
def one_more(a, b):
    c = m(a, b)
    c[2, 5] += 1
    c[4, 1] += 1
    return c
answer(judged(formats.FLOAT32, one_more, [(7, 3, 9)])["text"])
""",
    )
    assert text.startswith("float32 product 7x3x9, operands copied to the device: 2 of 63 elements")
    assert "first at (2, 5):" in text


def test_whole_numbers_stay_exact_in_every_order(torch_python: Path) -> None:
    worst = _ask(
        torch_python,
        """
worst = {}
for form in formats.FORMATS:
    for shape in ((1, 1, 1), (5, 2, 3), (16, 85, 16), (9, 86, 9), (31, 512, 17), (32, 1024, 32)):
        a, b = products.whole_numbers(torch, form, shape, 3)
        sums = (a.abs() @ b.abs()).max().item()
        largest = max(a.abs().max().item(), b.abs().max().item())
        used = max(sums / form.exact, largest / form.whole)
        worst[form.name] = max(worst.get(form.name, 0), used)
        assert a.count_nonzero() >= shape[0] * shape[1] / 8
answer(worst)
""",
    )
    assert len(worst) == 7
    assert all(0 < used <= 1 for used in worst.values()), worst


def test_freivalds(torch_python: Path) -> None:
    found = _ask(
        torch_python,
        """
n = 512
def ratio(form, spoil):
    dtype = formats.dtype_of(torch, form)
    a = products.fractions(torch, form, dtype, n, n, 1)
    b = products.fractions(torch, form, dtype, n, n, 2)
    c = m(a, b)
    with precision.settings(torch, tf32=False):
        spoiled = spoil(a, b, c)
    return min(products.freivalds_ratio(torch, form, a, b, spoiled, 3, rows_at_once=100), 1e9)
def tile(a, b, c):
    c[64:128, 64:128] = c[64:128, 64:128].t().clone()
    return c
def element(a, b, c):
    c[300, 200] += 16 * c.float().square().mean().sqrt()
    return c
def infinite(a, b, c):
    c[1, 1] = float("inf")
    return c
spoils = {"honest": lambda a, b, c: c, "tile": tile, "element": element, "inf": infinite,
          "slice": lambda a, b, c: m(a[:, :-64], b[:-64])}
answer({form.name + " " + name: ratio(form, spoil) for name, spoil in spoils.items()
        for form in (formats.FLOAT64, formats.FLOAT32, formats.TF32, formats.FLOAT16,
                     formats.BFLOAT16)})
""",
    )
    assert len(found) == 25
    for name, ratio in found.items():
        assert ratio < 0.5 if name.endswith("honest") else ratio > 1, (name, ratio)


def test_operands_are_the_same_everywhere_and_touch_no_random_state(torch_python: Path) -> None:
    found = _ask(
        torch_python,
        """
before = torch.get_rng_state()
x = products.hashed(torch, 3, 4, 5)
a = products.fractions(torch, formats.TF32, torch.float32, 50, 50, 1)
answer([x[0].tolist(), bool((a.view(torch.int32) & 0x1FFF).any()), float(a.abs().min()) >= 1 / 17,
        abs(float(a.mean())) < 0.05, bool(torch.equal(before, torch.get_rng_state()))])
""",
    )
    assert found[1:] == [False, True, True, True]
    assert all(0 <= value < 65536 for value in found[0])
    assert len(set(found[0])) == 4


SETTINGS = """
def seen():
    matmul = torch.backends.cuda.matmul
    names = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction",
             "fp32_precision", "allow_fp16_accumulation")
    kept = {name: getattr(matmul, name, None) for name in names}
    kept.update(threads=torch.get_num_threads(), cpu=torch.backends.mkldnn.matmul.fp32_precision,
                seed=int(torch.get_rng_state().sum()), dtype=str(torch.get_default_dtype()))
    return kept
"""


def test_torchs_settings_are_restored(torch_python: Path) -> None:
    program = """
torch.backends.cuda.matmul.fp32_precision = "tf32"
torch.set_default_dtype(torch.float64)
before = seen()
with precision.settings(torch, tf32=False):
    inside = seen()
from firstlight_probes import worker
reader, writer = os.pipe()
worker.main(writer, {"tasks": [{"stage": s} for s in ("device", "matmul")], "backend": "cpu"})
os.close(writer)
ended = [r["status"] for r in map(json.loads, os.fdopen(reader)) if r["record"] == "result"]
answer([before == seen(), inside["fp32_precision"], inside["allow_bf16_reduced_precision_reduction"], ended])
"""  # noqa: E501 - one line of the program
    found = ask(torch_python, SETTINGS + program)
    assert found == [True, "ieee", False, ["passed", "passed"]]


def test_the_stage_on_a_cpu(torch_python: Path) -> None:
    stage = stage_of(run_plan(torch_python, "import", "device", "matmul", backend="cpu"), "matmul")
    data = stage["data"]
    assert stage["status"] == "passed"
    kernels = ("fill", "elementwise", "reduction", "indexing")
    assert data["kernels"] == dict.fromkeys(kernels, "ok")
    assert stage["steps"][:4] == [f"kernel {name}" for name in kernels]
    dtypes = {entry["dtype"]: entry for entry in data["dtypes"]}
    for name in ("float64", "float32", "float16", "bfloat16"):
        assert (dtypes[name]["exact"], dtypes[name]["bound"]) == ("equal", "within")
        assert 0 <= dtypes[name]["max_ratio"] <= 1
        assert name in data["repeatable"]
        assert "tflops" not in dtypes[name]  # a CPU is not timed
    assert dtypes["int8"]["exact"] == "equal"
    assert dtypes["tf32"]["skipped"] == "not-supported"
    assert data["large"] == {"dtype": "float32", "n": 256, "freivalds": "ok"}
    assert data["library"]


def test_float32_that_the_environment_makes_shorter_is_not_judged(torch_python: Path) -> None:
    environ = {"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"}
    stage = stage_of(run_plan(torch_python, "matmul", backend="cpu", environ=environ), "matmul")
    [entry] = [e for e in stage["data"]["dtypes"] if e["dtype"] == "float32"]
    assert entry["skipped"] == "not-asked: ONEDNN_DEFAULT_FPMATH_MODE=BF16"
    assert stage["data"]["large"]["dtype"] == "float64"
    assert stage["status"] == "passed"


def test_a_wrong_product_fails_the_stage(torch_python: Path) -> None:
    before = """
import torch
honest = torch.matmul
def wrong(a, b):
    c = honest(a, b)
    if c.dtype == torch.float16:
        c[0, 0] += 1
    return c
torch.matmul = wrong
"""
    stage = stage_of(
        run_plan(torch_python, "import", "device", "matmul", backend="cpu", before=before), "matmul"
    )
    assert (stage["status"], stage["reason"]) == ("failed", "wrong-result")
    assert stage["error"]["type"] == "WrongResult"
    assert stage["error"]["text"].startswith("float16 product 33x65x17")
    dtypes = {entry["dtype"]: entry for entry in stage["data"]["dtypes"]}
    assert (dtypes["float16"]["exact"], dtypes["float16"]["bound"]) == ("different", "exceeded")
    assert dtypes["float32"]["exact"] == "equal"
    assert len(stage["data"]["faults"]) <= 20


def test_a_format_that_torch_has_no_product_for_is_skipped(torch_python: Path) -> None:
    before = """
import torch
honest = torch.matmul
def lacking(a, b):
    if a.dtype == torch.float16:
        raise RuntimeError('"addmm_impl_cpu_" not implemented for \\'Half\\'')
    return honest(a, b)
torch.matmul = lacking
del torch._int_mm
"""
    stage = stage_of(run_plan(torch_python, "matmul", backend="cpu", before=before), "matmul")
    dtypes = {entry["dtype"]: entry for entry in stage["data"]["dtypes"]}
    assert stage["status"] == "passed"
    assert dtypes["float16"]["skipped"].startswith("not-in-this-torch: ")
    assert dtypes["int8"]["skipped"] == "not-in-this-torch"


def test_an_error_of_the_library_fails_the_stage_with_its_text(torch_python: Path) -> None:
    before = """
import torch
def failing(a, b):
    raise RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling cublasCreate")
torch.matmul = failing
"""
    stage = stage_of(run_plan(torch_python, "matmul", backend="cpu", before=before), "matmul")
    assert (stage["status"], stage["reason"]) == ("failed", "raised")
    assert "CUBLAS_STATUS_NOT_INITIALIZED" in stage["error"]["text"]
    assert stage["steps"][-1] == "float64 product, exact"


def test_a_wrong_kernel_is_named(torch_python: Path) -> None:
    before = """
import torch
honest = torch.full
torch.full = lambda *a, **k: honest(*a, **k) + 1
"""
    stage = stage_of(run_plan(torch_python, "matmul", backend="cpu", before=before), "matmul")
    assert stage["reason"] == "wrong-result"
    assert stage["error"]["text"] == "kernel fill: element 0 is 4.0 instead of 3.0"
    assert stage["data"]["kernels"]["fill"] == "wrong"
