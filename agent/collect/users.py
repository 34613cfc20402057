"""Who this process is, and what the machine's own lists call its users and groups."""

from __future__ import annotations

from dataclasses import dataclass

from .tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Self:
    """This process as /proc/self/status describes it."""

    uid: int  # effective
    group_ids: tuple[int, ...]  # effective, then supplementary
    capabilities: int  # the bounding set: what root in this box may have at most
    allowed_cpus: tuple[int, ...]
    no_new_privileges: bool


def read_self(tree: Tree) -> Self:
    """This process's ids, capabilities and processors. Raises OSError or LookupError."""
    rows: dict[str, str] = {}
    for line in tree.text("/proc/self/status", 1 << 16).splitlines():
        name, _, value = line.partition(":")
        rows[name] = value.strip()
    try:
        own = int(rows["Gid"].split()[1])
        extra = [int(text) for text in rows.get("Groups", "").split()]
        return Self(
            uid=int(rows["Uid"].split()[1]),
            group_ids=tuple(dict.fromkeys([own, *extra])),
            capabilities=int(rows.get("CapBnd", "0"), 16),
            allowed_cpus=numbers_of_list(rows.get("Cpus_allowed_list", "")),
            no_new_privileges=rows.get("NoNewPrivs") == "1",
        )
    except (KeyError, IndexError, ValueError) as error:
        raise LookupError(f"/proc/self/status does not state the ids: {error}") from error


def own_uid_or_none(tree: Tree) -> int | None:
    """The effective user id, None where it cannot be told."""
    try:
        return read_self(tree).uid
    except (OSError, LookupError):
        return None


def user_name(tree: Tree, uid: int) -> str:
    """The name of a user in /etc/passwd, else the number.

    The system's resolver is not asked: it may go to the network, and hang.
    """
    return _name(tree, "/etc/passwd", uid)


def group_name(tree: Tree, gid: int) -> str:
    """The name of a group in /etc/group, else the number."""
    return _name(tree, "/etc/group", gid)


def home_of(tree: Tree, uid: int | None) -> str | None:
    """The home directory of a user in /etc/passwd."""
    for fields in _rows(tree, "/etc/passwd"):
        if len(fields) > 5 and fields[2] == str(uid):
            return fields[5] or None
    return None


def numbers_of_list(text: str) -> tuple[int, ...]:
    """The numbers of a kernel list such as "0-3,8". Raises ValueError."""
    numbers: list[int] = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def _name(tree: Tree, path: str, number: int) -> str:
    for fields in _rows(tree, path):
        if len(fields) > 2 and fields[2] == str(number):
            return fields[0]
    return str(number)


def _rows(tree: Tree, path: str) -> list[list[str]]:
    try:
        return [line.split(":") for line in tree.text(path).splitlines()]
    except OSError:
        return []
