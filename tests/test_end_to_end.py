"""The main job on real environments: from ``python -m agent`` to a verdict and a signed bundle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from agent.bundle import observations_of
from agent.codec import from_json, to_json
from agent.judge import judge
from agent.model import Bundle
from agent.verdict import decide
from agent.verify import verify
from tests.agent_command import (
    HERE,
    Ran,
    command,
    environment,
    run_agent,
    wait_for_step,
)

QUICK = ("run", "--depth", "quick")


def judged_anew(ran: Ran) -> None:
    """The law of every bundle: judging it again gives its own findings and verdict."""
    bundle = from_json(Bundle, ran.bundle)
    seen = observations_of(bundle)
    judged = judge(seen)
    assert to_json(judged.findings) == ran.bundle["findings"]
    assert to_json(decide(seen, judged.findings)) == ran.bundle["verdict"]


def checked(ran: Ran) -> Ran:
    """A run that left a bundle with a good signature that judges to itself."""
    assert ran.path is not None, ran.err
    assert verify(ran.path.read_bytes()).intact
    judged_anew(ran)
    assert ran.path.stat().st_mode & 0o777 == 0o600
    assert not list(ran.path.parent.glob("*.partial"))
    return ran


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter without torch."""
    place = tmp_path_factory.mktemp("bare") / "env"
    venv.create(place, with_pip=False, symlinks=True)
    return str(place / "bin" / "python")


# ---------------------------------------------------------------- the five environments
def test_cpu_torch_with_backend_cpu_is_ready(torch_python: Path, tmp_path: Path) -> None:
    ran = checked(
        run_agent(*QUICK, "--backend", "cpu", "--python", str(torch_python), cwd=tmp_path)
    )
    assert ran.code == 0, ran.out
    assert ran.bundle["verdict"]["status"] == "ready"
    assert ran.bundle["verdict"]["decision"] == "launch"
    assert {s["name"]: s["status"] for s in ran.bundle["stages"]} == dict.fromkeys(
        ("interpreter", "driver", "import", "device", "matmul"), "passed"
    )
    assert ran.out.startswith("READY")
    assert all(len(line) <= 80 or "/" in line for line in ran.out.splitlines())


def test_cpu_torch_without_backend_is_blocked_at_device(torch_python: Path, tmp_path: Path) -> None:
    ran = checked(run_agent(*QUICK, "--python", str(torch_python), cwd=tmp_path))
    assert ran.code == 1
    assert ran.bundle["verdict"]["blocked_at"] == "device"
    assert ran.bundle["verdict"]["stage_reached"] == "import"
    everything = json.dumps(ran.bundle["findings"])
    assert "CPU build" in everything or "built without GPU" in everything
    assert "no GPU" in everything or "no NVIDIA" in everything or "no-" in " ".join(ran.codes)


def test_cuda_torch_without_driver_keeps_torchs_words(
    torch_cuda_python: Path, tmp_path: Path
) -> None:
    ran = checked(run_agent(*QUICK, "--python", str(torch_cuda_python), cwd=tmp_path))
    verdict = ran.bundle["verdict"]
    assert ran.code == 1
    assert (verdict["stage_reached"], verdict["blocked_at"]) == ("import", "device")
    assert verdict["first_error"]["text"].startswith("Found no NVIDIA driver on your system")
    root = ran.bundle["findings"][0]
    words = " ".join([root["title"], root["cause"], *root["fix"]]).lower()
    assert "no nvidia" in words or "no gpu" in words
    assert "reinstall torch" not in words
    assert root["who"] != "renter"


def test_no_torch_is_blocked_at_import(
    bare_python: str, torch_python: Path, tmp_path: Path
) -> None:
    path = f"{torch_python.parent}{os.pathsep}{os.environ['PATH']}"
    ran = checked(run_agent(*QUICK, "--python", bare_python, cwd=tmp_path, PATH=path))
    verdict = ran.bundle["verdict"]
    assert ran.code == 1
    assert (verdict["stage_reached"], verdict["blocked_at"]) == ("driver", "import")
    assert ran.stage("import")["reason"] == "not-installed"
    assert "other-interpreter-has-torch" in ran.codes
    assert str(torch_python.parent) in ran.out.replace("<home>", str(Path.home()))


def test_a_python_38_target(tmp_path: Path) -> None:
    old = next(iter(sorted(Path.home().glob(".pyenv/versions/3.8.*/bin/python3.8"))), None)
    if old is None:
        pytest.skip("no Python 3.8 on this machine")
    ran = checked(run_agent(*QUICK, "--python", str(old), cwd=tmp_path))
    assert ran.bundle["verdict"]["blocked_at"] == "import"
    assert ran.stage("interpreter")["status"] == "passed"
    assert ran.stage("interpreter")["data"]["version"].startswith("3.8")


