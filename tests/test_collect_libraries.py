from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.collect.libraries import origin_of, read_libraries, version_of
from agent.collect.tree import Tree, open_tree
from agent.model import Library

from . import host_trees
from .host_trees import ELF_64, X86_64, Files, bare, cache, plant

ELF_32 = b"\x7fELF\x01\x01\x01" + bytes(11) + b"\x03" + bytes(45)


def libraries(
    tmp_path: Path, files: Files, environ: dict[str, str] | None = None, **stated: Any
) -> dict[str, Library]:
    tree = open_tree(plant(tmp_path, files, **stated))
    found, _ = read_libraries(tree, environ or {}, Path("/code"), "x86_64")
    return {library.soname: library for library in found if library.seen_by == "loader"}


def driver(folder: str = "/usr/lib/x86_64-linux-gnu", version: str = "570.86.15") -> Files:
    files: Files = {}
    for name in ("libcuda", "libnvidia-ml"):
        files[f"{folder}/{name}.so.1"] = f"-> {name}.so.{version}"
        files[f"{folder}/{name}.so.{version}"] = ELF_64
    return files


def test_the_drivers_own_libraries(tmp_path: Path) -> None:
    folder = "/usr/lib/x86_64-linux-gnu"
    files = bare() | driver()
    files["/etc/ld.so.cache"] = cache(("libcuda.so.1", f"{folder}/libcuda.so.1", X86_64))
    found = libraries(tmp_path, files)
    assert found["libcuda.so.1"].version == "570.86.15"
    assert found["libcuda.so.1"].origin == "driver"
    assert found["libcuda.so.1"].on_loader_path is True
    assert found["libnvidia-ml.so.1"].path == f"{folder}/libnvidia-ml.so.1"  # a default directory


def test_ld_library_path_comes_first_and_compat_is_named(tmp_path: Path) -> None:
    compat = "/usr/local/cuda-12.8/compat"
    files = bare() | driver() | driver(compat, "570.124.06")
    found = libraries(tmp_path, files, {"LD_LIBRARY_PATH": f"/nowhere:{compat}"})
    assert found["libcuda.so.1"].path == f"{compat}/libcuda.so.1"
    assert (found["libcuda.so.1"].origin, found["libcuda.so.1"].version) == (
        "compat",
        "570.124.06",
    )


def test_an_empty_element_of_ld_library_path_is_the_working_directory(tmp_path: Path) -> None:
    files = bare() | driver() | {"/code/libcuda.so.1": ELF_64}
    assert libraries(tmp_path / "a", files)["libcuda.so.1"].path != "/code/libcuda.so.1"
    found = libraries(tmp_path / "b", files, {"LD_LIBRARY_PATH": "/x:"})
    assert found["libcuda.so.1"].path == "/code/libcuda.so.1"
    assert found["libcuda.so.1"].origin == "driver"


def test_the_loader_passes_over_a_library_for_another_architecture(tmp_path: Path) -> None:
    files = bare() | driver() | {"/old/libcuda.so.1": ELF_32}
    found = libraries(tmp_path, files, {"LD_LIBRARY_PATH": "/old"})
    assert found["libcuda.so.1"].version == "570.86.15"


@pytest.mark.parametrize(
    ("content", "defect"), [(b"", "file too short"), (b"version 1\n" * 9, "invalid ELF header")]
)
def test_the_loader_stops_at_a_damaged_library(content: bytes, defect: str, tmp_path: Path) -> None:
    files = bare() | driver() | {"/old/libcuda.so.1": content}
    found = libraries(tmp_path, files, {"LD_LIBRARY_PATH": "/old"})
    assert found["libcuda.so.1"].path == "/old/libcuda.so.1"
    assert found["libcuda.so.1"].defect == defect
    assert found["libnvidia-ml.so.1"].defect is None


def test_a_cache_entry_whose_file_is_gone_does_not_count(tmp_path: Path) -> None:
    files = bare() | {"/etc/ld.so.cache": cache(("libcuda.so.1", "/gone/libcuda.so.1", X86_64))}
    assert "libcuda.so.1" not in libraries(tmp_path, files)


