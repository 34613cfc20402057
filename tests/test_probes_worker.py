"""The worker's records: what a plan gives, also where torch is absent, broken or hostile."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes import report as reports
from probes import worker

from .in_target import REPOSITORY, lines_of, run_plan, stage_of

PROBES = sorted((REPOSITORY / "probes").glob("*.py"))


def _old_pythons() -> list[Path]:
    """Interpreters older than the agent needs, as far as this machine has any."""
    found = Path.home().glob(".pyenv/versions/3.[89].*/bin/python")
    return [*sorted(found), Path(sys.executable)]


@pytest.mark.parametrize("path", PROBES, ids=lambda path: path.stem)
def test_probes_are_written_for_python_3_8(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    imported = [n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)]
    imported += [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert not [name for name in imported if name.split(".")[0] in ("agent", "probes")]


@pytest.mark.parametrize("python", _old_pythons(), ids=lambda path: path.parent.parent.name)
def test_no_torch(python: Path) -> None:
    records = run_plan(python, "import", "device", "matmul", environ={"PYTHONNOUSERSITE": "1"})
    failed = stage_of(records, "import")
    assert (failed["status"], failed["reason"]) == ("failed", "not-installed")
    assert failed["error"] == {"type": "ModuleNotFoundError", "text": "No module named 'torch'"}
    assert stage_of(records, "device")["reason"] == "needs-stage"
    assert stage_of(records, "matmul")["data"]["needs"] == "device"
    assert records[-1]["record"] == "done"
    assert [record["seq"] for record in records] == list(range(len(records)))


@pytest.mark.parametrize("python", _old_pythons(), ids=lambda path: path.parent.parent.name)
def test_every_stage_loads_without_torch(python: Path) -> None:
    program = """
import importlib
from firstlight_probes import worker
for name in sorted(worker.STAGES.values()):
    importlib.import_module("firstlight_probes." + name)
for name in ("gpu_matmul", "gpu_timing", "gpu_device"):
    importlib.import_module("firstlight_probes." + name)
os.write(descriptor, json.dumps({"torch": "torch" in sys.modules}).encode() + b"\\n")
"""
    assert lines_of(python, program) == [{"torch": False}]


UNREADABLE = "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E"
# What a module named torch does when it is imported; type, reason and a part of the text.
BROKEN = (
    ("raise SystemExit('licence server unreachable')", "SystemExit", "raised", "licence server"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt", "raised", ""),
    ("import ctypes; ctypes.CDLL('libnone.so.7')", "OSError", "does-not-load", "libnone.so.7"),
    ("import typing_extenzions", "ModuleNotFoundError", "does-not-load", "typing_extenzions"),
    ("raise ValueError('x' * 100000 + 'END')", "ValueError", "raised", "END"),
    ("x = 1", "AttributeError", "raised", "has no attribute 'version'"),
    (UNREADABLE, "torch.E", "raised", "could not be read"),
)


@pytest.mark.parametrize(("source", "kind", "reason", "text"), BROKEN, ids=[b[1] for b in BROKEN])
def test_broken_torch(tmp_path: Path, source: str, kind: str, reason: str, text: str) -> None:
    (tmp_path / "torch.py").write_text(source)
    records = run_plan(sys.executable, "import", "device", environ={"PYTHONPATH": str(tmp_path)})
    failed = stage_of(records, "import")
    assert (failed["status"], failed["reason"]) == ("failed", reason)
    assert failed["error"]["type"] == kind
    assert text in failed["error"]["text"]
    assert len(failed["error"]["text"]) < 9000
    assert stage_of(records, "device")["status"] == "skipped"
    if kind == "AttributeError":
        assert failed["data"]["path"] == str(tmp_path / "torch.py")


def test_what_an_error_came_from_is_kept(tmp_path: Path) -> None:
    source = "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ImportError('no') from e"
    (tmp_path / "torch.py").write_text(source)
    records = run_plan(sys.executable, "import", environ={"PYTHONPATH": str(tmp_path)})
    data = stage_of(records, "import")["data"]
    assert data["caused_by"] == [{"type": "ZeroDivisionError", "text": "division by zero"}]
    assert data["raised_at"][-1].startswith(f"{tmp_path}/torch.py:4")


def test_unknown_stage_is_said() -> None:
    [_, result, _] = run_plan(sys.executable, "astrology")
    assert (result["status"], result["reason"]) == ("skipped", "not-written")


def test_tasks_for_each_device() -> None:
    devices = [{"id": "gpu:a", "index": 0}, {"id": "gpu:b", "index": 1}]
    task = {"stage": "matmul", "options": {"busy": "yes"}}
    several = worker.per_device(task, {"devices": devices})
    assert [one["subject"] for one in several] == ["gpu:a", "gpu:b"]
    assert several[1]["options"] == {"busy": "yes", "index": 1}
    named = {"stage": "matmul", "subject": "gpu:b"}
    assert worker.per_device(named, {"devices": devices}) == [named]
    assert worker.per_device(task, {"devices": [{"index": 0, "name": "cpu"}]}) == [task]
    assert worker.per_device({"stage": "import"}, {"devices": devices}) == [{"stage": "import"}]


def _written(act: Any) -> list[bytes]:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as channel:
        act(reports.Report(writer))
        os.close(writer)
        return channel.readlines()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_anything_can_be_reported(value: Any) -> None:
    [line] = _written(lambda report: report.write({"record": "data", "data": {"value": value}}))
    text = json.dumps(json.loads(line), allow_nan=False, ensure_ascii=False)
    assert line.isascii()
    assert text.encode()  # no lone surrogate is left


@given(st.lists(st.integers(0, 60000), min_size=1, max_size=12))
def test_records_are_cut_to_their_limit(sizes: list[int]) -> None:
    data = {f"value{place}": ["x" * 7000] * (size // 7000) for place, size in enumerate(sizes)}
    lines = _written(lambda report: report.write({"record": "data", "stage": "s", "data": data}))
    found = json.loads(lines[0])
    assert all(len(line) <= reports.RECORD_LIMIT_BYTES for line in lines)
    lost = found["data"].pop("cut", [])
    assert set(found["data"]) | set(lost) == set(data)
    assert all(found["data"][name] == data[name] for name in found["data"])


def test_both_ends_of_a_long_text_are_kept() -> None:
    text = "start " + "x" * 20000 + " end"
    short = reports.cut(text)
    assert short.startswith("start ")
    assert short.endswith(" end")
    assert "characters cut" in short
    assert reports.cut("short") == "short"


def test_a_process_that_dies_leaves_its_last_step(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import os; os.kill(os.getpid(), 11)")
    program = "import sys; sys.path[:0] = sys.argv[1:3]; from probes import worker\n"
    program += "worker.main(1, {'tasks': [{'stage': 'import'}]})"
    argv = [sys.executable, "-B", "-c", program, str(REPOSITORY), str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, cwd="/", check=False)
    assert done.returncode == -11
    assert json.loads(done.stdout.splitlines()[-1])["name"] == "import torch"
