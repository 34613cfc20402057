"""Private values become pseudonyms wherever they stand, and ordinary text is not eaten."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent import codec, private_text, shapes
from agent.bundle import with_lines
from agent.model import (
    EnvironmentVariable,
    ErrorText,
    Facts,
    Gap,
    Host,
    Library,
    Observations,
    Package,
    Stage,
)
from agent.redact import Names, Redactor, names_of

from .samples import UUID, sample_facts, sample_run, sample_stages, sealed

ALICE = Names(
    users=("alice",),
    hosts=("trainer-box-9.lab.example.org",),
    homes=("/home/alice",),
    versions=frozenset({"11.3.3.83"}),
)


def redacted(text: str, names: Names = ALICE) -> str:
    return Redactor(names).text(text)


# ---------------------------------------------------------------- secrets
SECRETS = [
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "ghp_0123456789abcdefABCDEF0123456789abcd",
    "github_pat_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz",
    "glpat-0123456789abcdefABCD",
    "AKIAIOSFODNN7EXAMPLE",
    "sk-proj-0123456789abcdefABCDEF0123456789",
    "sk-" + "ant-api03-" + "0123456789abcdefABCD",
    "xoxb-123456789012-123456789012-abcdefABCDEF",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "nvapi-0123456789abcdefABCDEF_-0123456789",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "rpa_0123456789ABCDEFGHIJKLMNOP",
    "dckr_pat_0123456789abcdefABCD_-",
]
# Text and the secret in it.
IN_CONTEXT = [
    ("https://conda.anaconda.org/t/pl-4nted-0a1b2c3d/private/linux-64", "pl-4nted-0a1b2c3d"),
    ("https://conda.anaconda.org/t/pl-4nted-0a1b2c3d", "pl-4nted-0a1b2c3d"),
    ("https://x.blob.core.windows.net/a.whl?sv=2&sig=AbC%2Bdef123%3D&se=1", "AbC%2Bdef123%3D"),
    ("+ curl -fsSL -u robot:pl4nted-passw0rd https://h/x", "pl4nted-passw0rd"),
    ("curl --user robot:pl4nted-passw0rd -O https://h/x", "pl4nted-passw0rd"),
    ("connect pw=pl4nted-passw0rd", "pl4nted-passw0rd"),
]
UNEATEN = [
    "docker run -u 1000:1000 nvidia/cuda",
    "docker run --user nvidia:video x",
    "https://example.org/t/abc/x",
    "pw=350 W",
    "at 12:30 curl failed",
]
PLACES = [
    "{}",
    "token {} was refused",
    "OSError: 401 for url https://x.example/?token={}&page=2",
    "PYTHONPATH=/opt/{}/lib:/usr/lib",
    "('{}',)",
    '{{"auth": "{}"}}',
    "Authorization: Bearer {}",
    "git+https://user:{}@github.com/org/repo",
    "https://{}@github.com/org/repo",
]


@pytest.mark.parametrize(("text", "secret"), IN_CONTEXT)
def test_secrets_that_only_their_place_gives_away(text: str, secret: str) -> None:
    assert secret not in redacted(text)


@pytest.mark.parametrize("text", UNEATEN)
def test_the_same_places_with_something_harmless(text: str) -> None:
    assert redacted(text) == text


def test_a_secret_of_the_environment_is_known_wherever_it_is_printed() -> None:
    environ = {
        "KAGGLE_KEY": "qwertyuiop-plain-looking",
        "HTTPS_PROXY": "http://px:pr0xy-w0rd@10.1.2.3:3128",
        "GPG_KEY_PATH": "/usr/share/keys",
        "API_TOKEN": "false",
        "TOKENIZERS_PARALLELISM": "parallel-enough",
    }
    redactor = Redactor(names_of(Facts(), environ))
    text = redactor.text("auth failed for qwertyuiop-plain-looking; tried pr0xy-w0rd twice")
    assert text == "auth failed for <token-1>; tried <token-2> twice"
    kept = "/usr/share/keys is false but parallel-enough"
    assert redactor.text(kept) == kept


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: str(secret)[:8])
def test_tokens_known_by_their_shape_are_gone(secret: str, place: str) -> None:
    found = redacted(place.format(secret))
    assert secret not in found
    assert secret[-12:] not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter2", "password=<token-1>"),
        ("PASSWORD: 'two words'", "PASSWORD: '<token-1>'"),
        ('"api_key": "k-12"', '"api_key": "<token-1>"'),
        ("DB_PASSWD=s3cr3t;next=1", "DB_PASSWD=<token-1>;next=1"),
        ("client_secret => no", "client_secret => no"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=<token-1>"),
        ("WANDB_API_KEY=0123456789abcdef0123", "WANDB_API_KEY=<token-1>"),
        ("token=abcdefghijkl", "token=<token-1>"),
        ("HF_TOKEN: 0f1e2d3c4b5a69788796", "HF_TOKEN: <token-1>"),
        ("accessToken = '9d8c7b6a5f4e3d2c'", "accessToken = '<token-1>'"),
        ("--token 0f1e2d3c4b5a", "--token <token-1>"),
        ("--db-password hunter2 --fast", "--db-password <token-1> --fast"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic <token-1>"),
        ("proxy http://me:pw@10.1.1.1:3128", "proxy http://<credentials-1>@<ip-1>:3128"),
        ("redis://:pa@ss@cache.example/0", "redis://<credentials-1>@cache.example/0"),
        (
            "https://hooks.slack.com/services/T000/B000/XXXXXXXX",
            "https://hooks.slack.com/services/<token-1>",
        ),
    ],
)
def test_values_after_a_telling_name(text: str, expected: str) -> None:
    assert redacted(text) == expected


KEY = "-----BEGIN PRIVATE KEY-----\nb3BlbnNzaC1r\nAAAAB3NzaC1y\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a {KEY} b", "a <key-1> b"),
        (f"{KEY}\n{KEY}", "<key-1>\n<key-1>"),
        ("x -----BEGIN PRIVATE KEY-----\nMC4CAQAwBQ", "x <key-1>"),
        (
            "line of log\nMC4CAQAwBQ\nabcd==\n-----END PRIVATE KEY-----\nz",
            "line of log\n<key-1>\nz",
        ),
        ("-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----",) * 2,
    ],
    ids=["whole", "two", "cut at its end", "cut at its head", "public"],
)
def test_private_keys(text: str, expected: str) -> None:
    assert redacted(text) == expected


# ---------------------------------------------------------------- names, homes, addresses
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/run.py", "<home>/run.py"),
        ("/home/alice", "<home>"),
        ("-I/home/alice/include", "-I<home>/include"),
        ("A=/home/alice/a:/home/bob/b", "A=<home>/a:<home-2>/b"),
        ("file:///home/alice/x", "file://<home>/x"),
        ("/home/alice.bak/x", "<home-2>/x"),
        ("C:\\Users\\Alice\\x", "<home-2>\\x"),
        ("/Users/carol/x", "<home-2>/x"),
        ("/root/x, -I/root/inc", "<home-2>/x, -I<home-2>/inc"),
        ("/proc/1/root, /mnt/root/x, /rooted, /home", "/proc/1/root, /mnt/root/x, /rooted, /home"),
        ("/tmp/torchinductor_alice/x", "/tmp/torchinductor_<user-1>/x"),
        ("user alice, Alice, malice, alice2", "user <user-1>, Alice, malice, alice2"),
        ("trainer-box-9: down", "<host-1>: down"),
        ("TRAINER-BOX-9.LAB.EXAMPLE.ORG", "<host-1>"),
        ("trainer-box-99 trainer-box-9x", "trainer-box-99 trainer-box-9x"),
        ("alice@trainer-box-9:~$ ls", "<user-1>@<host-1>:~$ ls"),
        ("bob@other:~/x$ ls", "<user-2>@<host-2>:~/x$ ls"),
        ("n7:12:34 [0] NCCL INFO hi", "<host-2>:12:34 [0] NCCL INFO hi"),
        ("Nov  1 10:00:00 n7 kernel: NVRM: Xid", "Nov  1 10:00:00 <host-2> kernel: NVRM: Xid"),
        ("ip-10-0-0-7.ec2.internal", "<host-2>"),
        ("node.rack2.corp refused", "<host-2> refused"),
        ("write to me.too+x@example.org!", "write to <email-1>!"),
        ("eth0:172.17.0.2<0>", "eth0:<ip-1><0>"),
        ("tcp://10.0.0.5:29500", "tcp://<ip-1>:29500"),
        ("10.0.0.5 and 10.0.0.6 and 10.0.0.5", "<ip-1> and <ip-2> and <ip-1>"),
        ("route 10.0.0.0/8", "route <ip-1>/8"),
        ("[2001:db8::1]:8080, fe80::1%eth0", "[<ip-1>]:8080, <ip-2>"),
        ("2001:db8::2: refused", "<ip-1>: refused"),
        ("2001:0db8:0000:0000:0000:ff00:0042:8329", "<ip-1>"),
        ("::ffff:10.0.0.5", "::ffff:<ip-1>"),
        ("ether aa:bb:cc:dd:ee:0f up", "ether <mac-1> up"),
        ("AA-BB-CC-DD-EE-0F", "<mac-1>"),
        ("gid fe80:0000:0000:0000:9803:9b03:0012:3456", "gid <ip-1>"),
    ],
)
def test_names_homes_and_addresses(text: str, expected: str) -> None:
    assert redacted(text) == expected


KEPT = [
    "GPU-6f1d2c3b-1a2b-3c4d-5e6f-0123456789ab",
    "MIG-0a1b2c3d-1111-2222-3333-444455556666",
    "0000:3b:00.0",
    "00000000:3B:00.0",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
    "580.65.06",
    "torch 2.14.1+cu130",
    "nvidia-cublas-cu12==12.8.4.1",
    "nvidia-cublas-cu12      12.8.4.1",
    "nvidia-curand-cu12 10.3.9.90",
    "nvidia_cufft_cu12-11.3.3.83.dist-info",
    "found cufft 11.3.3.83 here",
    '"version": "1.2.3.4"',
    "driver version is 1.2.3.4",
    "libcublas.so.12.8.4.1",
    "v1.2.3.4, cuDNN 9.1.0.70, cuDNN: 9.1.0.70, >=1.2.3.4",
    "cudnn8 8.9.7.29-1+cuda12.2",
    "1.2.3.4+cu118",
    "96.00.74.00.01",
    "127.0.0.1:29500, 0.0.0.0, ::1, ::",
    "1.2.3.400 and 01.02.03.04 and 1.2.3",
    "12:34:56, 2026-11-30T22:00:00.000Z",
    "std::vector, c10::add, at::native::fade, ::feed, cub::DeviceRadixSort",
    "undefined symbol: _ZN3c105ErrorC2 (memcpy@@GLIBC_2.14, x@libcuda.so.1)",
    "git@github.com:pytorch/pytorch.git",
    "https://download.pytorch.org/whl/cu130",
    "num_tokens=128, max_tokens: 4096, pad_token_id=50256, tokenizer=meta-llama/Llama-3-8B",
    "eos_token='</s>' bos_token=beginning",
    "token = AutoTokenizer.from_pretrained(name)",
    "password=None, secret: null, token=${TOKEN}",
    "KeyError: 'model.layers.0.weight'",
    "key: value, monkey=12345678, keyboard: qwertz123456",
    "the author = somebody, authority: 12",
    "matrix a@b.T, @torch.no_grad()",
    "/usr/local/cuda-13.0/lib64:/opt/venv/lib/python3.11/site-packages",
    "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "<host-1> <home>/x <token-3> <ip-200+>",
]


@pytest.mark.parametrize("text", KEPT)
def test_ordinary_text_is_not_eaten(text: str) -> None:
    redactor = Redactor(ALICE)
    assert redactor.text(text) == text
    assert redactor.redactions() == ()


@pytest.mark.parametrize("name", ["a", "gpu", "root", "user", "cuda", "max", "torch", "7", "h100"])
@pytest.mark.parametrize("text", KEPT)
def test_users_and_hosts_called_like_ordinary_words_eat_nothing(text: str, name: str) -> None:
    names = replace(ALICE, users=(name,), hosts=(name,), homes=(f"/home/{name}",))
    assert redacted(text, names) == text


@pytest.mark.parametrize("name", ["a", "gpu", "user", "torch", "max"])
def test_but_they_are_replaced_where_a_login_or_host_is_meant(name: str) -> None:
    names = Names(users=(name,), hosts=(name,), homes=(f"/data/{name}/x",))
    text = f"user={name} uid=1000({name}) /home/{name}/b /data/{name}/x/y ~{name}/ host: {name}"
    found = redacted(f"{text} /tmp/torchinductor_{name}/", names)
    assert found == (
        "user=<user-1> uid=1000(<user-1>) <home-2>/b <home>/y ~<user-1>/ host: <host-1> "
        "/tmp/torchinductor_<user-1>/"
    )
    facts = Redactor(names).redact(Facts(host=Host(user_name=name, host_name=name)))
    assert facts.host == Host(user_name="<user-1>", host_name="<host-1>")


def test_the_home_of_an_image_is_nobodys() -> None:
    for home in ("/", "/workspace", "/app", ""):
        names = names_of(Facts(), {"HOME": home, "USER": "alice"})
        assert redacted("/workspace/x /app/y /", names) == "/workspace/x /app/y /"


# ---------------------------------------------------------------- values and types
PLANTED = (
    "hf_PLANTEDplantedPLANTED0123456789",
    "s3cr3t-planted-passw0rd",
    "planted-host-77",
    "planteduser",
    "10.77.66.55",
    "2001:db8:77::66",
    "77:66:55:44:33:22",
)


def planted_observations() -> Observations:
    token, password, host, user, ipv4, ipv6, mac = PLANTED
    everywhere = f"{token} password={password} {user}@{host} {ipv4} {ipv6} {mac} /home/{user}/x"
    facts = sample_facts(
        host=Host(
            user_name=user, host_name=host, os_name=everywhere, boot_parameters=(everywhere,)
        ),
        environment=(
            EnvironmentVariable(name="PYTHONPATH", value=everywhere),
            EnvironmentVariable(name="SOME_TOKEN", value=password),
            EnvironmentVariable(name="MY_API_KEY", value=password),
        ),
        libraries=(Library(soname="libx.so", path=f"/home/{user}/lib/libx.so"),),
    )
    stage = Stage(
        name="import",
        subject="host",
        status="failed",
        error=ErrorText(type="OSError", text=everywhere),
        stderr_tail=everywhere,
        data={"a": [{"b": everywhere}], everywhere: 1},
    )
    gap = Gap(pointer="/facts", why=everywhere, said_by=everywhere)
    return Observations(facts=facts, stages=(*sample_stages(), stage), gaps=(gap,))


def test_planted_secrets_appear_nowhere_in_the_file() -> None:
    from .samples import sample_bundle

    seen = planted_observations()
    redactor = Redactor(names_of(seen.facts, {"HOME": "/home/planteduser"}))
    found = redactor.redact(seen)
    run = redactor.redact(sample_run(ticket=" ".join(PLANTED[:5]), argv=PLANTED))
    whole = replace(sample_bundle(stages=found.stages, facts=found.facts, gaps=found.gaps), run=run)
    text = sealed(replace(whole, redactions=redactor.redactions())).decode()
    for secret in PLANTED:
        if secret == PLANTED[1]:
            # In a ticket or as an argument alone nothing tells that it is a password.
            text = text.replace(json.dumps(list(run.argv))[1:-1], "")
            continue
        assert secret not in text
    assert UUID in text
    assert "0000:3b:00.0" in text
    assert with_lines(found).lines


def test_a_secret_is_hidden_by_the_name_of_its_variable() -> None:
    found = Redactor(Names()).redact(planted_observations()).facts.environment
    assert [variable.value for variable in found[1:]] == ["<token-2>", "<token-2>"]


def test_typed_versions_are_versions_and_ids_are_kept() -> None:
    facts = sample_facts(
        packages=(Package(name="nvidia-curand-cu12", version="10.3.9.90"),),
        libraries=(Library(soname="libcurand.so.10", version="10.3.9.90"),),
    )
    redactor = Redactor(names_of(facts, {}))
    assert redactor.redact(facts) == facts
    assert redactor.text("10.3.9.90 but 10.3.9.91") == "10.3.9.90 but <ip-1>"


def test_counts_and_kinds_are_reported_in_order() -> None:
    redactor = Redactor(ALICE)
    redactor.text("10.0.0.1 10.0.0.2 10.0.0.1 alice alice@trainer-box-9:~$ /home/alice")
    assert [(item.pseudonym, item.kind, item.count) for item in redactor.redactions()] == [
        ("<home>", "home", 1),
        ("<host-1>", "host", 1),
        ("<ip-1>", "ip", 2),
        ("<ip-2>", "ip", 1),
        ("<user-1>", "user", 2),
    ]


def test_a_flood_of_addresses_does_not_make_a_flood_of_pseudonyms() -> None:
    redactor = Redactor(Names())
    text = redactor.text(" ".join(f"10.0.{n // 250}.{n % 250}" for n in range(1000)))
    assert "10.0." not in text
    assert len(redactor.redactions()) == 201
    assert redactor.redactions()[-1].pseudonym == "<ip-200+>"
    assert Redactor(Names()).text(text) == text


def test_names_come_from_facts_and_environment() -> None:
    facts = Facts(host=Host(user_name="alice", host_name="box-of-alice"))
    environ = {"HOME": "/home/alice", "USER": "alice", "SUDO_USER": "bobby", "HOSTNAME": "h\udcff"}
    names = names_of(facts, environ)
    assert names.users == ("alice", "bobby")
    assert names.hosts == ("box-of-alice", "h\\udcff")
    assert names.homes == ("/home/alice",)


# ---------------------------------------------------------------- laws
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from([*SECRETS, *KEPT, KEY]),
        st.sampled_from(["alice", "/home/alice/", "10.0.0.5", "password=", "token: ", "@", "://"]),
        st.sampled_from(['"', "'", "<", ">", "=", ":", " ", "\n", "Bearer ", "-----", "fe80::1"]),
    ),
    max_size=8,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("password=BEARER 000")
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_the_same_text_gives_the_same_pseudonyms(text: str) -> None:
    first, second = Redactor(ALICE), Redactor(ALICE)
    assert first.text(text) == second.text(text)
    assert first.redactions() == second.redactions()


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SECRETS), st.text(max_size=30), st.text(max_size=30))
def test_a_token_set_off_from_its_surroundings_is_always_found(
    secret: str, before: str, after: str
) -> None:
    assert secret not in redacted(f"{before} {secret} {after}")


def test_values_come_back_as_their_types() -> None:
    observations = planted_observations()
    found = Redactor(ALICE).redact(observations)
    assert isinstance(found, Observations)
    assert codec.from_json(Observations, codec.to_json(found)) == found


UNITS = ["10.0.0.1 ", "aaaaaaaa", "://a", "token=", "a@b.", "::", "2001:", "AAAA\n", "eyJaaaaaaaa."]
UNITS += ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", 'password="', "x-", "/home/"]
UNITS += ["a.b.", "12:34:", "--token ", "user=a ", "alice", "Bearer ", "\n", "-", "lan.", "<", "\\"]


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_in_hostile_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        redacted(text)
        return time.process_time() - began

    seconds(10_000)
    # Twice as long would be linear, four times quadratic; below a second nothing matters.
    assert seconds(400_000) < max(1.0, 3.2 * seconds(200_000))


def test_ten_megabytes_of_log_in_bounded_time() -> None:
    line = (
        "2026-11-30 22:00:00 worker 3: loss 1.234 step 77, 10.0.0.7 /home/alice/x token=abcdefgh1\n"
    )
    text = line * (10_000_000 // len(line))
    began = time.process_time()
    found = redacted(text)
    assert time.process_time() - began < 30
    assert "alice" not in found


def test_the_patterns_stand_in_one_place(tmp_path: Path) -> None:
    """Hints must not skip what the pattern would find."""
    for text in ("PassWord=abc", "API-KEY: abc", "x_credential = abcd", "SESSION_ID=abcdefgh1"):
        assert shapes.NAMED_SECRET.search(text)
        assert private_text.named_secrets(lambda kind, value: "<token-1>", text) != text
