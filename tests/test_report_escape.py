"""A stranger's text can neither steer a terminal nor become markup, link or mention."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.report.escape import (
    markdown,
    markdown_block,
    markdown_code,
    markup,
    terminal,
    terminal_lines,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x1b]52;c;ZXZpbA==\x1b\\", "\\x1b]52;c;ZXZpbA==\\x1b\\"),
        ("\x9b31m\x9d0;x\x9c", "\\x9b31m\\x9d0;x\\x9c"),
        ("over\rwritten\b\x7f", "over\\x0dwritten\\x08\\x7f"),
        ("a\nb", "a\\x0ab"),
        ("a\tb", "a b"),
        ("\u202egnp.exe\u202c", "\\u202egnp.exe\\u202c"),
        ("\u2066x\u2069 \u200f\u061c", "\\u2066x\\u2069 \\u200f\\u061c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\udc80", "\\udc80"),
        ("Đà Nẵng 東京 😀 “quoted” …", "Đà Nẵng 東京 😀 “quoted” …"),
    ],
)
def test_terminal(text: str, expected: str) -> None:
    assert terminal(text) == expected


@given(st.text(st.characters()))
def test_no_control_or_format_character_reaches_a_terminal(text: str) -> None:
    for letter in terminal(text):
        # Cf holds a few marks of the Arabic and Kaithi scripts that take up a cell of their own.
        visible = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
        category = unicodedata.category(letter)
        assert category not in ("Cc", "Cs", "Zl", "Zp")
        assert category != "Cf" or letter in visible or ord(letter) > 0x11000


def test_lines_end_at_newlines_only() -> None:
    assert terminal_lines("a\r\nb\rc\u2028d\x0be") == ["a", "b\\x0dc\\u2028d\\x0be"]


@given(st.text())
def test_html_is_text_again_for_a_browser(text: str) -> None:
    shown = markup(text)
    assert not re.search(r"[<>\"']", shown)
    assert html.unescape(shown) == "\n".join(terminal_lines(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*bold* _it_ `code`", "\\*bold\\* \\_it\\_ \\`code\\`"),
        ("[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"),
        ("![x](http://e)", "\\!\\[x\\](http\\://e)"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("see https://evil.example", "see https\\://evil.example"),
        ("WWW.evil.example", "WWW\\.evil.example"),
        ("@all me@x.org", "@\u200ball me@\u200bx.org"),
        ("# head", "\\# head"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("a | b", "a \\| b"),
        ("two\nlines", "two lines"),
        ("torch 2.14.1+cu130 - ok", "torch 2.14.1+cu130 - ok"),
    ],
)
def test_markdown(text: str, expected: str) -> None:
    assert markdown(text) == expected


@given(st.text(st.sampled_from("`a |\n\r<")))
def test_code_and_blocks_cannot_be_left(text: str) -> None:
    code = markdown_code(text)
    fence = re.match("`+", code)
    assert fence is not None
    inner = code[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inner)
    assert "\n" not in code
    block = markdown_block(text).split("\n")
    assert block[-1] == block[0].removesuffix("text")
    assert not any(line.startswith(block[-1]) for line in block[1:-1])


def test_code_in_a_table_cannot_open_a_cell() -> None:
    assert markdown_code("a|b", in_table=True) == "`a\\|b`"
    assert markdown_code("a|b") == "`a|b`"
