"""The English texts, one file for each topic."""

from __future__ import annotations

from collections.abc import Mapping

from agent.texts import Text
from agent.texts.en import build

TEXTS: Mapping[str, Text] = {**build.TEXTS}
