"""What /etc/ld.so.cache tells the dynamic loader: which file stands for which library name."""

from __future__ import annotations

import struct
from dataclasses import dataclass

OLD_MAGIC = b"ld.so-1.7.0\0"
NEW_MAGIC = b"glibc-ld.so.cache1.1"
# The low byte of an entry's flags says ELF for glibc, the next one the architecture's ABI.
# (sysdeps/generic/ldconfig.h of glibc)
ABIS = {"x86_64": 0x0300, "aarch64": 0x0A00, "ppc64le": 0x0500, "riscv64": 0x1000}
_HEADER = struct.Struct("<20sIIB3xI12x")
_ENTRY = struct.Struct("<iIIIQ")
_OLD_HEADER = struct.Struct("<11sxI")
_OLD_ENTRY = struct.Struct("<iII")


@dataclass(frozen=True, slots=True)
class Cached:
    """One line of ``ldconfig -p``."""

    name: str
    path: str


def read_cache(data: bytes, architecture: str | None) -> tuple[Cached, ...]:
    """The entries for this architecture in the cache's own order, of which the first counts.

    ``architecture`` None takes all. Raises ValueError for what is no cache of glibc; musl has
    none.
    """
    try:
        start = data.find(NEW_MAGIC)
        if start >= 0:
            return _entries(data, start, architecture)
        if data.startswith(OLD_MAGIC):
            return _old_entries(data, architecture)
    except (struct.error, IndexError) as error:
        raise ValueError("the loader's cache ends too early") from error
    raise ValueError("not a loader cache of glibc")


def _entries(data: bytes, start: int, architecture: str | None) -> tuple[Cached, ...]:
    _, count, _, _, _ = _HEADER.unpack_from(data, start)
    entries = []
    for number in range(count):
        place = start + _HEADER.size + number * _ENTRY.size
        flags, key, value, _, _ = _ENTRY.unpack_from(data, place)
        if _fits(flags, architecture):
            entries.append(Cached(_string(data, start + key), _string(data, start + value)))
    return tuple(entries)


def _old_entries(data: bytes, architecture: str | None) -> tuple[Cached, ...]:
    _, count = _OLD_HEADER.unpack_from(data, 0)
    strings = _OLD_HEADER.size + count * _OLD_ENTRY.size
    entries = []
    for number in range(count):
        place = _OLD_HEADER.size + number * _OLD_ENTRY.size
        flags, key, value = _OLD_ENTRY.unpack_from(data, place)
        if _fits(flags, architecture):
            entries.append(Cached(_string(data, strings + key), _string(data, strings + value)))
    return tuple(entries)


def _fits(flags: int, architecture: str | None) -> bool:
    abi = ABIS.get(architecture or "")
    return abi is None or flags & 0xFF00 == abi


def _string(data: bytes, start: int) -> str:
    end = data.index(b"\0", start)
    return data[start:end].decode("utf-8", "replace")
