"""Which packages are listed, from where, and what stays private."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.collect.interpreters import find_interpreters
from agent.collect.packages import PACKAGES_MAX, matters, normalised, read_packages
from agent.model import Gap, Interpreter, Package
from tests.fake_python import ENVIRON, distribution, find, find_in, python, site, torch, venv, write

USER = "/home/u/.local/lib/python3.11/site-packages"


def _read(
    root: Path, keep_all: bool = False, named: str = "/usr", **environ: str
) -> tuple[tuple[Package, ...], tuple[Gap, ...]]:
    one = find_in(root, (named,), environ)[0][0]
    return read_packages(
        one, keep_all, environ={**ENVIRON, **environ}, root=root, workdir=Path("/code")
    )


def test_gpu_packages_only(tmp_path: Path) -> None:
    """Names of other packages may be private; --keep packages lists them."""
    python(tmp_path)
    for name in ("flash_attn", "nvidia-cublas-cu12", "acme-secret-plans", "requests", "Triton"):
        distribution(tmp_path, site("/usr"), name, "1.2")
    packages, gaps = _read(tmp_path)
    assert sorted(one.name for one in packages) == ["flash-attn", "nvidia-cublas-cu12", "triton"]
    assert gaps == ()
    everything, _ = _read(tmp_path, keep_all=True)
    assert len(everything) == 5


def test_fields(tmp_path: Path) -> None:
    python(tmp_path)
    distribution(tmp_path, site("/usr"), "torch", "2.13.0+cpu", "uv")
    assert _read(tmp_path)[0] == (
        Package(
            name="torch",
            version="2.13.0+cpu",
            origin="uv",
            location=site("/usr"),
            scope="environment",
        ),
    )


def test_copies_are_kept_in_the_order_of_the_path(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/v", more="include-system-site-packages = true\n")
    for folder, version in (
        ("/lib", "4"),
        (site("/v"), "3"),
        (USER, "2"),
        (site("/usr"), "1"),
    ):
        distribution(tmp_path, folder, "torch", version)
    packages, _ = _read(tmp_path, named="/v", PYTHONPATH="/lib")
    assert [(one.version, one.scope) for one in packages] == [
        ("4", "pythonpath"),
        ("3", "environment"),
        ("2", "user-site"),
        ("1", "system"),
    ]


def test_conda(tmp_path: Path) -> None:
    """Read from the names in conda-meta: the files hold channels with tokens, and may be huge."""
    python(tmp_path, "/opt/conda", "3.12.4")
    for name in (
        "pytorch-2.5.1-py3.12_cuda12.4_cudnn9.1.0_0",
        "pytorch-cuda-12.4-hc786d27_7",
        "libcublas-12.4.5.8-0",
        "mkl-2023.1.0-h213fc3f_46344",
        "private-tool-1.0-0",
    ):
        write(tmp_path, f"/opt/conda/conda-meta/{name}.json", "https://x/t/to-ken-123/main")
    write(tmp_path, "/opt/conda/conda-meta/history", "# cmd: conda install")
    packages, gaps = _read(tmp_path, named="/opt/conda")
    assert [(one.name, one.version, one.origin) for one in packages] == [
        ("libcublas", "12.4.5.8", "conda"),
        ("mkl", "2023.1.0", "conda"),
        ("pytorch", "2.5.1", "conda"),
        ("pytorch-cuda", "12.4", "conda"),
    ]
    assert gaps == ()
    assert "to-ken" not in repr(packages)


def test_egg_info_in_its_three_forms(tmp_path: Path) -> None:
    python(tmp_path)
    folder = site("/usr")
    write(tmp_path, f"{folder}/apex-0.1-py3.11-linux-x86_64.egg-info/PKG-INFO", "Name: apex\n")
    write(tmp_path, f"{folder}/numpy-1.24.2.egg-info", "Name: numpy\nVersion: 1.24.2\n\nbody\n")
    write(tmp_path, f"{folder}/deepspeed.egg-info/PKG-INFO", "Name: deepspeed\nVersion: 0.14.0\n")
    found = {one.name: one.version for one in _read(tmp_path)[0]}
    assert found == {"apex": "0.1", "numpy": "1.24.2", "deepspeed": "0.14.0"}


def test_damaged_records(tmp_path: Path) -> None:
    """The directory's name stands in for METADATA; without any version there is a gap."""
    python(tmp_path)
    folder = site("/usr")
    write(tmp_path, f"{folder}/torch-2.1.0.dist-info/RECORD")
    write(tmp_path, f"{folder}/triton.egg-info/PKG-INFO", "Version: \x1b[31mred\nName: triton\n")
    write(tmp_path, f"{folder}/xformers-0.1.dist-info/METADATA", "x" * 100_000)
    (tmp_path / folder.lstrip("/") / "vllm-0.2.dist-info").symlink_to("vllm-0.2.dist-info")
    packages, gaps = _read(tmp_path)
    assert {one.name: one.version for one in packages} == {
        "torch": "2.1.0",
        "triton": "unknown",
        "xformers": "0.1",
        "vllm": "0.2",
    }
    assert [gap.why for gap in gaps] == [f"triton in {folder} states no version"]


