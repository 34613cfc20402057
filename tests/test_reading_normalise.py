"""Encodings, terminal codes, quoting and markup are undone; sizes are bounded."""

from __future__ import annotations

import gzip
import time

import pytest

from agent.errors import UsageError
from agent.reading.normalise import END_BYTES, LONG_LINE, page_of_bytes, page_of_text

ERROR = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


def numbered(text: str, data: bytes) -> int:
    """The original line number of the first line that holds this text."""
    page = page_of_bytes(data)
    found = [n for line, n in zip(page.lines(), page.numbers, strict=True) if text in line]
    assert found, f"{text!r} is lost"
    return found[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_usual_encoding_gives_the_same_lines(encoding: str) -> None:
    text = f"Máy của tôi không chạy được:\r\n{ERROR}\r\n我的显卡:RTX 5090\r\n"
    page = page_of_bytes(text.encode(encoding))
    assert page.lines()[1] == ERROR
    assert "Máy của tôi" in page.text
    assert page.numbers[:3] == (1, 2, 3)


def test_windows_1252_is_read_where_utf8_does_not_fit() -> None:
    data = ("Größe über 5 °C: ü ä ö ß é\n" + ERROR).encode("cp1252")
    page = page_of_bytes(data)
    assert "Größe über" in page.text
    assert page.lines()[1] == ERROR


def test_one_broken_byte_does_not_change_the_encoding() -> None:
    data = ("错误信息如下\n" * 30).encode() + b"\xff\n" + ERROR.encode()
    assert "错误信息如下" in page_of_bytes(data).text


def test_line_numbers_are_those_of_the_original_under_crlf() -> None:
    assert numbered(ERROR, f"one\r\ntwo\r\n{ERROR}\r\n".encode()) == 3


def test_a_progress_bar_keeps_its_last_form_and_costs_one_line() -> None:
    bar = "\r".join(f"loading {n:3d}%" for n in range(0, 101, 10))
    page = page_of_bytes(f"{bar}\n{ERROR}\n".encode())
    assert page.lines()[:2] == ["loading 100%", ERROR]
    assert page.numbers[1] == 2


def test_old_line_ends_are_line_ends() -> None:
    page = page_of_bytes(f"a\rb\rc\r{ERROR}\r".encode())
    assert page.lines()[3] == ERROR


@pytest.mark.parametrize(
    "coloured",
    [
        f"\x1b[31m{ERROR}\x1b[0m",
        f"\x1b[1;31;40m{ERROR}\x1b[K\x1b[m",
        f"\x1b]0;title\x07{ERROR}",
        f"\x1b]8;;https://example.org\x1b\\{ERROR}\x1b]8;;\x1b\\",
        f"[0;31m{ERROR}[0m",
        f"\\033[31m{ERROR}\\033[0m",
        f"\u200b{ERROR}\ufeff\u202a",
    ],
)
def test_terminal_codes_and_invisible_marks_go(coloured: str) -> None:
    assert page_of_text(coloured).lines() == [ERROR]


def test_ranks_in_brackets_are_no_colours() -> None:
    line = "node1:97:176 [0] NCCL INFO Channel 00 : 0[100000] -> 1[200000]"
    assert page_of_text(line).lines() == [line]


@pytest.mark.parametrize("mark", ["> ", "> > ", ">> ", ">"])
def test_mail_quoting_goes(mark: str) -> None:
    page = page_of_text(f"Hello,\n{mark}{ERROR}\n{mark}more\n")
    assert page.lines()[1:3] == [ERROR, "more"]


def test_the_python_prompt_stays_even_when_quoted() -> None:
    page = page_of_text(">>> import torch\n> >>> torch.__version__\n")
    assert page.lines()[:2] == [">>> import torch", ">>> torch.__version__"]


def test_fences_and_tracker_tags_go_and_lines_keep_their_numbers() -> None:
    text = f"<details><summary>Logs</summary>\n\n```python\n{ERROR}\n```\n</details>\n"
    page = page_of_text(text)
    assert page.lines()[3] == ERROR
    assert page.numbers[3] == 4
    assert "```" not in page.text
    assert "<details>" not in page.text


def test_what_looks_like_a_tag_but_says_something_stays() -> None:
    line = '  File "<stdin>", line 1, in <module>'
    assert page_of_text(line).lines() == [line]
    assert page_of_text("CUDA_VISIBLE_DEVICES=MIG-<uuid>").text == "CUDA_VISIBLE_DEVICES=MIG-<uuid>"


def test_html_escapes_are_undone() -> None:
    page = page_of_text(
        "ImportError: version &#39;GLIBC_2.34&#39; not found &lt;x&gt; &amp; y&nbsp;z"
    )
    assert page.text == "ImportError: version 'GLIBC_2.34' not found <x> & y z"


def test_typographic_quotes_and_wide_colons_become_plain() -> None:
    page = page_of_text("couldn’t open “libcuda.so.1”\n显卡：RTX 3090")
    assert page.text == 'couldn\'t open "libcuda.so.1"\n显卡:RTX 3090'


@pytest.mark.parametrize("data", [b"", b"   \r\n\t\n", b"\xef\xbb\xbf", b"\x00\x00\x00"])
def test_empty_input_is_a_plain_error(data: bytes) -> None:
    with pytest.raises(UsageError, match="holds no text") as caught:
        page_of_bytes(data, "error.txt")
    assert "error.txt" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"\x7fELF\x02\x01\x01" + b"\x00" * 100, "program"),
        (gzip.compress(b"hello", mtime=0), "gzip"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 60, "picture"),
        (b"PK\x03\x04" + b"\x00" * 60, "zip"),
        (bytes(range(256)) * 40, "binary"),
    ],
)
def test_binary_input_is_named_for_what_it_is(data: bytes, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        page_of_bytes(data)


def test_a_log_with_a_few_zero_bytes_is_still_text() -> None:
    page = page_of_bytes(b"line\n" * 200 + b"\x00\x00" + ERROR.encode())
    assert ERROR in page.text


def test_of_50_mb_the_two_ends_are_read_and_said() -> None:
    middle = b"a line of the middle that nobody needs to read\n" * 1_100_000
    data = b"first line\n" + middle + ERROR.encode() + b"\n"
    assert len(data) > 50_000_000
    started = time.monotonic()
    page = page_of_bytes(data)
    assert time.monotonic() - started < 5
    assert len(page.text) <= 2 * END_BYTES
    assert page.lines()[0] == "first line"
    assert page.numbers[page.lines().index(ERROR)] == 1_100_002
    assert any("two ends were read" in gap.why for gap in page.gaps)


def test_of_a_large_utf16_text_the_ends_stay_letters() -> None:
    text = "dòng thứ nhất\n" + "giữa\n" * 900_000 + ERROR + "\n"
    page = page_of_bytes(text.encode("utf-16-le"))
    assert page.lines()[0] == "dòng thứ nhất"
    assert ERROR in page.lines()


def test_a_long_line_is_judged_by_its_ends_and_said() -> None:
    page = page_of_text("head " + "x" * 50_000 + " " + ERROR + "\nnext")
    first = page.lines()[0]
    assert len(first) < LONG_LINE + 10
    assert first.startswith("head ")
    assert first.endswith(ERROR)
    assert any("judged by their ends" in gap.why for gap in page.gaps)


def test_a_page_finds_lines_by_offset() -> None:
    page = page_of_text("alpha\nbeta\n\ngamma")
    assert page.number_at(page.text.index("gamma")) == 4
    assert [line.pointer for line in page.observed_lines()] == ["line 1", "line 2", "line 4"]
