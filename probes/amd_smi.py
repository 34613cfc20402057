"""What does amdsmi say about the driver and about each AMD device or partition?

Runs in a child with the agent's interpreter. ROCm's own copy of the module is taken before the
one from PyPI, because its enum values match the library beside it; they are always read from
the module that was loaded. Importing it may print, and raise KeyError where there is no library.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from .amd_smi_fields import ROWS
from .nvml_fields import ImplausibleError
from .processes import sort_processes
from .report import Report, believed

FINE_STEPS = 32  # more devices than this are announced once each, not once a call
PEER_LIMIT = 16


def run(report: Report, options: dict[str, Any], state: dict[str, Any]) -> None:
    """Stage data: ``answer`` (ok, absent, refused), ``call``, ``origin``, versions, and one
    ``device:<n>`` for each device with ``fields``, ``gaps``, ``error``, ``links``."""
    roots = rocm_roots(options)
    if not library_somewhere(report, roots):
        said = {"call": "load libamd_smi.so", "code": None, "name": "OSError", "text": "not found"}
        report.result("passed", answer="absent", call=said, origin="none")
        return
    module, origin, error = imported(report, roots, options)
    report.data(origin=origin)
    if module is None:
        said = {"call": "import amdsmi", "code": None}
        said.update(name=type(error).__name__, text=str(error))
        # The library is there and its Python module is not usable: nothing refuses us yet.
        missing = isinstance(error, ImportError) and "amdsmi" in str(error)
        reason = "not-installed" if missing else "does-not-load"
        report.result("skipped", reason, error, answer="unknown", call=said)
        return
    report.step("amdsmi_init")
    try:
        module.amdsmi_init(module.AmdSmiInitFlags.INIT_AMD_GPUS)
    except Exception as error:
        text = word(error)
        call = {"call": "amdsmi_init", "code": getattr(error, "err_code", None)}
        call.update(name=text.split(" - ")[0], text=text)
        record = {"type": type(error).__name__, "text": text}
        report.result("failed", "refused", record, answer="refused", call=call)
        return
    call = {"call": "amdsmi_init", "code": 0, "name": "AMDSMI_STATUS_SUCCESS", "text": "Success"}
    report.data(answer="ok", call=call, system=read_system(module, report))
    report.result("passed", count=read_devices(module, report, options.get("proc", "/proc")))


def rocm_roots(options: dict[str, Any]) -> list[str]:
    """Where ROCm may lie, in the order in which its own module looks."""
    named = [os.environ.get(name) for name in ("ROCM_HOME", "ROCM_PATH")]
    found = [path for path in named if path]
    return found + [path for path in options.get("rocm_roots", ["/opt/rocm"]) if path not in found]


def library_somewhere(report: Report, roots: list[str]) -> bool:
    """Whether the library can be loaded by its name or from ROCm's folders."""
    for path in [os.path.join(root, "lib", "libamd_smi.so") for root in roots] + ["libamd_smi.so"]:
        report.step("load " + path)
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            if os.path.exists(path):
                report.data(load_error=str(error))
                return True  # it is there and does not load: the import will say why
            continue
        if hasattr(library, "firstlight_stand_in"):
            report.write({"record": "simulated"})
        return True
    return False


def imported(report: Report, roots: list[str], options: dict[str, Any]) -> tuple[Any, str, Any]:
    """The module, its origin (rocm, pypi) and None, or the last error of its import."""
    error = None
    for root in roots:
        folder = os.path.join(root, "share", "amd_smi")
        if not os.path.isdir(os.path.join(folder, "amdsmi")):
            continue
        sys.path.insert(0, folder)
        module, error = try_import(report, "ROCm's copy in " + folder)
        if module is not None:
            return module, "rocm", None
        sys.path.remove(folder)
    sys.path.extend(options.get("python_paths", ()))
    module, second = try_import(report, "the installed package")
    if module is not None:
        return module, "pypi", None
    return None, "none", error or second


