"""Causes in how a process starts: forks, and which devices it is shown."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule

_MASKS = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def initialised_before_fork(case: Case) -> Diagnosis | None:
    """CUDA was initialised before a fork and the child tries to use it."""
    hits = case.hits("reinit_in_fork")
    if hits:
        return Diagnosis(weight=92, hits=hits)
    started = case.hits("driver_init_failed")
    context = case.hits("fork_context")
    plain = tuple(hit for hit in started if "might not" not in hit.text)
    if plain and context and not case.says("hmm", "uvm"):
        return Diagnosis(
            weight=68,
            hits=(*plain, *context[:2]),
            look_at=("does the program use CUDA before it starts its worker processes?",),
        )
    return None


def visible_devices_uuid_unsupported(case: Case) -> Diagnosis | None:
    """The mask holds a UUID that this framework version cannot parse."""
    hits = case.hits("uuid_not_parsed")
    value = case.env("CUDA_VISIBLE_DEVICES") or ""
    masked = value.startswith(("GPU-", "MIG-"))
    if hits:
        return Diagnosis(
            weight=92 if masked else 86, hits=hits, evidence=case.env_at("CUDA_VISIBLE_DEVICES")
        )
    failed = case.hits("no_cuda_gpus", "invalid_device_ordinal", "cuda_available_false")
    if masked and case.says("failed to be inspected"):  # vLLM hides what its child process said
        return Diagnosis(weight=62, evidence=case.env_at("CUDA_VISIBLE_DEVICES"))
    if masked and (failed or case.works is False):
        old = value.startswith("MIG-") and bool(case.driver) and case.driver[0] < 470
        return Diagnosis(
            weight=70 if old else 60, hits=failed, evidence=case.env_at("CUDA_VISIBLE_DEVICES")
        )
    return None


def visible_devices_wrong_index(case: Case) -> Diagnosis | None:
    """The mask names an index that this machine does not have."""
    for name in _MASKS:
        value = case.env(name)
        if value is None:
            continue
        failed = case.hits("no_cuda_gpus", "invalid_device_ordinal", "cuda_available_false")
        count = len(case.devices)
        if any(
            phrase in value.lower() for phrase in ("not present", "does not", "nonexist", "no such")
        ):
            return Diagnosis(weight=90, hits=failed, evidence=case.env_at(name))
        indices = [int(item) for item in re.findall(r"(?<![\w-])\d+", value)]
        if value.startswith(("GPU-", "MIG-")):
            continue
        beyond = bool(count) and any(index >= count for index in indices)
        if beyond and (failed or not case.observations.from_text):
            return Diagnosis(
                weight=90 if failed else 78,
                hits=failed,
                evidence=(*case.env_at(name), *case.at("/facts/devices")),
                values={"value": f"{name}={value}", "count": str(count)},
            )
        if failed and indices and max(indices) > 0 and not count:
            return Diagnosis(
                weight=58,
                hits=failed,
                evidence=case.env_at(name),
                values={"value": f"{name}={value}"},
            )
    hits = case.hits("invalid_device_ordinal")
    if hits:
        told = case.says("cuda_visible_devices")
        return Diagnosis(
            weight=66 if told else 58,
            hits=hits,
            look_at=(
                "how many GPUs the process sees (torch.cuda.device_count()), and which index"
                " it asks for",
            ),
        )
    return None


def device_order_differs(case: Case) -> Diagnosis | None:
    """CUDA's fastest-first numbering differs from the driver's PCI order."""
    if (case.env("CUDA_DEVICE_ORDER") or "") == "PCI_BUS_ID":
        return None
    torch_order = [item for item in case.devices if item.torch_index is not None]
    swapped = [item for item in torch_order if item.torch_index != item.driver_index]
    if swapped and any(item.driver_index is not None for item in swapped):
        index = case.devices.index(swapped[0])
        return Diagnosis(
            weight=85, evidence=case.at(f"/facts/devices/{index}/torch_index"), severity="note"
        )
    if told := _answer_differs(case):
        return Diagnosis(weight=72, hits=told, severity="degrading")
    words = case.says(
        "device_order",
        "device order",
        "wrong gpu",
        "different gpu",
        "other gpu is used",
        "order of gpus",
        "gpu order",
        "order differs",
        "fastest_first",
        "pci_bus_id",
        "gpu ids",
        "numbering",
        "wrong device",
        "does not match nvidia-smi",
        "reversed order",
    )
    hits = case.hits("device_order_told")
    if hits and not case.works:
        return Diagnosis(weight=76, hits=hits, severity="degrading")
    mixed = len({item.name for item in case.devices if item.name}) > 1
    if words and mixed and not case.works:
        return Diagnosis(weight=58, evidence=case.at("/facts/devices"), severity="degrading")
    return None


def _answer_differs(case: Case) -> tuple[Hit, ...]:
    """Torch's name of a device where the driver lists another model under that index."""
    listed = {item.driver_index: item.name for item in case.devices if item.name}
    mask = (case.env("CUDA_VISIBLE_DEVICES") or " ").split(" ")[0]
    if mask and not re.fullmatch(r"\d+(?:,\d+)*", mask):
        return ()
    shown = dict(enumerate(map(int, mask.split(",")))) if mask else {}
    found = []
    for hit in case.hits("device_name_answer", "device_number_and_name"):
        number, text = [part for part in hit.groups if part][:2]
        name, index = text.strip(), int(number)
        expected = listed.get(shown.get(index, index), name)
        if name in listed.values() and expected != name:
            found.append(hit)
    return tuple(found)


RULES: tuple[Rule, ...] = (
    Rule(
        code="initialised-before-fork",
        severity="blocking",
        who="renter",
        source="torch multiprocessing notes, CUDA in multiprocessing; CUDA programming guide",
        find=initialised_before_fork,
    ),
    Rule(
        code="visible-devices-uuid-unsupported",
        severity="blocking",
        who="renter",
        source="CUDA programming guide, CUDA_VISIBLE_DEVICES; vllm platforms/interface.py",
        find=visible_devices_uuid_unsupported,
        explains=("nvml-torch-count-differs",),
    ),
    Rule(
        code="visible-devices-wrong-index",
        severity="blocking",
        who="renter",
        source="CUDA programming guide, CUDA_VISIBLE_DEVICES: the first bad index cuts the list",
        find=visible_devices_wrong_index,
        explains=("nvml-torch-count-differs",),
    ),
    Rule(
        code="device-order-differs",
        severity="degrading",
        who="renter",
        source="CUDA programming guide, CUDA_DEVICE_ORDER: FASTEST_FIRST is the default",
        find=device_order_differs,
    ),
)
