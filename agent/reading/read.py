"""One text in, observations out: every reader looks for its own blocks, in a fixed order."""

from __future__ import annotations

from agent.model import Gap, Observations
from agent.reading import (
    amd,
    boxes,
    hosts,
    kernel,
    keyed,
    packages,
    smi_lists,
    smi_query,
    smi_table,
    system,
    torch_messages,
    variables,
)
from agent.reading.draft import Draft
from agent.reading.facts import facts_of, gaps_of, stages_of
from agent.reading.normalise import page_of_text
from agent.reading.page import Page

# A tool's own print comes before what people say about it: devices are made by the first that
# names them, and later statements find them by index, UUID or address.
READERS = (
    smi_table,
    smi_query,
    smi_lists,
    amd,
    system,
    kernel,
    hosts,
    boxes,
    variables,
    keyed,
    packages,
    torch_messages,
)


def read_text(text: str, source: str = "") -> Observations:
    """Return what a pasted text shows, as the ladder would have put it; never raises.

    ``lines`` are the text's own, each with the pointer "line N"; ``source`` names the text in
    gaps. An empty text gives empty observations.
    """
    return read_page(page_of_text(text), source)


def read_page(page: Page, source: str = "") -> Observations:
    """Return what a cleaned page shows."""
    draft = Draft()
    for reader in READERS:
        try:
            reader.read(page, draft)
        except Exception as error:  # noqa: BLE001 - one odd block must not hide the others
            name = reader.__name__.rpartition(".")[2]
            draft.gaps.append(
                Gap(
                    pointer="/facts",
                    why=f"{name} could not be read: {type(error).__name__}: {error}",
                    said_by=source or "reading",
                )
            )
    return Observations(
        facts=facts_of(draft),
        stages=stages_of(draft),
        gaps=(*page.gaps, *gaps_of(draft)),
        lines=page.observed_lines(),
        from_text=True,
    )
