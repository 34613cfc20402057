"""Bundles of real runs: still verified, and judged as they must be by today's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.bundle import observations_of
from agent.judge import judge
from agent.verdict import decide
from agent.verify import verify
from tests.agent_command import run_agent

FOLDER = Path(__file__).parent / "recordings"
MUST = {
    "cpu-torch.json": ("ready", "memory", None),
    "cuda-torch-no-gpu.json": ("blocked", "import", "no-nvidia-driver-here"),
    "no-torch.json": ("blocked", "driver", "other-interpreter-has-torch"),
}


def test_every_recording_has_its_row() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == set(MUST)


@pytest.mark.parametrize("name", sorted(MUST))
def test_a_recording_is_intact_and_judged_as_it_must_be(name: str) -> None:
    status, reached, root = MUST[name]
    checked = verify((FOLDER / name).read_bytes())
    assert checked.intact
    assert checked.bundle is not None
    assert not checked.bundle.run.simulated
    seen = observations_of(checked.bundle)
    judged = judge(seen)
    verdict = decide(seen, judged.findings)
    assert (verdict.status, verdict.stage_reached) == (status, reached)
    grave = [finding.code for finding in judged.findings if finding.severity != "note"]
    assert grave[:1] == ([root] if root else [])


@pytest.mark.parametrize("name", sorted(MUST))
def test_a_recording_replays_and_is_marked(name: str, tmp_path: Path) -> None:
    ran = run_agent("run", "--replay", str(FOLDER / name), cwd=tmp_path)
    assert ran.bundle["run"]["simulated"] is True
    assert ran.bundle["verdict"]["status"] == MUST[name][0]
