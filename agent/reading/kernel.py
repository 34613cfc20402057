"""Kernel log lines in a text, read by the same function that reads the machine's own log."""

from __future__ import annotations

import re
from dataclasses import replace

from agent.reading.draft import MESSAGE, TOOL, Draft
from agent.reading.page import Page

_SIGN = re.compile(
    r"NVRM: |nvidia-nvswitch|\bamdgpu[ :]|kfd kfd|\bkfd[ :]|oom-kill|[Oo]ut of memory: Kill"
    r"|AER: |PCIe Bus Error|mce: \[|segfault at|general protection|nvidia-uvm:|Lockdown: |key was rejected"
)
_OPEN_REFUSES = re.compile(r"not supported by open|does not include the required GPU")


def read(page: Page, draft: Draft) -> None:
    """Fill the draft's kernel events from the lines that bear the kernel's marks."""
    if not _SIGN.search(page.text):
        return
    from agent.collect.kernel_log import events_of, records_of_text

    lines = [
        text
        for text in page.lines()
        if _SIGN.search(text) or (text[:1] in (" ", "\t") and len(text) < 200)
    ]
    events, _ = events_of(records_of_text("\n".join(lines)))
    draft.events.extend(replace(event) for event in events)
    refused = _OPEN_REFUSES.search(page.text)
    if refused:
        line = page.number_at(refused.start())
        draft.put("nvidia.kernel_open", True, line, TOOL)
    if draft.events:
        draft.put("host.system", "linux", 0, MESSAGE)
