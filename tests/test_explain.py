"""``agent explain``: texts and bundles in, causes and next steps out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent.codec import to_json
from agent.errors import BundleError, UsageError
from agent.explain import Explanation, as_object, explain, explain_inputs
from agent.model import (
    Bundle,
    ErrorText,
    Facts,
    Finding,
    KernelLog,
    Observations,
    Run,
    Stage,
    Verdict,
)
from agent.reading.read import read_text
from agent.report.explanation import explanation_text

NEW_GPU = b"""\
RuntimeError: CUDA error: no kernel image is available for execution on the device

PyTorch version: 2.5.1+cu121
CUDA used to build PyTorch: 12.1
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 5090
Nvidia driver version: 580.65.06
"""
QUIET = b"""\
ValueError: shapes (3,4) and (5,6) not aligned

PyTorch version: 2.9.1+cu128
CUDA used to build PyTorch: 12.8
Is CUDA available: True
GPU models and configuration: GPU 0: NVIDIA L4
Nvidia driver version: 570.86.15
"""


def test_the_cause_stands_first_with_its_lines() -> None:
    explained = explain(NEW_GPU, "error.txt")
    first = explained.findings[0]
    assert first.code == "gpu-newer-than-build"
    assert "line 1" in first.evidence
    assert all(pointer.startswith("line ") for pointer in first.evidence)


def test_the_json_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_inputs([("-", NEW_GPU)], as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == {"findings", "look_at"}
    first = printed["findings"][0]
    wanted = ("code", "severity", "who", "confidence", "title", "cause", "fix", "evidence")
    assert list(first)[:8] == list(wanted)
    assert isinstance(first["fix"], list)
    assert "input" not in first


def test_silence_names_what_would_help() -> None:
    explained = explain(b"it does not work, please help\n")
    assert explained.findings == ()
    assert any("collect_env" in item for item in explained.look_at)
    assert any("nvidia-smi" in item for item in explained.look_at)
    assert any("error message" in item for item in explained.look_at)


def test_where_all_is_known_the_machine_itself_is_next() -> None:
    explained = explain(QUIET)
    assert [f.code for f in explained.findings if f.severity != "note"] == []
    assert any("agent run" in item for item in explained.look_at)


def test_several_inputs_are_several_cases(capsys: pytest.CaptureFixture[str]) -> None:
    inputs = [("a.txt", NEW_GPU), ("b.bin", b"\x7fELF\x00\x00"), ("c.txt", NEW_GPU)]
    assert explain_inputs(inputs, as_json=True) == 2
    out, err = capsys.readouterr()
    named = [finding["input"] for finding in json.loads(out)["findings"]]
    assert {"a.txt", "c.txt"} == set(named)
    assert "b.bin is not text" in err


def test_one_input_that_is_no_text_is_an_error() -> None:
    with pytest.raises(UsageError, match="holds no text"):
        explain_inputs([("-", b"\n")], as_json=False)


def test_the_screen_shows_cause_owner_steps_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_inputs([("error.txt", NEW_GPU)], as_json=False) == 0
    out = capsys.readouterr().out
    assert out.startswith("Likely cause: ")
    assert "Who can fix it: you" in out
    assert "  1. " in out
    assert "seen at line 1: RuntimeError: CUDA error" in out


def test_a_strangers_text_cannot_move_the_cursor() -> None:
    observations = read_text("x\n")
    evil = Finding(
        code="evil", severity="blocking", who="renter", title="t", cause="c", fix=("f",),
        evidence=("line 1\x1b[2J",), confidence="low", source="s",
    )  # fmt: skip
    explained = Explanation(
        source="a\x1b]0;x\x07",
        observations=observations,
        findings=(evil,),
        look_at=("b\x1b[1m\u202e",),
    )
    text = explanation_text([explained, explained])
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


def test_a_cut_input_is_said() -> None:
    explained = explain(NEW_GPU + b"padding of a long log\n" * 200_000)
    assert explained.findings[0].code == "gpu-newer-than-build"
    assert any("two ends were read" in item for item in explained.look_at)


@pytest.mark.parametrize("form", ["crlf", "utf-16", "fence", "mail", "ansi", "html", "foreign"])
def test_the_same_cause_in_every_wrapping(form: str) -> None:
    text = NEW_GPU.decode()
    wrapped = {
        "crlf": text.replace("\n", "\r\n").encode(),
        "utf-16": text.encode("utf-16"),
        "fence": f"Hi\n```console\n{text}```\nthanks".encode(),
        "mail": "".join(f"> {line}\n" for line in text.splitlines()).encode(),
        "ansi": "".join(f"\x1b[31m{line}\x1b[0m\n" for line in text.splitlines()).encode(),
        "html": text.replace("+", "&#43;").replace("'", "&#39;").encode(),
        "foreign": f"Máy thuê bị lỗi này, xin giúp:\n{text}\n谢谢大家".encode(),
    }[form]
    assert explain(wrapped).findings[0].code == "gpu-newer-than-build"


def test_as_object_of_nothing() -> None:
    nothing = Explanation(source="-", observations=Observations(), findings=(), look_at=("x",))
    assert as_object([nothing]) == {"findings": [], "look_at": ["x"]}


def test_an_error_of_the_program_itself_is_named_and_blamed_on_nothing() -> None:
    text = (
        b"Traceback (most recent call last):\n"
        b'  File "train.py", line 9, in <module>\n'
        b"    model(x)\n"
        b"ValueError: shapes (3,4) and (5,6) not aligned\n\n"
        b"The above exception was the direct cause of the following exception:\n\n"
        b"Traceback (most recent call last):\n"
        b'  File "train.py", line 12, in <module>\n'
        b"RuntimeError: step failed\n"
    )
    explained = explain(text)
    assert [f for f in explained.findings if f.severity != "note"] == []
    assert any("line 4: “ValueError: shapes (3,4)" in item for item in explained.look_at)


def bundle_of_a_new_gpu() -> Bundle:
    facts = replace(read_text(NEW_GPU.decode()).facts, kernel_log=KernelLog())
    failed = Stage(
        name="matmul",
        subject="gpu:GPU-1",
        status="failed",
        reason="raised",
        error=ErrorText(type="RuntimeError", text=NEW_GPU.decode().splitlines()[0]),
    )
    return Bundle(
        schema="firstlight.bundle/1",
        run=Run(id="r", started_at="2026-01-05T10:00:00Z", finished_at="x", agent_version="0",
                depth="quick"),
        verdict=Verdict(status="ready", decision="launch", stage_reached=None, blocked_at=None,
                        first_error=None, reason="the file says so"),
        findings=(),
        stages=(failed,),
        facts=facts,
        gaps=(),
        order=(),
        redactions=(),
    )  # fmt: skip


@pytest.mark.parametrize("sort", [False, True])
def test_a_bundle_is_judged_anew_whatever_it_says_of_itself(sort: bool) -> None:
    data = json.dumps(to_json(bundle_of_a_new_gpu()), indent=2, sort_keys=sort).encode()
    first = explain(data, "b.json").findings[0]
    assert first.code == "gpu-newer-than-build"
    assert "/stages/0/error/text" in first.evidence


def test_a_damaged_bundle_is_an_error_and_not_a_text() -> None:
    data = json.dumps(to_json(bundle_of_a_new_gpu())).encode()[:-20]
    with pytest.raises(BundleError):
        explain(data, "b.json")


def test_a_known_line_that_has_several_causes_is_not_called_harmless() -> None:
    text = (
        b"Traceback (most recent call last):\n"
        b'  File "t.py", line 1, in <module>\n'
        b"RuntimeError: Found no NVIDIA driver on your system. Please check that you have one\n"
    )
    explained = explain(text)
    said = " ".join(explained.look_at)
    if not explained.findings:
        assert "printed for several causes" in said
    assert "no sign of a broken GPU environment" not in said


def test_a_bundle_that_was_changed_is_explained_under_a_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = json.dumps(to_json(bundle_of_a_new_gpu())).encode()
    explained = explain(data, "b.json")
    said = " ".join(explained.look_at)
    assert "do not trust this file" in said
    assert "judged anew: status: the file says ready, the rules say blocked" in said
    healthy = replace(bundle_of_a_new_gpu(), stages=(), facts=Facts())
    assert explain_inputs([("b.json", json.dumps(to_json(healthy)).encode())], as_json=False) == 0
    out = capsys.readouterr().out
    assert "in this bundle" in out
    assert "add to the text" not in out
