"""The pages are true: what they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent
PAGES = sorted(
    str(path.relative_to(HERE)) for path in (*HERE.glob("*.md"), *HERE.glob("docs/*.md"))
)


@pytest.mark.parametrize("name", PAGES)
def test_links_and_named_files_exist(name: str) -> None:
    page = HERE / name
    text = page.read_text()
    for link in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text):
        assert (page.parent / link).exists(), link
    named = re.findall(
        r"(?<![\w/<*.-])((?:agent|probes|tests|docs|packaging|benchmarks)/[\w./-]*)(?![\w./<*-])",
        text,
    )
    for path in named:
        assert (HERE / path.rstrip(".")).exists() or path.startswith("tests/recordings"), path


def test_the_makefile_runs_files_that_exist() -> None:
    for path in re.findall(r"[\w/]+\.py\b", (HERE / "Makefile").read_text()):
        if path.startswith("dist/"):  # what `make pyz` builds
            continue
        assert (HERE / path).exists(), path


def test_the_flow_in_the_readme_names_modules_that_exist() -> None:
    flow = (HERE / "README.md").read_text().partition("follow the flow:")[2].partition(".\n")[0]
    named = re.findall(r"`([\w/]+(?:\.py|/))`", flow.partition("Measured")[0])
    assert len(named) > 8
    for path in named:
        places = (HERE / path, HERE / "agent" / path)
        assert any(place.exists() for place in places), path
