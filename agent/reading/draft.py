"""What the readers gather from one text, and how it becomes facts.

One slot holds one statement. Where a text states a slot twice, the statement with the greater
weight stands (a report about the environment before a tool's print, that before an error
message, that before a mention in passing); among equals the first stands, since a report begins
with the state that failed and goes on with what was tried. A longer spelling of the same version
("2.9.1+cu130" after "2.9.1") completes the first. Whatever was passed over is kept as a gap that
names both lines. Lists (packages, events, nodes) keep every statement in the order of the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agent.model import (
    DeviceNode,
    Disk,
    EnvironmentVariable,
    Gap,
    KernelEvent,
    KernelModule,
    Library,
    Package,
    PciDevice,
    Tool,
    Vendor,
)

MENTION, MESSAGE, TOOL, REPORT = range(4)


class Said(NamedTuple):
    """A value, the line that states it, and how much that kind of statement weighs."""

    value: Any
    line: int
    weight: int


@dataclass
class DeviceDraft:
    """One GPU as far as the text has described it; slots are ``Device`` fields, dotted."""

    vendor: Vendor
    index: int | None = None
    uuid: str | None = None
    pci_address: str | None = None
    slots: dict[str, Said] = field(default_factory=dict)

    def put(self, slot: str, value: Any, line: int, weight: int = TOOL) -> None:
        """State one field of the device."""
        if value is not None and value != "":
            _state(self.slots, slot, value, line, weight)

    def get(self, slot: str) -> Any:
        """Return what was stated of a field, or None."""
        said = self.slots.get(slot)
        return None if said is None else said.value


@dataclass
class Draft:
    """The facts of one text while its readers run.

    ``slots`` are single values by dotted name: host.*, limits.*, container.*, nvidia.*, amd.*,
    torch.*, interpreter.*, toolkits.*, kernel_log.readable, import.is_available.
    """

    slots: dict[str, Said] = field(default_factory=dict)
    passed_over: list[Gap] = field(default_factory=list)
    devices: list[DeviceDraft] = field(default_factory=list)
    packages: list[Package] = field(default_factory=list)
    environment: list[EnvironmentVariable] = field(default_factory=list)
    libraries: list[Library] = field(default_factory=list)
    nodes: list[DeviceNode] = field(default_factory=list)
    modules: list[KernelModule] = field(default_factory=list)
    pci: list[PciDevice] = field(default_factory=list)
    disks: list[Disk] = field(default_factory=list)
    events: list[KernelEvent] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    cuda_toolkits: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)  # of the container
    gaps: list[Gap] = field(default_factory=list)

    def put(self, slot: str, value: Any, line: int, weight: int = TOOL) -> None:
        """State one slot; None and the empty string state nothing."""
        if value is None or value == "":
            return
        before = self.slots.get(slot)
        _state(self.slots, slot, value, line, weight)
        if before is None or max(before.weight, weight) == MENTION or len(self.passed_over) > 50:
            return
        if _differ(before.value, value):
            stands = self.slots[slot].line
            other = line if stands == before.line else before.line
            self.passed_over.append(
                Gap(
                    pointer=f"/facts/{slot.replace('.', '/')}",
                    why=f"the text states {before.value} (line {before.line}) and {value} "
                    f"(line {line}); line {stands} stands, line {other} does not",
                    said_by="reading",
                )
            )

    def get(self, slot: str) -> Any:
        """Return what was stated of a slot, or None."""
        said = self.slots.get(slot)
        return None if said is None else said.value

    def area(self, prefix: str) -> dict[str, Any]:
        """Return the values of all slots below a prefix, by their last name."""
        start = prefix + "."
        return {
            name[len(start) :]: said.value
            for name, said in self.slots.items()
            if name.startswith(start)
        }

    def device(
        self,
        vendor: Vendor,
        *,
        index: int | None = None,
        uuid: str | None = None,
        pci_address: str | None = None,
    ) -> DeviceDraft:
        """Return the device that these identify, made where the text had not named it yet."""
        address = normal_address(pci_address)
        for known in self.devices:
            if known.vendor == vendor and _same(known, index, uuid, address):
                break
        else:
            known = DeviceDraft(vendor)
            self.devices.append(known)
        known.index = index if known.index is None else known.index
        known.uuid = known.uuid or uuid
        known.pci_address = known.pci_address or address
        return known

    def add_package(self, name: str, version: str, origin: str) -> None:
        """Keep a package statement, once for each version, in the order of the text."""
        normal = name.lower().replace("_", "-").replace(".", "-")
        if not any(p.name == normal and p.version == version for p in self.packages):
            self.packages.append(Package(name=normal, version=version, origin=origin))

    def add_variable(self, name: str, value: str) -> None:
        """Keep an environment variable, once for each value."""
        variable = EnvironmentVariable(name=name, value=value[:4096], scope="text")
        if variable not in self.environment:
            self.environment.append(variable)

    def add_library(self, library: Library) -> None:
        """Keep a shared library, once for each path."""
        if library not in self.libraries and len(self.libraries) < 500:
            self.libraries.append(library)

    def add_tool(self, name: str, version: str | None, path: str | None = None) -> None:
        """Keep a build tool; the first statement of its version stands."""
        for tool in self.tools:
            if tool.name == name and (tool.version == version or version is None):
                return
        self.tools.append(Tool(name=name, version=version, path=path))


def _state(slots: dict[str, Said], slot: str, value: Any, line: int, weight: int) -> None:
    before = slots.get(slot)
    if before is None or weight > before.weight:
        if before is not None and _completes(before.value, value):
            value = before.value  # a report that is less exact than the tool it quotes
        slots[slot] = Said(value, line, weight)
    elif _completes(value, before.value):
        slots[slot] = Said(value, before.line, before.weight)


def _completes(longer: Any, shorter: Any) -> bool:
    return (
        isinstance(longer, str)
        and isinstance(shorter, str)
        and len(longer) > len(shorter)
        and longer.startswith(shorter)
        and not longer[len(shorter)].isalnum()
    )


def _differ(before: Any, value: Any) -> bool:
    return bool(before != value) and not _completes(before, value) and not _completes(value, before)


def _same(known: DeviceDraft, index: int | None, uuid: str | None, address: str | None) -> bool:
    if uuid and known.uuid:
        return uuid == known.uuid
    if address and known.pci_address:
        return address == known.pci_address
    return index is not None and known.index == index


def normal_address(address: str | None) -> str | None:
    """Return a PCI address as dddd:bb:dd.f in lower case, or None."""
    if not address:
        return None
    parts = address.lower().split(":")
    if len(parts) == 2:
        parts = ["0000", *parts]
    if len(parts) != 3:
        return None
    if "." not in parts[2]:
        parts[2] += ".0"
    return f"{parts[0][-4:].zfill(4)}:{parts[1].zfill(2)}:{parts[2].zfill(4)}"


def nested(values: Mapping[str, Said], prefix: str) -> dict[str, Any]:
    """Return the values below a dotted prefix of a device's slots, by their last name."""
    start = prefix + "."
    return {
        name[len(start) :]: said.value for name, said in values.items() if name.startswith(start)
    }