def test_pip_leaves_no_remains_of_an_upgrade(tmp_path: Path) -> None:
    """pip renames to ~orch while it works; an interrupted one stays behind and is no torch."""
    python(tmp_path)
    write(tmp_path, f"{site('/usr')}/~orch-2.1.0.dist-info/METADATA", "Name: torch\n")
    assert _read(tmp_path, keep_all=True)[0] == ()


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A directory that an ordinary user reaches, while this process is one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        yield Path(place)
        os.seteuid(os.getuid())


def test_unlistable_directory_is_a_gap(unprivileged: Path) -> None:
    python(unprivileged)
    (unprivileged / "blocked").mkdir()
    (unprivileged / "blocked").chmod(0o311)
    one = find(unprivileged)[0][0]
    os.seteuid(os.getuid() or 65534)
    _, gaps = read_packages(
        one, environ={**ENVIRON, "PYTHONPATH": "/blocked"}, root=unprivileged, workdir=Path("/")
    )
    assert [gap.why for gap in gaps] == ["/blocked cannot be listed"]


def test_number_is_capped_with_a_gap(tmp_path: Path) -> None:
    python(tmp_path)
    for number in range(PACKAGES_MAX + 2):
        (tmp_path / f"{site('/usr')}/nvidia_{number}-1.dist-info".lstrip("/")).mkdir()
    packages, gaps = _read(tmp_path)
    assert len(packages) == PACKAGES_MAX
    assert [gap.why for gap in gaps] == [f"2 of {PACKAGES_MAX + 2} packages were left out"]


def test_script_has_no_packages() -> None:
    """A named interpreter whose files say nothing gives nothing, and raises nothing."""
    one = Interpreter(path="/gone/bin/python", kind="named")
    assert read_packages(one, environ={}, workdir=Path("/"))[0] == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch", True),
        ("torchvision", True),
        ("nvidia-ml-py", True),
        ("jaxlib", True),
        ("onnxruntime-gpu", True),
        ("cupy-cuda12x", True),
        ("rocm-sdk-core", True),
        ("requests", False),
        ("pandas", False),
        ("my-torch-model", False),
    ],
)
def test_what_matters(name: str, expected: bool) -> None:
    assert matters(name) == expected


def test_normalised() -> None:
    assert normalised("NVIDIA.cublas__CU12") == "nvidia-cublas-cu12"


def test_real_environment_as_importlib_sees_it(tmp_path: Path) -> None:
    """The interpreter of these tests: the same distributions as the standard library finds."""
    code = (
        "import json, re; from importlib.metadata import distributions as d;"
        " print(json.dumps(sorted([re.sub('[-_.]+', '-', x.metadata['Name']).lower(), x.version]"
        " for x in d())))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True
    ).stdout
    one = find_interpreters((sys.executable,), environ=dict(os.environ), workdir=tmp_path)[0][0]
    packages, _ = read_packages(one, keep_all=True, workdir=tmp_path)
    assert sorted([package.name, package.version] for package in packages) == json.loads(told)


@pytest.mark.torch
def test_real_torch(torch_cuda_python: Path) -> None:
    one = find_interpreters((str(torch_cuda_python),))[0][0]
    packages, gaps = read_packages(one)
    names = {package.name: package for package in packages}
    assert {"torch", "triton", "numpy", "nvidia-cudnn-cu13"} <= set(names)
    assert names["torch"].origin in ("pip", "uv")
    assert gaps == ()


def test_torch_record_of_the_fake(tmp_path: Path) -> None:
    python(tmp_path)
    torch(tmp_path, site("/usr"), "2.1.0+cu121", cuda="12.1")
    assert [one.version for one in _read(tmp_path)[0]] == ["2.1.0+cu121"]
