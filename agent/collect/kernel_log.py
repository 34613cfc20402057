"""What the kernel log says about GPUs, memory and the buses between, where it may be read."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..model import Gap, KernelEvent, KernelLog
from .pci import normalise_address
from .tree import Tree, plain, reason

POINTER = "/facts/kernel_log"
# In a recorded tree only: on a living machine these hold earlier boots, or the image's build.
FILES = ("/var/log/dmesg", "/var/log/kern.log", "/var/log/syslog", "/var/log/messages")
READ_SECONDS = 0.5
LARGEST_RECORD = 8192  # of /dev/kmsg; a smaller buffer gives EINVAL
LARGEST_LOG = 16 << 20
MOST_EVENTS = 200
LONGEST_TEXT = 400


@dataclass(frozen=True, slots=True)
class Record:
    """One message of the kernel, its own lines joined, and the seconds since boot if printed."""

    text: str
    at_seconds: float | None = None


def read_kernel_log(tree: Tree) -> tuple[KernelLog, tuple[Gap, ...]]:
    """The events in the kernel log; ``readable`` is False, with a gap, where it is closed.

    From /dev/kmsg. Records that a program wrote there (facility other than the kernel's) are
    left out, since anybody with root in a container can forge an Xid.
    """
    gaps: list[Gap] = []
    try:
        records = list(_live_records(gaps)) if tree.live else _recorded(tree)
    except OSError as error:
        why = f"the kernel log cannot be read here: {reason(error)}"
        return KernelLog(readable=False), (Gap(pointer=POINTER, why=why, said_by="/dev/kmsg"),)
    events, more = events_of(records)
    if more:
        why = f"{more} further kinds of lines are left out"
        gaps.append(Gap(pointer=f"{POINTER}/events", why=why, said_by="kernel_log"))
    if any(event.at_seconds is None for event in events):
        why = "at_seconds: this log prints no time since boot"
        gaps.append(Gap(pointer=f"{POINTER}/events", why=why, said_by="kernel_log"))
    return KernelLog(readable=True, events=events), tuple(gaps)


def events_of(records: list[Record]) -> tuple[tuple[KernelEvent, ...], int]:
    """The records that concern GPUs, equal ones once with their count; and how many did not fit.

    Two records are equal when they differ in numbers only, not in kind, code or device.
    """
    found: dict[tuple[object, ...], KernelEvent] = {}
    more = 0
    for record in records:
        event = event_of(record)
        if event is None:
            continue
        key = _likeness(event)
        if key in found:
            found[key] = replace(found[key], count=found[key].count + 1)
        elif len(found) < MOST_EVENTS:
            found[key] = event
        else:
            more += 1
    return tuple(found.values()), more


def newer_events(before: KernelLog, after: KernelLog) -> tuple[KernelEvent, ...]:
    """What came between two readings of the same log, each with the count that came anew.

    Equal lines are one event, so an event of ``after`` that was there before has a higher
    count, not another text.
    """
    known = {_likeness(event): event.count for event in before.events}
    newer = []
    for event in after.events:
        count = event.count - known.get(_likeness(event), 0)
        if count > 0:
            newer.append(replace(event, count=count))
    return tuple(newer)


def _likeness(event: KernelEvent) -> tuple[object, ...]:
    shape = re.sub(r"0x[0-9a-f]+|\d+", "#", event.text)
    return (event.kind, event.code, event.pci_address, shape)


def event_of(record: Record) -> KernelEvent | None:
    """What one record is, by its words; None for what concerns no GPU.

    Names of processes are left out of the text: the log holds those of other users too. So
    are board serial numbers.
    """
    text = record.text
    if not _WORTH_A_LOOK.search(text):
        return None
    kind = next((kind for kind, matches in KINDS if matches(text)), None)
    if kind is None:
        return None
    code = _CODE.search(text) if kind in ("xid", "sxid") else None
    place = _ADDRESS.search(text)
    return KernelEvent(
        kind=kind,
        text=plain(nameless(text))[:LONGEST_TEXT],
        code=int(code[1]) if code else None,
        pci_address=normalise_address(place[1]) if place else None,
        at_seconds=record.at_seconds,
    )


def nameless(text: str) -> str:
    """A kernel message without the names of the processes it speaks of; their ids stay."""
    for pattern, replacement in NAMES:
        text = pattern.sub(replacement, text)
    return text


# ------------------------------------------------------------------------- which lines matter
_CODE = re.compile(r"S?Xid \(PCI:[^)]*\): (\d+)")
_ADDRESS = re.compile(r"\b((?:PCI:)?[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?)\b", re.I)
_XID = re.compile(r"NVRM: Xid \(PCI:")
_SXID = re.compile(r"nvidia-nvswitch\d*: SXid \(PCI:")
_AMD = re.compile(r"(?:\[drm.*\[amdgpu\]\]|amdgpu[ :]|\[drm\] UVD)")
_KFD = re.compile(r"kfd[ :]")
_TROUBLE = re.compile(
    r"error|fail|timeout|timed out|reset|lost|fault|poison|unrecoverable|skipped|not supported"
    r"|unsupported|refus|invalid|hang|hung|mismatch|bad page|retire|atomics|no longer",
    re.IGNORECASE,
)
_NVIDIA = re.compile(r"NVRM: |nvidia-(?:peermem|modeset|nvlink|nvswitch)|nvidia [0-9a-f]{4}:", re.I)
# What the drivers say on a healthy machine, and the tables and serials inside their reports.
_NVIDIA_QUIET = re.compile(
    r"NVRM: (?:loading|Module unloaded|\s|GPU at PCI|GPU Board Serial|nvidia_init_module"
    r"|GPU\d+ RPC (?:event )?history|GPU\d+ GSP RPC buffer)"
    r"|SXid \(|open \(major=|egistered Nvlink Core|Loading|Unloading|Core is being"
    r"|enabling device|vgaarb|runtime power|module license|module verification|taint"
    r"|Using \w+ \d-bit DMA",
)
_OOM = re.compile(r"Out of memory|out of memory: Kill|oom-kill:|invoked oom-killer", re.I)
_AER = re.compile(
    r"AER: (?!enabled)|PCIe Bus Error|aer_layer=|section_type: PCIe error|DPC: containment", re.I
)
_MCE = re.compile(
    r"mce: \[Hardware Error\]|Machine [Cc]heck|EDAC .*\b[CU]E\b|event severity: (?!corrected)"
)
_SEGFAULT = re.compile(
    r"(?:segfault|general protection(?: fault)?).* in (?:lib\S*)?"
    r"(?:nccl|cuda|cudnn|cublas|torch|c10|nvidia|nvrtc|hip|hsa|rocm|rccl|roc|amd|miopen|triton)",
)
_LOCKDOWN = re.compile(
    r"Lockdown: .*(?:module|restricted)|module .*is rejected|[Kk]ey was rejected by service"
    r"|Loading of (?:unsigned )?module",
)
_PCI = re.compile(
    r"limited by .* PCIe .*link|BAR \d+.*: (?:no space|failed to assign|can't assign)"
)

# A word of each kind: a log may hold ten thousands of lines, and most have none of these.
_WORTH_A_LOOK = re.compile(
    r"NVRM|nvidia|amdgpu|\[drm\]|kfd|[Oo]ut of memory|oom-kill|AER|PCIe|aer_layer|DPC|mce:"
    r"|achine [Cc]heck|EDAC|event severity|segfault|general protection|ockdown|rejected|odule |BAR "
)

KINDS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("xid", _XID.search),
    ("sxid", lambda text: _SXID.search(text) and not re.search(r"Data \{|Severity \d", text)),
    ("kfd", lambda text: _KFD.match(text) and _TROUBLE.search(text)),
    ("amdgpu", lambda text: _AMD.search(text) and _TROUBLE.search(text)),
    ("nvidia-uvm", lambda text: "nvidia-uvm:" in text and "oaded the UVM" not in text),
    ("nvrm", lambda text: _NVIDIA.search(text) and not _NVIDIA_QUIET.search(text)),
    ("oom", _OOM.search),
    ("segfault", _SEGFAULT.search),
    ("aer", _AER.search),
    ("mce", _MCE.search),
    ("lockdown", _LOCKDOWN.search),
    ("pci", _PCI.search),
)

NAMES = (
    (re.compile(r", name=.*?(?=, |$)"), ""),  # NVRM: Xid …, pid=7, name=python3, Ch …
    (re.compile(r"the client '.*?' \(pid"), "the client (pid"),
    (re.compile(r"(Kill(?:ed)? process \d+)(?:,? ?UID \d+,?)? \(.*?\)(?=[ ,.]|$)"), r"\1"),
    (re.compile(r",task=.*?,pid="), ",pid="),
    (re.compile(r"^.{1,16} (?=invoked oom-killer)"), "a process "),
    (re.compile(r"^(?:traps: )?.{1,16}\[(\d+)\]:? (?=segfault|general protection)"), r"pid \1: "),
    (re.compile(r"(Process|process) .{0,16}? pid (\d+) thread .{0,16}? pid (\d+)"), r"\1 pid \2"),
)


# ------------------------------------------------------------------------- how a log is written
_KMSG = re.compile(r"(\d+),\d+,(\d+),[^;]*;(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")
# The prefixes of dmesg, journalctl, rsyslog and pstore, any of which may be there.
_PREFIXES = re.compile(
    r"^(?:<\d+>)?"
    r"(?:kern  ?:\w+ *: ?)?"
    r"(?:\d{4}-\d\d-\d\dT[\d:.,+Z-]+ (?:\S+ (?=kernel: ))?)?"
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ )?"
    r"(?:kernel: )?"
    r"(?:\[ *(?P<seconds>\d+\.\d+)\] ?)?"
    r"(?:\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}\] ?)?"
    r"(?:\[ *[TC]\d+\] ?)?"
    r"(?:\{\d+\})?"
)
_SYSLOG = re.compile(r"^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ (\S+?:)")


def records_of_kmsg(text: str) -> list[Record]:
    """The kernel's own records in what /dev/kmsg gave; a line that starts with a blank belongs
    to the record above it and holds a driver's keys, which are left out.
    """
    records = []
    for line in text.split("\n"):
        found = _KMSG.match(line)
        if found and int(found[1]) >> 3 == 0:
            message = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), found[3])
            message = _PREFIXES.sub("", _joined(message))
            records.append(Record(message, int(found[2]) / 1e6))
    return records


def records_of_text(text: str) -> list[Record]:
    """The records in the print of dmesg or journalctl or in a syslog file.

    A line without a time of its own that is indented continues the record before it. In a
    syslog file the lines of other programs are left out.
    """
    records: list[Record] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and records:
            last = records[-1]
            records[-1] = replace(last, text=_joined(f"{last.text}\n{line.strip()}"))
            continue
        program = _SYSLOG.match(line)
        if program and program[1] != "kernel:":
            continue
        prefix = _PREFIXES.match(line)
        rest = line[prefix.end() :] if prefix else line
        seconds = float(prefix["seconds"]) if prefix and prefix["seconds"] else None
        records.append(Record(_joined(rest.replace("#012", "\n")), seconds))
    return records


def _joined(text: str) -> str:
    """A message of several lines as one; NVIDIA repeats its tag on each."""
    return re.sub(r"\s*\n\s*(?:NVRM: )?", " ", text.strip("\n"))


def _live_records(gaps: list[Gap]) -> Iterator[Record]:
    descriptor = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    deadline = time.monotonic() + READ_SECONDS
    try:
        while True:
            try:
                chunk = os.read(descriptor, LARGEST_RECORD)
            except BrokenPipeError:  # the record was overwritten while we read: go on with the next
                continue
            except BlockingIOError:  # the end of the log
                return
            if not chunk:
                return
            text = chunk.decode("utf-8", "replace")
            if _WORTH_A_LOOK.search(text):
                yield from records_of_kmsg(text)
            if time.monotonic() > deadline:
                why = f"the log is longer than {READ_SECONDS:g} s of reading; its end is left out"
                gaps.append(Gap(pointer=f"{POINTER}/events", why=why, said_by="/dev/kmsg"))
                return
    finally:
        os.close(descriptor)


def _recorded(tree: Tree) -> list[Record]:
    try:
        return records_of_kmsg(tree.text("/dev/kmsg", LARGEST_LOG))
    except OSError as error:
        refusal = error
    for path in FILES:
        with contextlib.suppress(OSError):
            return records_of_text(tree.text(path, LARGEST_LOG))
    raise refusal
