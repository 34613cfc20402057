"""What a child gets: sources from a directory or a zip, tracebacks with lines, a closed list."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from agent.run.child import Exit
from agent.run.launch import CACHES, overrides, probe_child
from agent.run.records import Record
from agent.run.runner import Runner
from agent.run.sources import PACKAGE, boot_code, probe_sources
from tests.hostile.witness import pythons

ROOT = Path(__file__).parent.parent


def run_probe(python: str, source: str, **environ: str) -> tuple[Exit, list[Record]]:
    sources = {PACKAGE: "", f"{PACKAGE}.worker": source, f"{PACKAGE}.other": "VALUE = 42\n"}
    child = probe_child(
        python, {"tasks": []}, {**os.environ, **environ}, name="probe", sources=sources
    )
    exits: list[Exit] = []
    records: list[Record] = []
    with Runner() as runner:
        runner.start(child, exits.append, records.append)
        runner.serve()
    return exits[0], records


@pytest.mark.parametrize("python", pythons())
def test_probes_are_a_package_with_sources_and_lines(python: str) -> None:
    source = (
        "import inspect, os, sys\n"
        "from . import other\n"
        "from .other import VALUE\n"
        "def shown():\n"
        "    return 'the line itself'\n"
        "def main(fd, plan):\n"
        "    print(VALUE, other.__name__, __name__, __package__)\n"
        "    print(inspect.getsource(shown).splitlines()[1].strip())\n"
        "    print(sys.argv, '' in sys.path, os.getcwd())\n"
        "    raise RuntimeError('at the end')\n"
    )
    ended, _ = run_probe(python, source)
    assert ended.code == 1
    assert ended.stdout_tail.splitlines() == [
        f"42 {PACKAGE}.other {PACKAGE}.worker {PACKAGE}",
        "return 'the line itself'",
        "['-c'] False /",
    ]
    assert "raise RuntimeError('at the end')" in ended.stderr_tail
    assert "RuntimeError: at the end" in ended.stderr_tail


def has_module(python: str, name: str) -> bool:
    """Whether an interpreter has a module of that name of its own (an installed agent)."""
    command = [python, "-I", "-c", f"import {name}"]
    return subprocess.run(command, cwd="/", capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("python", pythons())
def test_nothing_of_the_agent_is_on_the_path_and_the_users_environment_is(
    python: str, tmp_path: Path
) -> None:
    (tmp_path / "of_the_user.py").write_text("WORD = 'found'\n")
    source = (
        "import sys\n"
        "def main(fd, plan):\n"
        "    import of_the_user; print(of_the_user.WORD)\n"
        "    for name in ('agent', 'probes'):\n"
        "        try: __import__(name)\n"
        "        except ImportError: print('no', name)\n"
    )
    ended, _ = run_probe(python, source, PYTHONPATH=str(tmp_path))
    absent = [f"no {name}" for name in ("agent", "probes") if not has_module(python, name)]
    assert ended.stdout_tail.splitlines() == ["found", *absent]


def test_a_child_leaves_no_core_and_goes_first_when_memory_runs_out() -> None:
    source = (
        "import resource\n"
        "def main(fd, plan):\n"
        "    score = open('/proc/self/oom_score_adj').read()\n"
        "    print(resource.getrlimit(resource.RLIMIT_CORE), score)"
    )
    ended, _ = run_probe(sys.executable, source)
    assert ended.stdout_tail.split("\n")[0] == "(0, 0) 500"


def test_what_a_childs_own_children_inherit_is_not_the_record_channel() -> None:
    source = (
        "import subprocess, sys\n"
        "def main(fd, plan):\n"
        "    code = 'import os; print(os.listdir(\"/proc/self/fd\"))'\n"
        "    subprocess.run([sys.executable, '-S', '-c', code], close_fds=False)\n"
    )
    ended, _ = run_probe(sys.executable, source)
    assert ended.stdout_tail == "['0', '1', '2', '3']\n"


def test_real_probes_compile_in_the_oldest_target() -> None:
    code = (
        "import json, sys\n"
        "for name, text in json.load(sys.stdin).items(): compile(text, name, 'exec')"
    )
    import json

    texts = json.dumps({**probe_sources(), "boot": boot_code()})
    subprocess.run([pythons()[0], "-c", code], input=texts, text=True, check=True, timeout=60)


def test_sources_come_out_of_a_zip_file_too(tmp_path: Path) -> None:
    archive = tmp_path / "agent.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for folder in ("agent", "probes"):
            for file in (ROOT / folder).rglob("*.py"):
                packed.write(file, file.relative_to(ROOT))
    code = (
        "import os, sys\n"
        f"sys.path.insert(0, {str(archive)!r})\n"
        "from agent.run.runner import Runner\n"
        "from agent.run.tasks import Order, Task\n"
        "from agent.run.worker import Worker\n"
        "import agent; assert '.zip' in agent.__file__\n"
        "with Runner() as runner:\n"
        "    tasks = (Task(stage='import'),)\n"
        "    order = Order(python=sys.executable, tasks=tasks, environ=os.environ)\n"
        "    worker = Worker(runner, order); worker.begin(); runner.serve()\n"
        "    assert runner.guard.process is not None and runner.guard.process.poll() is None\n"
        "print([(s.name, s.status, s.steps[-1].name) for s in worker.stages])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd="/"
    )
    assert done.stderr == ""
    assert "'import torch'" in done.stdout


def test_the_list_of_overrides_is_closed() -> None:
    without = overrides(None)
    found = overrides("/scratch")
    assert set(found) == set(without) | set(CACHES)
    assert len({found[name] for name in CACHES}) == len(CACHES)
    assert all(found[name].startswith("/scratch/") for name in CACHES)
    assert without["PYTHONDONTWRITEBYTECODE"] == "1"
    assert not any(name.startswith("CUDA_VISIBLE") for name in found)
