"""Which interpreter is chosen, why, and which others are listed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.collect.interpreters import (
    INTERPRETERS_MAX,
    find_interpreters,
)
from tests.fake_python import codes, find, find_in, link, python, site, torch, venv, write


def test_order_of_choice(tmp_path: Path) -> None:
    """--python, the agent's interpreter, $VIRTUAL_ENV, $CONDA_PREFIX, PATH: each in its turn."""
    python(tmp_path)
    torch(tmp_path, site("/usr"))
    for name in ("named", "own", "active"):
        venv(tmp_path, f"/envs/{name}")
    python(tmp_path, "/opt/conda", "3.12.4")
    write(tmp_path, "/opt/conda/conda-meta/python-3.12.4-h123_0.json")
    environ = {"VIRTUAL_ENV": "/envs/active", "CONDA_PREFIX": "/opt/conda"}

    def chosen(*named: str, own: str | None = None, **environ: str) -> tuple[str, str | None]:
        found, gaps = find_in(tmp_path, named, environ, own)
        assert gaps == ()
        assert [one.chosen for one in found] == [True] + [False] * (len(found) - 1)
        return found[0].path, found[0].chosen_because

    assert chosen("/envs/named/bin/python", own="/envs/own", **environ) == (
        "/envs/named/bin/python",
        "--python names it",
    )
    assert chosen(own="/envs/own", **environ) == (
        "/envs/own/bin/python",
        "it is the Python that runs this program",
    )
    assert chosen(**environ)[0] == "/envs/active/bin/python"
    assert chosen(CONDA_PREFIX="/opt/conda") == (
        "/opt/conda/bin/python",
        "$CONDA_PREFIX names its environment",
    )
    assert chosen() == (
        "/usr/bin/python",
        "it is the first Python on PATH, and the first with torch",
    )


def test_agents_own_environment_is_passed_over(tmp_path: Path) -> None:
    """A venv with the distribution firstlight and no torch was made for this program."""
    python(tmp_path)
    venv(tmp_path, "/agent")
    write(tmp_path, f"{site('/agent')}/firstlight-0.1.0.dist-info/METADATA")
    found, _ = find(tmp_path, own_prefix="/agent", VIRTUAL_ENV="/agent")
    assert found[0].path == "/usr/bin/python"
    assert [one.path for one in found] == ["/usr/bin/python", "/agent/bin/python"]
    named, _ = find(tmp_path, "/agent", own_prefix="/agent")
    assert named[0].path == "/agent/bin/python"
    torch(tmp_path, site("/agent"))
    with_torch, _ = find(tmp_path, own_prefix="/agent")
    assert with_torch[0].path == "/agent/bin/python"


def test_agents_own_environment_is_taken_where_nothing_else_is(tmp_path: Path) -> None:
    python(tmp_path, "/base")
    venv(tmp_path, "/agent", "/base")
    write(tmp_path, f"{site('/agent')}/firstlight-0.1.0.dist-info/METADATA")
    found, _ = find(tmp_path, own_prefix="/agent")
    assert len(found) == 1
    assert found[0].chosen_because == ("no Python was found besides this program's own environment")


def test_system_python_with_the_agent_installed_is_no_environment_of_its_own(
    tmp_path: Path,
) -> None:
    python(tmp_path, "/usr/local", "3.12.1")
    write(tmp_path, f"{site('/usr/local', '3.12')}/firstlight-0.1.0.dist-info/METADATA")
    venv(tmp_path, "/code/.venv", "/usr/local", "3.12.1")
    found, _ = find(tmp_path, own_prefix="/usr/local")
    assert found[0].path == "/usr/local/bin/python"


def test_second_python_on_path(tmp_path: Path) -> None:
    """With the agent's environment activated, the Python behind it on PATH is the user's."""
    python(tmp_path)
    python(tmp_path, "/usr/local", "3.12.1")
    torch(tmp_path, site("/usr/local", "3.12"))
    venv(tmp_path, "/agent")
    write(tmp_path, f"{site('/agent')}/firstlight-0.1.0.dist-info/METADATA")
    venv(tmp_path, "/venv/other")
    torch(tmp_path, site("/venv/other"))
    path = "/agent/bin:/usr/bin:/usr/local/bin"
    found, _ = find(tmp_path, own_prefix="/agent", VIRTUAL_ENV="/agent", PATH=path)
    assert found[0].path == "/usr/local/bin/python"
    assert found[0].chosen_because == "it is on PATH, and the first with torch"


