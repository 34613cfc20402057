"""What driver children reported of each device, checked and put into the model's types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, get_type_hints

from ..model import (
    Clocks,
    Device,
    Ecc,
    Fabric,
    Gap,
    GpuProcess,
    GpuProcesses,
    Json,
    Link,
    Partition,
    PcieLink,
    Peer,
    Power,
    Temperature,
    Vendor,
)
from .pci import normalise_address

DEVICE_KEY = re.compile(r"device:(\d+)")
TEXT_LIMIT = 400
MIG_PROFILE = re.compile(r"MIG (\S+)")
PARTS: dict[str, type[Any]] = {
    "pcie": PcieLink,
    "power": Power,
    "clocks": Clocks,
    "temperature": Temperature,
    "ecc": Ecc,
    "partition": Partition,
    "fabric": Fabric,
}
# What a slice of a card has of its own; everything else is read from the card.
OF_THE_SLICE = (
    "uuid",
    "name",
    "memory_total_bytes",
    "memory_used_bytes",
    "memory_reserved_bytes",
    "utilization_percent",
    "multiprocessor_count",
    "processes",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A device as one library reported it, with what that library did not tell."""

    device: Device
    index: int  # in the library's own numbering
    gaps: tuple[tuple[str, str, str], ...] = ()  # field, why, said by
    peers: tuple[Mapping[str, Json], ...] = field(default=())


def device_records(data: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """The device records of a child's data in the library's order."""
    found = []
    for key, record in data.items():
        match = DEVICE_KEY.fullmatch(key)
        if match and isinstance(record, dict):
            found.append((int(match[1]), {**record, "index": int(match[1])}))
    return [record for _, record in sorted(found, key=lambda pair: pair[0])]


def reported_devices(
    data: Mapping[str, Json], vendor: Vendor, *, keep_serials: bool = False
) -> list[Reported]:
    """The devices of a child of NVML or amdsmi; of a card with MIG instances, the instances."""
    found: list[Reported] = []
    for record in device_records(data):
        values = _object(record.get("fields"))
        if not keep_serials:
            values.pop("serial", None)
        instances = [_object(entry) for entry in _list(record.get("instances"))]
        if instances:
            found += [_slice(record, values, entry, vendor) for entry in instances]
        else:
            found.append(_reported(record, values, vendor))
    return _with_peers(found, data)


def _reported(
    record: Mapping[str, Json], values: Mapping[str, Json], vendor: Vendor, **more: Any
) -> Reported:
    index = int(record["index"])
    nested: dict[str, dict[str, Json]] = {name: {} for name in PARTS}
    plain: dict[str, Json] = {}
    for name, value in values.items():
        part, _, inner = name.partition(".")
        if part in nested and inner:
            nested[part][inner] = value
        elif not inner:
            plain[name] = value
    made = {name: _made(PARTS[name], inner) for name, inner in nested.items() if inner}
    kind = "nvlink" if vendor == "nvidia" else "xgmi"
    known = _accepted(Device, plain)
    address = _address(known.pop("pci_address", None))
    device = Device(
        **{**known, **made},
        vendor=vendor,
        id=known.get("uuid") or address or f"{vendor}:{index}",
        pci_address=address,
        driver_index=index,
        error=_text(record.get("error")),
        links=tuple(_links(record.get("links"), kind)),
        processes=_processes(values.get("processes")),
    )
    device = replace(device, partition=_partition(device, **more))
    return Reported(device=device, index=index, gaps=tuple(_told(record.get("gaps"))))


def _slice(
    record: Mapping[str, Json],
    values: Mapping[str, Json],
    instance: Mapping[str, Json],
    vendor: Vendor,
) -> Reported:
    own = _object(instance.get("fields"))
    card = {name: value for name, value in values.items() if name not in OF_THE_SLICE}
    profile = MIG_PROFILE.search(str(own.get("name", "")))
    found = _reported(
        record,
        {**card, **own},
        vendor,
        parent_uuid=_text(values.get("uuid")),
        profile=profile[1] if profile else None,
    )
    kept = [gap for gap in found.gaps if gap[0] not in OF_THE_SLICE]
    return replace(found, gaps=(*kept, *_told(instance.get("gaps"))))


def _partition(device: Device, **more: str | None) -> Partition | None:
    """How the card is cut up, in one word where the parts tell."""
    found = device.partition or Partition()
    kind = "none"
    if more.get("parent_uuid"):
        kind = "mig"
    elif device.virtualization == "vgpu" and device.vendor == "nvidia":
        kind = "vgpu"
    elif found.compute_mode:
        kind = found.compute_mode.lower()
    elif device.partition is None and device.virtualization is None:
        return None
    return replace(
        found, kind=kind, parent_uuid=more.get("parent_uuid"), profile=more.get("profile")
    )


# ---------------------------------------------------------------- checked values
_HINTS: dict[type[Any], dict[str, Any]] = {}


def _hints(kind: type[Any]) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind)
    return _HINTS[kind]


