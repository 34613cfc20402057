"""All that a run observed: what the rules judge."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.model.devices import Device, Drivers
from agent.model.host import Container, Host, KernelLog, Library, Limits
from agent.model.software import EnvironmentVariable, Interpreter, Package, Toolkits
from agent.model.stages import Gap, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything known about the machine apart from what the probes did."""

    host: Host = field(default_factory=Host)
    limits: Limits = field(default_factory=Limits)
    container: Container = field(default_factory=Container)
    kernel_log: KernelLog = field(default_factory=KernelLog)
    libraries: tuple[Library, ...] = ()
    devices: tuple[Device, ...] = ()
    drivers: Drivers = field(default_factory=Drivers)
    interpreters: tuple[Interpreter, ...] = ()
    packages: tuple[Package, ...] = ()
    toolkits: Toolkits = field(default_factory=Toolkits)
    environment: tuple[EnvironmentVariable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that a program printed, with the place where the reader can see it again."""

    text: str
    pointer: str  # a JSON pointer into the bundle, or "line 12" of a pasted text


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderItem:
    """One promised property of the machine against what was found."""

    item: str
    ordered: str
    found: str | None = None
    result: str = "unknown"  # met, missed, unknown
    tolerance: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """All that the rules may look at: redacted facts, stages, gaps, and printed lines.

    ``lines`` are derived from the stages and the kernel log of a bundle, or are the lines of a
    pasted text; they are not stored. ``place`` is where the remedy must be typed.
    """

    facts: Facts = field(default_factory=Facts)
    stages: tuple[Stage, ...] = ()
    gaps: tuple[Gap, ...] = ()
    order: tuple[OrderItem, ...] = ()
    lines: tuple[Line, ...] = ()
    backend: str | None = None  # the back end climbed: cuda, rocm, cpu
    backend_asked: str = "auto"
    from_text: bool = False
