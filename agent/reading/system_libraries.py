"""Shared libraries that ldconfig -p, ldd, find and error messages name with their path."""

from __future__ import annotations

import re

from agent.model import Library
from agent.reading.draft import TOOL, Draft
from agent.reading.page import Page

_CACHED = re.compile(
    r"^[ \t>]*(lib[\w.+-]+\.so[\w.]*) (?:\(libc6[^)\n]*\) )?=> (/\S+|not found)", re.M
)
_VERSIONED = re.compile(r"(/[\w./+-]*/(lib(?:cuda|nvidia-ml)\.so)\.(\d{3}\.\d[\d.]*\d))\b")
_STUBS = re.compile(r"(/[\w./+-]*/stubs/(libcuda\.so(?:\.1)?))\b")
_GPU_LIBRARY = re.compile(
    r"lib(?:cuda|nvidia|nv|cu[a-z]+|nccl|rccl|hip|hsa|amd|roc|torch|c10|mkl|MIOpen|stdc)"
)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft with the libraries, and the version of the driver's libcuda."""
    text = page.text
    if "=>" in text:
        for match in _CACHED.finditer(text):
            if _GPU_LIBRARY.match(match[1]):
                found = match[2] if match[2].startswith("/") else None
                _library(draft, match[1], found, "loader" if "libc6" in match[0] else "text")
    if ".so." not in text:
        return
    for match, line in page.find(_VERSIONED):
        if match[2] == "libcuda.so":
            draft.put("nvidia.libcuda_version", match[3], line, TOOL)
        _library(draft, match[2] + ".1", match[1], "text", match[3])
    for match in _STUBS.finditer(text):
        draft.add_library(Library(soname=match[2], path=match[1], origin="stub", seen_by="text"))


def _library(
    draft: Draft, soname: str, path: str | None, seen_by: str, version: str | None = None
) -> None:
    origin = None
    if path:
        for part, name in (
            ("/stubs/", "stub"),
            ("/compat/", "compat"),
            ("cuda-compat", "compat"),
            ("-packages/nvidia/", "wheel"),
            ("/torch/lib/", "wheel"),
            ("conda", "conda"),
            ("/usr/local/cuda", "toolkit"),
            ("/usr/lib", "system"),
            ("/lib", "system"),
        ):
            if part in path:
                origin = name
                break
    draft.add_library(
        Library(soname=soname, path=path, version=version, origin=origin, seen_by=seen_by)
    )
