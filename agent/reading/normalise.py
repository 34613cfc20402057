"""From pasted bytes to plain lines: encodings, terminal codes, quoting and markup are undone.

What is done, in this order: the middle of a very large input is left out (its ends are read);
bytes become text (byte order marks, UTF-8, UTF-16, else Windows-1252); line ends become ``\\n``
and a line that a progress bar rewrote keeps its last form; terminal codes, zero-width and
bidirectional marks go; HTML escapes are undone and tags of issue trackers removed; mail quoting
("> ") and Markdown fences go. Line numbers are those of the original.
"""

from __future__ import annotations

import codecs
import html
import re

from agent.errors import UsageError
from agent.model import Gap
from agent.reading.page import Page, page_of

END_BYTES = 512 << 10  # of a larger input so much is read at each end
LONG_LINE = 8 << 10  # characters; a longer line is judged by its ends
LINE_END = LONG_LINE // 2
MAGIC = (
    (b"\x7fELF", "a program or library"),
    (b"\x1f\x8b", "a gzip archive; unpack it first (gunzip)"),
    (b"PK\x03\x04", "a zip archive; unpack it first (unzip)"),
    (b"\xfd7zXZ", "an xz archive; unpack it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first (unzstd)"),
    (b"BZh", "a bzip2 archive; unpack it first (bunzip2)"),
    (b"\x89PNG", "a picture; paste the text itself"),
    (b"\xff\xd8\xff", "a picture; paste the text itself"),
    (b"GIF8", "a picture; paste the text itself"),
    (b"%PDF", "a PDF; copy the text out of it"),
)
_CONTROL = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")


def page_of_bytes(data: bytes, name: str = "the input") -> Page:
    """Return the cleaned page of raw bytes; raises UsageError for empty or binary input."""
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise UsageError(
            f"{name} holds no text",
            "paste the error message or the tool's output, for example: nvidia-smi 2>&1 | "
            "agent explain -",
        )
    for magic, what in MAGIC:
        if data.startswith(magic):
            raise UsageError(f"{name} is not text: it is {what}", "give a text file")
    encoding = encoding_of(data)
    if encoding is None:
        raise UsageError(
            f"{name} is not text: it holds binary data",
            "give the text that the program printed, not a file it made",
        )
    if len(data) <= 2 * END_BYTES:
        return page_of_text(_decoded(data, encoding))
    head, tail, skipped_lines = _ends(data, wide=encoding.startswith("utf-16"))
    kept = len(head) + len(tail)
    gap = Gap(
        pointer="/lines",
        why=f"the input has {len(data)} bytes; {kept} bytes at its two ends were read",
        said_by="reading",
    )
    first = _decoded(head, encoding)
    last = _decoded(tail, encoding)
    return _clean(first, last, skipped_lines, (gap,))


def page_of_text(text: str) -> Page:
    """Return the cleaned page of a text that is already decoded; never raises."""
    if len(text) <= 2 * END_BYTES:
        return _clean(text, "", 0, ())
    cut = text.rfind("\n", 0, END_BYTES) + 1 or END_BYTES
    again = text.find("\n", len(text) - END_BYTES) + 1 or len(text) - END_BYTES
    gap = Gap(
        pointer="/lines",
        why=f"the text has {len(text)} characters; its two ends were read",
        said_by="reading",
    )
    return _clean(text[:cut], text[again:], text.count("\n", cut, again), (gap,))


