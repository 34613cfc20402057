"""What does NVML say about the driver and about each NVIDIA device or MIG instance?

Runs in a child with the agent's interpreter. Every call is announced before it is made, so that
a crash or a hang names the call and the device, and every call may fail by itself: its word
becomes a gap of the fields that it would have filled.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from .nvml_fields import (
    BYTES,
    CELSIUS,
    FABRIC_HEALTH,
    FABRIC_STATE,
    FIELD_MEMORY_TEMPERATURE,
    FIELD_RECOVERY_ACTION,
    IDENTITY,
    INSTANCE_ROWS,
    LICENSE,
    ON_OFF,
    RECOVERY,
    ROWS,
    ImplausibleError,
    among,
    call_result,
    calls_of_part,
    named,
    part_of,
    pci_address,
    text,
    word,
)
from .nvml_peers import read_peers
from .processes import sort_processes
from .report import Report, believed

LIBRARY = "libnvidia-ml.so.1"
FINE_STEPS = 32  # more devices than this are announced once each, not once a call
PEER_LIMIT = 16  # more devices than this have no table of peers: it grows with their square
NOT_SUPPORTED, NOT_FOUND, FUNCTION_NOT_FOUND, LOST, RESET = 3, 6, 13, 15, 16
TRY_NEXT = (FUNCTION_NOT_FOUND, 25, 26)  # not there, struct version unknown, deprecated


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage data: ``answer`` (ok, absent, refused), ``call``, versions, and one
    ``device:<n>`` for each device with ``fields``, ``gaps``, ``error``, ``links``, ``peers``."""
    sys.path.extend(options.get("python_paths", ()))
    report.step("load " + LIBRARY)
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        return not_loaded(report, "load " + LIBRARY, error)
    if hasattr(library, "firstlight_stand_in"):
        report.write({"record": "simulated"})
    report.step("import pynvml")
    try:
        import pynvml as nvml
    except ImportError as error:  # the agent lacks it; that says nothing about the driver
        said = {"call": "import pynvml", "code": None, "name": "ImportError", "text": str(error)}
        return report.result("skipped", "not-installed", answer="unknown", call=said)

    report.step("nvmlInit")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        report.data(answer="refused", call=call_result(nvml, "nvmlInit", error))
        return report.result("failed", "refused", named(nvml, error))
    call = {"call": "nvmlInit", "code": 0, "name": "NVML_SUCCESS", "text": "Success"}
    report.data(answer="ok", call=call, system=read_system(nvml, report))
    count = read_devices(nvml, report, options.get("proc", "/proc"))
    return report.result("passed", count=count)


def not_loaded(report: Report, call: str, error: Any) -> None:
    """The answer where the library cannot be loaded: absent if there is no such file."""
    said = {"call": call, "code": None, "name": type(error).__name__, "text": str(error)}
    if "No such file" in str(error) and LIBRARY in str(error).split(":")[0]:
        return report.result("passed", answer="absent", call=said)
    return report.result("failed", "does-not-load", error, answer="refused", call=said)


def read_system(nvml: Any, report: Report) -> dict[str, Any]:
    """Versions of the driver and of the library, and the CUDA version that they carry."""
    found: dict[str, Any] = {}
    for name, call in (
        ("driver_version", "nvmlSystemGetDriverVersion"),
        ("nvml_version", "nvmlSystemGetNVMLVersion"),
        ("cuda_version", "nvmlSystemGetCudaDriverVersion"),
    ):
        report.step(call)
        try:
            answer = getattr(nvml, call)()
            found[name] = answer if isinstance(answer, int) else text(answer)
        except (nvml.NVMLError, ImplausibleError, AttributeError) as error:
            found.setdefault("gaps", []).append([name, word(error), call])
    return found


