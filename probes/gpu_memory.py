"""The stage ``memory`` on a GPU, which only a GPU can run; the rest is in ``memory``."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from . import gpu_load, gpu_matmul, host_memory, memory, training_step, turns
from .report import Report

BLOCK_BYTES = 256 << 20
COPY_BYTES = 256 << 20
KEEP_FREE_BYTES = 512 << 20  # for the context's own needs and the comparison of a block


def run(
    report: Report, torch: Any, backend: str, options: dict[str, Any], state: dict[str, Any]
) -> None:
    """Totals, sweep, copies and the training step of the device with the task's ``index``."""
    chosen = gpu_matmul.chosen(report, torch, backend, options, state)
    index = chosen["index"]
    # Read anew, before this process has a context: somebody may have come since the last stage.
    load = gpu_load.read(backend, chosen["pci_address"])
    device = torch.device("cuda", index)
    torch.cuda.set_device(device)
    properties = torch.cuda.get_device_properties(index)
    report.step("ask for free memory")
    free, total = torch.cuda.mem_get_info(index)
    integrated = bool(getattr(properties, "is_integrated", False))
    report.data(
        kind="device memory",
        torch_total_bytes=int(properties.total_memory),
        runtime_total_bytes=int(total),
        free_bytes=int(free),
        integrated=integrated,
    )
    busy = options.get("busy") or gpu_load.busy(load, int(total))
    if busy:
        report.result("skipped", "device-busy", why=str(busy))
        return
    wrong = memory.run_sweep(
        report,
        torch,
        device,
        sweep_bytes(int(free), integrated, state["depth"]),
        BLOCK_BYTES,
        passes=2 if state["depth"] == "deep" else 1,
    )
    torch.cuda.synchronize(index)
    torch.cuda.empty_cache()
    report.step("copies")
    with turns.one_at_a_time("copies"):
        report.data(bandwidth=bandwidth(torch, device))
    torch.cuda.empty_cache()
    report.step("training step")
    torch.cuda.reset_peak_memory_stats(index)
    step = training_step.run(torch, device, lambda: figures(torch, index))
    step["allocated_peak_bytes"] = int(torch.cuda.max_memory_allocated(index))
    step["reserved_peak_bytes"] = int(torch.cuda.max_memory_reserved(index))
    report.data(step=step, host_peak_bytes=host_memory.peak_bytes())
    memory.end(report, wrong)


def sweep_bytes(free: int, integrated: bool, depth: str) -> int:
    """Half of what is free, or 95 % when deep; less where the memory is the host's, too."""
    if integrated:
        free = min(free, host_memory.free_bytes() // 2)
    return max(0, min(int(free * memory.SHARE.get(depth, 0.5)), free - KEEP_FREE_BYTES))


def figures(torch: Any, index: int) -> dict[str, Any]:
    """The allocator's figures beside the device's used memory and the host's."""
    torch.cuda.synchronize(index)
    free, total = torch.cuda.mem_get_info(index)
    return {
        "allocated_bytes": int(torch.cuda.memory_allocated(index)),
        "reserved_bytes": int(torch.cuda.memory_reserved(index)),
        "device_used_bytes": int(total - free),
        "host_resident_bytes": host_memory.resident_bytes(),
    }


def bandwidth(torch: Any, device: Any) -> dict[str, int]:
    """Copy rates in bytes a second: device (read and write counted), host pinned and pageable."""
    count = COPY_BYTES // 4
    source = torch.ones(count, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    rates = {"device_copy": 2 * COPY_BYTES / events(torch, lambda: target.copy_(source))}
    for name, pinned in (("pinned", True), ("pageable", False)):
        host = torch.empty(count, dtype=torch.float32, pin_memory=pinned)
        host.fill_(1.0)
        rates["host_to_device_" + name] = COPY_BYTES / wall(
            torch, partial(target.copy_, host, non_blocking=True)
        )
        rates["device_to_host_" + name] = COPY_BYTES / wall(
            torch, partial(host.copy_, source, non_blocking=True)
        )
        del host
    return {"%s_bytes_per_second" % name: round(rate) for name, rate in rates.items()}


def events(torch: Any, copy: Callable[[], Any], times: int = 20) -> float:
    """Seconds of one copy by the device's own events."""
    copy()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    for _ in range(times):
        copy()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1000.0 / times


def wall(torch: Any, copy: Callable[[], Any], times: int = 5) -> float:
    """Seconds of one copy by the clock; pageable copies wait on the host."""
    copy()
    torch.cuda.synchronize()
    began = time.monotonic()
    for _ in range(times):
        copy()
    torch.cuda.synchronize()
    return (time.monotonic() - began) / times
