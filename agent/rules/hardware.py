"""Causes in the hardware: off the bus, memory errors, a failing board, results that are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.model import Ecc
from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.tables.xids import xid

BUS = (79,)
ECC = (48, 64, 94, 95, 140, 157, 171, 172)
REMAPPED = (63,)
GSP = (119, 120)
LINKS = (74, 136, *range(144, 151), 155)
SPOKEN_FOR = frozenset((*BUS, *ECC, *REMAPPED, *GSP, *LINKS))


def xids(case: Case, numbers: Iterable[int]) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The printed lines and the kernel events with one of these Xid numbers."""
    wanted = set(numbers)
    hits = tuple(hit for hit in case.hits("xid") if int(hit.group(2)) in wanted)
    if case.observations.from_text:
        hits += tuple(hit for hit in case.hits("xid_mentioned") if int(hit.group(1)) in wanted)
    events = tuple(
        pointer
        for index, event in enumerate(case.facts.kernel_log.events)
        if event.kind == "xid" and event.code in wanted
        for pointer in case.at(f"/facts/kernel_log/events/{index}", event.text[:60])
    )
    return hits, events


def _devices_with(case: Case, words: str) -> tuple[str, ...]:
    """Evidence for devices whose own error matches."""
    return tuple(
        f"/facts/devices/{index}/error"
        for index, device in enumerate(case.facts.devices)
        if device.error and re.search(words, device.error, re.IGNORECASE)
        and not case.observations.from_text
    )  # fmt: skip


def _ecc_with(case: Case, wrong: str) -> tuple[str, ...]:
    """Evidence for devices whose memory state shows this; a pointer even where no line has it."""
    found: list[str] = []
    for index, device in enumerate(case.facts.devices):
        if device.ecc and _shows(device.ecc, wrong):
            literal = {"pending": "Pending", "failed": "Failure", "uncorrected": "ncorrect"}[wrong]
            found += case.at(f"/facts/devices/{index}/ecc", literal) or ("",)
    return tuple(found)


def _shows(ecc: Ecc, wrong: str) -> bool:
    if wrong == "pending":
        return bool(ecc.remap_pending or ecc.retirement_pending)
    if wrong == "failed":
        return bool(ecc.remap_failed)
    count = ecc.volatile_uncorrected
    blocks = any(re.search(r"uncorrect\w*\D{0,3}[1-9]", block) for block in ecc.ras_blocks)
    return bool(count and count.isdigit() and int(count) > 0) or blocks


def _real(pointers: Iterable[str]) -> tuple[str, ...]:
    return tuple(pointer for pointer in pointers if pointer)


# ---------------------------------------------------------------- the bus and the board
def gpu_off_bus(case: Case) -> Diagnosis | None:
    """The GPU vanished from PCIe."""
    lines, events = xids(case, BUS)
    hits = case.hits("off_the_bus")
    lost = _devices_with(case, r"is lost|fallen off|NVML_ERROR_GPU_IS_LOST")
    if not (lines or events or hits or lost):
        return None
    handle = all("device handle" in hit.text for hit in hits) and not (lines or events or lost)
    if handle and any("Insufficient" in hit.text or "permission" in hit.text for hit in hits):
        return None
    sure = lines or events or lost or len(hits) > 1
    weight = 92 if sure else 84
    return Diagnosis(weight=weight, hits=(*lines, *hits), evidence=(*events, *lost))


