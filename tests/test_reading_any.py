"""No text whatever makes reading fail, and reading stays fast in its length."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.model import Observations
from agent.reading.read import READERS, read_text
from tests.test_reading_nvidia_smi import QUERY, R430, R535, R610
from tests.test_reading_reports import COLLECT_ENV
from tests.test_reading_system import CONCISE, ROCMINFO

TEXTS = (QUERY, R430, R535, R610, COLLECT_ENV, ROCMINFO, "\n".join(CONCISE.values()))
# Pieces that the readers look for, so that chance finds the places where they could stumble.
PIECES = (
    *(word for _, words in READERS for word in words if word),
    *(
        "GPU 0: ",
        "| ",
        "MiB / ",
        "Bus-Id",
        "torch==",
        "torch 2.",
        "CUDA Version: ",
        "sm_",
        "gfx",
        "\n",
    ),
    *(
        "Unable to determine the device handle for GPU ",
        "0000:0A:00.0",
        "[pip3] ",
        " => ",
        "%",
        "-",
    ),
    *(
        "NVRM: Xid (PCI:0000:01:00): ",
        "API mismatch: the version ",
        "Size: ",
        "\r",
        "\x1b[",
        "&lt;",
    ),
)


def broken_readers(seen: Observations) -> list[str]:
    return [gap.why for gap in seen.gaps if "could not be read" in gap.why]


@given(st.text(max_size=400))
def test_any_text(text: str) -> None:
    assert broken_readers(read_text(text)) == []


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=60))
def test_any_heap_of_the_words_it_looks_for(pieces: list[str]) -> None:
    assert broken_readers(read_text("".join(pieces))) == []


def test_every_truncation_and_many_damages() -> None:
    chance = random.Random(20260105)
    for text in TEXTS:
        for _ in range(60):
            first = chance.randrange(len(text))
            part = list(text[first : first + chance.randrange(1, len(text))])
            for _ in range(chance.randrange(8)):
                part[chance.randrange(len(part))] = chance.choice("0 :=|,.[](){}\n\t%/xNAé")
            assert broken_readers(read_text("".join(part))) == []


def test_evidence_can_be_seen_again() -> None:
    seen = read_text("first\n\n  third  \n")
    assert [(line.text, line.pointer) for line in seen.lines] == [
        ("first", "line 1"),
        ("  third", "line 3"),
    ]
    assert seen.from_text


def test_nothing_gives_nothing() -> None:
    seen = read_text("")
    assert seen.lines == ()
    assert seen.facts.devices == ()
    assert seen.stages == ()


HOSTILE = {
    "spaces": " " * 1000 + "\n",
    "no line end": "x" * 1000,
    "colons": "a: " * 300 + "\n",
    "pipes": "| " * 400 + "\n",
    "topology": "GPU0 X NV1 " * 80 + "\n",
    "slashes": "/a" * 400 + "\n",
    "escapes": "\x1b]" * 400 + "\n",
    "tags": "<a " * 300 + "\n",
    "quotes": "> " * 300 + "\n",
    "commas": "name, index, " * 80 + "\n",
    "docker": "docker run a b c d e " * 50 + "\n",
    "kernel": "NVRM: x\n" * 100,
    "mismatch": "API mismatch: the version " * 40 + "\n",
    "versions": "torch==2.4.0 torch 2.4.0 " * 40 + "\n",
    "paths": "/a/b/lib/python3.10/" * 40 + "\n",
    "cards": "NVIDIA with CUDA capability compute capability " * 20 + "\n",
    "agents": "Agent 1\n  Name: gfx90a\n  Features: KERNEL_DISPATCH\n" * 20,
}


@pytest.mark.parametrize("kind", list(HOSTILE))
def test_a_megabyte_is_read_in_little_time_whatever_it_holds(kind: str) -> None:
    unit = HOSTILE[kind]
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    read_text(text)
    assert time.process_time() - started < 4  # 1.5 s on an idle machine


def test_a_page_takes_milliseconds() -> None:
    page = COLLECT_ENV + R535
    read_text(page)
    started = time.process_time()
    for _ in range(10):
        read_text(page)
    assert (time.process_time() - started) / 10 < 0.05
