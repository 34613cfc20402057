"""What kind of box this process sits in: container, sandbox, and whose machine it is rented on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model import Container, Gap
from .mounts import Mount, read_mounts
from .tree import Tree, attempt, plain
from .users import read_self

POINTER = "/facts/container"
# The most telling first: a Kubernetes pod also shows containerd, a SLURM job also enroot.
KINDS = (
    "kubernetes",
    "apptainer",
    "enroot",
    "podman",
    "docker",
    "containerd",
    "lxc",
    "systemd-nspawn",
)
FILES = (
    ("/.dockerenv", "docker"),
    ("/run/.containerenv", "podman"),
    ("/.singularity.d", "apptainer"),
    ("/var/run/secrets/kubernetes.io", "kubernetes"),
)
# Variables by name; their values do not matter here, so none is kept.
VARIABLES = (
    ("KUBERNETES_SERVICE_HOST", "kubernetes"),
    ("APPTAINER_CONTAINER", "apptainer"),
    ("SINGULARITY_CONTAINER", "apptainer"),
    ("ENROOT_ROOTFS", "enroot"),
    ("ENROOT_RUNTIME_PATH", "enroot"),
)
PATTERNS = (
    (re.compile(r"kubepods|kubelet/pods|kubernetes\.io~"), "kubernetes"),
    (re.compile(r"/(?:apptainer|singularity)/mnt|/var/(?:apptainer|singularity)"), "apptainer"),
    (re.compile(r"/enroot/"), "enroot"),
    (re.compile(r"libpod|/containers/storage/|containers/overlay-containers"), "podman"),
    (re.compile(r"/docker[/-]|docker/containers/|docker/overlay2|docker-init"), "docker"),
    (re.compile(r"cri-containerd|io\.containerd|/containerd/"), "containerd"),
    (re.compile(r"lxc\.payload|/lxc/|lxcfs|/dev/\.lxc"), "lxc"),
    (re.compile(r"machine\.slice/machine-|/var/lib/machines/"), "systemd-nspawn"),
)
# Mounts that a container runtime makes for the box itself.
TELLING_MOUNTS = (
    "/",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
    "/dev/termination-log",
    "/sbin/docker-init",
    "/usr/sbin/docker-init",
)
# A name that the renting platform itself puts into the box: variable, provider.
PROVIDER_VARIABLES = (
    ("RUNPOD_POD_ID", "runpod"),
    ("VAST_CONTAINERLABEL", "vast"),
    ("VAST_TCP_PORT_22", "vast"),
    ("COLAB_RELEASE_TAG", "colab"),
    ("COLAB_GPU", "colab"),
    ("KAGGLE_KERNEL_RUN_TYPE", "kaggle"),
    ("PAPERSPACE_NOTEBOOK_ID", "paperspace"),
    ("PAPERSPACE_FQDN", "paperspace"),
    ("MODAL_TASK_ID", "modal"),
    ("LIGHTNING_CLOUD_SPACE_ID", "lightning"),
    ("LIGHTNING_CLOUD_PROJECT_ID", "lightning"),
    ("SALAD_MACHINE_ID", "salad"),
    ("FLY_APP_NAME", "fly"),
    ("SPACE_ID", "huggingface-spaces"),
    ("SM_CURRENT_HOST", "sagemaker"),
    ("SAGEMAKER_INTERNAL_IMAGE_URI", "sagemaker"),
    ("AZUREML_RUN_ID", "azureml"),
    ("DATABRICKS_RUNTIME_VERSION", "databricks"),
    ("CODESPACES", "codespaces"),
)
# The firmware's vendor string: provider of a whole machine.
PROVIDER_VENDORS = (
    ("amazon ec2", "aws"),
    ("google", "google-cloud"),
    ("alibaba cloud", "alibaba-cloud"),
    ("tencent cloud", "tencent-cloud"),
    ("digitalocean", "digitalocean"),
    ("hetzner", "hetzner"),
    ("scaleway", "scaleway"),
    ("vultr", "vultr"),
    ("oraclecloud", "oracle-cloud"),
)
AZURE_CHASSIS = "7783-7084-3265-9085-8269-3286-77"  # the asset tag of every Azure machine
CONTAINER_LIBRARY = re.compile(r"/lib(?:cuda|nvidia-ml)\.so|/nvidia-smi$|/usr/local/nvidia(?:/|$)")
# gVisor's own version strings; "Sun Jan 10 15:06:54 PST 2016" is its constant build date.
GVISOR = re.compile(r"gvisor|#1 SMP Sun Jan 10 15:06:54 PST 2016", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Traces:
    """What was seen for each kind of container, in the words that become evidence."""

    kinds: Mapping[str, list[str]] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()


def read_container(
    tree: Tree, environ: Mapping[str, str], first: Mapping[str, str] | None
) -> tuple[Container, tuple[Gap, ...]]:
    """The container, sandbox and provider of this process, with the traces that tell.

    ``first`` is the environment of the box's process 1, None where it is closed: an SSH
    session often lacks what the image's own processes have. ``kind`` is "none" outside of a
    container, and "container" where a layered root shows one that nothing names.
    """
    gaps: list[Gap] = []
    both = {**(first or {}), **environ}
    mounts = attempt(gaps, f"{POINTER}/kind", "/proc/self/mountinfo", lambda: read_mounts(tree))
    traces = _traces(tree, both, mounts or ())
    kind = next((kind for kind in KINDS if traces.kinds.get(kind)), None)
    evidence = [text for name in KINDS for text in traces.kinds.get(name, [])]
    root = next((m for m in reversed(traces.mounts) if m.point == "/"), None)
    if kind is None and root is not None and root.filesystem in ("overlay", "aufs"):
        kind = "container"
        evidence.append(f"/ is mounted as {root.filesystem}")
    sandbox, sandbox_trace = _sandbox(tree, traces.mounts)
    if kind is None and sandbox != "none":
        kind = "container"
    if kind is None and mounts is not None:
        kind = "none"
    provider, provider_trace = _provider(tree, both, traces.mounts)
    evidence += [text for text in (sandbox_trace, provider_trace) if text]
    container = Container(
        kind=kind,
        sandbox=sandbox,
        privileged=attempt(
            gaps, f"{POINTER}/privileged", "/proc/self/status", lambda: _privileged(tree)
        ),
        provider=provider or "unknown",
        image=_image(both),
        nvidia_visible_devices=_value(both, "NVIDIA_VISIBLE_DEVICES"),
        nvidia_driver_capabilities=_value(both, "NVIDIA_DRIVER_CAPABILITIES"),
        nvidia_require_cuda=_value(both, "NVIDIA_REQUIRE_CUDA"),
        mounted_nvidia_libraries=_mounted(traces.mounts) if mounts is not None else None,
        evidence=tuple(evidence),
    )
    if mounts is None:
        why = "the list of mounts cannot be read"
        pointer = f"{POINTER}/mounted_nvidia_libraries"
        gaps.append(Gap(pointer=pointer, why=why, said_by="/proc/self/mountinfo"))
    if container.image is None and kind != "none":
        why = "a container of this kind is not told the name of its image"
        gaps.append(Gap(pointer=f"{POINTER}/image", why=why, said_by="container"))
    return container, tuple(gaps)


def read_first_environment(tree: Tree) -> dict[str, str]:
    """The environment of process 1. Raises OSError, which is usual for who is not root."""
    pairs = tree.read("/proc/1/environ").decode("utf-8", "surrogateescape").split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _traces(tree: Tree, environ: Mapping[str, str], mounts: tuple[Mount, ...]) -> Traces:
    kinds: dict[str, list[str]] = {}

    def note(kind: str, text: str) -> None:
        seen = kinds.setdefault(kind, [])
        if text not in seen and len(seen) < 3:
            seen.append(text)

    for path, kind in FILES:
        if tree.exists(path) and not (path == "/.dockerenv" and _has_own_disk(mounts)):
            note(kind, f"{path} exists")
    for name, kind in VARIABLES:
        if name in environ:
            note(kind, f"{name} is set")
    said = environ.get("container", "")  # systemd's convention, kept by podman, lxc and nspawn
    said = {"oci": "podman"}.get(said, said)
    if said in KINDS:
        note(said, f"the variable container says {said}")
    try:
        groups = tree.text("/proc/self/cgroup", 1 << 16) + tree.text("/proc/1/cgroup", 1 << 16)
    except OSError:
        groups = ""
    for pattern, kind in PATTERNS:
        if pattern.search(groups):
            note(kind, "the cgroup path names it")
        for mount in mounts:
            if _own(mount) and pattern.search(_described(mount)):
                note(kind, f"the mount of {mount.point} names it")
                break
    return Traces(kinds, mounts)


def _has_own_disk(mounts: tuple[Mount, ...]) -> bool:
    """Whether / is a whole disk and no file is mounted over it, as no docker does.

    Platforms that start images as small virtual machines leave /.dockerenv in them.
    """
    points = {mount.point for mount in mounts}
    whole = any(
        mount.point == "/" and mount.source_root == "/" and mount.source.startswith("/dev/")
        for mount in mounts
    )
    return whole and not points & {"/etc/hosts", "/etc/resolv.conf", "/etc/hostname"}


def _own(mount: Mount) -> bool:
    """Whether a mount tells about this box; a container host lists its guests' mounts as well."""
    lxcfs = mount.filesystem == "fuse.lxcfs" and mount.point.startswith("/proc/")
    return lxcfs or mount.point in TELLING_MOUNTS or mount.point.startswith("/dev/.lxc")


