"""Causes in how a container was started: no GPU asked for, half of the driver, no rights."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.device import asked_at, cuinit_at, cuinit_code, nodes
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import driver_at
from agent.rules.told import told
from agent.rules.versions import version

_STARTS = re.compile(
    r"^.{0,60}?\b(?:docker(?:-compose)?|podman|nerdctl)(?: compose)? (?:container )?run\b[^\n]*"
    r"(?:\\\n[^\n]*)*|^.{0,40}docker-compose (?:up|run)\b[^\n]*",
    re.MULTILINE,
)
_BOX = re.compile(
    r"docker|container|kubernetes|kubectl|podman|apptainer|singularity|\bgke\b|\bpods?\b"
)
_ASKS = re.compile(
    r"--gpus|--runtime[= ]?nvidia|nvidia-docker|--device[= ]|NVIDIA_VISIBLE_DEVICES|--nv\b"
    r"|nvidia\.com/gpu|driver: nvidia|capabilities: ?\[|/dev/kfd"
)


def boxed(case: Case) -> bool:
    """Whether the report is about a container, by its facts or by what it shows."""
    return case.in_container or _BOX.search(case.lines.lower) is not None


def _no_gpu(case: Case) -> tuple[Hit, ...]:
    return case.hits(
        "driver_not_detected", "no_nvidia_driver", "no_cuda_gpus", "libcuda_missing",
        "smi_cannot_talk", "cuda_available_false",
    )  # fmt: skip


def container_started_without_gpu(case: Case) -> Diagnosis | None:
    """The container was started with no GPU request: neither libraries nor nodes."""
    if kfd := _kfd_not_passed(case):
        return kfd
    hits = _no_gpu(case)
    if case.works or case.has_amd or case.built_for == "rocm" or case.place == "windows":
        return None
    named = case.hits("driver_not_detected", "smi_not_in_path")
    void = case.facts.container.nvidia_visible_devices in ("void", "none", "")
    if named and not case.hits("no_gpu_device_driver"):
        return Diagnosis(
            weight=88 if named[0].signature == "driver_not_detected" else 70, hits=(*named, *hits)
        )
    if not boxed(case):
        return None
    if case.observations.from_text:
        return _started_without(case, hits)
    seen = any(node.present for _, node in nodes(case, "/dev/nvidia"))
    asked = case.data("driver").get("questions") or {}
    if seen or asked.get("cuda") == "ok" or not case.in_container:
        return None
    loaded = case.facts.drivers.nvidia is not None or any(
        item.vendor == "nvidia" for item in case.facts.host.pci
    )
    if loaded or void or case.facts.container.nvidia_visible_devices:
        evidence = ("/facts/container/kind", *asked_at(case, "questions"))
        return Diagnosis(weight=90, hits=hits, evidence=evidence)
    return None  # nothing shows that the machine around the container has a GPU


def _kfd_not_passed(case: Case) -> Diagnosis | None:
    """AMD: the host's driver is loaded and /dev/kfd was not given to the container."""
    absent = tuple(hit for hit in case.hits("kfd_missing") if "/dev/kfd" in hit.text)
    loaded = case.says("rock module is loaded") or case.says("rock module version")
    if absent and (loaded or boxed(case)) and not case.says("not loaded"):
        return Diagnosis(weight=84 if loaded and boxed(case) else 78, hits=absent)
    return None


def _started_without(case: Case, hits: tuple[Hit, ...]) -> Diagnosis | None:
    commands = [match.group(0) for match in _STARTS.finditer(case.lines.text)]
    silent = bool(commands) and not any(_ASKS.search(text) for text in commands)
    silent = silent and not _ASKS.search(case.lines.text)
    void = case.facts.container.nvidia_visible_devices in ("void", "none")
    errors = tuple(hit for hit in hits if hit.signature != "cuda_available_false")
    if case.hits("no_gpu_device_driver", "image_wants_newer_driver", "host_driver_library_missing"):
        return None
    if (silent or void or told(case, "no-gpu-request")) and hits:
        return Diagnosis(weight=86, hits=hits)
    nothing = tuple(hit for hit in errors if hit.signature == "no_nvidia_driver")
    if nothing and case.in_container and not case.hits("utility_only") and not _half(case):
        look = ("how the container was started: --gpus all, a compose reservation, a pod's limits",)
        return Diagnosis(weight=60, hits=hits, look_at=look)
    return None


