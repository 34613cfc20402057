"""Signs a bundle with Ed25519 and checks such a signature; the only importer of cryptography."""

from __future__ import annotations

import base64
import binascii
import hashlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.canonical import canonical_bytes
from agent.errors import BundleError, SignatureError, UsageError
from agent.host_packages import host_packages
from agent.model import Json

ALGORITHM = "Ed25519"
CANONICALIZATION = "RFC8785"
MEMBERS = ("algorithm", "canonicalization", "key_id", "public_key", "value")
ONE_TIME = "one-time"
NAMED = "named"

_SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")  # RFC 8410: Ed25519, 32 bytes follow
_SSH_PREFIX = b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"
_MAX_KEY_FILE_BYTES = 65_536
_FIELD_PRIME = 2**255 - 19
_ORDER_8_Y = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
# y coordinates of the eight points of small order (RFC 7748, section 6): under such a "key" one
# signature fits many documents, so it cannot say that this document was signed.
_SMALL_ORDER_Y = frozenset({0, 1, _FIELD_PRIME - 1, _ORDER_8_Y, _FIELD_PRIME - _ORDER_8_Y})


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A private key ready to sign; ``source`` goes into ``run.key_source``."""

    public_key: bytes
    source: str
    sign: Callable[[bytes], bytes]


# ---------------------------------------------------------------- signing
def one_time_signer() -> Signer:
    """A signer whose key exists only in this process.

    Through cryptography, else through the pure-Python library ecdsa, which warns that it does not
    resist timing attacks: fit for a key that signs once and is forgotten, and for nothing else.
    """
    ed25519 = _cryptography()
    if ed25519 is None:
        return _pure_signer()
    return _signer_of(ed25519.Ed25519PrivateKey.generate(), ONE_TIME)


def _cryptography() -> Any | None:
    """The Ed25519 module of cryptography, or None where that cannot be imported."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except Exception:  # noqa: BLE001 - not there, or there and broken: both are "cannot be used"
        return None
    except BaseException as error:
        # A cryptography whose cffi is missing raises pyo3's PanicException, which is no Exception.
        if type(error).__name__ == "PanicException":
            return None
        raise
    return ed25519


def _pure_signer(seed: bytes | None = None) -> Signer:
    import ecdsa

    key = (
        ecdsa.SigningKey.from_string(seed, curve=ecdsa.Ed25519)
        if seed is not None
        else ecdsa.SigningKey.generate(curve=ecdsa.Ed25519)
    )
    public_key = bytes(key.get_verifying_key().to_string())
    return Signer(public_key=public_key, source=ONE_TIME, sign=lambda data: bytes(key.sign(data)))


def _signer_of(key: Any, source: str) -> Signer:
    return Signer(public_key=key.public_key().public_bytes_raw(), source=source, sign=key.sign)


def signer_from_file(path: Path, ask: Callable[[str], str | None] | None = None) -> Signer:
    """A signer from an Ed25519 private key file: PEM (PKCS 8) or OpenSSH.

    An encrypted key is asked for with ``ask(prompt)``, by default on the terminal; None from it
    means that nobody could be asked. Raises ``UsageError`` with the way out in its hint.
    """
    data = _read_key_file(path)
    with host_packages():
        ed25519 = _cryptography()
        if ed25519 is None:
            raise UsageError(
                "--sign-with needs the Python package cryptography, which cannot be imported by "
                f"{sys.executable or 'this Python'}.",
                "Install it there (python -m pip install cryptography), or leave out --sign-with.",
            )
        key = _load_private_key(path, data, ask or ask_on_terminal)
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError(
            f"The key in {path} is {_kind_of_key(key)}, but bundles are signed with Ed25519.",
            "Make one with: openssl genpkey -algorithm ed25519 -out key.pem",
        )
    return _signer_of(key, NAMED)


def _read_key_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_KEY_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"The key file {path} cannot be read: {error.strerror}.",
            "Give --sign-with the path of an Ed25519 private key.",
        ) from None
    if len(data) > _MAX_KEY_FILE_BYTES or b"PRIVATE KEY-----" not in data:
        raise UsageError(
            f"The file {path} is not a private key in PEM or OpenSSH form.",
            "Make one with: openssl genpkey -algorithm ed25519 -out key.pem",
        )
    return data


