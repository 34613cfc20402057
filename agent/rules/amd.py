"""Causes with AMD GPUs: the kernel driver, rights, amdsmi, and code for the GPU's target."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.container import boxed
from agent.rules.driver import of_amdgpu
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import torch_at
from agent.rules.versions import version
from agent.rules.wheels import wheel

# Targets of GPUs that are part of a processor.
INTEGRATED = frozenset(
    {"gfx902", "gfx909", "gfx90c", "gfx1013", "gfx1033", "gfx1035", "gfx1036", "gfx1037"}
    | {"gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}
)
_NO_GPU = ("no_hip_gpus", "no_cuda_gpus", "cuda_available_false")


def is_amd(case: Case) -> bool:
    """Whether the report is about AMD's software or hardware."""
    return (
        case.has_amd
        or case.built_for == "rocm"
        or case.facts.drivers.amd is not None
        or case.says(
            "rocm", "hip error", "hiperror", "amdgpu", "/dev/kfd", "hip gpus", "miopen", "hiprtc"
        )
    )


def _amdsmi_at(case: Case) -> tuple[str, ...]:
    amd = case.facts.drivers.amd
    asked = amd and amd.amdsmi and not case.observations.from_text
    return ("/facts/drivers/amd/amdsmi",) if asked else ()


# ---------------------------------------------------------------- amdsmi
def amdsmi_library_not_found(case: Case) -> Diagnosis | None:
    """The Python binding cannot find libamd_smi.so."""
    hits = case.hits("amdsmi_library_missing")
    if not hits:
        return None
    return Diagnosis(weight=90, hits=hits, evidence=_amdsmi_at(case))


def amdsmi_version_mismatch(case: Case) -> Diagnosis | None:
    """Binding and library are of different ROCm releases."""
    hits = case.hits("amdsmi_symbol_missing")
    if not hits:
        return None
    return Diagnosis(weight=90, hits=hits, evidence=_amdsmi_at(case))


def duplicate_amdsmi_libraries(case: Case) -> Diagnosis | None:
    """Two copies of libamd_smi are loaded and the wrong one answers."""
    if not case.says("amd_smi", "amdsmi"):
        return None
    hits = case.hits("amdsmi_two_copies")
    none = case.hits("amdsmi_sees_none")
    folders = {hit.group(1) for hit in case.hits("amdsmi_file")}
    mapped = {
        item.path
        for item in case.facts.libraries
        if item.soname.startswith("libamd_smi.so") and item.seen_by == "mapped"
    }
    if case.hits("amdsmi_library_missing", "amdsmi_symbol_missing", "amdsmi_name_undefined"):
        return None
    if hits and (none or len(folders) > 1):
        return Diagnosis(weight=91, hits=(*hits, *none))
    if none and (len(folders) > 1 or len(mapped) > 1):
        return Diagnosis(weight=88, hits=(*none, *case.hits("amdsmi_file")))
    if hits:
        return Diagnosis(weight=82, hits=hits)
    beside = case.says("amdsmi is installed", "install amdsmi", "amdsmi is importable")
    if none and (beside or (case.package("amdsmi") and case.built_for == "rocm")):
        return Diagnosis(weight=74 if beside else 66, hits=none)
    return None


def pynvml_breaks_rocm_torch(case: Case) -> Diagnosis | None:
    """pynvml in a ROCm environment sends torch down a path that needs amdsmi."""
    hits = case.hits("amdsmi_name_undefined")
    pynvml = case.hits("pynvml_installed")
    package = case.package("nvidia-ml-py") or case.package("pynvml")
    if hits:
        weight = 92 if pynvml or package else 82
        return Diagnosis(weight=weight, hits=(*hits, *pynvml))
    mixed = case.built_for == "rocm" and (pynvml or package)
    broken = case.hits("nvml_library_missing")
    if mixed and broken and not case.works and case.says("torch"):
        return Diagnosis(weight=66, hits=(*broken, *pynvml))
    return None


