"""The single file in odd hands: isolated Pythons, other names, lost places, no memfd, a pty."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.verify import verify
from tests.test_single_file import QUICK, TARGETS, Built, built, bundle_in, clean, version_of

__all__ = ["built"]  # a fixture

HERE = Path(__file__).resolve().parent.parent
CPU = [*QUICK, "--backend", "cpu"]
NO_MEMFD = (
    "#include <errno.h>\nint memfd_create(const char *n, unsigned f) {errno = 38; return -1;}"
)


def run_file(
    command: list[str], cwd: Path, source: Path | None = None, **changes: str
) -> subprocess.CompletedProcess[str]:
    with (source or Path(os.devnull)).open("rb") as stdin:
        return subprocess.run(
            command, stdin=stdin, cwd=cwd, env=clean(**changes), capture_output=True, text=True,
            timeout=180, check=False,
        )  # fmt: skip


@pytest.fixture(scope="session")
def without_memfd(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    place = tmp_path_factory.mktemp("shim")
    (place / "shim.c").write_text(NO_MEMFD)
    library = place / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, place / "shim.c"], check=True)
    return str(library)


# ---------------------------------------------------------------- how Python is started
@pytest.mark.parametrize("flags", [["-I"], ["-S"], ["-E", "-s"], ["-P"], ["-OO"], ["-X", "utf8=0"]])
@pytest.mark.parametrize("piped", [False, True])
def test_every_way_to_start_python(
    flags: list[str], piped: bool, built: Built, tmp_path: Path
) -> None:
    if flags == ["-P"] and sys.version_info < (3, 11):
        pytest.skip("-P came with Python 3.11")
    what = "-" if piped else str(built.pyz)
    done = run_file([sys.executable, *flags, what, *CPU], tmp_path, built.piped if piped else None)
    assert done.stderr == ""
    assert bundle_in(tmp_path)["verdict"]["stage_reached"] is not None


def test_a_safe_path_a_symlinked_python_and_another_name(built: Built, tmp_path: Path) -> None:
    linked = tmp_path / "other-python"
    linked.symlink_to(sys.executable)
    renamed = tmp_path / "torch.py"  # as unlucky as a name can be
    shutil.copy(built.pyz, renamed)
    (tmp_path / "out").mkdir()
    done = run_file([str(linked), str(renamed), *CPU], tmp_path / "out", PYTHONSAFEPATH="1")
    assert done.stderr == ""
    assert bundle_in(tmp_path / "out")["verdict"]["stage_reached"] is not None
    told = run_file([str(linked), str(renamed), "--help"], tmp_path / "out")
    assert f"Usage: python3 {renamed}" in told.stdout


@pytest.mark.parametrize("piped", [False, True])
def test_a_directory_that_is_gone(piped: bool, built: Built, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "gone").mkdir()
    program = f"{sys.executable} - " if piped else f"{sys.executable} {built.pyz} "
    script = f"rmdir ../gone; {program} {' '.join(CPU)} < {built.piped if piped else '/dev/null'}"
    done = run_file(["sh", "-c", script], tmp_path / "gone", HOME=str(home))
    assert "Traceback" not in done.stderr
    assert bundle_in(home)["verdict"]["stage_reached"] is not None


# ---------------------------------------------------------------- where memory has no files
def test_without_memfd_it_runs_and_leaves_nothing(
    without_memfd: str, built: Built, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    places = {"TMPDIR": str(tmp_path / "tmp"), "LD_PRELOAD": without_memfd}
    (tmp_path / "out").mkdir()
    done = run_file([sys.executable, "-", *CPU], tmp_path / "out", built.piped, **places)
    assert done.stderr == ""
    bundle_in(tmp_path / "out")
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("after", [0.1, 0.3, 0.8])
def test_without_memfd_an_interrupt_leaves_nothing(
    after: float, without_memfd: str, built: Built, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    places = {"TMPDIR": str(tmp_path / "tmp"), "LD_PRELOAD": without_memfd}
    with built.piped.open("rb") as source:
        process = subprocess.Popen(
            [sys.executable, "-", *CPU], stdin=source, cwd=tmp_path, env=clean(**places),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    finished = any(tmp_path.glob("firstlight-*.json"))  # the signal may come when all is done
    assert process.returncode in (130, -signal.SIGINT) or finished
    assert list((tmp_path / "tmp").iterdir()) == []


def test_without_memfd_an_old_python_hands_over_and_leaves_nothing(
    without_memfd: str, built: Built, tmp_path: Path
) -> None:
    old = next((p for p in TARGETS if version_of(p) < (3, 10)), None)
    if old is None:
        pytest.skip("no Python older than 3.10 here")
    (tmp_path / "tmp").mkdir()
    places = {"TMPDIR": str(tmp_path / "tmp"), "LD_PRELOAD": without_memfd}
    (tmp_path / "out").mkdir()
    run_file([old, "-", *CPU], tmp_path / "out", built.piped, **places)
    bundle_in(tmp_path / "out")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_without_memfd_and_without_a_place_it_says_so(
    without_memfd: str, built: Built, tmp_path: Path
) -> None:
    script = "import tempfile; tempfile.tempdir = '/nowhere'\n" + built.piped.read_text()
    done = subprocess.run(
        [sys.executable, "-", *CPU], input=script, cwd=tmp_path,
        env=clean(LD_PRELOAD=without_memfd), capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("agent: there is no place here to unpack to")
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------- terminals and pipes
def on_a_terminal(script: str, cwd: Path, interrupt_at: bytes | None = None) -> tuple[int, str]:
    """Run a shell script on a terminal of its own; type ^C once ``interrupt_at`` has appeared."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve("/bin/sh", ["/bin/sh", "-c", script], clean(TERM="xterm"))
    seen = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1.0)
        if not ready:
            continue
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # the other end has gone
            break
        if not chunk:
            break
        seen += chunk
        if interrupt_at is not None and interrupt_at in seen:
            os.write(terminal, b"\x03")
            interrupt_at = None
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode(errors="replace")


