"""Causes in single extensions, as the stage ``extensions`` saw them; others name better ones.

A library that does not load often prints what another rule knows (a symbol of another torch, a
missing library). Those rules weigh more; what is here stays where none of them speaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from agent.model import Stage
from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule

Found = tuple[int, Stage]
_AT_STAGE = re.compile(r"/stages/(\d+)/")
# Wordings of which other rules make a cause of their own.
_KNOWN = (
    "symbol_of_torch",
    "symbol_old_abi",
    "symbol_new_abi",
    "torch_library_missing",
    "library_missing",
    "operator_missing",
    "family_cuda_versions",
    "glibc_version",
    "glibcxx_version",
    "static_tls",
    "no_kernel_image",
    "no_compiler",
    "nvcc_missing",
)


def extension_not_installed(case: Case) -> Diagnosis | None:
    """A module that the user named is not there at all."""
    return _diagnosis(case, 82, lambda stage: stage.reason == "not-installed" and _named(stage))


def extension_does_not_load(case: Case) -> Diagnosis | None:
    """An extension that is installed fails when it is imported."""
    return _diagnosis(
        case,
        50,
        lambda stage: (
            stage.status == "failed"
            and stage.reason != "not-installed"
            and "load_error" in stage.data
        ),
    )


def extension_fails(case: Case) -> Diagnosis | None:
    """An extension loads, and its operation raises, or a compiler refuses a small kernel."""
    return _diagnosis(
        case,
        50,
        lambda stage: (
            stage.status == "failed"
            and stage.reason not in ("wrong-result", "not-installed")
            and "load_error" not in stage.data
        ),
    )


def extension_wrong_result(case: Case) -> Diagnosis | None:
    """An extension's operation ends with another result than the reference."""
    return _diagnosis(case, 82, lambda stage: stage.reason == "wrong-result")


def extension_crashes(case: Case) -> Diagnosis | None:
    """An extension ends its process, or never comes back."""
    return _diagnosis(case, 82, lambda stage: stage.status in ("crashed", "timed_out"))


def _diagnosis(case: Case, weight: int, fits: Callable[[Stage], bool]) -> Diagnosis | None:
    """One diagnosis for all extensions of a kind; the ones that no other rule knows come first."""
    found = [(i, s) for i, s in case.stages("extensions") if s.subject[:4] == "ext:" and fits(s)]
    if not found:
        return None
    known = {hit.pointer for hit in case.hits(*_KNOWN)}
    found = [one for one in found if _pointer(one) not in known] or found
    hits = tuple(hit for one in found if (hit := _first_line(case, _pointer(one))))
    return Diagnosis(
        weight=weight,
        hits=hits,
        evidence=tuple(f"/stages/{index}" for index, _ in found),
        values={
            "package": ", ".join(stage.subject[4:] for _, stage in found[:5]),
            "value": _said(found[0][1]),
            "found": _built_for(found[0][1]),
        },
        severity="blocking" if any(_named(stage) for _, stage in found) else "degrading",
    )


def _named(stage: Stage) -> bool:
    return stage.data.get("named") is True


def _pointer(found: Found) -> str:
    return f"/stages/{found[0]}/error/text"


def _first_line(case: Case, pointer: str) -> Hit | None:
    """The line that a rule with a better name would claim, too, so that the two are rivals."""
    lines = case.observations.lines
    known = [hit for hit in case.hits(*_KNOWN) if hit.pointer == pointer]
    if known:
        return known[0]
    for number, line in enumerate(lines):
        if line.pointer == pointer:
            return Hit("extension", pointer, number, line.text[:300], ())
    return None


def _said(stage: Stage) -> str:
    """The last thing that it said: the error's first line, else where it was."""
    if stage.error is not None and stage.error.text.strip():
        return f"{stage.error.type}: {stage.error.text.strip().splitlines()[0][:300]}"
    step = f" at “{stage.steps[-1].name}”" if stage.steps else ""
    if stage.status == "timed_out":
        return f"no answer within its time{step}"
    return f"ended by {stage.signal or 'exit code ' + str(stage.exit_code)}{step}"


def _built_for(stage: Stage) -> str:
    """What the package's files say that they were built for."""
    build = stage.data.get("build")
    built = build.get("built_for") if isinstance(build, dict) else None
    if not isinstance(built, dict) or not built:
        return "no torch that its files name"
    names = {"torch": "torch", "cuda": "CUDA", "hip": "HIP"}
    return ", ".join(f"{names[key]} {built[key]}" for key in names if key in built) or "this torch"


def softened(case: Case, diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis, degrading at most where all of it was seen in extensions nobody asked for.

    An extension that was found by itself does not keep a workload from starting that may not use
    it; one that ``--extension`` names does.
    """
    places = [_AT_STAGE.match(hit.pointer) for hit in diagnosis.hits]
    if not places or diagnosis.severity not in (None, "blocking"):
        return diagnosis
    stages = case.observations.stages
    for match in places:
        number = int(match.group(1)) if match else -1
        if not 0 <= number < len(stages):
            return diagnosis
        if stages[number].name != "extensions" or _named(stages[number]):
            return diagnosis
    return replace(diagnosis, severity="degrading")


RULES: tuple[Rule, ...] = (
    Rule(
        code="extension-not-installed",
        severity="blocking",
        who="renter",
        source="Python's import system",
        find=extension_not_installed,
    ),
    Rule(
        code="extension-does-not-load",
        severity="degrading",
        who="renter",
        source="the loader's and the package's own words",
        find=extension_does_not_load,
    ),
    Rule(
        code="extension-fails",
        severity="degrading",
        who="renter",
        source="the package's own words",
        find=extension_fails,
    ),
    Rule(
        code="extension-wrong-result",
        severity="degrading",
        who="renter",
        source="comparison with plain torch or numpy",
        find=extension_wrong_result,
    ),
    Rule(
        code="extension-crashes",
        severity="degrading",
        who="renter",
        source="how the child process ended",
        find=extension_crashes,
    ),
)
