"""Who else can change an interpreter's files, and what root does not start because of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.collect.machine import Machine
from agent.collect.target import read_layout
from agent.collect.trust import changed_by_others, may_execute
from agent.model import Conflict, Interpreter
from tests.fake_python import ENVIRON, codes, find, python, site, venv, write

ACCOUNTS = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n"
GROUPS = "root:x:0:\nstaff:x:50:\nusers:x:100:ann\nann:x:1000:\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    python(tmp_path)
    venv(tmp_path, "/data/env")
    write(tmp_path, f"{site('/data/env')}/x.pth", "import x\n")
    write(tmp_path, "/etc/passwd", ACCOUNTS)
    write(tmp_path, "/etc/group", GROUPS)
    for place in (tmp_path, *tmp_path.rglob("*")):
        if not place.is_symlink():
            place.chmod(0o755)
    return tmp_path


def _changed(tree: Path, uid: int | None = None) -> str | None:
    user = os.getuid() if uid is None else uid
    machine = Machine(root=str(tree), environ=ENVIRON, workdir="/code", home="/home/u", uid=user)
    return changed_by_others(machine, read_layout(machine, "/data/env/bin/python"))


def test_own_files_are_trusted(tree: Path) -> None:
    assert _changed(tree) is None


@pytest.mark.parametrize(
    "path",
    [
        "/usr/bin/python3.11",
        "/usr",
        "/data/env",
        "/data/env/bin",
        "/data/env/lib/python3.11/site-packages",
        "/data/env/lib/python3.11/site-packages/x.pth",
        "/data",
    ],
)
def test_writable_by_everybody(tree: Path, path: str) -> None:
    (tree / path.lstrip("/")).chmod(0o757)
    assert _changed(tree) == f"{path} can be written by everybody"


def test_sticky_directory_above_is_harmless(tree: Path) -> None:
    """As /tmp: others may add files there, not replace this user's."""
    (tree / "data").chmod(0o1777)
    assert _changed(tree) is None
    (tree / "data/env").chmod(0o1777)
    assert _changed(tree) == "/data/env can be written by everybody"


def test_files_of_another_user(tree: Path) -> None:
    """Root meets a stranger's environment, as root by chown, else by looking as somebody else."""
    if os.getuid() == 0:
        for place in ("data/env", "data/env/lib/python3.11/site-packages/x.pth"):
            os.chown(tree / place, 1000, 1000)
            assert _changed(tree) == f"/{place} belongs to user id 1000"
            os.chown(tree / place, 0, 0)
    else:
        assert f"belongs to user id {os.getuid()}" in str(_changed(tree, os.getuid() + 1))


@pytest.mark.parametrize(
    ("members", "passwd", "trusted"),
    [
        ("", "", True),
        ("root", "", True),
        ("nobody-here", "", True),
        ("ann", "", False),
        ("", "bob:x:1001:{group}::/:/bin/sh\n", False),
    ],
)
def test_group_counts_by_its_members(tree: Path, members: str, passwd: str, trusted: bool) -> None:
    """Debian's /usr/local belongs to the empty group staff; an image's users may be in another."""
    place = tree / "data/env/lib/python3.11/site-packages"
    place.chmod(0o2775)
    group = place.stat().st_gid
    write(tree, "/etc/passwd", ACCOUNTS + passwd.format(group=group))
    write(tree, "/etc/group", f"some:x:{group}:{members}\nbroken\n")
    reason = _changed(tree)
    assert (reason is None) == trusted
    if reason:
        assert reason.endswith(f"site-packages can be written by group id {group}")


def test_it_reaches_the_interpreter(tree: Path) -> None:
    (tree / "data/env").chmod(0o777)
    one = find(tree, "/data/env", uid=os.getuid())[0][0]
    assert one.writable_by_others is True
    assert codes(one) == ["writable-by-others"]


def _interpreter(**fields: object) -> Interpreter:
    detail = Conflict(code="writable-by-others", detail="/v belongs to user id 1000")
    default: dict[str, object] = {"path": "/v/bin/python", "found_by": ("PATH",)}
    default |= {"writable_by_others": True, "conflicts": (detail,)}
    return Interpreter(**(default | fields))  # type: ignore[arg-type]


def test_root_refuses_with_reason_and_next_step() -> None:
    assert may_execute(_interpreter(), 0) == (
        "root does not run /v/bin/python: /v belongs to user id 1000; "
        "to run it all the same, name it: --python /v/bin/python"
    )
    assert "another user can change" in str(may_execute(_interpreter(conflicts=()), 0))
    unknown = may_execute(_interpreter(writable_by_others=None), 0)
    assert "who can change it is not known" in str(unknown)


def test_what_root_starts_all_the_same() -> None:
    assert may_execute(_interpreter(writable_by_others=False), 0) is None
    assert may_execute(_interpreter(), 1000) is None
    assert may_execute(_interpreter(found_by=("--python", "PATH")), 0) is None
    assert may_execute(_interpreter(found_by=("agent",)), 0) is None
    assert may_execute(_interpreter(), 0, named=True) is None
    assert may_execute(_interpreter(found_by=("--python",)), 0, named=False) is not None
