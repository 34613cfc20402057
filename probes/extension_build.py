"""What does a package's build say of torch, CUDA, ABI and architectures? Read without importing."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import time
from typing import Any

from . import device_code, elf
from .load_error import OF_TORCH, abi_of

FILES_MAX = 60
SECONDS_MAX = 3.0
TEXT_BYTES = 16 * 1024
CUDA_LIBRARY = re.compile(r"lib(?:cudart|cublas|cublasLt|nvrtc|cusolver|cusparse)\.so\.(\d+)")
INTERESTING = re.compile(r"lib(?:c10|torch|cu|nv|amdhip|hip|roc|MIOpen|mkl|onnx|iomp|gomp)")
VERSION_FILES = ("version.py", "_version.py", "cpp_lib.json", "_build_config.py")
SAID = re.compile(
    r"""["']?\b(cuda|hip|rocm|torch|git_version)\b["']?\s*[:=]\s*["']?([\da-f][\w.+]*)"""
)
# flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl
TAGS = (
    ("torch", re.compile(r"torch(\d+\.\d+(?:\.\d+)?)")),
    ("cuda", re.compile(r"\bcu(\d{2,3})")),
    ("hip", re.compile(r"\brocm([\d.]+)")),
    ("cxx11_abi", re.compile(r"cxx11abi(TRUE|FALSE)")),
)


def describe(distribution: str | None, module: str) -> dict[str, Any]:
    """The package's own words, and what its compiled files need; ``libraries`` lists those."""
    found = metadata_of(distribution) if distribution else {}
    paths = found.pop("paths", None) or files_below(folder_of(module))
    libraries = [path for path in paths if re.search(r"\.so(\.[\d.]+)?$", path)]
    found.update(read_libraries(libraries))
    said = said_by_files(paths)
    if said:
        found["said"] = said
    built_for = joined(found, said)
    if built_for:
        found["built_for"] = built_for
    return found


def metadata_of(distribution: str) -> dict[str, Any]:
    """The wheel's name, what it requires of torch and CUDA, and where its files lie."""
    try:
        installed = importlib.metadata.distribution(distribution)
    except Exception:
        return {}
    requires = [
        r for r in installed.requires or () if re.match(r"(?:torch|nvidia|triton|jaxlib)", r)
    ]
    found: dict[str, Any] = {
        "distribution": distribution,
        "version": installed.version,
        "requires": [r for r in requires if "extra ==" not in r][:20],
    }
    wheel = wheel_of(installed)
    if wheel:
        found["wheel"] = wheel
    found["paths"] = [str(installed.locate_file(file)) for file in installed.files or ()]
    return found


def wheel_of(installed: Any) -> str | None:
    """The file name of a wheel that was installed from an address; nothing else of the address."""
    try:
        url = json.loads(installed.read_text("direct_url.json") or "{}").get("url", "")
    except Exception:
        return None
    name = str(url).split("?")[0].split("#")[0].rsplit("/", 1)[-1]
    return name if name.endswith(".whl") else None


def folder_of(module: str) -> str | None:
    """The folder of a module that may have no metadata; the parent's code is not run."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(module.split(".")[0])
    except Exception:
        return None
    if spec is None or not spec.origin:
        return None
    places = spec.submodule_search_locations
    return str(next(iter(places))) if places else spec.origin


def files_below(place: str | None) -> list[str]:
    """The files of a package's folder, some hundred at most; the module itself if it is a file."""
    if place is None:
        return []
    if os.path.isfile(place):
        return [place]
    found: list[str] = []
    for folder, _, names in os.walk(place):
        found += [os.path.join(folder, name) for name in sorted(names)]
        if len(found) > 5000:
            break
    return found


def read_libraries(paths: list[str]) -> dict[str, Any]:
    """What the compiled files need and carry; capped by number and time, which is then said."""
    until = time.monotonic() + SECONDS_MAX
    needed: set[str] = set()
    versions: set[str] = set()
    architectures: set[str] = set()
    abis: set[str] = set()
    read = 0
    for path in paths[:FILES_MAX]:
        if time.monotonic() > until:
            break
        found = elf.read(path)
        if found is None:
            continue
        read += 1
        needed.update(name for name in found.needed if INTERESTING.match(name))
        versions.update(found.versions)
        with contextlib.suppress(*elf.DAMAGE):
            architectures.update(device_code.architectures(path, found.sections))
        abis.update(abi_of(s) or "" for s in found.undefined if OF_TORCH.match(s))
    return {
        "libraries": paths[:20],
        "library_count": len(paths),
        "libraries_read": read,
        "needed": sorted(needed),
        "glibc": highest(versions, "GLIBC_"),
        "glibcxx": highest(versions, "GLIBCXX_"),
        "architectures": sorted(architectures, key=device_code.by_number),
        "cxx11_abi": True if "new" in abis else False if "old" in abis else None,
    }


def highest(versions: set[str], prefix: str) -> str | None:
    """The newest of the symbol versions with a prefix."""
    numbers = [v[len(prefix) :] for v in versions if re.fullmatch(prefix + r"[\d.]+", v)]
    return max(numbers, key=lambda v: [int(part) for part in v.split(".")], default=None)


def said_by_files(paths: list[str]) -> dict[str, str]:
    """What the package's small version files say of torch and CUDA."""
    said: dict[str, str] = {}
    for path in paths:
        if os.path.basename(path) in VERSION_FILES and len(said) < 10:
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read(TEXT_BYTES)
            except OSError:
                continue
            for name, value in SAID.findall(text):
                if value != "None":
                    said.setdefault(name, value)
    return said


def joined(found: dict[str, Any], said: dict[str, str]) -> dict[str, Any]:
    """The torch, CUDA, HIP and ABI that the build names, each from its surest source."""
    built: dict[str, Any] = {}
    label = "%s %s" % (found.get("wheel") or "", found.get("version") or "")
    for name, pattern in TAGS:
        match = pattern.search(label)
        if match:
            built[name] = match.group(1)
    pinned = [re.match(r"torch\s*\(?==\s*([\w.]+)", r) for r in found.get("requires") or ()]
    for match in pinned:
        if match:
            built.setdefault("torch", match.group(1))
    for name in ("torch", "cuda", "hip"):
        if said.get(name, "")[:1].isdigit():
            built.setdefault(name, said[name])
    majors = sorted({m.group(1) for m in map(CUDA_LIBRARY.match, found["needed"]) if m})
    if majors:
        built.setdefault("cuda", ", ".join(majors))
    if found.get("cxx11_abi") is not None:
        built.setdefault("cxx11_abi", found["cxx11_abi"])
    return built
