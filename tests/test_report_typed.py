"""A command that we suggest is one that the reader can type: the words that started us."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.report.typed import PIPED, as_typed, own_command


def program(folder: Path, name: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    return str(path)


def test_the_installed_command_by_name_where_that_starts_it(tmp_path: Path) -> None:
    script = program(tmp_path / "bin", "firstlight")
    on_path = {"PATH": str(tmp_path / "bin")}
    assert own_command([script], on_path, zipped=False) == "firstlight"
    program(tmp_path / "other", "firstlight")
    shadowed = {"PATH": f"{tmp_path}/other:{tmp_path}/bin"}
    assert own_command([script], shadowed, zipped=False) == script
    at_home = {"PATH": "", "HOME": str(tmp_path)}
    assert own_command([script], at_home, zipped=False) == "~/bin/firstlight"


def test_the_module_by_a_python_that_is_there(tmp_path: Path) -> None:
    both = {"PATH": str(tmp_path)}
    program(tmp_path, "python3")
    assert own_command(["/x/agent/__main__.py"], both, zipped=False) == "python3 -m agent"
    program(tmp_path, "python")
    assert own_command(["/x/agent/__main__.py"], both, zipped=False) == "python -m agent"


@pytest.mark.parametrize(
    ("started", "typed"),
    [
        ("agent.pyz", "python3 agent.pyz"),
        ("/tmp/a b/fl", "python3 '/tmp/a b/fl'"),
        ("/root/dl/agent.pyz", "python3 ~/dl/agent.pyz"),
        ("/proc/41/fd/3", PIPED),
    ],
)
def test_the_single_file_by_its_path_and_the_piped_one_by_its_pipe(
    started: str, typed: str
) -> None:
    assert own_command([started], {"HOME": "/root"}, zipped=True) == typed


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("To work without a GPU: python -m agent --backend cpu", "python3 x.pyz --backend cpu"),
        ("paste it: … | agent explain -", "… | python3 x.pyz explain -"),
        ("run it: agent run --depth deep", "python3 x.pyz run --depth deep"),
    ],
)
def test_our_name_before_a_command_is_replaced(written: str, typed: str) -> None:
    assert as_typed(written, "python3 x.pyz").endswith(typed)


@pytest.mark.parametrize(
    "text",
    [
        "the agent was killed", "python -m agent.catalogue > x", "an agent runs here",
        "user-agent -x", "/opt/agent run",
    ],
)  # fmt: skip
def test_other_words_stay(text: str) -> None:
    assert as_typed(text, "python3 x.pyz") == text