def _half(case: Case) -> bool:
    """Whether a part of the driver reached the container: NVML, nvidia-smi or a node."""
    libraries = {item.soname for item in case.facts.libraries}
    return (
        any(name.startswith("libnvidia-ml") for name in libraries)
        or bool(case.facts.container.mounted_nvidia_libraries)
        or (told(case, "smi-works") and not case.says("on the host", "on host"))
        or any(node.present for _, node in nodes(case, "/dev/nvidia"))
    )


def container_toolkit_missing(case: Case) -> Diagnosis | None:
    """The host's engine has no NVIDIA runtime."""
    hits = case.hits("no_gpu_device_driver")
    if not hits:
        return None
    return Diagnosis(weight=90, hits=hits)


def host_driver_missing_for_container(case: Case) -> Diagnosis | None:
    """The container toolkit finds no driver on the host."""
    hits = case.hits("host_driver_library_missing")
    if not hits or case.place == "wsl" or case.hits("nvml_version_mismatch"):
        return None
    return Diagnosis(weight=86, hits=hits)


def container_compute_capability_missing(case: Case) -> Diagnosis | None:
    """The container has only the utility capability: nvidia-smi works, libcuda is not there."""
    hits = _no_gpu(case)
    asked = case.facts.container.nvidia_driver_capabilities or ""
    named = case.hits("utility_only")
    lacks = bool(asked) and not re.search(r"compute|all", asked)
    missing = _lacks_libcuda(case)
    if case.works or not boxed(case):
        return None
    if (named or lacks) and (hits or missing):
        evidence = case.at("/facts/container/nvidia_driver_capabilities", asked) if lacks else ()
        return Diagnosis(weight=92, hits=(*named, *hits), evidence=evidence)
    if missing and _half(case) and not case.observations.from_text:
        return Diagnosis(weight=78, hits=hits, evidence=asked_at(case, "questions"))
    if case.hits("libcuda_missing") and _half(case) and case.observations.from_text:
        return Diagnosis(weight=66, hits=hits)
    if case.hits("no_nvidia_driver", "libcuda_missing") and told(case, "smi-works-inside"):
        return Diagnosis(weight=74, hits=hits)
    return None


def _lacks_libcuda(case: Case) -> bool:
    if case.observations.from_text:
        return any(
            "libcuda.so" in gap.why and "missing" in gap.why for gap in case.observations.gaps
        )
    asked = case.data("driver").get("questions") or {}
    return asked.get("cuda") == "absent" and not any(
        item.soname.startswith("libcuda.so") and item.origin != "stub"
        for item in case.facts.libraries
    )


def container_libcuda_not_on_loader_path(case: Case) -> Diagnosis | None:
    """libcuda is mounted, in a directory that the image's loader does not search."""
    if case.works or not boxed(case) or case.place == "wsl":
        return None
    off = tuple(
        pointer
        for index, item in enumerate(case.facts.libraries)
        if item.soname.startswith("libcuda.so") and item.on_loader_path is False
        and item.origin not in ("stub", "compat") and "/compat" not in (item.path or "")
        and "stubs" not in (item.path or "")
        for pointer in (case.at(f"/facts/libraries/{index}", item.path) or ("",))
    )  # fmt: skip
    mounted = case.says("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib")
    hits = (*_no_gpu(case), *case.hits("nvml_library_missing"))
    searched = "/usr/local/nvidia" in (case.env("LD_LIBRARY_PATH") or "")
    gke = case.says("gke", "google kubernetes") or case.facts.container.provider == "gke"
    if searched and not off:
        return None
    if off:
        evidence = tuple(pointer for pointer in off if pointer)
        return Diagnosis(weight=90, hits=hits, evidence=evidence)
    if mounted and (hits or case.says("command not found")):
        return Diagnosis(weight=86 if gke else 78, hits=hits)
    if mounted and gke:
        return Diagnosis(weight=76, hits=hits)
    if gke and case.hits("libcuda_missing"):
        return Diagnosis(weight=74, hits=hits)
    return None


