"""Runs the stages of a plan one after another with a single import of torch."""

import os
import sys

from . import report as reports


def main(record_fd, plan):
    """Runs the plan's tasks, writes their records to the descriptor, and ends the process.

    The process ends without the interpreter's tear-down: it answers no question of a stage, and
    can take longer than all stages together.
    """
    run_plan(reports.Report(record_fd), plan)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    os._exit(0)


def run_plan(report, plan):
    """Runs every task of the plan and writes ``done``."""
    state = {"backend": plan.get("backend", "auto"), "depth": plan.get("depth", "quick")}
    for task in plan["tasks"]:
        run_task(report, task, state)
    report.write({"record": "done"})


def run_task(report, task, state):
    """Runs one task; whatever it raises, SystemExit included, becomes the stage's result."""
    report.stage(task["stage"], task.get("subject", "host"))
    try:
        if task["stage"] == "import":
            from . import import_torch

            import_torch.run(report, task.get("options", {}), state)
        else:
            report.result("skipped", "not-written")
    except BaseException as error:
        report.result("failed", "raised", error)
