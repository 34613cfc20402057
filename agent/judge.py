"""From observations to named causes: every rule is asked, facts decide, effects are folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from agent.model import Finding, Observations, Who
from agent.rules import RULES
from agent.rules.case import Case
from agent.rules.extensions import softened
from agent.rules.rule import Diagnosis, Rule, confidence_of
from agent.rules.spared import spared
from agent.texts import SEND, Text, text_for

CLEARLY = 20  # weights this far apart: the lighter of two rivals for one line is dropped
LEAST = 25  # a lighter diagnosis is no finding: it only says what would tell more
SEVERITIES = ("blocking", "degrading", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The causes found, the most likely root first, and what would decide or show more."""

    findings: tuple[Finding, ...] = ()
    look_at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    rule: Rule
    diagnosis: Diagnosis

    @property
    def weight(self) -> int:
        return self.diagnosis.weight

    @property
    def severity(self) -> str:
        return self.diagnosis.severity or self.rule.severity

    @property
    def order(self) -> tuple[bool, int, int, str]:
        severity = SEVERITIES.index(self.severity)
        return (self.severity == "note", -self.weight, severity, self.rule.code)


def judge(
    observations: Observations,
    *,
    rules: Iterable[Rule] = RULES,
    on_error: Callable[[Rule, Exception], None] | None = None,
) -> Judgement:
    """The causes that the observations show, pure: equal observations give equal judgements.

    A rule that raises is left out and named in `look_at`; `on_error` (for tests) is told.
    """
    case = Case(observations)
    found: list[_Candidate] = []
    look_at = [
        f"{pointer}: the line is longer than 8 KiB, only its two ends were judged"
        for pointer in case.lines.too_long
    ]
    for rule in rules:
        try:
            diagnosis = rule.find(case)
        except Exception as error:  # noqa: BLE001  one broken rule must not silence the others
            if on_error is not None:
                on_error(rule, error)
            look_at.append(f"the rule {rule.code} failed: {type(error).__name__}")
            continue
        if diagnosis is None:
            continue
        if diagnosis.weight < LEAST:
            look_at.extend(diagnosis.look_at)
        else:
            found.append(_Candidate(rule, spared(case, rule, softened(case, diagnosis))))
    kept, dropped = _settle(_fold(sorted(found, key=lambda item: item.order)))
    for item in (*kept, *dropped):
        look_at.extend(item.diagnosis.look_at)
    return Judgement(
        findings=tuple(_finding(item, case) for item in kept),
        look_at=tuple(dict.fromkeys(look_at)),
    )


def _fold(found: list[_Candidate]) -> list[_Candidate]:
    """Leaves out what another cause explains; its evidence goes to that cause."""
    by_code = {item.rule.code: item for item in found}
    roots: dict[str, str] = {}
    for item in found:
        for code in item.rule.explains:
            effect = by_code.get(code)
            # A guess does not explain what is certain.
            if effect and code not in roots and item.weight + CLEARLY > effect.weight:
                roots[code] = item.rule.code
    for code in list(roots):
        if _root_of(code, roots) == code:  # two causes that name each other: the first stays
            del roots[code]
    folded: list[_Candidate] = []
    for item in found:
        if item.rule.code in roots:
            continue
        effects = [
            by_code[code].diagnosis for code in roots if _root_of(code, roots) == item.rule.code
        ]
        folded.append(_Candidate(item.rule, _with_evidence(item.diagnosis, effects)))
    return folded


def _root_of(code: str, roots: dict[str, str]) -> str:
    seen = {code}
    while (code := roots.get(code, code)) not in seen:
        seen.add(code)
    return code


def _with_evidence(diagnosis: Diagnosis, effects: list[Diagnosis]) -> Diagnosis:
    hits = (*diagnosis.hits, *(hit for effect in effects for hit in effect.hits))
    evidence = (*diagnosis.evidence, *(item for effect in effects for item in effect.evidence))
    return replace(diagnosis, hits=hits, evidence=evidence)


def _settle(found: list[_Candidate]) -> tuple[list[_Candidate], list[_Candidate]]:
    """Of several causes for one printed line keeps the likely ones; returns (kept, dropped)."""
    kept: list[_Candidate] = []
    dropped: list[_Candidate] = []
    for item in found:
        lines = {hit.line for hit in item.diagnosis.hits}
        rivals = [other for other in kept if lines & {hit.line for hit in other.diagnosis.hits}]
        if rivals and max(other.weight for other in rivals) - item.weight >= CLEARLY:
            dropped.append(item)
        else:
            kept.append(item)
    return kept, dropped


def _finding(item: _Candidate, case: Case) -> Finding:
    rule, diagnosis = item.rule, item.diagnosis
    text = text_for(rule.code, case.place, {**case.values, **diagnosis.values})
    pointers = (*(hit.pointer for hit in diagnosis.hits), *diagnosis.evidence)
    who = _who(rule.who, case)
    return Finding(
        code=rule.code,
        severity=diagnosis.severity or rule.severity,
        who=who,
        title=text.title,
        cause=text.cause,
        fix=_steps(text, who),
        evidence=tuple(dict.fromkeys(pointers)),
        confidence=confidence_of(diagnosis.weight),
        source=rule.source,
    )


def _steps(text: Text, who: Who) -> tuple[str, ...]:
    if text.message and who != "renter":
        return (*text.fix, f"{SEND}“{text.message}”")
    return text.fix


def _who(who: Who, case: Case) -> Who:
    """Root on a bare machine can do what otherwise only the provider can."""
    if who == "provider" and case.place in ("bare", "wsl", "windows"):
        return "either" if case.facts.host.is_root is not False else who
    return who