def container_gpu_access_revoked(case: Case) -> Diagnosis | None:
    """The device cgroup of a running container was rewritten; it lost the GPU."""
    hits = case.hits("nvml_unknown_error")
    refused = tuple(
        pointer
        for index, node in nodes(case, "/dev/nvidia")
        if node.present and node.error == "EPERM" and case.in_container
        for pointer in case.at(f"/facts/host/nodes/{index}", node.path)
    )
    if case.place == "wsl" or case.works:
        return None
    reload = case.hits("daemon_reload")
    if refused:
        return Diagnosis(weight=88, hits=(*hits, *reload), evidence=refused)
    if not hits:
        lost = case.hits("no_cuda_gpus", "cuda_unknown_error", "no_nvidia_driver", "os_call_failed")
        if any("daemon" in hit.text for hit in reload) and lost and boxed(case):
            return Diagnosis(weight=80, hits=(*reload, *lost))
        return None
    if reload:
        return Diagnosis(weight=90, hits=(*hits, *reload))
    if boxed(case):
        return Diagnosis(weight=84 if told(case, "worked-before") else 72, hits=hits)
    return Diagnosis(weight=50, hits=hits)


def container_render_group_missing(case: Case) -> Diagnosis | None:
    """The nodes are in the container and the process lacks the render group."""
    if case.works or not boxed(case):
        return None
    hits = case.hits("kfd_refused")
    none = case.hits("no_hip_gpus", "no_cuda_gpus")
    refused = tuple(
        pointer
        for index, node in enumerate(case.facts.host.nodes)
        if node.present and node.openable is False
        and node.path.startswith(("/dev/kfd", "/dev/dri/render"))
        for pointer in (case.at(f"/facts/host/nodes/{index}", node.path) or ("",))
    )  # fmt: skip
    amd = case.has_amd or case.built_for == "rocm" or case.says("/dev/kfd", "rocm")
    video_only = case.says("group-add video", "group-add=video") and not re.search(
        r"group-add[ =]\"?(?:render|\d+|keep-groups)", case.lines.text
    )
    owned = re.search(
        r"/dev/(?:kfd|dri)\S*[^\n]{0,40}group (?:render|\d+|nogroup)", case.lines.text
    )
    if not amd or case.place == "wsl":
        return None
    evidence = tuple(pointer for pointer in refused if pointer)
    if refused and (hits or none or not case.observations.from_text):
        return Diagnosis(weight=90, hits=(*hits, *none), evidence=evidence)
    if hits:
        return Diagnosis(weight=84, hits=(*hits, *none), evidence=evidence)
    if (video_only or owned) and (none or case.hits("cuda_available_false")):
        lines = case.hits("no_hip_gpus", "no_cuda_gpus", "cuda_available_false")
        return Diagnosis(weight=84, hits=lines)
    return None


def container_cdi_stale_device_major(case: Case) -> Diagnosis | None:
    """A saved CDI file holds an old major number: the node in the container is dead."""
    hits = (*case.hits("cuda_unknown_error"), *case.hits("no_cuda_gpus"))
    spec = case.hits("cdi_spec")
    majors = case.says("major number", "major:", "major ") or bool(
        re.search(r"\bmajor\b", case.lines.lower)
    )
    code = cuinit_code(case)
    if gone := case.hits("cdi_node_absent"):
        return Diagnosis(weight=78, hits=(*gone, *spec))
    if case.observations.from_text:
        if spec and (hits or case.hits("uvm_absent")) and (majors or case.says("cdi generate")):
            return Diagnosis(weight=90, hits=(*hits, *spec))
        if spec and case.hits("cuda_unknown_error"):
            return Diagnosis(weight=70, hits=(*hits, *spec))
        return None
    dead = tuple(
        f"/facts/host/nodes/{index}"
        for index, node in nodes(case, "/dev/nvidia-uvm")
        if node.present and node.error in ("ENXIO", "ENODEV")
    )
    if dead and case.in_container and (hits or code not in (0, None)):
        return Diagnosis(weight=88, hits=hits, evidence=(*dead, *cuinit_at(case)))
    return None


def driver_too_old_for_image(case: Case) -> Diagnosis | None:
    """The host's driver is older than the image demands."""
    hits = case.hits("image_wants_newer_driver")
    if not hits:
        return None
    wanted = version(hits[0].group(1)) if hits[0].group(1).startswith("cuda") else ()
    found = case.driver_cuda
    if wanted and found and found[:2] >= wanted[:2]:
        return None  # another host's refusal: this driver is new enough
    values = {"wanted": hits[0].group(1) or hits[0].group(2)}
    return Diagnosis(
        weight=90,
        hits=(*hits, *case.hits("no_gpu_device_driver")),
        evidence=driver_at(case),
        values={name: value for name, value in values.items() if value},
    )


