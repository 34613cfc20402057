"""Makes packages that only look like well-known ones, with metadata, in a folder of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

UNDEFINED = "_ZN3c1012gone_in_2_13ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"


def install(
    site: Path, distribution: str, module: str, source: str, version: str = "1.2.3"
) -> Path:
    """Put a module with metadata below ``site``; returns the module's folder."""
    info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    folder = site / module
    info.mkdir(parents=True)
    folder.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\nRequires-Dist: torch\n"
    )
    (folder / "__init__.py").write_text(source)
    return folder


def build_stub(
    folder: Path, name: str, *, symbol: str | None = None, needs: str | None = None
) -> Path:
    """Compile a library that asks for a symbol, or for another library, that nobody has."""
    source = folder / f"{name}.c"
    target = folder / f"{name}.so"
    body = (
        f"extern int {symbol}(void); int go(void) {{ return {symbol}(); }}" if symbol else "int go;"
    )
    source.write_text(body)
    flags = []
    if needs is not None:
        gone = folder / needs
        (folder / "empty.c").write_text("int there;")
        soname = f"-Wl,-soname,{needs}"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", soname, "-o", gone, folder / "empty.c"], check=True
        )
        flags = ["-Wl,--no-as-needed", str(gone)]
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", target, source, *flags], check=True)
    if needs is not None:
        (folder / needs).unlink()
    return target
