"""Replaces what is private in observations by pseudonyms, the same one for the same value.

Typed fields come first, then text: this machine's names, then whatever has the shape of a secret
or of an address. Pseudonyms count up (``<host-1>``); a hash of a short name could be guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from agent import codec, private_text, shapes
from agent.canonical import clean_text, sanitise
from agent.model import Facts, Json, Redaction
from agent.private_text import Pass

T = TypeVar("T")

# More different values of one kind than this share a pseudonym: the list of them stays short.
_MOST_PSEUDONYMS = 200
_PSEUDONYM = re.compile(r"<(?:user|host|home|ip|mac|email|token|key|credentials)(?:-\d+\+?)?>")
# Ids of devices, which the support desk needs and which no pattern may touch.
_KEPT_KEYS = frozenset(
    {"uuid", "pci_address", "parent_uuid", "vendor_id", "device_id", "class_code"}
)
# Names that every machine has say nothing about anybody.
_EVERYBODYS = frozenset({"root", "nobody", "localhost", "(none)"})
_QUAD = re.compile(r"\d+\.\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The private names of this machine, and the versions that look like addresses."""

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()  # values of the environment that only their names give away
    versions: frozenset[str] = frozenset()


def names_of(facts: Facts, environ: Mapping[str, str]) -> Names:
    """The names that facts and environment give away: login, host, home directories."""
    keys = ("USER", "LOGNAME", "USERNAME", "SUDO_USER")
    users = (facts.host.user_name, *(environ.get(key) for key in keys))
    hosts = (facts.host.host_name, environ.get("HOSTNAME"))
    homes = (environ.get("HOME"), environ.get("USERPROFILE"))
    return Names(
        users=_unique(users),
        hosts=_unique(hosts),
        homes=_unique(homes),
        secrets=_secrets(environ),
        versions=_versions(facts),
    )


def _unique(names: tuple[str | None, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean_text(name.strip()) for name in names if name and name.strip()))


