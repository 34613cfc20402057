"""The import stage on real builds of torch, and whose the mapped libraries are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes import import_torch, libraries

from .in_target import ask, run_plan, stage_of


@pytest.mark.torch
def test_cpu_build(torch_python: Path) -> None:
    stage = stage_of(run_plan(torch_python, "import"), "import")
    data = stage["data"]
    assert stage["status"] == "passed"
    assert stage["steps"][0] == "import torch"
    assert data["built_for"] == "cpu"
    assert (data["cuda"], data["hip"], data["architectures"], data["nccl"]) == (
        None,
        None,
        [],
        None,
    )
    assert data["path"].endswith("/torch/__init__.py")
    assert len(data["git"]) == 40
    assert data["threads"] >= 1
    own = {one["soname"]: one["package"] for one in data["libraries"]}
    assert own["libtorch_cpu.so"].startswith("torch " + data["version"].split("+")[0])
    assert own["libc.so.6"] is None


@pytest.mark.torch
def test_cuda_build_without_a_driver(torch_cuda_python: Path) -> None:
    data = stage_of(run_plan(torch_cuda_python, "import"), "import")["data"]
    assert data["built_for"] == "cuda"
    assert data["architectures"]
    assert all(name.startswith(("sm_", "compute_")) for name in data["architectures"])
    assert data["cudnn"].count(".") == data["nccl"].count(".") == 2
    owners = {one["soname"].split(".so")[0]: one["package"] for one in data["libraries"]}
    assert owners["libcublas"].startswith("nvidia-cublas")
    assert owners["libcudnn"].startswith("nvidia-cudnn")
    assert owners["libtorch_cuda"].startswith("torch ")


@pytest.mark.torch
def test_the_driver_is_left_alone(torch_cuda_python: Path) -> None:
    program = """
import torch
from firstlight_probes import import_torch, libraries
import_torch.describe_build(torch)
mapped = [p for p in libraries.mapped_paths() if "libcuda.so" in p or "libnvidia-ml" in p]
answer([torch.cuda.is_initialized(), torch.cuda._is_in_bad_fork(), mapped])
"""
    assert ask(torch_cuda_python, program) == [False, False, []]


MAPS = """\
55d0-55d1 r--p 00000000 08:01 131 /usr/bin/python3.11
7f00-7f01 r-xp 00000000 08:01 132 {site}/nvidia/cu13/lib/libcublas.so.13
7f02-7f03 r--p 00000000 08:01 132 {site}/nvidia/cu13/lib/libcublas.so.13
7f04-7f05 r-xp 00000000 08:01 133 /usr/local/cuda/lib64/libcublas.so.13.0.1
7f06-7f07 r-xp 00000000 08:01 134 {site}/torch/lib/libtorch.so
7f08-7f09 r-xp 00000000 08:01 135 {site}/numpy.libs/libgomp-a3.so.1.0.0
7f0a-7f0b r-xp 00000000 08:01 136 /usr/lib/python3/lib-dynload/libx.so
7f0c-7f0d rw-p 00000000 00:00 0 [heap]
7f0e-7f0f r-xp 00000000 08:01 137 /odd path/libwith space.so.2 (deleted)
7f10-7f11 r-xp 00000000 08:01 138 {site}/nvidia/cu13/lib/libunowned.so.1
"""


def test_owners_and_duplicates(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    records = {
        "nvidia_cublas-13.1.1.3.dist-info": "nvidia/cu13/lib/libcublas.so.13,sha256=a,9\n",
        "nvidia_nccl_cu13-2.30.7.dist-info": "nvidia/nccl/lib/libnccl.so.2,,\n",
        "torch-2.14.1.dist-info": "torch/lib/libtorch.so,,\n",
        "numpy-2.4.6.dist-info": "",
        "nvidia_broken-1.dist-info": None,
    }
    for name, record in records.items():
        (site / name).mkdir(parents=True)
        if record is not None:
            (site / name / "RECORD").write_text(record)
    maps = tmp_path / "maps"
    maps.write_text(MAPS.format(site=site))
    found = libraries.mapped_libraries(str(maps))
    assert {(one["soname"], one["package"]) for one in found} == {
        ("libcublas.so.13", "nvidia-cublas 13.1.1.3"),
        ("libcublas.so.13", None),
        ("libtorch.so", "torch 2.14.1"),
        ("libgomp-a3.so.1", "numpy 2.4.6"),
        ("libunowned.so.1", None),
        ("libwith space.so.2", None),
    }
    assert libraries.duplicates(found) == [
        {
            "soname": "libcublas.so.13",
            "paths": [
                f"{site}/nvidia/cu13/lib/libcublas.so.13",
                "/usr/local/cuda/lib64/libcublas.so.13.0.1",
            ],
        }
    ]
    assert libraries.mapped_paths(str(tmp_path / "none")) == []
    assert libraries.owner(f"{tmp_path}/gone/site-packages/torch/lib/libc10.so", {}) is None


@given(st.text(st.characters(blacklist_characters="/\n", blacklist_categories=["Cs"]), min_size=1))
def test_any_path_has_an_owner_or_none(name: str) -> None:
    known = {"/nowhere/site-packages": {"torch": ("torch 1", "torch-1.dist-info")}}
    owner = libraries.owner(f"/nowhere/site-packages/{name}/libx.so", known)
    assert owner == ("torch 1" if name.lower() in ("torch", "torch.libs") else None)


def test_why_an_import_failed() -> None:
    assert import_torch.why_not(ModuleNotFoundError(name="torch")) == "not-installed"
    assert import_torch.why_not(ModuleNotFoundError(name="sympy")) == "does-not-load"
    assert import_torch.why_not(ImportError("libcudart.so.12")) == "does-not-load"
    assert import_torch.why_not(RuntimeError("NumPy")) == "raised"


def test_a_stand_in_is_recognised(stand_ins: Path) -> None:
    built = [str(path) for path in stand_ins.iterdir() if "libcuda.so" in path.name]
    assert built
    assert libraries.is_stand_in(built)
    assert not libraries.is_stand_in(["/usr/lib/libm.so.6", "/gone/libcuda.so.1"])
