"""Texts to come."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {}