# ---------------------------------------------------------------- secrets
def test_planted_secrets_appear_nowhere(tmp_path: Path, torch_python: Path) -> None:
    secrets = {
        "HF_TOKEN": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345",
        "NVIDIA_API_KEY": "nvapi-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "LD_LIBRARY_PATH": "/opt/ghp_0123456789abcdefghijklmnopqrstuvwxyz/lib",
    }
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "torch.py").write_text(
        "raise OSError('cannot fetch https://bob:hunter2secret@example.org/x from 198.51.100.23 '\n"
        "              'with AKIAIOSFODNN7EXAMPLE')\n"
    )
    ran = checked(
        run_agent(
            *QUICK, "--python", str(torch_python), "--ticket", "T hf_ZyXwVuTsRqPoNmLkJiHgFeDc98",
            cwd=tmp_path, timeout=120.0, PYTHONPATH=str(broken), **secrets,
        )
    )  # fmt: skip
    assert ran.path is not None
    everything = ran.path.read_text() + ran.out + ran.err
    for secret in (
        "hf_AbCdEfGh", "nvapi-0123", "ghp_0123", "hunter2secret", "198.51.100.23",
        "AKIAIOSFODNN7EXAMPLE", "hf_ZyXw", os.uname().nodename + ".",
    ):  # fmt: skip
        assert secret not in everything, secret
    assert ran.stage("import")["error"]["type"] == "OSError"
    assert "cannot fetch" in ran.stage("import")["error"]["text"]
    assert ran.bundle["redactions"]


