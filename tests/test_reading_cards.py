"""GPU names as people write them mean a make, a model and a capability."""

from __future__ import annotations

import pytest

from agent.reading.cards import card_named, cards_described
from agent.tables.gpus import GPUS


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_names_agree_with_the_table_of_products(gpu: object) -> None:
    name, vendor = getattr(gpu, "name", ""), getattr(gpu, "vendor", "")
    card = card_named(name)
    assert card is not None
    assert card.vendor == vendor.lower()
    assert card.architecture == getattr(gpu, "architecture", None)


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("GeForce GTX 680", "3.0"),
        ("Tesla K80", "3.7"),
        ("GeForce GTX TITAN X", "5.2"),
        ("NVIDIA TITAN X (Pascal)", "6.1"),
        ("1080 Ti", "6.1"),
        ("RTX4090", "8.9"),
        ("NVIDIA GeForce RTX 4080 Laptop GPU", "8.9"),
        ("Quadro RTX 4000", "7.5"),
        ("RTX 4000 Ada", "8.9"),
        ("RTX A4000", "8.6"),
        ("GRID A100-2-10C", "8.0"),
        ("DGX Spark", "12.1"),
        ("Jetson AGX Orin", "8.7"),
        ("7900 XTX", "gfx1100"),
        ("Ryzen AI Max+ 395 (Strix Halo)", "gfx1151"),
        ("Instinct MI50", "gfx906"),
        ("NVIDIA GeForce ...", None),
        ("GeForce GTX 108...", None),
    ],
)
def test_how_people_write_them(name: str, architecture: str | None) -> None:
    card = card_named(name)
    assert card is not None
    assert card.architecture == architecture


@pytest.mark.parametrize(
    "name", ["Intel Arc A770", "Apple M1 Pro", "Matrox G200", "python 3.10", ""]
)
def test_what_is_no_card_of_theirs(name: str) -> None:
    assert card_named(name) is None


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("RTX 3090", [("RTX 3090", 1)]),
        ("8x H100 SXM", [("H100 SXM", 8)]),
        ("NVIDIA A800 80GB PCIe x4", [("NVIDIA A800 80GB PCIe", 4)]),
        ("2x RTX 3090 + 5x RTX 4090", [("RTX 3090", 2), ("RTX 4090", 5)]),
        ("Tesla K80 and GeForce 710", [("Tesla K80", 1), ("GeForce 710", 1)]),
        ("4 GeForce RTX 2080", [("GeForce RTX 2080", 4)]),
        ("NVIDIA L4 (2 GPUs)", [("NVIDIA L4", 2)]),
    ],
)
def test_counts_in_a_description(text: str, described: list[tuple[str, int]]) -> None:
    assert cards_described(text) == described
