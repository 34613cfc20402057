"""What is asked of a worker, in which order, and what is left out."""

from __future__ import annotations

import os
from typing import Any

from agent.model import Stage
from agent.run.tasks import (
    EACH_DEVICE,
    Order,
    Task,
    deadline_of,
    expand,
    missing_need,
    needs_torch,
    take_batch,
)


def stage(name: str, status: Any = "passed", subject: str = "host", **data: Any) -> Stage:
    return Stage(name=name, subject=subject, status=status, data=data)


def test_a_task_for_each_device_is_named_as_the_probe_names_it() -> None:
    devices = [
        {"index": 0, "id": "gpu:GPU-aa", "uuid": "GPU-aa"},
        {"index": 1, "uuid": "GPU-bb", "pci_address": "0000:01:00.0"},
        {"index": 2, "uuid": None, "pci_address": "0000:02:00.0"},
        {"index": 5},
        "nonsense",
    ]
    seen = [stage("device", backend="cuda", devices=devices)]
    found = expand(Task(stage="matmul", subject=EACH_DEVICE, options={"deep": True}), seen)
    assert [(task.subject, task.options["index"]) for task in found] == [
        ("gpu:GPU-aa", 0),
        ("gpu:GPU-bb", 1),
        ("gpu:0000:02:00.0", 2),
        ("gpu:5", 5),
    ]
    assert all(task.options["deep"] is True for task in found)


def test_without_devices_the_task_is_the_hosts() -> None:
    task = Task(stage="matmul", subject=EACH_DEVICE)
    cpu = [stage("device", backend="cpu", devices=[{"index": 0, "name": "cpu"}])]
    for seen in ([], cpu, [stage("device", devices=[])], [stage("device", devices="many")]):
        assert [one.subject for one in expand(task, seen)] == ["host"]
    failed = [stage("device", "failed", devices=[{"index": 0}])]
    assert [one.subject for one in expand(task, failed)] == ["host"]


def test_needs_are_met_by_the_own_subject_else_by_any() -> None:
    matmul = Task(stage="matmul", subject="gpu:a")
    assert missing_need(matmul, []) is None
    assert missing_need(matmul, [stage("device")]) is None
    assert missing_need(matmul, [stage("device", "failed")]) == "device"
    both = [stage("device"), stage("device", "failed", "gpu:a")]
    assert missing_need(matmul, both) == "device"
    assert missing_need(Task(stage="matmul", subject="gpu:b"), both) is None


def test_stages_that_touch_no_device_are_one_batch_and_every_other_stage_its_own() -> None:
    queue = [Task(stage=name) for name in ("interpreter", "import", "device", "matmul", "matmul")]
    batches = []
    while queue:
        batches.append([task.stage for task in take_batch(queue, False)])
    assert batches == [["interpreter", "import"], ["device"], ["matmul", "matmul"]]
    queue = [Task(stage="driver", subject=name) for name in ("nvml", "cuda")]
    assert len(take_batch(queue, True)) == 2
    assert take_batch(queue, True) == []


def test_deadlines_are_the_ladders_unless_replaced() -> None:
    order = Order(python="python", tasks=(), environ=os.environ, deadlines={"import": 3})
    assert deadline_of(order, "import") == 3
    assert deadline_of(order, "device") == 120
    assert deadline_of(order, "of a later version") == 120


def test_which_stages_import_torch() -> None:
    assert needs_torch("device")
    assert needs_torch("matmul")
    assert not needs_torch("driver")
    assert not needs_torch("interpreter")
