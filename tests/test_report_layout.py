"""Wrapping by the columns that characters take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.report.layout import cells, seconds, shortened, wrap

WORDS = st.text(st.sampled_from("ab 東é\u0301😀"), max_size=200)


@given(WORDS, st.integers(8, 40))
def test_hard_wrapping_keeps_the_width_and_every_character(text: str, width: int) -> None:
    lines = wrap(text, first="- ", width=width, hard=True)
    assert all(cells(line) <= width for line in lines)
    assert all(line.startswith(("- ", "  ")) for line in lines)
    assert "".join("".join(line[2:].split()) for line in lines) == "".join(text.split())


def test_words_are_kept_whole_so_that_they_can_be_copied() -> None:
    address = "https://download.pytorch.org/" + "x" * 100
    lines = wrap(f"pip install --index-url {address} torch", first="  1. ", width=40)
    assert f"     {address}" in lines
    assert lines[0] == "  1. pip install --index-url"


def test_nothing_is_one_line() -> None:
    assert wrap("", first="x ") == ["x "]


def test_wide_characters_take_two_columns() -> None:
    assert cells("東京") == 4
    assert cells("e\u0301") == 1
    assert shortened("東京東京", 5) == "東京…"
    assert shortened("abc", 3) == "abc"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "0.00 s"), (0.042, "0.04 s"), (1.26, "1.3 s"), (12.4, "12 s"), (185.0, "3 min 5 s")],
)
def test_durations(value: float, expected: str) -> None:
    assert seconds(value) == expected
