"""Runs the stages of a plan one after another with a single import of torch."""

from __future__ import annotations

import importlib
from typing import Any

from .report import Report

# Which module answers a stage; each has ``run(report, options, state)``.
STAGES = {
    "interpreter": "interpreter",
    "driver": "driver",
    "import": "import_torch",
    "device": "open_device",
    "matmul": "matmul",
    "extensions": "extensions",
    "memory": "memory",
}
NEEDS = {"device": "import", "matmul": "device", "memory": "device"}
PER_DEVICE = ("matmul", "memory")


def main(record_fd: int, plan: dict[str, Any]) -> None:
    """Runs the plan's tasks and writes their records, ``done`` last, to the descriptor."""
    report = Report(record_fd)
    state: dict[str, Any] = {
        "backend": plan.get("backend", "auto"),
        "depth": plan.get("depth", "quick"),
        "status": {},  # how each stage of this process ended
    }
    for task in plan["tasks"]:
        for one in per_device(task, state):
            run_task(report, one, state)
    report.write({"record": "done"})


def per_device(task: dict[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    """The task, or one for each GPU where it names none and the stage is one for each.

    Only what the stage ``device`` of this process opened is known here; a task that comes alone
    to a process must name its device.
    """
    devices = state.get("devices") or []
    named = task.get("subject", "host") != "host" or "index" in (task.get("options") or {})
    if task["stage"] not in PER_DEVICE or named or not any("id" in d for d in devices):
        return [task]
    return [
        dict(
            task,
            subject=device["id"],
            options=dict(task.get("options") or {}, index=device["index"]),
        )
        for device in devices
    ]


def run_task(report: Report, task: dict[str, Any], state: dict[str, Any]) -> None:
    """Runs one task; whatever it raises, SystemExit included, becomes the stage's result.

    A stage that this process did not run is taken to have passed in another.
    """
    stage = task["stage"]
    state["subject"] = task.get("subject", "host")
    report.stage(stage, state["subject"])
    try:
        needs = NEEDS.get(stage)
        if needs and state["status"].get(needs, "passed") != "passed":
            report.result("skipped", "needs-stage", needs=needs)
        elif stage not in STAGES:
            report.result("skipped", "not-written")
        else:
            module = importlib.import_module("." + STAGES[stage], __package__)
            module.run(report, task.get("options") or {}, state)
    except BaseException as error:
        report.result("failed", reason_of(error), error)
    state["status"][stage] = report.last


def reason_of(error: BaseException) -> str:
    """The reason of a stage that an exception ended."""
    name = type(error).__name__
    return "no-memory" if name in ("OutOfMemoryError", "MemoryError") else "raised"
