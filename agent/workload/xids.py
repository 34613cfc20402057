"""Xid lines that the kernel wrote while the user's command ran."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent.collect.kernel_log import read_kernel_log
from agent.collect.tree import open_tree


def new_xids(root: Path = Path("/")) -> Callable[[], tuple[str, ...]]:
    """Note the Xid lines of now; the function returned tells those that came since."""
    before = _xids(root)

    def since() -> tuple[str, ...]:
        known = set(before)
        return tuple(text for text in _xids(root) if text not in known)

    return since


def _xids(root: Path) -> tuple[str, ...]:
    try:
        log, _ = read_kernel_log(open_tree(root))
    except (OSError, ValueError):
        return ()
    return tuple(event.text for event in log.events if event.kind in ("xid", "sxid"))
