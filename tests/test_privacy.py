"""A whole run on a machine full of secrets: none is in the file, on stdout or on stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOKEN = "hf_PLANTEDplantedPLANTED0123456789"
KEY = "AKIAPLANTED012345678"
PASSWORD = "pl4nted-passw0rd"
USER = "plantedlogin"
HOST = "plantedbox-77"
IPV4 = "10.77.66.55"
IPV6 = "2001:db8:77::66"
PLANTED = (TOKEN, KEY, PASSWORD, USER, HOST, IPV4, IPV6)

FAKE_TORCH = f"""
import sys
print("noise with {TOKEN} and {USER}@{HOST}:~$ and /home/{USER}/model", file=sys.stderr)
raise OSError("cannot fetch https://{USER}:{PASSWORD}@{HOST}/x from {IPV4} [{IPV6}]:80, "
              "token={TOKEN} aws {KEY} in /home/{USER}/secret")
"""


@pytest.mark.parametrize("arguments", [[], ["--json"], ["-o", "-"]], ids=["file", "json", "stdout"])
def test_planted_secrets_are_nowhere(tmp_path: Path, arguments: list[str]) -> None:
    home = tmp_path / "home" / USER
    package = home / f"lib-{TOKEN}" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE_TORCH)
    work = tmp_path / "work"
    work.mkdir()
    environ = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
        "HOME": str(home),
        "USER": USER,
        "LOGNAME": USER,
        "HOSTNAME": HOST,
        "HF_TOKEN": TOKEN,
        "AWS_SECRET_ACCESS_KEY": PASSWORD,
        "PYTHONPATH": f"{package.parent}:{Path(__file__).parent.parent}",
        "CUDA_HOME": f"/opt/{USER}/cuda",
        "NCCL_SOCKET_IFNAME": IPV4,
        "LD_LIBRARY_PATH": f"{home}/lib:/opt/{TOKEN}",
    }
    command = [sys.executable, "-m", "agent", "run", "--depth", "quick", "--python", sys.executable]
    command += ["--ticket", f"for {USER} at {HOST}, {IPV4}", *arguments]
    done = subprocess.run(
        command, cwd=work, env=environ, capture_output=True, text=True, timeout=120
    )
    files = list(work.glob("firstlight-*.json"))
    written = "".join(path.read_text() for path in files) or done.stdout
    assert done.returncode == 1, done.stderr
    assert "cannot fetch https://<credentials-" in written
    assert len(files) == (0 if arguments == ["-o", "-"] else 1)
    for secret in PLANTED:
        assert secret not in written
        assert secret not in done.stdout
        assert secret not in done.stderr


def test_the_lines_of_a_run_and_its_complaints_are_redacted_too(tmp_path: Path) -> None:
    environ = {**os.environ, "USER": USER, "LOGNAME": USER, "HOSTNAME": HOST}
    environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
    command = [sys.executable, "-m", "agent", "run", "--python"]
    for more in ([sys.executable, "--extension", USER], [f"/nowhere/{TOKEN}/python"]):
        done = subprocess.run(
            [*command, *more],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode in (1, 2), done.stderr
        assert USER not in done.stdout + done.stderr
        assert TOKEN not in done.stdout + done.stderr
