"""All rules, in one visible tuple; the order is of no importance."""

from __future__ import annotations

from agent.rules import (
    amd,
    build,
    companions,
    container,
    cuda_driver,
    cudalibs,
    device,
    driver,
    hardware,
    limits,
    loader,
    memory,
    multi,
    process,
    python,
    target,
    toolchain,
)
from agent.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    *amd.RULES,
    *build.RULES,
    *companions.RULES,
    *container.RULES,
    *cuda_driver.RULES,
    *cudalibs.RULES,
    *device.RULES,
    *driver.RULES,
    *hardware.RULES,
    *limits.RULES,
    *loader.RULES,
    *memory.RULES,
    *multi.RULES,
    *process.RULES,
    *python.RULES,
    *target.RULES,
    *toolchain.RULES,
)
