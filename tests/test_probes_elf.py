"""What a compiled library says of itself, read from libraries that are compiled here."""

from __future__ import annotations

import contextlib
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes import device_code, elf, load_error

from .simulate import has_compiler

KERNEL = (
    "__global__ void k(float *a) { a[threadIdx.x] *= 2; }\nvoid go(float *p) { k<<<1, 32>>>(p); }"
)
SOURCE = """
#include <math.h>
extern int _ZN3c105torch7missingEv(void);
int here(double x) { return _ZN3c105torch7missingEv() + (int)cos(x); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with a name of its own that wants libm and a symbol that nobody defines."""
    if not has_compiler():
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("elf")
    source, target = folder / "stub.c", folder / "libstub.so"
    source.write_text(SOURCE)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-Wl,-soname,libstub.so.3", "-o", target, source,
         "-Wl,--no-as-needed", "-lm"],
        check=True,
    )  # fmt: skip
    return target


def test_what_a_library_needs(library: Path) -> None:
    found = elf.read(str(library))
    assert found is not None
    assert found.soname == "libstub.so.3"
    assert "libm.so.6" in found.needed
    assert "_ZN3c105torch7missingEv" in found.undefined
    assert "here" not in found.undefined
    assert any(version.startswith("GLIBC_") for version in found.versions)
    assert device_code.architectures(str(library), found.sections) == []


def test_the_running_python_is_read_too() -> None:
    found = elf.read(sys.executable)
    assert found is not None
    assert "libc.so.6" in found.needed


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 200, b"MZ" * 99]
)
def test_what_is_no_library_is_no_answer(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(content)
    assert elf.read(str(path)) is None
    assert elf.read(str(tmp_path / "absent.so")) is None
    assert elf.read(str(tmp_path)) is None


@given(st.data())
def test_damaged_libraries_end_in_an_answer(data: st.DataObject) -> None:
    whole = bytearray(Path(sys.executable).resolve().read_bytes()[:4096])
    for _ in range(data.draw(st.integers(1, 20))):
        whole[data.draw(st.integers(6, 4095))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(*elf.DAMAGE):  # ``read`` turns these into None
        elf.parse(bytes(whole))


def test_architectures_of_code_by_nvcc(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    source, target = tmp_path / "k.cu", tmp_path / "k.so"
    source.write_text(KERNEL)
    wanted = ["compute_80,code=sm_80", "compute_90,code=sm_90", "compute_90,code=compute_90"]
    flags = [part for arch in wanted for part in ("-gencode", f"arch={arch}")]
    subprocess.run(
        ["nvcc", "-shared", "-Xcompiler", "-fPIC", *flags, "-o", target, source], check=True
    )
    found = elf.read(str(target))
    assert found is not None
    assert device_code.architectures(str(target), found.sections) == [
        "compute_90",
        "sm_80",
        "sm_90",
    ]


def test_targets_of_a_bundle_by_amds_compiler(tmp_path: Path) -> None:
    names = [b"host-x86_64-unknown-linux--", b"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"]
    names.append(b"hipv4-amdgcn-amd-amdhsa--gfx1100")
    bundle = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(names))
    for name in names:
        bundle += struct.pack("<QQQ", 4096, 0, len(name)) + name
    path = tmp_path / "lib.so"
    path.write_bytes(bundle)
    section = elf.Section(".hip_fatbin", 1, 0, len(bundle), 0)
    assert device_code.architectures(str(path), [section]) == ["gfx90a", "gfx1100"]


@pytest.mark.torch
def test_architectures_of_a_real_torch(torch_cuda_python: Path) -> None:
    place = torch_cuda_python.parent.parent
    [path] = place.glob("lib/python3*/site-packages/torch/lib/libtorch_cuda.so")
    found = elf.read(str(path))
    assert found is not None
    listed = device_code.architectures(str(path), found.sections)
    assert {"sm_80", "sm_90", "sm_100"} <= set(listed)
    assert any(name.startswith("libcudart.so.") for name in found.needed)


# The loader's and Python's words as glibc 2.36 and CPython print them; kind, and what is named.
WORDS: tuple[tuple[Exception, str, dict[str, object]], ...] = (
    (
        ImportError(
            "/x/flash_attn_2_cuda.so: undefined symbol: "
            "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringE"
        ),
        "symbol",
        {"file": "flash_attn_2_cuda.so", "abi": "new", "of": "torch"},
    ),
    (
        ImportError("/x/a.so: undefined symbol: _ZN2at6detail10noopDeleteERKSs"),
        "symbol",
        {"abi": "old", "of": "torch"},
    ),
    (
        ImportError("/x/a.so: undefined symbol: PyUnicode_FOO"),
        "symbol",
        {"symbol": "PyUnicode_FOO", "abi": None},
    ),
    (
        OSError("libcudart.so.12: cannot open shared object file: No such file or directory"),
        "library",
        {"library": "libcudart.so.12"},
    ),
    (
        ImportError("/lib/libc.so.6: version `GLIBC_2.38' not found (required by /x/a.so)"),
        "libc",
        {"version": "GLIBC_2.38"},
    ),
    (
        RuntimeError("operator torchvision::nms does not exist"),
        "operator",
        {"operator": "torchvision::nms"},
    ),
    (
        ImportError("cannot import name 'triton_key' from 'triton.compiler.compiler' (/x/y.py)"),
        "name",
        {"name": "triton_key", "module": "triton.compiler.compiler"},
    ),
    (
        ModuleNotFoundError("No module named 'einops'", name="einops"),
        "module",
        {"module": "einops"},
    ),
    (ImportError("/x/libgomp.so.1: cannot allocate memory in static TLS block"), "static-tls", {}),
)  # fmt: skip


@pytest.mark.parametrize(("error", "kind", "named"), WORDS, ids=[str(w[0])[-30:] for w in WORDS])
def test_why_a_library_does_not_load(error: Exception, kind: str, named: dict[str, object]) -> None:
    built = {"built_for": {"torch": "2.8"}}
    why = load_error.classify(error, built)
    assert why["kind"] == kind
    assert {name: why.get(name) for name in named} == named
    assert why["built_for"] == {"torch": "2.8"}
    assert load_error.reason(error, why) == "does-not-load"


def test_the_cause_of_an_error_is_looked_at_too() -> None:
    outer = RuntimeError("the extension is not available")
    outer.__cause__ = OSError("libnccl.so.2: cannot open shared object file: No such file")
    assert load_error.classify(outer, {})["library"] == "libnccl.so.2"


def test_an_error_of_the_package_itself_is_not_the_loaders() -> None:
    error = ValueError("licence expired")
    assert load_error.classify(error, {}) == {}
    assert load_error.reason(error, {}) == "raised"
    assert not load_error.names_environment(error)
    assert load_error.names_environment(RuntimeError("CUDA error: no kernel image is available"))
    assert not load_error.names_environment(TypeError("flash_attn_func() takes 3 arguments"))
