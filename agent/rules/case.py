"""What a rule sees: the observations, with the look-ups that several rules share.

Every look-up answers "not known" with None or an empty tuple; a rule that needs it then stays
silent. Nothing here judges.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from agent.model import (
    Device,
    Facts,
    Interpreter,
    Json,
    Observations,
    Package,
    Stage,
    Torch,
)
from agent.rules.lines import Hit, Lines
from agent.rules.versions import Version, version
from agent.tables.drivers import BRANCHES

Place = Literal["container", "bare", "wsl", "windows", "unknown"]


@dataclass(frozen=True)
class Case:
    """Observations with cached look-ups; create one for each judgement."""

    observations: Observations

    # ------------------------------------------------------------ printed lines
    @cached_property
    def lines(self) -> Lines:
        """The printed lines, searchable."""
        return Lines(self.observations.lines)

    def hits(self, *signatures: str) -> tuple[Hit, ...]:
        """Every occurrence of these wordings, in the order asked for, then of the text."""
        return tuple(hit for name in signatures for hit in self.lines.found(name))

    def hit(self, *signatures: str) -> Hit | None:
        """The first occurrence of the first of these wordings that occurs at all."""
        for name in signatures:
            if found := self.lines.found(name):
                return found[0]
        return None

    def says(self, *literals: str) -> bool:
        """Whether any of these lower-case literals occurs in the printed lines."""
        return any(literal in self.lines.words for literal in literals)

    # ------------------------------------------------------------ evidence
    def at(self, pointer: str, value: object = None) -> tuple[str, ...]:
        """The evidence for a fact: its JSON pointer, or the pasted line that holds `value`.

        An empty tuple where the fact came from a pasted text and no line shows the value.
        """
        if not self.observations.from_text:
            return (pointer,)
        if value is None or str(value) == "":
            return ()
        pointer_of_line = self.lines.pointer_of(str(value))
        return (pointer_of_line,) if pointer_of_line else ()

    # ------------------------------------------------------------ stages
    @property
    def facts(self) -> Facts:
        """The facts."""
        return self.observations.facts

    def stage(self, name: str, subject: str | None = None) -> Stage | None:
        """The stage of that name (and subject), or None."""
        return next(
            (
                stage
                for stage in self.observations.stages
                if stage.name == name and subject in (None, stage.subject)
            ),
            None,
        )

    def stages(self, name: str) -> tuple[tuple[int, Stage], ...]:
        """All stages of that name with their index, for evidence."""
        return tuple(
            (index, stage)
            for index, stage in enumerate(self.observations.stages)
            if stage.name == name
        )

    def data(self, name: str) -> Mapping[str, Json]:
        """What the stage of that name measured; empty where it did not run."""
        stage = self.stage(name)
        return stage.data if stage else {}

    @cached_property
    def works(self) -> bool | None:
        """Whether torch can use a GPU here, by its stages or as the text states; None unknown."""
        if matmul := [stage for _, stage in self.stages("matmul") if stage.subject != "host"]:
            return all(stage.status == "passed" for stage in matmul)
        if self.observations.backend_asked == "cpu":
            return None  # nobody asked for a GPU, so none was tried
        if (device := self.stage("device")) and device.status in ("passed", "failed", "crashed"):
            return device.status == "passed" and self.observations.backend != "cpu"
        available = self.data("import").get("is_available")
        if isinstance(available, bool):
            return available
        if self.hit("cuda_available_false"):
            return False
        return True if self.hit("cuda_available_true") else None

    # ------------------------------------------------------------ the target and its packages
    @cached_property
    def interpreter(self) -> Interpreter | None:
        """The chosen interpreter."""
        return next((item for item in self.facts.interpreters if item.chosen), None)

    @cached_property
    def python(self) -> Version:
        """The target's Python version, () if not known."""
        told = self.data("interpreter").get("version")
        found = self.interpreter.version if self.interpreter else None
        return version(told if isinstance(told, str) else found)

    @cached_property
    def torch(self) -> Torch | None:
        """The target's torch: from its import, else from files or text, else from the packages."""
        if self.data("import").get("version"):
            return _torch_of_import(self.data("import"))
        if self.interpreter and self.interpreter.torch and self.interpreter.torch.version:
            return self.interpreter.torch
        if package := self.package("torch"):
            return Torch(version=package.version, known_from="packages")
        return None

    @cached_property
    def torch_version(self) -> Version:
        """The numbers of torch's version, () if not known."""
        return version(self.torch.version) if self.torch else ()

    @cached_property
    def torch_build(self) -> str | None:
        """What torch was built for, as the wheel's tag says it: cu130, rocm6.4, cpu."""
        torch = self.torch
        if not torch:
            return None
        if torch.build:
            return torch.build
        if torch.version and (tag := _BUILD_TAG.search(torch.version)):
            return tag.group(1)
        if torch.hip_version:
            return "rocm" + ".".join(torch.hip_version.split(".")[:2])
        if torch.cuda_version:
            return "cu" + "".join(torch.cuda_version.split(".")[:2])
        return None

    @cached_property
    def built_for(self) -> str | None:
        """cuda, rocm, cpu, or None where it is not known."""
        build = self.torch_build or ""
        if build.startswith("cu"):
            return "cuda"
        if build.startswith(("rocm", "lw.rocm")):
            return "rocm"
        return "cpu" if build == "cpu" else None

    @cached_property
    def torch_cuda(self) -> Version:
        """The CUDA version torch was built with, () if none or not known."""
        torch = self.torch
        if torch and torch.cuda_version and (found := version(torch.cuda_version)):
            return found
        build = self.torch_build or ""
        if digits := re.fullmatch(r"cu(\d{2,3})", build):
            number = digits.group(1)
            return (int(number[:-1]), int(number[-1]))
        return ()

    @cached_property
    def torch_architectures(self) -> tuple[str, ...]:
        """What torch holds code for: as observed, else as the table of wheels says; () unknown."""
        if self.torch and self.torch.architectures:
            return self.torch.architectures
        if not self.torch_version or not self.torch_build:
            return ()
        from agent.rules.wheels import wheel

        row = wheel(self.torch_version, self.torch_build)
        if row is None or "dev" in (self.torch.version or "" if self.torch else ""):
            return ()
        return row.architectures + ((f"compute_{row.ptx.replace('.', '')}",) if row.ptx else ())

    def conflict(self, *codes: str) -> tuple[str, tuple[str, ...]] | None:
        """The detail and the evidence of the chosen interpreter's first conflict of these codes."""
        for index, item in enumerate(self.facts.interpreters):
            for place, found in enumerate(item.conflicts if item.chosen else ()):
                if found.code in codes:
                    pointer = f"/facts/interpreters/{index}/conflicts/{place}"
                    return found.detail, self.at(pointer, found.detail)
        return None

    def package(self, name: str) -> Package | None:
        """The installed package of that normalised name, the environment's own copy first."""
        found = [item for item in self.facts.packages if item.name == name]
        found.sort(key=lambda item: item.scope not in (None, "environment"))
        return found[0] if found else None

    def packages(self, prefix: str) -> tuple[Package, ...]:
        """The installed packages whose names start with `prefix`."""
        return tuple(item for item in self.facts.packages if item.name.startswith(prefix))

    def package_at(self, package: Package) -> tuple[str, ...]:
        """The evidence for a package."""
        index = self.facts.packages.index(package)
        return self.at(f"/facts/packages/{index}", package.version)

    # ------------------------------------------------------------ devices and drivers
    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """The devices of the facts."""
        return self.facts.devices

    @cached_property
    def architectures(self) -> tuple[str, ...]:
        """Capabilities ("8.6") and gfx targets of the devices, each once, in order."""
        from agent.tables.gpus import architecture_of

        found = [
            device.architecture or architecture_of(device.name or "") for device in self.devices
        ]
        return tuple(dict.fromkeys(item for item in found if item))

    @cached_property
    def capabilities(self) -> tuple[Version, ...]:
        """Compute capabilities of the NVIDIA devices."""
        return tuple(version(item) for item in self.architectures if not item.startswith("gfx"))

    @cached_property
    def gfx(self) -> tuple[str, ...]:
        """Targets of the AMD devices."""
        return tuple(item for item in self.architectures if item.startswith("gfx"))

    @cached_property
    def has_nvidia(self) -> bool:
        """Whether any trace of NVIDIA hardware was seen: a device, a PCI function, a node."""
        nodes = any(node.present and "nvidia" in node.path for node in self.facts.host.nodes)
        return self._vendor("nvidia") or nodes

    @cached_property
    def has_amd(self) -> bool:
        """Whether any trace of an AMD GPU was seen."""
        nodes = any(node.present and node.path == "/dev/kfd" for node in self.facts.host.nodes)
        return self._vendor("amd") or nodes

    def _vendor(self, vendor: str) -> bool:
        pci = any(item.vendor == vendor for item in self.facts.host.pci)
        return pci or any(device.vendor == vendor for device in self.devices)

    @cached_property
    def driver(self) -> Version:
        """NVIDIA's driver version: the kernel's, else the user space's; () if not known."""
        nvidia = self.facts.drivers.nvidia
        if nvidia is None:
            return ()
        return version(nvidia.kernel_version) or version(nvidia.userspace_version)

    @cached_property
    def driver_text(self) -> str:
        """The driver's version as printed, or ""."""
        nvidia = self.facts.drivers.nvidia
        return (nvidia and (nvidia.kernel_version or nvidia.userspace_version)) or ""

    @cached_property
    def driver_cuda(self) -> Version:
        """The highest CUDA version that the libcuda in use understands; () if not known.

        The libcuda's own answer counts (a compat library lifts it), then what the driver's
        tools print, then the table of branches.
        """
        nvidia = self.facts.drivers.nvidia
        if nvidia is None:
            return ()
        told = version(nvidia.cuda_version) or version(nvidia.nvml_cuda_version)
        if told or not self.driver:
            return told
        return version(BRANCHES.get(self.driver[0]))

    # ------------------------------------------------------------ place
    @cached_property
    def place(self) -> Place:
        """Where a remedy would be typed."""
        system = (self.facts.host.system or "").lower()
        name = (self.facts.host.os_name or "").lower()
        if system == "wsl" or "wsl" in name or self.facts.host.virtualization == "wsl":
            return "wsl"
        if system == "windows" or "windows" in name:
            return "windows"
        kind = self.facts.container.kind
        if kind and kind != "none":
            return "container"
        return "bare" if kind == "none" else "unknown"

    @property
    def in_container(self) -> bool:
        """Whether the observations come from inside a container."""
        kind = self.facts.container.kind
        return bool(kind and kind != "none")

    def env(self, name: str) -> str | None:
        """The value of an environment variable of the process, or None."""
        return next((item.value for item in self.facts.environment if item.name == name), None)

    def env_at(self, name: str) -> tuple[str, ...]:
        """The evidence for an environment variable."""
        for index, item in enumerate(self.facts.environment):
            if item.name == name:
                return self.at(f"/facts/environment/{index}", item.value)
        return ()

    @cached_property
    def values(self) -> dict[str, str]:
        """Values that any text may name."""
        known = {
            "torch": self.torch.version if self.torch else None,
            "build": self.torch_build,
            "torch_cuda": ".".join(map(str, self.torch_cuda[:2])),
            "driver": self.driver_text,
            "driver_cuda": ".".join(map(str, self.driver_cuda[:2])),
            "gpu": next((device.name for device in self.devices if device.name), None),
            "architecture": ", ".join(self.architectures),
            "python": ".".join(map(str, self.python[:2])),
            "python_path": self.interpreter.path if self.interpreter else None,
        }
        return {name: value for name, value in known.items() if value}


def _torch_of_import(data: Mapping[str, Json]) -> Torch:
    def text(key: str) -> str | None:
        value = data.get(key)
        return str(value) if value else None

    return Torch(
        version=text("version"),
        build="cpu" if data.get("built_for") == "cpu" else None,
        cuda_version=text("cuda"),
        hip_version=text("hip"),
        architectures=tuple(str(item) for item in data.get("architectures") or ()),
        cudnn_version=text("cudnn"),
        nccl_version=text("nccl"),
        cxx11_abi=data.get("cxx11_abi") if isinstance(data.get("cxx11_abi"), bool) else None,
        path=text("path"),
        known_from="import",
    )


_BUILD_TAG = re.compile(r"\+(?:lw\.)?(cu\d{2,3}|rocm[\d.]+|cpu)\b")
