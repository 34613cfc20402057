"""Builds dist/agent.pyz and dist/agent.py: the program and all it needs, each as one file.

    python3 packaging/pyz.py [--wheels DIR] [--to DIR]

The same input gives the same bytes: files in order, times and rights fixed, packages pinned by
hash. ``--wheels`` takes the packages from a directory instead of the package index.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DIST = ROOT / "dist"
FIXED_TIME = (1980, 1, 1, 0, 0, 0)
LINE_LENGTH = 16_000  # of the payload in agent.py: editors and mail programs split longer ones
# Parts of packages that the agent never loads.
LEFT_OUT = ("example.py", "pynvml/__pycache__", "rich/__main__.py")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wheels", type=Path, help="directory with the wheels")
    parser.add_argument("--to", type=Path, default=DIST, help="where the files go")
    arguments = parser.parse_args()
    target: Path = arguments.to
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        install(site, arguments.wheels)
        archive = target / "agent.pyz"
        write_archive(archive, collect(site))
    piped = target / "agent.py"
    write_piped(piped, archive.read_bytes())
    sums = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in (archive, piped)
    )
    (target / "SHA256SUMS").write_text(sums)
    for path in (archive, piped):
        print(f"{path.name}: {path.stat().st_size} bytes")
    print(sums, end="")
    return 0


def install(site: Path, wheels: Path | None) -> None:
    """Unpack the pinned wheels; nothing of them is compiled or run."""
    source = ["--no-index", "--find-links", str(wheels)] if wheels else []
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps",
        "--no-compile", "--only-binary", ":all:", "--target", str(site), *source,
        "-r", str(HERE / "requirements.txt"),
    ]  # fmt: skip
    subprocess.run(command, check=True)


def collect(site: Path) -> dict[str, bytes]:
    """Return {name in the archive: content}."""
    files = {"__main__.py": (HERE / "zip_main.py").read_bytes()}
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    for package in ("agent", "probes"):
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and path.suffix in (".py", ".json", ".csv", ".html", ".txt"):
                files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    for path in site.rglob("*"):
        name = path.relative_to(site).as_posix()
        if path.is_file() and is_wanted(name):
            files[name] = path.read_bytes()
    return files


def is_wanted(name: str) -> bool:
    """Code and licences; not what pip notes about this installation, nor native parts."""
    if name.startswith("bin/") or "__pycache__" in name or name in LEFT_OUT:
        return False
    if ".dist-info/" in name:
        last = name.rpartition("/")[2]
        return last == "METADATA" or "licens" in name.lower() or "copying" in last.lower()
    return name.endswith((".py", ".pyi")) and not name.endswith(".pyi") and "/test_" not in name


def write_archive(target: Path, files: dict[str, bytes]) -> None:
    """Write a zipapp whose bytes depend on nothing but the files."""
    with target.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(files):
                entry = zipfile.ZipInfo(name, FIXED_TIME)
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, files[name])
    target.chmod(0o755)


def write_piped(target: Path, archive: bytes) -> None:
    """Write the form that Python can read from standard input; the payload comes last but one."""
    digest = hashlib.sha256(archive).hexdigest()
    text = base64.b64encode(archive).decode("ascii")
    lines = [text[at : at + LINE_LENGTH] for at in range(0, len(text), LINE_LENGTH)]
    payload = "\n".join(f'    "{line}"' for line in lines)
    target.write_text(
        (HERE / "piped.py").read_text()
        + f'DIGEST = "{digest}"\nPAYLOAD = (\n{payload}\n)\nstart(unpack(PAYLOAD, DIGEST))\n'
    )


if __name__ == "__main__":
    sys.exit(main())
