"""Which copy of each GPU library the dynamic loader would take, and which others lie about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..model import Gap, Library
from .loader_cache import Cached, read_cache
from .tree import Tree, attempt, of_items, plain, reason

POINTER = "/facts/libraries"
# The driver's own libraries: all copies are of interest, since the wrong one breaks everything.
DRIVER_NAMES = re.compile(r"lib(?:cuda|nvidia-ml|amdhip64)\.so(?:\.[\w.-]+)?")
# The toolkits': only the copy that the loader would hand to a program that asks for the name.
TOOLKIT_NAMES = re.compile(
    r"lib(?:cudart|cudnn|cublas|cublasLt|nccl|rccl|rocm_smi64|amd_smi)\.so(?:\.\d+(?:\.0)?)?"
)
# What programs ask the loader for; longer names are the files behind these.
ASKED_FOR = re.compile(r".*\.so(?:\.\d+)?|libcudart\.so\.\d+\.0")
# Where driver libraries are put by images, toolkits, WSL, Kubernetes and Debian.
KNOWN_FOLDERS = (
    "/usr/local/cuda*/compat",
    "/usr/local/cuda*/lib64/stubs",
    "/usr/local/cuda*/targets/*/lib/stubs",
    "/usr/lib/wsl/lib",
    "/usr/lib/wsl/drivers/*",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/home/kubernetes/bin/nvidia/lib64",
    "/run/nvidia/driver/usr/lib/*-linux-gnu",
    "/usr/lib/*-linux-gnu/nvidia/current",
    "/usr/lib/*-linux-gnu",
    "/usr/lib64",
    "/usr/lib64-nvidia",
    "/opt/rocm*/lib",
)
SYSTEM_FOLDERS = {
    "x86_64": ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"),
    "aarch64": ("/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
}
DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
MOST_COPIES = 40
MACHINES = {"x86_64": 62, "aarch64": 183, "ppc64le": 21, "riscv64": 243}  # e_machine in ELF
HEADER_BYTES = 64  # of a 64-bit ELF file
_VERSION = re.compile(r"\.so\.(\d+(?:\.\d+)+)")


def read_libraries(
    tree: Tree, environ: Mapping[str, str], workdir: Path, architecture: str | None
) -> tuple[tuple[Library, ...], tuple[Gap, ...]]:
    """The GPU libraries as the loader would find them by name, then other copies on disk.

    The order is the loader's: LD_LIBRARY_PATH, /etc/ld.so.cache, the default directories.
    A name that is not in the result is not to be found by the loader, unless a gap says that
    a part could not be read. RPATHs of the program that asks are not considered. Versions are
    those of the real file's name.
    """
    gaps: list[Gap] = []
    found: dict[str, str] = {}
    for name, path in _in_search_order(tree, environ, workdir, architecture, gaps):
        head = None if name in found else _head(tree, path)
        if head is not None and _fits(head, architecture):
            found[name] = path
    libraries = [_library(tree, name, path, "loader") for name, path in sorted(found.items())]
    taken = {_real(tree, path) for path in found.values()}
    copies = []
    for name, path in _on_disk(tree):
        real = _real(tree, path)
        if real not in taken:
            taken.add(real)
            copies.append(_library(tree, name, path, "disk"))
    if len(copies) > MOST_COPIES:
        why = f"{len(copies) - MOST_COPIES} further copies on disk are left out"
        gaps.append(Gap(pointer=POINTER, why=why, said_by="libraries"))
    libraries += copies[:MOST_COPIES]
    unversioned = [library.path or "" for library in libraries if library.version is None]
    of_items(gaps, POINTER, "file name", {"version": unversioned}, "not in the file's name")
    return tuple(libraries), tuple(gaps)


def origin_of(path: str, real: str) -> str:
    """Who put a library there, by its path and the path of the real file.

    "compat" is a CUDA image's own newer libcuda, "stub" one that only serves to link.
    """
    both = f"{path}\n{real}"
    marks = (
        ("/stubs/", "stub"),
        ("/compat/", "compat"),
        ("/cuda-compat", "compat"),
        ("/wsl/", "wsl"),
        ("/site-packages/", "wheel"),
        ("/dist-packages/", "wheel"),
        ("conda", "conda"),
        ("mamba", "conda"),
        ("/home/kubernetes/", "driver"),
        ("/home/", "user"),
        ("/usr/local/cuda", "toolkit"),
        ("/opt/rocm", "toolkit"),
    )
    for mark, origin in marks:
        if mark in both:
            return origin
    name = path.rsplit("/", 1)[-1]
    return "driver" if name.startswith(("libcuda.", "libnvidia-ml.")) else "system"


def version_of(real: str) -> str | None:
    """The version in a file name, "570.86.15" of libcuda.so.570.86.15; None where it has none.

    WSL's libcuda.so.1.1 names an interface, not a release.
    """
    found = _VERSION.search(real.rsplit("/", 1)[-1])
    if found is None or (found[1] == "1.1" and "libcuda.so" in real):
        return None
    return found[1]


def _in_search_order(
    tree: Tree,
    environ: Mapping[str, str],
    workdir: Path,
    architecture: str | None,
    gaps: list[Gap],
) -> Iterator[tuple[str, str]]:
    # An empty element of the list means the current directory, for the loader too.
    wanted = environ.get("LD_LIBRARY_PATH", "")
    for folder in re.split("[:;]", wanted) if wanted else ():
        yield from _in_folder(tree, folder or str(workdir))
    data = attempt(gaps, POINTER, "/etc/ld.so.cache", lambda: _cache(tree, architecture))
    for entry in data or ():
        if _wanted(entry.name) and tree.exists(entry.path):
            yield entry.name, entry.path
    for folder in (*SYSTEM_FOLDERS.get(architecture or "", ()), *DEFAULT_FOLDERS):
        yield from _in_folder(tree, folder)


def _cache(tree: Tree, architecture: str | None) -> tuple[Cached, ...]:
    try:
        data = tree.read("/etc/ld.so.cache", 16 << 20)
    except FileNotFoundError as error:
        if _has_musl(tree):
            return ()
        raise LookupError("there is no loader cache (has ldconfig run?)") from error
    return read_cache(data, architecture)


def _has_musl(tree: Tree) -> bool:
    return any(name.startswith("ld-musl-") for name in tree.names_or_none("/lib"))


def _in_folder(tree: Tree, folder: str) -> Iterator[tuple[str, str]]:
    for name in tree.names_or_none(folder):
        if _wanted(name):
            yield name, f"{folder.rstrip('/')}/{name}"


def _wanted(name: str) -> bool:
    known = DRIVER_NAMES.fullmatch(name) or TOOLKIT_NAMES.fullmatch(name)
    return bool(known and ASKED_FOR.fullmatch(name))


def _fits(head: bytes, architecture: str | None) -> bool:
    """Whether the loader stays with a file that begins so.

    It passes over another architecture's library in silence, but stops at a damaged one.
    """
    machine = MACHINES.get(architecture or "")
    if defect_of(head) is not None or machine is None:
        return True
    return head[4] == 2 and int.from_bytes(head[18:20], "little") == machine


def defect_of(head: bytes) -> str | None:
    """Why the loader will refuse a file that begins so, in its own words; None if it will not.

    Images that were saved from a running container hold the driver's libraries as empty files.
    """
    if len(head) < HEADER_BYTES:
        return "file too short"
    return None if head.startswith(b"\x7fELF") else "invalid ELF header"


def _head(tree: Tree, path: str) -> bytes | None:
    try:
        return tree.read(path, HEADER_BYTES)
    except OSError:
        return None


def _on_disk(tree: Tree) -> Iterator[tuple[str, str]]:
    for pattern in KNOWN_FOLDERS:
        for folder in expand(tree, pattern):
            for name in tree.names_or_none(folder):
                if DRIVER_NAMES.fullmatch(name):
                    yield name, f"{folder}/{name}"


def expand(tree: Tree, pattern: str) -> list[str]:
    """The machine's directories that fit a pattern in which a part may end in or hold a star."""
    found = [""]
    for part in pattern.split("/")[1:]:
        if "*" not in part:
            found = [f"{base}/{part}" for base in found]
            continue
        fits = re.compile(re.escape(part).replace(r"\*", ".*"))
        found = [
            f"{base}/{name}"
            for base in found
            for name in tree.names_or_none(base)
            if fits.fullmatch(name)
        ]
    return found


def _library(tree: Tree, name: str, path: str, seen_by: str) -> Library:
    real = _real(tree, path)
    return Library(
        soname=plain(name),
        path=plain(path),
        version=version_of(real),
        origin=origin_of(path, real),
        seen_by=seen_by,
        on_loader_path=seen_by == "loader",
        defect=None if (head := _head(tree, path)) is None else defect_of(head),
    )


def _real(tree: Tree, path: str) -> str:
    try:
        return tree.resolve(path)
    except OSError as error:  # a circle of links
        return f"{path} ({reason(error)})"
