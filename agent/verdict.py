"""May the real workload start? Pure functions from observations and findings to the verdict."""

from __future__ import annotations

from agent.ladder import STAGES
from agent.model import (
    Decision,
    ErrorText,
    Finding,
    FirstError,
    Observations,
    Stage,
    Verdict,
    VerdictStatus,
)

NEEDED_FOR_READY = ("import", "device", "matmul")
# A skip for one of these reasons says nothing about the rung: there was nothing to try.
NEUTRAL_SKIPS = frozenset({"not-installed", "not-in-this-torch", "not-asked", "not-supported"})
FAULTS = ("failed", "crashed", "timed_out")


def of_rung(stages: tuple[Stage, ...], name: str) -> tuple[Stage, ...]:
    """Return the stages of the rung ``name``, one per subject."""
    return tuple(stage for stage in stages if stage.name == name)


def rung_status(stages: tuple[Stage, ...]) -> str:
    """Return one status for a rung: passed if any subject passed, else the gravest seen.

    One dead device of eight, or one broken extension of many, degrades the machine but does not
    end the climb; an extension that the user named does. ``absent`` means that the rung was not
    on the plan.
    """
    for stage in stages:
        if named_and_broken(stage):
            return stage.status
    counted = [s for s in stages if not (s.status == "skipped" and s.reason in NEUTRAL_SKIPS)]
    if not counted:
        return "skipped" if stages else "absent"
    statuses = {stage.status for stage in counted}
    for status in ("passed", "crashed", "timed_out", "failed", "interrupted"):
        if status in statuses:
            return status
    return "skipped"


def named_and_broken(stage: Stage) -> bool:
    """Whether this is an extension that the user named (``--extension``) and that does not work."""
    named = stage.data.get("named") if stage.data else None
    return stage.name == "extensions" and stage.status in FAULTS and named is True


def first_error(stages: tuple[Stage, ...]) -> FirstError | None:
    """Return the first failed, crashed or timed-out stage in ladder order, not in time."""
    for rung in STAGES:
        for stage in of_rung(stages, rung.name):
            if stage.status in FAULTS:
                error = stage.error or ErrorText(type=stage.status, text=_death(stage))
                return FirstError(
                    stage=stage.name, subject=stage.subject, type=error.type, text=error.text
                )
    return None


def stage_reached(stages: tuple[Stage, ...]) -> tuple[str | None, str | None]:
    """Return the last stage passed in an unbroken row, and the first that did not pass."""
    reached: str | None = None
    for rung in STAGES:
        status = rung_status(of_rung(stages, rung.name))
        if status == "absent" or (status == "skipped" and _all_neutral(stages, rung.name)):
            continue
        if status != "passed":
            return reached, rung.name
        reached = rung.name
    return reached, None


def decide(observations: Observations, findings: tuple[Finding, ...]) -> Verdict:
    """Return the verdict on these observations under these findings."""
    stages = observations.stages
    reached, blocked_at = stage_reached(stages)
    error = first_error(stages)
    status = _status(stages, findings)
    root = _root(findings)
    return Verdict(
        status=status,
        decision=_decision(status, root),
        stage_reached=reached,
        blocked_at=blocked_at,
        first_error=error,
        reason=_reason(status, stages, root, error),
        covered=tuple(_label(s) for s in stages if s.status == "passed"),
        not_covered=_not_covered(stages),
    )


def _status(stages: tuple[Stage, ...], findings: tuple[Finding, ...]) -> VerdictStatus:
    severities = {finding.severity for finding in findings}
    needed = {name: rung_status(of_rung(stages, name)) for name in NEEDED_FOR_READY}
    if "blocking" in severities or any(status in FAULTS for status in needed.values()):
        return "blocked"
    if needed["import"] != "passed" and rung_status(of_rung(stages, "interpreter")) in FAULTS:
        return "blocked"  # the user's own program would not start either
    workload = rung_status(of_rung(stages, "workload"))
    if any(status != "passed" for status in needed.values()) or workload == "interrupted":
        return "inconclusive"
    if workload in FAULTS or any(named_and_broken(stage) for stage in stages):
        return "blocked"
    unfinished = any(
        stage.status == "interrupted" or (stage.status in FAULTS and stage.name != "interpreter")
        for stage in stages
    )
    partly = any(
        stage.status != "passed" for name in NEEDED_FOR_READY for stage in of_rung(stages, name)
    )
    if "degrading" in severities or unfinished or partly:
        return "degraded"
    return "ready"


def _root(findings: tuple[Finding, ...]) -> Finding | None:
    grave = [f for f in findings if f.severity in ("blocking", "degrading")]
    return grave[0] if grave else None


def _decision(status: VerdictStatus, root: Finding | None) -> Decision:
    if root is None:
        return "launch" if status in ("ready", "degraded") else "fix-environment"
    if root.code.startswith("order-"):
        return "review-order"
    return "contact-provider" if root.who == "provider" else "fix-environment"


def _reason(
    status: str, stages: tuple[Stage, ...], root: Finding | None, error: FirstError | None
) -> str:
    if root is not None:
        return root.title
    if error is not None:
        first_line = error.text.strip().splitlines()[0] if error.text.strip() else error.type
        return f"{error.stage} did not pass on {error.subject}: {first_line[:200]}"
    if status == "ready":
        return "torch loads, every device opens, and its kernels and products are right"
    for stage in of_rung(stages, "interpreter"):
        if stage.reason == "not-executed" and stage.error is not None:
            return stage.error.text  # it names the option that insists
    missing = [n for n in NEEDED_FOR_READY if rung_status(of_rung(stages, n)) != "passed"]
    if missing:
        return f"nothing bad was seen, but these were not shown to work: {', '.join(missing)}"
    return "some of what was asked for did not finish"


def _not_covered(stages: tuple[Stage, ...]) -> tuple[str, ...]:
    lines = []
    for rung in STAGES:
        of_this = of_rung(stages, rung.name)
        if not of_this:
            why = "no command was given" if rung.name == "workload" else "not asked for"
            lines.append(f"{rung.name}: {why}")
        lines += [
            f"{_label(stage)}: {stage.status}" + (f" ({stage.reason})" if stage.reason else "")
            for stage in of_this
            if stage.status != "passed"
        ]
    return tuple(lines)


def _label(stage: Stage) -> str:
    return stage.name if stage.subject == "host" else f"{stage.name} {stage.subject}"


def _all_neutral(stages: tuple[Stage, ...], name: str) -> bool:
    return all(
        stage.status == "skipped" and stage.reason in NEUTRAL_SKIPS
        for stage in of_rung(stages, name)
    )


def _death(stage: Stage) -> str:
    step = f" at step “{stage.steps[-1].name}”" if stage.steps else ""
    if stage.status == "timed_out":
        return f"no answer within the deadline{step}"
    if stage.signal:
        return f"killed by {stage.signal}{step}"
    return f"ended with exit code {stage.exit_code}{step}"
