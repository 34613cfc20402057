"""Slower or smaller than the card should be: power, heat, clocks, link, memory, sharing."""

from __future__ import annotations

from collections.abc import Iterator

from agent.model import Device, Stage
from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule
from agent.tables.gpus import gpu_named
from agent.tables.speeds import expected

LOWERED = 0.95  # an enforced limit below this share of the default one
MARGIN = 0.85  # of the lowest share of peak that published measurements show
LEAST_SIDE = 4096  # smaller products say nothing about the peak
SMALLER = 0.94  # of the memory that the product has
LANE_GBS = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
FOREIGN = 1 << 30


def _whole(device: Device) -> bool:
    """Whether the device is a whole card: no MIG slice, no vGPU, no partition."""
    part = device.partition
    cut = bool(part and (part.kind not in (None, "none", "spx") or part.parent_uuid))
    return not cut and device.virtualization not in ("vgpu",)


def _stages_of(case: Case, name: str) -> Iterator[tuple[int, Stage, Device]]:
    """The stages of that name with their device."""
    by_subject = {f"gpu:{device.id}": device for device in case.facts.devices}
    for device in case.facts.devices:
        for key in (device.uuid, device.pci_address):
            if key:
                by_subject.setdefault(f"gpu:{key}", device)
    for index, stage in case.stages(name):
        if stage.subject in by_subject:
            yield index, stage, by_subject[stage.subject]


def _during(case: Case) -> Iterator[tuple[str, tuple[str, ...], Device | None]]:
    """Event reasons seen under load, with where they stand."""
    for index, stage, device in _stages_of(case, "matmul"):
        during = stage.data.get("during")
        if isinstance(during, dict):
            reasons = tuple(str(item) for item in during.get("event_reasons") or ())
            yield f"/stages/{index}/data/during", reasons, device


def _at_rest(case: Case) -> Iterator[tuple[str, tuple[str, ...], Device | None]]:
    for index, device in enumerate(case.facts.devices):
        if device.clocks:
            yield f"/facts/devices/{index}/clocks", device.clocks.event_reasons, device


