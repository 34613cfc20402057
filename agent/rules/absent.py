"""No GPU here: at which step from the slot to the program it is lost."""

from __future__ import annotations

from agent.rules.case import Case
from agent.rules.device import asked_at, cuinit_at, cuinit_code, nodes
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at

_NOTHING = ("no_nvidia_driver", "no_cuda_gpus", "smi_cannot_talk", "no_devices_found")


def _hits(case: Case) -> tuple[Hit, ...]:
    return case.hits(*_NOTHING)


def _question(case: Case, name: str) -> str | None:
    asked = case.data("driver").get("questions")
    word = asked.get(name) if isinstance(asked, dict) else None
    return word if isinstance(word, str) else None


def _loaded(case: Case) -> bool:
    nvidia = case.facts.drivers.nvidia
    modules = any(item.name == "nvidia" and item.loaded for item in case.facts.host.modules)
    return modules or bool(nvidia and nvidia.kernel_version)


def _on_pci(case: Case) -> bool:
    return any(item.vendor in ("nvidia", "amd") for item in case.facts.host.pci)


def _cards(case: Case) -> bool:
    return any(
        node.present and node.path.removeprefix("/dev/nvidia").isdigit()
        for _, node in nodes(case, "/dev/nvidia")
    )


def _bare_and_asked(case: Case) -> bool:
    """Outside containers, by a run of this agent: PCI, modules and nodes can be believed."""
    return not case.observations.from_text and case.facts.container.kind == "none"


def no_nvidia_driver_here(case: Case) -> Diagnosis | None:
    """Neither a device nor a driver: this machine, or this container, has no GPU to offer."""
    nvidia = case.facts.drivers.nvidia
    if case.works or case.has_amd or case.has_nvidia or case.facts.devices:
        return None
    if case.observations.backend_asked == "cpu" or nvidia:
        return None
    if case.observations.from_text:
        return None  # a text that is silent about a driver does not show that there is none
    if _question(case, "cuda") not in ("absent", None) or case.stage("driver") is None:
        return None
    cpu = "The installed torch is a CPU build as well." if case.built_for == "cpu" else ""
    return Diagnosis(
        weight=88,
        hits=case.hits("no_nvidia_driver", "not_compiled_with_cuda", "no_hip_gpus"),
        evidence=(*asked_at(case, "questions"), *torch_at(case)),
        values={"wheel_reason": cpu},
    )


def no_gpu_on_pci(case: Case) -> Diagnosis | None:
    """A driver is installed, and no GPU stands on the bus."""
    if not _bare_and_asked(case) or _on_pci(case) or case.facts.devices or case.works:
        return None
    if case.place == "wsl" or case.facts.host.virtualization == "gvisor":
        return None
    if not (_loaded(case) or cuinit_code(case) in (100, 999)) or case.has_nvidia:
        return None
    if any(device.integrated for device in case.facts.devices):
        return None
    return Diagnosis(
        weight=82, hits=_hits(case), evidence=(*asked_at(case, "counts"), *cuinit_at(case))
    )


def no_driver_module(case: Case) -> Diagnosis | None:
    """A GPU stands on the bus, and no driver has been loaded for it."""
    if not _bare_and_asked(case) or case.works or _loaded(case):
        return None
    free = [
        (index, item)
        for index, item in enumerate(case.facts.host.pci)
        if item.vendor == "nvidia" and item.kernel_driver not in ("nvidia", "nouveau", "vfio-pci")
    ]
    if not free:
        return None
    evidence = tuple(f"/facts/host/pci/{index}" for index, _ in free)
    return Diagnosis(weight=84, hits=_hits(case), evidence=evidence)


def gpu_given_to_vm(case: Case) -> Diagnosis | None:
    """The GPU is reserved for a virtual machine (vfio-pci), so the host cannot use it."""
    if not _bare_and_asked(case) or case.works or case.facts.devices:
        return None
    evidence = tuple(
        f"/facts/host/pci/{index}/kernel_driver"
        for index, item in enumerate(case.facts.host.pci)
        if item.vendor in ("nvidia", "amd") and item.kernel_driver == "vfio-pci"
    )
    return Diagnosis(weight=84, hits=_hits(case), evidence=evidence) if evidence else None


def no_device_node(case: Case) -> Diagnosis | None:
    """The driver is loaded, and its device nodes are missing."""
    if not _bare_and_asked(case) or case.works or not _loaded(case) or case.place == "wsl":
        return None
    known = nodes(case, "/dev/nvidia")
    control = any(node.present and node.path == "/dev/nvidiactl" for _, node in known)
    if (control and _cards(case)) or not _on_pci(case):
        return None
    return Diagnosis(weight=82, hits=_hits(case), evidence=asked_at(case, "counts"))


