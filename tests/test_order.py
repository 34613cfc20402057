"""The order against the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.model import Device, Facts, Host, Limits, Observations
from agent.order import compare, read_order

GIB = 1 << 30


def machine(name: str = "NVIDIA H100 80GB HBM3", count: int = 8) -> Observations:
    devices = tuple(
        Device(id=str(i), vendor="nvidia", name=name, memory_total_bytes=85520809984)
        for i in range(count)
    )
    host = Host(cpu_count=208, memory_total_bytes=1800 * GIB)
    return Observations(facts=Facts(host=host, devices=devices, limits=Limits()))


def results(tmp_path: Path, order: dict[str, object], seen: Observations) -> dict[str, str]:
    path = tmp_path / "order.json"
    path.write_text(json.dumps(order))
    return {item.item: item.result for item in compare(read_order(str(path)), seen)}


def test_a_machine_as_ordered(tmp_path: Path) -> None:
    order = {"gpu": "H100 SXM", "gpu_count": 8, "gpu_memory_gib": 80, "memory_gib": 1800}
    assert set(results(tmp_path, order, machine()).values()) == {"met"}


@pytest.mark.parametrize(
    ("order", "missed"),
    [
        ({"gpu": "H200"}, "gpu"),
        ({"gpu": "H100 PCIe"}, "gpu"),
        ({"gpu_count": 9}, "gpu_count"),
        ({"gpu_memory_gib": 141}, "gpu_memory_gib"),
        ({"cpu_count": 256}, "cpu_count"),
    ],
)
def test_less_than_ordered(tmp_path: Path, order: dict[str, object], missed: str) -> None:
    assert results(tmp_path, order, machine()) == {missed: "missed"}


def test_a_container_limit_counts(tmp_path: Path) -> None:
    seen = machine()
    limited = Observations(
        facts=Facts(host=seen.facts.host, limits=Limits(memory_limit_bytes=64 * GIB))
    )
    assert results(tmp_path, {"memory_gib": 1800}, limited) == {"memory_gib": "missed"}


def test_what_was_not_learnt_is_unknown(tmp_path: Path) -> None:
    assert results(tmp_path, {"cuda": "12.4", "disk_gib": 10}, machine()) == {
        "cuda": "unknown",
        "disk_gib": "unknown",
    }


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "nonsense", '{"colour": 1}', '{"gpu": []}', '{"gpu": 3}', '{"gpu": "-"}',
        '{"gpu_count": "eight"}', '{"gpu_count": true}', '{"memory_gib": NaN}',
        '{"memory_gib": 1e400}', '{"gpu_whole": "perhaps"}', '{"cuda": "new"}', '{"driver": null}',
    ],
)  # fmt: skip
def test_an_order_that_cannot_be_read_is_a_plain_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "order.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        read_order(str(path))
