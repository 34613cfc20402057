"""Puts a bundle together, keeps it below its size limit, and writes it whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent import codec, jsonio
from agent.canonical import sanitise
from agent.model import (
    Bundle,
    Finding,
    Gap,
    Json,
    Line,
    Observations,
    Redaction,
    Run,
    Stage,
    Verdict,
)
from agent.signature import Signer, sign_document

SCHEMA = "firstlight.bundle/1"
LIMIT_BYTES = 1_000_000
# What is left for run, verdict, findings, redactions and signature, none of which grow with
# what the machine prints.
OBSERVED_LIMIT_BYTES = 850_000
_TAIL_CHARACTERS = 2_000
# Longest text, longest list and most members of an object, tried in this order.
_BOUNDS = ((8_000, 1_000), (2_000, 400), (500, 100), (200, 40), (80, 10), (40, 3))
_MOST_GAPS = 400
# What our runs keep of outputs is far below this; a stranger's file must not take minutes.
_MOST_LINES = 20_000
_FEWEST_STAGES = 60
_SAID_BY = "firstlight"


# ---------------------------------------------------------------- observations and bundle
def assemble(
    *,
    run: Run,
    verdict: Verdict,
    findings: tuple[Finding, ...],
    observations: Observations,
    redactions: tuple[Redaction, ...],
) -> Bundle:
    """The unsigned bundle of a run; ``observations`` are those that the findings came from."""
    return Bundle(
        schema=SCHEMA,
        run=run,
        verdict=verdict,
        findings=findings,
        stages=observations.stages,
        facts=observations.facts,
        gaps=observations.gaps,
        order=observations.order,
        redactions=redactions,
    )


def observations_of(bundle: Bundle) -> Observations:
    """What a bundle's findings are a function of, with the printed lines derived."""
    return Observations(
        facts=bundle.facts,
        stages=bundle.stages,
        gaps=bundle.gaps,
        order=bundle.order,
        lines=lines_of(bundle.stages, bundle.facts.kernel_log.events),
        backend=bundle.run.backend,
        backend_asked=bundle.run.backend_asked,
    )


def with_lines(observations: Observations) -> Observations:
    """The same observations with ``lines`` derived from their stages and kernel log."""
    events = observations.facts.kernel_log.events
    return replace(observations, lines=lines_of(observations.stages, events))


def lines_of(stages: Sequence[Stage], events: Sequence[object]) -> tuple[Line, ...]:
    """Every line that stages and the kernel printed, with the JSON pointer of its text."""
    lines: list[Line] = []
    for index, stage in enumerate(stages):
        if stage.error is not None:
            lines += _lines(stage.error.text, f"/stages/{index}/error/text")
        if stage.stderr_tail:
            lines += _lines(stage.stderr_tail, f"/stages/{index}/stderr_tail")
    for index, event in enumerate(events):
        text = getattr(event, "text", "")
        lines += _lines(text, f"/facts/kernel_log/events/{index}/text")
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES // 2], *lines[-_MOST_LINES // 2 :]]
    return tuple(lines)


def _lines(text: str, pointer: str) -> Iterable[Line]:
    return (Line(text=line, pointer=pointer) for line in text.splitlines() if line.strip())


# ---------------------------------------------------------------- size
def within_limit(observations: Observations) -> Observations:
    """The observations, cut so that their bundle stays under 1 MB; every cut is a gap.

    Must run before judging: findings have to be a function of what the file holds. The tails of
    the children's output go first, then long texts and lists, harder until it fits.
    """
    if _size(observations) <= OBSERVED_LIMIT_BYTES:
        return observations
    cut = _cut_tails(observations)
    for longest_text, longest_list in _BOUNDS:
        if _size(cut) <= OBSERVED_LIMIT_BYTES:
            break
        cut = _shorten(cut, longest_text, longest_list)
    return with_lines(cut)


def _size(observations: Observations) -> int:
    return len(jsonio.dumps(_tree(observations), indent=True))


def _tree(observations: Observations) -> Json:
    return sanitise(
        {
            "facts": codec.to_json(observations.facts),
            "stages": codec.to_json(observations.stages),
            "gaps": codec.to_json(observations.gaps),
        }
    )


def _cut_tails(observations: Observations) -> Observations:
    stages, gaps = [], list(observations.gaps)
    for index, stage in enumerate(observations.stages):
        tail = stage.stderr_tail
        if tail is not None and len(tail) > _TAIL_CHARACTERS:
            stage = replace(stage, stderr_tail=tail[-_TAIL_CHARACTERS:])
            gaps.append(_cut_gap(f"/stages/{index}/stderr_tail", len(tail), _TAIL_CHARACTERS))
        stages.append(stage)
    return replace(observations, stages=tuple(stages), gaps=_few(gaps))


