"""Do torch's own kernels run on a device, and are products right in every number format?

What differs between the CPU and a GPU is in ``Bench``; timing is in ``gpu_timing``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import formats, import_torch, precision, products
from .formats import Format
from .products import Multiply, Shape
from .report import Report

# Rows, inner dimension, columns: odd and even, up to 1024. On a CPU few and thin ones, because
# there only the result is judged and the whole stage is to cost a fraction of importing torch.
GPU_EXACT: tuple[Shape, ...] = (
    (1, 1, 1),
    (2, 2, 2),
    (3, 5, 7),
    (16, 16, 16),
    (33, 65, 17),
    (64, 64, 64),
)
GPU_EXACT += ((127, 129, 131), (256, 256, 256), (511, 513, 255), (1023, 1023, 1023))
GPU_EXACT += ((1024, 1024, 1024),)
GPU_RANDOM: tuple[Shape, ...] = (
    (1, 2, 1),
    (17, 17, 17),
    (64, 64, 64),
    (127, 255, 129),
    (512, 512, 512),
)
GPU_RANDOM += ((1023, 1023, 257), (1024, 1024, 256))
CPU_EXACT: tuple[Shape, ...] = (
    (33, 65, 17),
    (1, 1, 1),
    (64, 64, 64),
    (15, 1023, 17),
    (16, 1024, 16),
)
CPU_RANDOM: tuple[Shape, ...] = ((5, 2, 3), (17, 17, 17), (32, 64, 32), (15, 1023, 17))
CPU_LARGE = 256


class Bench(NamedTuple):
    """A device to be examined."""

    torch: Any
    device: str
    backend: str
    capability: tuple[int, int]  # of NVIDIA; (0, 0) elsewhere
    gfx: str | None  # of AMD


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage ``matmul`` for one device: the task's ``index``, or the device its subject names."""
    torch = import_torch.again(report, state)
    backend = import_torch.backend_of(torch, state["backend"])
    if backend == "cpu":
        with precision.one_thread(torch):
            faults = examine(report, Bench(torch, "cpu", "cpu", (0, 0), None))
        faults += check_large(report, torch)
        finish(report, faults)
        return
    from . import gpu_matmul

    gpu_matmul.run(report, torch, backend, options, state)


def finish(report: Report, faults: list[str]) -> None:
    """Ends the stage: passed, or failed with the first wrong result word for word."""
    if faults:
        error = {"type": "WrongResult", "text": faults[0]}
        report.result("failed", "wrong-result", error, faults=faults[:20])
    else:
        report.result("passed")


def examine(report: Report, bench: Bench) -> list[str]:
    """Runs the kernels and every format; returns what was wrong, one sentence each.

    Exceptions pass, but for those by which torch says that a format is not in it.
    """
    faults = run_kernels(report, bench)
    report.data(library=library_of(bench))
    entries: list[dict[str, Any]] = []
    repeatable: dict[str, bool] = {}
    for form in formats.FORMATS:
        entry = {"dtype": form.name, "exact": "skipped", "bound": "skipped", "freivalds": "skipped"}
        entries.append(entry)
        reason = why_not(bench, form)
        if reason is None:
            try:
                faults += examine_format(report, bench, form, entry, repeatable)
            except Exception as error:
                if not says_unsupported(error, form):
                    raise
                bench_synchronize(bench)  # raises if the device itself is in trouble
                reason = "not-in-this-torch: " + str(error).split("\n")[0][:300]
        if reason is not None:
            entry["skipped"] = reason
    report.data(dtypes=entries, repeatable=repeatable)
    return faults


def examine_format(
    report: Report, bench: Bench, form: Format, entry: dict[str, Any], repeatable: dict[str, Any]
) -> list[str]:
    """Exact and random products of one format, filled into ``entry``; returns what was wrong."""
    torch, device = bench.torch, bench.device
    dtype = formats.dtype_of(torch, form, bench.gfx)
    multiply = multiplier(torch, form)
    exact, random = shapes(bench, form)
    judged = formats.TF32 if form is formats.FLOAT32 and precision.forced_tf32() else form
    if judged is not form:
        entry["forced"] = "NVIDIA_TF32_OVERRIDE=1"
    faults = []
    with precision.settings(torch, tf32=form is formats.TF32):
        report.step(form.name + " product, exact")
        wrong = [
            products.unequal(torch, judged, dtype, shape, seed, device, multiply)
            for seed, shape in enumerate(exact)
        ]
        faults += [text for text in wrong if text is not None]
        entry["exact"] = "different" if faults else "equal"
        if random:
            report.step(form.name + " product, random")
            faults += check_bounds(bench, judged, dtype, random, multiply, entry)
        if form is formats.FLOAT8 and bench.backend == "cpu":
            return faults
        report.step(form.name + " product, repeated")
        again = exact[0] if bench.backend == "cpu" else exact[-1]
        repeatable[form.name] = same_twice(torch, judged, dtype, again, device, multiply)
    return faults


