"""Single extensions: each cause fires on what the stage saw, its healthy neighbour stays quiet."""

from __future__ import annotations

from typing import Any

import pytest

from agent.bundle import with_lines
from agent.judge import Judgement
from agent.model import ErrorText, Finding, Observations, Package, Stage, Status, Step
from agent.model import Facts as AllFacts
from tests.rules.judged import of

IMPORT = Stage(
    name="import",
    subject="host",
    status="passed",
    data={"version": "2.13.0+cpu", "built_for": "cpu", "cxx11_abi": True},
)


def _extension(name: str, status: Status, reason: str | None = None, **changes: Any) -> Stage:
    text = changes.pop("text", None)
    error = ErrorText(type="ImportError", text=text) if text else None
    return Stage(
        name="extensions",
        subject=f"ext:{name}",
        status=status,
        reason=reason,
        error=error,
        **changes,
    )


def _judged(*stages: Stage, packages: tuple[Package, ...] = ()) -> Judgement:
    facts = AllFacts(packages=packages)
    seen = Observations(facts=facts, stages=(IMPORT, *stages), backend="cpu", backend_asked="cpu")
    return of(with_lines(seen))


def _first(*stages: Stage, packages: tuple[Package, ...] = ()) -> Finding:
    return _judged(*stages, packages=packages).findings[0]


LOADS_NOT = {"build": {"built_for": {"torch": "2.4", "cuda": "12"}}, "load_error": {}}
# code, the stage that fires, the nearest neighbour that must not
ROWS = (
    (
        "extension-does-not-load",
        _extension("apex", "failed", "raised", text="the licence expired", data=LOADS_NOT),
        _extension("apex", "skipped", "no-device", text="apex loads; its operation needs a GPU"),
    ),
    (
        "extension-fails",
        _extension("numba", "failed", "raised", text="lowering failed", data={"imported": True}),
        _extension("numba", "skipped", "unproven", text="f() takes 2 positional arguments"),
    ),
    (
        "extension-wrong-result",
        _extension("jax", "failed", "wrong-result", text="a product: 4 instead of 5"),
        _extension("jax", "passed"),
    ),
    (
        "extension-crashes",
        _extension(
            "vllm", "crashed", "signal", signal="SIGSEGV", steps=(Step(name="import vllm"),)
        ),
        _extension("vllm", "interrupted", "interrupted"),
    ),
    (
        "extension-not-installed",
        _extension(
            "mine", "failed", "not-installed", text="No module named 'mine'", data={"named": True}
        ),
        _extension("triton", "skipped", "not-installed", text="this environment has no Triton"),
    ),
)


@pytest.mark.parametrize(("code", "fires", "quiet"), ROWS, ids=[row[0] for row in ROWS])
def test_each_cause_and_its_neighbour(code: str, fires: Stage, quiet: Stage) -> None:
    finding = _first(fires)
    assert finding.code == code
    assert fires.subject[4:] in finding.title + finding.cause
    assert any(pointer.startswith("/stages/1") for pointer in finding.evidence)
    assert _judged(quiet).findings == ()


def test_the_text_says_what_was_said_and_what_it_was_built_for() -> None:
    finding = _first(ROWS[0][1])
    assert "the licence expired" in finding.cause
    assert "torch 2.4, CUDA 12" in finding.cause
    assert "2.13.0+cpu" in finding.cause
    crashed = _first(ROWS[3][1])
    assert "SIGSEGV at “import vllm”" in crashed.cause


@pytest.mark.parametrize(("named", "severity"), [(False, "degrading"), (True, "blocking")])
def test_what_nobody_asked_for_degrades_and_what_was_named_blocks(
    named: bool, severity: str
) -> None:
    for _, fires, _ in ROWS[:4]:
        stage = _extension(
            fires.subject[4:],
            fires.status,
            fires.reason,
            text=fires.error.text if fires.error else None,
            data={**fires.data, "named": named},
            signal=fires.signal,
        )
        assert _first(stage).severity == severity


SYMBOL = "/x/flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi"


@pytest.mark.parametrize(("named", "severity"), [(False, "degrading"), (True, "blocking")])
def test_a_better_name_wins_and_is_softened_as_well(named: bool, severity: str) -> None:
    data = {"load_error": {"kind": "symbol"}, "named": named}
    finding = _first(_extension("flash-attn", "failed", "does-not-load", text=SYMBOL, data=data))
    assert finding.code == "ext-wheel-built-for-other-torch"
    assert finding.severity == severity


def test_what_torch_itself_says_is_never_softened() -> None:
    broken = Stage(
        name="import",
        subject="host",
        status="failed",
        reason="does-not-load",
        error=ErrorText(type="OSError", text=SYMBOL.replace("flash_attn_2_cuda", "libtorch_cuda")),
    )
    seen = with_lines(Observations(stages=(broken,)))
    assert any(f.severity == "blocking" for f in of(seen).findings)


def test_one_cause_names_all_its_packages_and_the_known_ones_apart() -> None:
    known = _extension("flash-attn", "failed", "does-not-load", text=SYMBOL, data=LOADS_NOT)
    unknown = [
        _extension(name, "failed", "raised", text=f"{name} is broken", data=LOADS_NOT)
        for name in ("apex", "xformers")
    ]
    found = {finding.code: finding for finding in _judged(known, *unknown).findings}
    assert set(found) == {"ext-wheel-built-for-other-torch", "extension-does-not-load"}
    assert "apex, xformers" in found["extension-does-not-load"].title
    assert "flash-attn" not in found["extension-does-not-load"].title


def test_a_companion_that_needs_a_back_end_that_torch_lacks() -> None:
    text = "operator torchvision::nms does not exist"
    needed = ["libc10.so", "libc10_cuda.so", "libtorch_cuda.so"]
    vision = (Package(name="torchvision", version="0.28.0"),)
    stage = _extension(
        "torchvision",
        "failed",
        "does-not-load",
        text=text,
        data={"build": {"needed": needed}, "load_error": {"kind": "operator"}},
    )
    finding = _first(stage, packages=vision)
    assert finding.code == "torch-family-backend-mismatch"
    assert "/stages/1/data/build/needed" in finding.evidence
    other = _extension(
        "torchvision",
        "failed",
        "does-not-load",
        text=text,
        data={"build": {"needed": ["libc10.so"]}, "load_error": {"kind": "operator"}},
    )
    assert _first(other, packages=vision).code == "torch-family-version-mismatch"
