"""Docker, nvidia-container-cli, Kubernetes: which box a text comes from, and in what state."""

from __future__ import annotations

import re

from agent.reading.draft import MENTION, MESSAGE, TOOL, Draft
from agent.reading.page import Page

# What a program inside the box, or the tool that starts it, prints.
_SIGNS = (
    (
        "kubernetes",
        TOOL,
        re.compile(
            r"\bkubectl\b|FailedScheduling|nvidia-device-plugin|kubepods|CreateContainerError|"
            r"Insufficient nvidia\.com/gpu|^apiVersion: v1$|\bpod/[\w-]+",
            re.M,
        ),
    ),
    (
        "docker",
        TOOL,
        re.compile(
            r"Error response from daemon|^.{0,40}[$#>] ?(?:sudo )?docker (?:run|exec|compose)\b|"
            r"docker-compose|OCI runtime create failed|/docker/[0-9a-f]{12}|"
            r"nvidia-container-cli|^(?:sudo )?docker (?:run|exec|compose)\b",
            re.M,
        ),
    ),
    ("apptainer", TOOL, re.compile(r"\b(?:apptainer|singularity) (?:exec|run|shell)\b|\.sif\b")),
    ("podman", TOOL, re.compile(r"\bpodman run\b|^Error: .*podman", re.M)),
    ("enroot", TOOL, re.compile(r"\benroot (?:start|create)\b|--container-image=")),
    ("docker", MENTION, re.compile(r"/\.dockerenv|\broot@[0-9a-f]{12}:|^FROM \S+:\S+", re.M)),
)
_FABRIC = re.compile(r"nvidia-fabricmanager\.service|nv-fabricmanager|fabricmanager", re.I)
_ACTIVE = re.compile(r"Active: (active|inactive|failed)[ (]")


def read(page: Page, draft: Draft) -> None:
    """Fill the draft with the kind of box, the image, and the state of services named."""
    for kind, weight, pattern in _SIGNS:
        found = pattern.search(page.text)
        if found:
            line = page.number_at(found.start())
            draft.put("container.kind", kind, line, weight)
            draft.evidence.append(f"line {line}")
    image = re.search(
        r"docker run [^\n]{0,300}?[ =]((?:[\w.-]+/)*[\w.-]+:[\w.-]+)(?:\s|$)|^FROM (\S+:\S+)",
        page.text,
        re.M,
    )
    if image:
        line = page.number_at(image.start())
        draft.put("container.image", image[1] or image[2], line, MESSAGE)
    if _FABRIC.search(page.text):
        state = _ACTIVE.search(page.text)
        if state:
            word = "running" if state[1] == "active" else "stopped"
            line = page.number_at(state.start())
            draft.put("nvidia.fabric_manager_state", word, line)
        missing = re.search(
            r"Unit nvidia-fabricmanager(?:\.service)? (?:could not be found|not found)", page.text
        )
        if missing:
            line = page.number_at(missing.start())
            draft.put("nvidia.fabric_manager_state", "not-installed", line)
    if re.search(r"Privileged\"?: true|--privileged\b", page.text):
        draft.put("container.privileged", True, 0, MESSAGE)
