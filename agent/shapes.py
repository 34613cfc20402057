"""What private values look like in text: tokens, keys, credentials, addresses, home paths.

Every pattern is bounded, so that hostile text of many megabytes is searched in linear time.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections import Counter

from agent.ordinary_words import ORDINARY_WORDS

# ---------------------------------------------------------------- secrets known by their shape
TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"hf_[A-Za-z0-9]{16,200}|api_org_[A-Za-z0-9]{16,200}"  # Hugging Face
    r"|gh[pousr]_[A-Za-z0-9]{16,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[\w-]{16,100}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # AWS
    r"|sk-[A-Za-z0-9_-]{16,300}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,200}"  # OpenAI, Stripe
    r"|xox[a-z]-[A-Za-z0-9-]{10,300}|xapp-[A-Za-z0-9-]{10,300}"  # Slack
    r"|AIza[\w-]{30,60}|ya29\.[\w-]{20,500}"  # Google
    r"|nvapi-[\w-]{20,200}|npm_[A-Za-z0-9]{30,60}|pypi-[\w-]{40,400}|dckr_pat_[\w-]{20,100}"
    r"|rpa_[A-Za-z0-9]{20,100}|r8_[A-Za-z0-9]{30,60}|dop_v1_[a-f0-9]{40,80}"
    r"|tskey-[\w-]{16,100}|dapi[a-f0-9]{32}"
    r"|eyJ[\w-]{6,4000}\.[\w-]{6,8000}(?:\.[\w-]{0,2000})?"  # JSON web token
    r")"
)
PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
BASE64_LINE = re.compile(r"[A-Za-z0-9+/=]{1,100}|(?:Proc-Type|DEK-Info): [^\n]{0,100}")
BEARER = re.compile(r"(?i)(?<![A-Za-z0-9])((?:bearer|basic)\s{1,4})([A-Za-z0-9._~+/=-]{12,8000})")
URL_CREDENTIALS = re.compile(r"(?<=://)[^\s/'\"<>]{1,2000}(?=@)")
# https://conda.anaconda.org/t/TOKEN/channel, and the "sig" of a shared-access URL.
URL_TOKEN = re.compile(r"(://[^\s'\"<>]{1,300}?/t/)([\w-]{6,200})(?=[/\s'\"]|$)")
URL_SIGNATURE = re.compile(r"(?<=[?&]sig=)[\w%+/=-]{8,500}")
CURL_USER = re.compile(
    r"(?<![\w-])((?:curl|wget|http)\s(?:[^\n]{0,200}?\s)?(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?)"
    r"([^\s:\"']{1,200}:[^\s\"']{1,200})"
)
WEBHOOK = re.compile(r"(?<=hooks\.slack\.com/services/)[\w/-]{10,200}")

# A name that says "secret" followed by its value. Group 1 is kept; the value is in one of the
# other groups. Nothing unbounded stands before the key word: that would be quadratic.
_STRONG = (
    r"passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key"
    r"|account[_-]?key|auth[_-]?key|credentials?"
)
_WEAK = (
    r"token|(?<![A-Za-z])pw|authorization|auth|signature|session(?:[_-]?id)?|cookie"
    r"|x-amz-credential"
)
# One of these stands in every text that NAMED_SECRET or FLAGGED_SECRET finds something in.
SECRET_HINTS: tuple[str, ...] = (
    *("passw", "passphrase", "secret", "key", "credential"),
    *("token", "auth", "signature", "session", "cookie", "pw"),
)
_VALUE = r"(?:\"([^\"\n<]{1,4000})\"|'([^'\n<]{1,4000})'|([^\s\"'<>,;&|(){}\[\]]{1,4000}))"
NAMED_SECRET = re.compile(
    rf"(?i)((?:({_STRONG})|({_WEAK}))(?![a-z])[\w-]{{0,24}}[\"']?(\s{{0,3}}[=:]\s{{0,3}}))"
    rf"(?:(?:bearer|basic)\s{{1,4}})?(?!(?:bearer|basic)\s{{1,4}}<){_VALUE}"
)
FLAGGED_SECRET = re.compile(
    rf"(?i)((?<![\w-])--?[a-z-]{{0,30}}(?:{_STRONG}|token)\s{{1,3}}){_VALUE}"
)
SECRET_NAME = re.compile(rf"(?i)(?:{_STRONG}|token|auth|cookie|(?<![a-z])key)(?![a-z])")
_SPECIAL_TOKEN = re.compile(r"(?i)(?:bos|eos|pad|unk|sep|cls|mask|num|max|min|new|next|per)_$")
_NO_SECRET = frozenset({"none", "null", "true", "false", "undefined", "unset", "required", "***"})


def is_secret(text: str, start: int, value: str, *, strong: bool, spaced: bool) -> bool:
    """Whether ``value``, found after a name that begins at ``start``, is worth hiding.

    A password hides anything; a "token" may also be a number of them, a special token of a
    vocabulary or an expression in code, so it must look random, or stand in an assignment.
    """
    word = value.strip().strip("*").lower()
    if not word or word in _NO_SECRET or value.startswith(("$", "%")):
        return False
    if strong:
        return len(value) >= 3
    if value.isdigit() or _SPECIAL_TOKEN.search(text[max(0, start - 8) : start]):
        return False
    if len(value) >= 8 and not spaced and "/" not in value:
        return True
    return len(value) >= 12 and any(letter.isdigit() for letter in value) and _bits(value) >= 3.0


def _bits(value: str) -> float:
    """Shannon entropy in bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


