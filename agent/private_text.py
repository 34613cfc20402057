"""Finds private values in text and hands each to whoever chooses its pseudonym.

A pass takes ``replace(kind, value) -> pseudonym`` and a text, and returns the text without what it
found. Passes run in order, secrets first: they may hold names and addresses, not the reverse.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent import shapes

Replace = Callable[[str, str], str]
Pass = Callable[[Replace, str], str]


# ---------------------------------------------------------------- secrets
def pem_blocks(replace: Replace, text: str) -> str:
    """Private keys in PEM form, also those whose beginning or end was cut off with a tail."""
    if "PRIVATE KEY" not in text:
        return text
    parts: list[str] = []
    position = 0
    begin = shapes.PEM_BEGIN.search(text)
    end = shapes.PEM_END.search(text)
    while begin is not None or end is not None:
        if end is not None and (begin is None or end.start() < begin.start()):
            start = _key_lines_start(text, position, end.start())
        else:
            start = begin.start() if begin is not None else position
        stop = end.end() if end is not None else len(text)
        parts += [text[position:start], replace("key", text[start:stop])]
        position = stop
        # A mark that was not found once is not looked for again: that would be quadratic.
        begin = begin and shapes.PEM_BEGIN.search(text, position)
        end = end and shapes.PEM_END.search(text, position)
    return "".join((*parts, text[position:]))


def _key_lines_start(text: str, floor: int, end: int) -> int:
    """Where the lines of base64 that lead up to ``end`` begin."""
    start = end
    while start > floor:
        previous = text.rfind("\n", floor, start - 1) + 1 or floor
        line = text[previous:start].strip()
        if line and not shapes.BASE64_LINE.fullmatch(line):
            break
        start = previous
    return start


def url_credentials(replace: Replace, text: str) -> str:
    """User names, passwords and tokens before the ``@`` of a URL."""
    if "://" not in text:
        return text
    text = shapes.WEBHOOK.sub(lambda match: replace("token", match[0]), text)
    text = shapes.URL_TOKEN.sub(lambda match: match[1] + replace("token", match[2]), text)
    text = shapes.URL_SIGNATURE.sub(lambda match: replace("token", match[0]), text)
    return shapes.URL_CREDENTIALS.sub(lambda match: replace("credentials", match[0]), text)


def tokens(replace: Replace, text: str) -> str:
    """Tokens that are known by their first letters, and what follows "Bearer"."""
    text = shapes.TOKEN.sub(lambda match: replace("token", match[0]), text)
    return shapes.BEARER.sub(lambda match: match[1] + replace("token", match[2]), text)


def named_secrets(replace: Replace, text: str) -> str:
    """Values after a name that says password, token, key …"""

    def hide(match: re.Match[str]) -> str:
        value = match[5] or match[6] or match[7]
        strong, spaced = match[2] is not None, " " in match[4]
        if not shapes.is_secret(text, match.start(), value, strong=strong, spaced=spaced):
            return match[0]
        return _swap(match, value, replace("token", value))

    def hide_flag(match: re.Match[str]) -> str:
        value = match[2] or match[3] or match[4]
        if value.startswith("-") or not shapes.is_secret(
            text, match.start(), value, strong=True, spaced=True
        ):
            return match[0]
        return _swap(match, value, replace("token", value))

    lowered = text.lower()
    if not any(hint in lowered for hint in shapes.SECRET_HINTS):
        return text
    text = shapes.NAMED_SECRET.sub(hide, text)
    return shapes.FLAGGED_SECRET.sub(hide_flag, text) if "-" in text else text


def _swap(match: re.Match[str], value: str, pseudonym: str) -> str:
    start = match[0].rindex(value)
    return match[0][:start] + pseudonym + match[0][start + len(value) :]


def emails(replace: Replace, text: str) -> str:
    """Mail addresses, as in package metadata and key comments."""
    if "@" not in text:
        return text
    return shapes.EMAIL.sub(lambda match: replace("email", match[0]), text)


def curl_users(replace: Replace, text: str) -> str:
    """User and password given to curl or wget; other programs' -u may be a user and a group."""
    if ":" not in text or ("-u" not in text and "user" not in text):
        return text
    return shapes.CURL_USER.sub(lambda match: match[1] + replace("credentials", match[2]), text)


def secret_pass(value: str) -> Pass:
    """The pass for one secret that the environment holds, whatever it looks like."""
    pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])")

    def replace_secret(replace: Replace, text: str) -> str:
        return pattern.sub(lambda match: replace("token", value), text) if value in text else text

    return replace_secret


SECRETS: tuple[Pass, ...] = (pem_blocks, url_credentials, tokens, named_secrets, curl_users, emails)


