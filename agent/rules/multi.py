"""Causes between GPUs: NVSwitch fabric, peer access, NVLink, NCCL's network, slices of a card."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.device import cuinit_at, cuinit_code
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import driver_at
from agent.rules.told import told
from agent.rules.versions import version

# Interfaces that only exist inside one host, by name.
LOCAL_INTERFACE = re.compile(
    r"^(?:docker\d*|br-[0-9a-f]+|veth\w*|virbr\d*|lo|tun\d*|tailscale\d*|cni\d*|flannel\S*|cali\w*"
    r"|wg\d*|zt\w+|kube-\w+|podman\d*|lxcbr\d*)$"
)


# ---------------------------------------------------------------- fabric manager
def _not_ready(case: Case) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    hits = case.hits("system_not_ready", "fabric_unfinished")
    evidence = cuinit_at(case) if cuinit_code(case) == 802 else ()
    unfinished = tuple(
        pointer
        for index, device in enumerate(case.facts.devices)
        if device.fabric and device.fabric.state in ("not-started", "in-progress")
        for pointer in case.at(f"/facts/devices/{index}/fabric", "Fabric")
    )
    return hits, (*evidence, *unfinished)


def _versions_differ(case: Case) -> bool:
    nvidia = case.facts.drivers.nvidia
    manager = version(nvidia.fabric_manager_version) if nvidia else ()
    return bool(manager and case.driver and manager[: len(case.driver)] != case.driver)


def fabric_manager_version_mismatch(case: Case) -> Diagnosis | None:
    """Installed, and of another version than the driver, so that it exits."""
    named = case.hits("fabric_manager_mismatch")
    hits, evidence = _not_ready(case)
    if named:
        return Diagnosis(weight=93, hits=(*named, *hits), evidence=evidence)
    if not hits and not evidence:
        return None
    if _versions_differ(case):
        return Diagnosis(weight=92, hits=hits, evidence=(*evidence, *driver_at(case)))
    stopped = case.hits("fabric_manager_stopped")
    if told(case, "driver-switched") and not stopped and not _manager_absent(case):
        return Diagnosis(weight=68, hits=hits, evidence=evidence, look_at=_LOOK)
    return None


_LOOK = (
    "systemctl status nvidia-fabricmanager, and its version against nvidia-smi's driver version:"
    " both must agree to the last digit",
)


def _manager_absent(case: Case) -> bool:
    nvidia = case.facts.drivers.nvidia
    return bool(nvidia and nvidia.fabric_manager_state in ("not-installed", "stopped"))


def fabric_manager_not_installed(case: Case) -> Diagnosis | None:
    """An NVSwitch machine on which no fabric manager runs."""
    hits, evidence = _not_ready(case)
    stopped = case.hits("fabric_manager_stopped")
    if (not hits and not evidence) or case.hits("fabric_manager_mismatch"):
        return None
    if _versions_differ(case):
        return None
    if case.works and not evidence:
        return None
    if _manager_absent(case) or stopped:
        return Diagnosis(weight=92, hits=(*hits, *stopped), evidence=evidence)
    weight = 60 if told(case, "driver-switched") else 82
    return Diagnosis(weight=weight, hits=hits, evidence=evidence, look_at=_LOOK)


def fabric_unhealthy(case: Case) -> Diagnosis | None:
    """The fabric is registered, and reports that a route or its bandwidth is bad."""
    bad = tuple(
        pointer
        for index, device in enumerate(case.facts.devices)
        if device.fabric
        and re.search(r"unhealthy|degraded|limited", (device.fabric.health or "").lower())
        for pointer in (case.at(f"/facts/devices/{index}/fabric", "nhealthy") or ("",))
    )
    if not bad:
        return None
    return Diagnosis(weight=82, evidence=tuple(item for item in bad if item))


# ---------------------------------------------------------------- peer access
def _peers_refused(case: Case) -> tuple[str, ...]:
    found = []
    for index, device in enumerate(case.facts.devices):
        for place, peer in enumerate(device.peers):
            if peer.access in ("not-supported", "disabled", "chipset-not-supported"):
                found.append(f"/facts/devices/{index}/peers/{place}")
    return tuple(found)


def _iommu(case: Case) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    hits = case.hits("iommu_trouble")
    words = case.facts.host.boot_parameters
    on = any(word in ("intel_iommu=on", "amd_iommu=on", "iommu=on") for word in words)
    passed = any(word in ("iommu=pt", "iommu.passthrough=1", "iommu=off") for word in words)
    evidence = case.at("/facts/host/boot_parameters", "iommu") if on and not passed else ()
    return hits, evidence


def iommu_acs_blocks_p2p(case: Case) -> Diagnosis | None:
    """IOMMU translation or ACS stops transfers that CUDA or HIP reports as possible."""
    hits, evidence = _iommu(case)
    granted = case.hits("peers_granted")
    hang = case.hits("collective_hang", "wrong_data_between_gpus")
    around = case.hits("nccl_p2p_workaround")
    refused = case.hits("peer_access_refused")
    collective = _collective_failed(case)
    if hits and (hang or around or granted or collective or case.hits("nccl_unreachable")):
        return Diagnosis(weight=90, hits=(*hits, *granted), evidence=evidence)
    if collective and evidence:
        return Diagnosis(weight=84, evidence=(*evidence, collective))
    if any("iommu=pt" in hit.text for hit in hits) or any("FAULT" in hit.text for hit in hits):
        return Diagnosis(weight=82, hits=hits, evidence=evidence)
    if granted and not _only_answers(refused):
        return None
    if granted and case.works is not True:
        look = (
            "whether the IOMMU is on (cat /proc/cmdline; dmesg | grep -i iommu) and ACS"
            " (lspci -vvv | grep ACSCtl); NCCL_P2P_DISABLE=1 shows whether peer copies are it",
        )
        return Diagnosis(weight=66, hits=granted, look_at=look)
    if around and hang and not refused:
        return Diagnosis(weight=68, hits=(*around, *hang), evidence=evidence)
    return None


def _only_answers(refused: tuple[Hit, ...]) -> bool:
    """Whether the refusals are only rows of a test that asks each pair."""
    return all("CANNOT Access Peer" in hit.text for hit in refused)


def _collective_failed(case: Case) -> str:
    for index, stage in case.stages("collective"):
        if stage.status in ("failed", "crashed", "timed_out"):
            return f"/stages/{index}"
    return ""


def p2p_not_supported_by_platform(case: Case) -> Diagnosis | None:
    """The GPUs or the virtual machine give no peer access, and the program asks for it."""
    hits = tuple(
        hit
        for hit in case.hits("peer_access_refused")
        if "CANNOT Access Peer" not in hit.text or not case.hits("peers_granted")
    )
    named = tuple(hit for hit in hits if "CANNOT" not in hit.text)
    if named:
        return Diagnosis(weight=86, hits=hits, evidence=_peers_refused(case)[:4])
    if hits:
        return Diagnosis(weight=70, hits=hits)
    return None


def peers_without_p2p(case: Case) -> Diagnosis | None:
    """Several GPUs that cannot read each other's memory: slower collectives, no fault."""
    refused = _peers_refused(case)
    if case.observations.from_text or not refused:
        return None
    return Diagnosis(weight=30, evidence=refused[:4])


