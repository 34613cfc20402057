"""What is to be done later, and when is the next of it?"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Timer:
    """An action that is taken at a time, unless it is cancelled before."""

    action: Callable[[], None]
    cancelled: bool = False


@dataclass(slots=True, eq=False)
class Timers:
    """Actions by the time at which they are due."""

    heap: list[tuple[float, int, Timer]] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def add(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Has an action taken after some seconds; after infinitely many, never."""
        timer = Timer(action)
        if seconds < math.inf:
            due = time.monotonic() + max(0.0, seconds)
            heapq.heappush(self.heap, (due, next(self.numbers), timer))
        return timer

    def next_at(self) -> float:
        """The monotonic time at which something is due; infinite if nothing is."""
        return self.heap[0][0] if self.heap else math.inf

    def take_due(self) -> None:
        """Takes the actions that are due, in order."""
        now = time.monotonic()
        while self.heap and (self.heap[0][0] <= now or self.heap[0][2].cancelled):
            timer = heapq.heappop(self.heap)[2]
            if not timer.cancelled:
                timer.action()