def test_first_with_torch_where_nothing_is_active(tmp_path: Path) -> None:
    """PATH's Python has none: the well-known places are searched in DESIGN's order."""
    python(tmp_path)
    venv(tmp_path, "/venv/main")
    torch(tmp_path, site("/venv/main"), "2.13.0+cu130", cuda="13.0")
    venv(tmp_path, "/workspace/app/.venv")
    torch(tmp_path, site("/workspace/app/.venv"))
    found, _ = find(tmp_path)
    assert found[0].path == "/venv/main/bin/python"
    assert found[0].chosen_because == "it lies in a well-known place, and the first with torch"
    others = [one.path for one in found if one.torch is not None and not one.chosen]
    assert others == ["/workspace/app/.venv/bin/python"]
    active, _ = find(tmp_path, own_prefix="/usr")
    assert active[0].path == "/usr/bin/python"
    assert [one.torch is not None for one in active] == [False, True, True]


def test_no_torch_anywhere_takes_the_first_on_path(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/venv/main")
    found, _ = find(tmp_path)
    assert found[0].chosen_because == (
        "it is the first Python on PATH; no Python with torch was found"
    )
    assert [one.torch for one in found if one.torch] == []


def test_one_interpreter_under_many_names_is_listed_once(tmp_path: Path) -> None:
    python(tmp_path)
    link(tmp_path, "/bin", "usr/bin")
    venv(tmp_path, "/code/.venv")
    found, _ = find(
        tmp_path, "/code/.venv/bin/python3", PATH="/bin:/usr/bin", VIRTUAL_ENV="/code/.venv"
    )
    assert [one.path for one in found] == ["/code/.venv/bin/python3", "/bin/python"]
    assert found[0].found_by == ("--python", "VIRTUAL_ENV", "well-known")
    assert found[1].prefix == "/usr"


def test_two_environments_of_one_base_are_two(tmp_path: Path) -> None:
    """Both resolve to one binary: it is the prefix that tells them apart."""
    python(tmp_path)
    venv(tmp_path, "/venv/a")
    venv(tmp_path, "/venv/b")
    assert [one.prefix for one in find(tmp_path)[0]] == ["/usr", "/venv/a", "/venv/b"]


def test_tools_places(tmp_path: Path) -> None:
    """conda environments, uv's and pyenv's Pythons, kernels: each with its kind and its finder."""
    python(tmp_path, "/home/u/miniconda3", "3.12.4")
    write(tmp_path, "/home/u/miniconda3/conda-meta/python-3.12.4-h1_0.json")
    python(tmp_path, "/home/u/miniconda3/envs/train", "3.10.9")
    write(tmp_path, "/home/u/miniconda3/envs/train/conda-meta/python-3.10.9-h1_0_cpython.json")
    python(tmp_path, "/data/env", "3.9.1")
    write(tmp_path, "/data/env/conda-meta/python-3.9.1-h1_0.json")
    write(tmp_path, "/home/u/.conda/environments.txt", "/data/env\n/gone\n")
    python(tmp_path, "/home/u/.local/share/uv/python/cpython-3.13.0-linux-x86_64-gnu", "3.13.0")
    python(tmp_path, "/home/u/.pyenv/versions/3.8.18", "3.8.18")
    write(tmp_path, "/home/u/.pyenv/shims/python")
    venv(tmp_path, "/kernel env", "/home/u/.pyenv/versions/3.8.18", "3.8.18")
    spec = json.dumps({"argv": ["/kernel env/bin/python", "-m", "ipykernel_launcher"]})
    write(tmp_path, "/home/u/.local/share/jupyter/kernels/k/kernel.json", spec)
    for bad in ('{"argv": "python"}', "[]", "{", '{"argv": ["python3"]}', "[" * 9999):
        write(tmp_path, f"/usr/share/jupyter/kernels/{len(bad)}/kernel.json", bad)
    found, gaps = find(tmp_path)
    assert gaps == ()
    assert {(one.found_by, one.kind, one.version) for one in found} == {
        (("conda",), "conda", "3.12.4"),
        (("conda",), "conda", "3.10.9"),
        (("conda",), "conda", "3.9.1"),
        (("uv",), "uv", "3.13.0"),
        (("pyenv",), "pyenv", "3.8.18"),
        (("jupyter",), "venv", "3.8.18"),
    }


def test_process_that_uses_a_gpu(tmp_path: Path) -> None:
    """Its environment is known from how it was started; others' processes are not looked at."""
    python(tmp_path)
    venv(tmp_path, "/srv/app")
    venv(tmp_path, "/srv/idle")
    for process, prefix, node in ((7, "app", "/dev/nvidia0"), (8, "idle", "/dev/null")):
        link(tmp_path, f"/proc/{process}/exe", "/usr/bin/python3.11")
        write(tmp_path, f"/proc/{process}/cmdline", f"/srv/{prefix}/bin/python\0serve.py\0")
        link(tmp_path, f"/proc/{process}/fd/5", node)
    link(tmp_path, "/proc/9/exe", "/usr/bin/python3.11")
    write(tmp_path, "/proc/9/cmdline", "python\0")
    write(tmp_path, "/proc/9/environ", "A=1\0PATH=/nowhere:/srv/app/bin\0")
    link(tmp_path, "/proc/9/fd/5", "/dev/kfd")
    found, _ = find(tmp_path, PATH="/nowhere")
    assert [(one.path, one.found_by) for one in found if "process" in one.found_by] == [
        ("/srv/app/bin/python", ("process",))
    ]
    strangers, _ = find(tmp_path, PATH="/nowhere", uid=os.getuid() + 1)
    assert [one.path for one in strangers if "process" in one.found_by] == []


def test_process_started_by_a_relative_path(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/srv/app")
    link(tmp_path, "/proc/7/exe", "/usr/bin/python3.11")
    link(tmp_path, "/proc/7/cwd", "/srv/app")
    link(tmp_path, "/proc/7/fd/3", "/dev/dri/renderD128")
    write(tmp_path, "/proc/7/cmdline", "bin/python\0")
    found, _ = find(tmp_path, PATH="/nowhere")
    assert "/srv/app/bin/python" in [one.path for one in found]


def test_real_process_of_this_user(tmp_path: Path) -> None:
    """On the real /proc nothing fails, whatever runs and ends meanwhile."""
    found, _ = find_interpreters(environ=dict(os.environ), workdir=tmp_path)
    assert found[0].chosen


@pytest.mark.parametrize("text", ['#!/bin/sh\nexec python3 -s "$@"\n', "no program"])
def test_a_script_is_no_interpreter(tmp_path: Path, text: str) -> None:
    """Found by itself it is passed over; named it is chosen, since nobody asked for another."""
    python(tmp_path)
    write(tmp_path, "/usr/local/bin/python", text, 0o755)
    found, gaps = find(tmp_path)
    assert found[0].path in ("/usr/bin/python", "/usr/bin/python3")
    assert "is a script" in gaps[0].why
    named, gaps = find(tmp_path, "/usr/local/bin/python")
    assert (named[0].kind, named[0].chosen, named[0].version) == ("named", True, None)
    assert gaps[0].said_by == "--python"


def test_a_program_that_is_no_python(tmp_path: Path) -> None:
    """A tool's link in python's place (mise), and any other binary."""
    python(tmp_path)
    write(tmp_path, "/usr/bin/mise", "\x7fELF", 0o755)
    link(tmp_path, "/shims/python", "/usr/bin/mise")
    found, gaps = find(tmp_path, PATH="/shims:/usr/bin")
    assert found[0].path == "/usr/bin/python3"
    assert gaps[0].why.startswith("/shims/python leads to /usr/bin/mise")
    named, gaps = find(tmp_path, "/usr/bin/mise")
    assert (named[0].path, named[0].kind) == ("/usr/bin/mise", "named")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/nope/python", "/nope/python does not exist"),
        ("python3.99", "there is no python3.99 on PATH"),
        ("/etc", "/etc is no file that can be started"),
        ("plain", "/code/plain is no file that can be started"),
    ],
)
def test_named_path_that_is_nothing(tmp_path: Path, text: str, why: str) -> None:
    python(tmp_path)
    write(tmp_path, "/etc/hosts")
    write(tmp_path, "/code/plain", "not executable")
    found, gaps = find(tmp_path, text)
    assert [gap.why for gap in gaps] == [why]
    assert (found[0].chosen, found[0].kind, found[0].torch) == (True, "named", None)
    assert len(found) == 2


