"""What do the drivers say: the stage ``driver``, its facts, and the children that ask."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from ..model import Device, ErrorText, Facts, Gap, Interpreter, Json, Stage, Step, Vendor
from .device_records import Reported, gaps_of, reported_devices
from .driver_answers import (
    DEAD,
    NO_DEVICE,
    answer_word,
    as_object,
    call_result,
    data_of,
    death,
    has_node,
    last_call,
    on_pci,
    why_not,
)
from .driver_merge import (
    api_devices,
    left_over,
    merge_api,
    name_the_lost,
    with_kernel_facts,
)
from .driver_versions import read_drivers

QUESTIONS = ("nvml", "cuda", "amd_smi", "hip")
VENDORS: Mapping[str, Vendor] = {"nvml": "nvidia", "cuda": "nvidia", "amd_smi": "amd", "hip": "amd"}
BACKEND_VENDORS: Mapping[str, Vendor] = {"cuda": "nvidia", "rocm": "amd"}


def driver_tasks(target: Interpreter | None = None) -> tuple[tuple[Mapping[str, Json], ...], ...]:
    """The tasks of the stage's children, one tuple a child, for the agent's interpreter.

    A child asks in turn, NVML before CUDA: the context that the CUDA question opens must not be
    seen as another's use of the device. ``target`` names the HIP library that its torch brings.
    """
    nvml = {"python_paths": _where("pynvml")}
    amd = {"python_paths": _where("amdsmi")}
    options: Mapping[str, Mapping[str, Json]] = {
        "nvml": nvml,
        "cuda": {},
        "amd_smi": amd,
        "hip": {"hip_libraries": hip_libraries(target)},
    }
    tasks = {
        name: {"stage": "driver", "subject": name, "options": {"question": name, **options[name]}}
        for name in QUESTIONS
    }
    return (tasks["nvml"], tasks["cuda"]), (tasks["amd_smi"], tasks["hip"])


def hip_libraries(target: Interpreter | None) -> list[str]:
    """The files of libamdhip64 that a ROCm build of torch loads before the system's own.

    It lies beside torch, or since ROCm 7 in a package of its own.
    """
    if target is None or target.torch is None or not target.torch.path:
        return []
    torch = Path(target.torch.path)
    places = (torch / "lib", torch.parent / "_rocm_sdk_core" / "lib")
    found = [path for place in places for path in sorted(place.glob("libamdhip64.so*"))]
    return [str(path) for path in found[:4]]


def _where(module: str) -> list[str]:
    """The folder or zip file that a module of the agent's lies in; empty if it has none."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return []
    if spec is None or not spec.origin:
        return []
    origin = Path(spec.origin)
    return [str(origin.parent.parent if spec.submodule_search_locations else origin.parent)]


def read_driver(
    answers: Sequence[Stage], facts: Facts, *, backend: str = "auto", keep_serials: bool = False
) -> tuple[Facts, Stage, tuple[Gap, ...]]:
    """The facts with devices and drivers, the stage ``driver``, and what could not be learnt.

    ``answers`` are the stages of the children of ``driver_tasks``, ``subject`` being the
    question; one that is missing was not asked. ``facts`` are the host's.
    """
    by_question = {answer.subject: answer for answer in answers if answer.name == "driver"}
    reported, gaps = _devices(by_question, facts, keep_serials)
    devices = tuple(entry.device for entry in reported)
    drivers, more = read_drivers(by_question, facts)
    gaps += more
    facts = replace(facts, devices=devices, drivers=drivers)
    stage = _stage(by_question, facts, backend)
    gaps += _unanswered(by_question, stage)
    if not devices:
        why = "no NVIDIA or AMD device is visible to this process"
        gaps.append(Gap(pointer="/facts/devices", why=why, said_by="driver"))
    return facts, stage, (*gaps_of(reported), *gaps)


# ---------------------------------------------------------------- devices
def _devices(
    answers: Mapping[str, Stage], facts: Facts, keep_serials: bool
) -> tuple[list[Reported], list[Gap]]:
    found: list[Reported] = []
    gaps: list[Gap] = []
    pairs: tuple[tuple[Vendor, str, str], ...] = (
        ("nvidia", "nvml", "cuda"),
        ("amd", "amd_smi", "hip"),
    )
    for vendor, manager, api in pairs:
        said = data_of(answers, manager)
        listed = reported_devices(said, vendor, keep_serials=keep_serials)
        calls = api_devices(data_of(answers, api))
        found += merge_api(listed, calls, vendor)
        if not listed or (manager in answers and answers[manager].status in DEAD):
            found += calls_only(left_over(listed, calls, vendor), vendor)
        gaps += _left_out(said, manager) + _left_out(data_of(answers, api), api)
    return _with_unique_ids(with_kernel_facts(name_the_lost(found, facts), facts)), gaps


