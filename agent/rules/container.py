"""Causes to come."""

from __future__ import annotations

from agent.rules.rule import Rule

RULES: tuple[Rule, ...] = ()
