"""Runs the user's own command in the foreground and returns the ``workload`` stage.

The command keeps its terminal, its process group, its directory and its signals; the agent
stays beside it, looks on, and outlives a lost terminal to write down what happened.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.model import ErrorText, Stage, Status
from agent.processes import ProcessId, load_psutil, parents, peak_resident_bytes
from agent.workload.ended import Traces, out_of_memory, read_traces, what_ended
from agent.workload.hook import Hook, plant_hook
from agent.workload.sampler import Samples, fold_shm, gpu_data, take_sample
from agent.workload.watcher import Watcher, start_watcher

# Sent to us alone (a lost terminal tells only the session's leader); ^C and ^\ reach the group.
PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
NOT_FOUND, NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The stage, and the exit code that the agent must pass on."""

    stage: Stage
    exit_code: int
    overrides: tuple[str, ...] = ()


@dataclass(slots=True)
class _Signals:
    """Signals that arrived while the command ran, by name, in order."""

    seen: list[str] = field(default_factory=list)


def run_command(
    command: tuple[str, ...],
    *,
    environ: Mapping[str, str],
    plain: bool = False,
    new_xids: Callable[[], tuple[str, ...]] = tuple,
) -> Outcome:
    """Run ``command`` to its end and return what it needed and what ended it.

    ``plain`` leaves the allocator hook out. ``new_xids`` is asked after the command has ended
    for Xid lines that the kernel log did not hold before.
    """
    hook = None if plain else plant_hook()
    try:
        return _run(command, environ, hook, new_xids)
    finally:
        if hook is not None:
            hook.remove()


def _run(
    command: tuple[str, ...],
    environ: Mapping[str, str],
    hook: Hook | None,
    new_xids: Callable[[], tuple[str, ...]],
) -> Outcome:
    before = read_traces()
    began = time.monotonic()
    overrides = (f"PYTHONPATH={hook.directory}:…",) if hook else ()
    with _beside_the_command() as arrived:
        watcher = start_watcher()
        try:
            process = subprocess.Popen(
                list(command), env=hook.environment(environ) if hook else dict(environ)
            )
        except OSError as error:
            watcher.stop()
            return _could_not_start(command, error)
        samples, status, usage = _follow(process.pid, watcher, arrived)
        # Popen must not wait for a process that was reaped by wait4.
        process.returncode = os.waitstatus_to_exitcode(status)
        watcher.stop()
    seconds = time.monotonic() - began
    notes = hook.notes() if hook else ()
    failed = next((n["out_of_memory"] for n in notes if "out_of_memory" in n), None)
    after = read_traces()
    ended = what_ended(
        return_code=process.returncode,
        before=before,
        after=after,
        out_of_memory_text=str(failed.get("text")) if isinstance(failed, dict) else None,
        shm_free_least_bytes=samples.shm_free_least_bytes,
        new_xids=new_xids() if process.returncode else (),
        interrupted_by=arrived.seen[0] if arrived.seen else None,
    )
    data = _data(command, samples, usage, before, after, notes, watcher, ended)
    stage = _stage(process.returncode, seconds, ended, data, arrived)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Outcome(stage=stage, exit_code=code, overrides=overrides)


def _follow(pid: int, watcher: Watcher, arrived: _Signals) -> tuple[Samples, int, Any]:
    """Sample until the command has ended; returns (samples, wait status, resource usage)."""
    samples = Samples()
    started = parents().get(pid)
    if started is not None:
        samples.tree = (ProcessId(pid, started[1]),)
    began = time.monotonic()
    passed_on = 0
    with _exit_descriptor(pid) as descriptor:
        while True:
            take_sample(samples, time.monotonic() - began, watcher.readings())
            load_psutil()  # after the first look: a command may be over before that is done
            until = time.monotonic() + samples.interval_seconds
            while True:
                reaped, status, usage = os.wait4(pid, os.WNOHANG)
                fold_shm(samples)
                if reaped:
                    return samples, status, usage
                for name in arrived.seen[passed_on:]:
                    passed_on += 1
                    if name in PASSED_ON:
                        os.kill(pid, signal.Signals[name])
                left = until - time.monotonic()
                if left <= 0:
                    break
                _wait(descriptor, left)


