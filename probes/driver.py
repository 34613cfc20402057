"""The questions of the driver stage, each asked in a child that may die of it."""

from __future__ import annotations

import importlib
from typing import Any

from .report import Report

# The module and the function that ask; only what is asked is loaded.
QUESTIONS = {
    "nvml": ("nvml", "run"),
    "cuda": ("driver_api", "run_cuda"),
    "amd_smi": ("amd_smi", "run"),
    "hip": ("driver_api", "run_hip"),
}


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage ``driver`` for the question named in the options."""
    module, function = QUESTIONS[options["question"]]
    loaded = importlib.import_module("." + module, __package__)
    getattr(loaded, function)(report, options, state)