def read_devices(nvml: Any, report: Report, proc: str) -> int | None:
    """Reports every device, and its MIG instances in its place; returns NVML's count."""
    report.step("nvmlDeviceGetCount")
    try:
        count: int = nvml.nvmlDeviceGetCount()
    except nvml.NVMLError as error:
        report.data(count_error=call_result(nvml, "nvmlDeviceGetCount", error))
        return None
    handles = {}
    for index in range(believed(report, count, "nvmlDeviceGetCount")):
        step = announcer(report, index, fine=count <= FINE_STEPS)
        device = Reading(nvml, step)
        handle = device.handle(index)
        if handle is not None:
            handles[index] = handle
            device.identify(handle)
            device.details(handle, proc)
        report.data(**{"device:%d" % index: device.record(index)})
    if 1 < len(handles) <= PEER_LIMIT:
        read_peers(nvml, report, handles)
    elif len(handles) > PEER_LIMIT:
        report.data(peers_left_out="%d devices, the table ends at %d" % (count, PEER_LIMIT))
    return count


def announcer(report: Report, index: int, fine: bool) -> Any:
    """A function that announces calls on this device; one announcement where it must be few.

    Calls that belong together are announced together: each record costs its reader more than
    the call costs. The traceback of a child that dies names the one among them.
    """
    if fine:
        return lambda *calls: report.step("GPU %d: %s" % (index, ", ".join(calls)))
    report.step("GPU %d" % index)
    return lambda *calls: None