# ---------------------------------------------------------------- addresses
IPV4 = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![A-Za-z_]|\.?\d)")
IPV6 = re.compile(
    # Global, unique local, link-local and multicast ones: "c10::add" is C++, not an address.
    r"(?<![0-9A-Za-z])(?:[23][0-9A-Fa-f]{3}|[fF][cCdD][0-9A-Fa-f]{2}|[fF][eE][89abAB][0-9A-Fa-f]"
    r"|[fF]{2}[0-9A-Fa-f]{2})(?::[0-9A-Fa-f]{0,4}){2,7}(?![0-9A-Za-z])(?:%[\w.-]{1,32})?"
)
MAC = re.compile(
    r"(?<![\w:.-])(?:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}"
    r"|[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){3})(?![\w:-])"
)
EMAIL = re.compile(
    r"(?<![\w.+-])(?!git@)[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}(?!so\b)[A-Za-z]{2,24}(?![\w-])"
)

_VERSION_WORD = re.compile(
    r"(?i)(?:(?:\w{0,30}[_.-])?(?:version|release|revision|vbios|bios|firmware|driver)s?"
    r"|(?:nvidia|lib|cuda|cudnn|cublas|torch|triton|rocm|hip|python|tensorrt|intel|amd)[\w.+-]{0,60}"
    r"|cu|[\w.-]{1,60}[-_]cu\d{2,3})"
)
_VERSION_AFTER = re.compile(
    r"(?:\+\w|\.(?:dist-info|whl|tar|zip|deb|rpm|egg|so)|-py\d|-cp\d"
    r"|-\d{1,3}(?:\+|\s{1,40}(?:amd64|arm64|all)))"
)
_VERSION_OPERATOR = re.compile(r"(?:[=<>~!]=\s?|\w\+)$")  # package==1.2.3.4, >= 1.2.3.4
_NOT_WORD = re.compile(r"[^\w.+-]")


def _version_expected(before: str) -> bool:
    """Whether text that ends in ``before`` goes on with a version rather than an address."""
    if _VERSION_OPERATOR.search(before):
        return True
    bare = before.rstrip(" \t:=(,|\"'")
    if bare == before and bare.endswith("-"):
        return len(bare) > 1 and bare[-2].isalnum()  # name-1.2.3.4
    words = bare.split()
    if len(words) > 1 and words[-1] in ("is", "was", "of"):
        words.pop()
    return bool(words) and bool(_VERSION_WORD.fullmatch(_NOT_WORD.split(words[-1])[-1]))


