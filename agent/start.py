"""What is fixed before anything is looked at: identity, key, environment, places."""

from __future__ import annotations

import os
import pwd
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from agent import __version__
from agent.bundle import file_name, places
from agent.errors import UsageError
from agent.model import Facts, Host, Run
from agent.options import RunOptions
from agent.signature import ONE_TIME, Signer, signer_from_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What must not change while the machine is looked at.

    ``signer`` is None for a one-time key, which is made when there is something to sign.
    """

    options: RunOptions
    run: Run
    signer: Signer | None
    environ: Mapping[str, str]
    workdir: Path

    @property
    def candidates(self) -> tuple[Path, ...]:
        """Where the bundle may go, best first."""
        output = self.options.output
        asked = Path(output) if output and output != "-" else None
        name = file_name(self.run.started_at, self.run.id)
        return places(name, asked, self.environ, self.workdir if _has_workdir() else None)


def begin(options: RunOptions) -> Start:
    """Fix what must not change later: identity, key, environment. Fails before anything runs."""
    environ = dict(os.environ)
    signer = signer_from_file(Path(options.sign_with)) if options.sign_with else None
    refuse_private(options.challenge, environ)
    run = Run(
        id=secrets.token_hex(4),
        started_at=now(),
        finished_at="",
        agent_version=__version__,
        depth=options.depth,
        argv=tuple(argv_without_command(options)),
        backend_asked=options.backend,
        challenge=options.challenge,
        ticket=options.ticket,
        key_source=signer.source if signer else ONE_TIME,
    )
    return Start(options=options, run=run, signer=signer, environ=environ, workdir=workdir())


def refuse_private(challenge: str | None, environ: Mapping[str, str]) -> None:
    """A challenge that holds a private value would be changed by redaction and never match."""
    if challenge is None:
        return
    from agent.redact import Redactor, names_of

    if Redactor(names_of(own_names(), environ)).text(challenge) != challenge:
        raise UsageError(
            "--challenge holds something private (a name, an address, a token), which is removed "
            "from every bundle",
            "ask for a challenge of random letters and digits",
        )


def workdir() -> Path:
    """The user's directory; ``/`` where it has been removed under us."""
    return Path.cwd() if _has_workdir() else Path("/")


def _has_workdir() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def argv_without_command(options: RunOptions) -> list[str]:
    """Our own arguments; of the user's command only its name, since its arguments are private."""
    arguments = sys.argv[1:]
    if not options.command:
        return arguments
    count = len(options.command)
    own = arguments[:-count] if tuple(arguments[-count:]) == options.command else []
    return [*own, Path(options.command[0]).name]


def now() -> str:
    """This moment in UTC, ISO 8601, to the millisecond."""
    moment = datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def own_names() -> Facts:
    """The names of user and machine, before anything else is known; enough to redact by."""
    try:
        user: str | None = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        user = None
    return Facts(host=Host(user_name=user, host_name=os.uname().nodename))