def check_bounds(
    bench: Bench,
    form: Format,
    dtype: Any,
    random: Any,
    multiply: Multiply,
    entry: dict[str, Any],
) -> list[str]:
    """Random products against their bound; returns what was wrong."""
    faults = []
    entry["bound"], entry["max_ratio"] = "within", 0.0
    for seed, shape in enumerate(random):
        ratio = products.error_ratio(
            bench.torch, form, dtype, shape, 100 + seed, bench.device, multiply
        )
        entry["max_ratio"] = max(entry["max_ratio"], ratio)
        if ratio <= 1:
            continue
        entry["bound"] = "exceeded"
        faults.append(
            "%s product %dx%dx%d of random numbers: the error is %.3g times its bound"
            % ((form.name, *shape, ratio))
        )
    return faults


def same_twice(
    torch: Any,
    form: Format,
    dtype: Any,
    shape: Shape,
    device: Any,
    multiply: Multiply,
) -> bool:
    """Whether the same product gives the same bits twice; a note about the library, no fault."""
    rows, inner, columns = shape
    if form is formats.INT8:
        a, b = products.whole_numbers(torch, form, shape, 7)
        a, b = a.to(dtype).to(device), b.to(dtype).to(device)
    else:
        a = products.fractions(torch, form, dtype, rows, inner, 7).to(device)
        b = products.fractions(torch, form, dtype, inner, columns, 8).to(device)
    return bool(torch.equal(multiply(a, b), multiply(a, b)))


def shapes(bench: Bench, form: Format) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """The shapes of exact and of random products of a format on this device."""
    exact, random = (GPU_EXACT, GPU_RANDOM)
    if bench.backend == "cpu":
        exact, random = (CPU_EXACT, CPU_RANDOM)
    if form is formats.INT8:
        # torch._int_mm on CUDA: more than 16 rows, the other two multiples of 8.
        exact = ((17, 16, 24), (64, 64, 64))
        return (exact if bench.backend == "cpu" else (*exact, (1023, 1024, 1016))), ()
    if form is formats.FLOAT8:  # multiples of 16 throughout; a CPU compiles code for each shape
        exact, random = ((48, 64, 80),), ()
        if bench.backend != "cpu":
            exact = ((16, 16, 16), *exact, (1008, 1024, 1024))
            random = ((16, 32, 16), (64, 64, 48), (512, 512, 256))
    return exact, random


def why_not(bench: Bench, form: Format) -> str | None:
    """Why a format is not multiplied here, or None."""
    if formats.dtype_of(bench.torch, form, bench.gfx) is None:
        return "not-in-this-torch"
    if form is formats.INT8 and not hasattr(bench.torch, "_int_mm"):
        return "not-in-this-torch"
    if form is formats.FLOAT8 and not hasattr(bench.torch, "_scaled_mm"):
        return "not-in-this-torch"
    if bench.backend == "cpu":
        narrowed = precision.narrowed_on_cpu() if form is formats.FLOAT32 else None
        return narrowed or ("not-supported" if form is formats.TF32 else None)
    if bench.backend == "rocm":
        eight_bit = (bench.gfx or "").startswith(("gfx94", "gfx95", "gfx12"))
        return (
            None
            if form is not formats.TF32 and (eight_bit or form is not formats.FLOAT8)
            else ("not-supported")
        )
    least = {formats.TF32: (8, 0), formats.FLOAT8: (8, 9), formats.INT8: (7, 5)}.get(form, (0, 0))
    if form is formats.TF32 and precision.forbidden_tf32():
        return "not-supported: NVIDIA_TF32_OVERRIDE=0"
    return "not-supported" if bench.capability < least else None


def says_unsupported(error: BaseException, form: Format) -> bool:
    """Whether torch's exception says that it has no such product, rather than that one failed."""
    if isinstance(error, (NotImplementedError, TypeError)):
        return True
    text = str(error)
    if "not implemented for" in text:
        return True
    private = form in (formats.FLOAT8, formats.INT8)  # torch's private, changing interfaces
    return private and ("only supported" in text or "NOT_SUPPORTED" in text or "xpected" in text)


