"""What the probes say, and how: one JSON object per line on a descriptor of its own."""

from __future__ import annotations

import json
import math
import os
import traceback
from typing import Any, Dict, Union

RECORD_LIMIT_BYTES = 64 * 1024
TEXT_LIMIT = 8 * 1024
Error = Union[BaseException, Dict[str, str], None]
MOST_DEVICES = 1024  # far more than any machine has; a count beyond it is nonsense
EXACT_INTEGER = 2**53  # beyond this a JSON reader may round


def cut(text: str, limit: int = TEXT_LIMIT) -> str:
    """The text, or its two ends with a note of how much is missing between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return "%s\n[... %d characters cut ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])


def plain(value: Any) -> Any:
    """The value as strict JSON can hold it: no NaN, no huge integers, no lone surrogates."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -EXACT_INTEGER < value < EXACT_INTEGER else str(int(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, dict):
        return {_text(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return cut(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def describe(error: BaseException) -> dict[str, str]:
    """Type and text of an exception as its raiser worded them, capped at both ends."""
    kind = type(error)
    module = kind.__module__
    name = kind.__qualname__ if module == "builtins" else module + "." + kind.__qualname__
    try:
        text = str(error)
    except BaseException as second:
        text = "(its text could not be read: %s)" % type(second).__name__
    return {"type": name, "text": cut(_text(text))}


def origin(error: BaseException) -> dict[str, Any]:
    """Where an exception came from: its last frames, and what it was raised from."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    found: dict[str, Any] = {
        "raised_at": ["%s:%s %s" % (f.filename, f.lineno, f.name) for f in frames]
    }
    causes: list[dict[str, str]] = []
    seen = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    while seen is not None and len(causes) < 3:
        causes.append(describe(seen))
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    if causes:
        found["caused_by"] = causes
    return found


class Report:
    """Writes records: ``stage``, then ``step`` and ``data`` in any number, then ``result``.

    A record that does not fit into 64 KiB is written without its largest values, whose names
    stand under ``cut``. ``last`` is the status of the last result.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.sequence = 0
        self.here: dict[str, str] = {}
        self.last: str | None = None
        self.gathered: dict[str, Any] = {}

    def write(self, record: Any) -> None:
        """Writes one record; the reader's end may be a pipe or a packet socket."""
        record = dict(plain(record), seq=self.sequence)
        self.sequence += 1
        line = _encode(record)
        while len(line) > RECORD_LIMIT_BYTES:
            record = _without_largest(record)
            line = _encode(record)
        while line:
            line = line[os.write(self.descriptor, line) :]

    def stage(self, stage: str, subject: str) -> None:
        """Begins a stage for a subject."""
        self.here = {"stage": stage, "subject": subject}
        self.gathered = {}
        self.write(dict(self.here, record="stage"))

    def step(self, name: str) -> None:
        """Announces a risky act before it is taken; it ends the one before."""
        self.write(dict(self.here, record="step", name=name))

    def data(self, **values: Any) -> None:
        """Adds partial data, which is kept even if the process dies afterwards."""
        self.gathered.update(values)
        self.write(dict(self.here, record="data", data=values))

    def result(
        self, status: str, reason: str | None = None, error: Error = None, **data: Any
    ) -> None:
        """Ends the stage; ``error`` is an exception, or a dictionary with type and text."""
        if isinstance(error, BaseException):
            data = dict(data, **origin(error))
            error = describe(error)
        self.last = status
        self.gathered.update(data)
        record = dict(self.here, record="result", status=status, reason=reason, error=error)
        self.write(dict(record, data=data))


def believed(report: Report, count: int, said_by: str) -> int:
    """How many devices to ask, of those that a library says there are."""
    most = max(0, min(count, MOST_DEVICES))
    if most != count:
        report.data(devices_left_out="%s says %d devices; %d were asked" % (said_by, count, most))
    return most


def _encode(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def _without_largest(record: Any) -> dict[str, Any]:
    data = dict(record.get("data") or {})
    names = [name for name in data if name != "cut"]
    if not names:
        return {key: cut(str(value), 1024) for key, value in record.items() if key != "data"}
    largest = max(names, key=lambda name: len(json.dumps(data[name])))
    del data[largest]
    data["cut"] = [*data.get("cut", []), largest[:200]]
    return dict(record, data=data)
