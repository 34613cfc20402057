"""The partial file: its owner's only, redacted, one line an observation, readable when torn."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.model import ErrorText, Gap, Json, Stage, Step
from agent.recover import recover
from agent.run import partial as partials

STAGE = Stage(
    name="import",
    subject="host",
    status="failed",
    reason="raised",
    seconds=1.5,
    steps=(Step(name="import torch"),),
    error=ErrorText(type="OSError", text="secret at home"),
    data={"version": "2.14.1"},
)


def same(value: Json) -> Json:
    return value


def written(tmp_path: Path) -> Path:
    notes = partials.open_partial(tmp_path / "b.json", same)
    partials.note_run(notes, {"id": "r1", "depth": "quick"})
    partials.note_facts(notes, {"host": {"system": "linux"}})
    partials.note_begin(notes, "import", "host")
    partials.note_step(notes, "import", "host", "import torch")
    partials.note_stage(notes, STAGE)
    partials.note_gap(notes, Gap(pointer="/facts/x", why="refused", said_by="test"))
    partials.note_facts(notes, {"libraries": [{"soname": "libcuda.so.1"}]})
    partials.note_begin(notes, "device", "host")
    partials.note_step(notes, "device", "host", "torch.cuda.init")
    partials.close_partial(notes, remove=False)
    return notes.path


def test_everything_noted_comes_back(tmp_path: Path) -> None:
    found = recover(written(tmp_path))
    assert found.run == {"id": "r1", "depth": "quick"}
    assert found.facts == {"host": {"system": "linux"}, "libraries": [{"soname": "libcuda.so.1"}]}
    assert found.gaps == (Gap(pointer="/facts/x", why="refused", said_by="test"),)
    assert found.stages[0] == STAGE
    cut = found.stages[1]
    assert (cut.name, cut.status, cut.reason) == ("device", "interrupted", "agent-killed")
    assert cut.steps == (Step(name="torch.cuda.init"),)
    assert cut.error is not None
    assert "torch.cuda.init" in cut.error.text


def test_cut_at_every_byte_it_is_read_or_refused_in_words(tmp_path: Path) -> None:
    data = written(tmp_path).read_bytes()
    torn = tmp_path / "torn.partial"
    whole_lines = 0
    for length in range(len(data)):
        torn.write_bytes(data[:length])
        try:
            found = recover(torn)
        except UsageError:
            assert b"\n" not in data[:length]
            continue
        whole_lines += 1
        assert found.run["id"] == "r1"
        is_torn = not data[:length].endswith(b"\n")
        assert any("torn" in gap.why for gap in found.gaps) == is_torn
    assert whole_lines > 100


def test_lines_of_a_stranger_are_counted_and_skipped(tmp_path: Path) -> None:
    path = written(tmp_path)
    bad = [
        b"{}",
        b"[1]",
        b'{"record":"stage","stage":{"name":1}}',
        b'{"record":"odd"}',
        b"\xff",
        b'{"record":"step","stage":"never","subject":"begun","step":"x"}',
        b'{"record":"facts","facts":7}',
        b'{"record":"gap"}',
    ]
    path.write_bytes(path.read_bytes() + b"\n".join(bad) + b"\n")
    found = recover(path)
    assert any(f"{len(bad)} lines" in gap.why for gap in found.gaps)
    assert len(found.stages) == 2


def test_what_is_not_a_partial_file_is_refused_with_a_next_step(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text('{"schema": "firstlight.bundle/1"}\n')
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (other, tmp_path / "none", tmp_path, fifo, Path("/dev/zero")):
        with pytest.raises(UsageError) as refused:
            recover(path)
        assert refused.value.hint


def test_it_is_the_owners_alone_and_beside_the_bundle(tmp_path: Path) -> None:
    notes = partials.open_partial(tmp_path / "b.json", same)
    assert notes.path == tmp_path / "b.json.partial"
    assert stat.S_IMODE(notes.path.stat().st_mode) == 0o600
    partials.close_partial(notes, remove=True)
    assert not notes.path.exists()
    partials.close_partial(notes, remove=True)


def test_a_planted_file_or_link_is_not_written_to(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "link.json.partial").symlink_to(victim)
    (tmp_path / "file.json.partial").write_text("planted")
    (tmp_path / "dangling.json.partial").symlink_to(tmp_path / "nowhere")
    for name in ("link.json", "file.json", "dangling.json", "no/folder.json"):
        notes = partials.open_partial(tmp_path / name, same)
        assert notes.problem is not None
        partials.note_run(notes, {"id": "x"})
        partials.close_partial(notes, remove=True)
    assert victim.read_text() == "mine"
    assert (tmp_path / "file.json.partial").read_text() == "planted"
    assert not (tmp_path / "nowhere").exists()


def test_what_is_written_was_redacted_first(tmp_path: Path) -> None:
    def redact(value: Json) -> Json:
        if isinstance(value, str):
            return value.replace("secret", "<secret-1>")
        if isinstance(value, dict):
            return {key: redact(item) for key, item in value.items()}
        return [redact(item) for item in value] if isinstance(value, list) else value

    notes = partials.open_partial(tmp_path / "b.json", redact)
    partials.note_run(notes, {"id": "r"})
    partials.note_stage(notes, STAGE)
    partials.close_partial(notes, remove=False)
    assert b"secret at home" not in notes.path.read_bytes()
    error = recover(notes.path).stages[0].error
    assert error is not None
    assert error.text == "<secret-1> at home"


def test_a_full_disk_ends_the_file_and_not_the_run() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    notes = partials.Partial(path=full, descriptor=os.open(full, os.O_WRONLY), redact=same)
    partials.note_run(notes, {"id": "r"})
    assert notes.problem is not None
    partials.note_stage(notes, STAGE)
    partials.close_partial(notes, remove=False)
