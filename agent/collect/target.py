"""What one Python interpreter is: its prefix, version, search path and torch, from files alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from posixpath import basename, dirname

from agent.collect.machine import Machine
from agent.model import Torch

_MINOR = re.compile(r"python(\d\.\d{1,2})(?:t|d)?$")
_PATCH = re.compile(r"(?<![\d.])(\d\.\d{1,2}\.\d{1,2}\w*)")
_PTH_MAX = 64
_MINORS = (*(f"3.{minor}" for minor in range(6, 20)), "2.7")


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteDirectory:
    """A directory on the interpreter's search path that may hold packages.

    ``scope`` is ``pythonpath``, ``user-site``, ``environment`` or ``system`` (the base
    interpreter's, seen through a virtual environment).
    """

    path: str
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where an interpreter keeps things. ``directories`` are in the order of its sys.path."""

    executable: str
    real_executable: str
    prefix: str
    base_prefix: str
    kind: str  # system, venv, conda, uv, pyenv
    version: str | None  # 3.11.7, or 3.11 where no file names the last number
    minor: str | None  # 3.11
    has_standard_library: bool  # False: not a Python, or the base of a venv that is gone
    directories: tuple[SiteDirectory, ...]
    unread_user_site: str | None  # a user site that exists and that this interpreter leaves out
    pth_files: tuple[str, ...]  # they may run code when the interpreter starts


def read_layout(machine: Machine, executable: str) -> Layout:
    """The layout of the interpreter at ``executable``, found the way CPython finds it.

    A ``pyvenv.cfg`` beside the *unresolved* path makes a virtual environment; without one the
    links are followed first. So a link from outside to a venv's python is the base interpreter,
    in this function as in CPython (Modules/getpath.py).
    """
    real = machine.resolve(executable)
    folder = dirname(executable)
    config, prefix = _read_config(machine, folder)
    home = machine.resolve(machine.absolute(config["home"])) if config.get("home") else None
    base_prefix, minor, complete = _base_of(machine, home or dirname(real), real, config)
    if prefix is None:
        prefix = base_prefix
    is_venv = bool(config)
    version = _version_of(machine, prefix, base_prefix, minor, config)
    user_site, reads_user_site = _user_site(machine, minor, config)
    own = _site_directories(machine, prefix, minor)
    found = [SiteDirectory(path=path, scope="pythonpath") for path in _pythonpath(machine)]
    user = [SiteDirectory(path=user_site, scope="user-site")] if user_site else []
    environment = [SiteDirectory(path=path, scope="environment") for path in own]
    # site.main(): a venv's own packages come before the user's, the base's after them.
    local = (
        environment + user * reads_user_site if is_venv else user * reads_user_site + environment
    )
    if is_venv and config.get("include-system-site-packages") == "true":
        local += [
            SiteDirectory(path=path, scope="system")
            for path in _site_directories(machine, base_prefix, minor)
        ]
    local, pth_files = _with_pth(machine, local)
    return Layout(
        executable=executable,
        real_executable=real,
        prefix=prefix,
        base_prefix=base_prefix,
        kind=_kind_of(machine, prefix, config),
        version=version,
        minor=minor,
        has_standard_library=complete,
        directories=_distinct(machine, found + local),
        unread_user_site=None if reads_user_site else user_site,
        pth_files=pth_files,
    )


def read_torch(machine: Machine, layout: Layout) -> Torch | None:
    """The torch that this interpreter would import, from ``torch/version.py``; None: no torch.

    The version's local part names the build where a wheel has one (``+cu130``); builds from
    source and NVIDIA's images put a commit there, so else the CUDA or HIP version does.
    """
    for directory in layout.directories:
        folder = f"{directory.path}/torch"
        if machine.is_file(f"{folder}/__init__.py"):
            return parse_torch_version(machine.read(f"{folder}/version.py") or "", folder)
    return None


def parse_torch_version(text: str, folder: str | None = None) -> Torch:
    """What the text of a ``torch/version.py`` says; it is searched, never run."""
    version = _assigned(text, "__version__")
    cuda, hip, xpu = (_assigned(text, name) for name in ("cuda", "hip", "xpu"))
    local = version.partition("+")[2] if version else ""
    build: str | None = None
    if re.fullmatch(r"cpu|xpu|cu\d{2,3}|rocm\d[\d.]*", local):
        build = local.rstrip(".")
    elif cuda:
        build = "cu" + "".join(cuda.split(".")[:2])
    elif hip:
        build = "rocm" + ".".join(hip.split(".")[:2])
    elif xpu:
        build = "xpu"
    elif version and re.search(r"^cuda\b.*=\s*None", text, re.MULTILINE):
        build = "cpu"
    return Torch(
        version=version,
        build=build,
        cuda_version=cuda,
        hip_version=hip,
        path=folder,
        known_from="files",
    )


def _assigned(text: str, name: str) -> str | None:
    found = re.search(
        rf"^{name}\s*(?::[^=\n]*)?=\s*['\"]([!#-&(-~]{{1,64}})['\"]", text, re.MULTILINE
    )
    return found.group(1) if found else None


def _read_config(machine: Machine, folder: str) -> tuple[dict[str, str], str | None]:
    for place in (folder, dirname(folder)):
        text = machine.read(f"{place}/pyvenv.cfg", 16384)
        if text is not None:
            pairs = (line.partition("=") for line in text.splitlines())
            config = {key.strip().lower(): value.strip() for key, mark, value in pairs if mark}
            if "include-system-site-packages" in config:
                config["include-system-site-packages"] = config[
                    "include-system-site-packages"
                ].lower()
            # a pyvenv.cfg makes a venv even when it is empty
            return config or {"home": ""}, dirname(folder)
    return {}, None


def _base_of(
    machine: Machine, folder: str, real: str, config: dict[str, str]
) -> tuple[str, str | None, bool]:
    """The prefix with the standard library, the minor version, and whether it is there.

    As CPython does, the directories above the binary are searched for lib/pythonX.Y/os.py.
    """
    stated = config.get("version") or config.get("version_info") or ""
    named = _MINOR.search(basename(real))
    minors = [named.group(1)] if named else []
    if stated:
        minors.append(".".join(stated.split(".")[:2]))
    above = folder
    for _ in range(3):
        above = dirname(above) or "/"
        for minor in (*minors, *_MINORS):
            if _standard_library(machine, above, minor):
                return above, minor, True
        if above == "/":
            break
    return dirname(folder) or "/", minors[0] if minors else None, False


def _standard_library(machine: Machine, prefix: str, minor: str) -> str | None:
    stem = prefix.rstrip("/")
    for lib in ("lib", "lib64"):
        if machine.is_file(f"{stem}/{lib}/python{minor}/os.py"):
            return f"{stem}/{lib}/python{minor}"
    return None


def _version_of(
    machine: Machine, prefix: str, base_prefix: str, minor: str | None, config: dict[str, str]
) -> str | None:
    """The full version from a file or directory name, in the order of how exact the place is."""
    stated = config.get("version") or config.get("version_info") or ""
    texts = [".".join(stated.split(".")[:3])]
    if machine.is_directory(f"{prefix}/conda-meta"):
        texts += [
            name.removeprefix("python-").rpartition("-")[0]
            for name in machine.entries(f"{prefix}/conda-meta")
            if re.fullmatch(r"python-\d[\w.]*-[^-]+\.json", name)
        ]
    texts += [basename(base_prefix)]
    if minor:
        header = f"{base_prefix.rstrip('/')}/include/python{minor}/patchlevel.h"
        found = re.search(r'#define PY_VERSION\s+"([^"]+)"', machine.read(header) or "")
        texts.append(found.group(1) if found else "")
    for text in texts:
        found = _PATCH.search(text)
        if found and (minor is None or found.group(1).startswith(f"{minor}.")):
            return found.group(1)
    return minor


def _kind_of(machine: Machine, prefix: str, config: dict[str, str]) -> str:
    if config:
        return "uv" if "uv" in config else "venv"
    if machine.is_directory(f"{prefix}/conda-meta"):
        return "conda"
    parent = dirname(prefix)
    if basename(parent) == "versions" and machine.is_directory(f"{dirname(parent)}/shims"):
        return "pyenv"
    if parent.endswith("/uv/python") or parent == machine.environ.get("UV_PYTHON_INSTALL_DIR"):
        return "uv"
    return "system"


def _site_directories(machine: Machine, prefix: str, minor: str | None) -> list[str]:
    """The package directories of a prefix, those of Debian and Fedora included, that exist."""
    if minor is None:
        return []
    stem = prefix.rstrip("/")
    paths = [f"{stem}/{lib}/python{minor}/site-packages" for lib in ("lib", "lib64")]
    if stem == "/usr":
        paths = [
            f"/usr/local/lib/python{minor}/dist-packages",
            "/usr/lib/python3/dist-packages",
            f"/usr/lib/python{minor}/dist-packages",
            f"/usr/local/lib64/python{minor}/site-packages",
            f"/usr/local/lib/python{minor}/site-packages",
            *paths,
        ]
    return [path for path in paths if machine.is_directory(path)]


def _user_site(
    machine: Machine, minor: str | None, config: dict[str, str]
) -> tuple[str | None, bool]:
    """The user's own package directory, if it exists, and whether this interpreter reads it."""
    base = machine.environ.get("PYTHONUSERBASE") or f"{machine.home}/.local"
    path = f"{machine.absolute(base)}/lib/python{minor}/site-packages"
    if minor is None or not machine.is_directory(path):
        return None, False
    isolated = bool(config) and config.get("include-system-site-packages") != "true"
    return path, not isolated and not machine.environ.get("PYTHONNOUSERSITE")


def _pythonpath(machine: Machine) -> list[str]:
    entries = machine.environ.get("PYTHONPATH", "")
    if not entries:
        return []
    # an empty entry, as a trailing colon makes one, is the working directory
    paths = [machine.absolute(entry or ".") for entry in entries.split(":")]
    return [path for path in paths if machine.is_directory(path)]


def _with_pth(
    machine: Machine, directories: list[SiteDirectory]
) -> tuple[list[SiteDirectory], tuple[str, ...]]:
    """The directories, each followed by those that its ``.pth`` files add, and these files."""
    found: list[SiteDirectory] = []
    files: list[str] = []
    for directory in directories:
        found.append(directory)
        names = [name for name in machine.entries(directory.path) if name.endswith(".pth")]
        for name in names[:_PTH_MAX]:
            files.append(f"{directory.path}/{name}")
            for line in (machine.read(files[-1]) or "").splitlines():
                if line.startswith(("#", "import ", "import\t")) or not line.strip():
                    continue
                path = line.rstrip()
                path = path if path.startswith("/") else f"{directory.path}/{path}"
                if "\0" not in path and machine.is_directory(path):
                    found.append(SiteDirectory(path=path, scope=directory.scope))
    return found, tuple(files)


def _distinct(machine: Machine, directories: list[SiteDirectory]) -> tuple[SiteDirectory, ...]:
    """Each directory once: lib64 is often a link to lib, and a copy counted twice is no copy."""
    seen: dict[str, SiteDirectory] = {}
    for directory in directories:
        seen.setdefault(machine.resolve(directory.path), directory)
    return tuple(seen.values())
