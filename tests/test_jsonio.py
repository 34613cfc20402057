"""Strict JSON: whatever readers could understand differently is refused, each with its sentence."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import jsonio
from agent.canonical import sanitise
from agent.errors import BundleError


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON: Expecting property name"),
        (b'{"a": 1} x', "not valid JSON: Extra data at line 1, column 10"),
        (b"{'a': 1}", "not valid JSON"),
        (b'{"a": 1,}', "not valid JSON"),
        (b'{"a": "\x01"}', "not valid JSON: Invalid control character"),
        (b'{"a": 1, "b": 2, "a": 3}', "The key 'a' stands twice"),
        (b'{"a": 1, "\\u0061": 3}', "The key 'a' stands twice"),
        (b'{"x": [{"y": {"k": 1, "k": 1}}]}', "The key 'k' stands twice"),
        (b'{"a": NaN}', "holds NaN"),
        (b'{"a": Infinity}', "holds Infinity"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"a": 1e400}', "1e400 is too large"),
        (b'{"a": -1e400}', "-1e400 is too large"),
        (b'{"a": 9007199254740992}', "9007199254740992 is 2^53 or more"),
        (b'{"a": -9007199254740992}', "-9007199254740992 is 2^53 or more"),
        (b'{"a": ' + b"9" * 4301 + b"}", "is 2^53 or more"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a": "\\udc00\\ud800"}', "half of a surrogate pair"),
        (b'{"\\ud800": 1}', "half of a surrogate pair"),
        (b'{"a": "\xff"}', "not UTF-8 text: byte 7"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8 text"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b'{"a":' * 64 + b"[1]" + b"}" * 64, "nested deeper than 64"),
        (b"[" * 1_000_000, "nested deeper than 64"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested deeper than 64"),
        (b" " * 20_000_001, "larger than 20 MB"),
        (b"[]", "not an object"),
        (b'"text"', "not an object"),
        (b"null", "not an object"),
    ],
)
def test_strict_parsing_refuses(data: bytes, sentence: str) -> None:
    with pytest.raises(BundleError) as caught:
        jsonio.strict_loads(data)
    assert sentence in caught.value.message
    assert caught.value.message.endswith(".")
    assert len(caught.value.message) < 200


def test_each_way_of_being_bad_has_a_sentence_of_its_own() -> None:
    bad = [b'{"a":1,"a":2}', b'{"a":NaN}', b'{"a":1e999}', b'{"a":9007199254740992}']
    bad += [b'{"a":"\\ud800"}', b"[" * 70 + b"]" * 70, b" " * 20_000_001, b"\xff", b"[]", b"{"]
    said = set()
    for data in bad:
        with pytest.raises(BundleError) as caught:
            jsonio.strict_loads(data)
        said.add(caught.value.message)
    assert len(said) == len(bad)


def test_strict_parsing_accepts_what_every_reader_understands() -> None:
    text = '{"a": 9007199254740991, "b": -9007199254740991, "c": 1e308, "d": "😀\\ud83d\\ude00"}'
    found = jsonio.strict_loads(text.encode())
    assert found == {
        "a": 2**53 - 1,
        "b": -(2**53) + 1,
        "c": 1e308,
        "d": "😀😀",
    }
    deepest = b'{"a":' * 63 + b"[1]" + b"}" * 63
    assert jsonio.strict_loads(deepest)


@pytest.mark.parametrize("unit", [b"[],", b'{"a":1},', b'"\\u00e9",', b"1,"])
def test_a_full_20_mb_is_read_in_bounded_time(unit: bytes) -> None:
    data = b'{"a":[' + unit * (4_000_000 // len(unit)) + b"1]}"
    began = time.process_time()
    jsonio.strict_loads(data)
    assert time.process_time() - began < 10


@given(st.binary(max_size=60))
def test_no_bytes_crash_the_strict_parser(data: bytes) -> None:
    with contextlib.suppress(BundleError):
        assert isinstance(jsonio.strict_loads(data), dict)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=5), VALUES), st.booleans())
def test_what_is_written_is_read_back_by_strict_parsing(value: object, indent: bool) -> None:
    clean = sanitise(value)
    assert jsonio.strict_loads(jsonio.dumps(clean, indent=indent)) == clean
    assert jsonio.loads(jsonio.dumps(clean, indent=indent)) == clean


def test_without_orjson_the_same_is_written() -> None:
    value = {"a": [1, 2.5, None, True], "é": {"b": "😀"}, "empty": [], "none": {}}
    program = (
        "import sys, json; sys.modules['orjson'] = None\n"
        "from agent import jsonio\n"
        f"value = json.loads({json.dumps(json.dumps(value))})\n"
        "sys.stdout.buffer.write(jsonio.dumps(value) + b'|' + jsonio.dumps(value, indent=True))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    assert out == jsonio.dumps(value) + b"|" + jsonio.dumps(value, indent=True)
