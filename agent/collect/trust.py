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
    accounts = _accounts(machine)
    checked: set[str] = set()
    directories = [one.path for one in layout.directories if one.scope != "pythonpath"]
    for path in (
        layout.executable,
        layout.real_executable,
        layout.prefix,
        layout.base_prefix,
        *directories,
        *layout.pth_files,
    ):
        for one in (path, machine.resolve(path)):
            reason = _changed(machine, one, accounts, checked)
            if reason:
                return reason
    return None


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


def _changed(
    machine: Machine, path: str, accounts: dict[int, set[int]], checked: set[str]
) -> str | None:
    """The reason why ``path`` or a directory above it can be changed by others, root's aside."""
    first = True
    while path not in checked:
        checked.add(path)
        status = machine.stat(path)
        if status is not None:
            sticky_directory = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
            if status.st_uid not in (0, machine.uid):
                return f"{path} belongs to user id {status.st_uid}"
            # in a sticky directory above, others may add files, not replace those of this user
            if status.st_mode & stat.S_IWOTH and (first or not sticky_directory):
                return f"{path} can be written by everybody"
            members = accounts.get(status.st_gid, set()) - {0, machine.uid}
            if status.st_mode & stat.S_IWGRP and members and (first or not sticky_directory):
                return f"{path} can be written by group id {status.st_gid}"
        path, first = dirname(path), False
    return None


def _accounts(machine: Machine) -> dict[int, set[int]]:
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
