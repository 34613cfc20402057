"""A bundle of each constructed machine is marked simulated and replays to the same findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.cli import run_command_line
from agent.codec import to_json

from .simulate import examine, machine_names, simulate


def replayed(source: Path, output: Path) -> dict[str, Any]:
    """The bundle that ``agent run --replay`` writes."""
    run_command_line(["run", "--replay", str(source), "-o", str(output), "-q"])
    found: dict[str, Any] = json.loads(output.read_text())
    return found


@pytest.mark.parametrize("name", machine_names())
def test_the_machine_is_judged_the_same_again_and_is_marked_simulated(
    name: str, tmp_path: Path, stand_ins: Path
) -> None:
    simulation = simulate(name, tmp_path / "machine", stand_ins)
    facts, stage, gaps, _ = examine(simulation)
    seen = tmp_path / "seen.json"
    observed = {"facts": to_json(facts), "stages": to_json((stage,)), "gaps": to_json(gaps)}
    seen.write_text(json.dumps(observed))
    first = replayed(seen, tmp_path / "first.json")
    second = replayed(tmp_path / "first.json", tmp_path / "second.json")
    assert first["run"]["simulated"] is True
    assert first["findings"] == second["findings"]
    assert first["verdict"] == second["verdict"]
    assert first["signature"]["value"] != second["signature"]["value"]
    assert (tmp_path / "first.json").stat().st_size < 1_000_000
    codes = {finding["code"] for finding in first["findings"]}
    assert set(simulation.description["codes"]) <= codes
    if simulation.description.get("quiet"):
        assert [f["code"] for f in first["findings"] if f["severity"] != "note"] == []
    assert run_command_line(["verify", str(tmp_path / "first.json")]) == 0
