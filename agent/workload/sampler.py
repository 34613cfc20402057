"""Samples a running command at a pace that costs at most one percent of one processor."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.processes import (
    ProcessId,
    grow_tree,
    parents,
    peak_resident_bytes,
    tree_memory,
)

SHORTEST_INTERVAL_SECONDS = 0.05
COST_SHARE = 0.008  # of wall time; the promise is one percent
MOST_POINTS = 500


@dataclass(slots=True)
class Course:
    """A value over time in at most 500 points: when full, every second one is dropped."""

    points: list[tuple[float, float]] = field(default_factory=list)
    every: int = 1
    seen: int = 0

    def add(self, at_seconds: float, value: float) -> None:
        """Take in one value."""
        if self.seen % self.every == 0:
            self.points.append((round(at_seconds, 3), value))
            if len(self.points) > MOST_POINTS:
                self.points = self.points[::2]
                self.every *= 2
        self.seen += 1


@dataclass(slots=True)
class Samples:
    """What was seen so far; peaks are the largest sample, so the truth is at least that."""

    count: int = 0
    interval_seconds: float = SHORTEST_INTERVAL_SECONDS
    cost_seconds: float = 0.0
    tree_pss_peak_bytes: int | None = None
    tree_rss_peak_bytes: int = 0
    process_peak_bytes: int = 0
    processes_peak: int = 0
    shm_used_peak_bytes: int = 0
    shm_free_least_bytes: int | None = None
    gpu_used_peak_bytes: dict[str, int] = field(default_factory=dict)
    gpu_used_first_bytes: dict[str, int] = field(default_factory=dict)
    gpu_busy: dict[str, Course] = field(default_factory=dict)
    tree: tuple[ProcessId, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceReading:
    """Memory in use and activity of one device; None where the driver does not tell."""

    device: str
    used_bytes: int | None
    busy_percent: float | None


def take_sample(
    samples: Samples,
    at_seconds: float,
    devices: tuple[DeviceReading, ...] = (),
    root: Path = Path("/"),
) -> None:
    """Look once and fold what was seen into ``samples``; sets the interval to the next look."""
    began = time.thread_time()
    samples.tree = grow_tree(samples.tree, parents(root))
    memory = tree_memory(samples.tree, root)
    if memory.processes:
        samples.processes_peak = max(samples.processes_peak, memory.processes)
        samples.tree_rss_peak_bytes = max(samples.tree_rss_peak_bytes, memory.rss_bytes)
        if memory.pss_bytes is not None:
            samples.tree_pss_peak_bytes = max(samples.tree_pss_peak_bytes or 0, memory.pss_bytes)
    for process in samples.tree:
        peak = peak_resident_bytes(process.pid, root)
        samples.process_peak_bytes = max(samples.process_peak_bytes, peak or 0)
    fold_shm(samples, root)
    for reading in devices:
        fold_device(samples, at_seconds, reading)
    samples.count += 1
    cost = time.thread_time() - began
    samples.cost_seconds += cost
    average = samples.cost_seconds / samples.count
    samples.interval_seconds = max(SHORTEST_INTERVAL_SECONDS, max(cost, average) / COST_SHARE)


def fold_device(samples: Samples, at_seconds: float, reading: DeviceReading) -> None:
    """Fold one device's reading into the peaks and the course of its activity."""
    if reading.used_bytes is not None:
        samples.gpu_used_first_bytes.setdefault(reading.device, reading.used_bytes)
        before = samples.gpu_used_peak_bytes.get(reading.device, 0)
        samples.gpu_used_peak_bytes[reading.device] = max(before, reading.used_bytes)
    if reading.busy_percent is not None:
        course = samples.gpu_busy.setdefault(reading.device, Course())
        course.add(at_seconds, reading.busy_percent)


def fold_shm(samples: Samples, root: Path = Path("/")) -> None:
    """Fold the state of /dev/shm into ``samples``: one cheap call, so it may be made often."""
    with contextlib.suppress(OSError):
        shm = os.statvfs(root / "dev" / "shm")
        free = shm.f_bavail * shm.f_frsize
        used = (shm.f_blocks - shm.f_bfree) * shm.f_frsize
        samples.shm_used_peak_bytes = max(samples.shm_used_peak_bytes, used)
        least = samples.shm_free_least_bytes
        samples.shm_free_least_bytes = free if least is None else min(least, free)


def amd_readings(root: Path = Path("/")) -> tuple[DeviceReading, ...]:
    """Return what amdgpu writes in /sys about each card: plain files, no library."""
    readings = []
    for card in sorted((root / "sys/class/drm").glob("card[0-9]*/device")):
        used = _number(card / "mem_info_vram_used")
        if used is not None:
            busy = _number(card / "gpu_busy_percent")
            readings.append(DeviceReading(card.resolve().name, used, busy))
    return tuple(readings)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def gpu_data(samples: Samples) -> list[Mapping[str, object]]:
    """Return each device's peak and course as the stage's data wants them."""
    return [
        {
            "device": device,
            "used_peak_bytes": peak,
            "used_at_start_bytes": samples.gpu_used_first_bytes[device],
            "busy_percent": [list(p) for p in samples.gpu_busy.get(device, Course()).points],
        }
        for device, peak in sorted(samples.gpu_used_peak_bytes.items())
    ]
