"""With what command and environment is an interpreter under test started?"""

from __future__ import annotations

from collections.abc import Mapping

from agent.model import Json
from agent.run.child import Child
from agent.run.sources import boot_code, first_line

# Set for every child, whatever the user has set: offline, silent, and leaving no files behind.
SWITCHES = (
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("HF_HUB_OFFLINE", "1"),
    ("DO_NOT_TRACK", "1"),
    ("VLLM_NO_USAGE_STATS", "1"),
    ("MIOPEN_FIND_MODE", "FAST"),  # its first full search takes minutes, and would read as a hang
)
# Caches, each in a folder of its own below one that the run removes again.
CACHES = (
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "CUDA_CACHE_PATH",
    "MIOPEN_USER_DB_PATH",
    "MIOPEN_CUSTOM_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "MPLCONFIGDIR",
    "XDG_CACHE_HOME",
)


def overrides(cache_folder: str | None) -> dict[str, str]:
    """The closed list of variables that the run sets for its children; it goes into the bundle.

    Without a cache folder (no directory can be written to) the caches stay where the user's
    program would have them.
    """
    found = dict(SWITCHES)
    if cache_folder is not None:
        found.update({name: f"{cache_folder}/{name.lower()}" for name in CACHES})
    return found


def probe_child(
    python: str,
    plan: Mapping[str, Json],
    environ: Mapping[str, str],
    *,
    name: str,
    sources: Mapping[str, str] | None = None,
    keep_source_open: bool = False,
    memory_limit_bytes: int | None = None,
    grace_seconds: float = 0.5,
) -> Child:
    """The child that runs a plan in an interpreter.

    ``plan`` holds ``tasks`` and, if it is not ``worker``, the name of the ``module`` of probes/
    whose ``main`` is to be called. ``sources`` replaces probes/, for tests. Not ``-I``: the child
    must see what the user's program sees.
    """
    return Child(
        name=name,
        argv=(python, "-B", "-X", "faulthandler", "-c", boot_code()),
        environ=environ,
        source=first_line(plan, sources),
        keep_source_open=keep_source_open,
        memory_limit_bytes=memory_limit_bytes,
        grace_seconds=grace_seconds,
    )


IS_PYTHON = "firstlight:python"  # what only an interpreter makes of the question below


def python_question(python: str, environ: Mapping[str, str]) -> Child:
    """The child that answers ``IS_PYTHON`` if a program is a Python, without its start-up code."""
    return Child(
        name="is it Python",
        argv=(python, "-I", "-S", "-c", "print('firstlight' + ':python')"),
        environ=environ,
        deadline_seconds=10,
    )
