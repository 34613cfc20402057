"""All rules, in one visible tuple; the order is of no importance."""

from __future__ import annotations

from agent.rules import (
    absent,
    amd,
    build,
    companions,
    container,
    cuda_driver,
    cudalibs,
    device,
    driver,
    extensions,
    hardware,
    limits,
    loader,
    memory,
    multi,
    order,
    process,
    python,
    speed,
    target,
    toolchain,
    wsl,
)
from agent.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    *absent.RULES,
    *amd.RULES,
    *build.RULES,
    *companions.RULES,
    *container.RULES,
    *cuda_driver.RULES,
    *cudalibs.RULES,
    *device.RULES,
    *driver.RULES,
    *extensions.RULES,
    *hardware.RULES,
    *limits.RULES,
    *loader.RULES,
    *memory.RULES,
    *multi.RULES,
    *order.RULES,
    *process.RULES,
    *python.RULES,
    *speed.RULES,
    *target.RULES,
    *toolchain.RULES,
    *wsl.RULES,
)
