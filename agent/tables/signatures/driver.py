"""Wordings to come."""

from __future__ import annotations

from agent.tables.signatures import Signature

ROWS: tuple[Signature, ...] = ()
