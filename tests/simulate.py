"""Makes a constructed machine out of its description: a tree of files, and what its libraries say.

tests/machines/<name>/machine.json describes it (docs/machines.md), tests/machines/cards.json the
cards. The vendors' libraries are the stand-ins of tests/stand_ins, which read one data file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from agent.collect.driver import driver_tasks, read_driver
from agent.collect.facts import collect_host_facts
from agent.model import Facts, Gap, Stage
from agent.run.runner import Runner
from agent.run.tasks import Order, Task
from agent.run.worker import Worker

from . import host_trees
from .host_trees import Files, gpu, plant

HERE = Path(__file__).parent
MACHINES = HERE / "machines"
SOURCES = HERE / "stand_ins"
# Source, the library's soname, and the file names it is found under.
LIBRARIES = (
    ("nvml.c", "libnvidia-ml.so.1", "nvml"),
    ("cuda.c", "libcuda.so.1", "cuda"),
    ("amd_smi.c", "libamd_smi.so", "amd_smi"),
    ("hip.c", "libamdhip64.so.6", "hip"),
)
UUID = "00000000-0000-4000-8000-0000000000{:02d}"
NODES_NVIDIA = ("/dev/nvidiactl", "/dev/nvidia-uvm")
LIBRARY_FOLDER = "/usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A machine that was made: its root, the variables its programs see, what it must give.

    ``environ`` is to be put over the real environment. ``libraries`` is the folder that its
    loader path names, ``answers`` the stand-ins' data file, which a test may append to.
    """

    name: str
    root: Path
    libraries: Path
    answers: Path
    environ: Mapping[str, str]
    description: Mapping[str, Any] = field(default_factory=dict)

    def say(self, **keys: object) -> None:
        """Append answers or faults; a later line replaces an earlier one of the same key."""
        write_answers(self.answers, read_answers(self.answers) | keys)


def machine_names() -> list[str]:
    """The names of the constructed machines."""
    return sorted(path.parent.name for path in MACHINES.glob("*/machine.json"))


@cache
def cards() -> Mapping[str, Any]:
    """The cards by name."""
    found: Mapping[str, Any] = json.loads((MACHINES / "cards.json").read_text())
    return found


def simulate(name: str, folder: Path, stand_ins: Path, machines: Path = MACHINES) -> Simulation:
    """Make the machine ``name`` in ``folder``; ``stand_ins`` is what ``build_stand_ins`` made."""
    said = json.loads((machines / name / "machine.json").read_text())
    root = folder / "root"
    files, stated = _base(said)
    nodes: dict[str, Any] = dict(stated.pop("nodes", {}))
    answers: dict[str, Any] = {}
    for vendor, fill in (("nvidia", _nvidia), ("amd", _amd)):
        if vendor in said:
            fill(said, files, nodes, answers)
    files |= said.get("tree", {})
    answers |= said.get("stand_in", {})
    if "node_error" in said:
        refused = {"mode": "0660", "group": "render", "open": said["node_error"]}
        nodes = {path: {**node, **refused} for path, node in nodes.items()}
    root.mkdir(parents=True)
    plant(root, files, **stated, nodes=nodes)
    libraries = folder / "lib"
    _install(said, stand_ins, libraries)
    place = folder / "answers.txt"
    write_answers(place, answers)
    return Simulation(
        name=name,
        root=root,
        libraries=libraries,
        answers=place,
        environ={
            "LD_LIBRARY_PATH": str(libraries),
            "FIRSTLIGHT_STAND_IN": str(place),
            "ROCM_PATH": str(folder / "rocm"),
        },
        description=said,
    )


def _base(said: Mapping[str, Any]) -> tuple[Files, dict[str, Any]]:
    """The files of the machine without its GPUs."""
    kind = said["base"]
    if kind == "bare":
        return host_trees.bare(), dict(host_trees.BARE_STATED)
    files, stated = getattr(host_trees, kind)()
    gone = ("/proc/driver/nvidia", "/sys/bus/pci/devices", "/sys/module/nvidia")
    files = {path: text for path, text in files.items() if not path.startswith(gone)}
    kept = {path: node for path, node in stated.get("nodes", {}).items() if path == "/dev/dxg"}
    return files, {**stated, "nodes": kept}