def is_ipv4(text: str, start: int, end: int) -> bool:
    """Whether the dotted quad at ``text[start:end]`` is an address that says where a machine is.

    Loopback and "any" are nobody's. A quad where a version is expected is one: 12.8.4.1 and
    10.3.9.90 are cuBLAS and cuRAND.
    """
    octets = text[start:end].split(".")
    if any(int(octet) > 255 or (octet[0] == "0" and octet != "0") for octet in octets):
        return False
    if octets[0] in ("0", "127") or text[start:end] == "255.255.255.255":
        return False
    if _VERSION_AFTER.match(text, end):
        return False
    line_start = text.rfind("\n", max(0, start - 80), start) + 1 or max(0, start - 80)
    return not _version_expected(text[line_start:start])


def ipv6_length(candidate: str) -> int:
    """How many leading characters of ``candidate`` are an IPv6 address; 0 if none are."""
    address, _, zone = candidate.partition("%")
    for drop in (0, 1, 2):  # a colon of the sentence may follow the address
        trimmed = address[: len(address) - drop] if drop else address
        if drop and not address.endswith(":"):
            break
        try:
            ipaddress.IPv6Address(trimmed)
        except ValueError:
            continue
        return len(candidate) if zone and not drop else len(trimmed)
    return 0


# ---------------------------------------------------------------- homes and machines
HOME = re.compile(
    r"(?:/var/home|/export/home|/usr/home|/home|/Users)/(?!\.)([^/\s:;,'\"<>()\[\]{}|*?$\\]{1,64})"
    r"|(?i:[A-Z]:\\+Users\\+)([^\\\s:;,'\"<>|*?/]{1,64})"
)
ROOT_HOME = re.compile(r"(?:(?<=file://)|(?<=-[IL])|(?<![\w.~/>-]))/root(?![\w.-])")
SHARED_HOMES = frozenset({"linuxbrew", "shared", "Public", "Shared", "Default", "runner"})

# Where other programs print the name of a machine: NCCL's prefix, syslog's, a shell prompt.
NCCL_HOST = re.compile(r"(?m)^([A-Za-z0-9][\w.-]{0,63})(?=:\d{1,9}:\d{1,9} (?:\[\d+\] )?NCCL )")
SYSLOG_HOST = re.compile(
    r"(?m)(?:(?<=\d\d:\d\d:\d\d )|(?<=[+-]\d\d:\d\d )|(?<=\dZ ))([A-Za-z0-9][\w.-]{0,63})"
    r"(?= (?:kernel|systemd|nvidia-[\w-]{1,30}|dockerd|containerd|kubelet|sshd)(?:\[\d{1,9}\])?:)"
)
PROMPT = re.compile(
    r"(?<![\w.@-])([a-z_][\w.-]{0,31})@([A-Za-z0-9][\w-]{0,62})(?=:[~/][^\n]{0,200}[#$])"
)
CLOUD_HINTS = ("ip-", ".internal", ".local", ".corp", ".lan")
CLOUD_HOST = re.compile(
    r"(?<![\w.-])(?:ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[a-z0-9-]{1,40}){0,4}"
    r"|[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,6}"
    r"\.(?:compute\.internal|ec2\.internal|svc\.cluster\.local|corp|lan|localdomain))(?![\w-])"
)

# ---------------------------------------------------------------- names that are ordinary words
# gpu0, h100, sm80, cu130, node-1, 42: names of things that diagnoses are about
_NUMBERED_WORD = re.compile(r"[a-z]{0,5}[-_]?\d{1,4}[a-z]{0,2}")


def is_ordinary(name: str) -> bool:
    """Whether a user or host name would also be met in text that is about something else."""
    word = name.lower()
    return len(word) < 3 or word in ORDINARY_WORDS or bool(_NUMBERED_WORD.fullmatch(word))
