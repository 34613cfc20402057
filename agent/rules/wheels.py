"""Which torch wheel would run here: an answer from the tables only, or none."""

from __future__ import annotations

from dataclasses import dataclass

from agent.rules.versions import Version, covers, version
from agent.tables.drivers import TOOLKITS
from agent.tables.wheels import DEFAULT_CUDA, WHEELS, Wheel

INDEX = "https://download.pytorch.org/whl/"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A wheel that exists and fits, with the command that installs it."""

    wheel: Wheel
    command: str


def wheel(torch: Version, build: str) -> Wheel | None:
    """The row for a torch version and a build ("cu128", "rocm6.4", "cpu"), or None."""
    series = ".".join(map(str, torch[:2]))
    return next((row for row in WHEELS if row.torch == series and row.build == build), None)


def default_wheel(torch: Version) -> Wheel | None:
    """What plain `pip install torch==<series>` brings, or None."""
    series = ".".join(map(str, torch[:2]))
    return next((row for row in WHEELS if row.torch == series and row.default), None)


def default_cuda(torch: Version) -> Version:
    """The CUDA of what plain `pip install torch==<series>` brings; () where that is not known."""
    if row := default_wheel(torch):
        return build_cuda(row.build)
    found = [cuda for first, cuda in DEFAULT_CUDA if first <= torch[:2]]
    return found[-1] if found and torch[:2] < (1, 12) else ()


def wheels_of(torch: Version) -> tuple[Wheel, ...]:
    """All builds of a release series."""
    series = ".".join(map(str, torch[:2]))
    return tuple(row for row in WHEELS if row.torch == series)


def build_cuda(build: str) -> Version:
    """(12, 8) for "cu128"; () for any other build."""
    digits = build[2:]
    return (int(digits[:-1]), int(digits[-1])) if build[:2] == "cu" and digits.isdigit() else ()


def floor_cuda(cuda: Version) -> Version:
    """The lowest CUDA version of a driver that runs programs of this CUDA major.

    Within a major any driver of that major or newer runs a wheel (minor-version compatibility,
    from CUDA 11 on); before 11 the driver must be as new as the toolkit.
    """
    return (cuda[0], 0) if cuda and cuda[0] >= 11 else cuda


def floor_driver(cuda: Version) -> str:
    """The oldest Linux driver for programs of this CUDA version, "580.65.06"; "" not known."""
    rows = [row for row in TOOLKITS if version(row.cuda)[:1] == cuda[:1]]
    return max((row.floor for row in rows), key=version, default="") if rows else ""


def fits_gpu(row: Wheel, architectures: tuple[str, ...]) -> bool:
    """Whether the wheel holds code for every one of these GPUs (False where that is not known)."""
    targets = row.architectures + ((f"compute_{row.ptx.replace('.', '')}",) if row.ptx else ())
    return bool(targets) and all(
        item in row.architectures if item.startswith("gfx") else covers(targets, version(item))
        for item in architectures
    )


def recommend(
    *,
    architectures: tuple[str, ...] = (),
    driver_cuda: Version = (),
    python: Version = (),
    torch: Version = (),
    backend: str = "cuda",
) -> Recommendation | None:
    """The wheel to install, or None where the tables know none that fits everything known.

    What is not known does not exclude a wheel, but for the GPU's own target, which must be in the
    list. The series of the installed torch is preferred, else the newest that fits; within a
    series the newest CUDA.
    """
    fitting = [row for row in WHEELS if _fits(row, architectures, driver_cuda, python, backend)]
    if not fitting:
        return None
    same = [row for row in fitting if version(row.torch) == torch[:2]]
    best = max(same or fitting, key=lambda row: (version(row.torch), _build_order(row)))
    return Recommendation(best, command_for(best))


def command_for(row: Wheel) -> str:
    """The command that installs this wheel and what pairs with it."""
    parts = [f"torch=={row.torch}.*"]
    if row.torchvision:
        parts.append(f"torchvision=={row.torchvision}.*")
    wanted = " ".join(f'"{part}"' for part in parts)
    return f"python -m pip install {wanted} --index-url {INDEX}{row.build}"


def _fits(
    row: Wheel,
    architectures: tuple[str, ...],
    driver_cuda: Version,
    python: Version,
    backend: str,
) -> bool:
    kind = "cpu" if row.build == "cpu" else "rocm" if row.build.startswith("rocm") else "cuda"
    if kind != backend:
        return False
    if backend != "cpu" and not row.architectures:
        return False  # announced or unread: nothing is promised about it
    if architectures and not fits_gpu(row, architectures):
        return False
    cuda = build_cuda(row.build)
    if cuda and driver_cuda and driver_cuda[:2] < floor_cuda(cuda)[:2]:
        return False
    return not python or version(row.python_min) <= python[:2] <= version(row.python_max)


def _build_order(row: Wheel) -> tuple[bool, Version]:
    return (row.default, version(row.build))