def motherboard_fault(case: Case) -> Diagnosis | None:
    """The host board is at fault: its own error reports, or every card fails in one slot."""
    checks = case.hits("machine_check", "aer_fatal")
    slot = re.search(
        r"(?:another|other|different|second) (?:PCIe? )?(?:slot|riser|machine|motherboard|mainboard"
        r"|system)[^\n]{0,60}(?:works?|fine|no (?:problem|error))"
        r"|(?:swapp\w+|replac\w+) (?:the )?(?:GPU|card)s?[^\n]{0,60}(?:same|still|again)"
        r"|(?:same|this) slot[^\n]{0,40}(?:fails?|dies|again)|(?:mother|main|system) ?board",
        case.lines.text,
        re.IGNORECASE,
    )
    failed = case.hits(
        "off_the_bus", "driver_init_failed", "adapter_init_failed", "cuda_unknown_error"
    )
    lines, events = xids(case, BUS)
    if slot and (failed or checks or lines):
        return Diagnosis(
            weight=88 if checks or "slot" in slot.group(0).lower() else 66,
            hits=(*checks, *failed, *lines),
            evidence=events,
        )
    fatal = tuple(hit for hit in checks if "Fatal" in hit.text or "fatal" in hit.text)
    memory = tuple(hit for hit in checks if hit.signature == "machine_check")
    if memory and failed and not lines:
        return Diagnosis(weight=60, hits=(*memory, *failed))
    if fatal and not failed and not lines:
        return Diagnosis(weight=55, hits=fatal, severity="degrading")
    return None


def gpu_needs_reset(case: Case) -> Diagnosis | None:
    """The driver states that the GPU must be reset before it is used again."""
    hits = case.hits("reset_required")
    named = tuple(
        f"/facts/devices/{index}/recovery_action"
        for index, device in enumerate(case.facts.devices)
        if (device.recovery_action or "none").lower().replace("_", "-")
        not in ("none", "n/a", "unknown", "not-supported")
        and not case.observations.from_text
    )
    stated = _devices_with(case, r"reset|restart")
    if not (hits or named or stated):
        return None
    return Diagnosis(weight=82, hits=hits, evidence=(*named, *stated))


def gpu_answers_with_errors(case: Case) -> Diagnosis | None:
    """nvidia-smi shows ERR! in several places of one GPU's rows."""
    hits = case.hits("smi_err_cells")
    if not hits or case.place == "wsl" or case.hits("off_the_bus"):
        return None
    return Diagnosis(weight=60, hits=hits)


def nvswitch_fault(case: Case) -> Diagnosis | None:
    """An NVSwitch reports a fatal error."""
    hits = case.hits("nvswitch_fatal")
    return Diagnosis(weight=82, hits=hits) if hits else None


def gpu_hardware_fault(case: Case) -> Diagnosis | None:
    """An Xid that NVIDIA files under hardware, and that no other cause here explains."""
    hard = [
        number
        for number in {int(hit.group(2)) for hit in case.hits("xid")}
        | {event.code for event in case.facts.kernel_log.events if event.kind == "xid"}
        if number is not None
        and number not in SPOKEN_FOR
        and (row := xid(number))
        and row.cause == "hardware"
        and row.action not in ("IGNORE",)
    ]
    if not hard:
        return None
    lines, events = xids(case, hard)
    row = xid(min(hard))
    value = f"Xid {row.number}: {row.meaning}" if row else ""
    return Diagnosis(weight=78, hits=lines, evidence=events, values={"value": value})


def gsp_firmware_driver_bug(case: Case) -> Diagnosis | None:
    """The firmware processor of the GPU hangs with this driver release."""
    hits = case.hits("gsp_timeout")
    lines, events = xids(case, GSP)
    if case.hits("off_the_bus") and xids(case, BUS)[0]:
        return None
    if not (hits or lines or events):
        return None
    return Diagnosis(weight=88, hits=(*hits, *lines), evidence=events)


# ---------------------------------------------------------------- memory
def ecc_uncorrectable(case: Case) -> Diagnosis | None:
    """An uncorrectable memory error since the driver was loaded."""
    lines, events = xids(case, ECC)
    hits = case.hits("ecc_error", "amd_ras_uncorrectable")
    counted = _ecc_with(case, "uncorrected")
    if not (lines or events or hits or counted):
        return None
    return Diagnosis(
        weight=92 if hits or lines else 82,
        hits=(*lines, *hits),
        evidence=(*events, *_real(counted)),
        severity=None if hits or lines or events else "degrading",
    )


def row_remap_pending(case: Case) -> Diagnosis | None:
    """Rows were remapped and need a reset to take effect."""
    hits = case.hits("remap_pending_text")
    pending = _ecc_with(case, "pending")
    lines, events = xids(case, REMAPPED)
    if not (hits or pending):
        if lines and not xids(case, ECC)[0]:
            return Diagnosis(weight=68, hits=lines, evidence=events, severity="degrading")
        return None
    return Diagnosis(weight=90, hits=(*hits, *lines), evidence=(*_real(pending), *events))


