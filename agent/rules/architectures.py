"""Whether torch holds code for the GPUs at hand, from what is observed and from the tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agent.rules.case import Case
from agent.rules.versions import EMBEDDED, Version, covers, newest, version
from agent.rules.wheels import default_cuda, default_wheel
from agent.tables.drivers import CAPABILITIES
from agent.tables.wheels import FIRST_RELEASES

# Wordings: torch says that it has no code for a GPU; a launch ended for want of code.
CAPABILITY_WARNINGS = (
    "capability_not_compatible",
    "torch_lacks_kernels",
    "found_gpu_of_capability",
)
NO_KERNEL = ("no_kernel_image", "invalid_device_function")


@dataclass(frozen=True, slots=True)
class Gap:
    """A GPU that the build has no code for; `newer` than everything it holds, or older."""

    capability: Version
    newer: bool
    guessed: bool = False  # torch's build was taken from its release


def targets_of(case: Case) -> tuple[str, ...]:
    """What torch holds code for: by its own warning or list, else by the table; () unknown."""
    if hit := case.hit("supported_capabilities"):
        # Where torch itself calls the GPU incompatible, old PTX in the list is no help either.
        kinds = "sm" if case.hit("capability_not_compatible") else "sm|compute"
        return tuple(re.findall(rf"(?:{kinds})_\d+[af]?", hit.group(1)))
    return case.torch_architectures or _targets_of_release(case)


def _targets_of_release(case: Case) -> tuple[str, ...]:
    """What the release's default build holds code for, where the build is not known."""
    row = default_wheel(case.torch_version) if _release_only(case) else None
    if row is None:
        return ()
    return row.architectures + ((f"compute_{row.ptx.replace('.', '')}",) if row.ptx else ())


def capabilities_of(case: Case) -> tuple[Version, ...]:
    """The capabilities at hand: the one that torch complains about, else those of the devices."""
    named: list[Version] = []
    for hit in case.hits("capability_not_compatible"):
        digits = hit.group(1)
        named.append((int(digits[:-1]), int(digits[-1])))
    named += [version(hit.group(3)) for hit in case.hits("found_gpu_of_capability")]
    return tuple(dict.fromkeys(named)) or case.capabilities


def gap_of(case: Case) -> Gap | None:
    """The first GPU that torch's build does not cover; None where all are, or it is not known."""
    targets = targets_of(case)
    guessed = _release_only(case) and not case.hits("supported_capabilities")
    for capability in capabilities_of(case):
        if len(capability) < 2:
            continue
        if targets:
            if not covers(targets, capability):
                top = newest(targets)
                return Gap(capability, bool(top) and capability > top, guessed)
        elif found := _gap_of_toolkit(_toolkit_of(case), capability):
            return replace(found, guessed=guessed)
        elif is_before_first_release(case.torch_version, capability):
            return Gap(capability, newer=True)
        elif (1, 3) <= case.torch_version[:2] < (2, 0) and capability < (3, 7):
            return Gap(capability, newer=False)  # binaries from 1.3 start at 3.7
    return None


def _toolkit_of(case: Case) -> Version:
    """Torch's CUDA; where only the release is known and a launch failed, its default build's."""
    return default_cuda(case.torch_version) if _release_only(case) else case.torch_cuda


def _release_only(case: Case) -> bool:
    """Whether a launch failed for want of code and torch is known by its release alone."""
    if case.torch is None or case.torch_build or not case.hits(*NO_KERNEL):
        return False
    return re.fullmatch(r"[\d.]+", case.torch.version or "") is not None


def covered(case: Case) -> bool:
    """Whether torch is known to hold code for every GPU at hand."""
    targets, capabilities = targets_of(case), capabilities_of(case)
    if not targets or not capabilities:
        return False
    return all(covers(targets, capability) for capability in capabilities)


def in_torch(case: Case) -> bool:
    """Whether the launch that failed is named as one of torch's own sources."""
    return case.says("aten/src/thc", "aten/src/aten/native", "aten\\src\\aten")


def is_embedded(case: Case) -> bool:
    """Whether the GPU is an embedded one (Jetson)."""
    if any(capability[:2] in EMBEDDED for capability in capabilities_of(case)):
        return True
    return case.says("jetson", "jetpack", "-tegra", "l4t", "nvgpu")


def range_of_toolkit(cuda: Version) -> tuple[Version, Version] | None:
    """The lowest and the highest capability that a CUDA version can make code for."""
    known = [found for first, found in sorted(CAPABILITIES.items()) if first <= cuda[:2]]
    return known[-1] if cuda and known else None


def is_before_first_release(torch: Version, capability: Version) -> bool:
    """Whether this torch release is older than the first one with code for such a GPU."""
    first = [release for lowest, release in FIRST_RELEASES if capability >= lowest]
    return bool(torch and first) and torch[:2] < first[-1]


def within_toolkit(case: Case) -> bool:
    """Whether torch's CUDA could make code for every GPU at hand, where its list is not known."""
    span = range_of_toolkit(case.torch_cuda)
    capabilities = capabilities_of(case)
    if span is None or not capabilities:
        return False
    return all(span[0] <= item[:2] <= span[1] for item in capabilities)


def _gap_of_toolkit(cuda: Version, capability: Version) -> Gap | None:
    found = range_of_toolkit(cuda)
    if found is None:
        return None
    lowest, highest = found
    if capability < lowest:
        return Gap(capability, newer=False)
    if capability[0] > highest[0]:
        return Gap(capability, newer=True)
    return None
