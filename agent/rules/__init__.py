"""All rules, in one visible tuple; the order is of no importance."""

from __future__ import annotations

from agent.rules import build
from agent.rules.rule import Rule

RULES: tuple[Rule, ...] = (*build.RULES,)