def try_import(report: Report, what: str) -> tuple[Any, Any]:
    """The module and None, or None and what the import raised; half an import is undone."""
    report.step("import amdsmi: " + what)
    try:
        import amdsmi

        return amdsmi, None
    except Exception as error:
        for name in [name for name in sys.modules if name.split(".")[0] == "amdsmi"]:
            del sys.modules[name]
        return None, error


def word(error: Any) -> str:
    """The library's own word for an error."""
    info = getattr(error, "err_info", None) or getattr(error, "err_msg", None)
    try:
        return str(info or error)
    except Exception:
        return type(error).__name__


# ---------------------------------------------------------------- asking
def read_system(module: Any, report: Report) -> dict[str, Any]:
    """Versions of the library and of ROCm."""
    found: dict[str, Any] = {"module_version": str(getattr(module, "__version__", "")) or None}
    report.step("amdsmi_get_lib_version")
    try:
        version = module.amdsmi_get_lib_version()
        known = [version[key] for key in ("year", "major", "minor", "release") if key in version]
        found["library_version"] = ".".join(str(part) for part in known)
    except Exception as error:
        found["gaps"] = [["library_version", word(error), "amdsmi_get_lib_version"]]
    return found


def read_devices(module: Any, report: Report, proc: str) -> int | None:
    """Reports every device; returns the library's count, or None if it gave no list."""
    report.step("amdsmi_get_processor_handles")
    try:
        handles = module.amdsmi_get_processor_handles()
    except Exception as error:
        report.data(count_error={"call": "amdsmi_get_processor_handles", "text": word(error)})
        return None
    most = believed(report, len(handles), "amdsmi_get_processor_handles")
    for index, handle in enumerate(handles[:most]):
        fine = len(handles) <= FINE_STEPS
        step = announcer(report, index, fine)
        report.data(**{"device:%d" % index: read_device(module, step, index, handle, proc)})
    if 1 < len(handles) <= PEER_LIMIT:
        report.data(peers=read_peers(module, report, handles))
    elif len(handles) > PEER_LIMIT:
        report.data(peers_left_out="%d devices, the table ends at %d" % (len(handles), PEER_LIMIT))
    return len(handles)


def announcer(report: Report, index: int, fine: bool) -> Any:
    """A function that announces a call on this device; one announcement where it must be few."""
    if fine:
        return lambda call: report.step("GPU %d: %s" % (index, call))
    report.step("GPU %d" % index)
    return lambda call: None


def read_device(module: Any, step: Any, index: int, handle: Any, proc: str) -> dict[str, Any]:
    """The record of one device."""
    fields: dict[str, Any] = {}
    gaps: list[Any] = []

    def ask(names: Any, call: str, *arguments: Any) -> Any:
        step(call)
        try:
            return getattr(module, call)(handle, *arguments)
        except Exception as error:
            gaps.extend([name, word(error), call] for name in names)
            return None

    for name, call in (
        ("uuid", "amdsmi_get_gpu_device_uuid"),
        ("pci_address", "amdsmi_get_gpu_device_bdf"),
    ):
        answer = ask((name,), call)
        if answer is not None:
            fields[name] = str(answer).lower() if name == "pci_address" else str(answer)
    error = gaps[0][1] if len(gaps) == 2 else None  # neither name: this device does not answer
    for call, arguments, wanted in ROWS if error is None else ():
        names = [name for name, _, _ in wanted]
        values = [member(module, argument) for argument in arguments]
        if None in values:
            gaps.extend([name, "this amdsmi has no %s" % (arguments,), call] for name in names)
            continue
        answer = ask(names, call, *values)
        if answer is None:
            continue
        for name, follow, read in wanted:
            try:
                fields[name] = read(follow(answer))
            except (ImplausibleError, KeyError, TypeError, ValueError, AttributeError) as wrong:
                gaps.append([name, str(wrong) or type(wrong).__name__, call])
    if error is None:
        read_rest(module, ask, fields, gaps, handle, proc)
    links = read_links(ask) if error is None else []
    driver = (ask((), "amdsmi_get_gpu_driver_info") or {}) if error is None else {}
    return {
        "index": index,
        "fields": fields,
        "gaps": gaps,
        "error": error,
        "links": links,
        "driver_version": driver.get("driver_version"),
    }


