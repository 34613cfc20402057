"""Why does a library not load? Names what is missing, and what the library was built for."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

from . import libraries

SYMBOL = re.compile(r"(\S+\.so\S*): undefined symbol: (\w+)(?:, version (\S+))?")
LIBRARY = re.compile(r"(\S+\.so[\d.]*): cannot open shared object file")
GLIBC = re.compile(r"version [`']((?:GLIBC|GLIBCXX|CXXABI)_[\d.]+)' not found")
OPERATOR = re.compile(r"operator (\w+::\w+) does not exist")
ATTRIBUTE = re.compile(r"'_OpNamespace' '(\w+)' object has no attribute '(\w+)'")
NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
OTHER_BUILD = "was built for"  # xformers names the torch, CUDA and Python it was built for
STATIC_TLS = "cannot allocate memory in static TLS block"
# What an operation says when the environment is at fault, whoever called it and however.
ENVIRONMENT = (
    "no kernel image",
    "invalid device function",
    "named symbol not found",
    "undefined symbol",
    "cannot open shared object",
    "not compiled with",
    "not compiled for",
    "built without",
    "ptx was compiled with an unsupported toolchain",
    "unsupported gpu architecture",
    "illegal memory access",
    "misaligned address",
    "uncorrectable ecc",
    "device-side assert",
    "driver version is insufficient",
    "cudnn_status_version_mismatch",
    "out of memory",
)
OF_TORCH = re.compile(r"_Z\w*?(?:3c10|2at|5torch|5caffe2)|aoti_torch_|THP|torch_")
SYMBOLS_MAX = 20000


def names_environment(error: BaseException) -> bool:
    """Whether an error can only come from the environment, not from how an operation is called."""
    text = str(error).lower()
    if isinstance(error, OSError) or OPERATOR.search(str(error)):
        return True
    return any(words in text for words in ENVIRONMENT)


def reason(error: BaseException, why: dict[str, Any]) -> str:
    """The ladder's reason for a failed import."""
    if why.get("kind") == "not-installed":
        return "not-installed"
    if isinstance(error, (ImportError, OSError)) or why.get("kind"):
        return "does-not-load"
    return "raised"


def classify(error: BaseException, built: dict[str, Any], module: str = "") -> dict[str, Any]:
    """What is missing, by the loader's own words, and what the package says it was built for.

    ``module`` is what was imported: it is not installed if it is missing itself.
    """
    text = "\n".join(texts(error))
    why = missing(error, text)
    if why.get("kind") == "module" and why["module"] in (module, module.split(".")[0]):
        return {"kind": "not-installed", "module": why["module"]}
    if why.get("kind") == "symbol" and OF_TORCH.match(why["symbol"]):
        why["of"] = "torch"
    if built.get("built_for"):
        why["built_for"] = built["built_for"]
    return why


def texts(error: BaseException) -> list[str]:
    """The texts of an error and of what it was raised from."""
    found: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(found) < 5:
        found.append(str(seen)[:4000])
        seen = seen.__cause__ or seen.__context__
    return found


def missing(error: BaseException, text: str) -> dict[str, Any]:
    """The kind of what is missing and its name; empty where the error is of no known kind."""
    match = SYMBOL.search(text)
    if match:
        return {
            "kind": "symbol",
            "file": match.group(1).split("/")[-1],
            "symbol": match.group(2),
            "abi": abi_of(match.group(2)),
        }
    match = LIBRARY.search(text)
    if match:
        return {"kind": "library", "library": match.group(1).split("/")[-1]}
    match = GLIBC.search(text)
    if match:
        return {"kind": "libc", "version": match.group(1)}
    match = OPERATOR.search(text) or ATTRIBUTE.search(text)
    if match:
        return {"kind": "operator", "operator": "::".join(match.groups())}
    if STATIC_TLS in text:
        return {"kind": "static-tls"}
    if OTHER_BUILD in text:
        return {"kind": "build"}
    if isinstance(error, ModuleNotFoundError):
        return {"kind": "module", "module": error.name}
    match = NAME.search(text)
    if match:
        return {"kind": "name", "name": match.group(1), "module": match.group(2)}
    return {}


def abi_of(symbol: str) -> str | None:
    """Which C++11 ABI a symbol with a std::string in it is written for; None without one."""
    if "__cxx11" in symbol:
        return "new"
    return "old" if re.search(r"(?:RK|E)Ss|Ss$", symbol) else None


def one_by_one(paths: list[str]) -> dict[str, Any]:
    """The loader's words for each library that it refuses, and what of torch's they miss."""
    refused = []
    for path in paths:
        try:
            ctypes.CDLL(path)
        except OSError as error:
            refused.append({"file": os.path.basename(path), "text": str(error)[:500]})
    found: dict[str, Any] = {"refused": refused} if refused else {}
    found.update(unmet_symbols(paths))
    return found


def unmet_symbols(paths: list[str]) -> dict[str, Any]:
    """How many of torch's symbols some libraries ask for are not in the torch of this process."""
    from . import elf

    handles = torch_libraries()
    wanted: set[str] = set()
    for path in paths:
        found = elf.read(path)
        if found is not None and any("torch" in n or "c10" in n for n in found.needed):
            wanted.update(name for name in found.undefined if OF_TORCH.match(name))
    if not handles or not wanted:
        return {}
    unmet = sorted(
        name
        for name in sorted(wanted)[:SYMBOLS_MAX]
        if not any(hasattr(handle, name) for handle in handles)
    )
    return {"torch_symbols": len(wanted), "unmet": len(unmet), "unmet_first": unmet[:5]}


def torch_libraries() -> list[ctypes.CDLL]:
    """Torch's own libraries as they are mapped in this process."""
    handles = []
    for path in libraries.mapped_paths():
        if re.match(r"lib(?:c10|torch)", os.path.basename(path)):
            try:
                handles.append(ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW))
            except OSError:
                continue
    return handles