# ---------------------------------------------------------------- NVLink
def nvlink_bridge_badly_seated(case: Case) -> Diagnosis | None:
    """A bridge makes only partial contact: some of its links are down."""
    partly = tuple(
        f"/facts/devices/{index}/links"
        for index, device in enumerate(case.facts.devices)
        if _bridged(device.name)
        and any(link.kind == "nvlink" and link.state == "active" for link in device.links)
        and any(link.kind == "nvlink" and link.state == "inactive" for link in device.links)
    )
    inactive, active = _links_of_one_card(case)
    bridge = case.hits("nvlink_bridge")
    errors = case.hits("nvlink_error")
    if fewer := _fewer_links(case):
        return Diagnosis(weight=78, hits=errors, evidence=fewer)
    if partly:
        evidence = () if case.observations.from_text else partly
        return Diagnosis(weight=82, hits=(*inactive, *errors), evidence=evidence)
    cards = [device for device in case.facts.devices if _bridged(device.name)]
    if inactive and active and (cards or bridge):
        return Diagnosis(weight=84, hits=(*inactive, *errors))
    if (inactive or errors) and bridge:
        return Diagnosis(weight=80, hits=(*bridge, *inactive, *errors))
    if errors and cards and not case.hits("off_the_bus"):
        return Diagnosis(weight=72, hits=errors)
    return None


