"""Facts from lines that name what they state: "key: value", "key = value", table rows.

This is how collect_env reports read (torch's own and those of vLLM, SGLang, Detectron2, TGI,
MMDetection, Accelerate, Transformers, Lightning, xFormers, Ultralytics, JAX), the environment
section of an issue form, and what a support person types after the error. A key is compared in
lower case with its separators as spaces: ``torch_cuda`` and "- **torch-cuda**" are one.
"""

from __future__ import annotations

import re

from agent.reading import hosts, stated_devices, stated_driver, stated_torch
from agent.reading.draft import REPORT, Draft
from agent.reading.packages import add_package, is_known
from agent.reading.page import Page

KEYS = {**stated_torch.KEYS, **stated_driver.KEYS, **stated_devices.KEYS, **hosts.KEYS}
# A report may print the GPUs below this key.
_MAY_FOLLOW = frozenset(("gpu models and configuration", "gpus", "gpu"))
# Here "None" is an answer: torch was not built for it.
_NONE_COUNTS = frozenset(
    ("cuda used to build pytorch", "torch cuda", "torch cuda version", "torch.version.cuda")
)
_LINE = re.compile(
    r"^[ \t>*\-•+#|\[\"']{0,12}(?:\d{1,2}[.)] )?[*`_]{0,3}"
    r"([^\W\d_][\w ()./+#?,-]{0,60}?)(?: \[[^\]\n]{0,60}\])?[*`_\"']{0,3}\]?[ \t]*"
    r"(?::[*`_]{0,3}(?![/\\:])|=(?!=)|\||\.{4,})[ \t]*(\S[^\n]*|)$",
    re.M,
)
# The form of an issue: a heading, and the answer below it.
_HEADING = re.compile(r"^#{2,5} ([^\W\d_][\w ()./+?-]{0,60})\n\n?([^#\n][^\n]{0,300})$", re.M)
_EXAMPLE = re.compile(r"[\[(]e\.?g\.?[^\])]*[\])]", re.I)
_NOTHING = re.compile(
    r"^(?:n/?a|none|null|unknown|-+|could not collect|not (?:found|available|installed|set)|nan"
    r"|no module.*|module not found.*)?[.)]?$",
    re.I,
)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from every line that names what it states."""
    block_from = _environment_block(page.text)
    for match in _LINE.finditer(page.text):
        name, value = match[1], match[2].strip(" \t|*`'\",")
        if _state(draft, page, name, value, match):
            continue
        package = name.strip().lower().replace("_", "-")
        inside = block_from is not None and match.start() >= block_from
        if (is_known(package) or inside) and re.match(r"v?\d+(?:\.\w+)+", value):
            add_package(draft, package, value, page.number_at(match.start()), "text", REPORT)
    for match in _HEADING.finditer(page.text):
        _state(draft, page, match[1], match[2].strip(" \t*`'\""), match)


def _state(draft: Draft, page: Page, name: str, value: str, match: re.Match[str]) -> bool:
    """Let the reader of a key read its value; False where no reader knows the key."""
    key = re.sub(r"[\s_-]+", " ", _EXAMPLE.sub("", name)).strip().lower()
    reader = KEYS.get(key)
    if reader is None:
        return False
    value = _EXAMPLE.sub("", value).strip(" :")
    if key in _MAY_FOLLOW and not value:
        value = _next_lines(page.text, match.end())
    if value and (key in _NONE_COUNTS or not _NOTHING.match(value)):
        reader(draft, value, page.number_at(match.start()))
    return True


def _environment_block(text: str) -> int | None:
    """Return where the last section called "Environment" starts."""
    at = max(text.rfind("\nEnvironment:\n"), text.rfind("\nEnvironment\n"))
    return at if at >= 0 else None


def _next_lines(text: str, offset: int) -> str:
    """Return the lines after a key whose value stands below it, up to an empty line."""
    lines = []
    for line in text[offset + 1 : offset + 2000].split("\n")[:32]:
        if not re.match(r"\s*GPU \d|\s*(?:NVIDIA|Tesla|GeForce|AMD)\b", line):
            break
        lines.append(line.strip())
    return "; ".join(lines)
