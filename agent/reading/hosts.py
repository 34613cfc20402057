"""The machine and its box from named lines: operating system, kernel, libc, container, provider."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.reading.draft import MESSAGE, REPORT, TOOL, Draft
from agent.reading.page import Page
from agent.reading.versions import dotted, size

Reader = Callable[[Draft, str, int], None]

# The name as texts spell it, the os-release id.
DISTRIBUTIONS = (
    ("ubuntu", "ubuntu"),
    ("debian", "debian"),
    ("centos", "centos"),
    ("red hat", "rhel"),
    ("rhel", "rhel"),
    ("rocky", "rocky"),
    ("almalinux", "almalinux"),
    ("fedora", "fedora"),
    ("nixos", "nixos"),
    ("opensuse", "opensuse"),
    ("sles", "sles"),
    ("suse", "sles"),
    ("artix", "artix"),
    ("arch linux", "arch"),
    ("archlinux", "arch"),
    ("manjaro", "manjaro"),
    ("gentoo", "gentoo"),
    ("alpine", "alpine"),
    ("amazon linux", "amzn"),
    ("alibaba cloud linux", "alinux"),
    ("aliyun linux", "alinux"),
    ("azure linux", "azurelinux"),
    ("oracle linux", "ol"),
    ("linux mint", "linuxmint"),
    ("pop!_os", "pop"),
    ("truenas", "truenas"),
    ("kali", "kali"),
)
PROVIDERS = (
    ("runpod", "runpod"),
    ("vast.ai", "vast"),
    ("lambda labs", "lambda"),
    ("lambda cloud", "lambda"),
    ("google colab", "colab"),
    ("colab", "colab"),
    ("kaggle", "kaggle"),
    ("paperspace", "paperspace"),
    ("sagemaker", "sagemaker"),
    ("coreweave", "coreweave"),
    ("gke", "gke"),
    ("aks", "azure"),
    ("azure", "azure"),
    ("eks", "aws"),
    ("aws", "aws"),
    ("ec2", "aws"),
    ("gcp", "gcp"),
)


def read_platform(draft: Draft, value: str, line: int) -> None:
    """Read one statement about the operating system, the kernel or the provider."""
    lower = value.lower()
    if re.search(r"\bwsl|microsoft-standard", lower):
        draft.put("host.system", "wsl", line, REPORT)
        draft.put("host.virtualization", "wsl", line, MESSAGE)
    elif "windows" in lower or "win32" in lower or re.match(r"win(?:10|11)\b", lower):
        draft.put("host.system", "windows", line, TOOL)
    elif "macos" in lower or "darwin" in lower or "mac os" in lower:
        draft.put("host.system", "macos", line, TOOL)
    for word, identity in DISTRIBUTIONS:
        if word in lower:
            draft.put("host.system", "linux", line, MESSAGE)
            draft.put("host.os_id", identity, line)
            draft.put("host.os_name", value[:120], line)
            found = re.search(rf"{re.escape(word)}\D{{0,24}}?(\d+(?:\.\d+)*)", lower)
            draft.put("host.os_version", found[1] if found else None, line)
            break
    else:
        if "linux" in lower:
            draft.put("host.system", "linux", line, MESSAGE)
    architecture = re.search(r"\b(x86_64|aarch64|arm64|ppc64le|riscv64|amd64)\b", lower)
    if architecture:
        draft.put("host.architecture", architecture[1].replace("amd64", "x86_64"), line)
    kernel = re.search(r"(?:linux-|kernel[ :]+)(\d+\.\d+[\w.+-]*?)(?:-with-|-x86_64|,|\s|$)", lower)
    if kernel:
        draft.put("host.kernel_release", kernel[1], line)
    libc = re.search(r"\b(glibc|musl)[ -]?(\d+\.\d+)", lower)
    if libc:
        # Python's platform name holds the libc that its build asked for, not the one present.
        weight = MESSAGE if "-with-" in lower else REPORT
        draft.put("host.libc_name", libc[1], line, weight)
        draft.put("host.libc_version", libc[2], line, weight)
    if re.search(r"\bcontainer\b|\bdocker\b", lower) and not draft.get("container.kind"):
        draft.put("container.kind", "docker" if "docker" in lower else "container", line, MESSAGE)
    read_provider(draft, value, line)


def read_provider(draft: Draft, value: str, line: int) -> None:
    """Read the name of a rental provider or a managed Kubernetes."""
    lower = value.lower()
    for word, name in PROVIDERS:
        if re.search(rf"\b{re.escape(word)}\b", lower):
            draft.put("container.provider", name, line)
            if word in ("gke", "aks", "eks"):
                draft.put("container.kind", "kubernetes", line, REPORT)
            return


def _container(draft: Draft, value: str, line: int) -> None:
    lower = value.lower()
    for word in ("docker", "podman", "kubernetes", "apptainer", "singularity", "lxc", "enroot"):
        if word in lower:
            draft.put("container.kind", word.replace("singularity", "apptainer"), line, REPORT)
            return
    if re.match(r"(?:true|yes)\b", lower):
        if draft.get("container.kind") is None:  # other lines may have told which kind
            draft.put("container.kind", "container", line, MESSAGE)
    elif re.match(r"(?:false|no)\b", lower):
        draft.put("container.kind", "none", line, REPORT)


def _image(draft: Draft, value: str, line: int) -> None:
    draft.put("container.image", value[:200], line, REPORT)
    draft.put("container.kind", "container", line, MESSAGE)


def _wsl(draft: Draft, value: str, line: int) -> None:
    if re.match(r"(?:true|yes|[12])\b", value, re.I):
        draft.put("host.system", "wsl", line, REPORT)


def _kernel(draft: Draft, value: str, line: int) -> None:
    found = re.search(r"\d+\.\d+[\w.+-]*", value)
    draft.put("host.kernel_release", found[0] if found else None, line, REPORT)


def _libc(draft: Draft, value: str, line: int) -> None:
    draft.put("host.libc_name", "musl" if "musl" in value.lower() else "glibc", line, REPORT)
    draft.put("host.libc_version", dotted(value), line, REPORT)


def _cpu_count(draft: Draft, value: str, line: int) -> None:
    found = re.match(r"\d{1,4}\b", value)
    draft.put("host.cpu_count", int(found[0]) if found else None, line)


def _cpu_model(draft: Draft, value: str, line: int) -> None:
    if re.search(r"[A-Za-z]{2}", value):
        draft.put("host.cpu_model", value[:100], line)


def _memory(draft: Draft, value: str, line: int) -> None:
    draft.put("host.memory_total_bytes", size(value), line)


def _shm(draft: Draft, value: str, line: int) -> None:
    draft.put("limits.shm_total_bytes", size(value), line, REPORT)


def _memory_limit(draft: Draft, value: str, line: int) -> None:
    draft.put("limits.memory_limit_bytes", size(value), line, REPORT)


def _architecture(draft: Draft, value: str, line: int) -> None:
    found = re.match(r"x86_64|aarch64|arm64|ppc64le|riscv64", value)
    draft.put("host.architecture", found[0] if found else None, line)


def _secure_boot(draft: Draft, value: str, line: int) -> None:
    if re.match(r"(?:enabled|on|true|yes)\b", value, re.I):
        draft.put("host.secure_boot", True, line, REPORT)
    elif re.match(r"(?:disabled|off|false|no)\b", value, re.I):
        draft.put("host.secure_boot", False, line, REPORT)


def _virtualization(draft: Draft, value: str, line: int) -> None:
    draft.put("host.virtualization", value.lower()[:40], line)


def _runtime(draft: Draft, value: str, line: int) -> None:
    if "nvidia" in value.lower() or "gpus" in value.lower():
        draft.put("container.kind", "docker", line, MESSAGE)


def _launcher(draft: Draft, value: str, line: int) -> None:
    if "docker" in value.lower():
        draft.put("container.kind", "docker", line, REPORT)
    elif "kube" in value.lower() or "helm" in value.lower():
        draft.put("container.kind", "kubernetes", line, REPORT)


KEYS: dict[str, Reader] = {
    **dict.fromkeys(
        (
            "os",
            "operating system",
            "操作系统",
            "系统",
            "hệ điều hành",
            "platform",
            "python platform",
            "os platform",
            "os platform and distribution",
            "distro",
            "distribution",
            "system",
            "host os",
            "os version",
            "pretty name",
            "description",
        ),
        read_platform,
    ),
    **dict.fromkeys(("cloud", "provider", "cloud provider", "host", "instance"), read_provider),
    **dict.fromkeys(
        ("container", "in container", "docker", "inside container", "running in docker"),
        _container,
    ),
    **dict.fromkeys(("image", "docker image", "container image", "base image"), _image),
    **dict.fromkeys(("wsl", "wsl2", "is wsl", "wsl version"), _wsl),
    **dict.fromkeys(("kernel", "kernel version", "linux kernel", "kernel release"), _kernel),
    **dict.fromkeys(("libc version", "glibc", "glibc version", "libc"), _libc),
    **dict.fromkeys(("cpu(s)", "cpu count", "cpus", "cpu cores"), _cpu_count),
    **dict.fromkeys(("cpu model", "model name", "cpu", "processor"), _cpu_model),
    **dict.fromkeys(("ram", "system memory", "total memory", "system ram", "host memory"), _memory),
    **dict.fromkeys(("shm", "shm size", "shared memory", "dev shm"), _shm),
    **dict.fromkeys(
        ("memory limit", "container memory limit", "cgroup memory limit", "memory.max"),
        _memory_limit,
    ),
    **dict.fromkeys(("architecture", "machine", "cpu architecture"), _architecture),
    **dict.fromkeys(("secure boot", "secureboot"), _secure_boot),
    **dict.fromkeys(("virtualization", "hypervisor", "hypervisor vendor"), _virtualization),
    **dict.fromkeys(("runtime", "docker runtime", "default runtime"), _runtime),
    **dict.fromkeys(("launcher", "launched with", "orchestrator"), _launcher),
}

_UNAME = re.compile(
    r"^(?:\S*\$ )?Linux (?:\S+ )?(\d+\.\d+[\w.+-]*) ?(?:#[^\n]*?)?(x86_64|aarch64|ppc64le)?[^\n]*$",
    re.M,
)


def read(page: Page, draft: Draft) -> None:
    """Read what names the machine outside "key: value" lines: uname, release lines, WSL marks."""
    for match, line in page.find(_UNAME):
        draft.put("host.system", "linux", line, MESSAGE)
        draft.put("host.kernel_release", match[1], line)
        draft.put("host.architecture", match[2], line)
        if "microsoft" in match[1]:
            draft.put("host.system", "wsl", line, REPORT)
    if "WSL" in page.text or "/usr/lib/wsl/" in page.text or "/dev/dxg" in page.text:
        found = re.search(r"/usr/lib/wsl/|/dev/dxg|\bWSL2?\b", page.text)
        if found:
            draft.put("host.system", "wsl", page.number_at(found.start()), TOOL)
    found = re.search(
        r"^.*(?:[A-Z]:\\(?:Users|Program|Windows|actions)|\bDLL load failed).*$", page.text, re.M
    )
    if found:
        draft.put("host.system", "windows", page.number_at(found.start()), MESSAGE)
    for match in re.finditer(
        r"^(?:- )?((?:Ubuntu|Debian|CentOS|Fedora|Rocky Linux|Windows|RHEL|Arch Linux)[ -]"
        r"\d[^\n]{0,60})$",
        page.text,
        re.M,
    ):
        read_platform(draft, match[1], page.number_at(match.start()))
