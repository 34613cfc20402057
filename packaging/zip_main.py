# The first code of agent.pyz. Written so that even Python 2 can read it, since any Python may be
# asked to run the file: one that is too old looks for a newer one and hands over.
import os
import sys

OLDEST = (3, 10)
ASK = "import sys; sys.exit(0 if sys.version_info >= (3, 10) else 1)"
NAMES = ["python3.%d" % minor for minor in range(20, 9, -1)] + ["python3", "python"]
# Directories that hold one bin/python each, or many of them.
ROOTS = (
    "$VIRTUAL_ENV",
    "$CONDA_PREFIX",
    ".venv",
    "venv",
    "/venv/*",
    "/opt/*",
    "/opt/conda/envs/*",
    "/workspace/*",
    "~/miniconda3",
    "~/miniconda3/envs/*",
    "~/anaconda3",
    "~/anaconda3/envs/*",
    "~/miniforge3",
    "~/miniforge3/envs/*",
    "~/.local/share/uv/python/*",
    "~/.pyenv/versions/*",
)


def candidates():
    """Interpreters that may do, by PATH first; each named once."""
    import glob

    seen = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in NAMES if folder else ():
            yield os.path.join(folder, name), seen
    for root in ROOTS:
        for place in sorted(glob.glob(os.path.expanduser(os.path.expandvars(root))), reverse=True):
            yield os.path.join(place, "bin", "python3"), seen


def trusted(path):
    """As root, only what nobody else can change is run."""
    if os.geteuid() != 0:
        return True
    path = os.path.realpath(path)
    while True:
        found = os.stat(path)
        if found.st_uid != 0 or (found.st_mode & 0o002 and not found.st_mode & 0o1000):
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


def newer():
    """The first interpreter here that can run the agent, or None."""
    import subprocess

    for path, seen in candidates():
        real = os.path.realpath(path)
        if real in seen or not os.access(path, os.X_OK) or not trusted(path):
            continue
        seen.add(real)
        with open(os.devnull, "r+b") as nothing:
            command = [path, "-I", "-S", "-c", ASK]
            try:
                if subprocess.call(command, stdin=nothing, stdout=nothing, stderr=nothing) == 0:
                    return path
            except OSError:
                continue
    return None


def hand_over(own):
    """Go on in a newer interpreter, or say in one sentence what is missing."""
    path = newer()
    if path is None:
        sys.stderr.write(
            "agent: needs Python 3.10 or newer to run, this is %s, and none was found on PATH or "
            "in a known place; name one: /path/to/python3 %s\n" % (sys.version.split()[0], own)
        )
        sys.exit(2)
    os.environ["FIRSTLIGHT_STARTED_BY"] = sys.executable or ""
    os.execv(path, [path, "-B", own] + sys.argv[1:])


def only_ours_and_the_standard_library(own):
    """Take everything off sys.path but this file and the standard library.

    The host's own packages, of any version or state, the working directory and PYTHONPATH must
    change nothing of the agent; the interpreter under test sees them all the same.
    """
    given = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    kept = []
    for entry in sys.path:
        parts = entry.split(os.sep)
        foreign = "site-packages" in parts or "dist-packages" in parts
        if entry and not foreign and os.path.abspath(entry) not in given and entry not in kept:
            kept.append(entry)
    sys.path[:] = [own] + [entry for entry in kept if entry != own]


OWN = sys.path[0]
if sys.version_info < OLDEST:
    hand_over(OWN)
sys.dont_write_bytecode = True
only_ours_and_the_standard_library(OWN)

from agent.__main__ import main

if __name__ == "__main__":
    main()
