"""The ladder: its rungs in order, their deadlines, and the closed list of reasons."""

from __future__ import annotations

from dataclasses import dataclass

DEPTHS = ("quick", "standard", "deep")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One stage of the ladder.

    ``deadline_seconds`` bounds each subject of the stage (slow is reported as slow before that);
    ``needs`` are the stages without which it cannot run; ``per_device`` stages run once a device.
    """

    name: str
    question: str
    depth: str
    deadline_seconds: float
    needs: tuple[str, ...] = ()
    per_device: bool = False
    backends: tuple[str, ...] = ("cuda", "rocm", "cpu")


STAGES: tuple[Rung, ...] = (
    Rung(
        name="interpreter",
        question="which Python will the program run in, and what does it load from where",
        depth="quick",
        deadline_seconds=20,
    ),
    Rung(
        name="driver",
        question="what do PCI, kernel modules, device nodes and the driver libraries say",
        depth="quick",
        deadline_seconds=120,
    ),
    Rung(
        name="import",
        question="does torch load, how was it built, which libraries did it map",
        depth="quick",
        deadline_seconds=120,
        needs=("interpreter",),
    ),
    Rung(
        name="device",
        question="can torch open each device, and does its list agree with the driver's",
        depth="quick",
        deadline_seconds=120,
        needs=("import",),
    ),
    Rung(
        name="matmul",
        question="do torch's own kernels run, and are products right and fast",
        depth="quick",
        deadline_seconds=120,
        needs=("device",),
        per_device=True,
    ),
    Rung(
        name="extensions",
        question="do compiled kernels run: toolchain, Triton, each installed extension",
        depth="standard",
        deadline_seconds=120,
        needs=("import",),
    ),
    Rung(
        name="memory",
        question="is the memory really there, and what is the peak of a representative step",
        depth="standard",
        deadline_seconds=300,
        needs=("device",),
        per_device=True,
    ),
    Rung(
        name="workload",
        question="does the user's own command finish, at what peak, and what ended it",
        depth="quick",
        deadline_seconds=float("inf"),
    ),
)

RUNGS = {rung.name: rung for rung in STAGES}

REASONS = (
    "raised",
    "wrong-result",
    "does-not-load",
    "not-installed",
    "no-device",
    "device-busy",
    "compiles-not-run",
    "not-in-this-torch",
    "needs-stage",
    "not-asked",
    "deadline",
    "signal",
    "exited",
    "interrupted",
    "agent-killed",
    "not-executed",  # the interpreter was not trusted to be run
    "not-python",
    "unkillable",
    "bad-records",
    "no-memory",
    "no-toolchain",
    "not-supported",
    "unproven",  # an operation failed that has never been shown to work on such a device
    "refused",  # a library, node or call that is present refuses
    "not-written",  # this stage does not exist in this version
)
