"""Causes in how torch was built: for which GPU, which driver, which vendor."""

from __future__ import annotations

from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule
from agent.rules.versions import Version, covers, newest, version
from agent.rules.wheels import floor_cuda, floor_driver, recommend


def gpu_newer_than_build(case: Case) -> Diagnosis | None:
    """The GPU is newer than everything in the build's list."""
    return _architecture_gap(case, newer=True)


def gpu_older_than_build(case: Case) -> Diagnosis | None:
    """The build's list starts above the GPU, or has a hole where the GPU is."""
    return _architecture_gap(case, newer=False)


def _architecture_gap(case: Case, *, newer: bool) -> Diagnosis | None:
    hits = case.hits("capability_not_compatible", "torch_lacks_kernels", "no_kernel_image")
    uncovered = _uncovered(case)
    targets = case.torch_architectures
    if not uncovered:
        return None
    top = newest(targets)
    if newer != (bool(top) and uncovered > top):
        return None
    named = any(hit.signature != "no_kernel_image" for hit in hits)
    weight = 90 if named else 70 if hits else 45
    wheel = recommend(
        architectures=case.architectures,
        driver_cuda=case.driver_cuda,
        python=case.python,
        torch=case.torch_version,
    )
    return Diagnosis(
        weight=weight,
        hits=hits,
        evidence=_torch_evidence(case),
        values={"wheel": wheel.command} if wheel else {},
    )


def _uncovered(case: Case) -> Version:
    """The capability that the build does not cover, () where all are covered or not known."""
    capabilities = case.capabilities
    if hit := case.hit("capability_not_compatible"):
        digits = hit.group(1)
        capabilities = ((int(digits[:-1]), int(digits[-1])),)
    elif hit := case.hit("found_gpu_of_capability"):
        capabilities = (version(hit.group(3)),)
    targets = case.torch_architectures
    if not targets:
        return ()
    return next((item for item in capabilities if not covers(targets, item)), ())


def cpu_only_build(case: Case) -> Diagnosis | None:
    """The installed torch has no GPU support although a GPU is there."""
    hits = case.hits("not_compiled_with_cuda")
    if case.built_for != "cpu":
        return None
    if not (hits or case.has_nvidia or case.has_amd or case.works is False):
        return None
    return Diagnosis(weight=90 if hits else 80, hits=hits, evidence=_torch_evidence(case))


def driver_too_old_for_build(case: Case) -> Diagnosis | None:
    """The driver's CUDA is below what the build's CUDA major needs."""
    hits = case.hits("driver_too_old", "insufficient_driver")
    wanted, found = case.torch_cuda, case.driver_cuda
    if (hit := case.hit("driver_too_old")) and hit.group(1):
        number = int(hit.group(1))
        found = (number // 1000, number % 1000 // 10)
    if case.works:
        return None  # a compat library or a newer libcuda bridges the gap
    below = bool(wanted and found) and found[:2] < floor_cuda(wanted)[:2]
    if not hits and not below:
        return None
    if hits and wanted and found and not below:
        return None
    wheel = recommend(
        architectures=case.architectures,
        driver_cuda=found,
        python=case.python,
        torch=case.torch_version,
    )
    values = {"driver_cuda": ".".join(map(str, found[:2]))} if found else {}
    if wheel:
        values["wheel"] = wheel.command
    if floor := floor_driver(wanted):
        values["wanted"] = floor
    weight = 90 if hits and below else 80 if hits else 65
    return Diagnosis(
        weight=weight, hits=hits, evidence=_torch_evidence(case) + driver_at(case), values=values
    )


def cuda_wheel_on_amd(case: Case) -> Diagnosis | None:
    """A CUDA build on a machine whose only GPUs are AMD's."""
    if case.built_for != "cuda" or not case.has_amd or case.has_nvidia:
        return None
    hits = case.hits("no_nvidia_driver")
    return Diagnosis(weight=90 if hits else 80, hits=hits, evidence=_torch_evidence(case))


def _torch_evidence(case: Case) -> tuple[str, ...]:
    """Where the version and the build of torch were seen."""
    torch = case.torch
    if torch is None:
        return ()
    for index, stage in case.stages("import"):
        if stage.data.get("version"):
            return case.at(f"/stages/{index}/data/version", torch.version)
    for index, item in enumerate(case.facts.interpreters):
        if item.chosen and item.torch:
            return case.at(f"/facts/interpreters/{index}/torch/version", torch.version)
    package = case.package("torch")
    return case.package_at(package) if package else ()


def driver_at(case: Case) -> tuple[str, ...]:
    """Where the driver's version was seen."""
    if not case.driver_text:
        return ()
    nvidia = case.facts.drivers.nvidia
    name = "kernel_version" if nvidia and nvidia.kernel_version else "userspace_version"
    return case.at(f"/facts/drivers/nvidia/{name}", case.driver_text)


RULES: tuple[Rule, ...] = (
    Rule(
        code="gpu-newer-than-build",
        severity="blocking",
        who="renter",
        source="CUDA programming guide, binary compatibility; arch lists read in the wheels",
        find=gpu_newer_than_build,
    ),
    Rule(
        code="gpu-older-than-build",
        severity="blocking",
        who="renter",
        source="CUDA programming guide, binary compatibility; arch lists read in the wheels",
        find=gpu_older_than_build,
    ),
    Rule(
        code="cpu-only-build",
        severity="blocking",
        who="renter",
        source="torch.version.cuda is None; PyTorch release matrix",
        find=cpu_only_build,
    ),
    Rule(
        code="driver-too-old-for-build",
        severity="blocking",
        who="either",
        source="docs.nvidia.com/deploy/cuda-compatibility, minor-version compatibility",
        find=driver_too_old_for_build,
    ),
    Rule(
        code="cuda-wheel-on-amd",
        severity="blocking",
        who="renter",
        source="PyPI's default torch is a CUDA build; ROCm builds come from their own index",
        find=cuda_wheel_on_amd,
    ),
)
