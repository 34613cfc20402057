"""The signature is Ed25519 over RFC 8785, as openssl and node see it, and nothing else passes."""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import jsonio, signature
from agent.canonical import canonical_bytes, sanitise
from agent.errors import BundleError, SignatureError, UsageError
from agent.signature import check_document, sign_document

from .samples import lost_gpu, sample_bundle, sealed

HERE = Path(__file__).parent
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")
# Numbers and keys on which RFC 8785 and ordinary JSON writers differ.
AWKWARD = {
    "numbers": [1.0, 100.0, 1e-7, 1e16, 1e21, -0.0, 0.1, 2**53 - 1, 5e-324, 1.7976931348623157e308],
    "\u20ac": "euro",
    "\U0001f600": "beyond the BMP sorts before U+FB33",
    "\ufb33": "after it",
    "control": 'a\u0000b\u001f"\\/\u007f\u2028',
    "empty": [{}, [], ""],
}


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture(scope="session")
def canonicalize(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with npm's canonicalize: an implementation of RFC 8785 that is not ours."""
    folder = tmp_path_factory.mktemp("node")
    command = [
        program("npm"),
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "canonicalize@2.1.0",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        pytest.skip(f"npm cannot install canonicalize: {done.stderr[-200:]}")
    return folder


def by_node(folder: Path, data: bytes, canonical: Path | None = None) -> dict[str, Any]:
    bundle = folder / "bundle.json"
    bundle.write_bytes(data)
    command = [program("node"), str(HERE / "canonical.mjs"), str(bundle)]
    command += [str(canonical)] if canonical else []
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def awkward_document() -> dict[str, Any]:
    document = json.loads(sealed(sample_bundle(facts=lost_gpu())))
    document["stages"][2]["data"]["awkward"] = AWKWARD
    return sign_document(document, signature.one_time_signer())


@pytest.mark.parametrize(
    "written",
    [
        lambda value: json.dumps(value, indent=2),
        lambda value: json.dumps(value, indent="\t", ensure_ascii=False),
        lambda value: json.dumps(value, separators=(",", ":")),
        lambda value: json.dumps(value, sort_keys=True),
        lambda value: jsonio.dumps(value).decode(),
    ],
    ids=["indented", "tabs", "minified", "sorted", "as-we-write"],
)
def test_node_and_openssl_accept_every_way_of_writing_it(
    canonicalize: Path, tmp_path: Path, written: Callable[[Any], str]
) -> None:
    document = awkward_document()
    data = written(document).encode()
    canonical = tmp_path / "canonical"
    found = by_node(canonicalize, data, canonical)
    assert found["good"] is True
    assert found["fingerprint"] == found["key_id"] == document["signature"]["key_id"]
    assert canonical.read_bytes() == canonical_bytes(
        {key: item for key, item in document.items() if key != "signature"}
    )
    assert by_openssl(document, canonical, tmp_path) == 0
    assert check_document(jsonio.strict_loads(data))


def by_openssl(document: dict[str, Any], canonical: Path, folder: Path) -> int:
    key, value = folder / "key.pem", folder / "value"
    raw = base64.b64decode(document["signature"]["public_key"])
    body = base64.b64encode(SPKI_PREFIX + raw).decode()
    key.write_text(f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
    value.write_bytes(base64.b64decode(document["signature"]["value"]))
    command = [program("openssl"), "pkeyutl", "-verify", "-pubin", "-inkey", str(key), "-rawin"]
    command += ["-in", str(canonical), "-sigfile", str(value)]
    return subprocess.run(command, capture_output=True, timeout=60).returncode


def test_node_and_openssl_refuse_a_changed_value(canonicalize: Path, tmp_path: Path) -> None:
    document = awkward_document()
    document["run"]["id"] = "other"
    canonical = tmp_path / "canonical"
    assert by_node(canonicalize, json.dumps(document).encode(), canonical)["good"] is False
    assert by_openssl(document, canonical, tmp_path) != 0


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.characters() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    )
)
def test_whatever_was_observed_can_be_signed_after_sanitising(value: Any) -> None:
    document = sign_document(sanitise({"value": value}), signature.one_time_signer())
    assert check_document(jsonio.strict_loads(jsonio.dumps(document)))
    assert check_document(jsonio.strict_loads(json.dumps(document).encode()))


def test_what_has_no_canonical_form_is_spelled_out() -> None:
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    values = [2**53, -(2**53), 10**5000, float("nan"), float("inf"), "\udc80", b"x", deep, {1: 2}]
    clean = sanitise(values)
    assert clean[:2] == ["9007199254740992", "-9007199254740992"]
    assert clean[2] == "<a number of over 4096 bits>"
    assert clean[3:7] == ["nan", "inf", "\\udc80", "<bytes>"]
    assert "<too deep>" in json.dumps(clean[7])
    assert clean[8] == {"1": 2}
    with pytest.raises(BundleError, match="no canonical JSON form"):
        canonical_bytes({"a": 2**53})


# ---------------------------------------------------------------- tampering
def changed(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        place: Any = document
        for part in parents:
            place = place[int(part) if isinstance(place, list) else part]
        place[last] = value

    return change


def removed(path: str) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        place: Any = document
        for part in parents:
            place = place[int(part) if isinstance(place, list) else part]
        del place[last]

    return change


def swapped(document: dict[str, Any]) -> None:
    other = json.loads(sealed(sample_bundle(id="ffffffff")))
    document["signature"] = other["signature"]


def another_key(document: dict[str, Any]) -> None:
    key = signature.one_time_signer().public_key
    document["signature"]["public_key"] = base64.b64encode(key).decode()
    document["signature"]["key_id"] = signature.key_id(key)


def unpadded(document: dict[str, Any]) -> None:
    document["signature"]["value"] = document["signature"]["value"].rstrip("=")


def url_safe(document: dict[str, Any]) -> None:
    raw = base64.b64decode(document["signature"]["value"])
    document["signature"]["value"] = base64.urlsafe_b64encode(b"\xff" * 3 + raw[3:]).decode()


def stray_bits(document: dict[str, Any]) -> None:
    """The same 32 bytes, spelled with other bits where the last character has bits to spare."""
    text = document["signature"]["public_key"]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = letters[letters.index(text[42]) ^ 1]
    document["signature"]["public_key"] = text[:42] + last + "="


def degenerate(document: dict[str, Any]) -> None:
    """The neutral point as a key: S=0, R=neutral fits every document under a lax verifier."""
    key = (1).to_bytes(32, "little")
    document["signature"]["public_key"] = base64.b64encode(key).decode()
    document["signature"]["key_id"] = signature.key_id(key)
    document["signature"]["value"] = base64.b64encode(key + bytes(32)).decode()


TAMPERED: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (changed("verdict/status", "blocked"), "does not match"),
    (changed("run/id", "1a2b3c4e"), "does not match"),
    (changed("stages/0/seconds", 0.06), "does not match"),
    (changed("run/simulated", True), "does not match"),
    (changed("stages/0/added", 1), "does not match"),
    (changed("added", None), "does not match"),
    (removed("gaps"), "does not match"),
    (removed("stages/1/seconds"), "does not match"),
    (removed("signature"), "carries no signature"),
    (changed("signature", "x"), "not an object"),
    (changed("signature/comment", "x"), "a foreign member, 'comment'"),
    (changed("signature/\x1b[2J", "x"), "a foreign member, '\\x1b[2J'"),
    (removed("signature/key_id"), "key_id is missing"),
    (changed("signature/value", 1), "value is missing or not text"),
    (changed("signature/algorithm", "ed25519"), "algorithm is not Ed25519"),
    (changed("signature/algorithm", "none"), "algorithm is not Ed25519"),
    (changed("signature/canonicalization", "JCS"), "canonicalization is not RFC8785"),
    (changed("signature/key_id", "SHA256:x"), "not the fingerprint of its public key"),
    (changed("signature/value", "AAAA"), "value is not 64 bytes"),
    (changed("signature/public_key", "****"), "public key is not 32 bytes"),
    (unpadded, "value is not 64 bytes in standard padded base64"),
    (url_safe, "value is not 64 bytes in standard padded base64"),
    (stray_bits, "public key is not 32 bytes in standard padded base64"),
    (another_key, "does not match"),
    (swapped, "does not match"),
    (degenerate, "degenerate"),
]


@pytest.mark.parametrize(
    ("tamper", "sentence"), TAMPERED, ids=lambda part: getattr(part, "__name__", str(part)[:40])
)
def test_tampering_is_refused_in_one_sentence(
    tamper: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    document = json.loads(sealed())
    check_document(document)
    tamper(document)
    with pytest.raises(SignatureError) as caught:
        check_document(document)
    assert sentence in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 4


def test_signing_again_replaces_the_signature() -> None:
    signer = signature.one_time_signer()
    once = sign_document({"a": 1}, signer)
    assert sign_document(once, signer) == once
    assert list(once) == ["a", "signature"]
    assert list(once["signature"]) == list(signature.MEMBERS)


def test_a_float_that_is_whole_and_the_integer_have_one_signature() -> None:
    signed = sign_document({"a": 1.0, "b": 3}, signature.one_time_signer())
    assert check_document({**signed, "a": 1, "b": 3.0})


# ---------------------------------------------------------------- without cryptography
WITHOUT = """
import sys
sys.modules["cryptography"] = None
from agent import signature
"""


def run_without_cryptography(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", WITHOUT + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_cryptography_the_pure_library_signs_and_checks(tmp_path: Path) -> None:
    code = """
import json
document = signature.sign_document({"a": [1, "é"]}, signature.one_time_signer())
signature.check_document(document)
for changed in ({**document, "a": 2}, {**document, "signature": {**document["signature"],
        "value": "A" * 86 + "=="}}):
    try:
        signature.check_document(changed)
    except signature.SignatureError as error:
        assert "does not match" in error.message
    else:
        raise SystemExit("accepted")
print(json.dumps(document))
"""
    document = json.loads(run_without_cryptography(code))
    assert check_document(document)


def test_both_libraries_give_the_same_signature_for_the_same_key() -> None:
    seed = bytes(range(32))
    key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
    document = {"a": [1, 2.5, "x"]}
    ours = sign_document(document, signature._signer_of(key, signature.ONE_TIME))
    code = f"""
import json
signer = signature._pure_signer(bytes.fromhex({seed.hex()!r}))
print(json.dumps(signature.sign_document({document!r}, signer)))
"""
    assert json.loads(run_without_cryptography(code)) == ours


def test_without_cryptography_a_named_key_is_refused_with_a_way_out(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_bytes(pem(ed25519.Ed25519PrivateKey.generate()))
    code = """
import pathlib
try:
    signature.signer_from_file(pathlib.Path(sys.argv[1]))
except signature.UsageError as error:
    print(error.message, error.hint)
"""
    said = run_without_cryptography(code, str(key))
    assert "needs the Python package cryptography" in said
    assert "pip install cryptography" in said


# ---------------------------------------------------------------- --sign-with
def pem(key: Any, password: bytes | None = None, ssh: bool = False) -> bytes:
    kind = serialization.PrivateFormat.OpenSSH if ssh else serialization.PrivateFormat.PKCS8
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password is not None:
        encryption = serialization.BestAvailableEncryption(password)
    return bytes(key.private_bytes(serialization.Encoding.PEM, kind, encryption))


@pytest.mark.parametrize("ssh", [False, True], ids=["pem", "openssh"])
def test_a_named_key_signs(tmp_path: Path, ssh: bool) -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    path = tmp_path / "key"
    path.write_bytes(pem(key, ssh=ssh))
    signer = signature.signer_from_file(path)
    assert signer.source == "named"
    assert signer.public_key == key.public_key().public_bytes_raw()
    assert check_document(sign_document({"a": 1}, signer)) == signer.public_key


def test_keys_made_by_openssl_and_ssh_keygen_sign(tmp_path: Path) -> None:
    made = tmp_path / "openssl.pem"
    command = [program("openssl"), "genpkey", "-algorithm", "ed25519", "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    assert signature.signer_from_file(made).source == "named"
    ssh = tmp_path / "id_ed25519"
    command = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(ssh)]
    subprocess.run(command, check=True, capture_output=True)
    signer = signature.signer_from_file(ssh)
    public = ssh.with_suffix(".pub").read_bytes()
    assert signature.read_trusted(public) == {signature.key_id(signer.public_key)}
    listed = subprocess.run(
        [program("ssh-keygen"), "-lf", str(ssh)], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    assert signature.read_trusted(listed.encode()) <= signature.fingerprints(signer.public_key)


def test_an_encrypted_key_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(pem(ed25519.Ed25519PrivateKey.generate(), b"open sesame"))
    asked = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "open sesame"

    assert signature.signer_from_file(path, ask).source == "named"
    assert asked == [f"Passphrase of {path}: "]


def test_an_encrypted_key_is_asked_for_on_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(pem(ed25519.Ed25519PrivateKey.generate(), b"open sesame"))
    code = (
        "import pathlib, sys; from agent import signature;"
        "print(signature.signer_from_file(pathlib.Path(sys.argv[1])).source)"
    )
    child = pexpect.spawn(sys.executable, ["-c", code, str(path)], timeout=30, encoding="utf-8")
    child.expect("Passphrase of")
    child.sendline("open sesame")
    child.expect("named")
    child.expect(pexpect.EOF)
    assert "open sesame" not in (child.before or "")


def test_an_encrypted_key_without_a_terminal_fails_plainly(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(pem(ed25519.Ed25519PrivateKey.generate(), b"open sesame"))
    code = (
        "import pathlib, sys; from agent import signature, errors\n"
        "try: signature.signer_from_file(pathlib.Path(sys.argv[1]))\n"
        "except errors.UsageError as error: print(error.message, error.hint)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
    )
    assert "is encrypted and there is no terminal to ask on" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (pem(ec.generate_private_key(ec.SECP256R1())), "is an ECDSA key, but bundles are signed"),
        (pem(rsa.generate_private_key(65537, 2048)), "is an RSA key, but bundles are signed"),
        (pem(ed448.Ed448PrivateKey.generate()), "is an Ed448 key, but bundles are signed"),
        (pem(ec.generate_private_key(ec.SECP256R1()), ssh=True), "is an ECDSA key"),
        (b"", "is not a private key in PEM or OpenSSH form"),
        (b"ssh-ed25519 AAAA me", "is not a private key in PEM or OpenSSH form"),
        (b"x" * 100_000, "is not a private key in PEM or OpenSSH form"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "cannot be opened"),
        (pem(ed25519.Ed25519PrivateKey.generate(), b"other"), "the passphrase is wrong"),
    ],
    ids=["ecdsa", "rsa", "ed448", "ssh-ecdsa", "empty", "public", "large", "damaged", "passphrase"],
)
def test_a_key_that_cannot_sign_is_refused_plainly(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        signature.signer_from_file(path, lambda prompt: "wrong")
    assert sentence in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == 2


def test_an_encrypted_openssh_key_works_or_names_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "id_ed25519"
    command = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "sesame", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    if importlib.util.find_spec("bcrypt") is None:
        with pytest.raises(UsageError) as caught:
            signature.signer_from_file(path, lambda prompt: "sesame")
        assert "pip install bcrypt" in caught.value.hint
    else:
        assert signature.signer_from_file(path, lambda prompt: "sesame").source == "named"


def test_a_key_file_that_is_not_there_is_refused_plainly(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        signature.signer_from_file(tmp_path / "absent")
    with pytest.raises(UsageError, match="cannot be read"):
        signature.signer_from_file(tmp_path)


# ---------------------------------------------------------------- --trust
def test_every_form_of_a_public_key_names_the_same_key() -> None:
    key = ed25519.Ed25519PrivateKey.generate().public_key()
    raw = key.public_bytes_raw()
    spki = key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    ssh = key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    forms = [spki, spki.replace(b"\n", b"\r\n"), ssh, ssh + b" me@example\n"]
    forms += [base64.b64encode(raw), base64.b64encode(raw) + b"\n"]
    forms += [signature.key_id(raw).encode(), signature.key_id(raw).encode() + b"=\n"]
    assert {signature.read_trusted(form) for form in forms} == {frozenset({signature.key_id(raw)})}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "not an Ed25519 public key"),
        (b"hello", "not an Ed25519 public key"),
        (b"ssh-rsa AAAAB3NzaC1yc2E= me", "not an Ed25519 public key"),
        (b"ssh-ed25519", "not an Ed25519 public key"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "not an Ed25519"),
        (base64.b64encode(b"x" * 31), "not an Ed25519 public key"),
        (b"SHA256:short", "not 43 characters"),
        (b"SHA256:" + b"\xff" * 43, "not 43 characters"),
        (pem(ed25519.Ed25519PrivateKey.generate()), "a private key; it must stay"),
    ],
)
def test_what_is_no_public_key_is_refused_plainly(text: bytes, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        signature.read_trusted(text)
    assert sentence in caught.value.message
    assert caught.value.hint


def test_keys_are_not_reused() -> None:
    keys = {signature.one_time_signer().public_key for _ in range(8)}
    assert len(keys) == 8


def test_the_pure_library_agrees_with_cryptography_on_what_is_good() -> None:
    signer = signature._pure_signer()
    value = signer.sign(b"data")
    assert signature._fits_pure(signer.public_key, value, b"data")
    assert signature._fits(signer.public_key, value, b"data")
    off_curve = (2).to_bytes(32, "little")
    for key, signed, data in (
        (signer.public_key, value, b"other"),
        (signer.public_key, bytes(64), b"data"),
        (signer.public_key, b"\xff" * 64, b"data"),
        (off_curve, value, b"data"),
        (b"\xff" * 32, value, b"data"),
    ):
        assert not signature._fits_pure(key, signed, data)
        assert not signature._fits(key, signed, data)


def test_nobody_is_asked_where_there_is_no_terminal() -> None:
    code = "from agent.signature import ask_on_terminal; print(ask_on_terminal('? '))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
    )
    assert (done.stdout, done.stderr) == ("None\n", "")
