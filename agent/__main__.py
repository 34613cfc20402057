"""``python -m agent``: the version in an instant, everything else through the command line."""

from __future__ import annotations

import sys

from agent import __version__
from agent.streams import open_missing_streams


def main() -> None:
    """Run the command line and leave with its exit code."""
    open_missing_streams()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"firstlight {__version__}\n")
        return
    from agent.run.interruption import leave_on_signals

    leave_on_signals()
    from agent.cli import run_command_line

    sys.exit(run_command_line(arguments))


if __name__ == "__main__":
    main()
