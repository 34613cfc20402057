from __future__ import annotations

from pathlib import Path

import pytest

from agent.collect.tree import open_tree
from agent.collect.users import (
    group_name,
    home_of,
    numbers_of_list,
    own_uid_or_none,
    read_self,
    user_name,
)

from .host_trees import bare, plant, status


def test_who_this_process_is(tmp_path: Path) -> None:
    files = bare() | {"/proc/self/status": status(1000, 1000, "44 110 44", cpus="0-1,6")}
    tree = open_tree(plant(tmp_path, files))
    own = read_self(tree)
    assert (own.uid, own.group_ids) == (1000, (1000, 44, 110))
    assert own.allowed_cpus == (0, 1, 6)
    assert own_uid_or_none(tree) == 1000


def test_names_and_homes_come_from_the_machines_own_lists(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, bare()))
    assert (user_name(tree, 1000), user_name(tree, 7)) == ("alex", "7")
    assert (group_name(tree, 110), group_name(tree, 7)) == ("render", "7")
    assert (home_of(tree, 1000), home_of(tree, 7), home_of(tree, None)) == (
        "/home/alex",
        None,
        None,
    )


def test_without_lists_numbers_are_names(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, {}))
    assert user_name(tree, 0) == "0"
    assert own_uid_or_none(tree) is None


@pytest.mark.parametrize(
    ("text", "numbers"), [("", ()), ("3\n", (3,)), ("0-2,5", (0, 1, 2, 5)), ("1,,2", (1, 2))]
)
def test_lists_of_the_kernel(text: str, numbers: tuple[int, ...]) -> None:
    assert numbers_of_list(text) == numbers


def test_a_status_without_ids_says_so(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, {"/proc/self/status": "Name:\tx\n"}))
    with pytest.raises(LookupError, match="does not state the ids"):
        read_self(tree)
