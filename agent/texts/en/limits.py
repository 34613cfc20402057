"""Texts for limits of the box."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "shm-too-small": Text(
        title="The shared memory /dev/shm is too small",
        cause="Shared memory between processes lives in /dev/shm; containers get 64 MB of it unless"
        " asked. NCCL, DataLoader workers and multiprocessing need more.",
        fix=(
            "At the start: docker run --shm-size=8g … or --ipc=host; Kubernetes: an emptyDir with"
            " medium Memory on /dev/shm",
            "Inside: num_workers=0 for DataLoaders, NCCL_SHM_DISABLE=1 for NCCL",
        ),
        message="The /dev/shm of my container is too small. Please start it with --shm-size=8g or"
        " more.",
    ),
    "memlock-limit": Text(
        title="The limit on locked memory is too low for InfiniBand",
        cause="Registering memory with the network card needs locked pages, and the limit is"
        " small.",
        fix=(
            "At the start: docker run --ulimit memlock=-1; bare: memlock unlimited in"
            " /etc/security/limits.conf, and LimitMEMLOCK=infinity for the service that starts"
            " jobs",
            "Check inside the job itself: ulimit -l",
        ),
        message="ulimit -l is too low for InfiniBand. Please set memlock to unlimited.",
    ),
    "pids-limit": Text(
        title="No more threads or processes may be started",
        cause="The limit on processes (pids.max or ulimit -u) is reached.",
        fix=(
            "Fewer threads: OMP_NUM_THREADS=4, fewer DataLoader workers",
            "At the start: docker run --pids-limit=-1; ulimit -u",
        ),
        message="The pids limit of my container is too low. Please raise it.",
    ),
    "nofile-limit": Text(
        title="Too few files may be open at once",
        cause="Every tensor that a worker hands over takes a descriptor, and the limit is low.",
        fix=(
            "ulimit -n $(ulimit -Hn)",
            "Or torch.multiprocessing.set_sharing_strategy('file_system')",
        ),
        message="ulimit -n is too low. Please raise it (docker run --ulimit nofile=1048576).",
    ),
    "disk-nearly-full": Text(
        title="A disk is full or nearly so",
        cause="There is hardly any room left on {path}; wheels and checkpoints break half-written.",
        fix=(
            "df -h; du -xh --max-depth=2 / | sort -h | tail",
            "pip cache purge; move HF_HOME, TMPDIR and checkpoints to the larger volume.",
        ),
    ),
    "workdir-does-not-survive-stop": Text(
        title="What is written here is gone when the instance stops",
        cause="{path} belongs to the container's own layer, not to a volume.",
        fix=("Write checkpoints and results to a volume.",),
    ),
    "cpu-quota-small": Text(
        title="Few processor cores for the GPUs",
        cause="The quota is {limit} cores while {count} are shown; programs that count cores"
        " start too"
        " many workers, and the GPU may wait for data.",
        fix=("Set DataLoader workers and OMP_NUM_THREADS by the quota.",),
        message="The CPU quota is {limit} cores. Please raise it.",
    ),
    "memory-limit-small": Text(
        title="Little host memory beside the GPU's",
        cause="The limit is {limit}, the GPU has {found}: a checkpoint for it cannot be loaded"
        " through"
        " host memory in one piece.",
        fix=("Load with mmap=True, in shards, or straight to the GPU.",),
        message="The memory limit is {limit}. Please raise it.",
    ),
    "host-clock-off": Text(
        title="The host's clock is far off",
        cause="It differs by {value}; certificates and signed requests are refused.",
        fix=("sudo timedatectl set-ntp true",),
        message="The host's clock is off ({value}). Please let it follow a time server.",
    ),
}
