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
CUDA_NOT_INITIALIZED = 3
TRIAL_SECONDS = 5
TAIL_BYTES = 8 * 1024  # escaped six-fold it still fits into a record


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


def flush() -> None:
    """Writes out what Python holds back of the streams."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass


def leave(code: int) -> NoReturn:
    """Ends the process without the interpreter's tear-down, which may hang or crash of itself."""
    flush()
    os._exit(code)


def run(record_fd: int, plan: dict[str, Any], tasks: list[Any]) -> None:
    """Runs tasks in this process by the probe module that the plan names."""
    import importlib

    module = importlib.import_module("firstlight_probes." + plan.get("module", "worker"))
    module.main(record_fd, dict(plan, tasks=tasks))


def why_no_fork() -> str | None:
    """Why a fork of this process could not be trusted, or None if nothing speaks against it.

    docs/forking.md has the reason for each question.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return "torch is not imported"
    if getattr(getattr(torch, "version", None), "hip", None):
        return "AMD's runtime is not known to work in a fork"
    import threading

    if threading.active_count() > 1:
        return "another Python thread is running"
    if getattr(getattr(torch, "cuda", None), "is_initialized", bool)():
        return "the device is initialised already"
    return open_device_file() or awake_driver() or failed_trial(torch)


def open_device_file(names: tuple[str, ...] = DEVICE_FILES) -> str | None:
    """A device file that is open in this process: its driver has begun."""
    try:
        for name in os.listdir("/proc/self/fd"):
            try:
                path = os.readlink("/proc/self/fd/" + name)
            except OSError:
                continue
            if path.startswith(names):
                return path + " is open already"
    except OSError:
        return "/proc/self/fd cannot be read"
    return None


def awake_driver() -> str | None:
    """Whether the mapped libcuda says that cuInit was called, by torch or by anybody else."""
    try:
        import ctypes

        library = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        answer = library.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))
    except Exception:
        return None  # not mapped, so nobody called it
    return None if answer == CUDA_NOT_INITIALIZED else "the driver was asked something already"


def failed_trial(torch: Any) -> str | None:
    """What a trial fork could not do: keep torch's trust, and compute if there is a doubt."""
    import time

    compute = has_odd_threads()
    pid = quiet_fork()
    if pid == 0:
        try:
            if torch.cuda._is_in_bad_fork():  # torch knows it, but says so only in a fork
                os._exit(1)
            if compute:
                torch.ones(1 << 17).sin().sum()  # hangs if OpenMP's threads were lost
        except AttributeError:
            os._exit(0)  # another torch than we know: its first stage will tell
        except BaseException:
            os._exit(2)
        os._exit(0)
    until = time.monotonic() + TRIAL_SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended and status == 0:
            return None
        if ended:
            poisoned = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1
            return "torch refuses the device to a fork" if poisoned else "a trial fork failed"
        time.sleep(0.001)
    os.kill(pid, KILL)
    os.waitpid(pid, 0)
    return "a trial fork hung"


def has_odd_threads() -> bool:
    """Whether there are more threads than OpenBLAS starts at load, which survives forks."""
    usual = 1
    try:
        with open("/proc/self/maps") as file:
            if "openblas" in file.read():
                usual = len(os.sched_getaffinity(0))
                for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
                    usual = int(os.environ.get(name) or usual)
        return len(os.listdir("/proc/self/task")) > usual
    except (OSError, ValueError):
        return True


def quiet_fork() -> int:
    """Forks without Python's warning: the native threads of a BLAS library survive a fork."""
    import warnings

    flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


class Fork:
    """A forked process: its task, and what it writes to stderr, apart from that of the others."""

    def __init__(self, task: dict[str, Any], pid: int, stderr: int) -> None:
        self.task = task
        self.pid = pid
        self.stderr = stderr
        self.tail = bytearray()

    def drain(self) -> None:
        """Reads what is there and keeps the end of it."""
        while True:
            try:
                data = os.read(self.stderr, 1 << 16)
            except OSError:  # nothing more for now
                return
            if not data:
                return
            self.tail += data
            del self.tail[:-TAIL_BYTES]


def serve_forks(record_fd: int, source_fd: int, buffer: bytearray, plan: dict[str, Any]) -> None:
    """Forks a process for each task that arrives, and tells how each ended, until told no more."""
    import json
    import select

    forks: list[Fork] = []
    waiting = True
    while waiting or forks:
        for fork in forks:
            fork.drain()
        reading = [source_fd] if waiting else []
        ready = buffer or select.select(reading, [], [], 0.005 if forks else None)[0]
        if ready and waiting:
            line = read_line(source_fd, buffer)
            if line is None:
                waiting = False
            else:
                forks.append(fork_task(record_fd, source_fd, plan, json.loads(line)))
        for fork in list(forks):
            ended, status = os.waitpid(fork.pid, os.WNOHANG)
            if ended:
                forks.remove(fork)
                tell_end(record_fd, fork, status)


def tell_end(record_fd: int, fork: Fork, status: int) -> None:
    """Writes how a forked process ended, and the last it had to say on stderr."""
    fork.drain()
    os.close(fork.stderr)
    say(
        record_fd,
        record="ended",
        stage=fork.task["stage"],
        subject=fork.task.get("subject", "host"),
        pid=fork.pid,
        code=-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
        stderr=fork.tail.decode("utf-8", "backslashreplace"),
    )


def fork_task(record_fd: int, source_fd: int, plan: dict[str, Any], task: dict[str, Any]) -> Fork:
    """Forks; the new process leads a group of its own, runs the task and leaves."""
    parent = os.getpid()
    reading, writing = os.pipe()
    pid = quiet_fork()
    if pid:
        os.close(writing)
        os.set_blocking(reading, False)
        return Fork(task, pid, reading)
    try:
        os.setpgid(0, 0)
        tie_to(parent)
        os.dup2(writing, 2)
        for descriptor in (reading, writing, source_fd):
            os.close(descriptor)
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