# ---------------------------------------------------------------- what each vendor's part is
def _nvidia(
    said: Mapping[str, Any], files: Files, nodes: dict[str, Any], answers: dict[str, Any]
) -> None:
    driver = said["nvidia"]
    kernel = driver.get("kernel", driver["version"])
    if driver.get("loaded", True):
        files["/proc/driver/nvidia/version"] = nvidia_version(kernel, is_open=driver["open"])
        for module in ("nvidia", "nvidia_uvm"):
            files[f"/sys/module/{module}/version"] = f"{kernel}\n"
        files["/proc/modules"] = (
            "nvidia_uvm 4000000 2 - Live 0x0 (O)\nnvidia 11000000 900 nvidia_uvm, Live 0x0 (O)\n"
        )
        for path in driver.get("nodes", NODES_NVIDIA):
            nodes[path] = _node(195, 255)
    for library in ("libcuda.so", "libnvidia-ml.so"):
        real = f"{library}.{driver['version']}"
        if library == "libcuda.so":
            real = driver.get("library_name", real)
        files[f"{LIBRARY_FOLDER}/{library}.1"] = f"-> {real}"
        files[f"{LIBRARY_FOLDER}/{real}"] = b"\x7fELF"
    major, _, minor = driver["cuda"].partition(".")
    version = int(major) * 1000 + int(minor) * 10
    answers |= {
        "nvml.driver_version": driver["version"],
        "nvml.version": f"{major}.{driver['version']}",
        "nvml.cuda_version": version,
        "cuda.driver_version": version,
        "cuda.init": 0,
    }
    number = 0
    for group, card, address in _each_card(said, "nvidia"):
        uuid = "GPU-" + UUID.format(number)
        values = {**card["values"], **group.get("set", {}), "uuid": uuid, "pci": address}
        for link in range(card.get("nvlinks", 0)):
            values |= {f"nvlink_state.{link}": 1, f"nvlink_errors.{link}.0": 0}
        answers |= {f"gpu.{number}.{key}": v for key, v in values.items() if v is not None}
        answers |= _cuda_device(number, card, values, group.get("cuda", {}))
        if driver.get("loaded", True) and "nodes" not in driver and said["base"] != "wsl":
            nodes[f"/dev/nvidia{number}"] = _node(195, number)
            files[f"/proc/driver/nvidia/gpus/{address}/information"] = (
                f"Model: \t\t {values['name']}\nGPU UUID: \t {uuid}\nDevice Minor: \t {number}\n"
            )
        number += 1
    answers |= {"nvml.count": number, "cuda.count": number}
    bound = "nvidia" if driver.get("loaded", True) else ""
    _put_on_pci(said, "nvidia", files, bound)


def _cuda_device(
    number: int, card: Mapping[str, Any], values: Mapping[str, Any], changed: Mapping[str, Any]
) -> dict[str, Any]:
    capability = values["compute_capability"].split()
    found = {
        "name": changed.get("name", values["name"]),
        "uuid": changed.get("uuid", values["uuid"]),
        "pci": values["pci"],
        "memory_total": changed.get("memory_total", values.get("memory_total")),
        "attribute.16": changed.get("multiprocessors", card["multiprocessors"]),
        "attribute.18": int(card.get("integrated", False)),
        "attribute.75": capability[0],
        "attribute.76": capability[1],
    }
    return {f"cuda.{number}.{key}": value for key, value in found.items()}


def _amd(
    said: Mapping[str, Any], files: Files, nodes: dict[str, Any], answers: dict[str, Any]
) -> None:
    driver = said["amd"]
    files["/proc/modules"] = "amdgpu 15000000 0 - Live 0x0 (O)\n"
    files["/sys/module/amdgpu/version"] = f"{driver['kernel']}\n"
    files["/sys/class/kfd/kfd/topology/nodes/0/gpu_id"] = "0\n"
    files["/opt/rocm/.info/version"] = f"{driver['rocm']}-83\n"
    files["/opt/rocm/lib/libamdhip64.so.6"] = b"\x7fELF"
    nodes["/dev/kfd"] = _node(234, 0)
    answers |= {"hip.init": 0, "hip.version": driver["hip"]}
    number = 0
    for group, card, address in _each_card(said, "amd"):
        uuid = f"{number:02x}ff74a1-0000-1000-8000-000000000000"
        values = {**card["values"], **group.get("set", {}), "uuid": uuid, "pci": address}
        answers |= {f"amd.{number}.{key}": v for key, v in values.items() if v is not None}
        found = {
            "name": values["name"],
            "pci": address,
            "memory_total": values["memory_total"],
            "attribute.63": group.get("multiprocessors", card["multiprocessors"]),
            "attribute.16": int(card.get("integrated", False)),
        }
        answers |= {f"hip.{number}.{key}": value for key, value in found.items()}
        nodes[f"/dev/dri/renderD{128 + number}"] = _node(226, 128 + number)
        number += 1
    answers |= {"amd.count": number, "hip.count": number}
    _put_on_pci(said, "amd", files, "amdgpu")


def _each_card(said: Mapping[str, Any], vendor: str) -> list[tuple[Any, Any, str]]:
    return [
        (group, cards()[group["card"]], address)
        for group in said["cards"]
        if cards()[group["card"]]["vendor"] == vendor
        for address in group["addresses"]
    ]


def _put_on_pci(said: Mapping[str, Any], vendor: str, files: Files, bound: str) -> None:
    for group in (*said["cards"], *said.get("pci_only", ())):
        card = cards()[group["card"]]
        if card["vendor"] != vendor:
            continue
        for address in group.get("pci", group["addresses"]):
            vendor_id, device_id = card["pci_id"].split(":")
            width = str(group.get("set", {}).get("pcie_width", card["values"].get("pcie_width")))
            entry = gpu(
                address,
                f"0x{vendor_id}",
                f"0x{device_id}",
                f"0x{card['pci_class']}",
                bound or "none",
                width=width,
                max_speed=card["max_speed"],
            )
            if not bound:
                del entry[f"/sys/bus/pci/devices/{address}/driver"]
            files |= entry


