"""Texts for single extensions."""

from __future__ import annotations

from agent.texts import Text

_ALONE = 'Run it alone and read the whole message: {python_path} -c "import {package}"'

TEXTS: dict[str, Text] = {
    "extension-not-installed": Text(
        title="A module that was asked for is not installed",
        cause="{package} cannot be imported in the environment under test: {value}.",
        fix=(
            "Check that this is the Python your program runs in: {python_path}; if not, name the"
            " right one with --python.",
            "Install the package there: {python_path} -m pip install <its distribution>",
        ),
    ),
    "extension-does-not-load": Text(
        title="An installed extension does not load: {package}",
        cause="torch itself works, but importing {package} fails: {value}. Its files were built"
        " for {found}; torch here is {torch}.",
        fix=(
            _ALONE,
            "Install the release that its project names for torch {torch}, without touching torch:"
            " {python_path} -m pip install --no-deps --force-reinstall <package>==<version>",
            "If your workload does not use it, leave it out of the environment.",
        ),
    ),
    "extension-fails": Text(
        title="An extension loads but does not work: {package}",
        cause="{package} fails at its smallest real operation: {value}.",
        fix=(
            "Look at the stage in the bundle: its steps name the call, its data what it was built"
            " for.",
            "Install the release that its project names for torch {torch} and this GPU"
            " ({architecture}), or build it here.",
            "If your workload does not use it, go on without it.",
        ),
    ),
    "extension-wrong-result": Text(
        title="An extension computes something else than plain torch: {package}",
        cause="{package}: {value}. Plain torch or numpy gives the expected result for the same"
        " numbers, so the extension, or code that it compiled, is wrong here.",
        fix=(
            "Run it again; if the result changes from run to run, suspect the device and see the"
            " stages matmul and memory.",
            "Install another release of the extension, and do not train with this one.",
        ),
    ),
    "extension-crashes": Text(
        title="An extension ends its process: {package}",
        cause="{package}: {value}. Everything else went on; only this package's own process was"
        " lost.",
        fix=(
            _ALONE,
            "Two builds of one library in a process are the usual reason: install the release that"
            " its project names for torch {torch}.",
            "If your workload does not use it, remove it: other packages may import it unasked.",
        ),
    ),
}
