"""The engine: one root first, effects folded, rivals weighed, evidence that resolves, purity."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent.bundle import with_lines
from agent.catalogue import catalogue_entry, catalogue_lines, catalogue_markdown
from agent.codec import to_json
from agent.errors import UsageError
from agent.judge import judge
from agent.model import (
    Device,
    Drivers,
    ErrorText,
    Facts,
    Interpreter,
    Line,
    NvidiaDriver,
    Observations,
    Stage,
    Torch,
)
from agent.rules import RULES
from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.texts import PHRASES, all_texts, text_for
from tests.rules.judged import codes, of, of_text
from tests.simulate import examine, machine_names, simulate

DOCS = Path(__file__).parent.parent / "docs" / "findings.md"
TEXTS = tuple(all_texts())


def climbed(torch: str, capability: str, driver_cuda: str, error: str = "") -> Observations:
    """A machine with one GPU whose product failed with `error`, or passed where there is none."""
    gpu = Device(
        id="GPU-0", vendor="nvidia", name="NVIDIA GeForce RTX 5090", architecture=capability
    )
    stage = Stage(
        name="matmul",
        subject="gpu:GPU-0",
        status="failed" if error else "passed",
        reason="raised" if error else None,
        error=ErrorText(type="RuntimeError", text=error) if error else None,
    )
    return with_lines(
        Observations(
            facts=Facts(
                devices=(gpu,),
                drivers=Drivers(nvidia=NvidiaDriver(cuda_version=driver_cuda)),
                interpreters=(
                    Interpreter(path="/usr/bin/python3", chosen=True, torch=Torch(version=torch)),
                ),
            ),
            stages=(stage,),
            backend="cuda",
        )
    )


NO_IMAGE = "CUDA error: no kernel image is available for execution on the device"


def test_the_same_rule_judges_the_ladder_and_pasted_text() -> None:
    on_the_machine = of(climbed("2.5.1+cu124", "12.0", "12.8", NO_IMAGE))
    pasted = of_text(f"{NO_IMAGE}\ntorch: 2.5.1+cu124\ngpu: NVIDIA GeForce RTX 5090")
    assert codes(on_the_machine) == codes(pasted) == ["gpu-newer-than-build"]
    assert on_the_machine.findings[0].evidence[0] == "/stages/0/error/text"
    assert pasted.findings[0].evidence[0] == "line 1"


def test_a_contradicting_fact_removes_the_cause() -> None:
    assert codes(of(climbed("2.5.1+cu124", "12.0", "12.8"))) == []


def test_the_named_wheel_fits_the_gpu_and_the_driver() -> None:
    found = of(climbed("2.5.1+cu124", "12.0", "12.8", NO_IMAGE)).findings[0]
    assert "whl/cu12" in " ".join(found.fix)


def test_judging_is_pure() -> None:
    observations = climbed("2.5.1+cu124", "12.0", "12.8", NO_IMAGE)
    assert judge(observations) == judge(observations)


def test_nothing_seen_is_nothing_found() -> None:
    assert judge(Observations()).findings == ()


# ---------------------------------------------------------------- the engine alone
def rule(
    code: str, weight: int, *, line: int | None = None, explains: tuple[str, ...] = ()
) -> Rule:
    """A rule that always answers."""
    hits = () if line is None else (Hit("x", f"line {line}", line, "x", ()),)

    def find(_: Case) -> Diagnosis:
        return Diagnosis(weight=weight, hits=hits, look_at=(f"look for {code}",))

    return Rule(
        code=code, severity="blocking", who="renter", source="here", find=find, explains=explains
    )


A, B, C = "cpu-only-build", "torch-not-installed", "no-compiler"


def found(*rules: Rule) -> list[str]:
    return codes(judge(Observations(), rules=rules))


def test_an_effect_is_folded_under_its_cause_with_its_evidence() -> None:
    judgement = judge(
        Observations(), rules=(rule(B, 80, line=3), rule(A, 70, line=1, explains=(B,)))
    )
    assert codes(judgement) == [A]
    assert judgement.findings[0].evidence == ("line 1", "line 3")


def test_a_guess_does_not_explain_what_is_certain() -> None:
    assert found(rule(B, 92), rule(A, 50, explains=(B,))) == [B, A]


def test_causes_that_explain_each_other_leave_one() -> None:
    assert found(rule(A, 80, explains=(B,)), rule(B, 75, explains=(A,))) in ([A], [B])


def test_a_chain_of_effects_leaves_its_root() -> None:
    assert found(rule(C, 80), rule(B, 80, explains=(C,)), rule(A, 80, explains=(B,))) == [A]


def test_the_clearly_lighter_rival_for_a_line_is_dropped_but_what_decides_is_kept() -> None:
    judgement = judge(Observations(), rules=(rule(A, 80, line=1), rule(B, 55, line=1)))
    assert codes(judgement) == [A]
    assert judgement.look_at == (f"look for {A}", f"look for {B}")


def test_near_rivals_for_a_line_both_stand() -> None:
    assert found(rule(A, 60, line=1), rule(B, 55, line=1)) == [A, B]


def test_what_is_hardly_a_guess_only_says_what_would_tell_more() -> None:
    judgement = judge(Observations(), rules=(rule(A, 20, line=1),))
    assert judgement.findings == ()
    assert judgement.look_at == (f"look for {A}",)


def test_an_optional_part_of_a_text_goes_with_its_value() -> None:
    without = text_for("driver-too-old-for-build")
    assert "⟦" not in "".join((without.title, without.cause, *without.fix, without.message))
    known = text_for("driver-too-old-for-build", values={"driver": "470.57", "wanted": "525.60"})
    assert "525.60" in known.cause
    assert "470.57" in known.message


def test_causes_of_different_lines_both_stand() -> None:
    assert found(rule(A, 80, line=1), rule(B, 50, line=2)) == [A, B]


def test_a_rule_that_raises_does_not_silence_the_others() -> None:
    def broken(_: Case) -> Diagnosis:
        raise ZeroDivisionError

    judgement = judge(Observations(), rules=(replace(rule(A, 80), find=broken), rule(B, 80)))
    assert codes(judgement) == [B]
    assert any(A in item for item in judgement.look_at)


def test_a_long_line_is_named() -> None:
    lines = (Line(text="x" * 20_000, pointer="line 1"),)
    assert any("line 1" in item for item in judge(Observations(lines=lines)).look_at)


# ---------------------------------------------------------------- the rules as a whole
def test_codes_are_unique_and_kebab_case() -> None:
    names = [rule.code for rule in RULES]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) for name in names)


def test_every_rule_has_a_text_and_every_text_a_rule() -> None:
    assert {rule.code for rule in RULES} == set(TEXTS)


def test_folded_codes_exist() -> None:
    names = {rule.code for rule in RULES}
    for item in RULES:
        assert set(item.explains) <= names, item.code
        assert item.code not in item.explains
        assert item.source


@pytest.mark.parametrize("code", TEXTS)
@pytest.mark.parametrize("place", ["unknown", "container", "bare", "wsl", "windows"])
def test_a_text_is_whole_without_any_value(code: str, place: str) -> None:
    text = text_for(code, place)
    assert text.title
    assert not text.title.endswith(".")
    assert text.cause.endswith((".", ")", ":", PHRASES["value"]))
    assert text.fix
    assert all(step for step in text.fix)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_only_the_provider_can_act_so_there_is_a_message(rule: Rule) -> None:
    if rule.who == "provider":
        assert all_texts()[rule.code].message


def test_the_catalogue_page_is_up_to_date() -> None:
    assert DOCS.read_text(encoding="utf-8") == catalogue_markdown()


def test_the_catalogue_lists_and_explains_each_code() -> None:
    lines = catalogue_lines()
    assert sum(not line.startswith(" ") for line in lines) == len(RULES)
    assert any("cpu-only-build" in line for line in catalogue_entry("cpu-only-build"))
    with pytest.raises(UsageError, match="no finding"):
        catalogue_entry("no-such-code")


# ---------------------------------------------------------------- whole machines
@pytest.mark.parametrize("name", machine_names())
def test_a_machine_is_judged_as_its_file_says(name: str, tmp_path: Path, stand_ins: Path) -> None:
    simulation = simulate(name, tmp_path, stand_ins)
    facts, stage, gaps, _ = examine(simulation)
    observations = with_lines(Observations(facts=facts, stages=(stage,), gaps=gaps))
    judgement = of(observations)
    alarms = {item.code for item in judgement.findings if item.severity != "note"}
    assert alarms == set(simulation.description["codes"])
    whole = to_json({"facts": facts, "stages": (stage,)})
    for finding in judgement.findings:
        assert finding.evidence
        for pointer in finding.evidence:
            resolved(whole, pointer)


def resolved(whole: object, pointer: str) -> object:
    """What a JSON pointer points to; fails where it points nowhere."""
    value = whole
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]  # type: ignore[index]
    return value