def _secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables called token, key, password …, and passwords of URLs, longest first."""
    found = []
    for name, value in environ.items():
        if _secret_name(name, value) and not value.startswith(("/", "~", ".")):
            found.append(value)
        for match in shapes.URL_CREDENTIALS.finditer(value):
            found.append(match[0].partition(":")[2])
    cleaned = {clean_text(value.strip()) for value in found}
    kept = [text for text in cleaned if 8 <= len(text) <= 4_000 and not text.isdigit()]
    return tuple(sorted(kept, key=len, reverse=True))


def _versions(facts: Facts) -> frozenset[str]:
    versions = [package.version for package in facts.packages]
    versions += [library.version or "" for library in facts.libraries]
    return frozenset(version for version in versions if _QUAD.fullmatch(version))


class Redactor:
    """Redacts values of one run; keeps count of what it replaced."""

    def __init__(self, names: Names) -> None:
        self._pseudonyms: dict[tuple[str, str], str] = {}
        self._kinds: dict[str, int] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._versions = names.versions
        self._harmless: set[tuple[str, bool]] = set()  # short texts met before, nothing to hide
        known = (private_text.secret_pass(value) for value in names.secrets)
        self._passes = (
            *private_text.SECRETS,
            *known,
            *self._name_passes(names),
            private_text.machines,
        )

    # ------------------------------------------------------------ what callers use
    def text(self, text: str, *, version: bool = False) -> str:
        """The text without private values; ``version`` says that a dotted quad is a version."""
        text = clean_text(text)
        if (text, version) in self._harmless or _PSEUDONYM.fullmatch(text):
            return text
        redacted = text
        for find in self._passes:
            redacted = find(self._replace, redacted)
        if not version:
            redacted = private_text.addresses(self._replace, redacted, self._versions)
        if redacted == text and len(text) < 300 and len(self._harmless) < 20_000:
            self._harmless.add((text, version))
        return redacted

    def value(self, value: Json, key: str = "") -> Json:
        """A JSON value without private values; ``key`` is the name under which it stands."""
        if isinstance(value, str):
            return self._typed(key, value)
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if isinstance(value, dict):
            return self._object(value)
        return value

    def redact(self, value: T) -> T:
        """A value of one of the model's types without private values.

        It has passed through JSON, so whatever is judged from it is what a file will hold.
        """
        tree = self.value(sanitise(codec.to_json(value)))
        return codec.from_json(type(value), tree)

    def redactions(self) -> tuple[Redaction, ...]:
        """How often each pseudonym was put in, by kind and number."""
        return tuple(
            Redaction(kind=kind, pseudonym=pseudonym, count=count)
            for (kind, pseudonym), count in sorted(self._counts.items(), key=_by_number)
        )

    # ------------------------------------------------------------ typed fields
    def _typed(self, key: str, value: str) -> str:
        if key in _KEPT_KEYS or not value:
            return value
        if key == "user_name":
            return self._replace("user", value)
        if key == "host_name":
            return self._replace("host", value)
        return self.text(value, version=key == "version" or key.endswith("_version"))

    def _object(self, value: dict[str, Json]) -> dict[str, Json]:
        name, held = value.get("name"), value.get("value")
        secret = isinstance(name, str) and isinstance(held, str) and _secret_name(name, held)
        return {
            self.text(key): self._replace("token", held)
            if secret and key == "value" and isinstance(held, str)
            else self.value(item, key)
            for key, item in value.items()
        }

    # ------------------------------------------------------------ pseudonyms
    def _replace(self, kind: str, value: str) -> str:
        if _PSEUDONYM.fullmatch(value):
            return value
        pseudonym = self._pseudonym(kind, value)
        self._counts[kind, pseudonym] = self._counts.get((kind, pseudonym), 0) + 1
        return pseudonym

    def _pseudonym(self, kind: str, value: str) -> str:
        known = self._pseudonyms.get((kind, value))
        if known is not None:
            return known
        number = self._kinds.get(kind, 0) + 1
        if number > _MOST_PSEUDONYMS:
            return f"<{kind}-{_MOST_PSEUDONYMS}+>"
        self._kinds[kind] = number
        pseudonym = "<home>" if kind == "home" and number == 1 else f"<{kind}-{number}>"
        self._pseudonyms[kind, value] = pseudonym
        return pseudonym

    def _alias(self, kind: str, value: str, like: str) -> None:
        self._pseudonyms.setdefault((kind, value), self._pseudonym(kind, like))

    # ------------------------------------------------------------ names of this machine
    def _name_passes(self, names: Names) -> tuple[Pass, ...]:
        """The passes for this machine's names; they are numbered here, so they count first."""
        passes: list[Pass] = []
        for home in names.homes:
            path = home.rstrip("/\\")
            if private_text.is_private_home(path, names.users):
                self._pseudonym("home", path)
                passes.append(private_text.home_pass(path))
        passes.append(private_text.home_shapes)
        for user in names.users:
            self._pseudonym("user", user)
            if user not in _EVERYBODYS:
                passes.append(private_text.user_pass(user))
        for host in names.hosts:
            short = host.split(".")[0]
            self._pseudonyms.setdefault(("host", short), self._pseudonym("host", host))
            passes += [
                private_text.host_pass(name)
                for name in dict.fromkeys((host, short))
                if name and name not in _EVERYBODYS
            ]
        return tuple(passes)


def _by_number(item: tuple[tuple[str, str], int]) -> tuple[str, int, bool]:
    (kind, pseudonym), _ = item
    digits = "".join(letter for letter in pseudonym if letter.isdigit())
    return kind, int(digits or 1), "+" in pseudonym


def _secret_name(name: str, value: str) -> bool:
    return bool(shapes.SECRET_NAME.search(name)) and len(value) >= 3 and not value.isdigit()