# Links that a bridge joins between two cards of a model.
BRIDGE_LINKS = (
    (r"rtx 3090|a6000|a5000|a4500|a40\b|a30\b", 4),
    (r"2080 ti|titan rtx|quadro rtx [68]000", 2),
)


def _fewer_links(case: Case) -> tuple[str, ...]:
    """Evidence for a pair of bridged cards joined by fewer links than the bridge has."""
    found: list[str] = []
    for index, device in enumerate(case.facts.devices):
        name = (device.name or "").lower()
        whole = next((n for words, n in BRIDGE_LINKS if re.search(words, name)), 0)
        for peer in device.peers:
            links = re.fullmatch(r"NV(\d+)", peer.path or "")
            if links and 0 < int(links[1]) < whole:
                found += case.at(f"/facts/devices/{index}/peers", links[0])
    return tuple(dict.fromkeys(found))


def _links_of_one_card(case: Case) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """The inactive and the active links of the first card in the text that has both."""
    inactive, active = case.hits("nvlink_inactive"), case.hits("nvlink_active")
    heads = [hit.line for hit in case.hits("smi_listed_gpu")] or [-1]
    for place, start in enumerate(heads):
        end = heads[place + 1] if place + 1 < len(heads) else len(case.observations.lines)
        down = tuple(hit for hit in inactive if start <= hit.line < end and hit.group(1))
        up = tuple(hit for hit in active if start <= hit.line < end)
        if down and up:
            return down, up
    return (), ()


def _bridged(name: str | None) -> bool:
    """Whether this model's NVLink is a bridge laid over the cards, not a board."""
    text = (name or "").lower()
    return bool(
        re.search(r"rtx (?:a[456]\d00|2080|3090|titan|6000|8000|5000)|quadro (?:rtx|gv100|gp100)"
                  r"|titan (?:rtx|v)|pcie|\bnvl\b|a40\b|a30\b|geforce rtx", text)
    ) and "sxm" not in text  # fmt: skip


def nvlink_errors(case: Case) -> Diagnosis | None:
    """The driver reports errors of NVLink links between GPUs or to the switch."""
    hits = case.hits("nvlink_error")
    if not hits or any(_bridged(device.name) for device in case.facts.devices):
        return None
    return Diagnosis(weight=84, hits=hits)


_ROW = re.compile(
    r"^[ \t]*GPU(\d+)[ \t]+((?:(?:X|NV\d+|NODE|SYS|PHB|PXB|PIX)[ \t]+)+)", re.MULTILINE
)


def _left_out(case: Case) -> tuple[list[str], int]:
    """GPUs that no NVLink joins to any other, and how many GPUs there are."""
    if case.observations.from_text:
        paths = {name: row.split() for name, row in _ROW.findall(case.lines.text)}
    else:
        paths = {
            str(index): [peer.path or "" for peer in device.peers]
            for index, device in enumerate(case.facts.devices)
            if device.peers and not device.error
        }
    joined = {name: sum(path.startswith("NV") for path in row) for name, row in paths.items()}
    alone = [name for name, links in joined.items() if not links]
    others = len(joined) - len(alone) - 1
    if any(0 < links < others for links in joined.values()):
        return [], 0  # bridged pairs, not a board
    return alone, len(paths)


