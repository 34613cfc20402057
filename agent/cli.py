"""The command line: options in, exit codes out; the only place that catches every error."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from contextlib import suppress
from typing import Any

import click

from agent import __version__
from agent.errors import AgentError, UsageError
from agent.files import read_file
from agent.ladder import DEPTHS, RUNGS
from agent.report.typed import PIPED, as_typed, own_command

COMMANDS = ("run", "measure", "show", "verify", "explain", "recover", "findings")
OWN_FLAGS = ("--help", "-h", "--version", "--licenses")
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
# What follows the first word of the user's command belongs to it, dashes or not.
WITH_COMMAND = {**CONTEXT, "allow_interspersed_args": False}
STDIN_LIMIT_BYTES = 64 << 20


def run_command_line(arguments: list[str]) -> int:
    """Run one command and return its exit code; the README lists what each one means."""
    name = own_command()
    print_what_cannot_be_encoded_as_a_question_mark()
    try:
        result = group.main(
            args=with_default_command(arguments),
            prog_name="agent" if name == PIPED else name,
            standalone_mode=False,
            obj=arguments,
        )
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        return 130
    except AgentError as error:
        _say(f"agent: {error.message}")
        if error.hint:
            _say(f"  next: {as_typed(error.hint, name)}")
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output has gone; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            return _unforeseen(error)
        _say(f"agent: the output could not be written: {error.strerror}")
        _say("  next: send it to a place with room")
        return 3
    except Exception as error:  # noqa: BLE001 - a traceback must never be what a user meets
        return _unforeseen(error)


def _unforeseen(error: Exception) -> int:
    _say(f"agent: could not finish: {type(error).__name__}: {error}")
    _say("  next: run again; if it repeats, attach the .partial file beside the bundle")
    if os.environ.get("FIRSTLIGHT_TRACEBACK"):
        traceback.print_exc()
    return 3


def print_what_cannot_be_encoded_as_a_question_mark() -> None:
    """Where the locale is ASCII or Latin-1 a text loses a character, and nobody the whole text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def with_default_command(arguments: list[str]) -> list[str]:
    """Return the arguments with ``run`` in front where no command was named."""
    if not arguments:
        return ["run"]
    first = arguments[0]
    if first in COMMANDS or first in OWN_FLAGS or not first.startswith("-"):
        return arguments
    return ["run", *arguments]


def _say(text: str) -> None:
    """One line on standard error, without secrets and control characters.

    Paths and names stay, since the user has to find them again.
    """
    from agent.private_text import SECRETS
    from agent.report.escape import terminal

    for find in SECRETS:
        text = find(lambda kind, value: f"<{kind}>", text)
    with suppress(OSError, ValueError):  # nobody reads it
        sys.stderr.write(terminal(text) + "\n")


@click.group(context_settings=CONTEXT, invoke_without_command=True)
@click.version_option(__version__, prog_name="firstlight", message="%(prog)s %(version)s")
@click.option("--licenses", is_flag=True, help="List the carried packages and their licences.")
@click.pass_context
def group(context: click.Context, licenses: bool) -> int | None:
    """Tell whether this GPU machine works; if not: which cause, who can fix it, what to type.

    Without a command, `run` is meant.
    """
    if licenses:
        from agent.licenses import license_lines

        for line in license_lines():
            click.echo(line)
        context.exit(0)
    return None


STAGE_NAMES = click.Choice(list(RUNGS))
KEPT = click.Choice(["output", "serials", "packages"])
KEEP_HELP = "Put this into the bundle, too: private details are left out by default. Repeatable."
KEY_HELP = "Sign with this Ed25519 private key (PEM or OpenSSH) instead of a one-time key."
OUTPUT_HELP = "Where the bundle goes; - prints it and writes no file."