def remap_failed(case: Case) -> Diagnosis | None:
    """A row could not be remapped: the spares are used up."""
    hits = case.hits("remap_failed_text")
    failed = _ecc_with(case, "failed")
    lines, events = xids(case, (64, 157))
    retired = tuple(
        f"/facts/devices/{index}/ecc"
        for index, device in enumerate(case.facts.devices)
        if device.ecc
        and (device.ecc.retired_single_bit or 0) + (device.ecc.retired_double_bit or 0) > 60
        and not case.observations.from_text
    )
    if not (hits or failed or retired or lines or events):
        return None
    return Diagnosis(weight=91, hits=(*hits, *lines), evidence=(*_real(failed), *retired, *events))


def ecc_errors_rising(case: Case) -> Diagnosis | None:
    """Corrected memory errors come so often that the driver complains."""
    lines, events = xids(case, (92,))
    many = tuple(
        f"/facts/devices/{index}/ecc/volatile_corrected"
        for index, device in enumerate(case.facts.devices)
        if device.ecc
        and (device.ecc.volatile_corrected or "").isdigit()
        and int(device.ecc.volatile_corrected or 0) > 10_000
        and not case.observations.from_text
    )
    if not (lines or events or many):
        return None
    return Diagnosis(weight=64, hits=lines, evidence=(*events, *many))


def vram_aliases(case: Case) -> Diagnosis | None:
    """Two addresses of the memory lead to the same cells, or cells do not hold what is written."""
    for index, stage in case.stages("memory"):
        sweep = stage.data.get("sweep")
        wrong = sweep.get("wrong_blocks") if isinstance(sweep, dict) else None
        if stage.reason == "wrong-result" or (isinstance(wrong, int) and wrong > 0):
            return Diagnosis(
                weight=90,
                evidence=(f"/stages/{index}/data/sweep",),
                values={"count": str(wrong or "several")},
            )
    return None


def wrong_results(case: Case) -> Diagnosis | None:
    """The device computes, and its results are wrong."""
    for index, stage in case.stages("matmul"):
        if stage.status == "failed" and stage.reason == "wrong-result":
            text = stage.error.text if stage.error else ""
            return Diagnosis(
                weight=86,
                evidence=(f"/stages/{index}/error", f"/stages/{index}/data"),
                values={"value": text[:200]},
                hits=(),
            )
    for index, stage in case.stages("driver"):
        for place, entry in enumerate(stage.data.get("copies") or ()):
            if isinstance(entry, dict) and entry.get("differing_bytes"):
                return Diagnosis(
                    weight=86,
                    evidence=(f"/stages/{index}/data/copies/{place}",),
                    values={"value": f"{entry['differing_bytes']} bytes of a copy differ"},
                )
    return None


# ---------------------------------------------------------------- how device stages end
def torch_crashes_on_device(case: Case) -> Diagnosis | None:
    """torch dies or never comes back when it first uses the GPU; no better cause is known."""
    for name in ("device", "matmul", "memory"):
        for index, stage in case.stages(name):
            if stage.status == "crashed":
                how = f"ended by {stage.signal or 'an early exit'}"
            elif stage.status == "timed_out":
                how = "did not come back in time"
            else:
                continue
            step = next((s.name for s in reversed(stage.steps)), stage.name)
            look = (
                "the kernel log for an Xid or an oom-kill at that moment, and the same step alone"
                " with CUDA_LAUNCH_BLOCKING=1 (AMD: AMD_SERIALIZE_KERNEL=3)",
            )
            return Diagnosis(
                weight=45,
                evidence=(f"/stages/{index}",),
                values={"value": f"{name}, in “{step}”, {how}"},
                look_at=look,
            )
    return None