def nvlink_down(case: Case) -> Diagnosis | None:
    """Links of a board with NVLink are inactive, or one GPU has none to its neighbours."""
    alone, count = _left_out(case)
    if count >= 4 and 0 < len(alone) <= count // 4:
        pointers = tuple(f"/facts/devices/{name}/peers" for name in alone)
        evidence = () if case.observations.from_text else pointers
        return Diagnosis(weight=70, hits=case.hits("nvlink_none"), evidence=evidence)
    if case.observations.from_text:
        hits = case.hits("nvlink_inactive")
        whole = any("all links" in hit.text for hit in hits)
        boards = any(
            "sxm" in (d.name or "").lower() or "HBM3" in (d.name or "") for d in case.devices
        ) or case.says("-sxm")
        some = bool(case.hits("nvlink_active"))  # links of one board are all up or all down
        if hits and boards and (whole or some or len(hits) >= 4):
            return Diagnosis(weight=66, hits=hits)
        return None
    down = tuple(
        f"/facts/devices/{index}/links"
        for index, device in enumerate(case.facts.devices)
        if not _bridged(device.name)
        and device.links
        and any(link.state == "inactive" for link in device.links)
        and any(link.state == "active" for other in case.facts.devices for link in other.links)
    )
    return Diagnosis(weight=64, evidence=down) if down else None


# ---------------------------------------------------------------- NCCL's network
def nccl_no_usable_interface(case: Case) -> Diagnosis | None:
    """NCCL's bootstrap finds no network interface."""
    hits = case.hits("nccl_no_interface")
    return Diagnosis(weight=90, hits=hits) if hits else None


def nccl_wrong_interface(case: Case) -> Diagnosis | None:
    """NCCL chose an interface that the peers cannot reach."""
    used = case.hits("nccl_interfaces")
    failed = case.hits("nccl_unreachable", "gloo_unreachable", "collective_hang")
    names = [next((name for name in hit.groups if name), "") for hit in used]
    local = [hit for hit, name in zip(used, names, strict=True) if LOCAL_INTERFACE.match(name)]
    unreachable = tuple(
        hit
        for hit in case.hits("nccl_unreachable")
        if re.search(
            r"route|timed out|refused|unreachable|same subnet|172\.(?:1[6-9]|2\d)\.", hit.text
        )
    )
    if case.hits("shm_full", "ib_registration", "nccl_no_interface"):
        return None
    if local and failed:
        return Diagnosis(weight=84, hits=(*local, *failed))
    if unreachable and used:
        return Diagnosis(weight=70, hits=(*unreachable, *used))
    if unreachable and case.says("nccl"):
        look = (
            "which interface NCCL names (NCCL_DEBUG=INFO, NET/Socket : Using) and whether the"
            " other node reaches that address",
        )
        return Diagnosis(weight=58, hits=unreachable, look_at=look)
    gloo = case.hits("gloo_unreachable")
    if gloo:
        return Diagnosis(weight=62, hits=gloo)
    return None


# ---------------------------------------------------------------- slices of a card
def mig_single_instance(case: Case) -> Diagnosis | None:
    """A process sees one MIG instance, however many NVML lists."""
    hits = case.hits("mig_instance")
    slices = [d for d in case.facts.devices if d.partition and d.partition.mig_mode == "enabled"]
    one = case.hits("only_one_seen", "invalid_device_ordinal", "nccl_duplicate_gpu")
    several = re.search(r"MIG-[^,\s'\"]{8,}, ?MIG-", case.lines.text)
    if not (hits or slices) or case.hits("uuid_not_parsed"):
        return None
    if one and (hits or slices):
        return Diagnosis(weight=86, hits=(*hits, *one))
    if several:
        return Diagnosis(weight=74, hits=hits)
    return None


