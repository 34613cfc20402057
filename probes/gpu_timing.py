"""How fast are large products on a GPU, and are they right? Only a GPU can run what is here.

A product is timed by the device's own events after the device has been kept at work for a while:
clocks take some tenths of a second to rise. While the timed products run, this thread, which has
nothing to do but wait, reads clock, power and event reasons.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import formats, gpu_load, matmul, precision, products
from .formats import Format
from .matmul import Bench
from .products import Multiply
from .report import Report

RAMP_SECONDS = 0.5  # the first format; the later ones find the clocks up
LATER_RAMP_SECONDS = 0.2
TIMED_SECONDS = 0.25
SAMPLES = 3
SIDES = (8192, 4096, 2048, 1024)
LONGEST_SECONDS = 0.05  # one product; slower devices get smaller ones
MEMORY_SHARE = 0.25  # of what is free, for operands and result
DURING_OF = ("bfloat16", "float16", "tf32", "float32")  # whose load stands for the device


def time_formats(report: Report, bench: Bench, pci_address: str) -> list[str]:
    """Times every format that passed, and checks each result; returns what was wrong."""
    faults = []
    entries = [dict(entry) for entry in report.gathered["dtypes"]]
    ramp = RAMP_SECONDS
    during = {}
    for form, entry in zip(formats.FORMATS, entries):
        if "skipped" in entry:
            continue
        if form is formats.BFLOAT16 and bench.backend == "cuda" and bench.capability < (8, 0):
            entry["timing"] = "not-supported"  # emulated: its speed says nothing about the card
            continue
        report.step(form.name + " product, timed")
        with precision.settings(bench.torch, tf32=form is formats.TF32):
            faults += time_format(bench, form, entry, ramp, pci_address)
        during[form.name] = entry.get("during")
        report.data(dtypes=entries)
        ramp = LATER_RAMP_SECONDS
        bench.torch.cuda.empty_cache()
    for name in DURING_OF:
        if during.get(name):
            report.data(during=during[name], during_dtype=name)
            break
    return faults


def time_format(
    bench: Bench, form: Format, entry: dict[str, Any], ramp: float, pci_address: str
) -> list[str]:
    """Times one format and checks the product by Freivalds' method, filled into ``entry``."""
    multiply = matmul.multiplier(bench.torch, form)
    n, a, b = large_operands(bench, form, multiply)
    keep_at_work(bench, multiply, a, b, ramp)
    seconds, c, samples = timed(bench, multiply, a, b, pci_address)
    entry.update(n=n, seconds=seconds, tflops=2.0 * n**3 / seconds / 1e12)
    entry["during"] = summary(samples)
    ratio = products.freivalds_ratio(bench.torch, as_judged(form), a, b, c, 23)
    entry["freivalds"] = "ok" if ratio <= 1 else "failed"
    if ratio <= 1:
        return []
    text = "%s product of %d squared: Freivalds' check is off by %.3g times"
    return [text % (form.name, n, ratio)]


def as_judged(form: Format) -> Format:
    """The format whose honest noise a result of this format may have on this machine."""
    if form is formats.INT8:
        return formats.FLOAT64  # whole numbers far below 2**53
    return formats.TF32 if form is formats.FLOAT32 and precision.forced_tf32() else form


def large_operands(bench: Bench, form: Format, multiply: Multiply) -> tuple[int, Any, Any]:
    """The side of the timed product, and its operands on the device.

    As large as memory allows and as a product lasts ``LONGEST_SECONDS``, by a trial at 2048.
    """
    torch = bench.torch
    free = torch.cuda.mem_get_info(bench.device)[0]
    # 48 bytes an element cover the operands, the result, and making them through int64.
    sides = [n for n in SIDES if 48 * n * n <= MEMORY_SHARE * free] or [SIDES[-1]]
    trial = min(2048, sides[0])
    a, b = operands(bench, form, trial)
    multiply(a, b)
    once = event_seconds(torch, bench.device, lambda: multiply(a, b))
    fitting = [n for n in sides if once * (n / trial) ** 3 <= LONGEST_SECONDS] or [sides[-1]]
    n = fitting[0]
    if n != trial:
        del a, b
        a, b = operands(bench, form, n)
    return n, a, b


def operands(bench: Bench, form: Format, n: int) -> list[Any]:
    """Two square matrices of the format, made on the device."""
    torch = bench.torch
    dtype = formats.dtype_of(torch, form, bench.gfx)
    made = []
    for seed in (21, 22):
        if form is formats.INT8:
            matrix = (products.hashed(torch, n, n, seed, bench.device) % 255 - 127).to(dtype)
        else:
            matrix = products.fractions(torch, form, dtype, n, n, seed, bench.device)
        made.append(matrix)
    if form is formats.FLOAT8:
        made[1] = matmul.by_columns(made[1])
    return made


def keep_at_work(bench: Bench, multiply: Multiply, a: Any, b: Any, seconds: float) -> None:
    """Multiplies for the given time, never more than a few products ahead of the device."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(4):
            multiply(a, b)
        bench.torch.cuda.synchronize(bench.device)


def timed(
    bench: Bench, multiply: Multiply, a: Any, b: Any, pci_address: str
) -> tuple[float, Any, list[dict[str, Any]]]:
    """Seconds for one product, the last result, and what the driver said during the work."""
    torch = bench.torch
    once = event_seconds(torch, bench.device, lambda: multiply(a, b))
    count = max(3, min(2000, int(TIMED_SECONDS / max(once, 1e-6))))
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record(torch.cuda.current_stream(bench.device))
    c = None
    for _ in range(count):
        c = multiply(a, b)
    end.record(torch.cuda.current_stream(bench.device))
    samples: list[dict[str, Any]] = []
    while len(samples) < SAMPLES and not end.query():
        samples.append(gpu_load.read(bench.backend, pci_address))
    end.synchronize()
    return start.elapsed_time(end) / 1000.0 / count, c, samples


def event_seconds(torch: Any, device: str, act: Callable[[], Any]) -> float:
    """How long an act takes on the device, by its events, in seconds."""
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    stream = torch.cuda.current_stream(device)
    start.record(stream)
    act()
    end.record(stream)
    end.synchronize()
    return float(start.elapsed_time(end)) / 1000.0


def summary(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """The lowest clock, the highest power and temperature, and all event reasons seen."""
    found: dict[str, Any] = {"samples": len(samples)}
    for name, choose in (
        ("sm_mhz", min),
        ("power_watts", max),
        ("power_limit_watts", min),
        ("gpu_celsius", max),
    ):
        values = [sample[name] for sample in samples if name in sample]
        if values:
            found[name] = choose(values)
    reasons = [reason for sample in samples for reason in sample.get("event_reasons", ())]
    if any("event_reasons" in sample for sample in samples):
        found["event_reasons"] = sorted(set(reasons))
    unknown = [sample["unknown"] for sample in samples if "unknown" in sample]
    if unknown:
        found["unknown"] = unknown[0]
    return found