def _described(mount: Mount) -> str:
    layers = [o for o in mount.super_options if o.startswith(("lowerdir=", "upperdir="))]
    lxcfs = mount.source if mount.filesystem == "fuse.lxcfs" else ""
    point = mount.point if mount.point not in ("/", "/etc/hosts") else ""
    return " ".join([mount.source_root, lxcfs, *layers, point])


def _sandbox(tree: Tree, mounts: tuple[Mount, ...]) -> tuple[str, str | None]:
    for path in ("/proc/version", "/proc/sys/kernel/osrelease"):
        try:
            if GVISOR.search(tree.text(path, 4096)):
                return "gvisor", f"{path} is gVisor's"
        except OSError:
            continue
    if any(m.source == "kataShared" for m in mounts):
        return "kata", "the root comes from kataShared"
    return "none", None


def _provider(
    tree: Tree, environ: Mapping[str, str], mounts: tuple[Mount, ...]
) -> tuple[str | None, str | None]:
    for name, provider in PROVIDER_VARIABLES:
        if name in environ:
            return provider, f"{name} is set"
    if any("runpod.net" in mount.source for mount in mounts):
        return "runpod", "a volume comes from runpod.net"
    if tree.is_dir("/kaggle/input") or tree.is_dir("/kaggle/working"):
        return "kaggle", "/kaggle exists"
    firmware = " ".join(_firmware(tree, name) for name in FIRMWARE_TEXTS).lower()
    if AZURE_CHASSIS in firmware:
        return "azure", "the chassis carries Azure's asset tag"
    for vendor, provider in PROVIDER_VENDORS:
        if vendor in firmware:
            return provider, f"the firmware names {vendor}"
    return None, None


