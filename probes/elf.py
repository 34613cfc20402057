"""What does a shared library say of what it needs: libraries, symbols, and their versions?

Reads ELF files of 64 bits, little endian, with the standard library alone (gABI chapters 4 and 5;
symbol versions: the Linux Standard Base, chapter 10). A file that is something else gives None.
"""

from __future__ import annotations

import contextlib
import mmap
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

SYMBOLS_MAX = 400000
VERSIONS_MAX = 1000
# What reading a file can end in that is cut off, damaged, or made to mislead.
DAMAGE = (OSError, ValueError, OverflowError, IndexError, struct.error)
DYNAMIC, STRINGS, DYNAMIC_SYMBOLS, VERSIONS_NEEDED = 6, 3, 11, 0x6FFFFFFE
NEEDED, SONAME = 1, 14


class Section(NamedTuple):
    """A section's name, type, place in the file, and the section that it refers to."""

    name: str
    kind: int
    offset: int
    size: int
    link: int


class Elf(NamedTuple):
    """What a library needs of others."""

    soname: str | None
    needed: list[str]
    undefined: list[str]
    versions: list[str]  # GLIBC_2.34, GLIBCXX_3.4.30, as they are asked for
    sections: list[Section]


def read(path: str) -> Elf | None:
    """The library's needs, or None where the file is not an ELF file of this kind."""
    try:
        with mapped(path) as data:
            return parse(data)
    except DAMAGE:
        return None


@contextlib.contextmanager
def mapped(path: str) -> Iterator[Any]:
    """The bytes of a file, of which only those pages are read that are looked at."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        yield data
    finally:
        data.close()


def parse(data: Any) -> Elf | None:
    """The needs of a library whose bytes these are."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    sections = sections_of(data)
    needed: list[str] = []
    undefined: list[str] = []
    versions: list[str] = []
    soname = None
    for section in sections:
        if section.kind == DYNAMIC:
            strings = sections[section.link]
            for tag, value in pairs(data, section):
                if tag == NEEDED:
                    needed.append(text(data, strings, value))
                elif tag == SONAME:
                    soname = text(data, strings, value)
        elif section.kind == DYNAMIC_SYMBOLS:
            undefined += undefined_symbols(data, section, sections[section.link])
        elif section.kind == VERSIONS_NEEDED:
            versions += versions_needed(data, section, sections[section.link])
    return Elf(soname, needed, undefined, sorted(set(versions)), sections)


def sections_of(data: Any) -> list[Section]:
    """The table of sections."""
    offset = struct.unpack_from("<Q", data, 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQI", data, offset + size * place) for place in range(count)]
    if not rows:
        return []
    start = rows[names][4]
    return [Section(string(data, start + row[0]), row[1], row[4], row[5], row[6]) for row in rows]


def pairs(data: Any, section: Section) -> list[tuple[int, int]]:
    """The entries of the dynamic section."""
    end = section.offset + section.size
    return [struct.unpack_from("<QQ", data, at) for at in range(section.offset, end - 15, 16)]


def undefined_symbols(data: Any, section: Section, strings: Section) -> list[str]:
    """The names that the library expects others to define; weak ones may be missing."""
    names = []
    for place in range(min(section.size // 24, SYMBOLS_MAX)):
        name, info, _, index = struct.unpack_from("<IBBH", data, section.offset + 24 * place)
        if index == 0 and name and info >> 4 == 1:
            names.append(text(data, strings, name))
    return names


def versions_needed(data: Any, section: Section, strings: Section) -> list[str]:
    """The symbol versions that the library asks for."""
    found: list[str] = []
    at, end = section.offset, section.offset + section.size
    while at < end and len(found) < VERSIONS_MAX:
        _, count, _, first, following = struct.unpack_from("<HHIII", data, at)
        one = at + first
        for _ in range(min(count, VERSIONS_MAX)):
            _, _, _, name, step = struct.unpack_from("<IHHII", data, one)
            found.append(text(data, strings, name))
            one += step
        if not following:
            break
        at += following
    return found


def text(data: Any, strings: Section, at: int) -> str:
    """A string of a table of strings."""
    return string(data, strings.offset + at)


def string(data: Any, at: int) -> str:
    """The string that starts at a place in the file."""
    end = data.find(b"\0", at, at + 4096)
    return bytes(data[at : end if end >= 0 else at]).decode("utf-8", "backslashreplace")
