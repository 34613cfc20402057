"""What the user's own command needed, and what ended it, as rows for a screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.model import Json, Stage
from agent.report import layout
from agent.report.escape import terminal
from agent.report.layout import Row, size, wrap


def measured_rows(stage: Stage) -> list[Row]:
    """Return the rows of a ``workload`` stage: its end, then memory, GPU and time."""
    data = stage.data
    ended = data.get("ended")
    text = str(ended.get("text")) if isinstance(ended, Mapping) else stage.status
    if stage.error is not None and not isinstance(ended, Mapping):
        text = stage.error.text
    rows = [Row(text=f"Your command {terminal(str(data.get('command', '')))}:", tone="strong")]
    rows += _wrapped(f"ended: {text}, after {layout.seconds(stage.seconds)}")
    for line in (*_host(data), *_allocator(data), *_devices(data), *_out_of_memory(data)):
        rows += _wrapped(line)
    return rows


def _wrapped(text: str) -> list[Row]:
    return [Row(text=line) for line in wrap(terminal(text), first="  ", hard=True)]


def _host(data: Mapping[str, Json]) -> Iterator[str]:
    peak = size(data.get("process_peak_bytes"))
    if peak is not None:
        exact = data.get("process_peak_kind") == "exact"
        known = "its own peak, VmHWM" if exact else "sampled, so at least this"
        yield f"host memory, largest process: {peak} ({known})"
    tree, count = size(data.get("tree_peak_bytes")), data.get("processes_peak")
    if tree is not None and isinstance(count, int) and count > 1:
        kind = data.get("tree_peak_kind")
        yield f"host memory, all {count} processes: at least {tree} (sampled, {kind})"
    if (group := size(data.get("cgroup_peak_bytes"))) is not None:
        yield f"control group's peak: {group}"
    if (shm := size(data.get("shm_used_peak_bytes"))) is not None:
        yield f"shared memory (/dev/shm) in use at most: {shm} (everybody's, sampled)"
    if isinstance(data.get("user_seconds"), (int, float)):
        system = data.get("system_seconds") or 0.0
        yield f"processor time: {data['user_seconds'] + system:.2f} s"


def _allocator(data: Mapping[str, Json]) -> Iterator[str]:
    for row in _rows(data.get("allocator")):
        allocated = size(row.get("allocated_peak_bytes"))
        reserved = size(row.get("reserved_peak_bytes"))
        yield (
            f"torch, process {row.get('pid')}, device {row.get('device_index')}: {allocated} "
            f"allocated, {reserved} reserved at the peak (exact)"
        )


def _devices(data: Mapping[str, Json]) -> Iterator[str]:
    rows = _rows(data.get("gpus"))
    for row in rows:
        peak, before = size(row.get("used_peak_bytes")), size(row.get("used_at_start_bytes"))
        yield f"GPU {row.get('device')}: at least {peak} in use ({before} before; others included)"
    if not rows and isinstance(data.get("gpu_note"), str):
        yield f"GPU memory: not measured ({data['gpu_note']})"


def _out_of_memory(data: Mapping[str, Json]) -> Iterator[str]:
    sizes = data.get("out_of_memory")
    if isinstance(sizes, Mapping):
        named = (f"{name[:-6].replace('_', ' ')} {size(found)}" for name, found in sizes.items())
        yield f"at the failed allocation: {', '.join(named)}"


def keep_alive_line(command: str) -> str:
    """Return how to start a long command so that a lost connection does not end it."""
    return (
        f"for a long command: tmux new -s work, then this again; or nohup agent measure -- "
        f"{command} … & ; or systemd-run --user --scope agent measure -- {command} …"
    )


def _rows(value: Json) -> list[Mapping[str, Json]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