@contextlib.contextmanager
def _exit_descriptor(pid: int) -> Iterator[int | None]:
    """Yield a pidfd that becomes readable when the process ends; None where refused."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _wait(descriptor: int | None, seconds: float) -> None:
    # Short enough that a signal to pass on does not wait for the next sample.
    wait = min(seconds, 0.2)
    if descriptor is None:
        time.sleep(min(wait, 0.02))
    else:
        select.select([descriptor], [], [], wait)


@contextlib.contextmanager
def _beside_the_command() -> Iterator[_Signals]:
    """Stay alive beside the command: note signals instead of dying of them.

    A handler, not SIG_IGN: an ignored signal would be ignored by the command, too. A signal
    that was already ignored (nohup) stays so, for both.
    """
    arrived = _Signals()

    def note(number: int, _frame: object) -> None:
        arrived.seen.append(signal.Signals(number).name)

    before = {}
    for name in ("SIGINT", "SIGQUIT", *PASSED_ON):
        number = signal.Signals[name]
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, note)
    try:
        yield arrived
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _could_not_start(command: tuple[str, ...], error: OSError) -> Outcome:
    missing = isinstance(error, FileNotFoundError)
    stage = Stage(
        name="workload",
        subject="host",
        status="failed",
        reason="does-not-load",
        data={"command": Path(command[0]).name},
        error=ErrorText(type=type(error).__name__, text=f"{command[0]}: {error.strerror}"),
        exit_code=NOT_FOUND if missing else NOT_EXECUTABLE,
    )
    return Outcome(stage=stage, exit_code=NOT_FOUND if missing else NOT_EXECUTABLE)


def _stage(
    return_code: int, seconds: float, ended: dict[str, Any], data: dict[str, Any], arrived: _Signals
) -> Stage:
    status: Status = "passed"
    reason = None
    if ended["by"] == "interrupt":
        status, reason = "interrupted", "interrupted"
    elif return_code < 0:
        status, reason = "crashed", "signal"
    elif return_code > 0:
        status, reason = "failed", "exited"
    return Stage(
        name="workload",
        subject="host",
        status=status,
        reason=reason,
        seconds=round(seconds, 3),
        data=data,
        error=None if status == "passed" else ErrorText(type=ended["by"], text=ended["text"]),
        exit_code=return_code if return_code >= 0 else None,
        signal=signal.Signals(-return_code).name if return_code < 0 else None,
    )


def _largest_process(usage: Any, samples: Samples) -> tuple[int, bool]:
    """Return the most that one process had resident in bytes, and whether that is exact.

    ``ru_maxrss`` is VmHWM (in KiB) of the largest process that was waited for, but it begins
    with what the agent itself had held when the command was started from it; below that only
    the samples tell.
    """
    largest = usage.ru_maxrss * 1024
    if largest > (peak_resident_bytes(os.getpid()) or 0):
        return max(largest, samples.process_peak_bytes), True
    return samples.process_peak_bytes or largest, False


def _data(
    command: tuple[str, ...],
    samples: Samples,
    usage: Any,
    before: Traces,
    after: Traces,
    notes: tuple[dict[str, Any], ...],
    watcher: Watcher,
    ended: dict[str, Any],
) -> dict[str, Any]:
    """Return the stage's data; docs/bundle.md has a line for each key."""
    largest, exact = _largest_process(usage, samples)
    pss = samples.tree_pss_peak_bytes
    data: dict[str, Any] = {
        "command": Path(command[0]).name,
        "user_seconds": round(usage.ru_utime, 3),
        "system_seconds": round(usage.ru_stime, 3),
        "process_peak_bytes": largest,
        "process_peak_kind": "exact" if exact else "sampled",
        "tree_peak_bytes": samples.tree_rss_peak_bytes if pss is None else pss,
        "tree_peak_kind": "resident, shared pages counted repeatedly" if pss is None else "pss",
        "processes_peak": samples.processes_peak,
        "shm_used_peak_bytes": samples.shm_used_peak_bytes,
        "shm_free_least_bytes": samples.shm_free_least_bytes,
        "gpus": gpu_data(samples),
        "gpu_note": watcher.error
        or ("sampled, others included" if samples.gpu_used_peak_bytes else "no device"),
        "allocator": [
            {"pid": note["pid"], **row} for note in notes for row in note.get("devices", ())
        ],
        "ended": ended,
        "sampler": {
            "samples": samples.count,
            "interval_seconds": round(samples.interval_seconds, 3),
            "gpu_interval_seconds": watcher.interval_seconds,
            "cpu_seconds": round(samples.cost_seconds, 4),
        },
    }
    if ended["by"] == "gpu-out-of-memory":
        data["out_of_memory"] = out_of_memory(ended["text"])
    if after.memory_peak_bytes is not None and before.memory_peak_bytes is not None:
        # The group's peak is ours only if it rose while the command ran.
        rose = after.memory_peak_bytes > before.memory_peak_bytes
        data["cgroup_peak_bytes"] = after.memory_peak_bytes if rose else None
    if after.oom_kills is not None:
        data["oom_kills"] = after.oom_kills - (before.oom_kills or 0)
    return data
