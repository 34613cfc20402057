"""Limits of the box that end programs: shared memory, threads, files, disk, locked memory."""

from __future__ import annotations

from collections.abc import Iterable

from agent.model import Limit
from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule

GIB = 1 << 30
SMALL_SHM = 1 * GIB  # docker's default is 64 MiB; NCCL wants about 40 MiB for each GPU pair
SMALL_MEMLOCK = 64 << 20
SMALL_NOFILE = 1024
SMALL_PIDS = 256
NEARLY_FULL = 0.03
LEAST_FREE = 5 * GIB


def small(value: Limit | None, below: int) -> bool:
    """Whether a limit is a number below that."""
    return isinstance(value, int) and value < below


def shm_too_small(case: Case) -> Diagnosis | None:
    """/dev/shm cannot hold what NCCL, a DataLoader or multiprocessing puts there."""  # noqa: S108
    ended = case.data("workload").get("ended")
    if isinstance(ended, dict) and ended.get("by") == "shm-full":
        index = next((i for i, _ in case.stages("workload")), 0)
        return Diagnosis(weight=92, evidence=(f"/stages/{index}/data/ended",))
    hits = case.hits("shm_full")
    if case.says("cuda failure 'invalid argument'") and not case.says("no space left"):
        hits = tuple(hit for hit in hits if "creating shared memory segment" not in hit.text)
    total = case.facts.limits.shm_total_bytes
    tight = small(total, SMALL_SHM)
    evidence = case.at("/facts/limits/shm_total_bytes", "/dev/shm") if tight else ()  # noqa: S108
    if hits:
        if total and total >= 16 * GIB and (case.facts.limits.shm_free_bytes or 0) >= 8 * GIB:
            return None
        weight = 92 if tight else 86
        return Diagnosis(weight=weight, hits=(*hits, *_others(case)), evidence=evidence)
    crash = case.hits("bus_error")
    loader = case.says(
        "dataloader", "num_workers", "nccl", "multiprocessing", "shm", "torch.distributed"
    )
    if crash and (tight or loader):
        return Diagnosis(weight=84 if tight else 60, hits=crash, evidence=evidence)
    if tight and case.in_container and not case.observations.from_text:
        return Diagnosis(weight=35, evidence=evidence, severity="note")
    return None


def _others(case: Case) -> tuple[Hit, ...]:
    """The follow-up lines of a full /dev/shm, which are no causes of their own."""
    return case.hits("bus_error", "disk_full", "nccl_unreachable")


def memlock_limit(case: Case) -> Diagnosis | None:
    """The locked-memory limit is too low for InfiniBand registration."""
    hits = case.hits("ib_registration")
    shown = case.hits("memlock_small")
    soft = case.facts.limits.memlock_soft_bytes
    tight = small(soft, SMALL_MEMLOCK)
    evidence = case.at("/facts/limits/memlock_soft_bytes") if tight else ()
    if not hits or soft == "unlimited":
        return None
    weight = 92 if tight or shown else 80
    return Diagnosis(weight=weight, hits=(*hits, *shown), evidence=evidence)


def pids_limit(case: Case) -> Diagnosis | None:
    """No further thread or process may be started."""
    limits = case.facts.limits
    hits = case.hits("threads_refused")
    limit, used = limits.pids_limit, limits.pids_used
    near = isinstance(limit, int) and used is not None and used > 0.9 * limit
    tight = small(limit, SMALL_PIDS) or small(limits.nproc_soft, SMALL_PIDS) or near
    evidence = case.at("/facts/limits/pids_limit") if tight else ()
    if hits:
        return Diagnosis(weight=90 if tight else 80, hits=hits, evidence=evidence)
    if tight and not case.observations.from_text:
        severity = "degrading" if near else "note"
        return Diagnosis(
            weight=50,
            evidence=evidence,
            severity="degrading" if severity == "degrading" else "note",
        )
    return None


def nofile_limit(case: Case) -> Diagnosis | None:
    """Too few files may be open."""
    hits = case.hits("too_many_files")
    soft = case.facts.limits.nofile_soft
    evidence = case.at("/facts/limits/nofile_soft") if small(soft, SMALL_NOFILE + 1) else ()
    if hits:
        return Diagnosis(weight=88 if evidence else 82, hits=hits, evidence=evidence)
    if small(soft, SMALL_NOFILE) and not case.observations.from_text:
        return Diagnosis(weight=35, evidence=evidence, severity="note")
    return None


