"""What a person sees while a run goes on, and how rows are put on a stream; imports rich."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TextIO

from agent.model import Stage
from agent.report.escape import terminal
from agent.report.layout import WIDTH, Row, cells, plain_text, seconds, shortened, wrap
from agent.report.typed import as_typed

_TONES = {"strong": "bold", "good": "bold green", "bad": "bold red", "warn": "bold yellow"}
_REDRAW_SECONDS = 0.2
_REMIND_SECONDS = 20.0


def has_colour(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether styles may go to the stream: a terminal, and nobody said NO_COLOR."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return _is_terminal(stream)


def print_rows(rows: list[Row], stream: TextIO, environ: Mapping[str, str] = os.environ) -> None:
    """Writes the rows; styled by rich on a terminal that takes colour, else as plain text.

    A stream whose encoding lacks a character (locale C) shows a question mark instead.
    """
    if has_colour(stream, environ):
        with suppress(ImportError):
            _print_styled(rows, stream)
            return
    encoding = stream.encoding or "utf-8"
    stream.write(plain_text(rows).encode(encoding, "replace").decode(encoding))
    stream.flush()


def _print_styled(rows: list[Row], stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for row in rows:
        style = "dim" if row.tone == "faint" else _TONES.get(row.tone, "")
        console.print(Text(row.text.rstrip(), style=style))


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


class Screen:
    """Talks to the person at the terminal during a run, on stderr and never on stdout.

    On a terminal the stage in work is one line that counts up to its limit; elsewhere only whole
    lines are written: each finished stage, and a reminder when one takes long.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._live = not quiet and _is_terminal(self._stream) and environ.get("TERM") != "dumb"
        self._styled = has_colour(self._stream, environ)
        self._drawn_at = 0.0
        self._shown = False
        self._reminded_at: dict[str, float] = {}
        self._rich: Any = None

    def say(self, text: str, tone: str = "plain") -> None:
        """Writes one line, unless quiet."""
        if not self._quiet:
            self._clear()
            self._print([Row(text=terminal(text), tone=tone)])

    def warn(self, text: str) -> None:
        """Writes a sentence even if quiet: what the person must not miss."""
        self._clear()
        for line in wrap(terminal(as_typed(text)), rest="  "):
            self._print([Row(text=line, tone="warn")])

    def started(self, depth: str, version: str) -> None:
        """The first line, written before anything slow is done."""
        self.say(f"firstlight {version}: looking at this machine (depth {depth})", "strong")

    def waiting(self, stage: str, subject: str, step: str, passed: float, limit: float) -> None:
        """The stage in work, for how long, and its limit; cheap to call many times a second."""
        if self._quiet:
            return
        place = stage if subject == "host" else f"{stage} {subject}"
        bound = f" of at most {seconds(limit)}" if limit < 1e6 else ""
        doing = f": {step}" if step else ""
        line = terminal(f"  in work     {place}{doing} ({seconds(passed)}{bound})")
        now = time.monotonic()
        if self._live:
            if now - self._drawn_at >= _REDRAW_SECONDS:
                self._drawn_at = now
                self._draw(line)
        elif passed >= _REMIND_SECONDS and (
            now - self._reminded_at.get(place, -1e9) >= _REMIND_SECONDS
        ):
            self._reminded_at[place] = now
            self._print([Row(text=line)])

    def finished(self, stage: Stage) -> None:
        """One line for a stage that ended."""
        tone = "plain" if stage.status in ("passed", "skipped") else "bad"
        if not self._quiet:
            self._clear()
            from agent.report.text import rung_line  # late: the first line must not wait for it

            self._print([Row(text=rung_line(stage), tone=tone)])

    def rows(self, rows: list[Row], stream: TextIO) -> None:
        """Writes rows to ``stream`` (stdout for the verdict) after taking the live line away."""
        self._clear()
        print_rows(rows, stream)

    def close(self) -> None:
        """Takes the live line away; the screen may be used again afterwards."""
        self._clear()

    def _draw(self, line: str) -> None:
        width = min(WIDTH, _columns(self._stream)) - 1
        line = shortened(line, width)
        padding = " " * (width - cells(line))
        with suppress(OSError, ValueError, UnicodeEncodeError):
            self._stream.write(f"\r{line}{padding}\r")
            self._stream.flush()
            self._shown = True

    def _clear(self) -> None:
        if self._shown:
            self._shown = False
            with suppress(OSError, ValueError):
                self._stream.write("\r" + " " * (min(WIDTH, _columns(self._stream)) - 1) + "\r")
                self._stream.flush()

    def _print(self, rows: list[Row]) -> None:
        # A terminal that went away must not end the run: the bundle still has to be written.
        with suppress(OSError, ValueError):
            encoding = self._stream.encoding or "utf-8"
            text = plain_text(rows).encode(encoding, "replace").decode(encoding)
            self._stream.write(_styled(text, rows[0].tone) if self._styled else text)
            self._stream.flush()


def _styled(text: str, tone: str) -> str:
    """The text in the colours that rich would give it, without the cost of importing rich."""
    code = {"strong": "1", "good": "1;32", "bad": "1;31", "warn": "1;33", "faint": "2"}.get(tone)
    return f"\x1b[{code}m{text[:-1]}\x1b[0m\n" if code else text


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH
