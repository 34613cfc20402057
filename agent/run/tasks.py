"""What is a worker asked to do, in which order, and what may be left out because a stage failed?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.ladder import RUNGS
from agent.model import Json, Stage

EACH_DEVICE = "each-device"  # as a subject: one task for each device that stage ``device`` listed
IN_WORKER = ("interpreter", "import")  # stages that touch no device, so that forks stay sound


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One stage for one subject; ``options`` go to the probe as they are.

    ``fresh``: a process of its own, never a fork of the one that imported torch.
    ``deadline_seconds`` replaces the ladder's.
    """

    stage: str
    subject: str = "host"
    options: Mapping[str, Json] = field(default_factory=dict)
    fresh: bool = False
    deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one worker is to do, in which interpreter, under which bounds.

    ``module`` is the module of probes/ whose ``main`` runs the tasks. With ``one_process`` it runs
    all of them in a row, without forks. ``deadlines`` replaces those of the ladder, in seconds.
    ``at_once`` bounds parallel device tasks; without it cores and free memory do.
    ``extra`` goes into the plan; ``sources`` replaces probes/, for tests.
    """

    python: str
    tasks: tuple[Task, ...]
    environ: Mapping[str, str]
    backend: str = "auto"
    depth: str = "quick"
    module: str = "worker"
    one_process: bool = False
    fork: bool = True
    hold: bool = False  # stages that touch a device wait for ``Worker.release``
    at_once: int | None = None
    memory_limit_bytes: int | None = None
    grace_seconds: float = 0.5
    deadlines: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)
    sources: Mapping[str, str] | None = None


def deadline_of(order: Order, stage: str, task: Task | None = None) -> float:
    """Seconds that one subject of a stage may take; a task's own count if it is named."""
    if task is not None and task.deadline_seconds is not None:
        return task.deadline_seconds
    if stage in order.deadlines:
        return order.deadlines[stage]
    return RUNGS[stage].deadline_seconds if stage in RUNGS else 120.0


def plan_of(order: Order, tasks: Iterable[Task], fork: bool) -> dict[str, Json]:
    """The plan as JSON, for a process that is to run these tasks itself."""
    return {
        **order.extra,
        "tasks": [task_json(task) for task in tasks],
        "backend": order.backend,
        "depth": order.depth,
        "module": order.module,
        "fork": fork,
    }


def task_json(task: Task) -> dict[str, Json]:
    """The task as the worker reads it."""
    return {"stage": task.stage, "subject": task.subject, "options": dict(task.options)}


def take_batch(queue: list[Task], in_one_process: bool) -> list[Task]:
    """Removes from the queue what may run together: one stage, or one process's row of them."""
    if not queue:
        return []
    if in_one_process:
        count = len(queue)
    elif queue[0].stage in IN_WORKER:
        count = _leading(queue, IN_WORKER)
    else:
        count = _leading(queue, (queue[0].stage,))
    batch, queue[:] = queue[:count], queue[count:]
    return batch


def _leading(queue: Sequence[Task], stages: tuple[str, ...]) -> int:
    for place, task in enumerate(queue):
        if task.stage not in stages:
            return place
    return len(queue)


def expand(task: Task, stages: Sequence[Stage]) -> list[Task]:
    """The task for each device that the stage ``device`` listed, or for the host without one.

    A device's subject is its UUID, else its PCI address, else torch's index.
    """
    if task.subject != EACH_DEVICE:
        return [task]
    seen = [stage.data for stage in stages if stage.name == "device" and stage.status == "passed"]
    devices = seen[-1].get("devices") if seen else None
    if not isinstance(devices, list) or not devices or seen[-1].get("backend") == "cpu":
        return [replace(task, subject="host")]
    return [
        replace(task, subject=subject_of(device, place), options=_for_device(task, device, place))
        for place, device in enumerate(devices)
        if isinstance(device, dict)
    ]


def subject_of(device: Mapping[str, Json], place: int) -> str:
    """What the probe calls the device, else ``gpu:`` and what names it best."""
    said = device.get("id")
    if isinstance(said, str) and said.startswith("gpu:"):
        return said
    name = device.get("uuid") or device.get("pci_address")
    return f"gpu:{name if isinstance(name, str) else device.get('index', place)}"


def _for_device(task: Task, device: Mapping[str, Json], place: int) -> dict[str, Json]:
    index = device.get("index", place)
    return {**task.options, "index": index if isinstance(index, int) else place}


def missing_need(task: Task, stages: Sequence[Stage]) -> str | None:
    """The stage that this one needs and that did not pass, or None.

    A needed stage that nobody attempted counts as met: it was left out on purpose. One that was
    attempted for this very subject decides for it alone.
    """
    needs = RUNGS[task.stage].needs if task.stage in RUNGS else ()
    for name in needs:
        tried = [stage for stage in stages if stage.name == name]
        own = [stage for stage in tried if stage.subject == task.subject]
        if tried and not any(stage.status == "passed" for stage in own or tried):
            return name
    return None


def left_as_one(left: list[tuple[Task, str]], able: Sequence[Task]) -> list[tuple[Task, str]]:
    """The tasks that cannot be tried and why; one for the host where no extension can be."""
    extensions = [one for one in left if one[0].subject.startswith("ext:")]
    if able or len(extensions) < 2:
        return left
    task, need = extensions[0]
    others = [one for one in left if one not in extensions]
    return [*others, (Task(stage=task.stage), need)]


def needs_torch(stage: str) -> bool:
    """Whether a stage imports torch when it runs in a process of its own."""
    needs = RUNGS[stage].needs if stage in RUNGS else ()
    return "import" in needs or any(needs_torch(name) for name in needs)