def test_named_by_directory_name_and_relative_path(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/code/env")
    for text in ("env", "./env", "env/bin/python", "/code/env/"):
        assert find(tmp_path, text)[0][0].path == "/code/env/bin/python"
    assert find(tmp_path, "python3")[0][0].path == "/usr/bin/python3"


def test_several_named_the_first_is_chosen(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/a")
    venv(tmp_path, "/b")
    found, _ = find(tmp_path, "/b", "/a")
    assert [one.prefix for one in found if "--python" in one.found_by] == ["/b", "/a"]
    assert found[0].prefix == "/b"


def test_broken_environments_are_said(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/code/.venv", "/gone")
    _, gaps = find(tmp_path, VIRTUAL_ENV="/code/.venv", CONDA_PREFIX="/removed")
    assert [(gap.said_by, gap.why) for gap in gaps] == [
        (
            "$VIRTUAL_ENV",
            "/code/.venv/bin/python is a link to /gone/bin/python3.11, which cannot be started",
        ),
        ("$CONDA_PREFIX", "/removed holds no python that can be started"),
        (
            "the working directory",
            "/code/.venv/bin/python is a link to /gone/bin/python3.11, which cannot be started",
        ),
    ]


def test_nothing_at_all(tmp_path: Path) -> None:
    found, gaps = find(tmp_path)
    assert found == ()
    assert gaps[0].why == "no Python was found on PATH or in a well-known place"


def test_list_is_capped_with_a_gap(tmp_path: Path) -> None:
    python(tmp_path)
    for number in range(INTERPRETERS_MAX + 3):
        venv(tmp_path, f"/venv/{number:03}")
    found, gaps = find(tmp_path)
    assert len(found) == INTERPRETERS_MAX
    assert [gap.why for gap in gaps] == ["4 more Pythons were found than the 64 that are listed"]


def test_strange_paths(tmp_path: Path) -> None:
    """Spaces, other scripts and bytes that are no UTF-8 are paths like others."""
    python(tmp_path)
    for name in ("mit Leerzeichen", "máy ảo", "bad\udcff\udc80"):
        venv(tmp_path, f"/venv/{name}")
        torch(tmp_path, site(f"/venv/{name}"))
        found, gaps = find(tmp_path, f"/venv/{name}")
        assert (found[0].path, gaps) == (f"/venv/{name}/bin/python", ())
        assert found[0].torch is not None


def test_hostile_trees_raise_nothing(tmp_path: Path) -> None:
    """Link loops, pipes in the place of files, null bytes and absurd contents."""
    python(tmp_path)
    link(tmp_path, "/venv/loop", "/venv/loop")
    link(tmp_path, "/opt/up", "../../../../..")
    venv(tmp_path, "/venv/pipe")
    (tmp_path / "venv/pipe/pyvenv.cfg").unlink()
    os.mkfifo(tmp_path / "venv/pipe/pyvenv.cfg")
    venv(tmp_path, "/venv/null")
    write(tmp_path, "/venv/null/pyvenv.cfg", "home = /usr\0/bin\nversion = x\0y\n=\n")
    write(tmp_path, f"{site('/venv/null')}/a.pth", "/x\0y\n\0\nimport evil\n")
    write(tmp_path, "/home/u/.conda/environments.txt", "/a\0b\n")
    found, _ = find(tmp_path, "x\0y", VIRTUAL_ENV="\0", PATH="/usr/bin:\0", PYTHONPATH="\0:")
    assert found[0].path == "x\0y"
    assert "/usr/bin/python" in [one.path for one in found]


def test_python_older_than_3_8_is_said(tmp_path: Path) -> None:
    python(tmp_path, "/old", "3.7.16")
    python(tmp_path, "/new", "3.8.18")
    found, _ = find(tmp_path, "/old", "/new", PATH="")
    assert codes(found[0]) == ["python-too-old"]
    assert codes(found[1]) == []


def test_nothing_of_a_candidate_is_run(tmp_path: Path) -> None:
    """The fakes cannot be started, and a real environment's own start-up code stays unread."""
    real = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", real], check=True)
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    trap = real / f"lib/python{minor}/site-packages/trap.pth"
    trap.write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'sprung')!r}).touch()\n")
    found, _ = find_interpreters((str(real),), environ=dict(os.environ), workdir=tmp_path)
    assert found[0].prefix == str(real)
    assert not (tmp_path / "sprung").exists()
    subprocess.run([real / "bin/python", "-c", "pass"], check=True)
    assert (tmp_path / "sprung").exists()