def _building(case: Case) -> bool:
    return bool(case.hits("build_killed")) or case.says(
        "nvcc",
        "cicc",
        "cc1plus",
        "ninja: build",
        "building wheel",
        "setup.py build",
        "cmake --build",
    )


def container_memory_limit(case: Case) -> Diagnosis | None:
    """The cgroup's memory limit killed the process."""
    workload = case.data("workload").get("ended")
    by = workload.get("by") if isinstance(workload, dict) else None
    index = next((i for i, _ in case.stages("workload")), 0)
    if by == "oom-killer":
        return Diagnosis(weight=92, evidence=(f"/stages/{index}/data/ended",))
    hits = case.hits("killed_for_memory", "oom_of_cgroup")
    died = case.hits("exit_137")
    if hits:
        return Diagnosis(weight=66 if _building(case) else 90, hits=(*hits, *died))
    if not died or _building(case) or case.hits("out_of_memory"):
        return None
    code = [hit for hit in died if "137" in hit.text]
    if code and (boxed(case) or case.says("memory", "oom", "ram")):
        look = ("memory.events (oom_kill) of the control group, or kubectl describe pod",)
        return Diagnosis(weight=70, hits=died, look_at=look)
    if case.hits("oom_of_host"):
        return Diagnosis(weight=60, hits=(*died, *case.hits("oom_of_host")))
    return None


RULES: tuple[Rule, ...] = (
    Rule(
        code="container-started-without-gpu",
        severity="blocking",
        who="either",
        source="docs.docker.com, GPU access; NVIDIA container toolkit: NVIDIA_VISIBLE_DEVICES",
        find=container_started_without_gpu,
        explains=(
            "no-nvidia-driver-here",
            "cpu-only-build",
            "kfd-driver-not-loaded",
        ),
    ),
    Rule(
        code="container-toolkit-missing",
        severity="blocking",
        who="provider",
        source="NVIDIA container toolkit, installation and troubleshooting",
        find=container_toolkit_missing,
        explains=("container-started-without-gpu",),
    ),
    Rule(
        code="host-driver-missing-for-container",
        severity="blocking",
        who="provider",
        source="libnvidia-container, initialization errors; toolkit prerequisites",
        find=host_driver_missing_for_container,
    ),
    Rule(
        code="container-compute-capability-missing",
        severity="blocking",
        who="either",
        source="NVIDIA container toolkit, driver capabilities",
        find=container_compute_capability_missing,
        explains=("container-started-without-gpu", "no-nvidia-driver-here", "no-libcuda"),
    ),
    Rule(
        code="container-libcuda-not-on-loader-path",
        severity="blocking",
        who="either",
        source="cloud.google.com, GKE: CUDA-X libraries under /usr/local/nvidia/lib64; ld.so(8)",
        find=container_libcuda_not_on_loader_path,
        explains=("container-started-without-gpu", "container-compute-capability-missing"),
    ),
    Rule(
        code="container-gpu-access-revoked",
        severity="blocking",
        who="provider",
        source="NVIDIA container toolkit, troubleshooting: containers losing access to GPUs",
        find=container_gpu_access_revoked,
        explains=("container-started-without-gpu", "nvidia-device-permission"),
    ),
    Rule(
        code="container-render-group-missing",
        severity="blocking",
        who="either",
        source="rocm.docs.amd.com, running ROCm Docker containers: --group-add",
        find=container_render_group_missing,
        explains=("kfd-permission-denied",),
    ),
    Rule(
        code="container-cdi-stale-device-major",
        severity="blocking",
        who="provider",
        source="NVIDIA container toolkit, CDI; linux Documentation/admin-guide/devices (dynamic)",
        find=container_cdi_stale_device_major,
        explains=("nvidia-uvm-missing",),
    ),
    Rule(
        code="driver-too-old-for-image",
        severity="blocking",
        who="either",
        source="libnvidia-container, NVIDIA_REQUIRE_CUDA; CUDA compatibility guide",
        find=driver_too_old_for_image,
        explains=("container-toolkit-missing",),
    ),
    Rule(
        code="container-memory-limit",
        severity="blocking",
        who="either",
        source="linux Documentation/admin-guide/cgroup-v2.rst, memory.max; Kubernetes OOMKilled",
        find=container_memory_limit,
    ),
)
