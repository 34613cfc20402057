"""Findings, verdict, and the bundle that holds everything."""

from __future__ import annotations

from dataclasses import dataclass

from agent.model.observations import Facts, OrderItem
from agent.model.stages import Gap, Stage
from agent.model.words import Confidence, Decision, Severity, VerdictStatus, Who


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One cause, in words, with who can fix it and the evidence."""

    code: str
    severity: Severity
    who: Who
    title: str
    cause: str
    fix: tuple[str, ...]
    evidence: tuple[str, ...]
    confidence: Confidence
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstError:
    """The first failed, crashed or timed-out stage in ladder order."""

    stage: str
    subject: str
    type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """May the real workload start?"""

    status: VerdictStatus
    decision: Decision
    stage_reached: str | None
    blocked_at: str | None
    first_error: FirstError | None
    reason: str
    covered: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was asked of this run and how it went about it."""

    id: str
    started_at: str
    finished_at: str
    agent_version: str
    depth: str
    argv: tuple[str, ...] = ()
    backend: str | None = None
    backend_asked: str = "auto"
    challenge: str | None = None
    ticket: str | None = None
    simulated: bool = False
    interrupted: str | None = None  # the signal's name
    parent: str | None = None  # SHA-256 of the replayed source
    key_source: str = "one-time"
    overrides: tuple[str, ...] = ()  # NAME=value put into the children's environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """How often a kind of private value was replaced, and by what."""

    kind: str
    pseudonym: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """An Ed25519 signature over the RFC 8785 form of the bundle without this member."""

    algorithm: str
    canonicalization: str
    key_id: str
    public_key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The signed file: observations, what they were judged to mean, and the signature."""

    schema: str
    run: Run
    verdict: Verdict
    findings: tuple[Finding, ...]
    stages: tuple[Stage, ...]
    facts: Facts
    gaps: tuple[Gap, ...]
    order: tuple[OrderItem, ...]
    redactions: tuple[Redaction, ...]
    signature: Signature | None = None
