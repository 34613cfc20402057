"""Tracebacks: the last exception and what led to it."""

from __future__ import annotations

import pytest

from agent.reading.read import read_text
from agent.reading.tracebacks import exceptions, last_chain

BLOCK = """\
{0}Traceback (most recent call last):
{0}  File "a.py", line 1, in <module>
{0}    f()
{0}{1}
"""


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[rank3]: ",
        "app_1  | ",
        "(EngineCore pid=77) ",
        "(EngineCore_0 pid=77) ERROR 01-05 10:00:00 [core.py:387] ",
    ],
)
def test_the_exception_under_any_prefix(prefix: str) -> None:
    text = "start\n" + BLOCK.format(prefix, "torch.OutOfMemoryError: CUDA out of memory.") + "bye\n"
    (raised,) = exceptions(read_text(text).lines)
    assert (raised.type, raised.text) == ("torch.OutOfMemoryError", "CUDA out of memory.")
    assert raised.pointer == "line 5"


def test_a_chain_begins_with_its_first_cause() -> None:
    text = (
        BLOCK.format("", "KeyError: 'unrelated'")
        + BLOCK.format("", "OSError: libcuda.so.1: cannot open shared object file")
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + BLOCK.format("", "ImportError: no GPU")
        + "\nThe above exception was the direct cause of the following exception:\n\n"
        + BLOCK.format("", "AssertionError")
    )
    lines = read_text(text).lines
    assert [r.type for r in exceptions(lines)] == [
        "KeyError",
        "OSError",
        "ImportError",
        "AssertionError",
    ]
    assert [r.type for r in last_chain(lines)] == ["OSError", "ImportError", "AssertionError"]


def test_a_cut_traceback_has_no_exception() -> None:
    text = "Traceback (most recent call last):\n  File 'x', line 1\n"
    assert exceptions(read_text(text).lines) == ()
    assert last_chain(()) == ()
