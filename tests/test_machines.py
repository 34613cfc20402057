"""Each constructed machine gives, through the real collectors and children, what its file says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from agent.bundle import with_lines
from agent.codec import to_json
from agent.judge import judge
from agent.model import Facts, Observations

from .simulate import MACHINES, cards, examine, machine_names, simulate

ABSENT = "absent"


def looked_up(facts: Facts, path: str) -> Any:
    """The value at a dotted path of the facts; ``absent`` past the end of a list."""
    value: Any = asdict(facts)
    for key in path.split("."):
        if value is None:
            return None
        if isinstance(value, list | tuple):
            if int(key) >= len(value):
                return ABSENT
            value = value[int(key)]
        else:
            value = value[key]
    if isinstance(value, list | tuple):
        return list(value) or ABSENT
    return value


@pytest.mark.parametrize("name", machine_names())
def test_the_machine_gives_the_facts_of_its_file(
    name: str, tmp_path: Path, stand_ins: Path
) -> None:
    simulation = simulate(name, tmp_path, stand_ins)
    facts, stage, gaps, workers = examine(simulation)
    said = simulation.description
    found = {path: looked_up(facts, path) for path in said["expect"]}
    assert found == said["expect"]
    assert {key: getattr(stage, key) for key in said["stage"]} == said["stage"], stage
    for key, value in said.get("data", {}).items():
        assert stage.data[key] == value
    has_libraries = any((simulation.libraries).iterdir())
    assert any(worker.simulated for worker in workers) == has_libraries
    assert all(gap.why and gap.said_by for gap in gaps)
    json.dumps(to_json(facts), allow_nan=False)


def test_the_machines_that_were_asked_for_are_there() -> None:
    names = set(machine_names())
    wanted = (
        "h100-sxm h100-sxm-8 rtx4090-container rtx3090-riser a100-mig-slice h200-vm b200-pair "
        "v100-retired-pages gtx1080ti t4 h100-gpu-lost driver-not-loaded nvml-mismatch "
        "vgpu-unlicensed mi300x-8 mi300x-cpx rx7900-igpu kfd-no-right wsl jetson gvisor cpu-only"
    )
    assert set(wanted.split()) <= names


def blocks(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of a description that hold values of a machine."""
    for key in ("nvidia", "amd"):
        if key in value:
            yield value[key]
    yield from value["cards"]
    yield from value.get("pci_only", ())


@pytest.mark.parametrize("name", machine_names())
def test_every_value_names_where_it_comes_from(name: str) -> None:
    said = json.loads((MACHINES / name / "machine.json").read_text())
    assert all(block["source"] for block in blocks(said))
    for part in ("tree", "stand_in"):
        assert part not in said or said[f"{part}_source"]
    assert "node_error" not in said or said["node_source"]
    for group in said["cards"]:
        assert cards()[group["card"]]["source"]


def test_the_example_of_the_contributing_page_is_a_machine(tmp_path: Path, stand_ins: Path) -> None:
    page = (MACHINES.parent.parent / "CONTRIBUTING.md").read_text()
    example = page.partition("```json\n")[2].partition("```")[0]
    folder = tmp_path / "machines" / "two-t4"
    folder.mkdir(parents=True)
    (folder / "machine.json").write_text(example)
    simulation = simulate("two-t4", tmp_path / "made", stand_ins, machines=folder.parent)
    facts, stage, gaps, _ = examine(simulation)
    said = simulation.description
    assert {path: looked_up(facts, path) for path in said["expect"]} == said["expect"]
    assert stage.status == said["stage"]["status"]
    seen = with_lines(Observations(facts=facts, stages=(stage,), gaps=gaps))
    assert {item.code for item in judge(seen).findings if item.severity != "note"} == set(
        said["codes"]
    )