def _load_private_key(path: Path, data: bytes, ask: Callable[[str], str | None]) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        try:
            return _parse_private_key(data, None)
        except TypeError:  # the way in which cryptography says that the key is encrypted
            passphrase = ask(f"Passphrase of {path}: ")
        if passphrase is None:
            raise UsageError(
                f"The key in {path} is encrypted and there is no terminal to ask on.",
                "Run in a terminal, or sign with a key that has no passphrase.",
            )
        return _parse_private_key(data, passphrase.encode())
    except UnsupportedAlgorithm as error:
        raise UsageError(
            f"The key in {path} cannot be opened here: {error}.",
            "For an encrypted OpenSSH key install bcrypt beside the agent (pip install bcrypt), "
            "or use a PEM key: openssl genpkey -algorithm ed25519 -out key.pem",
        ) from None
    except ValueError:
        raise UsageError(
            f"The key in {path} cannot be opened: the passphrase is wrong or the file is damaged.",
            "Try the passphrase again; check the file with: openssl pkey -noout -in KEY",
        ) from None


def _parse_private_key(data: bytes, password: bytes | None) -> Any:
    from cryptography.hazmat.primitives import serialization

    if b"-----BEGIN OPENSSH PRIVATE KEY-----" in data:
        return serialization.load_ssh_private_key(data, password)
    return serialization.load_pem_private_key(data, password)


def _kind_of_key(key: Any) -> str:
    kinds = {"RSA": "an RSA key", "EC": "an ECDSA key", "DSA": "a DSA key", "Ed448": "an Ed448 key"}
    name = type(key).__name__.removesuffix("PrivateKey")
    return kinds.get(name.replace("EllipticCurve", "EC"), f"a key of type {name}")


def ask_on_terminal(prompt: str) -> str | None:
    """What the person at the terminal types, unseen; None where there is no terminal."""
    import getpass

    from agent.run.interruption import python_interrupts

    try:
        with Path("/dev/tty").open("r+b", buffering=0):
            pass
        # getpass reads /dev/tty itself, so a bundle piped to stdin or stdout is left alone.
        with python_interrupts():  # getpass has to switch the echo on again
            return getpass.getpass(prompt)
    except (OSError, EOFError):
        return None


def sign_document(document: Mapping[str, Json], signer: Signer) -> dict[str, Json]:
    """The document with its ``signature`` member, put last; an earlier one is replaced."""
    unsigned = {key: item for key, item in document.items() if key != "signature"}
    value = signer.sign(canonical_bytes(unsigned))
    signature = {
        "algorithm": ALGORITHM,
        "canonicalization": CANONICALIZATION,
        "key_id": key_id(signer.public_key),
        "public_key": base64.b64encode(signer.public_key).decode(),
        "value": base64.b64encode(value).decode(),
    }
    return {**unsigned, "signature": signature}


def key_id(public_key: bytes) -> str:
    """The fingerprint of a 32-byte public key: "SHA256:" and unpadded base64."""
    digest = hashlib.sha256(public_key).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


# ---------------------------------------------------------------- checking
def check_document(document: Mapping[str, Json]) -> bytes:
    """The public key under which the document is intact; raises ``SignatureError`` otherwise."""
    signature = document.get("signature")
    if signature is None:
        raise SignatureError("The bundle carries no signature.")
    public_key, value = _read_member(signature)
    unsigned = {key: item for key, item in document.items() if key != "signature"}
    try:
        signed = canonical_bytes(unsigned)
    except BundleError as error:
        raise SignatureError(error.message) from None
    if not _fits(public_key, value, signed):
        raise SignatureError(
            "The signature does not match: the bundle was changed after it was signed, "
            "or the signature belongs to another file."
        )
    return public_key


