"""What is here to build extensions with: compilers, CUDA and ROCm toolkits, Python's headers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from ..model import Gap, Interpreter, Tool, Toolkits
from .libraries import expand
from .modules import rocm_version
from .tree import Tree, attempt, of_items, plain

POINTER = "/facts/toolkits"
TOOLS = ("nvcc", "hipcc", "gcc", "g++", "clang", "ninja", "cmake")
DEFAULT_CUDA = "/usr/local/cuda"
DEFAULT_ROCM = "/opt/rocm"
LARGEST_WRAPPER = 4096
_NAMED_VERSION = re.compile(r"-(\d+(?:\.\d+)*)$")  # x86_64-linux-gnu-gcc-12, clang-18
_CUDA_VERSION = re.compile(rb"#define\s+CUDA_VERSION\s+(\d+)")
_WRAPPED = re.compile(r"(/\S*/nvcc)\b")


def read_toolkits(
    tree: Tree, environ: Mapping[str, str], interpreter: Interpreter | None
) -> tuple[Toolkits, tuple[Gap, ...]]:
    """The build tools on PATH, the toolkits on disk, and the CUDA_HOME that torch would take.

    Nothing is executed: versions come from file names and the toolkits' own files. A tool
    that is not listed is not on PATH; ``cuda_home`` and ``rocm_home`` are None where torch
    would find none.
    """
    gaps: list[Gap] = []
    path = environ.get("PATH", "")
    found = {name: which(tree, path, name) for name in TOOLS}
    tools = tuple(
        Tool(name=name, path=plain(where), version=_version(tree, name, where))
        for name, where in found.items()
        if where is not None
    )
    unversioned = [tool.name for tool in tools if tool.version is None]
    of_items(gaps, f"{POINTER}/tools", "file name", {"version": unversioned}, "not in its files")
    cuda_home, source = cuda_home_of(tree, environ, found["nvcc"])
    rocm_home = _rocm_home(tree, environ, found["hipcc"])
    headers = attempt(
        gaps, f"{POINTER}/python_headers", "Python.h", lambda: _has_headers(tree, interpreter)
    )
    toolkits = Toolkits(
        tools=tools,
        cuda_home=plain(cuda_home) if cuda_home else None,
        cuda_home_source=source,
        cuda_home_complete=is_complete(tree, cuda_home) if cuda_home else None,
        cuda_toolkits=_cuda_toolkits(tree),
        rocm_home=plain(rocm_home) if rocm_home else None,
        python_headers=headers,
    )
    return toolkits, tuple(gaps)


def which(tree: Tree, path: str, name: str) -> str | None:
    """The first executable of this name on a PATH, as the shell would find it."""
    for folder in path.split(":"):
        where = f"{folder.rstrip('/')}/{name}"
        if folder.startswith("/") and tree.is_executable(where):
            return where
    return None


def cuda_home_of(
    tree: Tree, environ: Mapping[str, str], nvcc: str | None
) -> tuple[str | None, str | None]:
    """The CUDA_HOME of torch.utils.cpp_extension and what it follows from.

    As torch does (seen in 2.14.1), an empty variable falls through to the next, and the
    parent of nvcc's directory is taken *without* following a link, so that a link or wrapper
    /usr/local/bin/nvcc makes it /usr/local, where no toolkit is.
    """
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if environ.get(name):
            return environ[name], name
    if environ.get("CUDA_PATH") == "":
        return None, None  # torch stops at a CUDA_PATH that is set and empty
    if nvcc is not None:
        return str(PurePosixPath(nvcc).parent.parent), "nvcc"
    if tree.exists(DEFAULT_CUDA):
        return DEFAULT_CUDA, "default"
    return None, None


def is_complete(tree: Tree, home: str) -> bool:
    """Whether extensions can be built against this CUDA_HOME: headers, and libcudart to link."""
    if not tree.exists(f"{home}/include/cuda_runtime.h"):
        return False
    # torch links with -L<home>/lib64 where there is one, else with -L<home>/lib.
    folder = f"{home}/lib64" if tree.exists(f"{home}/lib64") else f"{home}/lib"
    return any(name.startswith("libcudart.so") for name in tree.names_or_none(folder))


def toolkit_version(tree: Tree, home: str) -> str | None:
    """The version of the CUDA toolkit in a directory, "13.0.88" or "13.0"; None if not stated."""
    try:
        stated = json.loads(tree.text(f"{home}/version.json"))
        for part in ("cuda_nvcc", "cuda"):
            if part in stated:
                return str(stated[part]["version"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        found = _CUDA_VERSION.search(tree.read(f"{home}/include/cuda.h", 4 << 20))
    except OSError:
        return None
    if found is None:
        return None
    number = int(found[1])
    return f"{number // 1000}.{number % 1000 // 10}"


def _version(tree: Tree, name: str, where: str) -> str | None:
    try:
        real = tree.resolve(where)
    except OSError:
        return None
    if name == "nvcc":
        return toolkit_version(tree, str(PurePosixPath(_unwrapped(tree, real)).parent.parent))
    if name == "hipcc":
        try:
            return rocm_version(tree, str(PurePosixPath(real).parent.parent))
        except OSError:
            return None
    found = _NAMED_VERSION.search(real)
    if found is None and name in ("gcc", "g++"):
        # gcc's own directory is named for its version; with one there, it is this one's.
        versions = {
            part
            for folder in expand(tree, "/usr/lib/gcc/*")
            for part in tree.names_or_none(folder)
            if part[:1].isdigit()
        }
        return versions.pop() if len(versions) == 1 else None
    return found[1] if found else None


def _unwrapped(tree: Tree, path: str) -> str:
    """The nvcc that a small shell script at ``path`` starts, else ``path``."""
    try:
        text = tree.text(path, LARGEST_WRAPPER)
    except OSError:
        return path
    found = _WRAPPED.search(text) if text.startswith("#!") else None
    return tree.resolve(found[1]) if found and tree.exists(found[1]) else path


def _rocm_home(tree: Tree, environ: Mapping[str, str], hipcc: str | None) -> str | None:
    """The ROCM_HOME that torch.utils.cpp_extension would take; it does follow links here."""
    for name in ("ROCM_HOME", "ROCM_PATH"):
        if environ.get(name):
            return environ[name]
    if hipcc is not None:
        home = PurePosixPath(tree.resolve(hipcc)).parent.parent
        return str(home.parent if home.name == "hip" else home)
    return DEFAULT_ROCM if tree.exists(DEFAULT_ROCM) else None


def _cuda_toolkits(tree: Tree) -> tuple[str, ...]:
    """The directories under /usr/local and /opt that hold a CUDA toolkit, each once."""
    homes: dict[str, None] = {}
    for pattern in ("/usr/local/cuda*", "/opt/cuda*"):
        for home in expand(tree, pattern):
            if tree.exists(f"{home}/bin/nvcc") or tree.exists(f"{home}/include/cuda.h"):
                homes[tree.resolve(home)] = None
    return tuple(homes)


def _has_headers(tree: Tree, interpreter: Interpreter | None) -> bool:
    if interpreter is None:
        raise LookupError("no interpreter is chosen")
    if interpreter.version is None:
        raise LookupError("the version of the interpreter is not known")
    numbers = ".".join(interpreter.version.split(".")[:2])
    real = PurePosixPath(tree.resolve(interpreter.path))
    bases = [str(real.parent.parent), interpreter.prefix or "", "/usr"]
    for base in [*bases]:
        bases.append(_base_of_venv(tree, base))
    # Debian's free-threaded and debug builds add a letter to the directory's name.
    return any(
        tree.exists(f"{base}/include/python{numbers}{letter}/Python.h")
        for base in bases
        if base
        for letter in ("", "t", "d", "m")
    )


def _base_of_venv(tree: Tree, prefix: str) -> str:
    """The prefix of the interpreter that a virtual environment was made from, else ""."""
    try:
        text = tree.text(f"{prefix}/pyvenv.cfg", 1 << 16)
    except OSError:
        return ""
    found = re.search(r"^home\s*=\s*(\S.*?)\s*$", text, re.MULTILINE)
    return str(PurePosixPath(tree.resolve(found[1])).parent) if found else ""
