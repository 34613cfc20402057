"""Does the fault of one card end the work, or do others carry it on?"""

from __future__ import annotations

import re
from dataclasses import replace

from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule

# Faults of single cards; the rest of a machine may be sound.
OF_ONE_CARD = frozenset(
    {
        "gpu-off-bus",
        "gpu-needs-reset",
        "gpu-answers-with-errors",
        "gpu-hardware-fault",
        "ecc-uncorrectable",
        "row-remap-pending",
        "remap-failed",
        "vram-aliases",
        "wrong-results",
        "torch-crashes-on-device",
    }
)
_DEVICE = re.compile(r"/facts/devices/(\d+)(?:/|$)")
_STAGE = re.compile(r"/stages/(\d+)(?:/|$)")


def spared(case: Case, rule: Rule, diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis, degrading at most where a card that it does not name has computed rightly.

    One dead GPU of eight degrades a machine; what was ordered is another question.
    """
    if rule.code not in OF_ONE_CARD or diagnosis.severity not in (None, "blocking"):
        return diagnosis
    sound = {
        stage.subject
        for _, stage in case.stages("matmul")
        if stage.subject != "host" and stage.status == "passed"
    }
    if len(case.facts.devices) < 2 or not sound - _named(case, diagnosis):
        return diagnosis
    return replace(diagnosis, severity="degrading")


def _named(case: Case, diagnosis: Diagnosis) -> set[str]:
    """The subjects of the stages of the cards that the evidence points at."""
    found: set[str] = set()
    pointers = (*diagnosis.evidence, *(hit.pointer for hit in diagnosis.hits))
    for pointer in pointers:
        device, stage = _DEVICE.match(pointer), _STAGE.match(pointer)
        if device and int(device.group(1)) < len(case.facts.devices):
            seen = case.facts.devices[int(device.group(1))]
            found |= {f"gpu:{name}" for name in (seen.id, seen.uuid, seen.pci_address) if name}
        if stage and int(stage.group(1)) < len(case.observations.stages):
            found.add(case.observations.stages[int(stage.group(1))].subject)
    return found
