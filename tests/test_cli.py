"""The command line: every option explained, the README true to it, plain words for mistakes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from agent.cli import COMMANDS, group, run_command_line
from agent.ladder import RUNGS

HERE = Path(__file__).resolve().parent.parent
GOOD = str(HERE / "tests" / "bundles" / "good.json")
README = (HERE / "README.md").read_text()


def options_of(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


def help_of(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run_command_line([name, "--help"] if name else ["--help"]) == 0
    return capsys.readouterr().out


def test_the_commands_are_those_that_exist() -> None:
    assert set(COMMANDS) == set(group.commands)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_is_complete_and_fits(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(name, capsys)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "..." not in text.replace("]...", "").replace("COMMAND...", "")  # no sentence is cut
    command = group.commands[name] if name else group
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts} says nothing"


def test_every_command_and_option_in_the_readme_exists() -> None:
    typed = re.findall(r"`(?:[^`\n]*\| )?agent (\w+)([^`\n]*)`", README)
    assert {command for command, _ in typed} == set(COMMANDS)
    for command, rest in typed:
        ours = rest.split(" -- ")[0]
        for option in re.findall(r"(?<!\S)(--?[a-z][\w-]*)", ours):
            assert option in options_of(group.commands[command]), (command, option)
    everywhere = {name for command in group.commands.values() for name in options_of(command)}
    everywhere |= options_of(group)
    of_others = {"--check", "--ignore-missing", "--no-skips"}
    for option in re.findall(r"(?<![\w-])(--[a-z][\w-]*)", README):
        assert option in everywhere | of_others, option


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name: str) -> None:
    assert re.search(rf"`(?:… \\\| )?agent {name}\b|agent {name} ", README)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain"], "explain needs a file"),
        (["explain", "/nowhere/x"], "cannot read /nowhere/x"),
        (["explain", "/nowhere/x", "/nowhere/y"], "cannot read /nowhere/y"),
        (["explain", "/tmp"], "is a directory"),
        (["verify", "/nowhere/x"], "cannot read"),
        (["show", "/nowhere/x"], "cannot read"),
        (["recover", "/nowhere/x"], "cannot be read"),
        (["findings", "no-such-code"], "no-such-code"),
        (["findings", "amdgpu-hnag"], "did you mean amdgpu-hang?"),
        (["verify", GOOD, "--trust", "nowhere.pem"], "which is no file here"),
        (["verify", GOOD, "--trust", "/tmp"], "which is no file here"),
        (["frobnicate"], "No such command"),
        (["run", "--depht", "quick"], "--depth"),
        (["run", "--only", "device", "--skip", "device"], "name it once"),
        (["run", "train.py"], "after --"),
        (["run", "--workspace", "/nowhere"], "create it first"),
        (["run", "--extension", "a b"], "not a module name"),
        (["run", "--replay", "/nowhere/x"], "cannot read"),
        (["run", "--order", "/nowhere/x"], "cannot"),
        (["run", "--sign-with", "/nowhere/x"], "cannot be read"),
        (["run", "train.py", "--", "x"], "after --"),
        (["run", "train.py", "--depth", "quick"], "after --"),
        (["measure"], "COMMAND"),
        (["run", "--only", "workload"], "needs a command"),
        (["run", *(f"--skip={name}" for name in RUNGS)], "leave nothing to do"),
    ],
)
def test_wrong_usage_is_two_and_says_why(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize("code", [None, "driver-too-old-for-build", "amdgpu-hang"])
def test_the_catalogue_fits_the_screen(
    code: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["findings", *([code] if code else [])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0][0].isalnum()
    # An address or a path to be copied stays whole; nothing else runs over.
    assert all(len(line) <= 80 or len(max(line.split(), key=len)) > 40 for line in lines)
    assert not any("**" in line for line in lines)


def test_the_options_of_a_measured_command_are_its_own(tmp_path: Path) -> None:
    boot = f"import sys; sys.path.insert(0, {str(HERE)!r});from agent.__main__ import main; main()"
    theirs = ["-q", "--plain", "-o", "x", "--", "--token=hunter2"]
    done = subprocess.run(
        [sys.executable, "-c", boot, "measure", "-q", sys.executable, "-c",
         "import sys; print(sys.argv[1:]); sys.exit(7)", *theirs],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 7, done.stderr
    assert done.stdout.splitlines() == [str(theirs)]
    assert not (tmp_path / "x").exists()
    (bundle,) = tmp_path.glob("firstlight-*.json")
    assert "hunter2" not in bundle.read_text()
    assert json.loads(bundle.read_text())["run"]["argv"] == [
        "measure", "-q", Path(sys.executable).name
    ]  # fmt: skip


def test_of_several_inputs_the_readable_ones_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "error.txt"
    text.write_text("RuntimeError: The NVIDIA driver on your system is too old (found 11040).\n")
    assert run_command_line(["explain", "/nowhere/x", str(text)]) == 2
    out, err = capsys.readouterr()
    assert "driver" in out
    assert "cannot read /nowhere/x" in err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("form", ["text", "html", "markdown"])
def test_a_locale_that_lacks_a_character_loses_no_text(encoding: str, form: str) -> None:
    boot = f"import sys; sys.path.insert(0, {str(HERE)!r});from agent.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", boot, "show", GOOD, "--format", form],
        env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": encoding},
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    # What is a document of its own is UTF-8, as it says of itself.
    assert done.stdout.decode("utf-8" if form != "text" else encoding)


@pytest.mark.parametrize("arguments", [["show", GOOD], ["findings"], ["verify", GOOD]])
def test_a_full_disk_is_said_in_plain_words(arguments: list[str]) -> None:
    boot = f"import sys; sys.path.insert(0, {str(HERE)!r});from agent.__main__ import main; main()"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", boot, *arguments], stdout=full, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert "No space left on device" in done.stderr
    assert "partial" not in done.stderr
    assert "Traceback" not in done.stderr
