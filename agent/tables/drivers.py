# ruff: noqa: E501  (a row stays on one line)
"""Which driver runs which CUDA: toolkits with their drivers, driver branches, compiler targets.

A wheel needs only the floor of its CUDA major; the exact driver matters for PTX and for new calls.
"""

from __future__ import annotations

from typing import NamedTuple


class Toolkit(NamedTuple):
    """One CUDA toolkit release."""

    cuda: str  # 12.8
    driver: str  # the driver it was published with; "" is not known
    floor: str  # the oldest driver that runs programs of this CUDA major
    targets: tuple[str, ...]  # what its ptxas accepts; empty is not known
    source: str


_SOURCE = (
    "docs.nvidia.com/deploy/cuda-compatibility and the toolkit release notes; "
    "targets: ptxas --help of the nvidia-cuda-nvcc wheels"
)


def _toolkit(cuda: str, driver: str, floor: str, targets: str) -> Toolkit:
    return Toolkit(cuda, driver, floor, tuple(f"sm_{item}" for item in targets.split()), _SOURCE)


TOOLKITS: tuple[Toolkit, ...] = (
    _toolkit(
        "13.5",
        "",
        "580.65.06",
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121 121a 121f",
    ),
    _toolkit(
        "13.4",
        "615.71.09",
        "580.65.06",
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121 121a 121f",
    ),
    _toolkit(
        "13.3",
        "610.43.02",
        "580.65.06",
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f",
    ),
    _toolkit(
        "13.2",
        "595.45.04",
        "580.65.06",
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f",
    ),
    _toolkit(
        "13.1",
        "590.44.01",
        "580.65.06",
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f",
    ),
    _toolkit(
        "13.0",
        "580.65.06",
        "580.65.06",
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f",
    ),
    _toolkit(
        "12.9",
        "575.51.03",
        "525.60.13",
        "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f 120 120a 120f 121 121a 121f",
    ),
    _toolkit(
        "12.8",
        "570.26",
        "525.60.13",
        "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 101 101a 120 120a",
    ),
    _toolkit("12.6", "560.28.03", "525.60.13", "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"),
    _toolkit("12.5", "555.42.02", "525.60.13", "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"),
    _toolkit("12.4", "550.54.14", "525.60.13", "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"),
    _toolkit("12.3", "545.23.06", "525.60.13", "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"),
    _toolkit("12.2", "535.54.03", "525.60.13", "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"),
    _toolkit("12.1", "530.30.02", "525.60.13", "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"),
    _toolkit("12.0", "525.60.13", "525.60.13", "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"),
    _toolkit("11.8", "520.61.05", "450.80.02", "35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90"),
    _toolkit("11.7", "515.43.04", "450.80.02", "35 37 50 52 53 60 61 62 70 72 75 80 86 87"),
    _toolkit("11.6", "510.39.01", "450.80.02", ""),
    _toolkit("11.5", "495.29.05", "450.80.02", ""),
    _toolkit("11.4", "470.42.01", "450.80.02", ""),
    _toolkit("11.3", "465.19.01", "450.80.02", ""),
    _toolkit("11.2", "460.27.03", "450.80.02", ""),
    _toolkit("11.1", "455.23", "450.80.02", ""),
    _toolkit("11.0", "450.51.05", "450.80.02", ""),
    _toolkit("10.2", "440.33", "", ""),
)

# branch -> the CUDA version that its nvidia-smi prints (below 410 it printed none: the toolkit that
# the branch came with; CUDA release notes, table of toolkits and drivers)
BRANCHES: dict[int, str] = {
    340: "6.5",
    346: "7.0",
    352: "7.5",
    361: "7.5",
    367: "8.0",
    375: "8.0",
    384: "9.0",
    387: "9.1",
    390: "9.1",
    396: "9.2",
    410: "10.0",
    415: "10.0",
    418: "10.1",
    430: "10.1",
    435: "10.1",
    440: "10.2",
    450: "11.0",
    455: "11.1",
    460: "11.2",
    465: "11.3",
    470: "11.4",
    495: "11.5",
    510: "11.6",
    515: "11.7",
    520: "11.8",
    525: "12.0",
    530: "12.1",
    535: "12.2",
    545: "12.3",
    550: "12.4",
    555: "12.5",
    560: "12.6",
    565: "12.7",
    570: "12.8",
    575: "12.9",
    580: "13.0",
    590: "13.1",
    595: "13.2",
    610: "13.3",
    615: "13.4",
}

# Which compute capabilities a toolkit can make code for: first CUDA version -> (lowest, highest).
# Source: nvcc --help of each release; CUDA release notes, deprecated architectures.
CAPABILITIES: dict[tuple[int, int], tuple[tuple[int, int], tuple[int, int]]] = {
    (8, 0): ((2, 0), (6, 2)),
    (9, 0): ((3, 0), (7, 2)),
    (10, 0): ((3, 0), (7, 5)),
    (11, 0): ((3, 5), (8, 0)),
    (11, 1): ((3, 5), (8, 7)),
    (11, 8): ((3, 5), (9, 0)),
    (12, 0): ((5, 0), (9, 0)),
    (12, 8): ((5, 0), (12, 1)),
    (13, 0): ((7, 5), (12, 1)),
}
