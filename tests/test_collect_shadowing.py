"""Each conflict by the tree that has it, and by its nearest healthy neighbour."""

from __future__ import annotations

import os
from pathlib import Path

from agent.collect.shadowing import CONFLICTS
from tests.fake_python import (
    codes,
    distribution,
    find,
    find_in,
    link,
    python,
    site,
    torch,
    venv,
    write,
)

USER = "/home/u/.local/lib/python3.11/site-packages"


def _details(root: Path, *named: str, **environ: str) -> dict[str, str]:
    one = find_in(root, named, environ)[0][0]
    assert set(codes(one)) <= set(CONFLICTS)
    return {conflict.code: conflict.detail for conflict in one.conflicts}


def test_healthy_environments_have_none(tmp_path: Path) -> None:
    """A system Python, a venv, an activated venv; ordinary files in the working directory."""
    python(tmp_path)
    torch(tmp_path, site("/usr"))
    write(tmp_path, "/usr/bin/pip", "#!/usr/bin/python3\n", 0o755)
    venv(tmp_path, "/v")
    torch(tmp_path, site("/v"))
    write(tmp_path, "/v/bin/pip", "#!/v/bin/python3\n", 0o755)
    for entry in ("train.py", "data/torch.txt", "torch.md", "random/x.py", "tests/__init__.py"):
        write(tmp_path, f"/code/{entry}")
    assert _details(tmp_path) == {}
    assert _details(tmp_path, VIRTUAL_ENV="/v", PATH="/v/bin:/usr/bin") == {}