# ---------------------------------------------------------------- signals and places
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_the_run_with_a_bundle(
    name: str, code: int, tmp_path: Path, torch_python: Path
) -> None:
    (tmp_path / "torch.py").write_text("import time; time.sleep(60)\n")
    process = subprocess.Popen(
        command(*QUICK, "--python", str(torch_python)), cwd=tmp_path, text=True,
        env=environment(PYTHONPATH=str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for_step(tmp_path, "import torch")
    began = time.monotonic()
    process.send_signal(signal.Signals[name])
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 6
    assert process.returncode == code, err
    bundle = json.loads(next(tmp_path.glob("firstlight-*.json")).read_bytes())
    assert bundle["run"]["interrupted"] == name
    stage = next(s for s in bundle["stages"] if s["name"] == "import")
    assert (stage["status"], stage["steps"][-1]["name"]) == ("interrupted", "import torch")
    assert "INTERRUPTED" in out


@pytest.mark.skipif(os.geteuid() != 0, reason="a read-only mount needs root")
def test_a_read_only_directory_sends_the_bundle_elsewhere(tmp_path: Path, bare_python: str) -> None:
    home = tmp_path / "home"
    here = tmp_path / "here"
    home.mkdir()
    here.mkdir()
    shell = f'mount -t tmpfs -o ro tmpfs {here} && cd {here} && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, "sh", *command(*QUICK, "--python", bare_python)],
        env=environment(HOME=str(home)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    written = next(home.glob("firstlight-*.json"))
    assert verify(written.read_bytes()).intact
    assert "cannot write" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="a read-only mount needs root")
def test_nothing_writable_prints_the_bundle(tmp_path: Path, bare_python: str) -> None:
    shell = f'mount -t tmpfs -o ro tmpfs {tmp_path} && cd {tmp_path} && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, "sh", *command(*QUICK, "--python", bare_python)],
        env=environment(HOME=str(tmp_path), TMPDIR=str(tmp_path)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert verify(done.stdout.encode()).intact
    assert "printed here" in done.stderr


# ---------------------------------------------------------------- options
def test_json_prints_the_bundle_and_writes_it_too(tmp_path: Path, bare_python: str) -> None:
    ran = run_agent(*QUICK, "--python", bare_python, "--json", cwd=tmp_path)
    assert json.loads(ran.out) == ran.bundle


def test_output_dash_only_prints(tmp_path: Path, bare_python: str) -> None:
    ran = run_agent(*QUICK, "--python", bare_python, "-o", "-", cwd=tmp_path)
    assert ran.path is None
    assert json.loads(ran.out)["schema"] == "firstlight.bundle/1"


def test_replay_gives_the_same_findings_and_is_marked(tmp_path: Path, bare_python: str) -> None:
    first = run_agent(*QUICK, "--python", bare_python, cwd=tmp_path)
    again = checked(run_agent("run", "--replay", str(first.path), cwd=tmp_path))
    assert again.bundle["findings"] == first.bundle["findings"]
    assert again.bundle["verdict"] == first.bundle["verdict"]
    assert again.bundle["run"]["simulated"] is True
    assert len(again.bundle["run"]["parent"]) == 64


def test_a_challenge_and_a_ticket_are_signed(tmp_path: Path, bare_python: str) -> None:
    ran = run_agent(
        *QUICK, "--python", bare_python, "--challenge", "abc-1", "--ticket", "T 7", cwd=tmp_path
    )
    assert ran.path is not None
    assert verify(ran.path.read_bytes(), challenge="abc-1").problem is None
    assert verify(ran.path.read_bytes(), challenge="other").problem is not None
    assert ran.bundle["run"]["ticket"] == "T 7"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--depth", "none"),
        ("--only", "import", "--skip", "import"),
        ("--replay", "missing.json"),
        ("--order", "missing.json"),
        ("--sign-with", "missing.pem"),
        ("--python", "/nowhere/python"),
        ("--extension", "a b"),
        ("nonsense",),
    ],
)
def test_wrong_usage_is_exit_2_with_a_sentence(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ran = run_agent("run", *arguments, cwd=tmp_path)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert ran.err.strip()


def test_skip_leaves_a_stage_out_and_is_never_ready(torch_python: Path, tmp_path: Path) -> None:
    ran = run_agent(
        *QUICK, "--backend", "cpu", "--skip", "matmul", "--python", str(torch_python), cwd=tmp_path
    )
    assert ran.code == 1
    assert ran.bundle["verdict"]["status"] == "inconclusive"


def test_first_line_within_half_a_second(tmp_path: Path, bare_python: str) -> None:
    process = subprocess.Popen(
        command(*QUICK, "--python", bare_python), cwd=tmp_path, env=environment(),
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    began = time.monotonic()
    assert process.stderr is not None
    line = process.stderr.readline()
    took = time.monotonic() - began
    process.communicate(timeout=60)
    assert "firstlight" in line
    assert took < 1.5, "half a second on a machine that does nothing else"


def test_waiting_data_is_named_and_not_read(tmp_path: Path, bare_python: str) -> None:
    done = subprocess.run(
        command(*QUICK, "--python", bare_python), cwd=tmp_path, env=environment(),
        input="print('hello')\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "ignored" in done.stderr


def test_recover_makes_a_bundle_of_a_killed_run(tmp_path: Path, torch_python: Path) -> None:
    (tmp_path / "torch.py").write_text("import time; time.sleep(60)\n")
    process = subprocess.Popen(
        command(*QUICK, "--python", str(torch_python)), cwd=tmp_path,
        env=environment(PYTHONPATH=str(tmp_path)),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for_step(tmp_path, "import torch")
    process.kill()
    process.wait()
    partial = next(tmp_path.glob("*.partial"))
    ran = run_agent("recover", str(partial), "-o", "made.json", cwd=tmp_path)
    made = tmp_path / "made.json"
    assert made.exists(), ran.err
    assert verify(made.read_bytes()).intact
    bundle = json.loads(made.read_bytes())
    stage = next(s for s in bundle["stages"] if s["name"] == "import")
    assert (stage["status"], stage["reason"]) == ("interrupted", "agent-killed")


def test_the_version_needs_no_click() -> None:
    code = "import sys; sys.argv = ['agent', '--version']; from agent.__main__ import main; main();"
    done = subprocess.run(
        [sys.executable, "-c", code + "print('click' in sys.modules)"],
        cwd=HERE, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "False"


def test_a_challenge_that_redaction_would_change_is_refused(
    tmp_path: Path, bare_python: str
) -> None:
    ran = run_agent(*QUICK, "--python", bare_python, "--challenge", "at 198.51.100.7", cwd=tmp_path)
    assert ran.code == 2
    assert "private" in ran.err


def test_the_quick_verdict_of_a_deeper_run_is_redacted_too(
    tmp_path: Path, torch_python: Path
) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('no route to 198.51.100.23')\n")
    ran = run_agent(
        "run", "--python", str(torch_python), cwd=tmp_path, timeout=120.0, PYTHONPATH=str(tmp_path)
    )
    assert "198.51.100.23" not in ran.out + ran.err
    assert "no route to" in ran.out


def test_an_order_is_redacted(tmp_path: Path, bare_python: str) -> None:
    (tmp_path / "order.json").write_text('{"gpu": "H100 at 198.51.100.23"}')
    ran = run_agent(
        *QUICK, "--python", bare_python, "--order", str(tmp_path / "order.json"), cwd=tmp_path
    )
    assert ran.bundle["order"][0]["item"] == "gpu"
    assert "198.51.100.23" not in json.dumps(ran.bundle)


def test_a_program_that_is_no_python_gets_a_bundle_that_says_so(tmp_path: Path) -> None:
    ran = checked(run_agent(*QUICK, "--python", "/bin/ls", cwd=tmp_path))
    assert ran.code == 1
    assert ran.bundle["verdict"]["status"] == "blocked"
    stage = ran.stage("interpreter")
    assert (stage["status"], stage["reason"]) == ("failed", "not-python")
    assert stage["steps"]
