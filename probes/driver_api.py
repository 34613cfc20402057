"""Does the bare driver API work, without torch: CUDA and HIP by ctypes?

Runs in a child with the loader environment of the user's program. For each device: what the API
says of it, a context, and a small allocation written, read back and compared.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .report import Report, believed

CUDA_LIBRARY = "libcuda.so.1"
HIP_LIBRARIES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so")
COPY_BYTES = 1 << 20
# Numbers of cuda.h, the same in every version since CUDA 11.
CUDA_ATTRIBUTES = (
    (16, "multiprocessor_count"),
    (18, "integrated"),
    (20, "compute_mode"),
    (32, "ecc_enabled"),
    (75, "major"),
    (76, "minor"),
    (88, "pageable_memory_access"),
    (100, "pageable_memory_uses_host_tables"),
)
# Numbers of hipDeviceAttribute_t, the same from HIP 4.3 to 7.
HIP_ATTRIBUTES = (
    (63, "multiprocessor_count"),
    (16, "integrated"),
    (6, "compute_mode"),
    (65, "pageable_memory_access"),
)


class RefusedError(Exception):
    """A call of the driver API that did not return success."""

    def __init__(self, said: dict[str, Any]) -> None:
        super(RefusedError, self).__init__(
            "%s returned %s (%s): %s" % (said["call"], said["code"], said["name"], said["text"])
        )
        self.said = said


class Api:
    """A loaded driver library whose calls are announced, and raise ``RefusedError``."""

    def __init__(self, library: Any, report: Report, name_of: Any, text_of: Any) -> None:
        self.library = library
        self.report = report
        self.name_of = name_of  # functions of a code that give its name and text
        self.text_of = text_of

    def call(self, name: str, *arguments: Any, **where: Any) -> None:
        """Calls the function, or its first spelling that the library has."""
        names = where.get("names", (name,))
        self.report.step(where.get("on", "") + name)
        for spelling in names:
            try:
                function = getattr(self.library, spelling)
            except AttributeError:
                continue
            function.restype = ctypes.c_int
            code = function(*arguments)
            if code:
                raise RefusedError(self.said(name, code))
            return
        raise RefusedError(
            {"call": name, "code": None, "name": "missing", "text": "no such function"}
        )

    def said(self, call: str, code: int) -> dict[str, Any]:
        """The call with the number, the name and the library's text."""
        return {
            "call": call,
            "code": code,
            "name": self.name_of(code) or "unknown code",
            "text": self.text_of(code) or "the library has no text for this code",
        }


def loaded(report: Report, names: Any) -> tuple[Any, Any, list[Any]]:
    """The first library of the names that loads, with its name, or the errors."""
    errors = []
    for name in names:
        report.step("load " + name)
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            errors.append((name, error))
            continue
        if hasattr(library, "firstlight_stand_in"):
            report.write({"record": "simulated"})
        return library, name, errors
    return None, None, errors


def not_loaded(report: Report, errors: list[Any]) -> None:
    """Ends the question: absent if no file has one of the names, else it does not load."""
    for name, error in errors:
        found = str(error)
        if found.split(":")[0] != name or "No such file" not in found:
            said = {"call": "load " + name, "code": None, "name": "OSError", "text": found}
            return report.result("failed", "does-not-load", error, answer="refused", call=said)
    name, error = errors[-1]
    said = {"call": "load " + name, "code": None, "name": "OSError", "text": str(error)}
    return report.result("passed", answer="absent", call=said)


def mapped_path(name: str) -> str | None:
    """The file that the loader mapped for a library, from /proc/self/maps."""
    stem = name.split(".so")[0] + ".so"
    try:
        with open("/proc/self/maps", "rb") as maps:
            for line in maps:
                path = os.fsdecode(line.rstrip(b"\n").split(b" ", 5)[-1].strip())
                if os.path.basename(path).startswith(stem):
                    return os.path.realpath(path)
    except OSError:
        pass
    return None


def climb(report: Report, api: Api, ask: Any) -> None:
    """Asks all devices; a refusal of the API itself ends the question as failed."""
    try:
        count = ask(api)
    except RefusedError as refused:
        error = {"type": str(refused.said["name"]), "text": str(refused)}
        report.result("failed", "refused", error, answer="refused", call=refused.said)
        return
    report.result("passed", count=count)


def read_attributes(api: Api, call: str, numbers: Any, target: Any, on: str) -> dict[str, Any]:
    """The attributes that the library knows, by our names; others are left out."""
    found = {}
    value = ctypes.c_int()
    for number, name in numbers:
        try:
            api.call(call, ctypes.byref(value), ctypes.c_int(number), target, on=on)
            found[name] = value.value
        except RefusedError:
            continue
    return found


