"""Serves many child processes at once in one loop, whatever they do, and ends all that they leave.

Nothing here waits for a child without a bound. Every system call that a sandbox may refuse
(pidfd, subreaper, lists of children) is tried, and there is a second way.
"""

from __future__ import annotations

import itertools
import math
import os
import secrets
import selectors
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from agent.model import ErrorText
from agent.processes import held_bytes, tree_of
from agent.run import kin
from agent.run.channel import drain, left_over, read_lines
from agent.run.child import Child, EndedBy, Exit, Running, exit_of
from agent.run.guard import Guard, dismiss, start_guard, tell
from agent.run.orphans import adopted, reap, set_subreaper, sweep
from agent.run.records import BadRecordError, Record, parse_record
from agent.run.spawn import has_exited, spawn, write_source
from agent.run.spawn import reap as reap_child
from agent.run.timers import Timer, Timers

MEMORY_SECONDS = 0.1  # between two looks at what a child holds
POLL_SECONDS = 0.02  # between two looks at a child that no pidfd reports


def _ignore_record(record: Record) -> None:
    """For children whose records nobody wants."""


class Runner:
    """The loop. Create, start children from the same thread, ``serve``, ``close``.

    That thread must outlive its children: the kernel's parent-death signal is tied to the thread
    that started them. ``deadline_seconds`` bounds the whole run. The ``use_…`` switches force the
    second ways, which are taken by themselves where a sandbox refuses the first.
    """

    def __init__(
        self,
        *,
        run_id: str | None = None,
        deadline_seconds: float = math.inf,
        unkillable_seconds: float = 5.0,
        guarded: bool = True,
        use_pidfd: bool = True,
        use_subreaper: bool = True,
        use_packets: bool = True,
        send_group: Callable[[int, int], None] = os.killpg,
    ) -> None:
        self.run_id = run_id or secrets.token_hex(8)
        self.deadline = time.monotonic() + deadline_seconds
        self.unkillable_seconds = unkillable_seconds
        self.use_pidfd = use_pidfd
        self.use_packets = use_packets
        self.send_group = send_group
        self.interrupted: str | None = None
        # What the guard would do if the agent were killed, done while it still watches.
        self.when_children_are_gone: Callable[[], None] = lambda: None
        self.running: list[Running] = []
        self.unkillable: list[int] = []
        self._selector = selectors.DefaultSelector()
        self._timers = Timers()
        self._numbers = itertools.count()
        self._memory_at = 0.0
        self._stopping = False
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        os.set_blocking(self._wake_writer, False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        self.guard = (
            start_guard(self.run_id) if guarded else Guard(self.run_id, why_not="not asked")
        )
        self._before = set(kin.children_of(os.getpid()) or ())  # others' children, left alone
        self.is_subreaper = use_subreaper and set_subreaper(True)

    # ------------------------------------------------------------ what callers use
    def start(
        self,
        child: Child,
        on_exit: Callable[[Exit], None],
        on_record: Callable[[Record], None] = _ignore_record,
    ) -> Running | None:
        """Starts a child and returns at once; None if it could not be, after ``on_exit``."""
        if self.over:
            ended: EndedBy = "interrupted" if self.interrupted else "deadline"
            on_exit(Exit(ended_by=ended))
            return None
        try:
            marker = f"{self.run_id}.{next(self._numbers)}."
            running = spawn(child, marker, on_record, on_exit, self.use_packets)
        except (OSError, ValueError) as error:
            said = ErrorText(type=type(error).__name__, text=str(error))
            on_exit(Exit(ended_by="not-started", error=said))
            return None
        running.deadline = min(running.deadline, self.deadline)
        self.running.append(running)
        self._register(running)
        tell(self.guard, f"+{running.pid}")
        return running

    def send(self, running: Running, line: bytes, *, last: bool = False) -> None:
        """Sends a further line to a speaking child; ``last`` closes the way there."""
        running.unsent += line
        running.close_source = running.close_source or last
        self._write_source(running)

    def later(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Has the loop take an action after some seconds."""
        return self._timers.add(seconds, action)

    def stop(self, running: Running, why: EndedBy = "stopped") -> None:
        """Ends a child: SIGTERM, and SIGKILL after its grace; ``on_exit`` comes later."""
        if running.why is not None or running.exited:
            return
        running.why = why
        running.kill_at = time.monotonic() + running.child.grace_seconds
        self._signal_child(running, signal.SIGTERM)

    def stop_group(self, running: Running, group: int) -> None:
        """Ends one forked process of a child with its group, and leaves the child alone."""
        if group not in running.groups or running.exited:
            return
        self._signal_group(group, signal.SIGTERM)

        def kill() -> None:
            if group in running.groups:
                self._signal_group(group, signal.SIGKILL)

        self.later(running.child.grace_seconds, kill)

    def adopt_group(self, running: Running, pid: int) -> bool:
        """Notes that a child forked a process with a group of its own; False if that is not so.

        The number comes from the child, which may lie; only a process of its session counts.
        """
        found = kin.read_process(pid)
        if found is None or found.session != running.pid or found.group != pid:
            return False
        running.groups.add(pid)
        return True

    def drop_group(self, running: Running, group: int) -> None:
        """The child has reaped that fork; what the fork left in its group ends now."""
        if group in running.groups:
            if self._group_is_ours(running, group):
                self._signal_group(group, signal.SIGKILL)
            running.groups.discard(group)

    def interrupt(self, name: str) -> None:
        """Ends the run from a signal handler: ``serve`` ends all children and returns.

        The second call does without the grace.
        """
        if self.interrupted is None:
            self.interrupted = name
        else:
            self._stopping = False
        with suppress(OSError):
            os.write(self._wake_writer, b"!")

    @property
    def over(self) -> bool:
        """Whether no further child may be started."""
        return self.interrupted is not None or time.monotonic() >= self.deadline

    def serve(self, until: Callable[[], bool] | None = None) -> None:
        """Runs the loop until no child is left, or until ``until`` says so."""
        while self.running and not (until is not None and until()):
            self._turn()

    def close(self) -> None:
        """Ends what still runs, looks once more for processes left over, dismisses the guard."""
        for running in list(self.running):
            self.stop(running)
            running.kill_at = time.monotonic()
        self.serve()
        if self.is_subreaper:  # whatever lost its parent is the agent's child by now
            kin.end_all(lambda: reap(adopted(self._known())), 1.0, 0.01)
            set_subreaper(False)
        else:
            kin.end_all(lambda: kin.kin(f"{self.run_id}.", ()), 1.0, 0.01)
        self.when_children_are_gone()
        dismiss(self.guard)
        self._selector.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------ starting
    def _register(self, running: Running) -> None:
        for descriptor in (running.out.reader, running.err.reader):
            self._selector.register(descriptor, selectors.EVENT_READ, running)
        if running.channel is not None:
            self._selector.register(running.channel.reader, selectors.EVENT_READ, running)
        if self.use_pidfd:
            with suppress(OSError):
                running.pidfd = os.pidfd_open(running.pid)
                self._selector.register(running.pidfd, selectors.EVENT_READ, running)
        self._write_source(running)

    def _write_source(self, running: Running) -> None:
        descriptor = running.source_fd
        if descriptor is None:
            return
        registered = descriptor in self._selector.get_map()
        if write_source(running):
            if not registered:
                self._selector.register(descriptor, selectors.EVENT_WRITE, running)
            return
        if registered:
            self._selector.unregister(descriptor)
        if running.close_source:
            os.close(descriptor)
            running.source_fd = None

    # ------------------------------------------------------------ one turn of the loop
    def _turn(self) -> None:
        busy: dict[int, Running] = {}
        for key, _ in self._selector.select(self._patience()):
            running: Running | None = key.data
            if running is None:
                with suppress(BlockingIOError):
                    os.read(self._wake_reader, 4096)
            elif key.fd == running.pidfd:
                running.exited = True
            elif key.fd == running.source_fd:
                self._write_source(running)
            else:
                busy[running.pid] = running
        for running in busy.values():
            self._hear(running)
        self._timers.take_due()
        if self.over and not self._stopping:
            self._stop_all()
        for running in list(self.running):
            self._look_after(running)
        self._watch_memory()

    def _patience(self) -> float | None:
        """Seconds until something must be looked at though no descriptor stirs."""
        now = time.monotonic()
        times = [self._timers.next_at()] + ([self.deadline] if self.running else [])
        for running in self.running:
            times += [
                moment
                for moment in (running.deadline, running.kill_at, running.give_up_at)
                if moment is not None and (running.why is None or moment != running.deadline)
            ]
            if running.pidfd is None:
                times.append(now + POLL_SECONDS)
            if running.child.memory_limit_bytes is not None:
                times.append(self._memory_at)
        soonest = min(times, default=math.inf)
        return None if soonest == math.inf else max(0.0, soonest - now)

    def _hear(self, running: Running) -> None:
        """Reads records, then noise, then acts on the records: noise precedes its stage's end."""
        lines = read_lines(running.channel) if running.channel is not None else []
        running.err_before = running.err.total
        drain(running.out)
        drain(running.err)
        for tail in (running.out, running.err):
            self._forget_closed(tail.reader, tail.open)
        if running.channel is not None:
            self._forget_closed(running.channel.reader, running.channel.open)
        for line in lines:
            try:
                record = parse_record(line)
            except BadRecordError as error:
                self._count_bad(running, f"{error}: {line[:80]!a}")
            else:
                running.records += 1
                running.on_record(record)

    def _forget_closed(self, descriptor: int, is_open: bool) -> None:
        if not is_open and descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    @staticmethod
    def _count_bad(running: Running, what: str) -> None:
        running.bad += 1
        if running.first_bad is None:
            running.first_bad = what

    def _stop_all(self) -> None:
        again = any(running.why == "interrupted" for running in self.running)
        self._stopping = True
        for running in self.running:
            self.stop(running, "interrupted" if self.interrupted else "deadline")
            if again and running.give_up_at is None:
                running.kill_at = time.monotonic()

    def _look_after(self, running: Running) -> None:
        now = time.monotonic()
        if not running.exited and running.pidfd is None:
            running.exited = has_exited(running.pid)
        if running.exited:
            self._finish(running)
        elif running.give_up_at is not None and now >= running.give_up_at:
            running.why = "unkillable"
            self.unkillable.append(running.pid)
            self._finish(running)
        elif running.kill_at is not None and now >= running.kill_at:
            self._signal_child(running, signal.SIGKILL)
            running.kill_at = None
            running.give_up_at = now + self.unkillable_seconds
        elif running.why is None and now >= running.deadline:
            self.stop(running, "deadline")

    def _watch_memory(self) -> None:
        now = time.monotonic()
        if now < self._memory_at:
            return
        self._memory_at = now + MEMORY_SECONDS
        for running in self.running:
            limit = running.child.memory_limit_bytes
            if limit is None or running.why is not None:
                continue
            held = {pid: held_bytes(pid) for pid in tree_of([running.pid, *running.groups])}
            running.peak_bytes = max(running.peak_bytes, sum(held.values()))
            if sum(held.values()) > limit:
                self._end_largest(running, held)

    # ------------------------------------------------------------ ending
    def _end_largest(self, running: Running, held: dict[int, int]) -> None:
        """Ends the fork with the largest process, or all of it; no grace, it would take more."""
        largest = kin.read_process(max(held, key=lambda pid: held[pid]))
        if largest is not None and largest.group in running.groups:
            running.too_large[largest.group] = held[largest.pid]
            self._signal_group(largest.group, signal.SIGKILL)
        else:
            running.why = "memory"
            running.kill_at = time.monotonic()

    def _group_is_ours(self, running: Running, group: int) -> bool:
        """Whether a group without its leader holds processes still; else its number is free."""
        rows = adopted(()) if self.is_subreaper else kin.all_processes()
        return any(row.group == group and row.session == running.pid for row in rows)

    def _signal_child(self, running: Running, number: int) -> None:
        for group in (running.pid, *running.groups):
            self._signal_group(group, number)

    def _signal_group(self, group: int, number: int) -> None:
        with suppress(OSError):  # gone already, or not ours to signal: the bounded wait will tell
            self.send_group(group, number)

    def _finish(self, running: Running) -> None:
        """Ends the child's group before reaping it, hears its last words, and reports."""
        self._signal_child(running, signal.SIGKILL)  # unreaped, it keeps the number from re-use
        self._hear_out(running)
        status = reap_child(running)
        self.running.remove(running)
        left = sweep(running, self.running, self._known(), self.is_subreaper)
        tell(self.guard, f"-{running.pid}")
        if running.channel is not None and (rest := left_over(running.channel)):
            self._count_bad(running, f"cut off: {rest[:80]!a}")
        ended = exit_of(running, status, left)
        self._close_descriptors(running)
        running.on_exit(ended)

    def _hear_out(self, running: Running) -> None:
        """Reads what the dead child left in its pipes; bounded, as a stray may go on writing."""
        until = time.monotonic() + 0.5
        before = -1
        while time.monotonic() < until:
            seen = running.records + running.bad + running.out.total + running.err.total
            if seen == before:
                return
            before = seen
            self._hear(running)

    def _known(self) -> set[int]:
        """The agent's children that are not to be swept up."""
        known = {running.pid for running in self.running} | set(self.unkillable) | self._before
        if self.guard.process is not None:
            known.add(self.guard.process.pid)
        return known

    def _close_descriptors(self, running: Running) -> None:
        readers = [running.out.reader, running.err.reader]
        if running.channel is not None:
            readers.append(running.channel.reader)
        for descriptor in (*readers, running.pidfd, running.source_fd):
            if descriptor is not None:
                if descriptor in self._selector.get_map():
                    self._selector.unregister(descriptor)
                os.close(descriptor)
        running.source_fd = running.pidfd = None
