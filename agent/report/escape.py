"""Makes a stranger's text harmless for the place where it is shown."""

from __future__ import annotations

import html
import re

# Controls (C0, DEL, C1), soft hyphen, bidi marks and overrides, zero-width and other format
# characters, line and paragraph separators, surrogates, tags: all that moves the cursor, hides
# text, or lets it read otherwise than it is.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
# Marks that mean something in Markdown anywhere, at the start of a line, or as a bare address.
_MARKDOWN = re.compile(
    r"[\\`*_\[\]!|~$]|^[#+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]|:(?=//)|(?<=[wW]{3})\."
)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"}  # no mention, no mail link


def terminal(text: str) -> str:
    """One line for a terminal: controls and invisible characters spelled out, tabs as a space."""
    return _UNSEEN.sub(_spelled, text)


def terminal_lines(text: str) -> list[str]:
    """The lines of a text, each safe for a terminal; a carriage return alone ends none."""
    return [terminal(line.removesuffix("\r")) for line in text.split("\n")]


def _spelled(match: re.Match[str]) -> str:
    if match[0] == "\t":
        return " "
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markup(text: str) -> str:
    """Text for HTML content and for quoted attributes; line ends stay."""
    return html.escape("\n".join(terminal_lines(text)), quote=True)


def markdown(text: str) -> str:
    """One line of Markdown that shows the text and nothing else: no markup, link or mention."""
    line = " ".join(terminal_lines(text)).strip()
    line = _MARKDOWN.sub(lambda match: "\\" + match[0], line)
    return "".join(_ENTITIES.get(letter, letter) for letter in line)


def markdown_code(text: str, *, in_table: bool = False) -> str:
    """Inline code that shows the text as it is; in a table even a bar must be escaped."""
    line = " ".join(terminal_lines(text)) or " "
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line[0] in "` " or line[-1] in "` " else ""
    line = line.replace("|", "\\|") if in_table else line
    return f"{fence}{pad}{line}{pad}{fence}"


def markdown_block(text: str) -> str:
    """A fenced block that the text cannot end."""
    lines = "\n".join(terminal_lines(text))
    fence = "`" * max(3, _longest_run(lines) + 1)
    return f"{fence}text\n{lines}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
