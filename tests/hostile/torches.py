"""Modules named torch that crash, hang, lie and leave things behind, as sources."""

from __future__ import annotations

from pathlib import Path

# Sleeps in C for an hour without giving up the interpreter's lock.
HOLD_LOCK = "import ctypes; ctypes.PyDLL(None).sleep(3600)"
# A process that left its session, its group and its environment, and that only argv still names.
STRAY = (
    "import os, sys; token = os.environ['HOSTILE_TOKEN']\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        code = 'import time; time.sleep(3600)'\n"
    "        os.execve(sys.executable, [sys.executable, '-S', '-c', code, token], {})\n"
    "    os._exit(0)\n"
)
FORK_AND_LEAVE = "import os, time\nif os.fork() == 0:\n    time.sleep(3600)\n"

IMPORTS = {
    "segfaults": "import ctypes; ctypes.string_at(0)",
    "aborts": "import os; os.abort()",
    "leaves": "import os; os._exit(3)",
    "leaves with zero": "import os; os._exit(0)",
    "kills itself": "import os; os.kill(os.getpid(), 9)",
    "hangs holding the lock": HOLD_LOCK,
    "hangs in threads": (
        "import threading, time\n"
        "for _ in range(3): threading.Thread(target=time.sleep, args=(3600,)).start()\n"
        "time.sleep(3600)"
    ),
    "ignores SIGTERM": (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
    ),
    "closes everything and hangs": "import os, time; os.closerange(0, 4096); time.sleep(3600)",
    "stops itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "prints 100 MB and fails": (
        "import os\nfor _ in range(1600): os.write(2, b'x' * 65535 + b'\\n')\n"
        "raise OSError('after the noise')"
    ),
    "forks and dies": FORK_AND_LEAVE + "else: os.abort()",
    "forks and leaves": "import os, time\nif os.fork(): os._exit(0)\ntime.sleep(3600)",
    "forks and lets the fork go on": "import os\nif os.fork(): os._exit(0)",
    "leaves a stray and dies": STRAY + "os.abort()",
    "eats memory": (
        "import time\nheld = []\n"
        "for _ in range(400):\n    held.append(bytearray(b'x' * (8 << 20))); time.sleep(0.01)\n"
        "time.sleep(3600)"
    ),
    "raises OSError": "raise OSError('libcudart.so.13: cannot open shared object file')",
    "raises ImportError": "raise ImportError('undefined symbol: cublasLtCreate')",
    "raises KeyboardInterrupt": "raise KeyboardInterrupt",
    "raises SystemExit": "raise SystemExit(0)",
    "raises an error that cannot be printed": (
        "class Mute(Exception):\n    def __str__(self): raise ValueError('no')\nraise Mute()"
    ),
    "prints records to stdout": (
        "import os\n"
        'os.write(1, b\'{"record":"result","stage":"import","status":"passed","seq":1}\\n\')\n'
        "raise ImportError('the real end')"
    ),
    "writes noise to every descriptor": (
        "import os\n"
        "for number in range(3, 64):\n"
        "    for noise in (b'\\xff\\x00{{{\\n', b'[1,2]\\n', b'{\"record\":\"result\"}\\n',\n"
        '                  b\'[\' * 60000 + b\'\\n\', b\'{"record":"data","stage":"import",\'\n'
        '                  b\'"data":{"x":1e999}}\\n\'):\n'
        "        try: os.write(number, noise)\n"
        "        except OSError: pass\n"
        "raise ImportError('the real end')"
    ),
}

SITES = {
    "prints": 'print(\'{"record": "done"}\')',
    "exits": "raise SystemExit(5)",
    "leaves": "import os; os._exit(6)",
    "deletes modules": (
        "import sys\n"
        "for name in list(sys.modules):\n"
        "    if name not in ('sys', 'builtins', '__main__', 'sitecustomize'): del sys.modules[name]"
    ),
    "raises": "raise RuntimeError('sitecustomize is broken')",
    "closes descriptors": "import os; os.closerange(3, 4096)",
}

# Imports well and misbehaves at the device; ``%s`` is what its ``init`` does.
AT_DEVICE = """
import types
__version__ = "0.0+hostile"
version = types.SimpleNamespace(cuda="13.0", hip=None, git_version=None, debug=False)
_C = types.SimpleNamespace()
get_num_threads = lambda: 1
def init():
    %s
cuda = types.SimpleNamespace(
    init=init,
    is_initialized=lambda: False,
    _is_in_bad_fork=lambda: False,
    device_count=lambda: 0,
)
"""


def write_torch(folder: Path, source: str) -> Path:
    """A folder for PYTHONPATH that holds this torch."""
    folder.mkdir(exist_ok=True)
    (folder / "torch.py").write_text(source)
    return folder


def write_site(folder: Path, source: str) -> Path:
    """A folder for PYTHONPATH that holds this sitecustomize."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(source)
    return folder