def mig_without_instance(case: Case) -> Diagnosis | None:
    """MIG is switched on and no instance exists, so CUDA finds no device."""
    bare = [
        (index, device)
        for index, device in enumerate(case.facts.devices)
        if device.partition
        and device.partition.mig_mode == "enabled"
        and device.partition.mig_instances == 0
        and device.partition.kind != "mig"
    ]
    hits = case.hits("no_mig_devices", "no_cuda_gpus", "cuda_available_false")
    on = any(d.partition and d.partition.mig_mode == "enabled" for d in case.facts.devices)
    if not (bare or (case.hits("no_mig_devices") and on)) or case.works:
        return None
    evidence = tuple(
        pointer
        for index, _ in bare
        for pointer in case.at(f"/facts/devices/{index}/partition", "No MIG devices found")
    )
    return Diagnosis(weight=86, hits=hits, evidence=evidence)


RULES: tuple[Rule, ...] = (
    Rule(
        code="fabric-manager-version-mismatch",
        severity="blocking",
        who="provider",
        source="Fabric Manager user guide: versions must match; cudaErrorSystemNotReady",
        find=fabric_manager_version_mismatch,
        explains=("fabric-manager-not-installed",),
    ),
    Rule(
        code="fabric-manager-not-installed",
        severity="blocking",
        who="provider",
        source="Fabric Manager user guide; cudaErrorSystemNotReady (802)",
        find=fabric_manager_not_installed,
    ),
    Rule(
        code="fabric-unhealthy",
        severity="degrading",
        who="provider",
        source="nvmlGpuFabricInfo: health mask and summary",
        find=fabric_unhealthy,
    ),
    Rule(
        code="iommu-acs-blocks-p2p",
        severity="blocking",
        who="provider",
        source="NCCL troubleshooting, PCI access control services; CUDA guide, IOMMU on Linux",
        find=iommu_acs_blocks_p2p,
        explains=("p2p-not-supported-by-platform", "nccl-wrong-interface"),
    ),
    Rule(
        code="p2p-not-supported-by-platform",
        severity="blocking",
        who="provider",
        source="cudaDeviceCanAccessPeer, cudaErrorPeerAccessUnsupported (217)",
        find=p2p_not_supported_by_platform,
        explains=("peers-without-p2p",),
    ),
    Rule(
        code="peers-without-p2p",
        severity="note",
        who="provider",
        source="nvmlDeviceGetP2PStatus",
        find=peers_without_p2p,
    ),
    Rule(
        code="nvlink-bridge-badly-seated",
        severity="degrading",
        who="provider",
        source="nvidia-smi nvlink --status; Xid 74",
        find=nvlink_bridge_badly_seated,
        explains=("nvlink-errors", "nvlink-down"),
    ),
    Rule(
        code="nvlink-errors",
        severity="degrading",
        who="provider",
        source="NVIDIA's Xid catalogue: 74, 136, 144 to 150, 155",
        find=nvlink_errors,
    ),
    Rule(
        code="nvlink-down",
        severity="degrading",
        who="provider",
        source="nvmlDeviceGetNvLinkState",
        find=nvlink_down,
    ),
    Rule(
        code="nccl-no-usable-interface",
        severity="blocking",
        who="either",
        source="NCCL environment, NCCL_SOCKET_IFNAME; github.com/NVIDIA/nccl/issues/1837",
        find=nccl_no_usable_interface,
        explains=("nccl-wrong-interface",),
    ),
    Rule(
        code="nccl-wrong-interface",
        severity="blocking",
        who="either",
        source="NCCL environment, NCCL_SOCKET_IFNAME; troubleshooting, networking",
        find=nccl_wrong_interface,
    ),
    Rule(
        code="mig-single-instance",
        severity="degrading",
        who="renter",
        source="MIG user guide, CUDA_VISIBLE_DEVICES: one instance a process",
        find=mig_single_instance,
        explains=("visible-devices-wrong-index", "device-order-differs"),
    ),
    Rule(
        code="mig-without-instance",
        severity="blocking",
        who="provider",
        source="MIG user guide, creating GPU instances",
        find=mig_without_instance,
        explains=("visible-devices-wrong-index",),
    ),
)
