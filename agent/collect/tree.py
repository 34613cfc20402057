"""The file tree that a machine is read from: the live root, or a recorded tree elsewhere."""

from __future__ import annotations

import errno
import json
import os
import stat as modes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..model import Gap, Json

SIDECAR = "firstlight.json"
LARGEST_FILE = 1 << 20  # of a text that describes the machine; the kernel's are far smaller
LINKS_FOLLOWED = 40  # as Linux does before ELOOP

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tree:
    """A machine's files under ``root``, and what files cannot say.

    ``stated`` is empty for the live machine. For a recorded tree it is the JSON object of
    ``<root>/firstlight.json`` (docs/machines.md), which takes the place of system calls.
    """

    root: Path = Path("/")
    stated: Mapping[str, Json] = field(default_factory=dict)

    @property
    def live(self) -> bool:
        """Whether this is the running machine, so that system calls may be made about it."""
        return str(self.root) == "/"

    def at(self, path: str) -> Path:
        """The name under which this process reaches the machine's ``path``."""
        return Path(path if self.live else str(self.root) + self.resolve(path))

    def resolve(self, path: str) -> str:
        """``path`` with the machine's own symbolic links followed, as the machine would.

        Raises OSError (ELOOP) for a circle of links.
        """
        if self.live:
            return os.path.realpath(path)
        done: list[str] = []
        rest = [part for part in reversed(path.split("/")) if part]
        followed = 0
        while rest:
            part = rest.pop()
            if part in (".", ".."):
                del done[len(done) - (part == "..") :]
                continue
            here = Path(self.root, *done, part)
            if not here.is_symlink():
                done.append(part)
                continue
            followed += 1
            if followed > LINKS_FOLLOWED:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            target = str(here.readlink())
            if target.startswith("/"):
                done.clear()
            rest.extend(part for part in reversed(target.split("/")) if part)
        return "/" + "/".join(done)

    def read(self, path: str, most: int = LARGEST_FILE) -> bytes:
        """The first ``most`` bytes of a file. Raises OSError, also for what the tree forbids."""
        self._refuse_if_stated(path)
        name = self.at(path)
        # A pipe or a device in a place where a file belongs must not stop the agent.
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            chunks: list[bytes] = []
            left = most
            while left > 0 and (chunk := os.read(descriptor, min(left, 1 << 16))):
                chunks.append(chunk)
                left -= len(chunk)
        finally:
            os.close(descriptor)
        return b"".join(chunks)

    def text(self, path: str, most: int = LARGEST_FILE) -> str:
        """A file as text; bytes that are no UTF-8 become U+FFFD. Raises OSError."""
        return self.read(path, most).decode("utf-8", "replace")

    def number(self, path: str) -> int:
        """A file that holds one decimal number. Raises OSError or ValueError."""
        return int(self.text(path, 64))

    def first(self, *paths: str) -> str:
        """The text of the first of these files that can be read. Raises the last OSError."""
        for path in paths[:-1]:
            try:
                return self.text(path)
            except OSError:
                continue
        return self.text(paths[-1])

    def names(self, path: str) -> list[str]:
        """The sorted names in a directory. Raises OSError."""
        self._refuse_if_stated(path)
        return sorted(os.listdir(self.at(path)))  # noqa: PTH208  (iterdir builds a Path a name)

    def names_or_none(self, path: str) -> list[str]:
        """The sorted names in a directory, none where it is absent or closed."""
        try:
            return self.names(path)
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Whether the machine has this path, links followed; False where it cannot be asked."""
        try:
            return self.at(path).exists()
        except OSError:
            return False

    def is_dir(self, path: str) -> bool:
        """Whether this path is a directory, links followed; False where it cannot be asked."""
        try:
            return self.at(path).is_dir()
        except OSError:
            return False

    def is_executable(self, path: str) -> bool:
        """Whether this path is a regular file with an execute bit."""
        try:
            status = self.at(path).stat()
        except OSError:
            return False
        return modes.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111)

    def link(self, path: str) -> str:
        """Where a symbolic link points, unchanged. Raises OSError."""
        self._refuse_if_stated(path)
        parent, _, name = path.rpartition("/")
        return str((self.at(parent or "/") / name).readlink())

    def statement(self, *keys: str) -> Json:
        """What the recorded tree states under these keys; raises LookupError, which says so."""
        value: Json = self.stated
        for key in keys:
            if not isinstance(value, Mapping) or key not in value:
                raise LookupError(f"the recorded tree does not state {'.'.join(keys)}")
            value = value[key]
        return value

    def _refuse_if_stated(self, path: str) -> None:
        refusals = self.stated.get("refused")
        if isinstance(refusals, Mapping) and path in refusals:
            number = getattr(errno, str(refusals[path]), errno.EACCES)
            raise OSError(number, os.strerror(number), path)


def open_tree(root: Path) -> Tree:
    """The tree under ``root``. Raises OSError or ValueError for a sidecar that cannot be read."""
    if str(root) == "/":
        return Tree()
    try:
        stated = json.loads((root / SIDECAR).read_bytes())
    except FileNotFoundError:
        stated = {}
    if not isinstance(stated, dict):
        raise ValueError(f"{root / SIDECAR} must hold one JSON object")  # noqa: TRY004
    return Tree(root, stated)


def reason(error: Exception) -> str:
    """Why something was not learnt, in words, without a Python class name."""
    if isinstance(error, OSError) and error.strerror:
        name = errno.errorcode.get(error.errno or 0, "")
        return f"{error.strerror} ({name})" if name else error.strerror
    text = str(error.args[0]) if error.args else type(error).__name__
    return text[:300]


def attempt(gaps: list[Gap], pointer: str, said_by: str, read: Callable[[], T]) -> T | None:
    """What ``read`` returns; where it fails, None and a gap that tells why.

    OSError is the machine's refusal, ValueError a text that does not parse, LookupError a
    thing that is not there and says so in words.
    """
    try:
        return read()
    except (OSError, ValueError, LookupError) as error:
        gaps.append(Gap(pointer=pointer, why=reason(error), said_by=said_by))
        return None


def plain(text: str) -> str:
    """``text`` without lone surrogates, which stand for bytes that are no UTF-8 in file names."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def of_items(
    gaps: list[Gap], pointer: str, said_by: str, missing: Mapping[str, list[str]], why: str
) -> None:
    """Add one gap a field for the items of a list that lack it: "version: why (a, b, c)"."""
    for name, items in missing.items():
        if items:
            shown = ", ".join(items[:8]) + (f" and {len(items) - 8} more" if items[8:] else "")
            gaps.append(Gap(pointer=pointer, why=f"{name}: {why} ({shown})", said_by=said_by))
