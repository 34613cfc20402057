"""What verify says of good bundles, of the zoo of broken ones, and of keys and challenges."""

from __future__ import annotations

import base64
import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from agent import signature
from agent.errors import UsageError
from agent.report.verification import (
    report_verification,
    verification_json,
    verification_rows,
)
from agent.verify import NOT_SHOWN, Verification, trust_argument, verify

from .make_bundles import FOLDER, ZOO, signer
from .samples import sample_bundle, sealed

PUBLIC = Ed25519PublicKey.from_public_bytes(signer().public_key)


def in_zoo(name: str) -> bytes:
    return (FOLDER / f"{name}.json").read_bytes()


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo(name: str) -> None:
    _, sentence = ZOO[name]
    result = verify(in_zoo(name))
    if not sentence:
        assert result.good, result.problem
        assert result.intact
    else:
        assert not result.good
        assert sentence in (result.problem or "")
        assert "\n" not in (result.problem or "")
        assert not result.shows
    assert run(in_zoo(name))[0] == (4 if sentence else 0)


def test_every_file_of_the_zoo_is_named_and_every_name_has_its_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(ZOO)


def run(data: bytes, trust: str | None = None, challenge: str | None = None) -> tuple[int, str]:
    out = io.StringIO()
    with redirect_stdout(out):
        code = report_verification(data, trust=trust, challenge=challenge, as_json=False)
    return code, out.getvalue()


def said(result: Verification) -> str:
    return " ".join(result.shows)


def test_an_unknown_one_time_key_shows_accidental_change_only() -> None:
    result = verify(sealed())
    assert (result.good, result.intact, result.signed_by) == (True, True, "unknown")
    assert f"fingerprint {result.key_id}" in result.shows[0]
    assert "accidental change only" in said(result)
    assert NOT_SHOWN in result.shows
    assert "claims of the file" in said(result)


def test_a_kept_key_that_nobody_vouches_for_is_not_called_trusted() -> None:
    result = verify(in_zoo("good"))
    assert result.signed_by == "unknown"
    assert "Nobody vouches for that key here" in said(result)


@pytest.mark.parametrize("form", ["pem", "ssh", "base64", "fingerprint"])
def test_the_trusted_key_signed(form: str) -> None:
    result = verify(in_zoo("good"), forms()[form])
    assert (result.good, result.signed_by) == (True, "trusted")
    assert "whoever holds it signed" in said(result)
    assert "accidental" not in said(result)


def forms() -> dict[str, bytes]:
    pem = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    ssh = (serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return {
        "pem": PUBLIC.public_bytes(*pem),
        "ssh": PUBLIC.public_bytes(*ssh) + b" support@example",
        "base64": base64.b64encode(PUBLIC.public_bytes_raw()),
        "fingerprint": signature.key_id(PUBLIC.public_bytes_raw()).encode(),
    }


def test_another_key_than_the_trusted_one_is_refused() -> None:
    other = signature.one_time_signer().public_key
    result = verify(in_zoo("good"), signature.key_id(other).encode())
    assert (result.good, result.intact, result.signed_by) == (False, True, "unknown")
    assert (
        result.problem
        == "The bundle is intact, but it was not signed by the key given with --trust."
    )
    code, text = run(in_zoo("good"), trust=base64.b64encode(other).decode())
    assert code == 4
    assert "NOT GOOD" in text


def test_an_edited_bundle_signed_with_a_new_key_is_caught_only_by_trust() -> None:
    tree = json.loads(in_zoo("good"))
    tree["run"]["depth"] = "deep"
    forged = json.dumps(signature.sign_document(tree, signature.one_time_signer())).encode()
    assert verify(forged).good
    assert not verify(forged, forms()["pem"]).good


@pytest.mark.parametrize(
    ("challenge", "state", "good"),
    [("c0ffee", "matches", True), ("other", "differs", False), (None, "not-asked", True)],
)
def test_challenges(challenge: str | None, state: str, good: bool) -> None:
    result = verify(in_zoo("good"), challenge=challenge)
    assert (result.challenge, result.good) == (state, good)
    assert ("younger than the challenge" in said(result)) is (state == "matches")
    assert ("observations can be signed again" in said(result)) is (state == "matches")


def test_a_bundle_that_answers_no_challenge() -> None:
    result = verify(sealed(), challenge="c0ffee")
    assert (result.good, result.challenge) == (False, "missing")
    assert result.problem == "The bundle is intact, but it answers no challenge."


def test_simulation_is_said() -> None:
    result = verify(sealed(sample_bundle(simulated=True)))
    assert result.simulated is True
    assert "no real machine" in said(result)


def test_a_broken_signature_still_gives_the_bundle_to_show() -> None:
    result = verify(in_zoo("changed-value"))
    assert result.bundle is not None
    assert result.key_id is None
    assert verify(in_zoo("truncated")).bundle is None


def test_trust_takes_a_file_or_the_key_itself(tmp_path: Path) -> None:
    path = tmp_path / "key.pub"
    path.write_bytes(forms()["ssh"])
    assert trust_argument(str(path)) == forms()["ssh"]
    for form in forms().values():
        assert verify(in_zoo("good"), trust_argument(form.decode())).signed_by == "trusted"
    with pytest.raises(UsageError, match="not an Ed25519 public key"):
        verify(in_zoo("good"), trust_argument(str(tmp_path / "absent")))


def test_the_screen_is_80_columns_and_the_json_leaves_the_bundle_out() -> None:
    for name in ZOO:
        result = verify(in_zoo(name))
        assert all(len(row.text) <= 80 for row in verification_rows(result))
        members = verification_json(result)
        assert "bundle" not in members
        assert members["good"] is result.good


def test_json_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_verification(in_zoo("good"), trust=None, challenge="c0ffee", as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["intact"] is True
    assert printed["challenge"] == "matches"
    assert printed["key_id"] == signature.key_id(signer().public_key)