# ---------------------------------------------------------------- the kernel driver and rights
def kfd_driver_not_loaded(case: Case) -> Diagnosis | None:
    """amdgpu or kfd is not loaded for the running kernel, so /dev/kfd is absent."""
    if case.place == "wsl" or case.works:
        return None
    hits = case.hits("kfd_missing", "daemon_lacks_device")
    resources = case.hits("hsa_out_of_resources")
    ours = case.says("dkms/amdgpu", "loading new amdgpu") and not case.says("nvidia")
    build = tuple(h for h in case.hits("module_build_failed") if ours or of_amdgpu(h))
    if hits:
        said = ("NOT loaded", "custom device")  # the engine looks at its host
        missing = not boxed(case) or any(word in hit.text for hit in hits for word in said)
        return Diagnosis(weight=90 if missing else 72, hits=(*hits, *resources, *build))
    if case.observations.from_text:
        if build:
            return Diagnosis(weight=80, hits=build)
        if resources and not case.hits("kfd_refused") and not _kfd_present(case):
            return Diagnosis(weight=66, hits=resources)
        return None
    discrete = [
        index
        for index, item in enumerate(case.facts.host.pci)
        if item.vendor == "amd" and item.class_code[:2] in ("03", "12")
    ]
    if case.facts.container.kind != "none" or not discrete or _kfd_present(case):
        return None
    if case.has_nvidia and case.built_for != "rocm":
        return None  # an idle display adapter of the board
    return Diagnosis(weight=84, evidence=tuple(f"/facts/host/pci/{index}" for index in discrete))


def _kfd_present(case: Case) -> bool:
    return any(node.path == "/dev/kfd" and node.present for node in case.facts.host.nodes)


def kfd_permission_denied(case: Case) -> Diagnosis | None:
    """/dev/kfd or the render node exists and this user may not open it."""
    hits = case.hits("kfd_refused")
    refused = tuple(
        pointer
        for index, node in enumerate(case.facts.host.nodes)
        if node.present
        and node.openable is False
        and node.error in ("EACCES", "EPERM")
        and node.path.startswith(("/dev/kfd", "/dev/dri/render"))
        for pointer in (case.at(f"/facts/host/nodes/{index}", node.path) or ("",))
    )
    if case.works or not is_amd(case):
        return None
    resources = case.hits("hsa_out_of_resources", *_NO_GPU)
    if not (hits or refused) and resources and (groups := _groups_lacking(case)):
        return Diagnosis(weight=70, hits=resources, evidence=groups)
    if not (hits or refused):
        return None
    evidence = tuple(pointer for pointer in refused if pointer)
    if not case.observations.from_text and case.built_for == "cuda" and case.has_nvidia:
        return Diagnosis(weight=30, evidence=evidence, severity="note")
    return Diagnosis(weight=88, hits=(*hits, *resources), evidence=evidence)


def _groups_lacking(case: Case) -> tuple[str, ...]:
    """Evidence that /dev/kfd is for a group and that the user's listed groups lack it."""
    mine = re.search(
        r"^[^\n]{0,40}\bgroups\b[^\n:]{0,20}(?::|\n)([^\n]{2,300})|^uid=[^\n]*groups=([^\n]*)",
        case.lines.text,
        re.MULTILINE,
    )
    for index, node in enumerate(case.facts.host.nodes):
        closed = node.path == "/dev/kfd" and node.present and (node.mode or "").endswith("0")
        if closed and node.group and mine and node.group not in re.findall(r"\w+", mine.group(0)):
            return case.at(f"/facts/host/nodes/{index}", node.group)
    return ()


def kfd_rejects_runtime(case: Case) -> Diagnosis | None:
    """/dev/kfd may be opened, and the driver rejects the request."""
    hits = case.hits("kfd_rejects")
    if not hits or case.works:
        return None
    return Diagnosis(weight=70, hits=hits, values={"value": hits[0].group(1)})


def amdgpu_hang(case: Case) -> Diagnosis | None:
    """The driver found the GPU hanging and reset it; no better cause is known."""
    hits = case.hits("amdgpu_hang")
    if not hits or case.hits("amd_ras_uncorrectable"):
        return None
    return Diagnosis(weight=50, hits=hits, severity="degrading")


def dkms_driver_wrong_for_apu(case: Case) -> Diagnosis | None:
    """The out-of-tree driver is installed where the kernel's own is required."""
    hits = case.hits("amdgpu_dkms")
    apu = _integrated_only(case)
    trouble = case.hits("hsa_fault", "hip_no_code", "no_hip_gpus", "hsa_out_of_resources")
    trouble += case.hits("out_of_memory", "cuda_unknown_error")
    if not hits or not apu:
        return None
    return Diagnosis(weight=86 if trouble else 72, hits=(*hits, *trouble))


