"""Xid lines that the kernel wrote while the user's command ran."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent.collect.kernel_log import newer_events, read_kernel_log
from agent.collect.tree import open_tree
from agent.model import KernelLog


def new_xids(root: Path = Path("/")) -> Callable[[], tuple[str, ...]]:
    """Note the kernel log of now; the function returned tells the Xid lines that came since."""
    before = _log(root)

    def since() -> tuple[str, ...]:
        newer = newer_events(before, _log(root))
        return tuple(event.text for event in newer if event.kind in ("xid", "sxid"))

    return since


def _log(root: Path) -> KernelLog:
    try:
        log, _ = read_kernel_log(open_tree(root))
    except (OSError, ValueError):
        return KernelLog()
    return log
