"""The child that watches NVIDIA devices while the user's command runs."""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import subprocess
import sys
from dataclasses import dataclass

from agent.workload.sampler import DeviceReading, amd_readings

LINE_LIMIT_BYTES = 1 << 16


@dataclass(slots=True)
class Watcher:
    """A running watcher and what it said last; NVML is never loaded by the agent itself."""

    process: subprocess.Popen[bytes] | None
    buffer: bytes = b""
    error: str | None = None
    interval_seconds: float | None = None
    last: tuple[DeviceReading, ...] = ()

    def readings(self) -> tuple[DeviceReading, ...]:
        """Return the newest reading of every device, without waiting for one."""
        if self.process is not None and self.process.stdout is not None:
            with contextlib.suppress(BlockingIOError, OSError):
                while chunk := os.read(self.process.stdout.fileno(), LINE_LIMIT_BYTES):
                    self.buffer += chunk
        *lines, self.buffer = self.buffer.split(b"\n")
        self.buffer = self.buffer[-LINE_LIMIT_BYTES:]
        peaks: dict[str, int] = {}
        for line in lines:
            self._take(line, peaks)
        return (
            *(
                DeviceReading(
                    r.device, max(r.used_bytes or 0, peaks.get(r.device, 0)), r.busy_percent
                )
                if r.used_bytes is not None
                else r
                for r in self.last
            ),
            *amd_readings(),
        )

    def _take(self, line: bytes, peaks: dict[str, int]) -> None:
        try:
            said = json.loads(line)
            if "error" in said:
                self.error = str(said["error"])[:500]
                return
            self.interval_seconds = float(said["interval_seconds"])
            self.last = tuple(DeviceReading(str(d), u, b) for d, u, b in said["devices"])
        except (ValueError, KeyError, TypeError):
            self.error = "the watcher said something that is not a reading"
            return
        for reading in self.last:
            if reading.used_bytes is not None:
                peaks[reading.device] = max(peaks.get(reading.device, 0), reading.used_bytes)

    def stop(self) -> None:
        """End the watcher: its standard input closes, then it is killed."""
        if self.process is None:
            return
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=0.2)
            return
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1.0)


def start_watcher() -> Watcher:
    """Start the watcher in the agent's own interpreter; a machine without NVML ends it at once."""
    source = pkgutil.get_data("probes", "watch_devices.py") or b""
    boot = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n" + source.decode()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", boot],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        return Watcher(process=None, error=str(error))
    if process.stdout is not None:
        os.set_blocking(process.stdout.fileno(), False)
    return Watcher(process=process)