def _integrated_only(case: Case) -> bool:
    named = set(case.gfx) or {hit.group(1) for hit in case.hits("gfx_named")}
    words = case.says("strix halo", "strix point", "ryzen ai", "8060s", "890m", "780m", " apu")
    return (bool(named) and named <= INTEGRATED) or (not named and words)


# ---------------------------------------------------------------- code for the GPU
def gfx_not_in_build(case: Case) -> Diagnosis | None:
    """The wheel or library has no code objects for the GPU's target."""
    if not is_amd(case):
        return None
    tensile = case.hits("rocblas_no_tensile")
    hits = case.hits("hip_no_code", "gfx_unsupported")
    hits += _cuda_worded(case)
    lacking = _target_lacking(case)
    if tensile:
        return Diagnosis(weight=91, hits=(*tensile, *hits), evidence=torch_at(case))
    if hits and lacking:
        return Diagnosis(weight=90, hits=hits, evidence=torch_at(case))
    if hits and lacking is None:
        named = any(hit.signature == "gfx_unsupported" for hit in hits)
        return Diagnosis(weight=80 if named else 76, hits=hits, evidence=torch_at(case))
    if hits:
        return Diagnosis(weight=64, hits=hits, evidence=torch_at(case))
    if lacking and not case.works and not case.observations.from_text:
        return Diagnosis(weight=72, evidence=torch_at(case))
    return None


def _cuda_worded(case: Case) -> tuple[Hit, ...]:
    """CUDA's wording of the same errors, which hipified programs keep."""
    return case.hits("no_kernel_image", "invalid_device_function") if case.has_amd else ()


def _target_lacking(case: Case) -> bool | None:
    """Whether the build's list lacks the GPU's target; None where either is not known."""
    built = case.torch_architectures
    if not built and case.torch_version and case.torch_build:
        row = wheel(case.torch_version, case.torch_build)
        built = row.architectures if row else ()
    wanted = [item for item in case.gfx if item not in INTEGRATED] or list(case.gfx)
    if not built or not wanted:
        return None
    plain = {item.split(":")[0] for item in built}
    return any(item.split(":")[0] not in plain for item in wanted)


_DISCRETE = re.compile(
    r"\b(?:device|gpu|card|agent)\W{0,3}\d[^\n]{0,40}\bRX \d{4}"
    r"|\bRX \d{4}[^\n]{0,30}\b(?:device|gpu|card)\W{0,3}\d",
    re.IGNORECASE,
)  # a discrete card that is listed with a number, as the second of two


def igpu_selected(case: Case) -> Diagnosis | None:
    """An integrated GPU is enumerated or chosen before the discrete one."""
    if not is_amd(case):
        return None
    named = set(case.gfx) | {hit.group(1) for hit in case.hits("gfx_named")}
    named -= _listed_targets(case)
    discrete = bool(named - INTEGRATED) or _DISCRETE.search(case.lines.text) is not None
    both = bool(named & INTEGRATED) and discrete
    told = case.says(
        "igpu", "integrated gpu", "integrated graphics", "apu graphics", "internal gpu"
    )
    both = both or (told and bool(case.gfx or case.devices))
    if not both or (case.hits("rocblas_no_tensile") and not told):
        return None
    failed = case.hits("hip_no_code", "hsa_fault", "out_of_memory", "gfx_unsupported")
    failed += _cuda_worded(case)
    failed += case.hits("collective_hang", "hsa_out_of_resources")
    if not failed and case.says("segmentation fault", "sigsegv", "segfault"):
        return Diagnosis(weight=76 if told else 62)
    first = [d for d in case.facts.devices if d.vendor == "amd" and d.torch_index == 0]
    chosen = bool(first) and (first[0].integrated or first[0].architecture in INTEGRATED)
    if failed:
        return Diagnosis(weight=88 if told or chosen else 78, hits=failed)
    if chosen and not case.observations.from_text:
        return Diagnosis(weight=62, severity="degrading", evidence=("/facts/devices",))
    if told and case.says(
        "device 0", "gpu 0", "cuda:0", "first", "instead of", "picks", "selected"
    ):
        return Diagnosis(weight=62)
    return None


