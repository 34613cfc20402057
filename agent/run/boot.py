"""The first code in a child: ties it to the agent, installs the probes from memory, runs the plan.

The agent passes this file's text to the interpreter under test with ``-c``, so it is Python 3.8
and stands alone. It takes three numbers: the descriptor for records, the one for sources and
tasks, and the agent's process id. It imports little, late, because what runs before it in the
target (``sitecustomize``, ``.pth`` files) may have done anything.

A plan with ``"fork": true`` makes the process a fork server: it runs the plan's tasks itself,
then forks one process for each further task that the agent sends, one JSON object a line.
"""

# ruff: noqa: BLE001, S110, SIM105, PTH123, PTH208, S102 - what ran before may have broken anything

from __future__ import annotations

import os
import sys

# No names of typing are imported: annotations are never evaluated here.
if False:  # pragma: no cover
    from types import ModuleType
    from typing import Any, NoReturn

DEVICE_FILES = ("/dev/nvidia", "/dev/kfd", "/dev/dri/", "/dev/dxg")
KILL = 9
TERMINATE = 15


def tie_to(parent: int) -> None:
    """Asks the kernel to kill this process when its parent dies, and ends it if that is so now."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, KILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    except Exception:
        pass
    if os.getppid() != parent:
        os._exit(97)


def settle() -> None:
    """No core files, a traceback on SIGTERM, and the first to go when memory runs out."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except Exception:
        pass
    try:
        import faulthandler

        faulthandler.register(TERMINATE, all_threads=True, chain=True)
    except Exception:
        pass
    try:
        with open("/proc/self/oom_score_adj", "r+") as file:
            if int(file.read()) < 500:
                file.seek(0)
                file.write("500")
    except Exception:
        pass


class Sources:
    """Finder and loader of modules whose sources came over a descriptor."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.sources = sources

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module's specification if it is one of ours."""
        if name not in self.sources:
            return None
        from importlib.machinery import ModuleSpec

        whole = any(other.startswith(name + ".") for other in self.sources)
        loader: Any = self  # duck-typed: what a loader inherits differs between versions
        spec = ModuleSpec(name, loader, origin=self.filename(name), is_package=whole)
        spec.has_location = True
        return spec

    def create_module(self, spec: Any) -> None:
        """None: an ordinary module will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module's source."""
        name = module.__name__
        exec(compile(self.sources[name], self.filename(name), "exec"), module.__dict__)

    def get_source(self, name: str) -> str:
        """The source, which lets tracebacks and ``inspect`` show lines."""
        return self.sources[name]

    def filename(self, name: str) -> str:
        """A name for tracebacks; there is no such file."""
        return name.replace(".", "/") + ".py"


def read_line(descriptor: int, buffer: bytearray) -> bytes | None:
    """The next line, or None at the end; what was read beyond it stays in the buffer."""
    while b"\n" not in buffer:
        data = os.read(descriptor, 1 << 16)
        if not data:
            return None
        buffer += data
    end = buffer.index(b"\n") + 1
    line = bytes(buffer[:end])
    del buffer[:end]
    return line


def say(descriptor: int, **record: Any) -> None:
    """Writes one record."""
    import json

    os.write(descriptor, json.dumps(dict(record, seq=0)).encode("ascii") + b"\n")


def leave(code: int) -> NoReturn:
    """Ends the process without the interpreter's tear-down, which may hang or crash of itself."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    os._exit(code)


def run(record_fd: int, plan: dict[str, Any], tasks: list[Any]) -> None:
    """Runs tasks in this process by the probe module that the plan names."""
    import importlib

    module = importlib.import_module("firstlight_probes." + plan.get("module", "worker"))
    module.main(record_fd, dict(plan, tasks=tasks))


def why_no_fork() -> str | None:
    """Why a fork of this process could not be trusted, or None if nothing speaks against it."""
    torch = sys.modules.get("torch")
    if torch is None:
        return "torch is not imported"
    try:
        for name in os.listdir("/proc/self/fd"):
            try:
                path = os.readlink("/proc/self/fd/" + name)
            except OSError:
                continue
            if path.startswith(DEVICE_FILES):
                return "the driver is open already: " + path
    except OSError:
        return "/proc/self/fd cannot be read"
    if torch.cuda.is_initialized():
        return "the device is initialised already"
    import threading

    if threading.active_count() > 1:
        return "another Python thread is running"
    return None


def serve_forks(record_fd: int, source_fd: int, buffer: bytearray, plan: dict[str, Any]) -> None:
    """Forks a process for each task that arrives, and tells how each ended, until told no more."""
    import json
    import select

    running: dict[int, Any] = {}
    waiting = True
    while waiting or running:
        reading = [source_fd] if waiting else []
        ready = buffer or select.select(reading, [], [], 0.005 if running else None)[0]
        if ready and waiting:
            line = read_line(source_fd, buffer)
            if line is None:
                waiting = False
            else:
                task = json.loads(line)
                pid = fork_task(record_fd, source_fd, plan, task)
                running[pid] = task
        for pid in list(running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                task = running.pop(pid)
                code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                tell_end(record_fd, task, pid, code)


def tell_end(record_fd: int, task: dict[str, Any], pid: int, code: int) -> None:
    """Writes how a forked process ended."""
    subject = task.get("subject", "host")
    say(record_fd, record="ended", stage=task["stage"], subject=subject, pid=pid, code=code)


def fork_task(record_fd: int, source_fd: int, plan: dict[str, Any], task: dict[str, Any]) -> int:
    """Forks; the new process leads a group of its own, runs the task and leaves."""
    parent = os.getpid()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # native threads of a BLAS library: they survive forks
        pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)
        tie_to(parent)
        os.close(source_fd)
        subject = task.get("subject", "host")
        say(record_fd, record="forked", stage=task["stage"], subject=subject, pid=os.getpid())
        run(record_fd, plan, [task])
    except BaseException:
        complain()
        leave(1)
    leave(0)


def complain() -> None:
    """Prints the exception that is being handled, as far as that still works."""
    try:
        import traceback

        traceback.print_exc()
    except BaseException:
        pass


def main() -> None:
    """Runs what the agent sent and leaves with 0, or with 1 after an exception."""
    record_fd, source_fd, parent = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    tie_to(parent)
    settle()
    sys.argv = ["-c"]
    sys.path[:] = [entry for entry in sys.path if entry]  # '' would be the working directory
    import json

    buffer = bytearray()
    line = read_line(source_fd, buffer)
    if line is None:
        os._exit(98)
    document = json.loads(line)
    plan = document["plan"]
    sys.meta_path.insert(0, Sources(document["sources"]))
    os.set_inheritable(record_fd, False)
    os.set_inheritable(source_fd, False)
    say(record_fd, record="booted", pid=os.getpid())
    run(record_fd, plan, plan["tasks"])
    if plan.get("fork"):
        why = why_no_fork()
        say(record_fd, record="ready", why=why)
        if why is None:
            serve_forks(record_fd, source_fd, buffer, plan)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        complain()
        leave(1)
    leave(0)
