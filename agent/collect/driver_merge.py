"""Which device of one library is which of another: by UUID or PCI address, never by index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..model import Device, Facts, Json, Vendor
from .device_records import Reported, device_records
from .pci import normalise_address


def api_devices(data: Mapping[str, Json]) -> list[dict[str, Json]]:
    """The devices of a child of the driver API, their values checked."""
    found = []
    for record in device_records(data):
        checked: dict[str, Json] = {"index": record["index"]}
        for name, kind in (
            ("name", str),
            ("uuid", str),
            ("pci_address", str),
            ("multiprocessor_count", int),
            ("integrated", int),
            ("major", int),
            ("minor", int),
            ("memory_bytes", int),
            ("copy", dict),
            ("refused", dict),
        ):
            value = record.get(name)
            if isinstance(value, kind):
                checked[name] = value[:200] if isinstance(value, str) else value
        checked["pci_address"] = _address(checked.get("pci_address"))
        found.append(checked)
    return found


def merge_api(
    listed: Sequence[Reported], calls: Sequence[Mapping[str, Json]], vendor: Vendor
) -> list[Reported]:
    """The devices with what only the driver API knows: unified memory, multiprocessors."""
    left = list(calls)
    done = []
    for entry in listed:
        call = _take(left, entry.device, vendor)
        done.append(entry if call is None else _filled(entry, call, vendor))
    return done


def left_over(
    listed: Sequence[Reported], calls: Sequence[Mapping[str, Json]], vendor: Vendor
) -> list[Mapping[str, Json]]:
    """The API's devices that the management library did not come to list before it died."""
    left = list(calls)
    for entry in listed:
        _take(left, entry.device, vendor)
    return left


def _take(
    left: list[Mapping[str, Json]], device: Device, vendor: Vendor
) -> Mapping[str, Json] | None:
    """The API's record of a device, taken off the list; partitions of a card stand in order."""
    for call in left:
        named = vendor == "nvidia" and _same_uuid(call.get("uuid"), device.uuid)
        slice_of_card = device.partition is not None and device.partition.parent_uuid is not None
        placed = device.pci_address is not None and call.get("pci_address") == device.pci_address
        # A MIG instance shares its card's address, so only its UUID names it.
        if named or (placed and not slice_of_card):
            left.remove(call)
            return call
    return None


def _same_uuid(one: Json, other: str | None) -> bool:
    """Whether two UUIDs are the same; CUDA gives the bytes, so "GPU-" and "MIG-" are dropped."""
    if not isinstance(one, str) or other is None:
        return False
    return one.partition("-")[2].lower() == other.partition("-")[2].lower()


def _filled(entry: Reported, call: Mapping[str, Json], vendor: Vendor) -> Reported:
    device = entry.device
    architecture = device.architecture
    if architecture is None and vendor == "nvidia" and "major" in call and "minor" in call:
        architecture = f"{call['major']}.{call['minor']}"
    error = device.error
    differing = (call.get("copy") or {}).get("differing")
    if error is None and differing:
        error = f"a copy to the device and back changed {differing} bytes"
    refused = call.get("refused")
    if error is None and refused:
        error = f"{refused.get('call')} returned {refused.get('code')}: {refused.get('text')}"
    integrated = call.get("integrated")
    device = replace(
        device,
        architecture=architecture,
        integrated=bool(integrated) if integrated is not None else device.integrated,
        multiprocessor_count=device.multiprocessor_count or call.get("multiprocessor_count"),
        memory_total_bytes=device.memory_total_bytes or call.get("memory_bytes"),
        error=error,
    )
    known = [name for name in _FILLED if getattr(device, name) is not None]
    return replace(
        entry, device=device, gaps=tuple(gap for gap in entry.gaps if gap[0] not in known)
    )


_FILLED = ("architecture", "multiprocessor_count", "memory_total_bytes")


def name_the_lost(found: list[Reported], facts: Facts) -> list[Reported]:
    """A device that does not even tell its address gets the one that is left over.

    Only if there is exactly one of each: on the bus, or in a container, whose bus shows all
    cards of the host, in the kernel driver's list.
    """
    taken = {entry.device.pci_address for entry in found}
    bare = facts.container.kind == "none"
    listed = facts.host.pci if bare else facts.host.kernel_gpus
    for vendor in ("nvidia", "amd"):
        nameless = [
            place
            for place, entry in enumerate(found)
            if entry.device.vendor == vendor and entry.device.pci_address is None
        ]
        over = [
            entry.address
            for entry in listed
            if entry.vendor == vendor and entry.address not in taken
        ]
        if len(nameless) == len(over) == 1:
            place = nameless[0]
            device = found[place].device
            device = replace(device, pci_address=over[0], id=device.uuid or over[0])
            found = [*found[:place], replace(found[place], device=device), *found[place + 1 :]]
    return found


def with_kernel_facts(found: list[Reported], facts: Facts) -> list[Reported]:
    """The devices with what only the kernel driver tells: AMD's target without amdsmi."""
    targets = {gpu.address: gpu.architecture for gpu in facts.host.kernel_gpus}
    done = []
    for entry in found:
        device = entry.device
        target = targets.get(device.pci_address or "")
        if device.architecture is None and target is not None:
            kept = tuple(gap for gap in entry.gaps if gap[0] != "architecture")
            entry = replace(entry, device=replace(device, architecture=target), gaps=kept)
        done.append(entry)
    return done


def _address(value: Json) -> str | None:
    try:
        return normalise_address(value) if isinstance(value, str) else None
    except ValueError:
        return None
