"""What was ordered and not delivered: one code for each promised property."""

from __future__ import annotations

from collections.abc import Callable

from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule

# The properties that an order names, without their units; any other one becomes order-other.
ITEMS = (
    "gpu", "gpu-count", "gpu-memory", "gpu-power", "gpu-whole", "pcie-width", "cpu-count", "memory",
    "disk", "driver", "cuda",
)  # fmt: skip
UNITS = ("-gib", "-watts")


def _named(item: str) -> str:
    name = item.strip().lower().replace("_", "-").replace(" ", "-")
    for unit in UNITS:
        name = name.removesuffix(unit)
    return name


def _missed(case: Case, wanted: Callable[[str], bool]) -> Diagnosis | None:
    for index, item in enumerate(case.observations.order):
        if item.result == "missed" and wanted(_named(item.item)):
            return Diagnosis(
                weight=90,
                evidence=(f"/order/{index}", *item.evidence),
                values={
                    "value": item.item,
                    "wanted": item.ordered,
                    "found": item.found or "not known",
                },
            )
    return None


def _rule(code: str, wanted: Callable[[str], bool]) -> Rule:
    def find(case: Case) -> Diagnosis | None:
        return _missed(case, wanted)

    return Rule(
        code=f"order-{code}",
        severity="degrading",
        who="provider",
        source="the order's own words against the observations",
        find=find,
    )


def _is(item: str) -> Callable[[str], bool]:
    return lambda name: name == item


RULES: tuple[Rule, ...] = (
    *(_rule(item, _is(item)) for item in ITEMS),
    _rule("other", lambda name: name not in ITEMS),
)
