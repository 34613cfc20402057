"""Which shared libraries are mapped into this process, and which package owns each?"""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Tuple

Library = Dict[str, Any]
Distributions = Dict[str, Tuple[str, str]]

SITE = re.compile(r"^(.*?/(?:site|dist)-packages)/(.+)$")
SHARED = re.compile(r"^(lib.+?\.so(?:\.\d+)?)(?:\.[\d.]+)?$")
RECORD_LIMIT_BYTES = 1 << 20
SHARED_FOLDERS = ("nvidia", "cuda")  # several distributions write below these


def mapped_libraries(maps: str = "/proc/self/maps") -> list[Library]:
    """The libraries of a maps file: soname as the file names it, path, owning package or None."""
    owners: dict[str, Distributions] = {}
    found = []
    for path in mapped_paths(maps):
        match = SHARED.match(os.path.basename(path))
        if match is None or "/lib-dynload/" in path:
            continue
        found.append({"soname": match.group(1), "path": path, "package": owner(path, owners)})
    return found


def mapped_paths(maps: str = "/proc/self/maps") -> list[str]:
    """Paths of the files mapped into this process, each once; empty where they are not shown."""
    paths = set()
    try:
        with open(maps, encoding="utf-8", errors="backslashreplace") as lines:
            for line in lines:
                fields = line.rstrip("\n").split(None, 5)
                if len(fields) == 6 and fields[5].startswith("/") and ".so" in fields[5]:
                    gone = fields[5].endswith(" (deleted)")
                    paths.add(fields[5][:-10] if gone else fields[5])
    except OSError:
        pass
    return sorted(paths)


def duplicates(libraries: list[Library]) -> list[dict[str, Any]]:
    """Sonames that are mapped from more than one file, with the files."""
    paths: dict[str, list[str]] = {}
    for library in libraries:
        paths.setdefault(library["soname"], []).append(library["path"])
    return [
        {"soname": name, "paths": where} for name, where in sorted(paths.items()) if len(where) > 1
    ]


def owner(path: str, known: dict[str, Distributions]) -> str | None:
    """``name version`` of the distribution that installed a file, from its folder; else None.

    ``known`` keeps the answers per folder of packages between calls.
    """
    match = SITE.match(path)
    if match is None:
        return None
    root, inside = match.groups()
    if root not in known:
        known[root] = _distributions(root)
    distributions = known[root]
    top = inside.split("/", 1)[0]
    if top in SHARED_FOLDERS or top.startswith("_rocm_sdk"):
        return _owner_by_record(root, inside, top, distributions)
    name = _normal(top[:-5] if top.endswith(".libs") else top)
    found = distributions.get(name)
    return found and found[0]


def _distributions(root: str) -> Distributions:
    """Normalised name -> ("name version", folder of its metadata)."""
    found: Distributions = {}
    try:
        entries = os.listdir(root)
    except OSError:
        return found
    for entry in entries:
        if entry.endswith(".dist-info") and "-" in entry[:-10]:
            name, version = entry[:-10].split("-", 1)
            normal = _normal(name)
            found[normal] = ("%s %s" % (normal, version), entry)
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _owner_by_record(root: str, inside: str, top: str, distributions: Distributions) -> str | None:
    prefix = "rocm" if top.startswith("_rocm") else top
    for name, (shown, folder) in distributions.items():
        if not name.startswith(prefix):
            continue
        try:
            with open(os.path.join(root, folder, "RECORD"), encoding="utf-8") as record:
                if "\n%s," % inside in "\n" + record.read(RECORD_LIMIT_BYTES):
                    return shown
        except (OSError, UnicodeDecodeError):
            continue
    return None


def is_stand_in(paths: list[str]) -> bool:
    """True if one of the mapped vendor libraries says that it only plays a driver's part.

    A stand-in exports the symbol ``firstlight_stand_in``; the run is then marked as simulated.
    """
    vendor = ("libcuda.so", "libnvidia-ml.so", "libamdhip64.so", "libamd_smi.so", "librocm_smi")
    for path in paths:
        if os.path.basename(path).startswith(vendor):
            import ctypes

            try:
                if hasattr(ctypes.CDLL(path), "firstlight_stand_in"):
                    return True
            except OSError:
                continue
    return False
