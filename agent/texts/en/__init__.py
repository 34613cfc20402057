"""The English texts, one file for each topic."""

from __future__ import annotations

from collections.abc import Mapping

from agent.texts import Text
from agent.texts.en import (
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

TEXTS: Mapping[str, Text] = {
    **amd.TEXTS,
    **build.TEXTS,
    **companions.TEXTS,
    **container.TEXTS,
    **cuda_driver.TEXTS,
    **cudalibs.TEXTS,
    **device.TEXTS,
    **driver.TEXTS,
    **hardware.TEXTS,
    **limits.TEXTS,
    **loader.TEXTS,
    **memory.TEXTS,
    **multi.TEXTS,
    **process.TEXTS,
    **python.TEXTS,
    **target.TEXTS,
    **toolchain.TEXTS,
}
