"""The single file: the same bytes, in every Python, and nothing of the host's changes it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.verify import verify
from tests.agent_command import wait_for_step

HERE = Path(__file__).resolve().parent.parent
QUICK = ["run", "--depth", "quick", "-q"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts and namespaces need root")


@dataclass(frozen=True)
class Built:
    """The two forms of the single file."""

    pyz: Path
    piped: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(HERE / "packaging" / "pyz.py"), "--to", str(place)]
    subprocess.run(command, check=True, capture_output=True)
    return Built(place / "agent.pyz", place / "agent.py")


def pythons() -> list[str]:
    """Every Python of this machine that can run the agent, one a version, this one first."""
    found = {tuple(sys.version_info[:2]): sys.executable}
    for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3")):
        minor = int(path.parent.parent.name.split(".")[1])
        if minor >= 8:
            found.setdefault((3, minor), str(path))
    return [found[key] for key in sorted(found)]


def version_of(python: str) -> tuple[int, int]:
    text = subprocess.run(
        [python, "-c", "import sys; print(*sys.version_info[:2])"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    major, minor = text.split()
    return int(major), int(minor)


RUNNERS = [p for p in pythons() if version_of(p) >= (3, 10)]
TARGETS = pythons()


def clean(**changes: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {**kept, **changes}


def bundle_in(folder: Path) -> dict[str, Any]:
    files = list(folder.glob("firstlight-*.json"))
    assert len(files) == 1, files
    data = files[0].read_bytes()
    assert verify(data).intact
    document: dict[str, Any] = json.loads(data)
    return document


def gist(bundle: dict[str, Any]) -> tuple[Any, ...]:
    """What must not depend on the form: verdict, findings, stages."""
    verdict = bundle["verdict"]
    return (
        verdict["status"], verdict["decision"], verdict["stage_reached"], verdict["blocked_at"],
        [finding["code"] for finding in bundle["findings"]],
        [(s["name"], s["subject"], s["status"], s.get("reason")) for s in bundle["stages"]],
    )  # fmt: skip


def run_form(
    form: str, python: str, arguments: list[str], built: Built, cwd: Path, **changes: str
) -> subprocess.CompletedProcess[str]:
    cwd.mkdir(parents=True, exist_ok=True)
    environ = clean(**changes)
    if form == "piped":
        with built.piped.open("rb") as source:
            return subprocess.run(
                [python, "-", *arguments], stdin=source, cwd=cwd, env=environ,
                capture_output=True, text=True, timeout=180, check=False,
            )  # fmt: skip
    if form == "pyz":
        command = [python, str(built.pyz)]
    else:
        boot = f"import sys; sys.path.insert(0, {str(HERE)!r}); from agent.__main__ import main"
        command = [sys.executable, "-c", boot + "; main()"]
    return subprocess.run(
        [*command, *arguments], cwd=cwd, env=environ, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


# ---------------------------------------------------------------- the file itself
def test_the_same_input_gives_the_same_bytes(built: Built, tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "packaging" / "pyz.py"), "--to", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "agent.pyz").read_bytes() == built.pyz.read_bytes()
    assert (tmp_path / "agent.py").read_bytes() == built.piped.read_bytes()


def test_it_holds_pure_python_and_licences_and_is_small(built: Built) -> None:
    names = zipfile.ZipFile(built.pyz).namelist()
    assert not [name for name in names if name.endswith((".so", ".pyc"))]
    for package in ("click", "rich", "rfc8785", "ecdsa", "six", "nvidia_ml_py"):
        parts = [n for n in names if n.startswith(f"{package}-") and ".dist-info/" in n]
        assert any("licen" in name.lower() or "METADATA" in name for name in parts), package
    assert built.pyz.stat().st_size < 1_500_000
    assert built.piped.stat().st_size < 2_000_000


def test_licenses_lists_what_is_carried(built: Built, tmp_path: Path) -> None:
    done = run_form("pyz", sys.executable, ["--licenses"], built, tmp_path)
    for name in ("click", "rich", "rfc8785", "ecdsa", "six", "nvidia-ml-py"):
        assert f"\n{name} " in done.stdout


# ---------------------------------------------------------------- every Python
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("form", ["pyz", "piped"])
def test_every_runner_sees_the_same(
    form: str, runner: str, built: Built, tmp_path: Path, torch_python: Path
) -> None:
    arguments = [*QUICK, "--backend", "cpu", "--python", str(torch_python)]
    ours = run_form(form, runner, arguments, built, tmp_path / "ours")
    theirs = run_form("installed", sys.executable, arguments, built, tmp_path / "theirs")
    assert (ours.returncode, theirs.returncode) == (0, 0), ours.stderr + theirs.stderr
    assert gist(bundle_in(tmp_path / "ours")) == gist(bundle_in(tmp_path / "theirs"))


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_seen_the_same(target: str, built: Built, tmp_path: Path) -> None:
    arguments = [*QUICK, "--python", target]
    for form in ("installed", "pyz", "piped"):
        run_form(form, sys.executable, arguments, built, tmp_path / form)
    gists = [gist(bundle_in(tmp_path / form)) for form in ("installed", "pyz", "piped")]
    assert gists[0] == gists[1] == gists[2]


@pytest.mark.parametrize("form", ["pyz", "piped"])
def test_an_old_python_hands_over_and_stays_the_target(
    form: str, built: Built, tmp_path: Path
) -> None:
    old = [p for p in TARGETS if version_of(p) < (3, 10)]
    if not old:
        pytest.skip("no Python older than 3.10 on this machine")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = run_form(form, old[0], QUICK, built, tmp_path, PATH=path)
    bundle = bundle_in(tmp_path)
    chosen = next(i for i in bundle["facts"]["interpreters"] if i["chosen"])
    assert chosen["version"].startswith(".".join(map(str, version_of(old[0])))), done.stderr
    assert "FIRSTLIGHT" not in json.dumps(bundle["facts"]["environment"])


def test_a_python_2_is_told_in_one_sentence(built: Built, tmp_path: Path) -> None:
    two = next(iter(Path.home().glob(".pyenv/versions/2.7.*/bin/python2.7")), None)
    if two is None:
        pytest.skip("no Python 2 on this machine")
    bare = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    done = subprocess.run(
        [str(two), str(built.pyz), "--version"], env=bare, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 2)
    if done.returncode == 2:
        assert done.stderr.count("\n") == 1
        assert "needs Python 3.10" in done.stderr


# ---------------------------------------------------------------- the host's own packages
BROKEN = "raise RuntimeError('the host has a broken copy of this')\n"


@pytest.mark.parametrize("form", ["pyz", "piped"])
def test_broken_copies_of_our_packages_change_nothing(
    form: str, built: Built, tmp_path: Path
) -> None:
    place = tmp_path / "env"
    venv.create(place, with_pip=False, symlinks=True)
    site = next(place.glob("lib/python3*/site-packages"))
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for name in ("click", "rich", "orjson", "psutil", "rfc8785", "ecdsa", "six", "pynvml", "agent"):
        (site / f"{name}.py").write_text(BROKEN)
        (hostile / f"{name}.py").write_text(BROKEN)
    python = str(place / "bin" / "python")
    done = run_form(form, python, QUICK, built, tmp_path / "run", PYTHONPATH=str(hostile))
    assert "broken copy" not in done.stderr
    assert bundle_in(tmp_path / "run")["verdict"]["blocked_at"] == "import"


@pytest.mark.parametrize("form", ["pyz", "piped"])
def test_a_directory_of_hostile_modules_is_not_imported(
    form: str, built: Built, tmp_path: Path
) -> None:
    for name in ("json", "click", "sitecustomize", "os", "base64", "hashlib", "runpy", "typing"):
        (tmp_path / f"{name}.py").write_text(BROKEN)
    done = run_form(form, sys.executable, QUICK, built, tmp_path)
    assert "broken copy" not in done.stderr, done.stderr
    assert bundle_in(tmp_path)["verdict"]["status"] == "blocked"


def test_nothing_carried_reaches_the_target(
    built: Built, tmp_path: Path, torch_python: Path
) -> None:
    spy = tmp_path / "spy"
    spy.mkdir()
    (spy / "torch.py").write_text(
        "import importlib.util as u, sys\n"
        "names = ['click', 'rich', 'rfc8785', 'ecdsa', 'agent', 'probes']\n"
        "seen = [n for n in names if n in sys.modules or u.find_spec(n)]\n"
        "raise OSError('seen: %r path: %r' % (seen, [p for p in sys.path if 'agent' in p]))\n"
    )
    run_form("pyz", sys.executable, [*QUICK, "--python", str(torch_python)], built,
             tmp_path / "run", PYTHONPATH=str(spy))  # fmt: skip
    text = bundle_in(tmp_path / "run")["verdict"]["first_error"]["text"]
    assert text.startswith("seen: [] path: []"), text


# ---------------------------------------------------------------- downloads and pipes
def test_a_truncated_download_runs_nothing(built: Built, tmp_path: Path) -> None:
    whole = built.piped.read_bytes()
    for share in (0.01, 0.5, 0.99, 0.9999):
        done = subprocess.run(
            [sys.executable, "-", *QUICK], input=whole[: int(len(whole) * share)], cwd=tmp_path,
            env=clean(), capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert not list(tmp_path.iterdir())
        assert share < 0.02 or done.returncode != 0


def test_an_altered_download_runs_nothing_and_says_so(built: Built, tmp_path: Path) -> None:
    text = built.piped.read_text()
    middle = len(text) // 2
    swapped = "A" if text[middle] != "A" else "B"
    altered = text[:middle] + swapped + text[middle + 1 :]
    done = subprocess.run(
        [sys.executable, "-"], input=altered, cwd=tmp_path, env=clean(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "damaged" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_order_on_standard_input(built: Built, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(built.pyz), *QUICK, "--order", "-"], input='{"gpu_count": 8}',
        cwd=tmp_path, env=clean(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    bundle = bundle_in(tmp_path)
    assert bundle["order"][0]["result"] == "missed", done.stderr


def test_interrupt_ends_a_piped_run_at_once(built: Built, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import time; time.sleep(60)\n")
    with built.piped.open("rb") as source:
        process = subprocess.Popen(
            [sys.executable, "-", *QUICK], stdin=source, cwd=tmp_path,
            env=clean(PYTHONPATH=str(tmp_path)), stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    wait_for_step(tmp_path, "import torch")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Traceback" not in err


# ---------------------------------------------------------------- odd places
@pytest.mark.parametrize("form", ["pyz", "piped"])
@pytest.mark.parametrize(
    "shell",
    [
        pytest.param("mount -t tmpfs -o ro tmpfs $HOME", id="home read-only", marks=needs_root),
        pytest.param(
            "mount -t tmpfs -o noexec tmpfs $HOME; mount -t tmpfs -o noexec tmpfs /tmp/x",
            id="noexec", marks=needs_root,
        ),
        pytest.param("mount -t tmpfs -o ro tmpfs /var/tmp; umask 077", id="umask 077",
                     marks=needs_root),
        pytest.param("exec 0<&-", id="stdin closed"),
    ],
)  # fmt: skip
def test_odd_surroundings(form: str, shell: str, built: Built, tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "ein Ordner mit Größe"
    home.mkdir()
    here.mkdir()
    shell = shell.replace("/tmp/x", shlex.quote(str(tmp_path / "home")))
    program = shlex.join([sys.executable, str(built.pyz), *QUICK])
    if form == "piped":
        program = f"{shlex.join([sys.executable, '-', *QUICK])} < {shlex.quote(str(built.piped))}"
    wrapped = ["unshare", "-m"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*wrapped, "sh", "-c", f"{shell}\n{program}"], cwd=here, env=clean(HOME=str(home)),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert bundle_in(here)["verdict"]["status"] == "blocked", done.stderr


@pytest.mark.parametrize("form", ["pyz", "piped"])
def test_an_empty_environment(form: str, built: Built, tmp_path: Path) -> None:
    program = [sys.executable, str(built.pyz) if form == "pyz" else "-", *QUICK]
    with built.piped.open("rb") as source:
        done = subprocess.run(
            ["env", "-i", *program], stdin=source, cwd=tmp_path, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert bundle_in(tmp_path)["verdict"]["status"] == "blocked"


@needs_root
def test_works_without_any_network(built: Built, tmp_path: Path) -> None:
    done = subprocess.run(
        ["unshare", "-n", sys.executable, str(built.pyz), *QUICK], cwd=tmp_path, env=clean(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert bundle_in(tmp_path)["verdict"]["status"] == "blocked", done.stderr


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_opens_no_socket_but_local_ones(built: Built, tmp_path: Path) -> None:
    log = tmp_path / "log"
    here = tmp_path / "here"
    here.mkdir()
    subprocess.run(
        ["strace", "-f", "-e", "trace=socket,connect", "-o", str(log), sys.executable,
         str(built.pyz), *QUICK],
        cwd=here, env=clean(), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    calls = [line for line in log.read_text().splitlines() if "socket(" in line]
    assert [line for line in calls if "AF_UNIX" not in line] == []


# ---------------------------------------------------------------- nothing left behind
def listing(*roots: Path) -> set[str]:
    return {str(p) for root in roots for p in root.rglob("*")}


@pytest.mark.parametrize("form", ["pyz", "piped"])
@pytest.mark.parametrize("ended", ["itself", "interrupt", "killed child"])
def test_nothing_is_left_but_the_bundle(
    form: str, ended: str, built: Built, tmp_path: Path
) -> None:
    home, temporary, here = (tmp_path / name for name in ("home", "tmp", "here"))
    for folder in (home, temporary, here):
        folder.mkdir()
    if ended == "interrupt":
        (here / "torch.py").write_text("import time; time.sleep(60)\n")
    if ended == "killed child":
        (here / "torch.py").write_text("import os; os.kill(os.getpid(), 9)\n")
    before = listing(home, temporary, here)
    environ = clean(HOME=str(home), TMPDIR=str(temporary), PYTHONPATH=str(here))
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    program = [sys.executable, str(built.pyz) if form == "pyz" else "-", *QUICK]
    with built.piped.open("rb") as source:
        process = subprocess.Popen(
            program, stdin=source, cwd=here, env=environ,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if ended == "interrupt":
            wait_for_step(here, "import torch")
            process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    left = listing(home, temporary, here) - before
    bundles = {path for path in left if "firstlight-" in path and path.endswith(".json")}
    assert len(bundles) == 1
    assert left == bundles