def multiplier(torch: Any, form: Format) -> Multiply:
    """The callable that multiplies two matrices of a format on their device."""
    if form is formats.INT8:
        return lambda a, b: torch._int_mm(a, b)
    if form is not formats.FLOAT8:
        return lambda a, b: torch.matmul(a, b)

    ones = {}

    def scaled(a: Any, b: Any) -> Any:
        if a.device not in ones:
            ones[a.device] = torch.ones((), dtype=torch.float32, device=a.device)
        scales = {"scale_a": ones[a.device], "scale_b": ones[a.device]}
        got = torch._scaled_mm(a, by_columns(b), out_dtype=torch.bfloat16, **scales)
        return got[0] if isinstance(got, tuple) else got  # a pair until torch 2.4

    return scaled


def by_columns(matrix: Any) -> Any:
    """The same matrix, stored column after column, as ``_scaled_mm`` wants its right operand."""
    return matrix.t().contiguous().t()


def run_kernels(report: Report, bench: Bench) -> list[str]:
    """torch's own kernels, each followed by a synchronisation; returns what was wrong.

    A product may pass by the vendor library's own code while torch has no kernel for the device.
    """
    torch, device = bench.torch, bench.device
    count = 1000
    made: dict[str, Any] = {}
    results: dict[str, str] = {}
    report.data(kernels=results)

    def fill() -> tuple[Any, list[float]]:
        made["x"] = torch.full((count,), 3.0, dtype=torch.float32, device=device)
        return made["x"], [3.0] * count

    def elementwise() -> tuple[Any, list[float]]:
        made["y"] = torch.arange(count, dtype=torch.float32, device=device) * 2 + made["x"]
        return made["y"], [2.0 * i + 3.0 for i in range(count)]

    def reduction() -> tuple[Any, list[float]]:
        return made["y"].sum().reshape(1), [float(count * (count - 1) + 3 * count)]

    def indexing() -> tuple[Any, list[float]]:
        at = torch.arange(count - 1, -1, -7, dtype=torch.int64, device=device)
        return made["y"][at], [2.0 * i + 3.0 for i in range(count - 1, -1, -7)]

    faults = []
    for kernel in (fill, elementwise, reduction, indexing):
        report.step("kernel " + kernel.__name__)
        got, expected = kernel()
        bench_synchronize(bench)
        values = got.to("cpu").tolist()
        results[kernel.__name__] = "ok" if values == expected else "wrong"
        report.data(kernels=results)
        if values != expected:
            at = next(i for i in range(len(expected)) if values[i] != expected[i])
            faults.append(
                "kernel %s: element %d is %r instead of %r"
                % (kernel.__name__, at, values[at], expected[at])
            )
    return faults


def bench_synchronize(bench: Bench) -> None:
    """Waits for the device, so that an error shows at the act that caused it."""
    if bench.backend != "cpu":
        bench.torch.cuda.synchronize(bench.device)


def library_of(bench: Bench) -> str | None:
    """The library that multiplies on this device, as far as torch tells."""
    if bench.backend == "cpu":
        return import_torch.blas_of_the_host(bench.torch)
    names = {"cublas": "rocblas", "cublaslt": "hipblaslt"} if bench.backend == "rocm" else {}
    try:
        chosen = str(bench.torch.backends.cuda.preferred_blas_library()).split(".")[-1].lower()
    except Exception:
        chosen = "cublas"  # torch before 2.5 has no choice
    return names.get(chosen, chosen)


def check_large(report: Report, torch: Any) -> list[str]:
    """One larger product on all of torch's threads, by Freivalds' method; what was wrong."""
    form, n = formats.FLOAT32, CPU_LARGE
    if precision.narrowed_on_cpu():
        form = formats.FLOAT64
    report.step("%s product, %d squared" % (form.name, n))
    with precision.one_thread(torch):
        dtype = formats.dtype_of(torch, form)
        a = products.fractions(torch, form, dtype, n, n, 11)
        b = products.fractions(torch, form, dtype, n, n, 12)
    with precision.settings(torch, tf32=False):
        c = torch.matmul(a, b)
    with precision.one_thread(torch):
        ratio = products.freivalds_ratio(torch, form, a, b, c, 13, vectors=2)
    report.data(large={"dtype": form.name, "n": n, "freivalds": "ok" if ratio <= 1 else "failed"})
    if ratio <= 1:
        return []
    text = "%s product of %d squared: Freivalds' check is off by %.3g times"
    return [text % (form.name, n, ratio)]
