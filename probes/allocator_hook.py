"""Put first on PYTHONPATH as ``sitecustomize``: notes the exact peak of torch's allocator.

It must change nothing that the program can notice: it takes itself off ``sys.path``, runs the
``sitecustomize`` that it hides, imports nothing heavy and never raises. Old syntax on purpose,
since the command's Python may be any. What it learns goes to one small file per process in the
directory named by FIRSTLIGHT_HOOK_DIR when the process ends.
"""

import atexit
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NOTED = {}


def chain_to_users_sitecustomize():
    """Import the sitecustomize that Python would have imported without this one."""
    mine = sys.modules.pop("sitecustomize", None)
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != HERE]
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        missing = sys.exc_info()[1]
        if mine is not None:
            sys.modules["sitecustomize"] = mine
        if getattr(missing, "name", "sitecustomize") != "sitecustomize":
            raise


def note_out_of_memory(kind, value):
    """Keep the text of an allocation that failed: it names what was asked, free and reserved."""
    text = str(value)
    if kind.__name__ == "OutOfMemoryError" or "out of memory" in text.lower():
        NOTED["out_of_memory"] = {"type": kind.__name__, "text": text[:4096]}


def watch_exceptions():
    """Look at the exception that ends the program, then let it be shown as always."""
    shown_by = sys.excepthook

    def hook(kind, value, trace):
        try:
            note_out_of_memory(kind, value)
        except Exception:
            pass
        shown_by(kind, value, trace)

    sys.excepthook = hook


def allocator_peaks(torch):
    """Return one row a device that this process has used: peaks in bytes since its start."""
    cuda = torch.cuda
    if not cuda.is_initialized():
        return []
    rows = []
    for index in range(cuda.device_count()):
        memory = cuda.memory
        allocated = int(memory.max_memory_allocated(index))
        reserved = int(memory.max_memory_reserved(index))
        if reserved or allocated:
            rows.append(
                {
                    "device_index": index,
                    "allocated_peak_bytes": allocated,
                    "reserved_peak_bytes": reserved,
                }
            )
    return rows


def write_note(directory):
    """Write what was learnt to ``directory``; nothing if torch never touched a device."""
    torch = sys.modules.get("torch")
    if torch is not None:
        NOTED["devices"] = allocator_peaks(torch)
    if not any(NOTED.values()):
        return
    import json

    path = os.path.join(directory, "%d.json" % os.getpid())
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(NOTED, file)


def at_end(directory):
    """Never let our own trouble change how the program ends."""
    try:
        write_note(directory)
    except Exception:
        pass


if __name__ == "sitecustomize":
    if os.environ.get("FIRSTLIGHT_HOOK_DIR"):
        atexit.register(at_end, os.environ["FIRSTLIGHT_HOOK_DIR"])
        watch_exceptions()
    chain_to_users_sitecustomize()
