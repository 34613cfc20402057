"""Says what the signature of a bundle shows, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent import codec, jsonio
from agent.bundle import SCHEMA
from agent.errors import BundleError, UsageError
from agent.model import Bundle, Json
from agent.signature import NAMED, check_document, fingerprints, key_id, read_trusted

NOT_SHOWN = (
    "It does not show that the machine told the truth: whoever is root there can lie. Attested "
    "boot, a TPM or GPU attestation would prove more; firstlight does none of these."
)
CLAIMS = "Times, the hardware and whether the run was simulated are claims of the file."


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found out about a bundle file.

    ``good``: intact, and whatever --trust and --challenge asked for holds. ``problem`` is one
    sentence where it is not good. ``intact``: unaltered since it was signed by the key ``key_id``.
    ``signed_by``: unknown, trusted. ``bundle`` is there whenever the file has the form of one, so
    that it can still be shown, under a banner.
    """

    good: bool
    problem: str | None = None
    intact: bool = False
    signed_by: str = "unknown"
    key_id: str | None = None
    key_source: str | None = None  # what the file claims: one-time, named
    challenge: str = "not-asked"  # not-asked, matches, differs, missing
    simulated: bool | None = None  # what the file claims
    shows: tuple[str, ...] = ()
    bundle: Bundle | None = None


def verify(data: bytes, trust: bytes | None = None, challenge: str | None = None) -> Verification:
    """Checks the bytes of a bundle file against its own signature, a key and a challenge.

    ``trust`` is what ``signature.read_trusted`` takes; only an unusable ``trust`` raises
    (``UsageError``). Everything that is wrong with the file is told in the result.
    """
    trusted = read_trusted(trust) if trust is not None else None
    try:
        document = jsonio.strict_loads(data)
        bundle = read_bundle(document)
    except BundleError as error:
        return Verification(good=False, problem=error.message)
    try:
        public_key = check_document(document)
    except BundleError as error:
        return Verification(good=False, problem=error.message, bundle=bundle)
    known = fingerprints(public_key) if trusted is not None else frozenset()
    signed_by = "trusted" if trusted is not None and known & trusted else "unknown"
    asked = _challenge(bundle.run.challenge, challenge)
    problem = _problem(trusted is not None and signed_by != "trusted", asked)
    return Verification(
        good=problem is None,
        problem=problem,
        intact=True,
        signed_by=signed_by,
        key_id=key_id(public_key),
        key_source=bundle.run.key_source,
        challenge=asked,
        simulated=bundle.run.simulated,
        shows=_shows(bundle, key_id(public_key), signed_by, asked),
        bundle=bundle,
    )


def read_bundle(document: dict[str, Json]) -> Bundle:
    """The bundle that a parsed document describes; raises ``BundleError`` if it is none."""
    schema = document.get("schema")
    if schema != SCHEMA:
        said = ascii(schema[:60]) if isinstance(schema, str) else "nothing"
        raise BundleError(
            f"This is not a bundle that this version reads: its schema should be {SCHEMA!r}, "
            f"the file says {said}."
        )
    return codec.from_json(Bundle, document)


def trust_argument(argument: str) -> bytes:
    """What ``--trust`` was given: the content of the file of that name, else the words."""
    if argument.startswith(("SHA256:", "ssh-", "-----BEGIN")):
        return argument.encode()
    try:
        path = Path(argument)
        if path.is_file():
            with path.open("rb") as file:
                return file.read(65_536)
    except (OSError, ValueError) as error:
        raise UsageError(f"The key file for --trust cannot be read: {error}.") from None
    if path.exists() or path.suffix in (".pem", ".pub", ".key", ".txt"):
        raise UsageError(
            f"--trust names {argument}, which is no file here.",
            "Give the path of a public key, the key itself, or a SHA256: fingerprint.",
        )
    return argument.encode()


def _challenge(signed: str | None, asked: str | None) -> str:
    if asked is None:
        return "not-asked"
    if signed is None:
        return "missing"
    return "matches" if signed == asked else "differs"


def _problem(foreign_key: bool, challenge: str) -> str | None:
    if foreign_key:
        return "The bundle is intact, but it was not signed by the key given with --trust."
    if challenge == "missing":
        return "The bundle is intact, but it answers no challenge."
    if challenge == "differs":
        return "The bundle is intact, but it answers another challenge than the one given."
    return None


def _shows(bundle: Bundle, fingerprint: str, signed_by: str, challenge: str) -> tuple[str, ...]:
    shows = [f"Unaltered since signing, by the key with the fingerprint {fingerprint}."]
    if signed_by == "trusted":
        shows.append("That is the key you trust: whoever holds it signed this file.")
    elif bundle.run.key_source == NAMED:
        shows.append(
            "Nobody vouches for that key here. The file says that it is a kept one: give it with "
            "--trust to learn that its holder signed."
        )
    else:
        shows.append(
            "That key is unknown, so this shows accidental change only: anyone can edit a bundle "
            "and sign it again. Compare the fingerprint with the one printed at the end of the "
            "run, if that reached you another way."
        )
    if challenge == "matches":
        shows.append(
            "The signature is younger than the challenge. What it covers may be older: "
            "observations can be signed again."
        )
    if bundle.run.simulated:
        shows.append("The file says that the run was simulated: it describes no real machine.")
    return (*shows, NOT_SHOWN, CLAIMS)
