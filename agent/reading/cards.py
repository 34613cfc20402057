"""Which GPU a name in a text means: vendor, capability and model, however it is written.

People write "4x 1080 Ti", "A10 vGPU (Standard_NV36ads_A10_v5)" or "DGX Spark", not the driver's
name. Capabilities are those of NVIDIA's list (developer.nvidia.com/cuda-gpus and its legacy
page) and of AMD's (rocm.docs.amd.com, GPU architecture specifications).
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from agent.model import Vendor


class Card(NamedTuple):
    """A GPU model as a text names it."""

    vendor: Vendor
    model: str  # the distinguishing words, lower case: "rtx 3090", "a100"
    architecture: str | None


def _words(pattern: str) -> str:
    """Spaces in a pattern stand for what people put there: nothing, a space or a dash."""
    return pattern.replace(" ", r"[\s_-]?")


# First match wins, so longer names stand before the shorter ones that they contain.
_NVIDIA: tuple[tuple[str, str | None], ...] = (
    (r"b300|gb300", "10.3"),
    (r"gb10\b|dgx spark", "12.1"),
    (r"gb200|b200|b100", "10.0"),
    (r"(?:jetson )?(?:agx )?thor", "11.0"),
    (r"rtx pro [2456]\d00(?: blackwell)?", "12.0"),
    (r"(?:geforce )?(?:rtx )?50[56789]0(?: ti| super| d)?", "12.0"),
    (r"gh200|h100l?|h200|h800|h20\b", "9.0"),
    (r"l40s?|l4\b|l20\b|l2\b", "8.9"),
    (r"rtx (?:[2456]000|4500|5880)(?: sff)? ada|[2456]000 ada", "8.9"),
    (r"(?:geforce )?(?:rtx )?40[56789]0(?: ti super| ti| super| d)?", "8.9"),
    (r"a100x?|a800|a30x?\b", "8.0"),
    (r"(?:jetson )?(?:agx )?orin(?: nano| nx)?", "8.7"),
    (r"rtx a[2456][05]00|a[2345]000\b|a5500|a4500|a6000", "8.6"),
    (r"a10g?\b|a10m|a16\b|a2\b|a40\b", "8.6"),
    (r"(?:geforce )?(?:rtx )?30[56789]0(?: ti| super)?", "8.6"),
    (r"(?:jetson )?(?:agx )?xavier(?: nx)?", "7.2"),
    (r"titan rtx|quadro rtx \d000|rtx [3456]000\b|quadro t\d{3,4}|t4g?\b|t400|t600|t1000", "7.5"),
    (r"(?:geforce )?(?:rtx )?20[678]0(?: ti| super)?", "7.5"),
    (r"(?:geforce )?(?:gtx )?16[356]0(?: ti| super)?", "7.5"),
    (r"v100s?|titan v\b|quadro gv100|gv100", "7.0"),
    (r"(?:jetson )?tx2", "6.2"),
    (r"p100|gp100", "6.0"),
    (r"gtx titan x\b", "5.2"),
    (r"p40\b|p4\b|p6\b|titan xp?\b|quadro p\d{3,4}|p[12456]000\b", "6.1"),
    (r"(?:geforce )?(?:gtx )?10[5678]0(?: ti)?|gt 1030|mx[123][135]0", "6.1"),
    (r"(?:jetson )?tx1|jetson nano", "5.3"),
    (r"m40|m60|m4\b|m6\b|quadro m[2456]\d{3}", "5.2"),
    (r"(?:geforce )?gtx 9[5678]0(?:m| ti)?", "5.2"),
    (r"(?:geforce )?gtx 75\d(?: ti)?|quadro k[12]200|quadro k620|m10\b|940mx?|9[34]0m", "5.0"),
    (r"k80", "3.7"),
    (r"k40[cmst]?|k20[cmx]?|gtx titan(?: black| z)?\b|gtx 780(?: ti)?|quadro k6000", "3.5"),
    (r"(?:geforce )?(?:gt )?7[013]0\b", "3.5"),
    (r"k10\b|gtx 6[5678]0(?: ti)?|gtx 7[67]0|quadro k[2345]000|k520", "3.0"),
    (r"gtx [45][5678]0(?: ti)?|quadro [4567]000\b|[cm]20[57]\d", "2.0"),
)
_AMD: tuple[tuple[str, str | None], ...] = (
    (r"mi35[05]x?", "gfx950"),
    (r"mi3(?:00[axc]|08x|25x)|mi300", "gfx942"),
    (r"mi2(?:50x?|10)", "gfx90a"),
    (r"mi100", "gfx908"),
    (r"mi[56]0|radeon (?:pro )?vii|vega ?20", "gfx906"),
    (r"mi25|vega ?(?:10|56|64|fe)|radeon pro wx ?9100", "gfx900"),
    (r"strix halo|(?:radeon )?80[456]0s|ai max\+? ?(?:pro )?3[89]\d", "gfx1151"),
    (r"strix point|(?:radeon )?8[89]0m", "gfx1150"),
    (r"krackan|(?:radeon )?860m", "gfx1152"),
    (r"phoenix|hawk point|(?:radeon )?7[468]0m", "gfx1103"),
    (r"rembrandt|(?:radeon )?6[68]0m", "gfx1035"),
    (r"(?:rx )?9070(?: xt| gre)?|r9700", "gfx1201"),
    (r"(?:rx )?9060(?: xt)?", "gfx1200"),
    (r"(?:rx )?7900(?: xtx| xt| gre|m)?|w7[89]00", "gfx1100"),
    (r"(?:rx )?7[78]00(?: xt)?|w7700", "gfx1101"),
    (r"(?:rx )?7[67]00(?:m xt|s)|(?:rx )?7600(?: xt)?|w7[56]00", "gfx1102"),
    (r"rx 6[89][05]0(?: xt)?|w6800", "gfx1030"),
    (r"rx 67[05]0(?: xt)?", "gfx1031"),
    (r"rx 6[67][05]0(?: xt)?|w6600", "gfx1032"),
    (r"rx 6[45]00(?: xt)?", "gfx1034"),
    (r"rx 5[67]00(?: xt)?", "gfx1010"),
    (r"rx 5500(?: xt)?", "gfx1012"),
    (r"rx [45][789]0x?", "gfx803"),
)
# Processors whose GPU uses the host's memory (APUs, Jetson, GB10).
SHARED_MEMORY = frozenset(
    "gfx902 gfx90c gfx1033 gfx1035 gfx1036 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "  # noqa: SIM905
    "5.3 6.2 7.2 8.7 11.0 12.1".split()
)
# Names that say the vendor and nothing about the capability.
_SERIES: tuple[tuple[str, Vendor], ...] = (
    (r"rx 9000 series", "amd"),
    (r"rx \d{4}|instinct|radeon|ryzen|amd", "amd"),
    (r"nvidia|geforce|quadro|tesla|titan|rtx|gtx", "nvidia"),
)


_AMD_WORDS = re.compile(r"\b(?:amd|radeon|instinct|rx[\s_-]?\d)", re.I)


@cache
def _pattern(words: str) -> re.Pattern[str]:
    # A model number may follow its series without a space, "RTX4090", but not other letters.
    return re.compile(rf"(?<![a-z0-9.])(?:rtx|gtx|rx)?(?:{_words(words)})(?![0-9])", re.I)


@cache
def card_named(text: str) -> Card | None:
    """Return the GPU that a name means, or None where it names none.

    The architecture is None where only the make is certain, such as "Quadro".
    """
    text = text[:300]
    amd = _AMD_WORDS.search(text) is not None
    if not amd:
        for words, architecture in _NVIDIA:
            found = _pattern(words).search(text)
            if found:
                return Card("nvidia", _model(found[0]), architecture)
    for words, architecture in _AMD:
        found = _pattern(words).search(text)
        # A bare number such as 6800 is AMD's only where the text says so.
        if found and (amd or not found[0].strip().isdigit()):
            return Card("amd", _model(found[0]), architecture)
    for words, vendor in _SERIES:
        if re.search(_words(words), text, re.I):
            return Card(vendor, "", None)
    return None


def _model(text: str) -> str:
    words = re.sub(r"[\s_-]+", " ", text.lower()).strip()
    words = re.sub(r"^geforce ", "", words)
    return re.sub(r"^(rtx|gtx|rx)(?=\d)", r"\1 ", words)


_COUNT_BEFORE = re.compile(r"^(\d{1,2})\s*(?:x|×|\*)\s*|^(\d)\s+(?=[A-Za-z])", re.I)
_COUNT_AFTER = re.compile(
    r"\s*(?:\(?\s*[x×*]\s*(\d{1,2})\)?|\((\d{1,2})\s*(?:GPUs?|cards?|pcs)\))"
    r"(?:\s+(?:or more|of \d+))?\s*$",
    re.I,
)
_SEPARATOR = re.compile(
    r"\s+\+\s+|;\s*|\s+and\s+|\s+&\s+|,\s+(?=\d+\s*x|NVIDIA|GeForce|Tesla|RTX|GTX|AMD)"
)


def cards_described(text: str) -> list[tuple[str, int]]:
    """Return the names and counts in a description such as "Tesla K80 + 2x Tesla K40c"."""
    described: list[tuple[str, int]] = []
    for part in _SEPARATOR.split(text[:500]):
        name, count = part.strip(" ,.;"), 1
        found = _COUNT_BEFORE.match(name)
        if found:
            count = int(found[1] or found[2])
            name = name[found.end() :]
        found = _COUNT_AFTER.search(name)
        if found:
            count = int(found[1] or found[2])
            name = name[: found.start()]
        if name:
            described.append((name.strip(), min(max(count, 1), 64)))
    return described
