from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.collect.tree import Tree, attempt, open_tree, plain, reason
from agent.model import Gap

from .host_trees import plant


def test_links_stay_inside_of_the_tree(tmp_path: Path) -> None:
    tree = open_tree(
        plant(
            tmp_path,
            {
                "/a/real": "here",
                "/etc/absolute": "-> /a/real",
                "/etc/upward": "-> ../../../../a/real",
                "/b": "-> /a",
                "/c": "-> b/../b/./real",
            },
        )
    )
    for path in ("/etc/absolute", "/etc/upward", "/b/real", "/c"):
        assert tree.text(path) == "here"
        assert tree.resolve(path) == "/a/real"
    assert tree.resolve("/../../x") == "/x"


def test_a_circle_ends(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, {"/x": "-> /y", "/y": "-> /x"}))
    with pytest.raises(OSError, match="symbolic links"):
        tree.text("/x")
    assert not tree.exists("/x")
    assert not tree.is_dir("/x")
    assert not tree.is_executable("/x")


def test_a_refusal_can_be_stated(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, {"/a": "x"}, refused={"/a": "EPERM"}))
    with pytest.raises(PermissionError):
        tree.text("/a")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert Tree(tmp_path).text("/pipe") == ""


def test_only_the_first_bytes_are_read(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, {"/long": "x" * 200_000}))
    assert len(tree.text("/long", 100_000)) == 100_000


def test_what_the_tree_does_not_state(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, {}, libc={"name": "glibc"}))
    assert tree.statement("libc", "name") == "glibc"
    with pytest.raises(LookupError, match=r"does not state libc\.version"):
        tree.statement("libc", "version")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file or directory"), "No such file or directory (ENOENT)"),
        (LookupError("no cgroup"), "no cgroup"),
        (ValueError(), "ValueError"),
    ],
)
def test_reasons_are_words(error: Exception, words: str) -> None:
    def fail() -> None:
        raise error

    gaps: list[Gap] = []
    assert attempt(gaps, "/facts/x", "test", fail) is None
    assert gaps == [Gap(pointer="/facts/x", why=words, said_by="test")]
    assert reason(error) == words


def test_text_can_always_be_written_as_utf_8() -> None:
    assert plain("/tmp/\udce9t\u00e9").encode() == "/tmp/\\xe9té".encode()
