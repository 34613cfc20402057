"""What is written while a run goes on: one live line on a terminal, whole lines elsewhere."""

from __future__ import annotations

import fcntl
import io
import os
import re
import struct
import sys
import termios
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pexpect
import pytest

from agent.report.layout import Row
from agent.report.screen import Screen, has_colour, print_rows

from .samples import failed_stages, sample_stages

PROGRAM = """
import sys, time
from agent.report.layout import Row
from agent.report.screen import Screen, print_rows
from tests.samples import failed_stages
screen = Screen(quiet="quiet" in sys.argv)
screen.started("quick", "9.9")
for passed in (0.0, 0.3, 0.6):
    screen.waiting("device", "host", "opening \\x1b[2J", passed, 120.0)
    time.sleep(0.25)
screen.finished(failed_stages()[-1])
screen.waiting("memory", "host", "", 1.0, float("inf"))
screen.close()
print_rows([Row(text="BLOCKED", tone="bad"), Row(text="plain"), Row(text="so", tone="faint")],
           sys.stdout)
"""


def on_terminal(*arguments: str, **environ: str) -> str:
    """Everything that the program writes to a real terminal."""
    env = {"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8", **environ}
    child = pexpect.spawn(
        sys.executable,
        ["-c", PROGRAM, *arguments],
        env={**env, "PYTHONPATH": str(Path(__file__).parent.parent)},
        timeout=30,
        encoding="utf-8",
        dimensions=(24, 80),
    )
    child.expect(pexpect.EOF)
    return child.before or ""


def test_on_a_terminal_the_stage_in_work_counts_up_to_its_limit_on_one_line() -> None:
    out = on_terminal()
    assert "firstlight 9.9: looking at this machine (depth quick)" in out
    drawn = [part for part in out.split("\r") if "in work     device" in part]
    assert len(drawn) >= 2
    assert all("\n" not in part for part in drawn)
    assert "of at most 120" in drawn[0] or "at most 2 min" in drawn[0]
    assert "\x1b[2J" not in out
    assert "failed      matmul" in out
    assert out.index("failed      matmul") > out.index("in work     device")


def test_colour_repeats_what_words_say_and_can_be_switched_off() -> None:
    coloured, plain = on_terminal(), on_terminal(NO_COLOR="1")
    assert re.search(r"\x1b\[[0-9;]*31mBLOCKED", coloured)
    assert "\x1b[" not in plain
    words = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert words.split("failed")[1].split() == plain.split("failed")[1].split()
    assert "\x1b[" not in on_terminal(TERM="dumb")


def test_quiet_says_nothing_while_it_works() -> None:
    out = on_terminal("quiet")
    assert "looking at" not in out
    assert "in work" not in out
    assert "failed" not in out
    assert "BLOCKED" in out


def test_elsewhere_only_whole_lines_are_written() -> None:
    stream = io.StringIO()
    screen = Screen(stream, environ={})
    screen.started("quick", "9.9")
    screen.waiting("device", "host", "opening", 1.0, 120.0)
    screen.finished(sample_stages()[0])
    screen.waiting("device", "host", "opening", 21.0, 120.0)
    screen.waiting("device", "host", "opening", 21.1, 120.0)
    screen.finished(replace(failed_stages()[-1], subject="gpu:\x1b[31m" + "x" * 100))
    screen.close()
    lines = stream.getvalue().splitlines()
    assert "\r" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    assert lines[0] == "firstlight 9.9: looking at this machine (depth quick)"
    assert lines[1].split() == ["passed", "interpreter", "0.05", "s"]
    assert lines[2].startswith("  in work     device: opening (21 s of at most")
    assert lines[3].startswith("  failed      matmul gpu:\\x1b[31mxxx")
    assert len(lines) == 4
    assert max(len(line) for line in lines) <= 80


def test_a_warning_is_written_even_if_quiet() -> None:
    stream = io.StringIO()
    screen = Screen(stream, quiet=True, environ={})
    screen.say("not this")
    screen.warn("but this")
    screen.finished(sample_stages()[0])
    assert stream.getvalue() == "but this\n"


def test_a_terminal_that_went_away_ends_nothing() -> None:
    stream = io.StringIO()
    screen = Screen(stream, environ={})
    stream.close()
    screen.started("quick", "9.9")
    screen.finished(sample_stages()[0])
    screen.close()
    assert not has_colour(stream, {})


def test_rows_go_to_the_stream_asked_for() -> None:
    talk, data = io.StringIO(), io.StringIO()
    Screen(talk, environ={}).rows([Row(text="READY", tone="good")], data)
    assert (talk.getvalue(), data.getvalue()) == ("", "READY\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_stream_without_the_characters_shows_question_marks(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    print_rows([Row(text="“東京” é …")], stream, {})
    assert raw.getvalue() == "“東京” é …\n".encode(encoding, "replace")


def test_without_rich_a_terminal_gets_plain_text() -> None:
    program = "import sys; sys.modules['rich.console'] = None\n" + PROGRAM
    child = pexpect.spawn(
        sys.executable,
        ["-c", program],
        env={"TERM": "xterm", "PYTHONPATH": str(Path(__file__).parent.parent)},
        timeout=30,
        encoding="utf-8",
    )
    child.expect(pexpect.EOF)
    assert "BLOCKED\r\nplain\r\nso\r\n" in (child.before or "")


class Terminal:
    """A terminal of our own: what is written to ``stream`` is read from its other end."""

    def __init__(self, columns: int = 80) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.stream = os.fdopen(slave, "w", encoding="utf-8")

    def read(self) -> str:
        self.stream.close()
        data = b""
        with suppress(OSError):  # EIO is how the end is told
            while part := os.read(self._master, 65_536):
                data += part
        os.close(self._master)
        return data.decode()


COLOURS = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(("columns", "width"), [(40, 39), (200, 79), (0, 79)])
def test_the_live_line_stays_within_the_terminal_and_leaves_nothing(
    columns: int, width: int
) -> None:
    terminal = Terminal(columns)
    screen = Screen(terminal.stream, environ={**COLOURS, "NO_COLOR": "1"})
    screen.waiting("matmul", "gpu:" + "x" * 60, "float16 product", 1.0, 120.0)
    screen.waiting("matmul", "gpu:" + "x" * 60, "float16 product", 1.1, 120.0)
    screen.close()
    drawn, cleared = terminal.read().split("\r")[1::2]
    assert drawn.startswith("  in work     matmul gpu:xxx")
    assert len(drawn) == width
    assert cleared == " " * width


def test_a_live_line_makes_room_for_whole_lines() -> None:
    terminal = Terminal()
    screen = Screen(terminal.stream, environ=COLOURS)
    screen.waiting("device", "host", "", 1.0, 120.0)
    screen.finished(failed_stages()[-1])
    screen.warn("careful")
    written = terminal.read()
    assert "\r\x1b[1;31m  failed      matmul" in written
    assert "\x1b[1;33mcareful\x1b[0m" in written


def test_rich_styles_rows_on_a_terminal() -> None:
    terminal = Terminal()
    rows = [Row(text="[bold]READY[/bold] :smile:", tone="good"), Row(text="dim", tone="faint")]
    print_rows(rows, terminal.stream, COLOURS)
    written = terminal.read()
    assert "\x1b[1;32m[bold]READY[/bold] :smile:\x1b[0m\r\n" in written
    assert "\x1b[2mdim\x1b[0m" in written
