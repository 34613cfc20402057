"""How must a command of this program be typed here? As the reader started it, so that it works."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

MODULE = "python -m agent"
PIPED = 'curl -fsSL "$URL/agent.py" | python3 -'
# "agent" as our texts write it, before a command or an option.
_WRITTEN = re.compile(
    r"(?<![\w./-])(?:python3? -m )?agent"
    r"(?= (?:run|measure|show|verify|explain|recover|findings|--?\w[\w-]*)(?!\w))"
)


def own_command(
    argv: Sequence[str] = sys.argv,
    environ: Mapping[str, str] = os.environ,
    zipped: bool | None = None,
) -> str:
    """The words that start this program again: ``firstlight``, ``python3 agent.pyz``, …

    ``zipped`` says whether it runs from one file; by default what this module was loaded from.
    """
    started = argv[0] if argv else ""
    name = Path(started).name
    if zipped is None:
        zipped = not Path(__file__).exists()
    if zipped:
        piped = started.startswith("/proc/")  # an open file without a name, made of what was piped
        return PIPED if piped else f"python3 {_short(started, environ)}"
    if name == "firstlight":
        return name if _on_path(started, environ) else _short(started, environ)
    return MODULE if _on_path("python", environ) else MODULE.replace("python", "python3", 1)


def as_typed(text: str, command: str | None = None) -> str:
    """A text with the program's name, where it stands before a command or option, as typed here."""
    word = own_command() if command is None else command
    return _WRITTEN.sub(lambda _: word, text)


def _on_path(program: str, environ: Mapping[str, str]) -> bool:
    """Whether the bare name of the program starts it."""
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    first = next(
        (f / Path(program).name for f in folders if (f / Path(program).name).exists()), None
    )
    if first is None or "/" not in program:
        return first is not None
    try:
        return first.samefile(program)
    except OSError:
        return False


def _short(path: str, environ: Mapping[str, str]) -> str:
    """The path quoted for a shell; what lies in the home directory without its name."""
    home = environ.get("HOME", "")
    if len(home) > 1 and path.startswith(home.rstrip("/") + "/"):
        return "~/" + shlex.quote(path[len(home.rstrip("/")) + 1 :])
    return shlex.quote(path)