def test_pip_of_another_interpreter(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/v")
    write(tmp_path, "/usr/bin/pip", "#!/usr/bin/python3\nimport pip\n", 0o755)
    assert _details(tmp_path, "/v")["pip-of-other-interpreter"] == (
        "/usr/bin/pip installs for /usr/bin/python3, not for /v/bin/python"
    )
    assert "pip-of-other-interpreter" not in _details(tmp_path, "/usr")


def test_pip_with_a_long_or_an_env_first_line(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/v v")
    text = "#!/bin/sh\n'''exec' \"/v v/bin/python\" \"$0\" \"$@\"\n' '''\nimport re\n"
    write(tmp_path, "/usr/local/bin/pip", text, 0o755)
    assert "for /v v/bin/python," in _details(tmp_path)["pip-of-other-interpreter"]
    assert _details(tmp_path, "/v v", PATH="/usr/local/bin") == {}
    write(tmp_path, "/usr/local/bin/pip", "#!/usr/bin/env python3\n", 0o755)
    assert _details(tmp_path) == {}
    for text in ("#!/bin/sh\nexec something\n", "\x7fELF", ""):
        write(tmp_path, "/usr/local/bin/pip", text, 0o755)
        assert _details(tmp_path) == {}


def test_user_site_copy_shadows(tmp_path: Path) -> None:
    python(tmp_path)
    torch(tmp_path, site("/usr"), "2.13.0+cpu")
    torch(tmp_path, USER, "1.13.0")
    assert _details(tmp_path) == {
        "user-site-shadows": f"torch: 1.13.0 in {USER}, 2.13.0+cpu in {site('/usr')}"
    }
    assert _details(tmp_path, PYTHONNOUSERSITE="1") == {}
    venv(tmp_path, "/v")
    torch(tmp_path, site("/v"))
    assert _details(tmp_path, "/v") == {}


def test_only_copy_in_the_user_site_is_no_conflict(tmp_path: Path) -> None:
    python(tmp_path)
    torch(tmp_path, USER)
    assert _details(tmp_path) == {}


def test_user_site_that_is_not_read(tmp_path: Path) -> None:
    python(tmp_path)
    torch(tmp_path, USER)
    venv(tmp_path, "/v")
    assert _details(tmp_path, "/v") == {"user-site-not-read": f"{USER}/torch"}
    assert _details(tmp_path, PYTHONNOUSERSITE="1") == {"user-site-not-read": f"{USER}/torch"}


def test_pythonpath_supplies_torch(tmp_path: Path) -> None:
    python(tmp_path)
    torch(tmp_path, "/lib", "2.1.0", installer=None)
    assert _details(tmp_path, PYTHONPATH="/lib") == {"pythonpath-supplies-torch": "/lib/torch"}
    torch(tmp_path, site("/usr"))
    assert set(_details(tmp_path, PYTHONPATH="/lib")) == {"pythonpath-supplies-torch"}
    distribution(tmp_path, "/lib", "torch", "2.1.0")
    assert set(_details(tmp_path, PYTHONPATH="/lib")) == {
        "pythonpath-supplies-torch",
        "pythonpath-shadows",
    }
    (tmp_path / "harmless").mkdir()
    assert _details(tmp_path, PYTHONPATH="/harmless") == {}


def test_two_copies(tmp_path: Path) -> None:
    """Two records in one directory, a wheel twice, and a source tree beside an installed one."""
    python(tmp_path)
    torch(tmp_path, site("/usr"), "2.13.0")
    distribution(tmp_path, site("/usr"), "torch", "2.1.0")
    assert _details(tmp_path)["two-copies"].startswith("torch: 2.1.0 in ")
    python(tmp_path, "/b")
    for version in ("12.1", "12.4"):
        distribution(tmp_path, site("/b"), "nvidia-cublas-cu12", version)
    assert set(_details(tmp_path, "/b")) == {"two-copies"}
    python(tmp_path, "/c")
    torch(tmp_path, site("/c"))
    torch(tmp_path, "/src", installer=None)
    write(tmp_path, f"{site('/c')}/x.pth", "/src\n")
    assert _details(tmp_path, "/c") == {
        "two-copies": f"torch: {site('/c')}/torch, /src/torch",
    }


def test_lib64_link_is_no_second_copy(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/v")
    link(tmp_path, "/v/lib64", "lib")
    torch(tmp_path, site("/v"))
    assert _details(tmp_path, "/v") == {}


def test_conda_and_pip(tmp_path: Path) -> None:
    python(tmp_path, "/c")
    write(tmp_path, "/c/conda-meta/pytorch-2.5.1-py3.11_0.json")
    torch(tmp_path, site("/c"), "2.5.1", installer="conda")
    assert _details(tmp_path, "/c") == {}
    python(tmp_path, "/d")
    write(tmp_path, "/d/conda-meta/pytorch-2.5.1-py3.11_0.json")
    torch(tmp_path, site("/d"), "2.13.0+cpu", installer="pip")
    assert _details(tmp_path, "/d") == {
        "conda-and-pip-torch": f"conda: pytorch 2.5.1; pip: torch 2.13.0+cpu in {site('/d')}"
    }
    python(tmp_path, "/e")
    write(tmp_path, "/e/conda-meta/numpy-2.0-py3.11_0.json")
    torch(tmp_path, site("/e"), installer="pip")
    assert _details(tmp_path, "/e") == {}


def test_wheels_of_two_cuda_versions(tmp_path: Path) -> None:
    """CUDA 13's wheels bear no suffix; packages with a numbering of their own do not count."""
    python(tmp_path)
    for name, version in (
        ("nvidia-cublas", "13.1.1.3"),
        ("nvidia-cuda-runtime", "13.0.96"),
        ("nvidia-cudnn-cu13", "9.24"),
        ("nvidia-cufft", "12.0.0.61"),
        ("nvidia-ml-py", "12.535"),
    ):
        distribution(tmp_path, site("/usr"), name, version)
    assert _details(tmp_path) == {}
    distribution(tmp_path, site("/usr"), "nvidia-nccl-cu12", "2.27")
    assert _details(tmp_path) == {
        "mixed-cuda-wheels": "CUDA 12: nvidia-nccl-cu12 2.27; CUDA 13: nvidia-cublas 13.1.1.3, "
        "nvidia-cuda-runtime 13.0.96, nvidia-cudnn-cu13 9.24"
    }


def test_placeholder_wheel_is_no_cuda_version(tmp_path: Path) -> None:
    python(tmp_path)
    distribution(tmp_path, site("/usr"), "nvidia-cublas", "0.0.1.dev5")
    distribution(tmp_path, site("/usr"), "nvidia-cublas-cu12", "12.4")
    assert _details(tmp_path) == {}


def test_incomplete_torch(tmp_path: Path) -> None:
    python(tmp_path)
    write(tmp_path, f"{site('/usr')}/torch/lib/libtorch.so")
    assert _details(tmp_path) == {
        "torch-incomplete": f"{site('/usr')}/torch has no __init__.py",
    }
    python(tmp_path, "/b")
    distribution(tmp_path, site("/b"), "torch", "2.1.0")
    assert "torch-incomplete" in _details(tmp_path, "/b")


def test_working_directory_hides_torch(tmp_path: Path) -> None:
    python(tmp_path)
    write(tmp_path, "/code/torch.py")
    write(tmp_path, "/code/numpy/__init__.py")
    write(tmp_path, "/code/triton/data.bin")
    found = find(tmp_path)[0][0].conflicts
    assert [(one.code, one.detail) for one in found] == [
        ("workdir-shadows-torch", "/code/numpy/"),
        ("workdir-shadows-torch", "/code/torch.py"),
    ]


def test_working_directory_hides_the_standard_library(tmp_path: Path) -> None:
    python(tmp_path)
    write(tmp_path, "/code/random.py")
    write(tmp_path, "/code/queue/__init__.py")
    write(tmp_path, "/code/select.cpython-311-x86_64-linux-gnu.so")
    for harmless in ("os.py", "test/__init__.py", "types/readme", "json.txt", "_io.py", "code.pyx"):
        write(tmp_path, f"/code/{harmless}")
    (tmp_path / "code/token.py").mkdir()
    found = find(tmp_path)[0][0].conflicts
    assert [(one.code, one.detail) for one in found] == [
        ("workdir-shadows-stdlib", "/code/queue/"),
        ("workdir-shadows-stdlib", "/code/random.py"),
        ("workdir-shadows-stdlib", "/code/select.cpython-311-x86_64-linux-gnu.so"),
    ]


def test_pythonhome(tmp_path: Path) -> None:
    python(tmp_path)
    assert _details(tmp_path, PYTHONHOME="/old") == {"pythonhome-set": "PYTHONHOME=/old"}


def test_activated_environment_that_path_does_not_reach(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/v")
    assert _details(tmp_path, VIRTUAL_ENV="/v") == {
        "active-environment-not-first": "VIRTUAL_ENV=/v, but python on PATH is /usr/bin/python"
    }
    link(tmp_path, "/alias", "/v")
    assert _details(tmp_path, VIRTUAL_ENV="/v", PATH="/alias/bin") == {}


def test_base_of_a_copied_environment_is_gone(tmp_path: Path) -> None:
    venv(tmp_path, "/v", "/gone")
    (tmp_path / "v/bin/python").unlink()
    write(tmp_path, "/v/bin/python", "\x7fELF", 0o755)
    one = find(tmp_path, "/v")[0][0]
    assert (codes(one), one.version) == (["base-python-missing"], "3.11.2")


def test_only_the_chosen_one_is_judged_by_the_environment(tmp_path: Path) -> None:
    python(tmp_path)
    venv(tmp_path, "/venv/a")
    found, _ = find(tmp_path, PYTHONHOME="/old", uid=os.getuid())
    assert [codes(one) for one in found] == [["pythonhome-set"], []]