def application_fault(case: Case) -> Diagnosis | None:
    """Xids that a program's own mistake writes: said so that nobody blames the card."""
    if case.observations.from_text:
        return None
    events = [
        (index, event)
        for index, event in enumerate(case.facts.kernel_log.events)
        if event.kind == "xid"
        and event.code is not None
        and (row := xid(event.code))
        and row.cause == "application"
    ]
    if not events:
        return None
    number = events[0][1].code
    row = xid(number) if number is not None else None
    return Diagnosis(
        weight=30,
        evidence=tuple(f"/facts/kernel_log/events/{index}" for index, _ in events[:5]),
        values={"value": f"Xid {number}: {row.meaning if row else ''}"},
    )


RULES: tuple[Rule, ...] = (
    Rule(
        code="gpu-off-bus",
        severity="blocking",
        who="provider",
        source="NVIDIA's Xid catalogue: 79; nvmlReturn 15",
        find=gpu_off_bus,
        explains=(
            "gsp-firmware-driver-bug",
            "gpu-needs-reset",
            "nvidia-uvm-missing",
            "bios-above-4g-rebar-off",
            "torch-crashes-on-device",
            "nvlink-down",
        ),
    ),
    Rule(
        code="motherboard-fault",
        severity="blocking",
        who="provider",
        source="linux mce and PCIe AER reports",
        find=motherboard_fault,
        explains=("nvidia-uvm-missing", "gpu-off-bus"),
    ),
    Rule(
        code="gpu-needs-reset",
        severity="blocking",
        who="provider",
        source="nvmlReturn 16; GPU recovery action",
        find=gpu_needs_reset,
    ),
    Rule(
        code="gpu-answers-with-errors",
        severity="degrading",
        who="provider",
        source="nvidia-smi: ERR! stands where a reading failed",
        find=gpu_answers_with_errors,
    ),
    Rule(
        code="nvswitch-fault",
        severity="degrading",
        who="provider",
        source="Fabric Manager user guide, SXid errors",
        find=nvswitch_fault,
    ),
    Rule(
        code="gpu-hardware-fault",
        severity="blocking",
        who="provider",
        source="NVIDIA's Xid catalogue",
        find=gpu_hardware_fault,
        explains=("torch-crashes-on-device",),
    ),
    Rule(
        code="gsp-firmware-driver-bug",
        severity="blocking",
        who="provider",
        source="NVIDIA's Xid catalogue: 119, 120; driver release notes",
        find=gsp_firmware_driver_bug,
        explains=("torch-crashes-on-device", "gpu-needs-reset"),
    ),
    Rule(
        code="ecc-uncorrectable",
        severity="blocking",
        who="provider",
        source="NVIDIA's Xid catalogue: 48, 94, 95; GPU memory error management",
        find=ecc_uncorrectable,
        explains=("ecc-errors-rising", "torch-crashes-on-device", "gpu-needs-reset"),
    ),
    Rule(
        code="row-remap-pending",
        severity="degrading",
        who="provider",
        source="GPU memory error management: row remapping, pending",
        find=row_remap_pending,
        explains=("gpu-needs-reset",),
    ),
    Rule(
        code="remap-failed",
        severity="blocking",
        who="provider",
        source="GPU memory error management: RMA criteria; dynamic page retirement",
        find=remap_failed,
        explains=("row-remap-pending", "ecc-uncorrectable"),
    ),
    Rule(
        code="ecc-errors-rising",
        severity="degrading",
        who="provider",
        source="NVIDIA's Xid catalogue: 92",
        find=ecc_errors_rising,
    ),
    Rule(
        code="vram-aliases",
        severity="blocking",
        who="provider",
        source="a sweep that writes all blocks before it reads any",
        find=vram_aliases,
        explains=("wrong-results",),
    ),
    Rule(
        code="wrong-results",
        severity="blocking",
        who="provider",
        source="products of small integers are exact in every format; Freivalds' check",
        find=wrong_results,
        explains=("ecc-errors-rising",),
    ),
    Rule(
        code="torch-crashes-on-device",
        severity="blocking",
        who="either",
        source="exit status of the probe's process; signal(7)",
        find=torch_crashes_on_device,
    ),
    Rule(
        code="application-fault",
        severity="note",
        who="renter",
        source="NVIDIA's Xid catalogue: 13, 31, 43, 45 and the engine errors",
        find=application_fault,
    ),
)
