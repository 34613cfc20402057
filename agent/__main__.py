"""``python -m agent``: the version in an instant, everything else through the command line."""

from __future__ import annotations

import sys

from agent import __version__


def main() -> None:
    """Run the command line and leave with its exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"firstlight {__version__}\n")
        return
    from agent.cli import run_command_line

    sys.exit(run_command_line(arguments))


if __name__ == "__main__":
    main()
