"""May an interpreter be executed: who besides this user and root can change what it runs."""

from __future__ import annotations

import stat
from posixpath import dirname

from agent.collect.machine import Machine
from agent.collect.target import Layout
from agent.model import Interpreter


def changed_by_others(machine: Machine, layout: Layout) -> str | None:
    """Which file or directory of the interpreter another user can change, in words; None: none.

    Looked at: the binary (link and target), both prefixes, the package directories, their
    ``.pth`` files, and every directory above these, since who may rename a directory may
    replace what is in it.
    """
    directories = [one.path for one in layout.directories if one.scope != "pythonpath"]
    own = [
        layout.executable,
        layout.real_executable,
        layout.prefix,
        layout.base_prefix,
        *directories,
        *layout.pth_files,
    ]
    # a link's target first: that is the name under which its owner will find it
    targets = list(dict.fromkeys(one for path in own for one in (machine.resolve(path), path)))
    above = dict.fromkeys(folder for path in targets for folder in _above(path))
    members = _members(machine)
    reasons = (
        *(_changed(machine, path, members, adding=True) for path in targets),
        *(_changed(machine, path, members, adding=False) for path in above if path not in targets),
    )
    return next((reason for reason in reasons if reason), None)


def may_execute(interpreter: Interpreter, uid: int, named: bool | None = None) -> str | None:
    """Why this interpreter must not be started by ``uid``, in words; None: it may be.

    Only root refuses, since for root alone it would be a step up for whoever can change the
    files. The interpreter that already runs the agent gains nothing by running once more, and
    one that was named (``--python``; by default taken from ``found_by``) is insisted upon.
    """
    insisted = "--python" in interpreter.found_by if named is None else named
    if uid != 0 or insisted or "agent" in interpreter.found_by:
        return None
    advice = f"to run it all the same, name it: --python {interpreter.path}"
    if interpreter.writable_by_others is None:
        return f"root does not run {interpreter.path}: who can change it is not known; {advice}"
    if interpreter.writable_by_others:
        details = [one.detail for one in interpreter.conflicts if one.code == "writable-by-others"]
        why = details[0] if details else "another user can change its files"
        return f"root does not run {interpreter.path}: {why}; {advice}"
    return None


def _above(path: str) -> list[str]:
    folders: list[str] = []
    while path != "/" and (path := dirname(path)):
        folders.append(path)
    return folders


def _changed(
    machine: Machine, path: str, members: dict[int, set[int]], *, adding: bool
) -> str | None:
    """How others than root and this user can change ``path``, in words.

    In a sticky directory (as /tmp) they may add files but not replace any: that matters only
    where files are looked for (``adding``).
    """
    status = machine.stat(path)
    if status is None:
        return None
    if status.st_uid not in (0, machine.uid):
        return f"{path} belongs to user id {status.st_uid}"
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX and not adding:
        return None
    if status.st_mode & stat.S_IWOTH:
        return f"{path} can be written by everybody"
    if status.st_mode & stat.S_IWGRP and members.get(status.st_gid, set()) - {0, machine.uid}:
        return f"{path} can be written by group id {status.st_gid}"
    return None


def _members(machine: Machine) -> dict[int, set[int]]:
    """The user ids in each group; Debian's /usr/local is writable by ``staff``, which is empty."""
    ids: dict[str, int] = {}
    members: dict[int, set[int]] = {}
    for line in (machine.read("/etc/passwd", 1 << 20) or "").splitlines():
        fields = line.split(":")
        if len(fields) > 3 and fields[2].isdecimal() and fields[3].isdecimal():
            ids[fields[0]] = int(fields[2])
            members.setdefault(int(fields[3]), set()).add(int(fields[2]))
    for line in (machine.read("/etc/group", 1 << 20) or "").splitlines():
        fields = line.split(":")
        if len(fields) > 3 and fields[2].isdecimal():
            named = {ids[name] for name in fields[3].split(",") if name in ids}
            members.setdefault(int(fields[2]), set()).update(named)
    return members
