# ruff: noqa: E501  (a wording stays on one line)
"""What container engines and the tools that give a container its GPU print."""

from __future__ import annotations

from agent.tables.signatures import Signature

ROWS: tuple[Signature, ...] = (
    Signature(
        "no_gpu_device_driver",
        (
            "could not select device driver",
            "runtime",
            "unresolvable cdi",
            "cdi devices",
            "known gpu vendor",
            "gpu support",
        ),
        r"could not select device driver \\?[\"']?\w*\\?[\"']? with capabilities: \[\[[^\n]{0,40}gpu"
        r"|could not select device driver \\?[\"']?(?:cdi|nvidia)\\?[\"']? with capabilities"
        r"|[Uu]nknown (?:or invalid )?runtime(?: name| specified)?:? \\?[\"']?nvidia\b"
        r"|[Ii]nvalid runtime name:? \\?[\"']?nvidia"
        r"|exec: \\?\"nvidia-container-(?:runtime|cli|runtime-hook|toolkit)\\?\":[^\n]{0,20}"
        r"executable file not found"
        r"|nvidia-container-(?:runtime|cli|toolkit)(?:-hook)?: (?:command )?not found"
        r"|nvidia-container-runtime[^\n]{0,30}: no such file or directory"
        r"|no known GPU vendor found"
        r"|RuntimeHandler \\?\"nvidia\\?\" not supported|no runtime for \\?\"nvidia\\?\" is configured"
        r"|no CDI devices found|unresolvable CDI devices nvidia\.com/gpu",
        'docker: Error response from daemon: could not select device driver "" with capabilities:'
        " [[gpu]].",
        "docker, containerd, podman; nvidia-container-toolkit install guide",
    ),
    Signature(
        "image_wants_newer_driver",
        (
            "unsatisfied condition",
            "requirement error",
            "this container was built for nvidia driver",
            "unsupported cuda version: driver",
        ),
        r"unsatisfied condition: ((?:cuda|driver|brand)(?: ?[<>=]+ ?[\w.]+)?)"
        r"|This container was built for (?:NVIDIA Driver Release|CUDA) (\d[\d.]*)[^\n]*"
        r"(?:later|but)|ERROR: This container requires? (?:NVIDIA )?[Dd]river[^\n]*"
        r"|unsupported CUDA version: driver \d[\d.]* < image (\d[\d.]*)",
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update"
        " your driver to a newer version, or use an earlier cuda container",
        "libnvidia-container; NGC entry point",
    ),
    Signature(
        "driver_not_detected",
        ("driver was not detected", "start this container with", "no gpu was found"),
        r"The NVIDIA Driver was not detected\.?\s+GPU functionality will not be available"
        r"|NVIDIA Driver was not detected"
        r"|Use (?:the NVIDIA Container Toolkit|'?nvidia-docker run'?) to start this container",
        "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.",
        "NGC entry point",
    ),
    Signature(
        "host_driver_library_missing",
        ("load library failed", "driver not loaded", "driver rpc error", "initialization error"),
        r"nvidia-container-cli: initialization error: load library failed: (lib\S+?):"
        r"|nvidia-container-cli: initialization error: (?:nvml error: )?driver not loaded"
        r"|nvidia-container-cli: initialization error: (?:driver rpc error|cuda error)[^\n]*",
        "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot"
        " open shared object file: no such file or directory",
        "libnvidia-container",
    ),
    Signature(
        "utility_only",
        ("utility", "capabilities"),
        r"\"?[Cc]apabilities\"?:? ?\[\[?(?:\"gpu\"|gpu)?,? ?\"?utility\"?\]"
        r"|NVIDIA_DRIVER_CAPABILITIES\"?\s*[=:]\s*\"?(?:utility|graphics|video|display|,)+\"?\s*(?:$|[\s;])"
        r"|(?:value|capabilities): \"?utility\"?\s*$|only (?:the )?utility (?:driver )?capabilit",
        '"Capabilities":[["gpu","utility"]]',
        "docker inspect, docker-compose, Kubernetes",
    ),
    Signature(
        "daemon_reload",
        ("daemon-reload", "daemon reload", "systemctl", "unattended", "cgroup"),
        r"systemctl daemon-reload|daemon[- ]reload\b|DeviceAllow|no-cgroups"
        r"|systemd[^\n]{0,30}(?:reload|cgroup)|cgroup[^\n]{0,30}(?:reload|rewr|lost)",
        "$ sudo systemctl daemon-reload",
        "NVIDIA/nvidia-container-toolkit issue 48: containers losing access to GPUs",
    ),
    Signature(
        "cdi_spec",
        ("cdi",),
        r"/etc/cdi/\S+|/var/run/cdi/\S+|nvidia-ctk cdi generate|\bcdi[ _]\w*[ _]?major\b|\bCDI (?:file|spec\w*)",
        "/etc/cdi/nvidia.yaml",
        "nvidia-container-toolkit, CDI",
    ),
    Signature(
        "cdi_node_absent",
        ("cdi host device",),
        r"failed to stat CDI host device \"?/dev/(?:nvidia|dri)\S*[^\n]{0,20}no such file or directory",
        'failed to inject devices: failed to stat CDI host device "/dev/nvidia1": no such file or'
        " directory",
        "container-device-interface, pkg/cdi; nvidia-container-toolkit issue 885",
    ),
    Signature(
        "killed_for_memory",
        (
            "oomkilled",
            "oom-kill",
            "oom_kill",
            "oom killed",
            "memory limit",
            "request memory",
            "exceeded",
            "oom killer",
            "out-of-memory handler",
        ),
        r"OOMKilled\b|[Oo]ut[Oo]f[Mm]emory[Kk]illed"
        r"|[Ee]xceed(?:ed|ing) (?:its |the |their |job )?(?:request(?:ed)?|job|container|pod|step|cgroup)?"
        r" ?memory(?: limit)?\b|[Mm]emory limit (?:exceeded|reached)"
        r"|oom[-_]kill event|[Dd]etected \d+ oom[-_]kill|killed by the cgroup out-of-memory handler"
        r"|Killed by the kernel's out-of-memory killer|memory usage[^\n]{0,40}exceeds the limit"
        r"|[Cc]ontainer [^\n]{0,40}(?:was )?(?:OOM|oom) ?-?[Kk]illed",
        "reason: OOMKilled",
        "Kubernetes, SLURM, docker inspect",
    ),
    Signature(
        "exit_137",
        ("137", "-9", "sigkill", "killed"),
        r"[Ee]xit(?:ed)?(?: with)?(?: [Cc]ode| status)?\W{0,4}137\b|\bcode\W{1,3}137\b"
        r"|exitcode ?[:=]? ?-9\b|exit code -9\b|Signals\.SIGKILL|signal 9 \(SIGKILL\)"
        r"|^[ \t]*Killed[ \t]*$|Signal 9 \(SIGKILL\) received",
        "The container exited with code 137",
        "shells, docker, torchrun",
    ),
    Signature(
        "shm_full",
        (
            "bus error",
            "shared memory",
            "dev/shm",
            "posix_fallocate",
            "nccl-shm",
            "shm",
            "sigbus",
        ),
        r"[Uu]nexpected bus error encountered in worker"
        r"|DataLoader worker[^\n]{0,60}(?:is )?killed by signal: Bus error"
        r"|insufficient shared memory|out of shared memory|raise your shared memory limit"
        r"|[Ee]rror while creating shared memory segment"
        r"|[Ff]ailed to (?:create shared memory (?:file|segment)|extend /dev/shm)[^\n]*"
        r"|posix_fallocate failed ?: ?No space left|/dev/shm[^\n]{0,100}No space left"
        r"|No space left on device[^\n]{0,60}(?:/dev/shm|shm|torch_\d)"
        r"|unable to (?:write to file|open shared memory object|resize file|allocate shared memory"
        r"(?:\(shm\))?)[^\n]{0,10}</?torch_[^\n]*|unable to allocate shared memory"
        r"|shm_open[^\n]{0,40}(?:No space|failed)|Bus error while /dev/shm was full"
        r"|The object store is using /tmp instead of /dev/shm",
        "RuntimeError: DataLoader worker (pid 47) is killed by signal: Bus error. It is possible"
        " that dataloader's workers are out of shared memory.",
        "torch.utils.data; NCCL shm.cc; multiprocessing",
    ),
    Signature(
        "bus_error",
        ("bus error", "sigbus", "signal 7"),
        r"Bus error(?: \(core dumped\))?|SIGBUS\b|[Ss]ignal 7\b",
        "Bus error (core dumped)",
        "shells, faulthandler",
    ),
    Signature(
        "threads_refused",
        ("can't start new thread", "pthread_create failed", "resource temporarily unavailable"),
        r"can.t start new thread|pthread_create failed|fork: (?:retry: )?Resource temporarily"
        r" unavailable|std::system_error[^\n]*Resource temporarily unavailable"
        r"|BlockingIOError: \[Errno 11\] Resource temporarily unavailable",
        "RuntimeError: can't start new thread",
        "CPython; OpenBLAS",
    ),
    Signature(
        "too_many_files",
        ("too many open files", "items of ancdata"),
        r"Too many open files|received 0 items of ancdata",
        "OSError: [Errno 24] Too many open files",
        "errno 24; multiprocessing.reduction",
    ),
    Signature(
        "disk_full",
        ("no space left on device", "disk quota exceeded"),
        r"No space left on device|Disk quota exceeded",
        "OSError: [Errno 28] No space left on device",
        "errno 28",
    ),
    Signature(
        "certificate_time",
        ("not yet valid", "requesttimetooskewed", "clock skew"),
        r"certificate is not yet valid|RequestTimeTooSkewed|[Cc]lock skew (?:too great|detected)",
        "ssl.SSLCertVerificationError: certificate verify failed: certificate is not yet valid",
        "OpenSSL; S3",
    ),
    Signature(
        "nvml_library_missing",
        ("nvml", "libnvidia-ml"),
        r"NVML Shared Library Not Found|NVMLError_LibraryNotFound"
        r"|libnvidia-ml\.so\S*: cannot open shared object file|(?:could ?n.t|cannot) find libnvidia-ml\.so",
        "pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found",
        "nvidia-ml-py; nvidia-smi",
    ),
    Signature(
        "smi_not_in_path",
        ("nvidia-smi",),
        r"executable file `?\\?\"?nvidia-smi\\?\"?`? not found in \$PATH"
        r"|exec: \\?\"nvidia-smi\\?\": executable file not found",
        "Error: crun: executable file `nvidia-smi` not found in $PATH: No such file or directory",
        "runc, crun",
    ),
)
