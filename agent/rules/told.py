# ruff: noqa: E501  (a wording stays on one line)
"""Circumstances that a report tells in passing: a reboot, an update, sleep, a virtual GPU."""

from __future__ import annotations

import re

from agent.rules.case import Case

_CIRCUMSTANCES = {
    "rebooted": (
        r"^[ \t>#$]*(?:sudo )?reboot[ \t]*$|\b(?:after|even after|despite) (?:a |the )?(?:\w+ )?"
        r"(?:re-?boot|restart)|[Rr]e-?boot(?:ed|ing)?,? (?:and |but )?(?:it |it's )?still\b"
        r"|[Tt]ried (?:re-?booting|a re-?boot)|\b(?:already|have|was|been|did a?) ?re-?boot(?:ed|ing)?\b"
        r"|re-?boot(?:ing|ed)? (?:does ?n.t|did ?n.t|does not|did not) help"
        r"|persists? (?:after|across) re-?boot|fresh(?:ly)? (?:provisioned|installed|created)"
        r"|new(?:ly)? (?:created |provisioned )?nodes?\b"
    ),
    "updated": (
        r"\b(?:unattended[- ]upgrades?|apt(?:-get)? (?:upgrade|dist-upgrade|full-upgrade)|dnf"
        r" update"
        r"|yum update|pacman -Syu|(?i:recent|latest|ubuntu|debian|system|os|apt|after an?) updates?\b|(?:driver|package|kernel|system)s? (?:was |were |got |has been )?"
        r"(?:auto\w* )?(?:updat|upgrad)\w*|(?:updat|upgrad)(?:ed|ing|e)[^\n]{0,30}driver)"
    ),
    "driver-switched": (
        r"\b(?:switch(?:es|ed|ing)?|upgrad\w+|downgrad\w+|reinstall\w*|updat(?:ed|ing|e)|chang(?:ed|es)"
        r"|different (?:driver|version)s?)\b"
    ),
    "slept": (
        r"\b(?:suspend(?:ed|ing)?|suspension|hibernat\w*|(?:went|goes?|put|wak\w+|woke|resum\w+|back|return\w*)"
        r"[^\n]{0,24}\b(?:to|from|after|up from)\b[^\n]{0,10}(?:sleep|suspend|standby)"
        r"|(?:after|from) (?:a )?(?:sleep|suspend|resume|standby|waking)|slept|laptop lid|lid close"
        r"|sleep mode|\b(?:in|into|enter\w*) (?:standby|suspend)|systemd-(?:suspend|sleep)|wak(?:es?|ing|en) (?:\w+ ){0,3}up\b|wake-?up)"
    ),
    "worked-before": (
        r"\b(?:after (?:a (?:while|few|couple)|some (?:time|hours|days)|\d+"
        r" (?:hours?|days?|minutes?))"
        r"|work(?:ed|s|ing)? (?:fine |well |normally )?(?:before|at first|initially|for"
        r" a|until|when"
        r"|after re)|suddenly|randomly|intermittent\w*|lost (?:access|the gpu)|loses?"
        r" (?:access|gpu)"
        r"|restart(?:ing)? the container|at the beginning|overnight)"
    ),
    "installer": r"NVIDIA-Linux-\S+\.run\b|--no-kernel-modules?\b|\brunfile\b|nvidia-installer",
    "vgpu": (
        r"\bvGPU\b|\bGRID[ -](?:\d|driver|guest|A\d|T4|V100|RTX|M\d)|Standard_NV\d|nvidia-gridd"
        r"|\b(?:A\d{1,3}|T4|L4|L40S?|H100\w*|RTX\d+)-\d{1,2}[CQBA]\b"
    ),
    "insider": r"\b[Ii]nsiders?\b|[Ii]nsider (?:build|preview)|[Dd]ev [Cc]hannel|preview build \d+",
    "smi-works": (
        r"nvidia[- _]smi[^\n]{0,40}(?:works?\b|working|fine|normal|ok\b|okay|shows?|lists?|sees?"
        r"|detects?|reports?)|^[|+ ]*NVIDIA-SMI \d"
    ),
    "smi-works-inside": (
        r"nvidia[-_ ]smi[-_ ](?:works? )?(?:in|inside)[-_ ](?:the )?container[: ]{1,3}(?:works|ok|fine|yes)"
        r"|(?:in|inside) (?:the |my )?(?:container|pod)[^\n]{0,60}nvidia-smi (?:works|runs|shows|lists)"
        r"|nvidia-smi (?:works|runs|shows|lists)[^\n]{0,30}(?:in|inside) (?:the |my )?(?:container|pod)"
    ),
    "no-gpu-request": (
        r"no GPU (?:reservation|request)|without"
        r" (?:`|')?--gpus|(?:forgot|missing|lacks?|omitted|no)"
        r"[^\n]{0,12}(?:--gpus|--runtime=nvidia|--nv\b|gpu (?:request|reservation|resource|flag))"
        r"|no (?:nvidia )?runtime (?:set|given|specified)|--gpus (?:was )?(?:not|missing)"
    ),
}
_COMPILED: dict[str, re.Pattern[str]] = {}


def told(case: Case, circumstance: str) -> bool:
    """Whether the printed lines tell of this circumstance (a key of the table above)."""
    if circumstance not in _COMPILED:
        _COMPILED[circumstance] = re.compile(_CIRCUMSTANCES[circumstance], re.MULTILINE)
    return _COMPILED[circumstance].search(case.lines.text) is not None