class Reading:
    """What was read of one device so far: fields by dotted name, gaps, and its last word."""

    def __init__(self, nvml: Any, step: Any) -> None:
        self.nvml = nvml
        self.step = step
        self.fields: dict[str, Any] = {}
        self.gaps: list[Any] = []  # [field, why, said by]
        self.error: str | None = None  # the word of a device that does not answer
        self.lost = False
        self.links: list[Any] = []
        self.instances: list[Any] = []

    def record(self, index: int) -> dict[str, Any]:
        """What travels to the agent."""
        return {
            "index": index,
            "fields": self.fields,
            "gaps": self.gaps,
            "error": self.error,
            "links": self.links,
            "instances": self.instances,
        }

    def handle(self, index: int) -> Any:
        """The device's handle, or None if it cannot be had."""
        return self.ask((), "nvmlDeviceGetHandleByIndex", index)

    def identify(self, handle: Any) -> None:
        """Reads what names the device, before anything that may lose it."""
        self.rows(handle, IDENTITY)

    def details(self, handle: Any, proc: str) -> None:
        """Reads everything else."""
        self.memory(handle)
        self.rows(handle, ROWS)
        self.field_values(handle)
        self.fabric(handle)
        if self.fields.get("virtualization") == "vgpu":
            self.license(handle)
        self.nvlinks(handle)
        self.processes(handle, proc)
        self.partition(handle, proc)

    def ask(self, fields: Any, calls: Any, *arguments: Any) -> Any:
        """The answer of a call, announced before it is made; None with gaps for the fields."""
        if not self.lost:
            self.step(calls if isinstance(calls, str) else calls[0])
        return self.answer(fields, calls, *arguments)

    def answer(self, fields: Any, calls: Any, *arguments: Any) -> Any:
        """The answer of the first spelling that the driver knows, or None with a gap a field."""
        error = None
        for call in (calls,) if isinstance(calls, str) else calls:
            if self.lost:
                return None
            try:
                return getattr(self.nvml, call)(*arguments)
            except AttributeError as missing:
                error = missing
            except self.nvml.NVMLError as refused:
                error = refused
                if refused.value not in TRY_NEXT:
                    break
        self.failed(fields, call, error)
        return None

    def failed(self, fields: Any, call: str, error: Any) -> None:
        """Keeps the word of a call that failed; a lost device is asked nothing more."""
        code = getattr(error, "value", None)
        said = "%s has no %s" % (self.nvml.__name__, call) if code is None else word(error)
        self.gaps.extend([field, said, call] for field in fields)
        if code in (LOST, RESET) or (not fields and code is not None):
            self.error = self.error or said
            self.lost = self.lost or code == LOST or not fields

    def rows(self, handle: Any, rows: Any) -> None:
        """Fills the fields of a table, announced by their parts: power, clocks, ..."""
        announced = None
        for place, (fields, calls, arguments, read) in enumerate(rows):
            part = part_of(fields)
            if part != announced and not self.lost:
                announced = part
                self.step(*calls_of_part(rows[place:], part))
            answer = self.answer(fields, calls, handle, *arguments)
            if answer is not None:
                self.fill(fields, calls if isinstance(calls, str) else calls[0], read, answer)

    def fill(self, fields: Any, call: str, read: Any, answer: Any) -> None:
        """Sets the fields from an answer; what cannot be is a gap with the library's value."""
        try:
            values = read(answer)
        except (ImplausibleError, ValueError, TypeError) as error:
            self.gaps.extend([field, str(error), call] for field in fields)
            return
        self.fields.update(zip(fields, values if len(fields) > 1 else [values]))

    def memory(self, handle: Any) -> None:
        """Total, used and reserved; older drivers count what is reserved as used."""
        names = ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes")
        call = "nvmlDeviceGetMemoryInfo"
        info = None
        version = getattr(self.nvml, "nvmlMemory_v2", None)
        if version is not None and not self.lost:
            self.step(call + "_v2")
            try:
                info = self.nvml.nvmlDeviceGetMemoryInfo(handle, version)
            except self.nvml.NVMLError as error:
                if error.value not in TRY_NEXT:
                    self.failed(names, call + "_v2", error)
                    return
        if info is None:
            info = self.ask(names, call, handle)
        if info is None:
            return
        for name, part in zip(names, ("total", "used", "reserved")):
            if hasattr(info, part):
                self.fill((name,), call, BYTES, getattr(info, part))
            else:
                self.gaps.append([name, "this driver counts it as used", call])

    def field_values(self, handle: Any) -> None:
        """Reads what only the table of numbered fields has."""
        wanted = (
            (FIELD_MEMORY_TEMPERATURE, "temperature.memory_celsius", CELSIUS),
            (FIELD_RECOVERY_ACTION, "recovery_action", among(RECOVERY)),
        )
        fields = [field for _, field, _ in wanted]
        values = self.ask(
            fields, "nvmlDeviceGetFieldValues", handle, [number for number, _, _ in wanted]
        )
        for value, (_, field, read) in zip(values or (), wanted):
            if value.nvmlReturn:
                said = word(self.nvml.NVMLError(value.nvmlReturn))
                self.gaps.append([field, said, "nvmlDeviceGetFieldValues"])
            else:
                self.fill((field,), "nvmlDeviceGetFieldValues", read, value.value.uiVal)

    def fabric(self, handle: Any) -> None:
        """Reads the registration with the NVSwitch fabric; the summary came with version 3."""
        call = "nvmlDeviceGetGpuFabricInfoV"
        for kind in ("c_nvmlGpuFabricInfo_v3_t", "c_nvmlGpuFabricInfoV_t"):
            if not hasattr(self.nvml, kind) or self.lost:
                continue
            info = getattr(self.nvml, kind)()
            self.step(call)
            try:
                getattr(self.nvml, call)(handle, ctypes.byref(info))
            except self.nvml.NVMLError as error:
                if error.value in TRY_NEXT and kind.endswith("v3_t"):
                    continue
                self.failed(["fabric.state"], call, error)
                return
            self.fill(("fabric.state",), call, among(FABRIC_STATE), info.state)
            if self.fields.get("fabric.state") == "completed":
                self.fields["fabric.status"] = (
                    word(self.nvml.NVMLError(info.status)) if info.status else "Success"
                )
            summary = getattr(info, "healthSummary", 0)
            if summary:
                self.fill(("fabric.health",), call, among(FABRIC_HEALTH), summary)
            return

    def license(self, handle: Any) -> None:
        """Reads the licence of a virtual GPU."""
        call = "nvmlDeviceGetGridLicensableFeatures"
        found = self.ask(["license_state"], call, handle)
        if found is None:
            return
        features = found.gridLicensableFeatures[: found.licensableFeaturesCount]
        states = [feature.featureState for feature in features]
        self.fill(("license_state",), call, lambda s: among(LICENSE)(max(s, default=0)), states)

    def nvlinks(self, handle: Any) -> None:
        """Reads every NVLink: state, what is at the other end, the sum of its error counters."""
        for link in range(getattr(self.nvml, "NVML_NVLINK_MAX_LINKS", 18)):
            if self.lost:
                return
            try:
                if link == 0:
                    self.step("nvmlDeviceGetNvLinkState")
                active = self.nvml.nvmlDeviceGetNvLinkState(handle, link)
            except self.nvml.NVMLError as error:
                if link == 0 or error.value == LOST:
                    self.failed(["links"], "nvmlDeviceGetNvLinkState", error)
                return
            entry = {"index": link, "state": "active" if active else "inactive"}
            if active:
                entry.update(self.far_end(handle, link))
            self.links.append(entry)

    def far_end(self, handle: Any, link: int) -> dict[str, Any]:
        """The peer and the errors of an active link, as far as the library tells."""
        found = {}
        try:
            found["peer"] = pci_address(self.nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link))
        except (self.nvml.NVMLError, ImplausibleError, ValueError):
            pass  # a link to a switch may have no address; the link itself is reported
        total = None
        for kind in range(4):  # replay, recovery, CRC of flits, CRC of data
            try:
                total = (total or 0) + self.nvml.nvmlDeviceGetNvLinkErrorCounter(handle, link, kind)
            except self.nvml.NVMLError as error:
                said = [field for field, _, _ in self.gaps]
                if "links.error_count" not in said:
                    self.failed(["links.error_count"], "nvmlDeviceGetNvLinkErrorCounter", error)
        if total is not None:
            found["error_count"] = str(total)
        return found

    def processes(self, handle: Any, proc: str) -> None:
        """Own processes by name; those of others, and those not visible here, as a sum."""
        found = {}
        for kind in ("Compute", "Graphics"):
            call = "nvmlDeviceGet%sRunningProcesses" % kind
            calls = (call, call + "_v2")  # drivers before 510 have only the second
            fields = ["processes"] if kind == "Compute" else ["processes.graphics"]
            listed = self.ask(fields, calls, handle)
            if listed is None:
                continue
            for entry in listed:
                found[entry.pid] = entry.usedGpuMemory
            self.fields["processes"] = sort_processes(found, proc)

    def partition(self, handle: Any, proc: str) -> None:
        """Reads the MIG mode, and the instances as devices of their own."""
        self.rows(
            handle, ((("partition.mig_mode",), "nvmlDeviceGetMigMode", (), lambda a: ON_OFF(a[0])),)
        )
        if self.fields.get("partition.mig_mode") != "enabled":
            return
        limit = self.ask(["partition.mig_instances"], "nvmlDeviceGetMaxMigDeviceCount", handle)
        for number in range(min(limit or 0, 64)):
            self.step("nvmlDeviceGetMigDeviceHandleByIndex")
            try:
                inner = self.nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
            except self.nvml.NVMLError as error:
                if error.value not in (NOT_FOUND, 2):
                    self.failed(
                        ["partition.mig_instances"], "nvmlDeviceGetMigDeviceHandleByIndex", error
                    )
                continue
            instance = Reading(self.nvml, lambda *calls: self.step("MIG", *calls))
            instance.rows(inner, (IDENTITY[0], IDENTITY[2], *INSTANCE_ROWS))
            instance.memory(inner)
            instance.processes(inner, proc)
            self.instances.append(instance.record(number))
        if limit is not None:
            self.fields["partition.mig_instances"] = len(self.instances)
