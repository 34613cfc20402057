"""Only what has the protocol's form is a record; hostile lines are refused in one way."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model import ErrorText
from agent.run.records import KINDS, LIMIT_BYTES, BadRecordError, Record, parse_record


def line(**record: Any) -> bytes:
    return json.dumps(record).encode()


def test_each_kind_is_understood() -> None:
    assert parse_record(line(record="stage", stage="matmul", subject="gpu:GPU-1", seq=0)) == Record(
        kind="stage", stage="matmul", subject="gpu:GPU-1"
    )
    step = parse_record(line(record="step", stage="s", name="a product"))
    assert (step.kind, step.name) == ("step", "a product")
    assert parse_record(line(record="data", stage="s", data={"x": 1})).data == {"x": 1}
    result = parse_record(
        line(
            record="result",
            stage="s",
            status="failed",
            reason="raised",
            error={"type": "E", "text": "t"},
            data={"y": 2},
        )
    )
    assert (result.status, result.reason, result.data) == ("failed", "raised", {"y": 2})
    assert result.error == ErrorText(type="E", text="t")
    ended = parse_record(line(record="ended", stage="s", pid=5, code=-11, stderr="oh"))
    assert (ended.pid, ended.code, ended.stderr) == (5, -11, "oh")
    assert parse_record(line(record="ready", why="threads")).why == "threads"


def test_a_passed_result_has_no_reason_and_an_unknown_one_is_said_to_be_bad() -> None:
    assert (
        parse_record(line(record="result", stage="s", status="passed", reason="x")).reason is None
    )
    odd = parse_record(line(record="result", stage="s", status="failed", reason="my own"))
    assert odd.reason == "bad-records"


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"record":"unheard"}',
        b'{"record":["stage"]}',
        line(record="stage"),
        line(record="step", stage="s", name=7),
        line(record="data", stage="s", data=[1]),
        line(record="result", stage="s", status="ready"),
        line(record="result", stage="s", status="passed", error="text"),
        line(record="result", stage="s", status="passed", error={"type": "E"}),
        line(record="ended", stage="s", pid="5"),
        line(record="ended", stage="s", pid=True),
        b'{"record":"data","stage":"s","data":{"x":NaN}}',
        b'{"record":"data","stage":"s","data":{"x":-1e999}}',
        b'{"record":"data","stage":"s","data":' + b"[" * 50_000 + b"}",
        b'{"record":"data","stage":"s","data":{"x":' + b"[" * 30 + b"]" * 30 + b"}}",
        b'{"record":"data","stage":"s","data":{"x":' + b"9" * 60_000 + b"}}",
        line(record="data", stage="s", data={"x": "x" * LIMIT_BYTES}),
    ],
)
def test_anything_else_is_refused(bad: bytes) -> None:
    with pytest.raises(BadRecordError):
        parse_record(bad)


def test_values_that_no_bundle_can_hold_are_made_harmless() -> None:
    found = parse_record(
        b'{"record":"data","stage":"s","data":{"big":9007199254740993,"half":"\\ud800!","ok":[1.5]}}'
    )
    assert found.data == {"big": "9007199254740993", "half": "?!", "ok": [1.5]}


def test_long_text_is_cut() -> None:
    found = parse_record(
        line(
            record="result",
            stage="s",
            status="failed",
            reason="raised",
            error={"type": "E", "text": "x" * 50_000},
        )
    )
    assert found.error is not None
    assert len(found.error.text) == 16 * 1024


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with contextlib.suppress(BadRecordError):
        parse_record(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.fixed_dictionaries(
        {"record": st.sampled_from(KINDS)},
        optional=dict.fromkeys(
            ("stage", "subject", "name", "status", "reason", "error", "data", "pid", "code"),
            json_values,
        ),
    )
)
def test_no_object_raises_anything_else(value: dict[str, Any]) -> None:
    try:
        found = parse_record(json.dumps(value).encode())
    except BadRecordError:
        return
    assert found.kind in KINDS
    assert isinstance(found.data, dict)
