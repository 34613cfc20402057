"""What may a child say? Each record is checked, as hostile code can write them too."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from agent.ladder import REASONS
from agent.model import ErrorText, Json, Status

LIMIT_BYTES = 64 * 1024
TEXT_LIMIT = 16 * 1024
DEPTH_LIMIT = 24
EXACT_INTEGER = 2**53  # beyond this a JSON reader may round; such numbers are kept as text

PROBE_KINDS = ("stage", "step", "data", "result", "simulated", "done")
BOOT_KINDS = ("booted", "ready", "forked", "ended")
KINDS = (*PROBE_KINDS, *BOOT_KINDS)
RESULTS = ("passed", "failed", "skipped")


class BadRecordError(ValueError):
    """A line on the record channel that is not a record; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One checked record; what a kind does not have is None or empty.

    ``name`` is the step; ``why`` (of ``ready``) is why the process cannot fork, None if it can;
    ``pid`` belongs to ``forked`` and ``ended``; ``code`` (negative for a signal) and the tail of
    ``stderr`` to ``ended``.
    """

    kind: str
    stage: str | None = None
    subject: str | None = None
    name: str | None = None
    status: Status | None = None
    reason: str | None = None
    error: ErrorText | None = None
    data: Mapping[str, Json] = field(default_factory=dict)
    pid: int | None = None
    code: int | None = None
    why: str | None = None
    stderr: str | None = None


def parse_record(line: bytes) -> Record:
    """The record in one line or packet; raises ``BadRecordError`` for anything else."""
    if len(line) > LIMIT_BYTES + 1:
        raise BadRecordError("longer than 64 KiB")
    try:
        value = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise BadRecordError(f"not JSON: {type(error).__name__}") from None
    if not isinstance(value, dict) or value.get("record") not in KINDS:
        raise BadRecordError("not an object with a known record kind")
    return _checked(cleaned(value))


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("too large")
    return number


def cleaned(value: Json, depth: int = 0) -> Json:
    """The value with lone surrogates replaced, large integers as text and a bounded depth."""
    if depth > DEPTH_LIMIT:
        raise BadRecordError("nested too deeply")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item, depth + 1) for item in value]
    if isinstance(value, int) and not -EXACT_INTEGER < value < EXACT_INTEGER:
        return str(value)
    return value


def _checked(value: dict[str, Json]) -> Record:
    kind = value["record"]
    stage, subject = _text(value, "stage"), _text(value, "subject")
    if kind in ("stage", "step", "data", "result", "forked", "ended") and not stage:
        raise BadRecordError(f"{kind} without a stage")
    if kind == "step":
        return Record(kind=kind, stage=stage, subject=subject, name=_text(value, "name") or "?")
    if kind == "data":
        return Record(kind=kind, stage=stage, subject=subject, data=_object(value, "data"))
    if kind == "result":
        return _result(value, stage, subject)
    return Record(
        kind=kind,
        stage=stage,
        subject=subject,
        pid=_number(value, "pid"),
        code=_number(value, "code"),
        why=_text(value, "why"),
        stderr=_text(value, "stderr"),
    )


def _result(value: dict[str, Json], stage: str | None, subject: str | None) -> Record:
    status, reason = value.get("status"), _text(value, "reason")
    if status not in RESULTS:
        raise BadRecordError("result without a known status")
    if status == "passed":
        reason = None
    elif reason not in REASONS:
        reason = "bad-records"  # the result stands; only its reason is not one of ours
    return Record(
        kind="result",
        stage=stage,
        subject=subject,
        status=status,
        reason=reason,
        error=_error(value.get("error")),
        data=_object(value, "data"),
    )


def _text(value: dict[str, Json], key: str) -> str | None:
    text = value.get(key)
    if text is None:
        return None
    if not isinstance(text, str):
        raise BadRecordError(f"{key} is not text")
    return text[:TEXT_LIMIT]


def _number(value: dict[str, Json], key: str) -> int | None:
    number = value.get(key)
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        raise BadRecordError(f"{key} is not a whole number")
    return number


def _object(value: dict[str, Json], key: str) -> dict[str, Json]:
    found = value.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BadRecordError(f"{key} is not an object")
    return found


def _error(value: Json) -> ErrorText | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadRecordError("error is not an object")
    kind, text = _text(value, "type"), _text(value, "text")
    if kind is None or text is None:
        raise BadRecordError("error without type and text")
    return ErrorText(type=kind[:200], text=text)