def _reasons(case: Case, wanted: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Where one of these reasons was seen, and whether at all; hard ones count at rest too."""
    hard = {"HwThermalSlowdown", "HwPowerBrakeSlowdown"}
    found: list[str] = []
    seen = False
    for at_rest, source in ((False, _during(case)), (True, _at_rest(case))):
        for pointer, reasons, _ in source:
            named = [r for r in reasons if r in wanted and (not at_rest or r in hard)]
            if named:
                seen = True
                found += case.at(pointer, "Slowdown")
    return tuple(found), seen


def thermal_slowdown(case: Case) -> Diagnosis | None:
    """The chip or its memory is too hot, so that clocks are lowered."""
    evidence, seen = _reasons(case, ("HwThermalSlowdown", "SwThermalSlowdown"))
    hits = tuple(hit for hit in case.hits("hardware_slowdown") if "Thermal" in hit.text)
    if not seen and not hits:
        return None
    return Diagnosis(weight=80, hits=hits, evidence=evidence)


def power_brake(case: Case) -> Diagnosis | None:
    """The power supply or the chassis asks the GPU to slow down."""
    evidence, seen = _reasons(case, ("HwPowerBrakeSlowdown",))
    hits = tuple(hit for hit in case.hits("hardware_slowdown") if "Brake" in hit.text)
    if not seen and not hits:
        return None
    return Diagnosis(weight=80, hits=hits, evidence=evidence)


def power_limit_lowered(case: Case) -> Diagnosis | None:
    """The power limit in force is below the card's default."""
    for index, device in enumerate(case.facts.devices):
        power = device.power
        if power is None or not power.default_limit_watts:
            continue
        limit = power.enforced_limit_watts or power.limit_watts
        if limit and limit < LOWERED * power.default_limit_watts:
            note = case.observations.from_text or limit > 0.9 * power.default_limit_watts
            return Diagnosis(
                weight=62,
                evidence=case.at(f"/facts/devices/{index}/power", "Power Limit"),
                values={
                    "limit": f"{limit:.0f} W",
                    "wanted": f"{power.default_limit_watts:.0f} W",
                },
                severity="note" if note else None,
            )
    return None


def clocks_locked(case: Case) -> Diagnosis | None:
    """Somebody fixed lower clocks."""
    for pointer, reasons, device in _during(case):
        if "ApplicationsClocksSetting" not in reasons or device is None or not device.clocks:
            continue
        top = device.clocks.max_sm_mhz
        held = device.clocks.applications_sm_mhz or device.clocks.sm_mhz
        if top and held and held < 0.8 * top:
            return Diagnosis(
                weight=62,
                evidence=(pointer,),
                values={"limit": f"{held} MHz", "wanted": f"{top} MHz"},
            )
    return None


def pcie_width_reduced(case: Case) -> Diagnosis | None:
    """Fewer PCIe lanes than card and slot have, shown under load by slow copies."""
    if case.observations.from_text:
        return None
    rates = {device.id: _pinned_rate(stage) for _, stage, device in _stages_of(case, "memory")}
    for index, device in enumerate(case.facts.devices):
        link = device.pcie
        now, most = (link.width_current, link.width_max) if link else (None, None)
        if not link or not now or not most or now >= most:
            continue
        rate = rates.get(device.id)
        full = most * LANE_GBS.get(link.generation_max or 0, 0.0)
        slow = rate is not None and full > 0 and rate < 0.6 * full
        if rate is not None and not slow:
            continue
        severe = slow or now * 4 <= most
        values = {"found": f"x{now}", "wanted": f"x{most}"}
        if rate is not None:
            values["value"] = f"{rate:.1f} GB/s"
        return Diagnosis(
            weight=80 if slow else 60 if severe else 40,
            evidence=(f"/facts/devices/{index}/pcie",),
            values=values,
            severity=None if severe else "note",
        )
    return None


def _pinned_rate(stage: Stage) -> float | None:
    rates = stage.data.get("bandwidth")
    if not isinstance(rates, dict):
        return None
    found = [
        rates.get(f"{way}_pinned_bytes_per_second") for way in ("host_to_device", "device_to_host")
    ]
    known = [rate for rate in found if isinstance(rate, int | float) and rate > 0]
    return max(known) / 1e9 if known else None


def slower_than_card(case: Case) -> Diagnosis | None:
    """Large products run clearly below what this model reaches elsewhere."""
    worst: tuple[float, int, str, float, float] | None = None
    for index, stage, device in _stages_of(case, "matmul"):
        if not device.name or not _whole(device) or stage.status != "passed":
            continue
        card = gpu_named(device.name)
        for entry in stage.data.get("dtypes") or ():
            speed, n = entry.get("tflops"), entry.get("n")
            row = expected(card.name if card else device.name, str(entry.get("dtype")))
            if not isinstance(speed, int | float) or not isinstance(n, int) or n < LEAST_SIDE:
                continue
            if row is None or entry.get("timing") or entry.get("forced"):
                continue
            least = MARGIN * row.low * row.peak_tflops
            if speed < least and (worst is None or speed / least < worst[0]):
                worst = (speed / least, index, row.dtype, speed, least)
    if worst is None:
        return None
    share, index, dtype, speed, least = worst
    return Diagnosis(
        weight=66 if share < 0.8 else 56,
        evidence=(f"/stages/{index}/data/dtypes",),
        values={"found": f"{speed:.0f} TFLOP/s in {dtype}", "wanted": f"{least:.0f} TFLOP/s"},
    )


def vram_smaller_than_product(case: Case) -> Diagnosis | None:
    """The card reports less memory than its product has."""
    for index, device in enumerate(case.facts.devices):
        card = gpu_named(device.name or "")
        total = device.memory_total_bytes
        if not card or not card.memory_mib or not total or not _whole(device):
            continue
        if device.integrated or case.observations.from_text:
            continue
        if total < SMALLER * card.memory_mib * (1 << 20):
            return Diagnosis(
                weight=70,
                evidence=(f"/facts/devices/{index}/memory_total_bytes",),
                values={
                    "found": f"{total / (1 << 20):.0f} MiB",
                    "wanted": f"{card.memory_mib:.0f} MiB",
                },
            )
    return None


def memory_used_by_unseen_process(case: Case) -> Diagnosis | None:
    """Memory is in use before anything of this user runs, by no process visible here."""
    if case.observations.from_text:
        return None
    for index, device in enumerate(case.facts.devices):
        used, total = device.memory_used_bytes, device.memory_total_bytes
        if used is None or not total or device.integrated or not _whole(device):
            continue
        own = (
            sum(item.memory_bytes or 0 for item in device.processes.own) if device.processes else 0
        )
        others = (device.processes.other_memory_bytes or 0) if device.processes else 0
        unexplained = used - own - others - (device.memory_reserved_bytes or 0)
        if (device.processes and device.processes.own) or unexplained < max(FOREIGN, 0.05 * total):
            continue
        return Diagnosis(
            weight=60,
            evidence=(f"/facts/devices/{index}/memory_used_bytes",),
            values={"value": f"{unexplained / (1 << 30):.1f} GiB"},
        )
    return None


def nvml_torch_count_differs(case: Case) -> Diagnosis | None:
    """torch sees fewer or more devices than the driver, and no variable hides any.

    Where it sees none at all, something else is wrong, and has its own rule.
    """
    data = case.data("device")
    seen, listed = data.get("torch_count"), data.get("driver_count")
    if case.observations.from_text or not isinstance(seen, int):
        return None
    vendor = "amd" if case.built_for == "rocm" else "nvidia"
    if not isinstance(listed, int):
        listed = sum(device.vendor == vendor for device in case.facts.devices)
    masked = any(
        case.env(name) is not None
        for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    )
    slices = any(device.partition and device.partition.parent_uuid for device in case.facts.devices)
    mig = any(
        device.partition and device.partition.mig_mode == "enabled" for device in case.facts.devices
    )
    if not listed or seen in (0, listed) or masked or slices or mig:
        return None
    index = next((i for i, _ in case.stages("device")), 0)
    return Diagnosis(
        weight=58,
        evidence=(f"/stages/{index}/data/torch_count", "/facts/devices"),
        values={"found": str(seen), "wanted": str(listed)},
    )


RULES: tuple[Rule, ...] = (
    Rule(
        code="thermal-slowdown",
        severity="degrading",
        who="provider",
        source="nvmlClocksEventReasons: thermal slowdown",
        find=thermal_slowdown,
        explains=("slower-than-card",),
    ),
    Rule(
        code="power-brake",
        severity="degrading",
        who="provider",
        source="nvmlClocksEventReasons: HW power brake",
        find=power_brake,
        explains=("slower-than-card",),
    ),
    Rule(
        code="power-limit-lowered",
        severity="degrading",
        who="provider",
        source="nvmlDeviceGetEnforcedPowerLimit against the default limit",
        find=power_limit_lowered,
        explains=("slower-than-card",),
    ),
    Rule(
        code="clocks-locked",
        severity="degrading",
        who="provider",
        source="nvmlClocksEventReasons: applications clocks setting",
        find=clocks_locked,
        explains=("slower-than-card",),
    ),
    Rule(
        code="pcie-width-reduced",
        severity="degrading",
        who="provider",
        source="nvmlDeviceGetCurrPcieLinkWidth; PCI Express base specification, lane rates",
        find=pcie_width_reduced,
    ),
    Rule(
        code="slower-than-card",
        severity="degrading",
        who="provider",
        source="published measurements of the same model and format",
        find=slower_than_card,
    ),
    Rule(
        code="vram-smaller-than-product",
        severity="degrading",
        who="provider",
        source="memory as the driver reports it for this model",
        find=vram_smaller_than_product,
    ),
    Rule(
        code="memory-used-by-unseen-process",
        severity="degrading",
        who="provider",
        source="nvmlDeviceGetMemoryInfo against the processes visible here",
        find=memory_used_by_unseen_process,
    ),
    Rule(
        code="nvml-torch-count-differs",
        severity="degrading",
        who="either",
        source="nvmlDeviceGetCount, cudaGetDeviceCount",
        find=nvml_torch_count_differs,
    ),
)
