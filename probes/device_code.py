"""For which GPUs does a library carry code? Read from the file; nothing is loaded.

NVIDIA's compiler puts "fat binaries" into the section ``.nv_fatbin``: a header, then one header
and one image for each architecture, in the clear even where the image is compressed. AMD's puts
bundles into ``.hip_fatbin`` whose entries are named by target.
"""

from __future__ import annotations

import re
import struct
from typing import Any

from . import elf

MAGIC = 0xBA55ED50
PTX = 1
NVIDIA_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
IMAGES_MAX = 200000
SCAN_BYTES = 64 << 20
TARGET = re.compile(rb"amdgcn-amd-amdhsa-[a-z]*-(gfx[0-9a-f]+)")


def architectures(path: str, sections: list[elf.Section]) -> list[str]:
    """``sm_90`` for compiled code, ``compute_90`` for PTX, ``gfx942``; empty without any."""
    found: set[str] = set()
    with elf.mapped(path) as data:
        for section in sections:
            end = min(section.offset + section.size, len(data))
            if section.name in NVIDIA_SECTIONS:
                found.update(nvidia(data, section.offset, end))
            elif section.name == ".hip_fatbin":
                end = min(end, section.offset + SCAN_BYTES)
                found.update(m.decode() for m in TARGET.findall(data[section.offset : end]))
    return sorted(found, key=by_number)


def by_number(name: str) -> tuple[str, int, str]:
    """Sorts sm_90 before sm_100."""
    digits = re.sub(r"\D", "", name)
    return name.split("_")[0][:3], int(digits or 0), name


def nvidia(data: Any, at: int, end: int) -> set[str]:
    """The architectures of the fat binaries between two places of a file."""
    found: set[str] = set()
    for _ in range(IMAGES_MAX):
        if at + 16 > end:
            break
        magic, _, header, size = struct.unpack_from("<IHHQ", data, at)
        if magic != MAGIC:
            at = data.find(struct.pack("<I", MAGIC), at + 1, min(end, at + 4096))
            if at < 0:
                break
            continue
        found.update(images(data, at + header, min(end, at + header + size)))
        at = (at + header + size + 7) & ~7
    return found


def images(data: Any, at: int, end: int) -> set[str]:
    """The architectures of one fat binary's images."""
    found = set()
    while at + 32 <= end:
        kind, _, header, size = struct.unpack_from("<HHIQ", data, at)
        architecture = struct.unpack_from("<I", data, at + 28)[0]
        if header < 32 or not 20 <= architecture <= 200:
            break
        found.add("%s_%d" % ("compute" if kind == PTX else "sm", architecture))
        at += header + size
    return found