def _cut_gap(pointer: str, before: int, after: int) -> Gap:
    why = f"cut from {before} to {after} to keep the bundle under 1 MB"
    return Gap(pointer=pointer, why=why, said_by=_SAID_BY)


def _few(gaps: Sequence[Gap]) -> tuple[Gap, ...]:
    if len(gaps) <= _MOST_GAPS:
        return tuple(gaps)
    more = len(gaps) - _MOST_GAPS + 1
    rest = Gap(pointer="/gaps", why=f"{more} more gaps were left out", said_by=_SAID_BY)
    return (*gaps[: _MOST_GAPS - 1], rest)


def _shorten(observations: Observations, longest_text: int, longest_list: int) -> Observations:
    gaps: list[Gap] = []

    def cut(pointer: str, before: int, after: int) -> None:
        gaps.append(_cut_gap(pointer, before, after))

    def shorten(value: Json, pointer: str, *, data: bool) -> Json:
        if isinstance(value, str) and len(value) > longest_text:
            cut(pointer, len(value), longest_text)
            return value[:longest_text]
        if isinstance(value, list):
            most = max(longest_list, _FEWEST_STAGES if pointer == "/stages" else 0)
            if len(value) > most:
                cut(pointer, len(value), most)
            return [
                shorten(item, f"{pointer}/{index}", data=data)
                for index, item in enumerate(value[:most])
            ]
        if isinstance(value, dict):
            # The members of our own types are few and needed; a probe's data may have any.
            most = longest_list if data else len(value)
            if len(value) > most:
                cut(pointer, len(value), most)
            return {
                key[:longest_text]: shorten(
                    item, f"{pointer}/{_escape(key)}", data=data or key == "data"
                )
                for key, item in list(value.items())[:most]
            }
        return value

    tree = {
        name: shorten(part, f"/{name}", data=False) for name, part in _tree(observations).items()
    }
    shorter = codec.from_json(Observations, tree)
    # Known cuts first, so that the cap on gaps cannot hide that something was cut.
    return replace(
        observations,
        facts=shorter.facts,
        stages=shorter.stages,
        gaps=_few((*gaps[: _MOST_GAPS // 2], *shorter.gaps)),
    )


def _escape(key: str) -> str:
    return key[:60].replace("~", "~0").replace("/", "~1")


# ---------------------------------------------------------------- bytes
def seal(bundle: Bundle, signer: Signer) -> bytes:
    """The bytes of the signed file: indented UTF-8 JSON that a person can read as it is."""
    return jsonio.dumps(sign_document(sanitise(codec.to_json(bundle)), signer), indent=True)


# ---------------------------------------------------------------- places and files
@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where a file went: ``path`` is None where no place took it; ``refused`` says why not."""

    path: Path | None
    refused: tuple[str, ...] = ()


def file_name(started_at: str, run_id: str) -> str:
    """``firstlight-<UTC>-<run id>.json``; holds no host name. ``started_at`` is ISO 8601 in UTC."""
    stamp = "".join(letter for letter in started_at[:19] if letter.isalnum())
    return f"firstlight-{stamp}Z-{run_id}.json"


def places(
    name: str, output: Path | None, environ: Mapping[str, str], workdir: Path | None
) -> tuple[Path, ...]:
    """Where the bundle may go, best first: as asked, else here, else home, else temporary."""
    folders = [output.parent / output.name] if output is not None else []
    if workdir is not None:  # None: it has been removed
        folders.append(workdir / name)
    if environ.get("HOME"):
        folders.append(Path(environ["HOME"]) / name)
    folders.append(Path(environ.get("TMPDIR") or "/tmp") / name)  # noqa: S108 - O_EXCL below
    return tuple(dict.fromkeys(folders))


def write(data: bytes, candidates: Sequence[Path]) -> Written:
    """Writes to the first place that takes the file; nothing is ever left half written.

    The file is 0600 and appears under its name only when its bytes are on the disk.
    """
    refused = []
    for path in candidates:
        try:
            _write_whole(data, path)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            refused.append(f"{path.parent}: {reason or type(error).__name__}")
            continue
        return Written(path=path, refused=tuple(refused))
    return Written(path=None, refused=tuple(refused))


def _write_whole(data: bytes, path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600)
    try:
        try:
            _write_all(descriptor, data)
            _sync(descriptor)
        finally:
            os.close(descriptor)
        temporary.rename(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some FUSE and network file systems have no fsync; a real write error stays an error.
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # the file is whole already; this only hastens its name to the disk
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