def no_libcuda(case: Case) -> Diagnosis | None:
    """Module and nodes are there, the driver's library for programs is not."""
    if case.observations.from_text or case.works or case.place in ("wsl", "windows"):
        return None
    if _question(case, "cuda") != "absent" or not _loaded(case) or not _cards(case):
        return None
    if case.in_container or any(
        library.soname.startswith("libcuda.so") and library.origin != "stub"
        for library in case.facts.libraries
    ):
        return None
    hits = (*_hits(case), *case.hits("libcuda_missing"))
    return Diagnosis(weight=84, hits=hits, evidence=asked_at(case, "questions"))


def devices_masked(case: Case) -> Diagnosis | None:
    """An environment variable hides every GPU from programs."""
    if case.works or not (case.facts.devices or case.has_nvidia or case.has_amd):
        return None
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        value = case.env(name)
        if value is None or value.strip() not in ("", "-1", "NoDevFiles", "none", '""', "''"):
            continue
        hits = case.hits("no_cuda_gpus", "no_hip_gpus", "no_nvidia_driver", "cuda_available_false")
        if hits or case.works is False:
            return Diagnosis(
                weight=90,
                hits=hits,
                evidence=case.env_at(name),
                values={"value": f"{name}={value}"},
            )
    return None


def gpu_not_in_driver(case: Case) -> Diagnosis | None:
    """A GPU stands on the bus that the loaded driver does not list."""
    if not _bare_and_asked(case) or not _loaded(case) or not case.facts.devices:
        return None
    counts = case.data("driver").get("counts")
    missing = case.data("driver").get("missing")
    if not isinstance(counts, dict) or not isinstance(missing, list):
        return None
    lost = [
        item
        for item in missing
        if isinstance(item, dict)
        and item.get("vendor") == "nvidia"
        and item.get("kernel_driver") == "nvidia"
    ]
    if not lost:
        return None
    addresses = ", ".join(str(item.get("address")) for item in lost)
    return Diagnosis(
        weight=82,
        hits=case.hits("adapter_init_failed"),
        evidence=asked_at(case, "missing"),
        values={"value": addresses},
    )


RULES: tuple[Rule, ...] = (
    Rule(
        code="no-nvidia-driver-here",
        severity="blocking",
        who="either",
        source="cuInit(3), torch._C._cuda_init: no libcuda.so.1, no device node, nothing on PCI",
        find=no_nvidia_driver_here,
        explains=("cpu-only-build", "no-libcuda"),
    ),
    Rule(
        code="no-gpu-on-pci",
        severity="blocking",
        who="provider",
        source="linux /sys/bus/pci; cuda.h: CUDA_ERROR_NO_DEVICE",
        find=no_gpu_on_pci,
        explains=("cpu-only-build", "no-device-node"),
    ),
    Rule(
        code="no-driver-module",
        severity="blocking",
        who="provider",
        source="NVIDIA driver README, kernel modules; /sys/bus/pci/devices/*/driver",
        find=no_driver_module,
        explains=("no-libcuda", "no-device-node"),
    ),
    Rule(
        code="gpu-given-to-vm",
        severity="blocking",
        who="provider",
        source="linux Documentation/driver-api/vfio.rst",
        find=gpu_given_to_vm,
        explains=("no-gpu-on-pci", "no-nvidia-driver-here"),
    ),
    Rule(
        code="no-device-node",
        severity="blocking",
        who="provider",
        source="NVIDIA driver README, device files; nvidia-modprobe(1)",
        find=no_device_node,
        explains=("no-libcuda", "nvidia-uvm-missing"),
    ),
    Rule(
        code="no-libcuda",
        severity="blocking",
        who="either",
        source="NVIDIA driver README, installed components: libcuda.so",
        find=no_libcuda,
    ),
    Rule(
        code="devices-masked",
        severity="blocking",
        who="renter",
        source="CUDA programming guide, CUDA_VISIBLE_DEVICES; ROCm, GPU isolation",
        find=devices_masked,
        explains=("visible-devices-wrong-index",),
    ),
    Rule(
        code="gpu-not-in-driver",
        severity="degrading",
        who="provider",
        source="linux /sys/bus/pci against nvmlDeviceGetCount",
        find=gpu_not_in_driver,
    ),
)