def encoding_of(data: bytes) -> str | None:
    """Return the name of the text encoding, or None where the bytes are no text."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return encoding
    sample = data[: 64 << 10]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = max(1, len(sample) // 2)
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    if len(_CONTROL.findall(sample)) > 0.02 * len(sample):
        return None
    return "utf-8"


def _decoded(data: bytes, encoding: str) -> str:
    if encoding != "utf-8":
        return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        # Few broken bytes are a damaged UTF-8 text; many are another encoding.
        return text if text.count("�") * 50 < len(text) else data.decode("cp1252", "replace")


def _ends(data: bytes, *, wide: bool) -> tuple[bytes, bytes, int]:
    """Return both ends, cut where a line ends, and how many line ends lie between them."""
    cut = data.rfind(b"\n", 0, END_BYTES) + 1 or END_BYTES
    start = len(data) - END_BYTES
    again = data.find(b"\n", start) + 1 or start
    if wide:
        cut, again = cut - cut % 2, again + again % 2
    return data[:cut], data[again:], data.count(b"\n", cut, again)


# ---------------------------------------------------------------- cleaning
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor moves
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b[@-Z\\^_=>78]"
    r"|(?:␛|\\x1b|\\033|\\u001b|\^\[)\[[0-9;]{0,20}[mK]"  # colours that somebody printed as text
    r"|\[\d{1,3}(?:;\d{1,3}){0,4}m"  # colours whose escape was lost on the way
)
_TAG = re.compile(
    r"</?(?:details|summary|pre|code|br|p|div|span|b|i|em|strong|kbd|samp|li|ul|ol|blockquote|td|tr"
    r"|table|tbody|h[1-6])(?:\s[^<>\n]{0,200})?/?>",
    re.I,
)
_ESCAPE = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_QUOTED = re.compile(r"(?:> )+|>(?=>? ?[^>\s])")
_FENCE = re.compile(r"[ \t]{0,8}(?:```|~~~)[\w+.-]{0,20}[ \t]*$")
_DROP = dict.fromkeys(
    [
        *range(9),
        0x0B,
        *range(0x0E, 0x20),
        0x7F,
        0xAD,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x206A),
        0xFEFF,
    ]
)
_TRANSLATE: dict[int, str | None] = {
    **_DROP,
    **dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
    **dict.fromkeys([0x0C, 0x85, 0x2028, 0x2029], " "),  # no line ends: numbers must stay
    0x2018: "'",
    0x2019: "'",
    0x201C: '"',
    0x201D: '"',
    0xFF1A: ":",
    0xFF0C: ",",
    0xFF08: "(",
    0xFF09: ")",
    0xFF1D: "=",
    0x2502: "|",
    0x2503: "|",
}


def _clean(head: str, tail: str, skipped: int, gaps: tuple[Gap, ...]) -> Page:
    lines: list[str] = []
    numbers: list[int] = []
    first = 1
    longest = 0
    for part in (head, tail):
        part = _plain(part)
        quoted = part.startswith(">") or "\n>" in part
        marked = "`" in part or "~~~" in part
        raw = part.split("\n")
        for number, line in enumerate(raw, first):
            if "\r" in line:
                line = last_form(line)
            if quoted and line.startswith(">"):
                line = unquoted(line)
            if marked and _FENCE.match(line):
                line = ""
            if len(line) > LONG_LINE:
                longest = max(longest, len(line))
                line = f"{line[:LINE_END]} … {line[-LINE_END:]}"
            lines.append(line)
            numbers.append(number)
        first += len(raw) - 1 + skipped
        if not tail:
            break
    if longest:
        why = f"lines over {LONG_LINE} characters (up to {longest}) are judged by their ends"
        gaps = (*gaps, Gap(pointer="/lines", why=why, said_by="reading"))
    return page_of(lines, numbers, gaps)


def _plain(text: str) -> str:
    """Return the text without terminal codes, invisible marks, escapes and tags."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text and text.count("\r") > 2:
            text = text.replace("\r", "\n")  # an old line ending, not a progress bar
    if "&" in text:
        text = _ESCAPE.sub(lambda match: html.unescape(match[0]), text)
    if "\x1b" in text or "[" in text:
        text = _ANSI.sub("", text)
    if "<" in text:
        text = _TAG.sub("", text)
    return text.translate(_TRANSLATE) if not _is_plain(text) else text


_ODD = re.compile(r"[^\t\n\r -~]")


def _is_plain(text: str) -> bool:
    return _ODD.search(text) is None


def last_form(line: str) -> str:
    """Return what a terminal would show of a line that carriage returns rewrote."""
    for form in reversed(line.split("\r")):
        if form and not form.isspace():
            return form
    return ""


def unquoted(line: str) -> str:
    """Return the line without mail quoting; Python's own prompt stays."""
    while line.startswith(">") and not line.startswith(">>>"):
        rest = _QUOTED.sub("", line, count=1) if _QUOTED.match(line) else line.lstrip("> ")
        if rest == line:
            break
        line = rest
    return "" if line.strip() == ">" else line
