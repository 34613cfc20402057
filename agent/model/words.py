"""The words with a fixed meaning that the types are made of."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any  # what ``json.loads`` may return
Status = Literal["passed", "failed", "crashed", "timed_out", "interrupted", "skipped"]
Severity = Literal["blocking", "degrading", "note"]
Who = Literal["renter", "provider", "either"]
Confidence = Literal["high", "medium", "low"]
Vendor = Literal["nvidia", "amd", "other"]
VerdictStatus = Literal["ready", "degraded", "blocked", "inconclusive"]
Decision = Literal["launch", "fix-environment", "contact-provider", "review-order"]
Limit: TypeAlias = int | str  # a number, or the word "unlimited"
