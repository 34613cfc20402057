"""The bundle: what it is judged from, how large it gets, where it is written, never by half."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent import bundle, codec, jsonio
from agent.model import Bundle, ErrorText, Gap, Observations, Stage

from .samples import failed_stages, lost_gpu, sample_bundle, sample_facts, sealed


def read(data: bytes) -> Bundle:
    return codec.from_json(Bundle, jsonio.strict_loads(data))


def test_the_file_is_the_form_that_the_design_binds() -> None:
    document = json.loads(sealed())
    assert list(document) == [
        "schema",
        "run",
        "verdict",
        "findings",
        "stages",
        "facts",
        "gaps",
        "order",
        "redactions",
        "signature",
    ]
    assert document["schema"] == "firstlight.bundle/1"
    assert set(document["facts"]) == {
        "host",
        "limits",
        "container",
        "kernel_log",
        "libraries",
        "devices",
        "drivers",
        "interpreters",
        "packages",
        "toolkits",
        "environment",
    }
    assert sealed().count(b"\n") > 50


@pytest.mark.parametrize("stages", [None, failed_stages()], ids=["healthy", "failed"])
def test_judging_the_file_gives_the_findings_in_it(stages: tuple[Stage, ...] | None) -> None:
    from agent.judge import judge
    from agent.verdict import decide

    found = read(sealed(sample_bundle(stages=stages, facts=lost_gpu())))
    observations = bundle.observations_of(found)
    assert judge(observations).findings == found.findings
    assert decide(observations, found.findings) == found.verdict


def test_lines_point_at_the_text_that_they_come_from() -> None:
    stages = failed_stages("first line\n\n  second line")
    found = bundle.observations_of(sample_bundle(stages=stages, facts=lost_gpu()))
    document = codec.to_json(sample_bundle(stages=stages, facts=lost_gpu()))
    assert [(line.pointer, line.text) for line in found.lines] == [
        ("/stages/4/error/text", "first line"),
        ("/stages/4/error/text", "  second line"),
        ("/stages/4/stderr_tail", "a line of noise"),
        ("/stages/4/stderr_tail", "another"),
        (
            "/facts/kernel_log/events/0/text",
            "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus.",
        ),
    ]
    for line in found.lines:
        place: Any = document
        for part in line.pointer.split("/")[1:]:
            place = place[int(part)] if isinstance(place, list) else place[part]
        assert line.text in place


# ---------------------------------------------------------------- size
def test_what_fits_is_left_alone() -> None:
    observations = Observations(facts=sample_facts(), stages=failed_stages("x" * 10_000))
    assert bundle.within_limit(observations) is observations


def huge(count: int, tail: str, **data: Any) -> Observations:
    stage = replace(failed_stages()[-1], stderr_tail=tail, data=data)
    return Observations(facts=lost_gpu(), stages=tuple([stage] * count))


def size_of(observations: Observations) -> int:
    return len(sealed(replace_observed(sample_bundle(), observations)))


def replace_observed(whole: Bundle, seen: Observations) -> Bundle:
    return replace(whole, facts=seen.facts, stages=seen.stages, gaps=seen.gaps)


def test_tails_are_cut_first_and_said_in_gaps() -> None:
    cut = bundle.within_limit(huge(20, "head" + "é" * 60_000 + "END", kept=["as it was"]))
    assert size_of(cut) < bundle.LIMIT_BYTES
    assert all((stage.stderr_tail or "").endswith("éEND") for stage in cut.stages)
    assert all(stage.data == {"kept": ["as it was"]} for stage in cut.stages)
    assert [gap.pointer for gap in cut.gaps] == [f"/stages/{n}/stderr_tail" for n in range(20)]
    assert cut.gaps[0].why == "cut from 60007 to 2000 to keep the bundle under 1 MB"
    assert cut.lines == bundle.with_lines(cut).lines != ()


@pytest.mark.parametrize(
    "observations",
    [
        huge(20, "", big=["x" * 1000] * 1000),
        huge(20, "", big={f"key {n}": "y" * 100 for n in range(5000)}),
        huge(3000, "tail " * 50, more={"a": "b" * 200}),
        huge(10, "", **{"\x00" * 200_000: "\x00" * 200_000}),
        Observations(
            stages=(
                Stage(
                    name="import",
                    subject="s" * 3_000_000,
                    status="failed",
                    error=ErrorText(type="t" * 2_000_000, text="\u0001" * 900_000),
                ),
            )
        ),
        Observations(
            gaps=tuple(Gap(pointer=f"/{n}", why="w" * 99, said_by="") for n in range(9999))
        ),
    ],
    ids=["lists", "members", "stages", "keys", "texts", "gaps"],
)
def test_nothing_that_was_observed_makes_the_file_larger_than_1_mb(
    observations: Observations,
) -> None:
    cut = bundle.within_limit(observations)
    data = sealed(replace_observed(sample_bundle(), cut))
    assert len(data) < bundle.LIMIT_BYTES
    assert any("1 MB" in gap.why or "left out" in gap.why for gap in cut.gaps)
    assert read(data).stages == cut.stages
    assert len(cut.stages) >= min(60, len(observations.stages))
    assert cut.facts.drivers == observations.facts.drivers


# ---------------------------------------------------------------- places
def test_places_in_order(tmp_path: Path) -> None:
    environ = {"HOME": "/home/me", "TMPDIR": "/scratch"}
    found = bundle.places("b.json", Path("out/x.json"), environ, Path("/code"))
    assert [str(path) for path in found] == [
        "out/x.json",
        "/code/b.json",
        "/home/me/b.json",
        "/scratch/b.json",
    ]
    assert [str(path) for path in bundle.places("b", None, {}, Path("/w"))] == ["/w/b", "/tmp/b"]


def test_the_name_holds_time_and_run_and_nothing_of_the_machine() -> None:
    name = bundle.file_name("2026-11-30T22:35:41.123Z", "1a2b3c4d")
    assert name == "firstlight-20261130T223541Z-1a2b3c4d.json"


# ---------------------------------------------------------------- files
def test_the_file_is_private_and_whole(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        written = bundle.write(b"data", [tmp_path / "b.json"])
    finally:
        os.umask(old)
    assert written == bundle.Written(path=tmp_path / "b.json")
    assert (tmp_path / "b.json").read_bytes() == b"data"
    assert stat.S_IMODE((tmp_path / "b.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


def test_a_place_that_refuses_is_passed_over_and_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "b.json").mkdir()
    candidates = [
        tmp_path / "absent" / "b.json",
        tmp_path / "file" / "b.json",
        tmp_path / "b.json",
        tmp_path / "bad\0name",
        tmp_path / ("n" * 300),
        tmp_path / "good.json",
    ]
    written = bundle.write(b"data", candidates)
    assert written.path == tmp_path / "good.json"
    assert len(written.refused) == 5
    assert written.refused[0] == f"{tmp_path}/absent: No such file or directory"
    assert bundle.write(b"x", [Path("/proc/b.json")]).path is None


def test_a_symbolic_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "b.json").symlink_to(victim)
    assert bundle.write(b"data", [tmp_path / "b.json"]).path is not None
    assert victim.read_text() == "precious"
    assert not (tmp_path / "b.json").is_symlink()


def test_a_full_disk_leaves_nothing_and_the_old_file_whole(tmp_path: Path) -> None:
    """A file size limit stops write() half way, as a full disk does."""
    (tmp_path / "b.json").write_text("old")
    code = (
        "import sys, signal, resource, pathlib; from agent import bundle\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "print(bundle.write(b'x' * 5000, [pathlib.Path(sys.argv[1])]).refused)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "b.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert "File too large" in done.stdout, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]
    assert (tmp_path / "b.json").read_text() == "old"


def test_killed_at_any_moment_the_file_is_absent_or_whole(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from agent import bundle\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "for n in range(10**6): bundle.write(b'y' * 900_000, [folder / f'{n % 50}.json'])"
    )
    for delay in (0.0, 0.01, 0.02, 0.05):
        command = [sys.executable, "-c", code, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(timeout=delay + 0.001)
            child.kill()
        for path in tmp_path.glob("*.json"):
            assert path.stat().st_size == 900_000


def test_a_strangers_file_with_very_many_lines_is_judged_at_both_ends() -> None:
    text = "\n".join(f"line {number}" for number in range(300_000))
    stage = Stage(name="import", subject="host", status="failed", stderr_tail=text)
    lines = bundle.lines_of((stage,), ())
    assert len(lines) == 20_000
    assert (lines[0].text, lines[-1].text) == ("line 0", "line 299999")
