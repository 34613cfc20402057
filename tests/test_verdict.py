"""The verdict: what was reached, what blocked, and what may be said of it."""

from __future__ import annotations

from agent.model import ErrorText, Finding, Observations, Severity, Stage, Status, Step, Who
from agent.verdict import decide, rung_status


def stage(name: str, status: Status = "passed", subject: str = "host", **more: object) -> Stage:
    return Stage(name=name, subject=subject, status=status, **more)  # type: ignore[arg-type]


def finding(code: str, severity: Severity = "blocking", who: Who = "renter") -> Finding:
    return Finding(
        code=code, severity=severity, who=who, title=code, cause="c", fix=("f",),
        evidence=(), confidence="high", source="s",
    )  # fmt: skip


QUICK = tuple(stage(name) for name in ("interpreter", "driver", "import", "device", "matmul"))


def test_all_quick_rungs_passed_is_ready() -> None:
    verdict = decide(Observations(stages=QUICK), ())
    assert (verdict.status, verdict.decision) == ("ready", "launch")
    assert (verdict.stage_reached, verdict.blocked_at) == ("matmul", None)
    assert "extensions: not asked for" in verdict.not_covered


def test_cuda_build_without_driver_reaches_import_and_is_blocked_at_device() -> None:
    stages = (
        *QUICK[:3],
        stage("device", "failed", error=ErrorText(type="RuntimeError", text="Found no NVIDIA")),
        stage("matmul", "skipped", reason="needs-stage"),
    )
    verdict = decide(Observations(stages=stages), (finding("no-gpu", who="provider"),))
    assert (verdict.status, verdict.decision) == ("blocked", "contact-provider")
    assert (verdict.stage_reached, verdict.blocked_at) == ("import", "device")
    assert verdict.first_error is not None
    assert verdict.first_error.text == "Found no NVIDIA"


def test_no_torch_reaches_driver() -> None:
    stages = (*QUICK[:2], stage("import", "failed", reason="not-installed"))
    verdict = decide(Observations(stages=stages), ())
    assert (verdict.stage_reached, verdict.blocked_at) == ("driver", "import")


def test_a_crash_names_its_step() -> None:
    stages = (
        *QUICK[:2],
        stage("import", "crashed", signal="SIGSEGV", steps=(Step(name="import torch"),)),
    )
    verdict = decide(Observations(stages=stages), ())
    assert verdict.first_error is not None
    assert verdict.first_error.text == "killed by SIGSEGV at step “import torch”"


def test_one_dead_gpu_of_two_degrades() -> None:
    stages = (
        *QUICK[:4],
        stage("matmul", subject="gpu:a"),
        stage("matmul", "failed", subject="gpu:b", reason="wrong-result"),
    )
    verdict = decide(Observations(stages=stages), ())
    assert verdict.status == "degraded"
    assert verdict.stage_reached == "matmul"


def test_skipped_needed_rung_is_inconclusive_never_ready() -> None:
    for missing in ("import", "device", "matmul"):
        stages = tuple(s for s in QUICK if s.name != missing)
        assert decide(Observations(stages=stages), ()).status == "inconclusive"
        skipped = (*stages, stage(missing, "skipped", reason="not-asked"))
        assert decide(Observations(stages=skipped), ()).status == "inconclusive"


def test_a_degrading_finding_degrades_and_a_note_does_not() -> None:
    seen = Observations(stages=QUICK)
    assert decide(seen, (finding("x", "degrading"),)).status == "degraded"
    assert decide(seen, (finding("x", "note"),)).status == "ready"


def test_an_interpreter_that_does_not_start_blocks() -> None:
    broken = stage("interpreter", "crashed", reason="exited", exit_code=1)
    rest = [stage(name, "skipped", reason="needs-stage") for name in ("import", "device", "matmul")]
    assert decide(Observations(stages=(broken, *rest)), ()).status == "blocked"
    # It went well the second time: what the user's program needs was shown.
    assert decide(Observations(stages=(broken, *QUICK[1:])), ()).status != "blocked"


def test_an_interpreter_that_root_does_not_run_is_the_reason() -> None:
    why = "root does not run /x/python: it belongs to user id 7; name it: --python /x/python"
    skipped = stage(
        "interpreter", "skipped", reason="not-executed", error=ErrorText(type="x", text=why)
    )
    rest = [stage(name, "skipped", reason="needs-stage") for name in ("import", "device", "matmul")]
    verdict = decide(Observations(stages=(skipped, QUICK[1], *rest)), ())
    assert (verdict.status, verdict.reason) == ("inconclusive", why)


def test_order_mismatch_sends_the_reader_to_the_order() -> None:
    verdict = decide(Observations(stages=QUICK), (finding("order-gpu-count", "degrading"),))
    assert verdict.decision == "review-order"


def test_rung_status_ignores_what_is_not_installed() -> None:
    missing = stage("extensions", "skipped", "ext:xformers", reason="not-installed")
    passed = stage("extensions", "passed", "ext:triton")
    assert rung_status((missing, passed)) == "passed"
    assert rung_status((missing,)) == "skipped"
    assert rung_status(()) == "absent"


def test_an_extension_found_by_itself_degrades_and_a_named_one_blocks() -> None:
    passed = stage("extensions", subject="ext:triton")
    broken = stage("extensions", "failed", "ext:mine", reason="raised")
    found = decide(Observations(stages=(*QUICK, passed, broken)), ())
    assert (found.status, found.blocked_at) == ("degraded", None)
    named = stage("extensions", "failed", "ext:mine", reason="raised", data={"named": True})
    asked = decide(Observations(stages=(*QUICK, passed, named)), ())
    assert (asked.status, asked.decision) == ("blocked", "fix-environment")
    assert (asked.stage_reached, asked.blocked_at) == ("matmul", "extensions")
    working = stage("extensions", subject="ext:mine", data={"named": True})
    assert decide(Observations(stages=(*QUICK, passed, working)), ()).status == "ready"
