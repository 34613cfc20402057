"""The packages that are carried or needed, and their licences."""

from __future__ import annotations

from importlib import metadata

from agent import __version__

PACKAGES = (
    "click",
    "rich",
    "rfc8785",
    "nvidia-ml-py",
    "ecdsa",
    "six",
    "orjson",
    "psutil",
    "cryptography",
)


def license_lines() -> list[str]:
    """Return a line for this program and for each package of ours that is there."""
    lines = [f"firstlight {__version__}: Apache-2.0"]
    for name in PACKAGES:
        try:
            found = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        lines.append(f"{name} {found['Version']}: {_license(found)}")
    return lines


def _license(found: metadata.PackageMetadata) -> str:
    for key in ("License-Expression", "License"):
        if key in found and len(found[key]) < 80:
            return str(found[key])
    classes = [c for c in found.get_all("Classifier") or [] if c.startswith("License ::")]
    return classes[0].rpartition(" :: ")[2] if classes else "see its metadata"
