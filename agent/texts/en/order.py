"""Texts for what was ordered and not delivered: one shape for all properties."""

from __future__ import annotations

from agent.rules.order import ITEMS
from agent.texts import Text


def _text() -> Text:
    return Text(
        title="Not as ordered: {value}",
        cause="Ordered: {wanted}. Found: {found}. The machine may be sound, and it is not the"
        " one that"
        " was ordered.",
        fix=("Compare with the offer; keep this bundle as evidence.",),
        message="The machine differs from the order in {value}: ordered {wanted}, found {found}."
        " Please correct it.",
    )


TEXTS: dict[str, Text] = {f"order-{item}": _text() for item in (*ITEMS, "other")}
