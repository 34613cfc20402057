"""Facts about interpreters, packages, toolkits and the environment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Torch:
    """How a torch was built, from its files, from its import or from text."""

    version: str | None = None  # 2.14.1+cu130
    build: str | None = None  # cpu, cu130, rocm6.4
    cuda_version: str | None = None  # torch.version.cuda
    hip_version: str | None = None
    architectures: tuple[str, ...] = ()  # sm_90, gfx942, compute_90
    cudnn_version: str | None = None
    nccl_version: str | None = None
    cxx11_abi: bool | None = None
    path: str | None = None
    known_from: str | None = None  # files, import, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Something that makes an interpreter load other code than its owner expects."""

    code: str  # a key of collect.shadowing.CONFLICTS
    detail: str  # the paths, or names and versions, that disagree


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python on this machine, read from files unless it is the chosen one.

    ``conflicts`` are looked for in the chosen one only (they depend on the environment that the
    user's program will run in); ``writable-by-others`` and ``python-too-old`` in all.
    """

    path: str
    version: str | None = None
    kind: str | None = None  # system, venv, conda, uv, pyenv, named (a script: not known more)
    chosen: bool = False
    chosen_because: str | None = None
    # --python, agent, VIRTUAL_ENV, CONDA_PREFIX, PATH, well-known, conda, uv, pyenv, jupyter,
    # process
    found_by: tuple[str, ...] = ()
    prefix: str | None = None
    base_prefix: str | None = None  # where the standard library and the headers are
    torch: Torch | None = None
    writable_by_others: bool | None = None
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An installed distribution that matters to a GPU."""

    name: str  # normalised: lower case, dashes
    version: str
    origin: str | None = None  # pip, conda, text, ...
    location: str | None = None
    scope: str | None = None  # environment, user-site, pythonpath, system


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A build tool found on the machine."""

    name: str  # nvcc, hipcc, gcc, g++, clang, ninja, cmake
    path: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkits:
    """What is there to build extensions with."""

    tools: tuple[Tool, ...] = ()
    cuda_home: str | None = None  # the directory torch would take
    cuda_home_source: str | None = None  # CUDA_HOME, CUDA_PATH, nvcc, default
    cuda_home_complete: bool | None = None  # holds include/cuda_runtime.h and libcudart
    cuda_toolkits: tuple[str, ...] = ()  # directories found, "/usr/local/cuda-13.0"
    rocm_home: str | None = None
    python_headers: bool | None = None  # Python.h of the target


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """An allow-listed environment variable of this process or of the container's first one."""

    name: str
    value: str
    scope: str = "process"  # process, init (differs in /proc/1/environ), text
