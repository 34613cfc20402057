"""One dead card of several degrades; the only one, or a faulty one that works, still blocks."""

from __future__ import annotations

import pytest

from agent.judge import judge
from agent.model import Device, Facts, Observations, Stage, Status
from agent.verdict import decide


def machine(count: int, bad: Status, good: Status = "passed") -> Observations:
    devices = tuple(
        Device(
            id=f"GPU-{n}", vendor="nvidia", name="NVIDIA H100 80GB HBM3",
            error="GPU is lost" if n == 0 else None,
        )
        for n in range(count)
    )  # fmt: skip
    rungs = [Stage(name=n, subject="host", status="passed") for n in ("import", "device")]
    products = [
        Stage(name="matmul", subject=f"gpu:GPU-{n}", status=good if n else bad)
        for n in range(count)
    ]
    return Observations(facts=Facts(devices=devices), stages=(*rungs, *products), backend="cuda")


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (machine(8, "failed"), "degraded"),
        (machine(2, "failed"), "degraded"),
        (machine(1, "failed"), "blocked"),
        (machine(8, "failed", good="failed"), "blocked"),
        (machine(1, "passed"), "blocked"),
    ],
)
def test_a_lost_card_blocks_only_where_no_other_works(seen: Observations, status: str) -> None:
    judged = judge(seen)
    assert judged.findings[0].code == "gpu-off-bus"
    assert decide(seen, judged.findings).status == status
