"""What did a child answer to a question of the driver stage?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..model import CallResult, Facts, Json, Stage, Vendor

_FRAME = re.compile(r'^  File "[^"\n]*", line \d+ in (nvml\w+|amdsmi_\w+)', re.MULTILINE)
DEAD = ("crashed", "timed_out", "interrupted")
# What the libraries say where there is no device; on a machine without one it is no refusal.
NO_DEVICE: Mapping[str, tuple[int, ...]] = {
    "nvml": (9,),  # NVML_ERROR_DRIVER_NOT_LOADED: the modules do not load without a GPU
    "cuda": (100,),  # CUDA_ERROR_NO_DEVICE
    "amd_smi": (18, 31, 34),  # AMDSMI_STATUS_INIT_ERROR, NOT_FOUND, DRIVER_NOT_LOADED
    "hip": (100, 101),  # hipErrorNoDevice; hipInit gives hipErrorInvalidDevice in some releases
}


def last_call(answer: Stage) -> str:
    """The call that a question's child died in, after what was announced last.

    Python's fault handler names the function in the traceback that it prints on a crash or on
    SIGTERM, the innermost first; without one the announced calls stand.
    """
    announced = answer.steps[-1].name if answer.steps else "start"
    where, _, calls = announced.rpartition(": ")
    found = _FRAME.search(answer.stderr_tail or "")
    if found is None or found[1] not in calls.split(", "):
        return announced
    return f"{where}: {found[1]}"


def death(answer: Stage) -> str:
    """Where and how a question's child ended, in words."""
    how = {"crashed": answer.signal or "an early exit", "timed_out": "its deadline"}
    ended = how.get(answer.status, "interruption")
    return f"the question to {answer.subject} ended by {ended} in {last_call(answer)}"


def answer_word(answers: Mapping[str, Stage], name: str) -> str:
    """ok, absent, refused, or unknown where the question got no answer."""
    answer = answers.get(name)
    if answer is None or answer.status in DEAD:
        return "unknown"
    word = answer.data.get("answer")
    if word in ("ok", "absent", "refused"):
        return str(word)
    return "refused" if answer.status == "failed" else "unknown"


def data_of(answers: Mapping[str, Stage], name: str) -> Mapping[str, Json]:
    """What the question's child reported; empty if it was not asked."""
    return answers[name].data if name in answers else {}


def as_object(value: Json) -> dict[str, Json]:
    """The value if it is a JSON object, else an empty one."""
    return dict(value) if isinstance(value, dict) else {}


def as_text(value: Json) -> str | None:
    """The value if it is text that says something, cut to 400 characters."""
    return value[:400] if isinstance(value, str) and value else None


def on_pci(facts: Facts, vendor: Vendor) -> bool:
    """Whether a GPU of the vendor stands on the PCI bus."""
    return any(entry.vendor == vendor for entry in facts.host.pci)


def has_node(facts: Facts, prefix: str) -> bool:
    """Whether a device node with this beginning exists."""
    return any(node.path.startswith(prefix) and node.present for node in facts.host.nodes)


def why_not(answers: Mapping[str, Stage], question: str) -> str:
    """Why a question gave no value, in the library's words where it has any."""
    answer = answers.get(question)
    if answer is None:
        return "not asked"
    if answer.status in DEAD:
        return death(answer)
    call = call_result(answer.data.get("call"))
    if call is not None and call.text and answer.data.get("answer") != "ok":
        return f"{call.call}: {call.text}"
    return answer.error.text if answer.error else "the library did not say"


def call_result(value: Json) -> CallResult | None:
    """A call as the child reported it, None if it is none."""
    said = as_object(value)
    if not isinstance(said.get("call"), str):
        return None
    code = said.get("code")
    number = code if isinstance(code, int) and not isinstance(code, bool) else None
    return CallResult(
        call=said["call"][:80],
        code=number,
        name=as_text(said.get("name")),
        text=as_text(said.get("text")),
    )