# ---------------------------------------------------------------- names of this machine
def home_pass(path: str) -> Pass:
    """The pass for one home directory, wherever a longer name does not go on."""
    pattern = re.compile(re.escape(path) + r"(?![\w.-])")

    def replace_home(replace: Replace, text: str) -> str:
        return pattern.sub(lambda match: replace("home", path), text) if path in text else text

    return replace_home


def is_private_home(path: str, users: tuple[str, ...]) -> bool:
    """Whether a home directory names a person: not "/", "/workspace" or "/app" of an image."""
    if path == "/root" or shapes.HOME.fullmatch(path):
        return True
    parts = path.replace("\\", "/").split("/")
    return len(parts) > 2 and any(user in parts for user in users)


def user_pass(name: str) -> Pass:
    """The pass for one login name: anywhere as a word, or only where a login is expected."""
    quoted = re.escape(name)
    if not shapes.is_ordinary(name):
        return _words("user", name, re.compile(rf"(?<![^\W_]){quoted}(?![^\W_])"))
    return _after_group(
        "user",
        name,
        re.compile(
            r"((?i:(?<![A-Za-z])(?:user(?:_?name)?|login|logname|owner|account)[\"']?\s?[=:]\s?"
            r"[\"']?|(?<![A-Za-z])user [\"']|[ug]id=\d{1,10}\(|/(?:media|scratch|mail)/"
            r"|(?:torchinductor|pytest-of|ray|triton)[_-]|(?<![\w.~])~))"
            rf"{quoted}(?![\w-])"
        ),
    )


def host_pass(name: str) -> Pass:
    """The pass for this machine's name, with the same caution for ordinary words."""
    quoted = re.escape(name)
    if not shapes.is_ordinary(name):
        return _words("host", name, re.compile(rf"(?i)(?<![^\W_]){quoted}(?![^\W_])"))
    return _after_group(
        "host",
        name,
        re.compile(
            r"((?i:(?<![A-Za-z])host(?:_?name)?[\"']?\s?[=:]\s?[\"']?|(?<![A-Za-z])host [\"']"
            r"|(?<![A-Za-z])hostname |(?<=\w)@|://))"
            rf"{quoted}(?![\w-])"
        ),
    )


def _words(kind: str, name: str, pattern: re.Pattern[str]) -> Pass:
    def replace_words(replace: Replace, text: str) -> str:
        return pattern.sub(lambda match: replace(kind, name), text)

    return replace_words


def _after_group(kind: str, name: str, pattern: re.Pattern[str]) -> Pass:
    def replace_after(replace: Replace, text: str) -> str:
        if name not in text:
            return text
        return pattern.sub(lambda match: match[1] + replace(kind, name), text)

    return replace_after


# ---------------------------------------------------------------- names by their place
def home_shapes(replace: Replace, text: str) -> str:
    """Home directories of anybody: /home/…, /Users/…, C:\\Users\\…, /root."""

    def hide(match: re.Match[str]) -> str:
        if (match[1] or match[2]) in shapes.SHARED_HOMES:
            return match[0]
        return replace("home", match[0])

    if "/root" in text:
        text = shapes.ROOT_HOME.sub(lambda match: replace("home", match[0]), text)
    return shapes.HOME.sub(hide, text) if "home/" in text or "Users" in text else text


def machines(replace: Replace, text: str) -> str:
    """Names of machines where NCCL, syslog and shells print them, and private domains."""
    if " NCCL " in text:
        text = shapes.NCCL_HOST.sub(lambda match: replace("host", match[1]), text)
    if " kernel:" in text or "]:" in text:
        text = shapes.SYSLOG_HOST.sub(lambda match: replace("host", match[1]), text)
    if "@" in text:
        text = shapes.PROMPT.sub(
            lambda match: replace("user", match[1]) + "@" + replace("host", match[2]), text
        )
    if any(hint in text for hint in shapes.CLOUD_HINTS):
        text = shapes.CLOUD_HOST.sub(lambda match: replace("host", match[0]), text)
    return text


# ---------------------------------------------------------------- addresses
def addresses(replace: Replace, text: str, versions: frozenset[str]) -> str:
    """IP and MAC addresses; ``versions`` are dotted quads known to be versions."""
    if ":" in text or "-" in text:
        text = shapes.MAC.sub(lambda match: replace("mac", match[0].lower()), text)
    if ":" in text:
        text = shapes.IPV6.sub(lambda match: _ipv6(replace, match), text)
    if "." not in text:
        return text

    def hide(match: re.Match[str]) -> str:
        if match[0] in versions or not shapes.is_ipv4(text, match.start(), match.end()):
            return match[0]
        return replace("ip", match[0])

    return shapes.IPV4.sub(hide, text)


def _ipv6(replace: Replace, match: re.Match[str]) -> str:
    length = shapes.ipv6_length(match[0])
    if not length:
        return match[0]
    return replace("ip", match[0][:length].lower()) + match[0][length:]
