"""Causes in the target itself: no torch, a torch that cannot start, or one that computes wrong."""

from __future__ import annotations

from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule


def torch_not_installed(case: Case) -> Diagnosis | None:
    """The chosen interpreter has no torch, and no other one has either."""
    stage = case.stage("import")
    missing = stage is not None and stage.reason == "not-installed"
    hits = case.hits("no_module_torch")
    if not missing and not hits:
        return None
    if case.torch is not None and not missing:
        return None
    return Diagnosis(weight=88 if missing else 70, hits=hits, evidence=_stage_at(case, "import"))


def other_interpreter_has_torch(case: Case) -> Diagnosis | None:
    """The interpreter that is used has no torch, or was not named, and another one has."""
    chosen = case.interpreter
    others = [
        (index, item)
        for index, item in enumerate(case.facts.interpreters)
        if not item.chosen and item.torch and item.torch.version
    ]
    if chosen is None or not others:
        return None
    stage = case.stage("import")
    missing = stage is not None and stage.reason == "not-installed"
    guessed = chosen.chosen_because in ("well-known", "first-with-torch")
    if not missing and not guessed:
        return None
    index, other = others[0]
    return Diagnosis(
        weight=90 if missing else 50,
        evidence=case.at(f"/facts/interpreters/{index}/path", other.path),
        values={"path": other.path},
        severity=None if missing else "note",
    )


def torch_installation_incomplete(case: Case) -> Diagnosis | None:
    """A directory or a record of torch is there, but not the package itself."""
    told = case.conflict("torch-incomplete")
    if told is None:
        return None
    detail, where = told
    return Diagnosis(weight=82, evidence=where, values={"value": detail})


# What a reader needs to know of each conflict that is no cause of its own.
_PATHS = (
    "pythonpath-supplies-torch",
    "pythonpath-shadows",
    "two-copies",
    "conda-and-pip-torch",
    "pip-of-other-interpreter",
    "active-environment-not-first",
    "pythonhome-set",
    "user-site-not-read",
    "base-python-missing",
)


def python_paths_disagree(case: Case) -> Diagnosis | None:
    """Two Pythons or two copies of a package are mixed in this session."""
    # Who names an interpreter by --python expects that the pip on PATH belongs to another.
    named = case.interpreter is not None and "--python" in case.interpreter.found_by
    told = case.conflict(*(c for c in _PATHS if not (named and c == "pip-of-other-interpreter")))
    if told is None:
        return None
    detail, where = told
    failed = (stage := case.stage("import")) is not None and stage.status in ("failed", "crashed")
    return Diagnosis(
        weight=58 if failed else 40,
        evidence=where,
        values={"value": detail},
        severity="degrading" if failed else "note",
    )


def torch_crashes_on_import(case: Case) -> Diagnosis | None:
    """Importing torch ends the process, or raises something that no other rule knows."""
    stage = case.stage("import")
    if stage is None or stage.status not in ("crashed", "failed"):
        return None
    if stage.reason == "not-installed":
        return None
    text = (stage.error.text if stage.error else None) or stage.signal or "it ended"
    return Diagnosis(
        weight=56, evidence=_stage_at(case, "import"), values={"value": text.splitlines()[0][:200]}
    )


def cpu_lacks_instructions(case: Case) -> Diagnosis | None:
    """The processor lacks instructions that the wheel was compiled with."""
    hits = case.hits("illegal_instruction")
    stage = case.stage("import")
    died = stage is not None and stage.signal in ("SIGILL",)
    if not died and not (hits and not case.says("cudaerrorillegalinstruction", "cuda error")):
        return None
    return Diagnosis(weight=80 if died else 60, hits=hits, evidence=_stage_at(case, "import"))


def torch_import_hangs(case: Case) -> Diagnosis | None:
    """Importing torch did not end within its deadline."""
    stage = case.stage("import")
    if stage is None or stage.status != "timed_out":
        return None
    return Diagnosis(
        weight=80,
        evidence=_stage_at(case, "import"),
        values={"value": f"{stage.seconds:.0f} s"},
    )


def ssh_session_lacks_environment(case: Case) -> Diagnosis | None:
    """The container's first process has variables that this login shell lacks."""
    missing = [
        (index, item)
        for index, item in enumerate(case.facts.environment)
        if item.scope == "init" and _matters(item.name)
    ]
    mine = {item.name: item.value for item in case.facts.environment if item.scope != "init"}
    missing = [(index, item) for index, item in missing if item.name not in mine]
    if not missing:
        return None
    failed = case.works is False or any(
        stage.status == "failed" for stage in case.observations.stages
    )
    index, item = missing[0]
    return Diagnosis(
        weight=72 if failed else 45,
        evidence=case.at(f"/facts/environment/{index}", item.value),
        values={"value": ", ".join(found.name for _, found in missing[:5])},
        severity=None if failed else "note",
    )


def _matters(name: str) -> bool:
    return name in ("LD_LIBRARY_PATH", "PATH", "CUDA_HOME", "VIRTUAL_ENV", "PYTHONPATH") or (
        name.startswith(("NVIDIA_", "CUDA_", "NCCL_", "HIP_", "ROCR_"))
    )


def _stage_at(case: Case, name: str) -> tuple[str, ...]:
    return tuple(
        pointer for index, _ in case.stages(name)[:1] for pointer in case.at(f"/stages/{index}")
    )


RULES: tuple[Rule, ...] = (
    Rule(
        code="torch-not-installed",
        severity="blocking",
        who="renter",
        source="Python import system",
        find=torch_not_installed,
    ),
    Rule(
        code="other-interpreter-has-torch",
        severity="blocking",
        who="renter",
        source="the interpreters found on this machine",
        find=other_interpreter_has_torch,
        explains=("torch-not-installed",),
    ),
    Rule(
        code="torch-installation-incomplete",
        severity="blocking",
        who="renter",
        source="the files of the target's environment",
        find=torch_installation_incomplete,
        explains=("torch-not-installed", "torch-crashes-on-import"),
    ),
    Rule(
        code="python-paths-disagree",
        severity="note",
        who="renter",
        source="Python site module; pip and conda records",
        find=python_paths_disagree,
    ),
    Rule(
        code="torch-crashes-on-import",
        severity="blocking",
        who="renter",
        source="the import stage",
        find=torch_crashes_on_import,
    ),
    Rule(
        code="cpu-lacks-instructions",
        severity="blocking",
        who="provider",
        source="SIGILL, signal(7); instruction sets of the wheels",
        find=cpu_lacks_instructions,
        explains=("torch-crashes-on-import",),
    ),
    Rule(
        code="torch-import-hangs",
        severity="blocking",
        who="either",
        source="the import stage's deadline",
        find=torch_import_hangs,
    ),
    Rule(
        code="ssh-session-lacks-environment",
        severity="degrading",
        who="renter",
        source="/proc/1/environ against the session's environment",
        find=ssh_session_lacks_environment,
    ),
)
