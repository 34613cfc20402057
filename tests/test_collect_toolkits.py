from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from agent.collect.toolkits import cuda_home_of, read_toolkits, which
from agent.collect.tree import Tree, open_tree
from agent.model import Interpreter, Toolkits

from . import host_trees
from .host_trees import Files, bare, plant

PATH = "/usr/local/bin:/usr/bin"
CUDA = "/usr/local/cuda-13.0"


def toolkits(
    tmp_path: Path,
    files: Files,
    environ: dict[str, str] | None = None,
    interpreter: Interpreter | None = None,
) -> Toolkits:
    tree = open_tree(plant(tmp_path, files))
    return read_toolkits(tree, {"PATH": PATH, **(environ or {})}, interpreter)[0]


def cuda(home: str = CUDA) -> Files:
    return bare() | {
        "/usr/local/cuda": f"-> {home}",
        f"{home}/bin/nvcc": "#!/bin/sh\n",
        f"{home}/include/cuda.h": "/* ... */\n#define CUDA_VERSION 13000\n",
        f"{home}/include/cuda_runtime.h": "",
        f"{home}/lib64/libcudart.so": "",
    }


def test_a_link_to_nvcc_makes_torch_take_the_wrong_directory(tmp_path: Path) -> None:
    files = cuda() | {"/usr/local/bin/nvcc": f"-> {CUDA}/bin/nvcc"}
    found = toolkits(tmp_path, files)
    assert (found.cuda_home, found.cuda_home_source) == ("/usr/local", "nvcc")
    assert found.cuda_home_complete is False
    assert found.cuda_toolkits == (CUDA,)
    assert [(tool.name, tool.version) for tool in found.tools] == [("nvcc", "13.0")]


def test_so_does_a_wrapper(tmp_path: Path) -> None:
    wrapper = '#!/bin/sh\nexec /usr/local/cuda/bin/nvcc "$@"\n'
    found = toolkits(tmp_path, cuda() | {"/usr/local/bin/nvcc": wrapper})
    assert found.cuda_home == "/usr/local"
    assert found.tools[0].version == "13.0"


def test_the_toolkits_own_bin_on_the_path_is_right(tmp_path: Path) -> None:
    found = toolkits(tmp_path, cuda(), {"PATH": "/usr/local/cuda/bin:/usr/bin"})
    assert (found.cuda_home, found.cuda_home_complete) == ("/usr/local/cuda", True)


@pytest.mark.parametrize(
    ("environ", "home", "source"),
    [
        ({}, "/usr/local/cuda", "default"),
        ({"CUDA_HOME": CUDA}, CUDA, "CUDA_HOME"),
        ({"CUDA_PATH": CUDA}, CUDA, "CUDA_PATH"),
        ({"CUDA_HOME": "", "CUDA_PATH": CUDA}, CUDA, "CUDA_PATH"),
        ({"CUDA_HOME": "/a:/b"}, "/a:/b", "CUDA_HOME"),
        ({"CUDA_PATH": ""}, None, None),
    ],
)
def test_what_torch_would_take(
    environ: dict[str, str], home: str | None, source: str | None, tmp_path: Path
) -> None:
    tree = open_tree(plant(tmp_path, cuda()))
    assert cuda_home_of(tree, environ, None) == (home, source)


def test_a_toolkit_without_its_headers_is_incomplete(tmp_path: Path) -> None:
    files = cuda()
    del files[f"{CUDA}/include/cuda_runtime.h"]
    assert toolkits(tmp_path / "a", files).cuda_home_complete is False
    files = cuda()
    del files[f"{CUDA}/lib64/libcudart.so"]
    assert toolkits(tmp_path / "b", files).cuda_home_complete is False


def test_version_json_is_more_exact_than_the_header(tmp_path: Path) -> None:
    files = cuda() | {
        f"{CUDA}/version.json": '{"cuda": {"version": "13.0.1"},'
        ' "cuda_nvcc": {"name": "CUDA NVCC", "version": "13.0.88"}}'
    }
    assert toolkits(tmp_path, files, {"PATH": f"{CUDA}/bin"}).tools[0].version == "13.0.88"


@pytest.mark.parametrize("text", ["{", "[]", '{"cuda_nvcc": {}}'])
def test_a_broken_version_json_is_passed_over(text: str, tmp_path: Path) -> None:
    files = cuda() | {f"{CUDA}/version.json": text}
    assert toolkits(tmp_path, files, {"PATH": f"{CUDA}/bin"}).tools[0].version == "13.0"


def test_compilers_by_the_names_of_their_files(tmp_path: Path) -> None:
    files = bare() | {
        "/usr/bin/gcc": "-> x86_64-linux-gnu-gcc-12",
        "/usr/bin/x86_64-linux-gnu-gcc-12": "#!/bin/sh\n",
        "/usr/bin/g++": "#!/bin/sh\n",
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus": "",
        "/usr/bin/ninja": "#!/bin/sh\n",
        "/usr/bin/cmake": "not executable",
    }
    tree = open_tree(plant(tmp_path, files))
    found, gaps = read_toolkits(tree, {"PATH": PATH}, None)
    assert [(tool.name, tool.version) for tool in found.tools] == [
        ("gcc", "12"),
        ("g++", "12"),
        ("ninja", None),
    ]
    assert [gap.why for gap in gaps if gap.pointer.endswith("tools")] == [
        "version: not in its files (ninja)"
    ]


def test_rocm(tmp_path: Path) -> None:
    files, _ = host_trees.amd()
    found = toolkits(tmp_path, files, {"PATH": "/opt/rocm/bin"})
    assert found.rocm_home == "/opt/rocm-6.4.1"  # torch follows links here
    assert [(tool.name, tool.version) for tool in found.tools] == [("hipcc", "6.4.1")]
    assert toolkits(tmp_path, files, {"ROCM_PATH": "/x"}).rocm_home == "/x"
    assert toolkits(tmp_path, files).rocm_home == "/opt/rocm"


@pytest.mark.parametrize(
    ("more", "interpreter", "there"),
    [
        ({}, Interpreter(path="/usr/bin/python3", version="3.10.12"), False),
        (
            {"/usr/include/python3.10/Python.h": ""},
            Interpreter(path="/usr/bin/python3", version="3.10.12"),
            True,
        ),
        (
            {"/usr/include/python3.11/Python.h": ""},
            Interpreter(path="/usr/bin/python3", version="3.10.12"),
            False,
        ),
        (
            {
                "/venv/pyvenv.cfg": "home = /opt/python/bin\nversion = 3.12.1\n",
                "/opt/python/include/python3.12/Python.h": "",
            },
            Interpreter(path="/venv/bin/python", version="3.12.1", prefix="/venv"),
            True,
        ),
    ],
)
def test_headers_of_the_target(
    more: Files, interpreter: Interpreter, there: bool, tmp_path: Path
) -> None:
    assert toolkits(tmp_path, bare() | more, {}, interpreter).python_headers is there


def test_without_an_interpreter_headers_are_a_gap(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, bare()))
    found, gaps = read_toolkits(tree, {}, None)
    assert found.python_headers is None
    assert gaps[0].why == "no interpreter is chosen"


def test_the_living_path_is_searched_as_the_shell_does() -> None:
    import os

    path = os.environ["PATH"]
    for name in ("gcc", "sh", "no-such-tool"):
        assert which(Tree(), path, name) == shutil.which(name, path=path)
    headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    interpreter = Interpreter(
        path=sys.executable, version=sys.version.split()[0], prefix=sys.prefix
    )
    found, _ = read_toolkits(Tree(), {"PATH": path}, interpreter)
    assert found.python_headers is headers
