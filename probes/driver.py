"""The questions of the driver stage, each asked in a child that may die of it."""

from . import amd_smi, driver_api, nvml

QUESTIONS = {
    "nvml": nvml.run,
    "cuda": driver_api.run_cuda,
    "amd_smi": amd_smi.run,
    "hip": driver_api.run_hip,
}


def run(report, options, state):
    """Stage ``driver`` for the question named in the options."""
    QUESTIONS[options["question"]](report, options, state)
