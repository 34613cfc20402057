from __future__ import annotations

from pathlib import Path

import pytest

from agent.collect.mounts import mount_of, read_mounts
from agent.collect.tree import Tree, open_tree

from .host_trees import bare, more_mounts, plant


def test_a_later_mount_hides_an_earlier_one_and_escapes_are_undone(tmp_path: Path) -> None:
    files = bare()
    more_mounts(
        files,
        "90 22 8:1 / /data rw - ext4 /dev/sda1 rw\n"
        "91 22 8:2 /x\\040y /data rw,noexec - xfs /dev/sdb1 rw\n"
        "a line that is none\n",
    )
    mounts = read_mounts(open_tree(plant(tmp_path, files)))
    assert mount_of(mounts, "/data/a").source == "/dev/sdb1"
    assert mount_of(mounts, "/data/a").source_root == "/x y"
    assert mount_of(mounts, "/database").point == "/"
    with pytest.raises(LookupError):
        mount_of((), "/")


def test_the_living_root_is_a_mount() -> None:
    assert mount_of(read_mounts(Tree()), "/").point == "/"
