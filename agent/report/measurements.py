"""What the run measured, a line or two a device: speeds, memory, the parts of a training step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.model import Json, Stage
from agent.report.layout import size

SHORT = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
COPIES = (
    ("device_copy", "on the device"),
    ("host_to_device_pinned", "to it, pinned"),
    ("device_to_host_pinned", "from it, pinned"),
    ("host_to_device_pageable", "to it, pageable"),
)


def measurement_lines(stages: Sequence[Stage]) -> Iterator[str]:
    """Yield a line for each measurement that a reader may compare with what was bought."""
    for stage in stages:
        if stage.name == "matmul":
            yield from _speeds(stage)
        elif stage.name == "memory":
            yield from _memory(stage)


def _speeds(stage: Stage) -> Iterator[str]:
    reached = []
    for row in _rows(stage.data.get("dtypes")):
        rate = row.get("tflops")
        if isinstance(rate, (int, float)) and not isinstance(rate, bool):
            name = str(row.get("dtype"))
            reached.append(f"{SHORT.get(name, name)} {rate:.0f}" if rate >= 10 else
                           f"{SHORT.get(name, name)} {rate:.1f}")  # fmt: skip
    if reached:
        yield f"{_place(stage)}products: {', '.join(reached)} TFLOP/s"
    timing = stage.data.get("timing")
    if isinstance(timing, Mapping) and timing.get("skipped"):
        yield f"{_place(stage)}products: not timed ({timing['skipped']})"


def _memory(stage: Stage) -> Iterator[str]:
    sweep = stage.data.get("sweep")
    tested = size(sweep.get("tested_bytes")) if isinstance(sweep, Mapping) else None
    if isinstance(sweep, Mapping) and tested is not None:
        kind = stage.data.get("kind", "memory")
        free = size(stage.data.get("free_bytes"))
        wrong = sweep.get("wrong_blocks")
        verdict = "all as written" if wrong == 0 else f"{wrong} blocks changed"
        yield f"{_place(stage)}{kind}: {tested} of {free} free written and read, {verdict}"
    rates = stage.data.get("bandwidth")
    if isinstance(rates, Mapping):
        named = [
            f"{words} {rate / 1e9:.0f}"
            for name, words in COPIES
            if isinstance(rate := rates.get(f"{name}_bytes_per_second"), (int, float))
        ]
        if named:
            yield f"{_place(stage)}copies: {', '.join(named)} GB/s"
    step = stage.data.get("step")
    if isinstance(step, Mapping):
        yield from _step(stage, step)


def _step(stage: Stage, step: Mapping[str, Json]) -> Iterator[str]:
    parts = [
        f"{name} {bytes_}"
        for name in ("parameters", "gradients", "optimizer", "activations")
        if (bytes_ := size(step.get(f"{name}_bytes"))) is not None
    ]
    if not parts:
        return
    yield f"{_place(stage)}a training step of one {step.get('model', 'layer')}: {', '.join(parts)}"
    allocated, reserved = (
        size(step.get("allocated_peak_bytes")),
        size(step.get("reserved_peak_bytes")),
    )
    if allocated and reserved:
        yield f"{_place(stage)}  at its peak {allocated} allocated, {reserved} reserved by torch"


def _place(stage: Stage) -> str:
    return "" if stage.subject == "host" else f"{stage.subject} "


def _rows(value: Json) -> list[Mapping[str, Json]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