def test_piped_on_a_terminal(built: Built, tmp_path: Path) -> None:
    python = sys.executable
    script = f"cat {built.piped} | {python} - run --depth quick --backend cpu"
    code, seen = on_a_terminal(script, tmp_path)
    bundle = bundle_in(tmp_path)
    assert code == (0 if bundle["verdict"]["status"] == "ready" else 1)
    assert "looking at this machine" in seen
    assert "Traceback" not in seen


def test_piped_on_a_terminal_ends_at_control_c(built: Built, tmp_path: Path) -> None:
    script = f"cat {built.piped} | {sys.executable} - run --depth quick --backend cpu; exit $?"
    code, seen = on_a_terminal(script, tmp_path, interrupt_at=b"looking at this machine")
    assert code in (130, -signal.SIGINT)
    assert "Traceback" not in seen


def test_without_a_terminal_there_are_plain_lines(built: Built, tmp_path: Path) -> None:
    done = run_file(
        [sys.executable, str(built.pyz), "run", "--depth", "quick", "--backend", "cpu"], tmp_path
    )
    for text in (done.stdout, done.stderr):
        assert not set(text) & {"\r", "\x1b"}
        longest = [max(line.split(), key=len) for line in text.splitlines() if len(line) > 80]
        assert all(len(word) > 40 for word in longest)  # a path to be copied stays whole


@pytest.mark.parametrize("waiting", [b'{"gpu": "H100"}\n', b"x" * 200_000])
def test_data_that_nobody_asked_for_is_said_to_be_ignored(waiting: bytes, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent", "run", "--only", "interpreter"]
    done = subprocess.run(
        command, input=waiting, cwd=tmp_path, env=clean(PYTHONPATH=str(HERE)),
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert b"what waits on standard input is ignored" in done.stderr
    bundle_in(tmp_path)


# ---------------------------------------------------------------- the user's own key
def test_a_key_of_ones_own_is_signed_with_by_the_hosts_cryptography(
    built: Built, tmp_path: Path
) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key = ed25519.Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (tmp_path / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    options = ["run", "--only", "interpreter", "-q", "--sign-with", "key.pem", "-o", "b.json"]
    done = run_file([sys.executable, str(built.pyz), *options], tmp_path)
    assert done.stderr == ""
    data = (tmp_path / "b.json").read_bytes()
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert verify(data, public).signed_by == "trusted"
    assert json.loads(data)["run"]["key_source"] == "named"


@pytest.mark.parametrize("state", ["missing", "broken"])
def test_without_the_hosts_cryptography_a_sentence_says_what_to_do(
    state: str, built: Built, tmp_path: Path
) -> None:
    python = [sys.executable, "-S"]
    site = tmp_path / "lib"
    if state == "broken":
        (site / "cryptography").mkdir(parents=True)
        (site / "cryptography" / "__init__.py").write_text("raise AttributeError('half built')\n")
    hide = f"import site; site.getsitepackages = lambda: [{str(site)!r}]; import sys, runpy;"
    start = f"{hide} sys.argv[0] = {str(built.pyz)!r}; runpy.run_path(sys.argv[0], "
    (tmp_path / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n")
    options = ["run", "--only", "interpreter", "-q", "--sign-with", "key.pem"]
    done = run_file([*python, "-c", start + "run_name='__main__')", *options], tmp_path)
    assert done.returncode == 2
    assert "needs the Python package cryptography" in done.stderr
    assert "pip install cryptography" in done.stderr
    assert "Traceback" not in done.stderr
    with contextlib.suppress(StopIteration):
        raise AssertionError(next(tmp_path.glob("firstlight-*")))
