"""Markdown, HTML, JSON and collect_env: whole reports that a hostile file cannot break out of."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from agent.errors import BundleError
from agent.explain import observations_of_input
from agent.report.collect_env import collect_env_report
from agent.report.html import html_report
from agent.report.markdown import markdown_report
from agent.report.show import show_bundle
from agent.report.shown import Shown, shown_of
from agent.verify import verify

from .make_bundles import FOLDER, HOSTILE
from .samples import failed_stages, lost_gpu, sample_bundle, sample_stages, sealed
from .test_report_text import NOTE, ROOT, judged

LANDMARKS = ("driver 580.65.06", "0000:3b:00.0", "The GPU has fallen off the bus")


def hostile() -> Shown:
    result = verify((FOLDER / "good-with-hostile-words.json").read_bytes())
    assert result.bundle is not None
    return shown_of(result.bundle, banner=HOSTILE, key_id=result.key_id)


# ---------------------------------------------------------------- HTML
class Page(HTMLParser):
    """What a browser would make of a page: its tags with attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.style = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.words.append(data)


KNOWN_TAGS = {"html", "head", "meta", "title", "style", "body", "p", "div", "h1", "h2", "strong"}
KNOWN_TAGS |= {"table", "tr", "th", "td", "ol", "ul", "li", "code", "pre"}


def broken() -> Shown:
    return judged(ROOT, NOTE)


def healthy() -> Shown:
    return shown_of(sample_bundle())


@pytest.mark.parametrize("make", [hostile, broken, healthy])
def test_the_page_holds_only_our_tags_and_loads_nothing(make: Callable[[], Shown]) -> None:
    page = Page(html_report(make()))
    assert {tag for tag, _ in page.tags} <= KNOWN_TAGS
    assert page.open == []
    attributes = {name for _, found in page.tags for name in found}
    assert attributes <= {"lang", "charset", "http-equiv", "content", "name", "class", "scope"}
    assert "url(" not in page.style
    policy = next(found["content"] for _, found in page.tags if "http-equiv" in found)
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert policy is not None
    assert "default-src 'none'" in policy
    assert f"style-src 'sha256-{digest}'" in policy


def test_the_page_shows_what_a_stranger_wrote_as_text() -> None:
    page = html_report(hostile())
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page)
    assert "curl evil.example" not in page
    assert "Do not trust this file." in page


def test_the_page_says_what_the_screen_says() -> None:
    text = " ".join(Page(html_report(judged(ROOT, NOTE))).words)
    for landmark in (*LANDMARKS, "Root cause", "your provider", "Something to know", "Look at"):
        assert landmark in text
    simulated = html_report(shown_of(sample_bundle(simulated=True, ticket="T-7")))
    assert "Simulated: recorded" in simulated
    assert "T-7" in simulated


# ---------------------------------------------------------------- Markdown
def parsed(text: str) -> list[tuple[str, str]]:
    """(type, content) of every token, with GitHub's tables and bare links recognised."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    flat = [child for token in tokens for child in (token, *(token.children or ()))]
    return [(token.type, token.content) for token in flat]


@pytest.mark.parametrize("make", [hostile, broken])
def test_markdown_holds_no_link_image_or_markup_of_a_stranger(make: Callable[[], Shown]) -> None:
    tokens = parsed(markdown_report(make()))
    kinds = {kind for kind, _ in tokens}
    assert not kinds & {"html_block", "html_inline", "link_open", "image"}
    for kind, content in tokens:
        if kind == "text":
            assert not re.search(r"@\w", content)
            assert "curl evil" not in content
            assert "\x1b" not in content


def test_a_table_of_stages_keeps_its_columns() -> None:
    stages = (replace(sample_stages()[0], subject="a|b`c`|", reason="x|y"),)
    tokens = parsed(markdown_report(shown_of(sample_bundle(stages=stages))))
    assert sum(kind == "th_open" for kind, _ in tokens) == 5
    assert sum(kind == "td_open" for kind, _ in tokens) == 5


def test_markdown_says_what_the_screen_says() -> None:
    text = markdown_report(judged(ROOT, NOTE))
    for landmark in (*LANDMARKS, "## Root cause: ", "Message for the provider", "## Look at"):
        assert landmark in text
    assert "RuntimeError: CUDA error: unspecified" in text
    assert "> **Simulated**" in markdown_report(shown_of(sample_bundle(simulated=True)))


# ---------------------------------------------------------------- collect_env
def test_collect_env_has_the_lines_of_the_original() -> None:
    lines = collect_env_report(sample_bundle()).splitlines()
    assert lines[0] == "PyTorch version: 2.14.1+cu130"
    assert "CUDA used to build PyTorch: 13.0" in lines
    assert "ROCM used to build PyTorch: N/A" in lines
    assert "Is debug build: False" in lines
    assert "Is CUDA available: True" in lines
    assert "GPU 0: NVIDIA H100 80GB HBM3" in lines
    assert "Nvidia driver version: 580.65.06" in lines
    assert "CUDA runtime version: 12.4.131" in lines
    assert "Clang version: Could not collect" in lines
    assert "[pip3] torch==2.14.1+cu130" in lines
    broken = collect_env_report(sample_bundle(stages=failed_stages()[:3]))
    assert "Is CUDA available: False" in broken


def test_collect_env_is_read_back_by_explain() -> None:
    observations, _ = observations_of_input(collect_env_report(sample_bundle()).encode(), "x")
    versions = {item.torch.version for item in observations.facts.interpreters if item.torch}
    assert versions == {"2.14.1+cu130"}
    assert [device.name for device in observations.facts.devices] == ["NVIDIA H100 80GB HBM3"]


# ---------------------------------------------------------------- show
@pytest.mark.parametrize("form", ["text", "markdown", "html", "json", "collect-env"])
@pytest.mark.parametrize(
    ("name", "code"), [("good", 0), ("good-with-hostile-words", 0), ("changed-value", 4)]
)
def test_show_in_every_form(
    form: str, name: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    data = (FOLDER / f"{name}.json").read_bytes()
    assert show_bundle(data, form=form, redactions=False) == code
    out = capsys.readouterr().out
    assert out.endswith("\n")
    assert "\x1b" not in out
    assert "\u202e" not in out
    if form == "json":
        assert json.loads(out) == json.loads(data)
    elif form != "collect-env":
        assert ("TRUST THIS FILE" in out.upper()) is (code == 4)


def test_show_lists_what_was_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_bundle(sealed(sample_bundle(facts=lost_gpu())), form="text", redactions=True) == 0
    out = capsys.readouterr().out
    assert "Replaced before signing: 1 values" in out
    assert re.search(r"<host-1> +host +3 times", out)


def test_what_is_no_bundle_is_refused_with_a_way_out() -> None:
    with pytest.raises(BundleError) as caught:
        show_bundle(b"Traceback (most recent call last):", form="text", redactions=False)
    assert caught.value.exit_code == 4
    assert "agent explain" in caught.value.hint