def _left_out(said: Mapping[str, Json], question: str) -> list[Gap]:
    """What a child did not ask of the devices, and why."""
    reasons = []
    if isinstance(said.get("peers_left_out"), str):
        reasons.append(f"peers: {said['peers_left_out']}")
    if isinstance(said.get("devices_left_out"), str):
        reasons.append(str(said["devices_left_out"]))
    error = said.get("count_error")
    if isinstance(error, dict):
        reasons.append(f"{error.get('call')}: {error.get('text')}")
    return [Gap(pointer="/facts/devices", why=why, said_by=question) for why in reasons]


def calls_only(calls: Sequence[Mapping[str, Json]], vendor: Vendor) -> list[Reported]:
    """Devices that only the driver API lists, as on a Jetson or without a management library."""
    bare = []
    for call in calls:
        index = int(call["index"])
        name = call.get("uuid") or call.get("pci_address") or f"{vendor}:{index}"
        # HIP's UUID is not the one that amdsmi gives, so it never names a device.
        uuid = call.get("uuid") if vendor == "nvidia" else None
        address = call.get("pci_address")
        device = Device(
            id=str(uuid or address or name),
            vendor=vendor,
            uuid=uuid,
            pci_address=address,
            name=call.get("name"),
            driver_index=index,
        )
        bare.append(Reported(device=device, index=index))
    return merge_api(bare, calls, vendor)


def _with_unique_ids(found: list[Reported]) -> list[Reported]:
    """The devices with ids that differ, which partitions of a card may not have by themselves."""
    seen: set[str] = set()
    done = []
    for entry in found:
        device = entry.device
        numbered = (f"{device.id}#{number}" for number in count())
        options = chain((device.id, device.pci_address), numbered)
        chosen = next(name for name in options if name and name not in seen)
        seen.add(chosen)
        done.append(replace(entry, device=replace(device, id=chosen)))
    return done


# ---------------------------------------------------------------- the stage
def _stage(answers: Mapping[str, Stage], facts: Facts, backend: str) -> Stage:
    """``passed`` when the questions were asked; ``failed`` where something present refuses."""
    words = {name: answer_word(answers, name) for name in QUESTIONS}
    words["pci"] = "ok" if facts.host.pci else "absent"
    data = {"questions": words, "counts": _counts(answers, facts), "missing": _unseen(facts)}
    data["copies"] = _copies(answers)
    worst = _worst(answers, facts, backend)
    base = Stage(
        name="driver",
        subject="host",
        status="passed",
        seconds=max(_seconds(answers, ("nvml", "cuda")), _seconds(answers, ("amd_smi", "hip"))),
        steps=_steps(answers),
        data=data,
    )
    if worst is None:
        return base
    text = death(worst) if worst.status in DEAD else ""
    return replace(
        base,
        status=worst.status,
        reason=worst.reason,
        error=worst.error or ErrorText(type=worst.status, text=text),
        exit_code=worst.exit_code,
        signal=worst.signal,
        stderr_tail=worst.stderr_tail,
    )


def _seconds(answers: Mapping[str, Stage], names: Sequence[str]) -> float:
    """How long a child took that asked these questions in turn; the children ran at once."""
    return sum(answers[name].seconds for name in names if name in answers)


def _worst(answers: Mapping[str, Stage], facts: Facts, backend: str) -> Stage | None:
    """The answer that decides the stage, None if nothing present refuses.

    What one vendor's library refuses does not count where the other vendor's devices work: an
    integrated AMD GPU beside NVIDIA cards is usual, and so is ROCm in a CUDA image.
    """
    works: set[Vendor] = {VENDORS[name] for name in ("cuda", "hip") if _opened(answers, name)}
    if backend in BACKEND_VENDORS:
        works.add(BACKEND_VENDORS[backend])
    for status in (*DEAD, "failed"):
        for name in QUESTIONS:
            answer = answers.get(name)
            if answer is None or (works and VENDORS[name] not in works):
                continue
            if answer.status == status and not _nothing_there(answer, name, facts):
                return answer
            if status == "failed" and (refused := _all_refused(answer)) is not None:
                return refused
    return None if works else _closed_node(facts)


def _opened(answers: Mapping[str, Stage], name: str) -> bool:
    calls = api_devices(data_of(answers, name))
    return any(call.get("copy") and not call.get("refused") for call in calls)


def _nothing_there(answer: Stage, name: str, facts: Facts) -> bool:
    """Whether "no device" is the plain truth: neither PCI nor a node nor the library has one."""
    call = call_result(answer.data.get("call"))
    if call is None or call.code not in NO_DEVICE[name]:
        return False
    vendor = VENDORS[name]
    node = "/dev/nvidia" if vendor == "nvidia" else "/dev/kfd"
    seen = any(device.vendor == vendor for device in facts.devices)
    return not (seen or on_pci(facts, vendor) or has_node(facts, node))