def disk_nearly_full(case: Case) -> Diagnosis | None:
    """A file system that the work needs has hardly any room."""
    hits = () if case.hits("shm_full") else case.hits("disk_full")
    full = [
        (index, disk)
        for index, disk in enumerate(case.facts.host.disks)
        if disk.role in ("root", "work", "home", "tmp", "volume")
        and disk.free_bytes is not None
        and disk.total_bytes
        and not disk.read_only
        and (disk.filesystem or "") not in ("squashfs", "iso9660", "overlay-ro")
        and (disk.free_bytes < NEARLY_FULL * disk.total_bytes or disk.free_bytes < GIB)
        and disk.free_bytes < LEAST_FREE
    ]
    evidence = _pointers(
        case.at(f"/facts/host/disks/{index}/free_bytes", disk.mount) for index, disk in full
    )
    values = {"path": full[0][1].mount} if full else {}
    if hits:
        return Diagnosis(weight=86 if full else 80, hits=hits, evidence=evidence, values=values)
    if full and not case.observations.from_text:
        return Diagnosis(weight=60, evidence=evidence, values=values, severity="degrading")
    return None


def workdir_does_not_survive_stop(case: Case) -> Diagnosis | None:
    """What is written to the work directory is gone when the instance stops."""
    if case.observations.from_text:
        return None
    lost = [
        (index, disk)
        for index, disk in enumerate(case.facts.host.disks)
        if disk.role == "work" and disk.survives_stop == "no"
    ]
    if not lost:
        return None
    index, disk = lost[0]
    return Diagnosis(
        weight=30, evidence=(f"/facts/host/disks/{index}",), values={"path": disk.mount}
    )


def cpu_quota_small(case: Case) -> Diagnosis | None:
    """The CPU quota is below what one GPU needs to be fed, or far below the processors shown."""
    quota = case.facts.limits.cpu_quota_cores
    shown = case.facts.host.cpu_total_count or case.facts.host.cpu_count
    if case.observations.from_text or not isinstance(quota, int | float) or not shown:
        return None
    gpus = max(1, len(case.facts.devices))
    if quota >= 2 * gpus or quota >= shown:
        return None
    return Diagnosis(
        weight=30,
        evidence=("/facts/limits/cpu_quota_cores",),
        values={"limit": f"{quota:g}", "count": str(shown)},
    )


def memory_limit_small(case: Case) -> Diagnosis | None:
    """The memory limit is below the GPU memory that it has to feed."""
    limit = case.facts.limits.memory_limit_bytes
    if case.observations.from_text or not isinstance(limit, int):
        return None
    sizes = [device.memory_total_bytes for device in case.devices if not device.integrated]
    largest = max((size for size in sizes if size), default=0)
    if not largest or limit >= largest // 2:
        return None
    return Diagnosis(
        weight=30,
        evidence=("/facts/limits/memory_limit_bytes",),
        values={"limit": f"{limit / GIB:.0f} GiB", "found": f"{largest / GIB:.0f} GiB"},
    )


def host_clock_off(case: Case) -> Diagnosis | None:
    """The host's clock is far off: certificates and signatures are refused."""
    offset = case.facts.host.clock_offset_seconds
    hits = case.hits("certificate_time")
    if offset is not None and abs(offset) > 300:
        return Diagnosis(
            weight=70,
            hits=hits,
            evidence=case.at("/facts/host/clock_offset_seconds", offset),
            values={"value": f"{offset:.0f} s"},
        )
    return Diagnosis(weight=60, hits=hits) if hits else None


def _pointers(found: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(pointer for pointers in found for pointer in pointers)


RULES: tuple[Rule, ...] = (
    Rule(
        code="shm-too-small",
        severity="blocking",
        who="either",
        source="docs.docker.com, --shm-size (64 MiB); NCCL troubleshooting, shared memory",
        find=shm_too_small,
        explains=("disk-nearly-full", "nccl-wrong-interface"),
    ),
    Rule(
        code="memlock-limit",
        severity="blocking",
        who="provider",
        source="ibv_reg_mr(3); setrlimit(2), RLIMIT_MEMLOCK",
        find=memlock_limit,
        explains=("nccl-wrong-interface",),
    ),
    Rule(
        code="pids-limit",
        severity="blocking",
        who="either",
        source="linux cgroup-v2.rst, pids.max; setrlimit(2), RLIMIT_NPROC",
        find=pids_limit,
    ),
    Rule(
        code="nofile-limit",
        severity="degrading",
        who="either",
        source="setrlimit(2), RLIMIT_NOFILE; torch.multiprocessing, sharing strategies",
        find=nofile_limit,
    ),
    Rule(
        code="disk-nearly-full",
        severity="blocking",
        who="renter",
        source="statvfs(3); errno 28",
        find=disk_nearly_full,
    ),
    Rule(
        code="workdir-does-not-survive-stop",
        severity="note",
        who="renter",
        source="providers' pages on container disks and volumes",
        find=workdir_does_not_survive_stop,
    ),
    Rule(
        code="cpu-quota-small",
        severity="note",
        who="either",
        source="linux cgroup-v2.rst, cpu.max",
        find=cpu_quota_small,
    ),
    Rule(
        code="memory-limit-small",
        severity="note",
        who="either",
        source="linux cgroup-v2.rst, memory.max",
        find=memory_limit_small,
    ),
    Rule(
        code="host-clock-off",
        severity="degrading",
        who="provider",
        source="x509 validity; signatures of cloud requests",
        find=host_clock_off,
    ),
)