@group.command(context_settings=WITH_COMMAND)
@click.option(
    "--depth",
    type=click.Choice(DEPTHS),
    default="standard",
    show_default=True,
    help="How much to try: the quick rungs; extensions and memory, too; minutes of work.",
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "cuda", "rocm", "cpu"]),
    default="auto",
    show_default=True,
    help="What the machine is meant to compute on.",
)
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="PATH",
    help="Interpreter under test; of several the first is run, the others are listed.",
)
@click.option(
    "--order",
    metavar="FILE|-",
    help="What was ordered (JSON), to compare with the machine; - reads standard input.",
)
@click.option("-o", "--output", metavar="FILE|-", help=OUTPUT_HELP)
@click.option("--sign-with", metavar="KEY", help=KEY_HELP)
@click.option("--challenge", metavar="T", help="Text that the signature must cover.")
@click.option("--ticket", metavar="T", help="Ticket number to put into the bundle.")
@click.option(
    "--extension",
    "extensions",
    multiple=True,
    metavar="MOD[:CALLABLE]",
    help="Your own extension; it fails if it raises or returns False. Repeatable.",
)
@click.option(
    "--only", multiple=True, type=STAGE_NAMES, help="This stage and what it needs. Repeatable."
)
@click.option("--skip", multiple=True, type=STAGE_NAMES, help="Leave this stage out. Repeatable.")
@click.option("--workspace", metavar="DIR", help="Directory the workload writes to.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), metavar="SECONDS", help="Limit for the whole run."
)
@click.option("--replay", metavar="FILE", help="Judge recorded observations instead of looking.")
@click.option("--keep", multiple=True, type=KEPT, help=KEEP_HELP)
@click.option("--strict", is_flag=True, help="Exit 1 when degraded, too.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the whole bundle on stdout, and write the file."
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.option(
    "--plain",
    is_flag=True,
    help="Put nothing into the command's environment; its torch is then not asked (with --).",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def run(arguments: list[str], /, **options: Any) -> int:
    """Look at the machine and write a signed bundle.

    A COMMAND given after -- is run afterwards and measured; the exit code is then its own.
    """
    command = list(options["command"])
    if command and arguments[: -len(command)][-1:] != ["--"]:
        raise UsageError(
            f"{options['command'][0]!r} is not an option of run",
            "a command to run goes after --, as in: agent run -- python train.py",
        )
    from agent.options import run_options
    from agent.pipeline import run_ladder

    return run_ladder(run_options(options))


@group.command(context_settings=WITH_COMMAND)
@click.option(
    "--plain",
    is_flag=True,
    help="Put nothing into the command's environment; its torch is then not asked.",
)
@click.option("-o", "--output", metavar="FILE|-", help=OUTPUT_HELP)
@click.option("--keep", multiple=True, type=KEPT, help=KEEP_HELP)
@click.option("--sign-with", metavar="KEY", help=KEY_HELP)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def measure(**options: Any) -> int:
    """Run COMMAND; report its peak memory and what ended it.

    The exit code is the command's own.
    """
    from agent.options import run_options
    from agent.pipeline import run_measure

    return run_measure(run_options(options))


@group.command(context_settings=CONTEXT)
@click.argument("bundle")
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    type=click.Choice(["text", "markdown", "html", "json", "collect-env"]),
    help="How it is written; collect-env is what issue trackers of torch ask for.",
)
@click.option("--redactions", is_flag=True, help="List what was replaced, and how often.")
def show(bundle: str, form: str, redactions: bool) -> int:
    """Render BUNDLE, judged anew.

    A file that cannot be trusted is shown under a banner, and the exit code is 4.
    """
    from agent.report.show import show_bundle

    return show_bundle(_read(bundle), form=form, redactions=redactions)


@group.command(context_settings=CONTEXT)
@click.argument("bundle")
@click.option("--trust", metavar="PUBLIC", help="Public key, its file, or a fingerprint.")
@click.option("--challenge", metavar="T", help="The challenge that the bundle must answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def verify(bundle: str, trust: str | None, challenge: str | None, as_json: bool) -> int:
    """Check the signature of BUNDLE and say what that shows."""
    from agent.report.verification import report_verification

    return report_verification(_read(bundle), trust=trust, challenge=challenge, as_json=as_json)


@group.command(context_settings=CONTEXT)
@click.argument("files", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def explain(files: tuple[str, ...], as_json: bool) -> int:
    """Say which cause a text or a bundle shows.

    Reads FILES, or - for standard input: an error, a log, the output of nvidia-smi, rocminfo or
    collect_env, a whole issue, or a bundle. Several FILES are several cases.
    """
    if not files:
        raise UsageError(
            "explain needs a file, or “-” to read standard input",
            "paste the error into a file: agent explain error.txt, or pipe it: … | agent explain -",
        )
    from agent.explain import explain_inputs

    inputs, code = _readable(files)
    if not inputs:
        return code
    return max(code, explain_inputs(inputs, as_json=as_json))


@group.command(context_settings=CONTEXT)
@click.argument("partial")
@click.option("-o", "--output", metavar="FILE|-", help=OUTPUT_HELP)
@click.option("--sign-with", metavar="KEY", help=KEY_HELP)
def recover(partial: str, output: str | None, sign_with: str | None) -> int:
    """Make a signed bundle of what a killed run left.

    PARTIAL is the file that ends in .partial and lies where the bundle should be.
    """
    from agent.pipeline import run_recover

    return run_recover(partial, output=output, sign_with=sign_with)


@group.command(context_settings=CONTEXT)
@click.argument("code", required=False)
def findings(code: str | None) -> int:
    """List the causes it knows, or print the entry of one CODE."""
    from agent.catalogue import catalogue_entry, catalogue_lines

    for line in catalogue_lines() if code is None else catalogue_entry(code):
        click.echo(line)
    return 0


def _readable(names: tuple[str, ...]) -> tuple[list[tuple[str, bytes]], int]:
    """Return what can be read of several inputs, and 2 where one was left out; it is said."""
    inputs, code = [], 0
    for name in names:
        try:
            inputs.append((name, _read(name)))
        except UsageError as error:
            if len(names) == 1:
                raise
            _say(f"agent: {error.message}")
            code = error.exit_code
    return inputs, code


def _read(name: str) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``."""
    if name == "-":
        from agent.stdin import read_stdin

        return read_stdin(STDIN_LIMIT_BYTES, idle_seconds=600.0)
    return read_file(name, STDIN_LIMIT_BYTES)