def _all_refused(answer: Stage) -> Stage | None:
    """The answer as failed if the driver API lists devices and not one of them can be used."""
    calls = api_devices(answer.data)
    bad = [call for call in calls if call.get("refused") or _differing(call)]
    if not calls or len(bad) < len(calls):
        return None
    said = call_result(bad[0].get("refused"))
    if said is None:
        text = f"a copy to the device and back changed {_differing(bad[0])} bytes"
        error = ErrorText(type="wrong-result", text=text)
        return replace(answer, status="failed", reason="wrong-result", error=error)
    error = ErrorText(
        type=said.name or "refused", text=f"{said.call} returned {said.code}: {said.text}"
    )
    return replace(answer, status="failed", reason="refused", error=error)


def _differing(call: Mapping[str, Json]) -> int:
    return int(as_object(call.get("copy")).get("differing") or 0)


def _closed_node(facts: Facts) -> Stage | None:
    """A failed answer for a device node that is there and may not be opened."""
    for node in facts.host.nodes:
        watched = node.path == "/dev/kfd" or node.path.startswith("/dev/nvidia")
        if watched and "/nvidia-caps/" not in node.path and node.present and node.openable is False:
            error = ErrorText(type=node.error or "EACCES", text=f"{node.path} cannot be opened")
            return Stage(
                name="driver", subject="host", status="failed", reason="refused", error=error
            )
    return None


def _counts(answers: Mapping[str, Stage], facts: Facts) -> dict[str, Json]:
    """How many devices each source knows; None where it did not say."""
    numbered = re.compile(r"/dev/nvidia\d+")
    return {
        "pci_nvidia": sum(device.vendor == "nvidia" for device in facts.host.pci),
        "pci_amd": sum(device.vendor == "amd" for device in facts.host.pci),
        "kernel_nvidia": sum(gpu.vendor == "nvidia" for gpu in facts.host.kernel_gpus),
        "kernel_amd": sum(gpu.vendor == "amd" for gpu in facts.host.kernel_gpus),
        "nodes_nvidia": sum(
            bool(numbered.fullmatch(node.path)) and node.present for node in facts.host.nodes
        ),
        **{name: _count(answers, name) for name in QUESTIONS},
    }


def _count(answers: Mapping[str, Stage], name: str) -> int | None:
    count = data_of(answers, name).get("count")
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _unseen(facts: Facts) -> list[Json]:
    """GPUs that the bus or the kernel drivers list and no library does.

    A container's /sys shows every card of its host, so there only what the kernel drivers show
    to the container counts.
    """
    seen = {device.pci_address for device in facts.devices}
    listed = {gpu.address: (gpu.vendor, "kernel driver") for gpu in facts.host.kernel_gpus}
    if facts.container.kind == "none":
        listed = {entry.address: (entry.vendor, "pci") for entry in facts.host.pci} | listed
    return [
        {"address": address, "vendor": vendor, "listed_by": listed_by}
        for address, (vendor, listed_by) in sorted(listed.items())
        if address not in seen and f"{address[:-1]}0" not in seen
    ]


def _copies(answers: Mapping[str, Stage]) -> list[Json]:
    """For each device of the driver APIs: did a small copy come back the same."""
    found: list[Json] = []
    for name in ("cuda", "hip"):
        for call in api_devices(data_of(answers, name)):
            entry: dict[str, Json] = {"api": name, "index": call["index"], "name": call.get("name")}
            entry.update({"pci_address": call.get("pci_address"), "uuid": call.get("uuid")})
            entry["refused"] = call.get("refused")
            entry["differing_bytes"] = _differing(call) if call.get("copy") else None
            found.append(entry)
    return found


def _steps(answers: Mapping[str, Stage]) -> tuple[Step, ...]:
    """One step a question; of a question that never ended, the call that it stands in."""
    steps: list[Step] = []
    for name in QUESTIONS:
        answer = answers.get(name)
        if answer is None:
            continue
        if answer.status in DEAD:
            steps.append(Step(name=f"{name}: {last_call(answer)}", seconds=None))
        else:
            steps.append(Step(name=name, seconds=answer.seconds))
    return tuple(steps)


def _unanswered(answers: Mapping[str, Stage], stage: Stage) -> list[Gap]:
    """A gap for each question that got no answer, with the reason."""
    gaps = []
    for name in QUESTIONS:
        word = stage.data["questions"][name]
        if word != "ok":
            pointer = f"/stages/driver/data/questions/{name}"
            gaps.append(Gap(pointer=pointer, why=f"{word}: {why_not(answers, name)}", said_by=name))
    return gaps
