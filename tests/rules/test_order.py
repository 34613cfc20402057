"""Missed promises of an order become findings, each under its own code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.model import Observations, OrderItem
from tests.rules.boxes import blamed, box, judged

ITEMS = {
    "gpu": "order-gpu",
    "gpu_count": "order-gpu-count",
    "gpu_memory_gib": "order-gpu-memory",
    "gpu_power_watts": "order-gpu-power",
    "gpu_whole": "order-gpu-whole",
    "pcie_width": "order-pcie-width",
    "cpu_count": "order-cpu-count",
    "memory_gib": "order-memory",
    "disk_gib": "order-disk",
    "driver": "order-driver",
    "cuda": "order-cuda",
    "region": "order-other",
}


def ordered(item: str, result: str) -> Observations:
    """The sound box against one promised property."""
    promised = OrderItem(
        item=item, ordered="8", found="4", result=result, evidence=("/facts/host/cpu_count",)
    )
    return replace(box(), order=(promised,))


@pytest.mark.parametrize("item", ITEMS)
def test_a_missed_promise_is_a_finding(item: str) -> None:
    """The finding tells both numbers, points at the order and is not the renter's to settle."""
    found = judged(ordered(item, "missed")).findings
    assert [entry.code for entry in found] == [ITEMS[item]]
    assert "8" in found[0].cause
    assert "4" in found[0].cause
    assert "/order/0" in found[0].evidence
    assert found[0].who != "renter"


@pytest.mark.parametrize("result", ["met", "unknown"])
@pytest.mark.parametrize("item", ITEMS)
def test_a_promise_kept_or_not_looked_at_is_quiet(item: str, result: str) -> None:
    """What could not be looked at is no breach."""
    assert blamed(ordered(item, result)) == []