# Bytes that a stuck or shifted copy cannot give back by chance.
PATTERN = bytes(bytearray((7 * n + (n >> 8)) & 0xFF for n in range(4096))) * (COPY_BYTES // 4096)


def differing(received: bytes) -> int:
    """How many bytes of the pattern came back different."""
    if received == PATTERN:
        return 0
    return sum(1 for a, b in zip(bytearray(PATTERN), bytearray(received)) if a != b)


# ---------------------------------------------------------------- CUDA
def run_cuda(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage data: ``answer``, ``call`` (the cuInit), ``version``, ``path`` of the libcuda, and
    one ``device:<n>`` with name, uuid, PCI address, attributes and ``copy``."""
    library, name, errors = loaded(report, (CUDA_LIBRARY,))
    if library is None:
        not_loaded(report, errors)
        return

    def words(call: str) -> Any:
        def word(code: int) -> str | None:
            text = ctypes.c_char_p()
            try:
                failed = getattr(library, call)(ctypes.c_int(code), ctypes.byref(text))
            except AttributeError:
                failed = 1
            return None if failed or not text.value else text.value.decode("utf-8", "replace")

        return word

    api = Api(library, report, words("cuGetErrorName"), words("cuGetErrorString"))
    report.data(path=mapped_path(name))
    climb(report, api, ask_cuda)


def ask_cuda(api: Api) -> int:
    """Versions, cuInit and every device; returns the count."""
    version = ctypes.c_int()
    try:
        api.call("cuDriverGetVersion", ctypes.byref(version))
        api.report.data(version=version.value)
    except RefusedError as refused:
        api.report.data(version=None, version_call=refused.said)
    api.call("cuInit", ctypes.c_uint(0))
    api.report.data(answer="ok", call=api.said("cuInit", 0))
    count = ctypes.c_int()
    api.call("cuDeviceGetCount", ctypes.byref(count))
    for index in range(believed(api.report, count.value, "cuDeviceGetCount")):
        api.report.data(**{"device:%d" % index: cuda_device(api, index)})
    return count.value


def cuda_device(api: Api, index: int) -> dict[str, Any]:
    """What the driver API says of a device, and whether a small copy comes back the same."""
    on = "CUDA device %d: " % index
    found: dict[str, Any] = {"index": index}
    try:
        device = ctypes.c_int()
        api.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(index), on=on)
        text = ctypes.create_string_buffer(256)
        api.call("cuDeviceGetName", text, ctypes.c_int(256), device, on=on)
        found["name"] = text.value.decode("utf-8", "replace")
        found.update(cuda_identity(api, device, on))
        found.update(read_attributes(api, "cuDeviceGetAttribute", CUDA_ATTRIBUTES, device, on))
        size = ctypes.c_size_t()
        names = ("cuDeviceTotalMem_v2", "cuDeviceTotalMem")
        api.call("cuDeviceTotalMem", ctypes.byref(size), device, names=names, on=on)
        found["memory_bytes"] = size.value
        found["copy"] = cuda_copy(api, device, on)
    except RefusedError as refused:
        found["refused"] = refused.said
    return found


def cuda_identity(api: Api, device: Any, on: str) -> dict[str, Any]:
    """UUID as NVML writes it, and PCI address; old drivers may have neither call."""
    found = {}
    raw = ctypes.create_string_buffer(16)
    names = ("cuDeviceGetUuid_v2", "cuDeviceGetUuid")
    try:
        api.call("cuDeviceGetUuid", raw, device, names=names, on=on)
        found["uuid"] = uuid_text(raw.raw)
    except RefusedError:
        pass
    text = ctypes.create_string_buffer(32)
    try:
        api.call("cuDeviceGetPCIBusId", text, ctypes.c_int(32), device, on=on)
        found["pci_address"] = text.value.decode("ascii", "replace").lower()
    except RefusedError:
        pass
    return found


def uuid_text(raw: bytes) -> str:
    """Sixteen bytes as GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx."""
    digits = "".join("%02x" % byte for byte in bytearray(raw))
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "GPU-" + "-".join(parts)


def cuda_copy(api: Api, device: Any, on: str) -> dict[str, int]:
    """``equal`` or how many bytes differ, with the primary context retained meanwhile."""
    context = ctypes.c_void_p()
    pointer = ctypes.c_void_p()
    received = ctypes.create_string_buffer(COPY_BYTES)
    api.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device, on=on)
    try:
        api.call("cuCtxSetCurrent", context, on=on)
        size = ctypes.c_size_t(COPY_BYTES)
        v2 = _second_version(api, on)
        v2("cuMemAlloc", ctypes.byref(pointer), size)
        v2("cuMemcpyHtoD", pointer, PATTERN, size)
        v2("cuMemcpyDtoH", received, pointer, size)
        api.call("cuCtxSynchronize", on=on)
        v2("cuMemFree", pointer)
    finally:
        names = ("cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease")
        try:
            api.call("cuDevicePrimaryCtxRelease", device, names=names, on=on)
        except RefusedError:
            pass  # after a fault every call repeats it; the first one is the one to keep
    return {"bytes": COPY_BYTES, "differing": differing(received.raw)}


def _second_version(api: Api, on: str) -> Any:
    """A caller of functions whose 64-bit form has the suffix _v2."""

    def call(name: str, *arguments: Any) -> None:
        api.call(name, *arguments, names=(name + "_v2",), on=on)

    return call


# ---------------------------------------------------------------- HIP
def run_hip(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage data as for CUDA; ``options["hip_libraries"]`` are the target's own."""
    names = tuple(options.get("hip_libraries", ())) + HIP_LIBRARIES
    library, name, errors = loaded(report, names)
    if library is None:
        not_loaded(report, errors)
        return

    def words(call: str) -> Any:
        function = getattr(library, call, None)
        if function is not None:
            function.restype = ctypes.c_char_p

        def word(code: int) -> str | None:
            text = function(ctypes.c_int(code)) if function is not None else None
            return None if text is None else text.decode("utf-8", "replace")

        return word

    api = Api(library, report, words("hipGetErrorName"), words("hipGetErrorString"))
    report.data(path=mapped_path(os.path.basename(name)), library=name)
    climb(report, api, ask_hip)


def ask_hip(api: Api) -> int:
    """hipInit, versions and every device; returns the count."""
    api.call("hipInit", ctypes.c_uint(0))
    api.report.data(answer="ok", call=api.said("hipInit", 0))
    for key, call in (("version", "hipDriverGetVersion"), ("runtime", "hipRuntimeGetVersion")):
        version = ctypes.c_int()
        try:
            api.call(call, ctypes.byref(version))
            api.report.data(**{key: version.value})
        except RefusedError:
            continue
    count = ctypes.c_int()
    api.call("hipGetDeviceCount", ctypes.byref(count))
    for index in range(believed(api.report, count.value, "hipGetDeviceCount")):
        api.report.data(**{"device:%d" % index: hip_device(api, index)})
    return count.value


def hip_device(api: Api, index: int) -> dict[str, Any]:
    """What the HIP API says of a device, and whether a small copy comes back the same."""
    on = "HIP device %d: " % index
    found: dict[str, Any] = {"index": index}
    device = ctypes.c_int(index)
    try:
        text = ctypes.create_string_buffer(256)
        api.call("hipDeviceGetName", text, ctypes.c_int(256), device, on=on)
        found["name"] = text.value.decode("utf-8", "replace")
        address = ctypes.create_string_buffer(32)
        api.call("hipDeviceGetPCIBusId", address, ctypes.c_int(32), device, on=on)
        found["pci_address"] = address.value.decode("ascii", "replace").lower()
        found.update(read_attributes(api, "hipDeviceGetAttribute", HIP_ATTRIBUTES, device, on))
        size = ctypes.c_size_t()
        api.call("hipDeviceTotalMem", ctypes.byref(size), device, on=on)
        found["memory_bytes"] = size.value
        found["copy"] = hip_copy(api, device, on)
    except RefusedError as refused:
        found["refused"] = refused.said
    return found


def hip_copy(api: Api, device: Any, on: str) -> dict[str, int]:
    """``equal`` or how many bytes differ."""
    pointer = ctypes.c_void_p()
    received = ctypes.create_string_buffer(COPY_BYTES)
    size = ctypes.c_size_t(COPY_BYTES)
    api.call("hipSetDevice", device, on=on)
    api.call("hipMalloc", ctypes.byref(pointer), size, on=on)
    api.call("hipMemcpy", pointer, PATTERN, size, ctypes.c_int(1), on=on)
    api.call("hipMemcpy", received, pointer, size, ctypes.c_int(2), on=on)
    api.call("hipDeviceSynchronize", on=on)
    api.call("hipFree", pointer, on=on)
    return {"bytes": COPY_BYTES, "differing": differing(received.raw)}
