"""What the files of an interpreter say, against what the interpreter itself says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.collect.machine import machine_of
from agent.collect.target import parse_torch_version, read_layout, read_torch
from tests.fake_python import ENVIRON, link, machine, python, site, torch, venv, write

ASK = """
import json, platform, sys
print(json.dumps([sys.prefix, sys.base_prefix, platform.python_version(),
  [p for p in sys.path if "-packages" in p or "extra" in p]]))
"""
MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _agrees(program: Path, environ: dict[str, str], here: Path) -> list[str]:
    """Asserts that files and interpreter agree, and gives the scopes of the search path."""
    told = subprocess.run(
        [program, "-c", ASK], env=environ, cwd="/", check=True, capture_output=True, text=True
    ).stdout
    prefix, base_prefix, version, path = json.loads(told)
    seen = machine_of(root=Path("/"), environ=environ, workdir=here, uid=None)
    layout = read_layout(seen, str(program))
    assert [layout.prefix, layout.base_prefix] == [prefix, base_prefix]
    assert layout.version == version
    assert [one.path for one in layout.directories] == path
    return [one.scope for one in layout.directories]


@pytest.mark.parametrize("options", [(), ("--system-site-packages",), ("--copies",)])
def test_real_environment(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Search path and its order, with PYTHONPATH, a user site, and .pth files."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", *options, tmp_path / "venv"], check=True
    )
    program = tmp_path / "venv/bin/python"
    user = tmp_path / f"user/lib/python{MINOR}/site-packages"
    for folder in (user, tmp_path / "extra one", tmp_path / "extra two", tmp_path / "extra three"):
        folder.mkdir(parents=True)
    packages = tmp_path / f"venv/lib/python{MINOR}/site-packages"
    (packages / "a.pth").write_text(f"# comment\n\nimport sys\n{tmp_path}/extra two\n/not/there\n")
    (user / "b.pth").write_text("../../../../extra three\n")
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    inherits = "--system-site-packages" in options

    scopes = _agrees(program, plain, tmp_path)
    assert scopes[:2] == ["environment", "environment"]
    assert ("system" in scopes) == inherits
    full = {
        **plain,
        "PYTHONPATH": f"{tmp_path}/extra one:/not/there",
        "PYTHONUSERBASE": str(tmp_path / "user"),
    }
    if inherits:
        # site leaves the dots in, files do not: only the order can be compared
        (user / "b.pth").write_text(f"{tmp_path}/extra three\n")
    scopes = _agrees(program, full, tmp_path)
    assert scopes[0] == "pythonpath"
    assert ("user-site" in scopes) == inherits
    assert "user-site" not in _agrees(program, {**full, "PYTHONNOUSERSITE": "1"}, tmp_path)


def test_real_base_python_with_a_user_site(tmp_path: Path) -> None:
    base = Path(sys.base_prefix) / f"bin/python{MINOR}"
    user = tmp_path / f".local/lib/python{MINOR}/site-packages"
    user.mkdir(parents=True)
    scopes = _agrees(base, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}, tmp_path)
    assert scopes[:2] == ["user-site", "environment"]


def test_link_to_an_environments_python_is_the_base(tmp_path: Path) -> None:
    """CPython looks for pyvenv.cfg beside the path it was started by, links not followed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    outside = tmp_path / "python"
    outside.symlink_to(tmp_path / "venv/bin/python")
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    told = subprocess.run(
        [outside, "-c", "import sys; print(sys.prefix)"],
        env=plain,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    seen = machine_of(root=Path("/"), environ=plain, workdir=tmp_path, uid=None)
    assert read_layout(seen, str(outside)).prefix == told == sys.base_prefix


def test_debian(tmp_path: Path) -> None:
    """/usr keeps packages in dist-packages, of which /usr/local's come first."""
    python(tmp_path, site="/usr/local/lib/python3.11/dist-packages")
    (tmp_path / "usr/lib/python3/dist-packages").mkdir(parents=True)
    layout = read_layout(machine(tmp_path), "/usr/bin/python3")
    assert [one.path for one in layout.directories] == [
        "/usr/local/lib/python3.11/dist-packages",
        "/usr/lib/python3/dist-packages",
    ]
    assert (layout.version, layout.kind, layout.minor) == ("3.11.2", "system", "3.11")


def test_two_minor_versions_in_one_prefix(tmp_path: Path) -> None:
    """The name of the binary decides, not the order of the directories."""
    python(tmp_path, "/usr", "3.11.2")
    write(tmp_path, "/usr/bin/python3.12", "\x7fELF", 0o755)
    write(tmp_path, "/usr/lib/python3.12/os.py")
    assert read_layout(machine(tmp_path), "/usr/bin/python3.12").minor == "3.12"
    assert read_layout(machine(tmp_path), "/usr/bin/python3").minor == "3.11"


def test_lib64_is_counted_once(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/v")
    link(tmp_path, "/v/lib64", "lib")
    layout = read_layout(machine(tmp_path), "/v/bin/python")
    assert [one.path for one in layout.directories] == [site("/v")]


@pytest.mark.parametrize(
    ("more", "kind", "version"),
    [("", "venv", "3.11.2"), ("uv = 0.9.1\n", "uv", "3.11.2")],
)
def test_kind_of_an_environment(tmp_path: Path, more: str, kind: str, version: str) -> None:
    python(tmp_path)
    venv(tmp_path, "/v", more=more)
    layout = read_layout(machine(tmp_path), "/v/bin/python")
    assert (layout.kind, layout.version, layout.base_prefix) == (kind, version, "/usr")


def test_virtualenv_states_its_version_in_its_own_way(tmp_path: Path) -> None:
    python(tmp_path, "/usr", "3.8.10")
    venv(tmp_path, "/v", version="3.8.10")
    write(tmp_path, "/v/pyvenv.cfg", "home = /usr/bin\nversion_info = 3.8.10.final.0\n")
    assert read_layout(machine(tmp_path), "/v/bin/python").version == "3.8.10"


def test_version_without_an_exact_source_is_short(tmp_path: Path) -> None:
    python(tmp_path)
    (tmp_path / "usr/include/python3.11/patchlevel.h").unlink()
    assert read_layout(machine(tmp_path), "/usr/bin/python").version == "3.11"


def test_pythonpath_entries(tmp_path: Path) -> None:
    """Relative and empty entries mean the working directory; what is not there does not count."""
    python(tmp_path)
    for folder in ("code/lib", "abs"):
        (tmp_path / folder).mkdir(parents=True)
    environ = {**ENVIRON, "PYTHONPATH": "lib:/gone:/abs:"}
    layout = read_layout(machine(tmp_path, environ), "/usr/bin/python")
    assert [one.path for one in layout.directories if one.scope == "pythonpath"] == [
        "/code/lib",
        "/abs",
        "/code",
    ]


def test_first_torch_on_the_path(tmp_path: Path) -> None:
    python(tmp_path)
    torch(tmp_path, site("/usr"), "2.1.0+cpu")
    user = "/home/u/.local/lib/python3.11/site-packages"
    torch(tmp_path, user, "2.4.0+rocm6.1", hip="6.1.40091")
    found = read_torch(machine(tmp_path), read_layout(machine(tmp_path), "/usr/bin/python"))
    assert found is not None
    assert (found.path, found.build, found.hip_version) == (f"{user}/torch", "rocm6.1", "6.1.40091")
    assert found.known_from == "files"


def test_torch_installed_in_place(tmp_path: Path) -> None:
    """A source tree that a .pth names is on the path."""
    python(tmp_path)
    torch(tmp_path, "/src/pytorch", "2.9.0a0+gitabc", cuda="12.8", installer=None)
    write(tmp_path, f"{site('/usr')}/__editable__.torch.pth", "/src/pytorch\n")
    found = read_torch(machine(tmp_path), read_layout(machine(tmp_path), "/usr/bin/python"))
    assert found is not None
    assert (found.version, found.build) == ("2.9.0a0+gitabc", "cu128")


def test_directory_without_init_is_no_torch(tmp_path: Path) -> None:
    python(tmp_path)
    write(tmp_path, f"{site('/usr')}/torch/version.py", "__version__ = '2.1.0'\n")
    assert read_torch(machine(tmp_path), read_layout(machine(tmp_path), "/usr/bin/python")) is None


@pytest.mark.parametrize(
    ("text", "version", "build"),
    [
        ("__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\n", "2.13.0+cpu", "cpu"),
        ("__version__ = '2.14.1+cu130'\ncuda: Optional[str] = '13.0'\n", "2.14.1+cu130", "cu130"),
        ("__version__ = '1.9.0'\ncuda = '10.2'\n", "1.9.0", "cu102"),
        ("__version__ = '2.6.0a0+ecf3bae40a.nv25.01'\ncuda = '12.8'\n", None, "cu128"),
        ("__version__ = '2.5.1'\ncuda = None\nhip: Optional[str] = '6.4.43482'\n", None, "rocm6.4"),
        ("__version__ = '2.5.1'\ncuda: Optional[str] = None\n", "2.5.1", "cpu"),
        ("__version__ = '2.8.0'\ncuda = None\nxpu: Optional[str] = '20250101'\n", None, "xpu"),
        ('__version__ = "2.8.0"\n', "2.8.0", None),
        ("__version__ = open('/etc/passwd').read()\n", None, None),
        ("__version__ = '" + "9" * 5000 + "'\n", None, None),
        ("", None, None),
    ],
)
def test_torch_version_file(text: str, version: str | None, build: str | None) -> None:
    found = parse_torch_version(text)
    assert found.build == build
    if version or build is None:
        assert found.version == version


def test_home_of_a_user_without_HOME(tmp_path: Path) -> None:  # noqa: N802
    write(
        tmp_path, "/etc/passwd", "root:x:0:0::/root:/bin/sh\nbroken\nu:x:77:77::/data/u:/bin/sh\n"
    )
    assert machine_of(root=tmp_path, environ={}, workdir=None, uid=77).home == "/data/u"
    assert machine_of(root=tmp_path, environ={}, workdir=None, uid=78).absolute("~") == "/"
    assert machine_of(root=tmp_path, environ={}, workdir=None, uid=None).uid == os.getuid()
