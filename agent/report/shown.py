"""What a bundle is shown as: its observations judged anew, its own words only where they are data.

A stranger's bundle may hold any title and any "fix". Titles, causes and fixes come from this
program's catalogue, through its rules; where the file says something else, that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from agent import codec
from agent.bundle import observations_of
from agent.model import Bundle, Device, Finding, Json, Observations, Stage, Verdict
from agent.texts import SEND
from agent.verdict import decide

if TYPE_CHECKING:  # the rules are many, and a run shows something before it judges
    from agent.judge import Judgement

WHO = {"renter": "you", "provider": "your provider", "either": "you or your provider"}
STATUS = {
    "ready": "the workload may start",
    "degraded": "the workload may start, but something is worse than it should be",
    "blocked": "the workload cannot start yet",
    "inconclusive": "nothing bad was seen, but too little was shown",
}
DECISION = {
    "launch": "start your workload",
    "fix-environment": "fix the environment, then run this again",
    "contact-provider": "contact your provider",
    "review-order": "compare the machine with what you ordered",
}
# What to do now where the workload may start all the same.
DECISION_DEGRADED = {
    "fix-environment": "start if you can do without what is broken below; else fix it first",
    "contact-provider": "start if you can do without what is broken below; else contact your "
    "provider",
}
SEND_BELOW = "Send your provider the message below."
# Why a stage has not passed, where the bundle's own word says too little to a person.
REASON = {
    "needs-stage": "needs a rung above",
    "raised": "raised an error",
    "deadline": "over its time limit",
}

Judge: TypeAlias = "Callable[[Observations], Judgement]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A bundle ready to be rendered.

    ``verdict`` and ``findings`` are ours; ``differences`` says where the file's own differ.
    ``banner`` is the sentence to put above everything when the file cannot be trusted.
    ``key_id`` is the fingerprint of an intact signature. ``place`` is where a run has just put the
    file, None when it is somebody's file.
    """

    bundle: Bundle
    verdict: Verdict
    findings: tuple[Finding, ...]
    look_at: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    banner: str | None = None
    key_id: str | None = None
    place: str | None = None


def shown_of(
    bundle: Bundle,
    *,
    banner: str | None = None,
    key_id: str | None = None,
    judge: Judge | None = None,
) -> Shown:
    """The bundle judged anew by this version's rules (or by ``judge``)."""
    from agent.judge import judge as our_judge

    observations = observations_of(bundle)
    judgement = (judge or our_judge)(observations)
    verdict = decide(observations, judgement.findings)
    return Shown(
        bundle=bundle,
        verdict=verdict,
        findings=judgement.findings,
        look_at=judgement.look_at,
        differences=tuple(_differences(bundle, verdict, judgement.findings)),
        banner=banner,
        key_id=key_id,
    )


def _differences(bundle: Bundle, verdict: Verdict, findings: tuple[Finding, ...]) -> Iterator[str]:
    said, ruled = bundle.verdict, verdict
    if said.status != ruled.status:
        yield f"status: the file says {said.status}, the rules say {ruled.status}"
    if said.decision != ruled.decision:
        yield f"decision: the file says {said.decision}, the rules say {ruled.decision}"
    ours = {finding.code for finding in findings}
    theirs = dict.fromkeys(finding.code for finding in bundle.findings)
    for code in theirs:
        if code not in ours:
            yield f"finding: the file says {code[:60]!a}, the rules do not"
    for code in sorted(ours - set(theirs)):
        yield f"finding: the rules say {code}, the file does not"


# ---------------------------------------------------------------- facts that reports show
def root_cause(shown: Shown) -> Finding | None:
    """The first finding that is more than a note."""
    grave = [finding for finding in shown.findings if finding.severity != "note"]
    return grave[0] if grave else None


def evidence(shown: Shown, finding: Finding, most: int = 3) -> list[tuple[str, str]]:
    """Up to ``most`` pieces of evidence as (pointer, value in few words)."""
    document = codec.to_json(shown.bundle)
    found = []
    for pointer in finding.evidence[:most]:
        value = resolve(document, pointer)
        found.append((pointer, _in_words(value)))
    return found


def resolve(document: Json, pointer: str) -> Json:
    """The value at a JSON pointer; None where it points nowhere."""
    value = document
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isascii() and name.isdigit() and len(name) < 7:
            value = value[int(name)] if int(name) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(name)
        else:
            return None
    return value


