"""All that the machine tells about itself without a child process: the host's part of the facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ..model import Container, Drivers, Facts, Gap, Host, Interpreter, KernelLog, Limits, Toolkits
from .container import read_container, read_first_environment
from .disks import read_disks
from .environment import read_environment
from .host import architecture, read_host
from .kernel_gpus import read_kernel_gpus
from .kernel_log import read_kernel_log
from .libraries import read_libraries
from .limits import read_limits
from .modules import read_kernel_drivers, read_modules
from .nodes import read_nodes
from .pci import read_pci
from .toolkits import read_toolkits
from .tree import Tree, attempt, open_tree, reason
from .users import home_of, own_uid_or_none

T = TypeVar("T")


def collect_host_facts(
    root: Path = Path("/"),
    *,
    environ: Mapping[str, str],
    interpreter: Interpreter | None,
    workdir: Path,
) -> tuple[Facts, tuple[Gap, ...]]:
    """The facts that files and a few system calls tell, with a gap for each that they do not.

    ``root`` other than "/" is a recorded tree (docs/machines.md). Starts no program, loads no
    library of a vendor, opens no socket, and raises nothing: what fails becomes a gap. Devices,
    interpreters and packages are empty, of drivers only the kernel's part is filled.
    """
    gaps: list[Gap] = []
    try:
        tree = open_tree(root)
    except (OSError, ValueError) as error:
        return Facts(), (Gap(pointer="/facts", why=reason(error), said_by="firstlight.json"),)

    def part(pointer: str, otherwise: T, read: Callable[[], tuple[T, tuple[Gap, ...]]]) -> T:
        value, missing = _guarded(pointer, otherwise, read)
        gaps.extend(missing)
        return value

    first, refusal = _first_environment(tree)
    container = part("/facts/container", Container(), lambda: read_container(tree, environ, first))
    host = part("/facts/host", Host(), lambda: read_host(tree, environ))
    host = replace(
        host,
        disks=part(
            "/facts/host/disks",
            (),
            lambda: read_disks(
                tree,
                workdir=workdir,
                home=environ.get("HOME") or home_of(tree, own_uid_or_none(tree)),
                container=container.kind,
                virtual=host.virtualization,
            ),
        ),
        nodes=part("/facts/host/nodes", (), lambda: read_nodes(tree)),
        modules=part("/facts/host/modules", (), lambda: read_modules(tree)),
        pci=part("/facts/host/pci", (), lambda: read_pci(tree)),
        kernel_gpus=part("/facts/host/kernel_gpus", (), lambda: read_kernel_gpus(tree)),
    )
    if container.kind == "none":
        first = None  # the first process of a bare machine is the system's, not the user's box
    elif refusal is not None:
        gaps.append(refusal)
    machine = attempt([], "", "", lambda: architecture(tree))
    facts = Facts(
        host=host,
        limits=part("/facts/limits", Limits(), lambda: read_limits(tree)),
        container=container,
        kernel_log=part("/facts/kernel_log", KernelLog(), lambda: read_kernel_log(tree)),
        libraries=part(
            "/facts/libraries", (), lambda: read_libraries(tree, environ, workdir, machine)
        ),
        drivers=part("/facts/drivers", Drivers(), lambda: read_kernel_drivers(tree)),
        toolkits=part(
            "/facts/toolkits", Toolkits(), lambda: read_toolkits(tree, environ, interpreter)
        ),
        environment=part("/facts/environment", (), lambda: (read_environment(environ, first), ())),
    )
    return facts, tuple(gaps)


def _guarded(
    pointer: str, otherwise: T, read: Callable[[], tuple[T, tuple[Gap, ...]]]
) -> tuple[T, tuple[Gap, ...]]:
    try:
        return read()
    except Exception as error:  # noqa: BLE001  (a machine that nobody foresaw must not end the run)
        why = f"{type(error).__name__}: {reason(error)}"
        return otherwise, (Gap(pointer=pointer, why=why, said_by="agent"),)


def _first_environment(tree: Tree) -> tuple[dict[str, str] | None, Gap | None]:
    try:
        return read_first_environment(tree), None
    except OSError as error:
        why = f"the variables of the container's first process are closed: {reason(error)}"
        return None, Gap(pointer="/facts/environment", why=why, said_by="/proc/1/environ")