def member(module: Any, dotted: str) -> Any:
    """The enum member of the loaded module, or None if it has none of that name."""
    kind, name = dotted.split(".")
    return getattr(getattr(module, kind, None), name, None)


def read_rest(module: Any, ask: Any, fields: Any, gaps: list[Any], handle: Any, proc: str) -> None:
    """Fills what takes more than one call: retired pages, RAS blocks and processes."""
    pages = ask(("ecc.retired_double_bit",), "amdsmi_get_gpu_bad_page_info")
    if isinstance(pages, list):
        fields["ecc.retired_double_bit"] = len(pages)
        fields["ecc.retirement_pending"] = any(page.get("status") == 1 for page in pages)
    blocks = ask(("ecc.ras_blocks",), "amdsmi_get_gpu_ras_block_features_enabled")
    if blocks is not None:
        fields["ecc.ras_blocks"] = ras_blocks(module, ask, blocks)
        fields["ecc.mode"] = "enabled" if any(on(block) for block in blocks) else "disabled"
    listed = ask(("processes",), "amdsmi_get_gpu_process_list")
    if listed is not None:
        fields["processes"] = processes(module, listed, proc)


def on(block: Any) -> bool:
    """Whether error counting is on for a block."""
    return bool(block.get("status") == "ENABLED")


def ras_blocks(module: Any, ask: Any, blocks: Any) -> list[str]:
    """Blocks that count errors, in words with their counts."""
    found = []
    for block in blocks:
        kind = member(module, "AmdSmiGpuBlock." + str(block.get("block")))
        count = (
            ask((), "amdsmi_get_gpu_ecc_count", kind) if on(block) and kind is not None else None
        )
        if count:
            numbers = (count.get("correctable_count"), count.get("uncorrectable_count"))
            found.append("%s: corrected %s, uncorrected %s" % ((kind.name.lower(), *numbers)))
    return found


def processes(module: Any, listed: Any, proc: str) -> dict[str, Any]:
    """Own processes by name, others as count and bytes; older modules list handles."""
    found = {}
    for entry in listed:
        if isinstance(entry, dict):
            usage = entry.get("memory_usage", {}).get("vram_mem", entry.get("mem"))
            found[int(entry["pid"])] = usage if isinstance(usage, int) else None
    return sort_processes(found, proc)


def read_links(ask: Any) -> list[Any]:
    """The XGMI links with their state."""
    answer = ask(("links",), "amdsmi_get_gpu_xgmi_link_status")
    states = {"U": "active", "D": "inactive", "X": "disabled"}
    return [
        {"index": index, "state": states.get(letter)}
        for index, letter in enumerate((answer or {}).get("status", ()))
    ]


def read_peers(module: Any, report: Report, handles: Any) -> list[Any]:
    """For each pair: over what the devices are joined, and whether memory can be read."""
    peers = []
    kinds = {"XGMI": "XGMI", "PCIE": "PCIE", "PCIEXPRESS": "PCIE", "INTERNAL": "INTERNAL"}
    for one, handle in enumerate(handles):
        report.step("GPU %d: amdsmi_topo_get_link_type" % one)
        for other, second in enumerate(handles):
            if one == other:
                continue
            entry: dict[str, Any] = {"from": one, "to": other}
            try:
                number = module.amdsmi_topo_get_link_type(handle, second)["type"]
                entry["path"] = kinds.get(link_name(module, number) or "")
                reachable = module.amdsmi_is_P2P_accessible(handle, second)
                entry["access"] = "ok" if reachable else "not-supported"
            except Exception as error:
                entry["gap"] = word(error)
            peers.append(entry)
    return peers


def link_name(module: Any, number: Any) -> str | None:
    """XGMI, PCIE, ... for the number of a link type in the module that was loaded."""
    for kind in ("AmdSmiLinkType", "AmdSmiIoLinkType"):
        for entry in getattr(module, kind, ()):
            if entry.value == number:
                return str(entry.name).split("_")[-1]
    return None