def _in_words(value: Json) -> str:
    if isinstance(value, str):
        lines = [line for line in value.splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(item)}" for key, item in list(value.items())[:6])
    if isinstance(value, list):
        return f"{len(value)} entries"
    return "not there" if value is None else str(value)


def versions(bundle: Bundle) -> tuple[tuple[str, str], ...]:
    """The version numbers that people confuse, as (what, version) of those that are known."""
    nvidia, amd = bundle.facts.drivers.nvidia, bundle.facts.drivers.amd
    data = import_data(bundle)
    found: list[tuple[str, object]] = []
    if nvidia is not None:
        found.append(("driver", nvidia.kernel_version or nvidia.userspace_version))
        found.append(("nvidia-smi's CUDA", nvidia.nvml_cuda_version or nvidia.cuda_version))
    if amd is not None:
        found += [("amdgpu driver", amd.kernel_version), ("ROCm", amd.rocm_version)]
    torch = chosen_torch_version(bundle)
    found += [
        ("torch", torch),
        ("torch's CUDA", data.get("cuda")),
        ("torch's HIP", data.get("hip")),
    ]
    found.append(("toolkit", toolkit_version(bundle)))
    return tuple((what, value) for what, value in found if isinstance(value, str) and value)


def chosen_torch_version(bundle: Bundle) -> str | None:
    """The version of torch under test: as imported, else as its files say."""
    imported = import_data(bundle).get("version")
    if isinstance(imported, str):
        return imported
    for interpreter in bundle.facts.interpreters:
        if interpreter.chosen and interpreter.torch is not None:
            return interpreter.torch.version
    return None


def python_under_test(bundle: Bundle) -> str | None:
    """The interpreter that was tested, as "3.11.7, /venv/bin/python"; None where none was."""
    for interpreter in bundle.facts.interpreters:
        if interpreter.chosen:
            return ", ".join(part for part in (interpreter.version, interpreter.path) if part)
    return None


def what_now(verdict: Verdict) -> str:
    """The decision as a sentence to the person, without its full stop."""
    if verdict.status == "degraded" and verdict.decision in DECISION_DEGRADED:
        return DECISION_DEGRADED[verdict.decision]
    if verdict.status == "inconclusive" and verdict.first_error is None:
        return "run this again with nothing left out, so that more is shown"
    return DECISION[verdict.decision]


def reason_in_words(stage: Stage) -> str:
    """Why a stage has not passed, in a few words; empty where nothing is said."""
    reason = stage.reason or ""
    return REASON.get(reason, reason.replace("-", " "))


def steps_and_message(finding: Finding) -> tuple[tuple[str, ...], str | None]:
    """The steps of a finding, and the sentence for the provider that one of them holds."""
    message = next((s.removeprefix(SEND) for s in finding.fix if s.startswith(SEND)), None)
    if message is None:
        return finding.fix, None
    steps = (s if not s.startswith(SEND) else SEND_BELOW for s in finding.fix)
    return tuple(steps), message.strip("“”")


def toolkit_version(bundle: Bundle) -> str | None:
    """The version of nvcc or hipcc, else the newest toolkit directory's name."""
    for tool in bundle.facts.toolkits.tools:
        if tool.name in ("nvcc", "hipcc") and tool.version:
            return tool.version
    toolkits = bundle.facts.toolkits.cuda_toolkits
    return toolkits[-1].rpartition("-")[2] if toolkits and "-" in toolkits[-1] else None


def import_data(bundle: Bundle) -> dict[str, Json]:
    """What the import stage measured; empty where it did not run."""
    for stage in bundle.stages:
        if stage.name == "import" and stage.data:
            return dict(stage.data)
    return {}


def blamed_devices(shown: Shown, finding: Finding) -> tuple[Device, ...]:
    """The devices that a finding's evidence points at; all, where it points at none."""
    devices = shown.bundle.facts.devices
    named = set()
    for pointer in finding.evidence:
        parts = pointer.split("/")
        if len(parts) > 3 and parts[1:3] == ["facts", "devices"] and parts[3].isdigit():
            named.add(int(parts[3]))
        if len(parts) > 2 and parts[1] == "stages" and parts[2].isdigit():
            named |= _devices_of(shown.bundle.stages, devices, int(parts[2]))
    blamed = tuple(device for index, device in enumerate(devices) if index in named)
    return blamed or devices


def _devices_of(stages: tuple[Stage, ...], devices: tuple[Device, ...], index: int) -> set[int]:
    if index >= len(stages):
        return set()
    subject = stages[index].subject
    return {number for number, device in enumerate(devices) if subject == f"gpu:{device.id}"}
