"""What has a worker come to so far, and who hears of it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.model import ErrorText, Gap, Stage
from agent.run.child import Exit
from agent.run.tasks import EACH_DEVICE, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something to show or to note: a stage ``begin``s, takes a ``step``, has ended (``stage``)."""

    kind: str
    stage: str
    subject: str
    step: str | None = None
    result: Stage | None = None


def ignore_event(event: Event) -> None:
    """For callers that wait for the end."""


@dataclass(slots=True, eq=False)
class Outcome:
    """The stages and gaps of a worker as they come, told to a listener."""

    listener: Callable[[Event], None]
    stages: list[Stage] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def begin(self, stage: str, subject: str) -> None:
        """A stage begins."""
        self.listener(Event(kind="begin", stage=stage, subject=subject))

    def step(self, task: Task, name: str | None) -> None:
        """A stage takes a step."""
        self.listener(Event(kind="step", stage=task.stage, subject=task.subject, step=name))

    def keep(self, stage: Stage) -> None:
        """A stage has ended."""
        self.stages.append(stage)
        self.listener(Event(kind="stage", stage=stage.name, subject=stage.subject, result=stage))

    def skip(self, task: Task, reason: str, text: str) -> None:
        """A stage does not begin at all."""
        said = ErrorText(type=reason, text=text)
        # Which devices there are is not known where the stage that lists them did not come.
        subject = "host" if task.subject == EACH_DEVICE else task.subject
        self.keep(
            Stage(name=task.stage, subject=subject, status="skipped", reason=reason, error=said)
        )

    def contradicted(self, name: str, subject: str, status: str) -> None:
        """A stage that had ended ended again, which only foreign code in its process can cause."""
        for kept in self.stages:
            if (kept.name, kept.subject) == (name, subject) and kept.status != status:
                why = f"{name} on {subject} was {kept.status} first and {status} later"
                gap = Gap(pointer="/stages", why=f"records: {why}", said_by="runner")
                if gap not in self.gaps:
                    self.gaps.append(gap)

    def gap(self, what: str, why: str) -> None:
        """Something about the stages could not be learnt, or not in the usual way."""
        self.gaps.append(Gap(pointer="/stages", why=f"{what}: {why}", said_by="runner"))

    def note(self, ended: Exit) -> None:
        """What must be said of a process apart from its stages."""
        if ended.bad_records:
            self.gap("records", f"{ended.bad_records} unreadable, the first: {ended.first_bad}")
        if ended.left_behind:
            self.gap("processes", f"{ended.left_behind} outlived their worker and were ended")
        if ended.ended_by == "unkillable":
            self.gap("processes", "a worker did not end on SIGKILL and may still run")

    def passed(self, name: str) -> bool:
        """Whether a stage has passed for some subject."""
        return any(stage.name == name and stage.status == "passed" for stage in self.stages)