def _listed_targets(case: Case) -> set[str]:
    """Targets that a library lists as its own files, which no GPU here need have."""
    return set(re.findall(r"TensileLibrary_lazy_(gfx\w+?)\.dat|(?:lib|_)(gfx\w+)\.(?:co|hsaco)",
                          case.lines.text) and [
        name
        for pair in re.findall(
            r"TensileLibrary\w*_(gfx[0-9a-f]+)\.dat|_(gfx[0-9a-f]+)\.(?:co|hsaco)", case.lines.text
        )
        for name in pair
        if name
    ])  # fmt: skip


def hipblaslt_unsupported_arch(case: Case) -> Diagnosis | None:
    """hipBLASLt has no kernels for the GPU; torch falls back to hipBLAS by itself."""
    hits = case.hits("hipblaslt_unsupported")
    if not hits:
        return None
    return Diagnosis(weight=86, hits=hits)


# ---------------------------------------------------------------- pieces that are missing
def rocm_dev_headers_missing(case: Case) -> Diagnosis | None:
    """Headers that a kernel compiled at run time needs are not installed."""
    hits = case.hits("rocm_header_missing")
    named = hits and hits[0].group(1).startswith(("hip", "roc", "miopen", "rccl", "amd_comgr"))
    if not (named or is_amd(case)):
        return None
    if not hits:
        plain = case.hits("miopen_header_missing")
        found = {"library": plain[0].group(1)} if plain else {}
        return Diagnosis(weight=72, hits=plain, values=found) if plain else None
    return Diagnosis(weight=90, hits=hits, values={"library": hits[0].group(1)})


def rocm_device_package_missing(case: Case) -> Diagnosis | None:
    """Multi-arch ROCm wheels are installed without the package of the GPU's target."""
    multi = case.hits("rocm_device_package")
    here = {hit.group(1) for hit in case.hits("rocm_device_package_here")}
    missing = case.hits("rocm_device_files_missing")
    failed = case.hits("hip_no_code", "gfx_unsupported", "rocblas_no_tensile")
    packages = {item.name for item in case.facts.packages}
    if any(name.startswith(("rocm-sdk", "amd-torch")) for name in packages):
        here |= {name.rsplit("-", 1)[-1] for name in packages if re.search(r"-device-gfx", name)}
        multi = multi or failed
    torch = version(case.torch.version if case.torch else None)
    sdk = bool(multi) or "rocm-sdk-core" in packages
    if not sdk and not (missing and case.says("rocm", "gfx")):
        return None
    wanted = set(case.gfx)
    covered = bool(wanted and wanted <= here) or "all" in here
    if missing and multi:
        return Diagnosis(weight=92, hits=(*missing, *failed))
    if missing:
        files = any("kpack" in hit.text for hit in missing)
        return Diagnosis(weight=91 if files else 76, hits=(*missing, *failed))
    if failed and sdk and not covered and torch is not None:
        weight = 88 if wanted or here else 78
        return Diagnosis(weight=weight, hits=(*failed, *multi))
    return None


def partition_not_enumerated(case: Case) -> Diagnosis | None:
    """Partitions of an MI300 exist and a layer above does not list them."""
    hits = case.hits("partition_wording")
    lacking = case.hits("partition_not_listed")
    instinct = case.says("mi300", "mi325", "mi350", "mi355", "mi308", "gfx942", "gfx950")
    kinds = {d.partition.compute_mode for d in case.facts.devices if d.partition}
    cut = bool({str(kind).lower() for kind in kinds if kind} & {"cpx", "dpx", "qpx", "tpx"})
    if not instinct or not (hits or cut):
        return None
    if lacking:
        return Diagnosis(weight=86, hits=(*hits, *lacking))
    if case.observations.from_text:
        return None
    expected = {"cpx": 8, "qpx": 4, "tpx": 3, "dpx": 2}
    cards = sum(item.vendor == "amd" for item in case.facts.host.pci)
    mode = next((str(kind).lower() for kind in kinds if kind), "")
    listed = sum(device.vendor == "amd" for device in case.facts.devices)
    if cards and mode in expected and 0 < listed < cards * expected[mode]:
        return Diagnosis(weight=70, evidence=("/facts/devices",), severity="degrading")
    return None


