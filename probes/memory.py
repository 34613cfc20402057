"""Is a device's memory really there, how fast is it, and what does a representative step need?

What only a GPU can do is in ``gpu_memory``.
"""

from __future__ import annotations

from typing import Any

from . import host_memory, import_torch, sweep, training_step
from .report import Report

# On a CPU the sweep shows that the probe works and that this much host memory can be had; a
# sweep of all of it would take minutes and push the user's own work out.
CPU_MOST_BYTES = 256 << 20
CPU_BLOCK_BYTES = 32 << 20
SHARE = {"standard": 0.5, "deep": 0.95}


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage ``memory`` for one device: the task's ``index``, or the host's memory on a CPU."""
    torch = import_torch.again(report, state)
    backend = state["backend"]
    if backend == "auto":
        backend = import_torch.built_for(torch)
    if backend == "cpu":
        run_on_host(report, torch, state["depth"])
        return
    from . import gpu_memory

    gpu_memory.run(report, torch, backend, options, state)


def run_on_host(report: Report, torch: Any, depth: str) -> None:
    """The host's memory, and the training step on the CPU."""
    free = host_memory.free_bytes()
    report.data(kind="host memory", free_bytes=free)
    wanted = min(int(free * SHARE.get(depth, 0.5)), CPU_MOST_BYTES)
    wrong = run_sweep(report, torch, "cpu", wanted, CPU_BLOCK_BYTES, passes=1)
    report.step("training step on the CPU")
    report.data(step=training_step.run(torch, "cpu", host_figures))
    report.data(host_peak_bytes=host_memory.peak_bytes())
    end(report, wrong)


def host_figures() -> dict[str, Any]:
    """What the training step's phases show of a CPU: this process's resident memory."""
    return {"host_resident_bytes": host_memory.resident_bytes()}


def run_sweep(
    report: Report, torch: Any, device: Any, wanted_bytes: int, block_bytes: int, passes: int
) -> list[dict[str, int]]:
    """Sweep ``wanted_bytes`` of a device; returns the wrong blocks, data said meanwhile."""
    report.step("allocate %d MiB in blocks" % (wanted_bytes >> 20))
    base = sweep.pattern(torch, block_bytes // sweep.WORD_BYTES, device)
    blocks = sweep.allocate(torch, device, wanted_bytes - block_bytes, block_bytes)
    tested = (len(blocks) + 1) * block_bytes
    report.step("write and read %d MiB" % (tested >> 20))
    wrong = sweep.check(torch, blocks, base, passes)
    report.data(
        sweep={
            "wanted_bytes": wanted_bytes,
            "tested_bytes": tested,
            "block_bytes": block_bytes,
            "passes": passes,
            "wrong": wrong[:20],
            "wrong_blocks": len({item["block"] for item in wrong}),
        }
    )
    return wrong


def end(report: Report, wrong: list[dict[str, int]]) -> None:
    """End the stage: passed, or failed with the first wrong block."""
    if not wrong:
        report.result("passed")
        return
    first = wrong[0]
    text = "%d of the blocks written hold something else when read; first block %d, word %d" % (
        len({item["block"] for item in wrong}),
        first["block"],
        first["first_word"],
    )
    report.result("failed", "wrong-result", {"type": "MemoryMismatch", "text": text})