FIRMWARE_TEXTS = ("sys_vendor", "product_name", "chassis_asset_tag")


def _firmware(tree: Tree, name: str) -> str:
    try:
        return tree.text(f"/sys/class/dmi/id/{name}", 256).strip()
    except OSError:
        return ""


def _privileged(tree: Tree) -> bool:
    """Whether all capabilities that this kernel has are open to root here."""
    try:
        last = tree.number("/proc/sys/kernel/cap_last_cap")
    except (OSError, ValueError):
        last = 40  # CAP_CHECKPOINT_RESTORE, the last one since Linux 5.9
    everything = (1 << (last + 1)) - 1
    missing = everything & ~read_self(tree).capabilities
    # One capability less is still no fence: some hosts drop CAP_SYS_RESOURCE or CAP_SYS_BOOT.
    return missing.bit_count() <= 1


def _image(environ: Mapping[str, str]) -> str | None:
    for name in ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "SAGEMAKER_INTERNAL_IMAGE_URI"):
        if environ.get(name):
            return plain(environ[name])
    return None


def _value(environ: Mapping[str, str], name: str) -> str | None:
    value = environ.get(name)
    return None if value is None else plain(value)


def _mounted(mounts: tuple[Mount, ...]) -> bool:
    return any(CONTAINER_LIBRARY.search(mount.point) for mount in mounts)
