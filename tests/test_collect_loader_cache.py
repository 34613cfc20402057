from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.collect.loader_cache import read_cache

from .host_trees import AARCH64, I386, X86_64, cache


@pytest.mark.parametrize("form", [{}, {"old": True}, {"both": True}])
def test_all_forms_of_the_cache(form: dict[str, bool]) -> None:
    data = cache(("libcuda.so.1", "/a", X86_64), ("libz.so.1", "/z", X86_64), **form)
    found = [(entry.name, entry.path) for entry in read_cache(data, "x86_64")]
    assert found == [("libcuda.so.1", "/a"), ("libz.so.1", "/z")]


def test_entries_of_other_architectures_are_passed_over() -> None:
    data = cache(("libcuda.so.1", "/32", I386), ("libcuda.so.1", "/64", X86_64))
    assert [entry.path for entry in read_cache(data, "x86_64")] == ["/64"]
    assert read_cache(cache(("libcuda.so.1", "/64", X86_64)), "aarch64") == ()
    assert [e.path for e in read_cache(cache(("a", "/arm", AARCH64)), "aarch64")] == ["/arm"]


@pytest.mark.parametrize("data", [b"", b"nonsense" * 20, cache(("a", "/b", X86_64))[:60]])
def test_what_is_no_cache_says_so(data: bytes) -> None:
    with pytest.raises(ValueError, match="cache"):
        read_cache(data, "x86_64")


def test_the_living_cache_agrees_with_ldconfig() -> None:
    printed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    lines = [line.split(" => ") for line in printed.stdout.splitlines() if " => " in line]
    expected = [(left.split()[0], right) for left, right in lines]
    read = read_cache(Path("/etc/ld.so.cache").read_bytes(), None)
    assert [(entry.name, entry.path) for entry in read] == expected


@given(some.binary(max_size=400), some.booleans())
def test_any_bytes_are_read_or_refused(data: bytes, headed: bool) -> None:
    magic = b"glibc-ld.so.cache1.1" if headed else b"ld.so-1.7.0\0"
    for content in (data, magic + data):
        try:
            entries = read_cache(content, None)
        except ValueError:
            continue
        assert all("\0" not in entry.name + entry.path for entry in entries)
