"""Where facts that several rules rest on were seen: pointers for the evidence."""

from __future__ import annotations

from agent.rules.case import Case


def torch_at(case: Case) -> tuple[str, ...]:
    """Where the version and the build of torch were seen."""
    torch = case.torch
    if torch is None:
        return ()
    for index, stage in case.stages("import"):
        if stage.data.get("version"):
            return case.at(f"/stages/{index}/data/version", torch.version)
    for index, item in enumerate(case.facts.interpreters):
        if item.chosen and item.torch and item.torch.version:
            return case.at(f"/facts/interpreters/{index}/torch/version", torch.version)
    package = case.package("torch")
    return case.package_at(package) if package else ()


def driver_at(case: Case) -> tuple[str, ...]:
    """Where the NVIDIA driver's version was seen."""
    if not case.driver_text:
        return ()
    nvidia = case.facts.drivers.nvidia
    name = "kernel_version" if nvidia and nvidia.kernel_version else "userspace_version"
    return case.at(f"/facts/drivers/nvidia/{name}", case.driver_text)
