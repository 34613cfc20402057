"""The English texts, one file for each topic."""

from __future__ import annotations

from collections.abc import Mapping

from agent.texts import Text
from agent.texts.en import (
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

TEXTS: Mapping[str, Text] = {
    **absent.TEXTS,
    **amd.TEXTS,
    **build.TEXTS,
    **companions.TEXTS,
    **container.TEXTS,
    **cuda_driver.TEXTS,
    **cudalibs.TEXTS,
    **device.TEXTS,
    **driver.TEXTS,
    **extensions.TEXTS,
    **hardware.TEXTS,
    **limits.TEXTS,
    **loader.TEXTS,
    **memory.TEXTS,
    **multi.TEXTS,
    **order.TEXTS,
    **process.TEXTS,
    **python.TEXTS,
    **speed.TEXTS,
    **target.TEXTS,
    **toolchain.TEXTS,
    **wsl.TEXTS,
}