def _accepted(kind: type[Any], values: Mapping[str, Json]) -> dict[str, Any]:
    """The values whose names the type has and whose types are its own; others are dropped."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        hint = str(_hints(kind).get(name, ""))
        if "tuple[str, ...]" in hint and isinstance(value, list):
            found[name] = tuple(str(item)[:TEXT_LIMIT] for item in value[:64])
        elif isinstance(value, bool):
            if "bool" in hint:
                found[name] = value
        elif isinstance(value, int | float):
            if "float" in hint:
                found[name] = float(value)
            elif "int" in hint and isinstance(value, int):
                found[name] = value
        elif isinstance(value, str) and "str" in hint:
            found[name] = value[:TEXT_LIMIT]
    return found


def _made(kind: type[T], values: Mapping[str, Json]) -> T:
    return kind(**_accepted(kind, values))


def _object(value: Json) -> dict[str, Json]:
    return dict(value) if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _text(value: Json) -> str | None:
    return value[:TEXT_LIMIT] if isinstance(value, str) else None


def _number(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _address(value: Json) -> str | None:
    try:
        return normalise_address(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _told(value: Json) -> Iterable[tuple[str, str, str]]:
    for entry in _list(value):
        if isinstance(entry, list) and len(entry) == 3 and all(isinstance(w, str) for w in entry):
            yield entry[0][:80], entry[1][:TEXT_LIMIT], entry[2][:80]


def _links(value: Json, kind: str) -> Iterable[Link]:
    for entry in _list(value)[:64]:
        index = _number(_object(entry).get("index"))
        if index is not None:
            known = _accepted(Link, {**entry, "kind": kind, "index": index})
            yield Link(**known)


def _processes(value: Json) -> GpuProcesses | None:
    found = _object(value)
    if not found:
        return None
    own = []
    for entry in _list(found.get("own"))[:64]:
        pid = _number(_object(entry).get("pid"))
        if pid is not None:
            own.append(GpuProcess(**_accepted(GpuProcess, {**entry, "pid": pid})))
    return GpuProcesses(
        own=tuple(own),
        other_count=_number(found.get("other_count")),
        other_memory_bytes=_number(found.get("other_memory_bytes")),
    )


# ---------------------------------------------------------------- devices among each other
def _with_peers(found: list[Reported], data: Mapping[str, Json]) -> list[Reported]:
    """The devices with their peers; links name the device at their other end where it is one."""
    whole = {entry.index: entry.device for entry in found if not _is_slice(entry.device)}
    by_address = {device.pci_address: device.id for device in whole.values()}
    by_address.pop(None, None)
    table: dict[int, list[Peer]] = {}
    for row in map(_object, _list(data.get("peers"))):
        one, other = _number(row.get("from")), _number(row.get("to"))
        if one is not None and other is not None and one in whole and other in whole:
            table.setdefault(one, []).append(_peer(whole[one], whole[other], row))
    done = []
    for entry in found:
        device = entry.device
        links = tuple(
            replace(link, peer=by_address.get(_address(link.peer), link.peer))
            for link in device.links
        )
        peers = () if _is_slice(device) else tuple(table.get(entry.index, ()))
        done.append(replace(entry, device=replace(device, links=links, peers=peers)))
    return done


def _is_slice(device: Device) -> bool:
    return device.partition is not None and device.partition.parent_uuid is not None


def _peer(one: Device, other: Device, row: Mapping[str, Json]) -> Peer:
    path = _text(row.get("path"))
    if row.get("nvlink") is True:
        active = [link for link in one.links if link.state == "active"]
        direct = [link for link in active if _address(link.peer) == other.pci_address]
        path = f"NV{len(direct or active)}" if active else path  # through a switch: all of them
    return Peer(device=other.id, path=path, access=_text(row.get("access")))


def gaps_of(found: list[Reported]) -> list[Gap]:
    """The gaps of devices, standing in this order in /facts/devices; alike ones become one."""
    alike: dict[tuple[str, str, str], list[int]] = {}
    for place, entry in enumerate(found):
        for told in entry.gaps:
            alike.setdefault(told, []).append(place)
    gaps = []
    for (name, why, said_by), places in alike.items():
        if len(places) == 1:
            part, _, inner = name.partition(".")
            inside = f"{part}/{inner}" if inner and part in PARTS else part
            pointer = f"/facts/devices/{places[0]}/{inside}"
            gaps.append(Gap(pointer=pointer, why=why, said_by=said_by))
            continue
        shown = ", ".join(str(place) for place in places[:8])
        shown += f" and {len(places) - 8} more" if places[8:] else ""
        text = f"{name}: {why} (devices {shown})"
        gaps.append(Gap(pointer="/facts/devices", why=text, said_by=said_by))
    return gaps
