"""Kernel log lines in a text, read by the same function that reads the machine's own log."""

from __future__ import annotations

import re

from agent.reading.draft import MESSAGE, TOOL, Draft
from agent.reading.page import Page

LONGEST_RECORD = 8  # lines of one message
MOST_LINES = 6000  # of a longer log the two ends are read
_SIGN = re.compile(
    r"NVRM: |nvidia-nvswitch\d*: |\bamdgpu[ :]|kfd kfd|\bkfd[ :]|oom-kill|[Oo]ut of memory: Kill"
    r"|AER: |PCIe Bus Error|mce: \[|segfault at|general protection|nvidia-uvm:|Lockdown: "
    r"|key was rejected"
)
_OPEN_REFUSES = re.compile(r"not supported by open|does not include the required GPU")


def read(page: Page, draft: Draft) -> None:
    """Fill the draft's kernel events from the lines that bear the kernel's marks."""
    if not _SIGN.search(page.text):
        return
    from agent.collect.kernel_log import events_of, records_of_text

    events, _ = events_of(records_of_text("\n".join(_kernel_lines(page))))
    draft.events.extend(events)
    refused = _OPEN_REFUSES.search(page.text)
    if refused:
        line = page.number_at(refused.start())
        draft.put("nvidia.kernel_open", True, line, TOOL)
    if draft.events:
        draft.put("host.system", "linux", 0, MESSAGE)


def _kernel_lines(page: Page) -> list[str]:
    """Return the lines with the kernel's marks and the few indented ones after each."""
    kept: list[str] = []
    follow = 0
    for text in page.lines():
        if _SIGN.search(text):
            kept.append(text.lstrip())
            follow = LONGEST_RECORD
        elif follow and text[:1] in (" ", "\t") and len(text) < 200:
            kept.append(text)
            follow -= 1
        else:
            follow = 0
    half = MOST_LINES // 2
    return kept if len(kept) <= MOST_LINES else kept[:half] + kept[-half:]
