"""The verdict screen: what it says, in 80 columns, whatever the file holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.codec import to_json
from agent.judge import Judgement
from agent.model import Finding, Gap, Observations, PciDevice, Stage, Step
from agent.report.layout import cells, plain_text
from agent.report.shown import Shown, blamed_devices, resolve, root_cause, shown_of, versions
from agent.report.text import (
    fetch_rows,
    message_lines,
    names_of_file,
    redaction_rows,
    screen_rows,
    verdict_rows,
)
from agent.texts import SEND
from agent.verify import verify

from .make_bundles import FOLDER, ZOO
from .samples import (
    UUID,
    amd_facts,
    failed_stages,
    lost_gpu,
    sample_bundle,
    sample_facts,
    sample_stages,
)

ROOT = Finding(
    code="gpu-fell-off",
    severity="blocking",
    who="provider",
    title="The GPU has fallen off the bus",
    cause="The card no longer answers over PCI Express. " * 4,
    fix=("Stop the machine and start it again.", "pip install " + "x" * 90),
    evidence=("/facts/kernel_log/events/0/text", "/stages/4/error/text"),
    confidence="high",
    source="a test",
)
NOTE = replace(ROOT, code="a-note", severity="note", who="renter", title="Something to know")


def judged(*findings: Finding) -> Shown:
    """A broken machine under rules that say just this."""
    whole = sample_bundle(stages=failed_stages("CUDA error: unspecified\nsecond"), facts=lost_gpu())

    def judge(observations: Observations) -> Judgement:
        return Judgement(findings=findings, look_at=("run nvidia-smi -q",))

    return shown_of(whole, key_id="SHA256:" + "A" * 43, judge=judge)


def text_of(shown: Shown) -> str:
    return plain_text(screen_rows(shown))


def test_a_healthy_machine_may_start() -> None:
    text = text_of(shown_of(sample_bundle()))
    lines = text.splitlines()
    assert lines[0] == "READY: the workload may start"
    assert lines[1] == "  Do now: start your workload"
    assert "The ladder: reached matmul" in text
    assert "  passed      import                                  1.4 s" in lines
    assert "Versions: torch 2.14.1+cu130" in lines
    line = "  driver 580.65.06, nvidia-smi's CUDA 13.0, torch's CUDA 13.0, toolkit 12.4.131"
    assert line in lines
    assert "These may differ" in text
    assert "First error" not in text


def test_a_broken_machine_says_who_fixes_it_how_and_what_to_send() -> None:
    text = text_of(replace(judged(ROOT, NOTE), place="/tmp/firstlight-x.json"))
    assert text.startswith(
        "BLOCKED: the workload cannot start yet\n  Do now: contact your provider"
    )
    assert "Root cause: The GPU has fallen off the bus" in text
    assert "Who can fix it: your provider." in text
    assert "  1. Stop the machine and start it again." in text
    assert "seen: /facts/kernel_log/events/0/text: NVRM: Xid (PCI:0000:3b:00): 79" in text
    assert "A message to paste for your provider:" in text
    assert f"UUID {UUID}, PCI" in text
    assert "0000:3b:00.0" in text
    assert "driver 580.65.06" in text
    assert "SHA256:" + "A" * 43 in text
    assert "First error, word for word, at matmul" in text
    assert "RuntimeError: CUDA error: unspecified" in text
    assert "Also found:\n  note: Something to know (a-note; you)" in text
    assert "look at: run nvidia-smi -q" in text
    assert "reached device, blocked at matmul" in text
    assert "scp -P PORT USER@HOST:/tmp/firstlight-x.json ." in text
    assert "cat /tmp/firstlight-x.json" in text


def test_the_sentence_for_the_provider_stands_once_where_it_is_pasted_from() -> None:
    asked = "Please replace the card in slot 3."
    told = replace(ROOT, fix=(*ROOT.fix, f"{SEND}“{asked}”"))
    text = text_of(judged(told))
    assert ". Send your provider the message below." in text
    assert text.count(asked) == 1
    pasted = text.partition("A message to paste for your provider:")[2]
    assert asked in pasted


def test_which_python_was_tested_is_said() -> None:
    assert "Python under test: 3.11.7, /venv/bin/python\n" in text_of(shown_of(sample_bundle()))


def test_degraded_machines_may_start_and_are_told_so() -> None:
    minor = replace(ROOT, severity="degrading", who="renter")
    shown = replace(shown_of(sample_bundle()), findings=(minor,))
    worse = replace(shown.verdict, status="degraded", decision="fix-environment")
    text = text_of(replace(shown, verdict=worse))
    assert "Do now: start if you can do without what is broken below; else fix it first" in text


def test_without_a_known_cause_there_is_something_to_ask_for_help_with() -> None:
    text = text_of(judged(NOTE))
    assert "Root cause: none that is known fits" in text
    assert "To ask for help, paste this:" in text
    assert "A GPU machine does not work: blocked at matmul, cause unknown" in text
    assert UUID in text
    assert "Root cause" not in text_of(shown_of(sample_bundle()))


def test_nothing_is_pasted_for_what_the_renter_can_do() -> None:
    text = text_of(judged(replace(ROOT, who="renter")))
    assert "Who can fix it: you." in text
    assert "A message to paste" not in text


def test_how_a_stage_died_is_on_its_line() -> None:
    stages = (
        *sample_stages()[:4],
        Stage(
            name="matmul",
            subject=f"gpu:{UUID}",
            status="crashed",
            reason="signal",
            signal="SIGSEGV",
            seconds=0.5,
            steps=(Step(name="fill"),),
        ),
        Stage(name="memory", subject="host", status="skipped", reason="needs-stage"),
    )
    text = text_of(shown_of(sample_bundle(stages=stages)))
    assert (
        "  crashed     matmul gpu:GPU-6f1d2c3b-1a2b-3c4d…      0.5 s  signal\n"
        "              SIGSEGV at step “fill”\n"
    ) in text
    assert "  skipped     memory                                         needs a rung above" in text


def test_the_early_verdict_is_a_part_of_the_later_one() -> None:
    early = [row for row in verdict_rows(judged(ROOT)) if row.text]
    assert set(early) <= set(screen_rows(judged(ROOT)))
    assert early[0].text.startswith("BLOCKED")


# ---------------------------------------------------------------- width and hostile words
def zoo() -> list[str]:
    return [name for name in ZOO if verify((FOLDER / f"{name}.json").read_bytes()).bundle]


@pytest.mark.parametrize("name", zoo())
def test_every_bundle_of_the_zoo_is_shown_in_80_columns(name: str) -> None:
    result = verify((FOLDER / f"{name}.json").read_bytes())
    assert result.bundle is not None
    shown = shown_of(result.bundle, banner=result.problem, key_id=result.key_id)
    rows = [*screen_rows(shown), *redaction_rows(shown)]
    for row in rows:
        assert row.text.isprintable() or not row.text, ascii(row.text)
        # Commands from our own catalogue stay whole; a stranger's words are broken.
        assert cells(row.text) <= 80 or " " not in row.text.strip(), row.text
    assert (rows[0].text == "DO NOT TRUST THIS FILE") is (not result.good)


def test_a_strangers_words_are_never_shown_as_ours() -> None:
    result = verify((FOLDER / "good-with-hostile-words.json").read_bytes())
    assert result.good
    assert result.bundle is not None
    shown = shown_of(result.bundle)
    text = text_of(shown)
    assert "curl evil.example" not in text
    assert "Run this" not in text
    assert "because" not in text
    assert "the file says 'run-this-now', the rules do not" in " ".join(text.split())
    assert "\\x1b[2J" in text
    assert "\x1b" not in text


def test_what_the_file_says_and_the_rules_do_not_is_listed() -> None:
    healthy = sample_bundle()
    lying = replace(
        sample_bundle(stages=failed_stages()), verdict=healthy.verdict, findings=healthy.findings
    )
    shown = shown_of(lying)
    assert shown.verdict.status == "blocked"
    assert "status: the file says ready, the rules say blocked" in shown.differences
    assert not shown_of(healthy).differences


def test_banners() -> None:
    whole = sample_bundle(simulated=True, interrupted="SIGINT")
    text = text_of(shown_of(whole, banner="The signature does not match."))
    assert text.startswith("DO NOT TRUST THIS FILE\n  The signature does not match.\nSIMULATED: ")
    assert "INTERRUPTED by SIGINT" in text


def test_long_lists_are_counted_instead_of_shown() -> None:
    stages = tuple(replace(sample_stages()[4], subject=f"gpu:{n}") for n in range(100))
    whole = sample_bundle(
        stages=(*sample_stages(), *stages),
        gaps=tuple(Gap(pointer=f"/{n}", why="x", said_by="y") for n in range(7)),
    )
    text = text_of(shown_of(whole))
    assert "… 65 more in the bundle" in text
    assert "Could not be looked at: 7 facts" in text
    assert len(text.splitlines()) < 90


def test_a_long_error_is_cut_and_the_rest_counted() -> None:
    stages = failed_stages("\n".join(f"line {n}" for n in range(30)))
    text = text_of(shown_of(sample_bundle(stages=stages)))
    assert "RuntimeError: line 0" in text
    assert "… 24 more lines in the bundle" in text
    assert "line 29" not in text.split("The ladder")[0].split("First error, word")[1]


# ---------------------------------------------------------------- its parts
def test_the_message_names_pci_devices_where_the_driver_lists_none() -> None:
    host = replace(
        sample_facts().host,
        pci=(
            PciDevice(
                address="0000:3b:00.0",
                vendor="nvidia",
                vendor_id="10de",
                device_id="2330",
                class_code="030200",
                name="H100",
            ),
        ),
    )
    whole = sample_bundle(facts=sample_facts(host=host, devices=()), ticket="T-7")
    shown = shown_of(whole, key_id="SHA256:k")
    lines = list(message_lines(shown, ROOT))
    assert "GPU: H100, PCI 0000:3b:00.0" in lines
    assert lines[-1].endswith("ticket T-7, key SHA256:k")


def test_only_the_devices_that_the_evidence_names_are_blamed() -> None:
    first = sample_facts().devices[0]
    second = replace(first, id="GPU-2", uuid="GPU-2", pci_address="0000:5e:00.0")
    whole = sample_bundle(facts=sample_facts(devices=(first, second)), stages=failed_stages())
    shown = shown_of(whole)
    assert blamed_devices(shown, ROOT) == (first,)
    assert blamed_devices(shown, replace(ROOT, evidence=("/facts/devices/1/ecc",))) == (second,)
    assert blamed_devices(shown, replace(ROOT, evidence=("/stages/99/x",))) == (first, second)


def test_versions_of_amd_machines() -> None:
    stages = list(sample_stages())
    stages[2] = replace(stages[2], data={"version": "2.9.0+rocm6.4", "hip": "6.4.43484"})
    assert versions(sample_bundle(facts=amd_facts(), stages=tuple(stages))) == (
        ("amdgpu driver", "6.12.12"),
        ("ROCm", "6.4.1"),
        ("torch", "2.9.0+rocm6.4"),
        ("torch's HIP", "6.4.43484"),
    )


def test_pointers() -> None:
    document = to_json(sample_bundle())
    assert resolve(document, "/facts/devices/0/uuid") == UUID
    assert resolve({"a/b": {"~": [1]}}, "/a~1b/~0/0") == 1
    for pointer in ("/facts/devices/9", "/facts/devices/x", "/run/id/deeper", "/absent", "line 12"):
        assert resolve(document, pointer) in (None, document)


@pytest.mark.parametrize(
    ("path", "home", "here", "remote"),
    [
        ("/home/me/x.json", "/home/me", "x.json", "x.json"),
        ("/home/me/a/x.json", "/home/me", "~/a/x.json", "a/x.json"),
        ("/tmp/x.json", "/home/me", "/tmp/x.json", "/tmp/x.json"),
        ("/tmp/x.json", "/", "/tmp/x.json", "/tmp/x.json"),
        ("x.json", "", "x.json", "/home/me/x.json"),
    ],
)
def test_a_file_is_named_without_the_home_it_lies_in(
    path: str, home: str, here: str, remote: str
) -> None:
    assert names_of_file(Path(path), {"HOME": home}, Path("/home/me")) == (here, remote)


def test_commands_quote_what_a_shell_would_understand() -> None:
    text = plain_text(list(fetch_rows("~/a b/$(x).json", "a b/$(x).json")))
    assert "USER@HOST:'a b/$(x).json' ." in text
    assert "cat ~/'a b/$(x).json'" in text
    long = plain_text(list(fetch_rows("x", "/" + "y" * 70)))
    assert "  scp -P PORT \\\n    USER@HOST:/yyy" in long


def test_the_root_cause_is_never_a_note() -> None:
    assert root_cause(judged(NOTE)) is None
    assert root_cause(judged(NOTE, ROOT)) == ROOT
