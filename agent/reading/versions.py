"""How versions are spelled in texts, and the one spelling the rules compare."""

from __future__ import annotations

import re

_DRIVER = re.compile(r"(?<![\d.])(\d{3}(?:\.\d{1,3}){0,2})(?![\d])")
_DOTTED = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d{1,6}){1,3})")
_TORCH = re.compile(r"(?<![\w.])v?(\d{1,2}\.\d{1,2}(?:\.\d{1,3})?(?:[\w.+-]{0,60})?)")
_BUILD = re.compile(r"\+(?:git[0-9a-f]+\.)?((?:cu|rocm|cpu|xpu)[\d.]*)")
_CONDA_BUILD = re.compile(r"(?:^|_)(?:(cpu)|cuda[_]?(\d{1,2})\.?(\d)|(rocm[\d.]+))(?:_|$|\.)")


def driver_version(text: str) -> str | None:
    """Return an NVIDIA driver version (or its branch) in a text, or None.

    An upper bound ("<580") is no version; "580 or newer" gives "580".
    """
    if re.search(r"(?:<|below|older than|under)\s*\d{3}", text):
        return None
    found = _DRIVER.search(text)
    return found[1] if found else None


def dotted(text: str) -> str | None:
    """Return the first dotted version in a text, or None."""
    found = _DOTTED.search(text)
    return found[1] if found else None


def torch_version(text: str) -> str | None:
    """Return a torch version with its local part ("2.9.1+cu130"), or None.

    "2.9.1 (cu130)" is read as "2.9.1+cu130".
    """
    found = _TORCH.search(text)
    if not found:
        return None
    version = found[1].rstrip(".-,;:)")
    beside = re.search(r"\((?:\+)?((?:cu\d{2,3}|cpu|rocm[\d.]+))\)", text[found.end() :])
    return f"{version}+{beside[1]}" if beside and "+" not in version else version


def build_of(version: str) -> str | None:
    """Return the build in a version's local part: cu130, cpu, rocm6.4, or None."""
    found = _BUILD.search(version)
    return found[1] if found else None


def build_of_conda(build: str) -> str | None:
    """Return the build that a conda build string names: "py3.8_cuda11.3_cudnn8" is cu113."""
    found = _CONDA_BUILD.search(build)
    if not found:
        return None
    if found[1]:
        return "cpu"
    return found[4] or f"cu{found[2]}{found[3]}"


def cuda_of(text: str) -> str | None:
    """Return the major and minor number of the first dotted version in a text, or None."""
    version = dotted(text)
    return ".".join(version.split(".")[:2]) if version else None


def cuda_of_build(build: str | None) -> str | None:
    """Return the CUDA version that a build such as cu130 or cu92 was made with."""
    if not build or not build.startswith("cu") or not build[2:].isdigit():
        return None
    digits = build[2:]
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) in (2, 3) else None


def cuda_of_number(number: str) -> str | None:
    """Return 12.4 for 12040, as cuDriverGetVersion counts; None for anything else."""
    if not number.isdigit() or not 5000 <= int(number) < 100000:
        return None
    value = int(number)
    return f"{value // 1000}.{value % 1000 // 10}"


def capability(text: str) -> str | None:
    """Return a compute capability as "9.0": from sm_90, sm_121a, compute_90, (9, 0) or 9.0."""
    found = re.search(r"(?:sm|compute)_?(\d{2,3})[af]?(?!\d)", text)
    if found:
        return f"{found[1][:-1]}.{found[1][-1]}"
    found = re.search(r"(?<![\d.])(\d{1,2})\s?[.,]\s?(\d)(?![\d.])", text)
    return f"{found[1]}.{found[2]}" if found else None


def bytes_of(number: str, unit: str) -> int:
    """Return bytes of a number with a unit (B, K, KiB, MiB, GB, G, T); units count in 1024."""
    power = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}.get(unit[:1].lower(), 0)
    return int(float(number) * 1024**power)


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s?([KMGTP]i?B?|bytes|B)\b", re.I)


def size(text: str) -> int | None:
    """Return the bytes that a text such as "11.92 GiB" states, or None."""
    found = _SIZE.search(text)
    return bytes_of(found[1], found[2]) if found else None