def test_other_copies_are_found_where_they_are_usually_put(tmp_path: Path) -> None:
    files = bare() | driver()
    files["/usr/lib/x86_64-linux-gnu/libcuda.so.535.54.03"] = ELF_64  # left by another driver
    files["/usr/local/cuda-13.0/targets/x86_64-linux/lib/stubs/libcuda.so"] = ELF_64
    files["/usr/local/nvidia/lib64/libcuda.so.1"] = ELF_64
    tree = open_tree(plant(tmp_path, files))
    found, gaps = read_libraries(tree, {}, Path("/"), "x86_64")
    copies = {str(lib.path): lib.origin for lib in found if lib.seen_by == "disk"}
    assert copies == {
        "/usr/local/cuda-13.0/targets/x86_64-linux/lib/stubs/libcuda.so": "stub",
        "/usr/local/nvidia/lib64/libcuda.so.1": "driver",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.535.54.03": "driver",
    }
    assert all(lib.on_loader_path is False for lib in found if lib.seen_by == "disk")
    assert [gap.why.split(":")[0] for gap in gaps if gap.said_by == "file name"] == ["version"]


def test_wsl_has_a_libcuda_without_a_release_in_its_name(tmp_path: Path) -> None:
    files, stated = host_trees.wsl()
    wsl = "/usr/lib/wsl/lib/libcuda.so.1"
    files["/etc/ld.so.cache"] = cache(("libcuda.so.1", wsl, X86_64))
    found = libraries(tmp_path, files, **stated)
    assert (found["libcuda.so.1"].origin, found["libcuda.so.1"].version) == ("wsl", None)


def test_amds_runtime(tmp_path: Path) -> None:
    files, stated = host_trees.amd()
    found = libraries(tmp_path, files, {"LD_LIBRARY_PATH": "/opt/rocm/lib"}, **stated)
    assert found["libamdhip64.so.6"].version == "6.4.60401"
    assert found["libamdhip64.so.6"].origin == "toolkit"


def test_a_circle_of_links_is_survived(tmp_path: Path) -> None:
    files = bare() | {"/a/libcuda.so.1": "-> libcuda.so.2", "/a/libcuda.so.2": "-> libcuda.so.1"}
    assert libraries(tmp_path, files, {"LD_LIBRARY_PATH": "/a"}) == {}


def test_no_cache_is_a_gap_except_on_musl(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path / "glibc", bare()))
    _, gaps = read_libraries(tree, {}, Path("/"), "x86_64")
    assert "no loader cache" in gaps[0].why
    musl = bare() | {"/lib/ld-musl-x86_64.so.1": b"\x7fELF"}
    _, gaps = read_libraries(open_tree(plant(tmp_path / "musl", musl)), {}, Path("/"), "x86_64")
    assert gaps == ()


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("libcuda.so.570.86.15", "570.86.15"),
        ("libcudart.so.12.8.90", "12.8.90"),
        ("libcuda.so.1", None),
        ("libcuda.so.1.1", None),
        ("libcudnn.so.9.10.2", "9.10.2"),
    ],
)
def test_versions_in_names(name: str, version: str | None) -> None:
    assert version_of(f"/lib/{name}") == version


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/usr/lib64/libcuda.so.1", "driver"),
        ("/usr/local/cuda/compat/lib.real/libcuda.so.1", "compat"),
        ("/usr/local/cuda/lib64/stubs/libcuda.so", "stub"),
        ("/opt/conda/lib/libcudart.so.12", "conda"),
        ("/venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12", "wheel"),
        ("/usr/local/cuda-12.4/lib64/libcudart.so.12", "toolkit"),
        ("/home/alex/lib/libcuda.so.1", "user"),
        ("/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "system"),
    ],
)
def test_origins(path: str, origin: str) -> None:
    assert origin_of(path, path) == origin


def test_the_living_machine_agrees_with_its_loader() -> None:
    import ctypes

    found, _ = read_libraries(Tree(), {}, Path("/"), None)
    names = {library.soname for library in found if library.seen_by == "loader"}
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        assert "libcuda.so.1" not in names
    else:
        assert "libcuda.so.1" in names
