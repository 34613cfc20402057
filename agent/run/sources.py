"""Where do a child's sources come from? Out of this package, be it a directory or a zip file."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import ModuleType

from agent.model import Json

PACKAGE = "firstlight_probes"  # the name of probes/ inside a child


def source_of(module: ModuleType) -> str:
    """The text of a module of ours, from wherever it was imported."""
    loader = module.__loader__
    if loader is None or module.__file__ is None or not hasattr(loader, "get_data"):
        raise ImportError(f"the source of {module.__name__} cannot be read")
    data: bytes = loader.get_data(module.__file__)
    return data.decode("utf-8")


@cache
def boot_code() -> str:
    """The text that a child's interpreter is given with ``-c``."""
    data = pkgutil.get_data("agent.run", "boot.py")
    if data is None:
        raise ImportError("agent/run/boot.py cannot be read")
    return data.decode("utf-8")


@cache
def probe_sources() -> Mapping[str, str]:
    """The sources of probes/ by the module names that they have in a child."""
    import probes

    names = [found.name for found in pkgutil.iter_modules(probes.__path__) if not found.ispkg]
    sources = {PACKAGE: _read("__init__.py")}
    for name in names:
        sources[f"{PACKAGE}.{name}"] = _read(f"{name}.py")
    return sources


def _read(name: str) -> str:
    data = pkgutil.get_data("probes", name)
    if data is None:
        raise ImportError(f"probes/{name} cannot be read")
    return data.decode("utf-8")


def first_line(plan: Mapping[str, Json], sources: Mapping[str, str] | None = None) -> bytes:
    """What a child is sent first: sources and plan as one line of ASCII JSON."""
    document = {"sources": dict(sources or probe_sources()), "plan": dict(plan)}
    return json.dumps(document).encode("ascii") + b"\n"