def test_it_is_fast(tmp_path: Path) -> None:
    """Twelve environments with 300 packages each within 0.25 s (8 ms on a quiet machine)."""
    python(tmp_path)
    for number in range(12):
        prefix = f"/venv/{number:02}"
        venv(tmp_path, prefix)
        for package in range(300):
            (tmp_path / f"{site(prefix)}/p{package}-1.0.dist-info".lstrip("/")).mkdir()
    assert len(find(tmp_path)[0]) == 13
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        find(tmp_path)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.25


@pytest.mark.torch
def test_real_torch_environments(torch_python: Path, torch_cuda_python: Path) -> None:
    """What the files say is what the interpreter itself says."""
    code = (
        "import json, sys, platform, torch; print(json.dumps([sys.prefix, sys.base_prefix,"
        " platform.python_version(), torch.__version__, torch.version.cuda]))"
    )
    for program in (torch_python, torch_cuda_python):
        told = subprocess.run([program, "-c", code], check=True, capture_output=True).stdout
        found, gaps = find_interpreters((str(program),), environ=dict(os.environ))
        one = found[0]
        assert gaps == ()
        assert one.torch is not None
        assert json.loads(told) == [
            one.prefix,
            one.base_prefix,
            one.version,
            one.torch.version,
            one.torch.cuda_version,
        ]