RULES: tuple[Rule, ...] = (
    Rule(
        code="amdsmi-library-not-found",
        severity="blocking",
        who="renter",
        source="PyPI amdsmi 7.0.2: amdsmi_wrapper.py; rocm.docs.amd.com, AMD SMI install",
        find=amdsmi_library_not_found,
    ),
    Rule(
        code="amdsmi-version-mismatch",
        severity="blocking",
        who="renter",
        source="github.com/ROCm/amdsmi/issues/186; amdsmi_wrapper.py binds every symbol on import",
        find=amdsmi_version_mismatch,
    ),
    Rule(
        code="duplicate-amdsmi-libraries",
        severity="blocking",
        who="renter",
        source="github.com/pytorch/pytorch/issues/186516; ROCm/rocm-systems pull 5303",
        find=duplicate_amdsmi_libraries,
        explains=("visible-devices-wrong-index",),
    ),
    Rule(
        code="pynvml-breaks-rocm-torch",
        severity="blocking",
        who="renter",
        source="github.com/pytorch/pytorch/issues/133259, pull 175077",
        find=pynvml_breaks_rocm_torch,
    ),
    Rule(
        code="kfd-driver-not-loaded",
        severity="blocking",
        who="provider",
        source="rocm.docs.amd.com, installation prerequisites; rocminfo.cc",
        find=kfd_driver_not_loaded,
        explains=("no-nvidia-driver-here", "kernel-module-not-built-for-running-kernel"),
    ),
    Rule(
        code="kfd-permission-denied",
        severity="blocking",
        who="either",
        source="rocm.docs.amd.com, prerequisites: groups render and video",
        find=kfd_permission_denied,
    ),
    Rule(
        code="kfd-rejects-runtime",
        severity="blocking",
        who="provider",
        source="github.com/ROCm/ROCm/issues/5379: driver and ROCm library too far apart",
        find=kfd_rejects_runtime,
    ),
    Rule(
        code="amdgpu-hang",
        severity="degrading",
        who="either",
        source="linux drivers/gpu/drm/amd: ring timeout, MES, GPU reset",
        find=amdgpu_hang,
    ),
    Rule(
        code="dkms-driver-wrong-for-apu",
        severity="blocking",
        who="provider",
        source="rocm.docs.amd.com, ROCm on Ryzen: use the inbox driver; ROCm issue 6143",
        find=dkms_driver_wrong_for_apu,
        explains=("gfx-not-in-build", "amdgpu-hang"),
    ),
    Rule(
        code="gfx-not-in-build",
        severity="blocking",
        who="renter",
        source="rocm.docs.amd.com, GPU support; rocBLAS tensile_host.cpp; lists read in the wheels",
        find=gfx_not_in_build,
        explains=("gpu-newer-than-build", "gpu-older-than-build", "hipblaslt-unsupported-arch"),
    ),
    Rule(
        code="igpu-selected",
        severity="blocking",
        who="renter",
        source="rocm.docs.amd.com, GPU isolation (HIP_VISIBLE_DEVICES); ROCm known limitations:"
        " iGPU",
        find=igpu_selected,
        explains=("gfx-not-in-build",),
    ),
    Rule(
        code="hipblaslt-unsupported-arch",
        severity="note",
        who="renter",
        source="torch aten/src/ATen/Context.cpp, preferred BLAS library",
        find=hipblaslt_unsupported_arch,
    ),
    Rule(
        code="rocm-dev-headers-missing",
        severity="blocking",
        who="renter",
        source="MIOpen, kernels compiled at run time; packages rocrand-dev, hip-dev",
        find=rocm_dev_headers_missing,
    ),
    Rule(
        code="rocm-device-package-missing",
        severity="blocking",
        who="renter",
        source="github.com/ROCm/TheRock RELEASES.md, multi-arch packages; issues 5347, 7839",
        find=rocm_device_package_missing,
        explains=("gfx-not-in-build",),
    ),
    Rule(
        code="partition-not-enumerated",
        severity="degrading",
        who="provider",
        source="rocm.docs.amd.com, MI300 partitioning; ROCm/k8s-device-plugin issues 157, 167, 184",
        find=partition_not_enumerated,
    ),
)