def nvidia_version(version: str, *, is_open: bool) -> str:
    """A /proc/driver/nvidia/version in the layout of either kernel module."""
    flavour = "UNIX Open Kernel Module for x86_64" if is_open else "UNIX x86_64 Kernel Module"
    return f"NVRM version: NVIDIA {flavour}  {version}  Thu Oct 10 12:15:00 UTC 2024\n"


def _node(major: int, minor: int) -> dict[str, Any]:
    return {
        "mode": "0666",
        "owner": "root",
        "group": "root",
        "major": major,
        "minor": minor,
        "open": "ok",
    }


# ---------------------------------------------------------------- libraries and their answers
def _install(said: Mapping[str, Any], stand_ins: Path, folder: Path) -> None:
    """Put the libraries that the machine has where its loader path names them."""
    folder.mkdir()
    vendors = {"nvml": "nvidia", "cuda": "nvidia", "amd_smi": "amd", "hip": "amd"}
    for _, soname, question in LIBRARIES:
        if vendors[question] not in said or question in said.get("absent", ()):
            continue
        real = soname
        if question in ("nvml", "cuda"):
            real = f"{soname[:-2]}.{said['nvidia']['version']}"
        if question == "cuda":
            real = said["nvidia"].get("library_name", real)
        shutil.copy(stand_ins / soname, folder / real)
        for name in {soname, *({"libamdhip64.so.7"} if question == "hip" else ())} - {real}:
            (folder / name).symlink_to(real)


def read_answers(place: Path) -> dict[str, Any]:
    """The keys and values of a stand-ins' data file."""
    pairs = (line.partition(" = ") for line in place.read_text().splitlines())
    return {key: value for key, _, value in pairs}


def write_answers(place: Path, answers: Mapping[str, object]) -> None:
    """Write a stand-ins' data file."""
    place.write_text("".join(f"{key} = {value}\n" for key, value in answers.items()))


def build_stand_ins(folder: Path) -> Path:
    """Compile the stand-ins below ``folder`` once for these sources; returns where they lie.

    Several processes may build at once: each works aside and the first one to rename wins.
    """
    sources = sorted(SOURCES.glob("*.*"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    place = folder / f"stand_ins-{digest}"
    if place.exists():
        return place
    work = Path(tempfile.mkdtemp(dir=folder))
    names = (SOURCES / "amd_smi_symbols.txt").read_text().split()
    weak = "".join(f"__attribute__((weak)) int {name}(void) {{ return 2; }}\n" for name in names)
    (work / "weak.c").write_text(weak)
    for source, soname, question in LIBRARIES:
        more = [str(work / "weak.c")] if question == "amd_smi" else []
        subprocess.run(
            [
                *("gcc", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"),
                f"-Wl,-soname,{soname}",
                *("-o", str(work / soname), str(SOURCES / source), *more, "-lpthread", "-ldl"),
            ],
            check=True,
            timeout=120,
        )
    try:
        work.rename(place)
    except OSError:  # another process was first
        shutil.rmtree(work)
    return place


def has_compiler() -> bool:
    """Whether the stand-ins can be built here."""
    return shutil.which("gcc") is not None


def environment(simulation: Simulation) -> dict[str, str]:
    """The environment of a program on the simulated machine."""
    return {**os.environ, **simulation.environ}


# ---------------------------------------------------------------- asking its drivers
def ask_drivers(
    simulation: Simulation,
    *,
    only: Sequence[str] = (),
    seconds: float = 60.0,
    environ: Mapping[str, str] | None = None,
) -> list[Worker]:
    """Ask the questions of the stage ``driver`` in children, as the agent does."""
    given = {n: v for n, v in environment(simulation).items() if not n.startswith("PYTHON")}
    workers = []
    with Runner() as runner:
        for tasks in driver_tasks():
            chosen = tuple(
                Task(stage=str(t["stage"]), subject=str(t["subject"]), options=t["options"])
                for t in tasks
                if not only or t["subject"] in only
            )
            if not chosen:
                continue
            order = Order(
                python=sys.executable,
                tasks=chosen,
                environ={**given, **(environ or {})},
                fork=False,
                at_once=1,
                deadlines={"driver": seconds, "import": 0.0},
            )
            workers.append(Worker(runner, order))
            workers[-1].begin()
        runner.serve(until=lambda: all(worker.finished for worker in workers))
    return workers


def examine(
    simulation: Simulation, **asked: Any
) -> tuple[Facts, Stage, tuple[Gap, ...], list[Worker]]:
    """The machine's facts with devices and drivers, the stage ``driver``, and all gaps."""
    workers = ask_drivers(simulation, **asked)
    host, gaps = collect_host_facts(
        simulation.root, environ={"PATH": "/usr/bin"}, interpreter=None, workdir=Path("/")
    )
    answers = [stage for worker in workers for stage in worker.stages]
    facts, stage, more = read_driver(answers, host)
    return facts, stage, (*gaps, *more), workers