def _read_member(signature: Json) -> tuple[bytes, bytes]:
    """Key and value of a signature member that is exactly of our form."""
    if not isinstance(signature, dict):
        raise SignatureError("The signature is not an object.")
    foreign = sorted(set(signature) - set(MEMBERS))
    if foreign:
        raise SignatureError(f"The signature holds a foreign member, {foreign[0][:40]!a}.")
    for member in MEMBERS:
        if not isinstance(signature.get(member), str):
            raise SignatureError(f"The signature's member {member} is missing or not text.")
    if signature["algorithm"] != ALGORITHM:
        raise SignatureError(f"The signature's algorithm is not {ALGORITHM}.")
    if signature["canonicalization"] != CANONICALIZATION:
        raise SignatureError(f"The signature's canonicalization is not {CANONICALIZATION}.")
    public_key = _base64(signature["public_key"], 32, "public key")
    value = _base64(signature["value"], 64, "value")
    if signature["key_id"] != key_id(public_key):
        raise SignatureError("The signature's key_id is not the fingerprint of its public key.")
    if (int.from_bytes(public_key, "little") % 2**255) % _FIELD_PRIME in _SMALL_ORDER_Y:
        raise SignatureError("The signature's public key is a degenerate one that fits any file.")
    return public_key, value


def _base64(text: str, length: int, what: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    # One value, one spelling: stray bits in the last character are refused too.
    if len(data) != length or base64.b64encode(data).decode() != text:
        raise SignatureError(
            f"The signature's {what} is not {length} bytes in standard padded base64."
        )
    return data


def _fits(public_key: bytes, value: bytes, signed: bytes) -> bool:
    ed25519 = _cryptography()
    if ed25519 is None:
        return _fits_pure(public_key, value, signed)
    from cryptography.exceptions import InvalidSignature

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(value, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def _fits_pure(public_key: bytes, value: bytes, signed: bytes) -> bool:
    import ecdsa

    try:
        key = ecdsa.VerifyingKey.from_string(public_key, curve=ecdsa.Ed25519)
        return bool(key.verify(value, signed))
    except (ecdsa.BadSignatureError, ecdsa.errors.MalformedPointError, ValueError):
        return False


# ---------------------------------------------------------------- trusting
def read_trusted(text: bytes) -> frozenset[str]:
    """The fingerprints under which a trusted key may appear as ``key_id``.

    ``text`` is a PEM public key, an OpenSSH public key line, 32 bytes in base64, or a fingerprint
    ("SHA256:…", ours or as ssh-keygen prints it). Raises ``UsageError`` for anything else.
    """
    words = text.strip()
    if b"PRIVATE KEY-----" in words:
        raise UsageError(
            "--trust was given a private key; it must stay with its owner.",
            "Make the public one with: openssl pkey -in KEY -pubout",
        )
    if words.startswith(b"SHA256:"):
        return frozenset({_fingerprint(words)})
    return frozenset({key_id(_trusted_key(words))})


def _fingerprint(words: bytes) -> str:
    text = words.decode("ascii", "replace").rstrip("=")
    try:
        digest = base64.b64decode(text.removeprefix("SHA256:") + "=", validate=True)
    except (binascii.Error, ValueError):
        digest = b""
    if len(digest) != 32:
        raise UsageError(
            "--trust was given a fingerprint that is not 43 characters after SHA256:.",
            "Copy it whole, as it was printed at the end of the run.",
        )
    return text


def _trusted_key(words: bytes) -> bytes:
    try:
        if words.startswith(b"-----BEGIN PUBLIC KEY-----"):
            body = b"".join(words.splitlines()[1:-1])
            return _after(_SPKI_PREFIX, base64.b64decode(body, validate=True))
        if words.startswith(b"ssh-"):
            return _after(_SSH_PREFIX, base64.b64decode(words.split()[1], validate=True))
        return _after(b"", base64.b64decode(words, validate=True))
    except (binascii.Error, ValueError, IndexError):
        raise UsageError(
            "--trust was given something that is not an Ed25519 public key.",
            "Give a PEM or OpenSSH public key, its 32 bytes in base64, or a SHA256: fingerprint.",
        ) from None


def _after(prefix: bytes, data: bytes) -> bytes:
    if not data.startswith(prefix) or len(data) != len(prefix) + 32:
        raise ValueError("not an Ed25519 public key")
    return data[len(prefix) :]


def fingerprints(public_key: bytes) -> frozenset[str]:
    """All fingerprints by which a key is known: ours, and the one that ssh-keygen prints."""
    return frozenset({key_id(public_key), key_id(_SSH_PREFIX + public_key)})
