# ruff: noqa: E501  (a wording stays on one line)
"""What NCCL, RCCL and programs that use several GPUs print."""

from __future__ import annotations

from agent.tables.signatures import Signature

_NCCL = "github.com/NVIDIA/nccl: strings of libnccl 2.30"

ROWS: tuple[Signature, ...] = (
    Signature(
        "nccl_no_interface",
        (
            "interface found",
            "interfaces found",
            "no ip interface",
            "socket creation failed",
            "ncclsocketinit",
        ),
        r"Bootstrap : no socket interface found|NET/Socket : [Nn]o (?:socket |usable listening )?interface found"
        r"|WARN Socket creation failed|ncclSocketInit: connecting to address[^\n]*is neither AF_INET"
        r"|[Nn]o (?:usable )?(?:socket|network|IP) interfaces? (?:was |were )?found",
        "NCCL WARN Bootstrap : no socket interface found",
        _NCCL,
    ),
    Signature(
        "nccl_interfaces",
        ("using", "<0>"),
        r"\[\d+\]([\w.-]+):[\w.:%-]+<\d*>|Bootstrap ?: Using (?:\[\d+\])?([\w.-]+):"
        r"|NET(?:/IB)? : Using interface ([\w.-]+)",
        "NCCL INFO NET/Socket : Using [0]bond0:192.0.2.1<0> [1]docker0:172.17.0.1<0>",
        _NCCL,
    ),
    Signature(
        "nccl_unreachable",
        (
            "connect to",
            "no route to host",
            "connection timed out",
            "connection refused",
            "ncclsystemerror",
            "connect failed",
            "connection closed by",
            "unhandled system error",
            "ncclremoteerror",
            "socketstartconnect",
            "net/socket",
            "same subnet",
        ),
        r"(?:NCCL WARN|socket\w*:|[Cc]all to connect|connect to)[^\n]{0,100}(?:[Cc]onnection timed out"
        r"|No route to host|Connection refused|Network is unreachable|connection abort)"
        r"|No interface found in the same subnet as remote address"
        r"|Call to connect (?:to \S+ )?(?:failed|returned)[^\n]*"
        r"|(?:Net|socketProgress\w*): ?(?:Call to recv|[Cc]onnection closed by)[^\n]*"
        r"|ncclSystemError|unhandled system error|ncclRemoteError",
        "misc/socket.cc:441 NCCL WARN socketStartConnect: Connect to 172.17.0.1<45391> failed :"
        " Connection timed out",
        _NCCL,
    ),
    Signature(
        "gloo_unreachable",
        ("gloo", "connectfullmesh"),
        r"[Gg]loo connectFullMesh failed[^\n]*|gloo/transport/tcp[^\n]{0,80}(?:[Cc]onnection|timed)"
        r"[^\n]*|Unable to resolve hostname to a \(local\) address",
        "RuntimeError: Gloo connectFullMesh failed with [../gloo/transport/tcp/pair.cc:144] no error",
        "gloo",
    ),
    Signature(
        "ib_registration",
        ("ibv_reg_mr", "memlock", "ibv_create_cq", "locked memory", "ibv_reg_dmabuf"),
        r"ibv_reg_mr\w*[^\n]{0,60}(?:Cannot allocate memory|failed)"
        r"|ibv_create_(?:cq|qp)[^\n]{0,40}Cannot allocate memory"
        r"|(?:RLIMIT_MEMLOCK|memlock|[Ll]ocked memory)[^\n]{0,60}(?:too (?:low|small)|limit|insufficient)",
        "misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate"
        " memory",
        _NCCL,
    ),
    Signature(
        "memlock_small",
        ("ulimit -l", "max locked memory", "memlock"),
        r"ulimit -l\s*\n\s*(?!unlimited)(\d+)\s*$|max locked memory\s+\(kbytes, -l\) +(\d+)",
        "$ ulimit -l\n8192",
        "bash ulimit",
    ),
    Signature(
        "peer_access_refused",
        (
            "peer access",
            "p2p",
            "access peer",
            "enable access between",
            "peer-to-peer",
            "canaccesspeer",
            "peeraccess",
            "peer mapping",
            "too_many_peers",
        ),
        r"CUDA_ERROR_TOO_MANY_PEERS|cudaErrorTooManyPeers|peer mapping resources exhausted"
        r"|peer access is not supported between (?:these )?two devices|cudaErrorPeerAccessUnsupported"
        r"|[Cc]an.t enable access between nodes|CANNOT Access Peer"
        r"|[Cc]ould not enable (?:P2P|peer)[^\n]*"
        r"|cudaDeviceCanAccessPeer[^\n]{0,60}(?:False|returns? 0|= 0|: 0)"
        r"|(?:[Ee]rror|[Ff]ailed|RuntimeError)[^\n]{0,60}[Pp]eer[- ]to[- ][Pp]eer[^\n]{0,30}not (?:supported|available)"
        r"|(?:[Ee]rror|[Ff]ailed|RuntimeError)[^\n]{0,60}\b[Pp]2[Pp] (?:access )?(?:is )?not (?:supported|available)",
        "RuntimeError: CUDA error: peer access is not supported between these two devices",
        "nvidia-cuda-runtime 13.0: cudaGetErrorString; TensorRT-LLM",
    ),
    Signature(
        "peers_granted",
        ("can access peer",),
        r"\bCAN Access Peer Device",
        "Device=0 CAN Access Peer Device=1",
        "CUDA sample p2pBandwidthLatencyTest",
    ),
    Signature(
        "iommu_trouble",
        ("iommu", "acsctl", "io_page_fault", "dmar"),
        r"Missing \"iommu=pt\" from kernel command line|ACSCtl:[^\n]*(?:SrcValid\+|ReqRedir\+)"
        r"|IO_PAGE_FAULT|DMAR:[^\n]*fault|ACS (?:is |was )?(?:enabled|on)\b"
        r"|(?:[Ii]ntel_iommu|[Aa]md_iommu|iommu)=on\b|IOMMU (?:is |was )?(?:enabled|on)\b",
        'NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity'
        " or hang!",
        "RCCL init.cc; lspci -vvv; linux drivers/iommu",
    ),
    Signature(
        "collective_hang",
        ("hang", "hung", "stuck", "watchdog", "timeout", "freez"),
        r"Watchdog caught collective operation timeout|\b[Hh]angs?\b|\b[Ss]tuck\b|\b[Hh]ung\b|freezes?\b",
        "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE)",
        "torch ProcessGroupNCCL",
    ),
    Signature(
        "nccl_p2p_workaround",
        (
            "nccl_p2p_disable",
            "p2p disabled",
            "nccl_ignore_disabled_p2p",
            "disable-custom-all-reduce",
        ),
        r"NCCL_P2P_DISABLE=1|NCCL_P2P_LEVEL=LOC|disable[-_]custom[-_]all[-_]reduce",
        "export NCCL_P2P_DISABLE=1",
        "NCCL environment",
    ),
    Signature(
        "wrong_data_between_gpus",
        ("verification error", "wrong", "out of bounds values", "corrupt", "garbage", "differ"),
        r"(?:[Dd]ata|[Rr]esults?|[Tt]ensors?)[^\n]{0,40}(?:corrupt\w*|garbage|wrong|differ)"
        r"[^\n]{0,40}(?:cop|GPU|device|peer)|Verification error|# Out of bounds values : [1-9]\d* FAILED",
        "# Out of bounds values : 12 FAILED",
        "nccl-tests; CUDA sample simpleP2P",
    ),
    Signature(
        "nccl_duplicate_gpu",
        ("duplicate gpu detected",),
        r"Duplicate GPU detected : rank (\d+) and rank (\d+) both on CUDA device (\S+)",
        "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10000",
        _NCCL,
    ),
    Signature(
        "mig_instance",
        ("mig",),
        r"\bMIG-[0-9a-fA-F]{8}-|\bMIG-GPU-|^[ \t]*MIG +\d+[gc]\.\d+\w*gb"
        r"|\bMIG (?:\d+[gc]\.\d+gb|instances?|devices?|slices?|mode)\b|\b\d+g\.\d+gb\b",
        "  MIG 2g.20gb Device 0: (UUID: MIG-00000000-0000-0000-0000-000000000000)",
        "nvidia-smi -L",
    ),
    Signature(
        "only_one_seen",
        ("device_count", "visible", "one gpu", "1 gpu", "single", "only one"),
        r"device_count\(\)[\s:=>]{1,6}1\b|there (?:are|is) 1 visible"
        r"|only (?:one|1|a single|the first)[^\n]{0,30}(?:GPU|device|MIG|instance|visible|detected)"
        r"|(?:sees|shows|uses|finds|detects) (?:only )?(?:one|1)\b|1 CUDA devices? (?:found|visible)"
        r"|Number of (?:CUDA )?(?:GPUs|devices)[^\n]{0,12}: ?1\b",
        "torch.cuda.device_count() 1",
        "github.com/pytorch/pytorch/issues/102715; nanoporetech/dorado issue 812",
    ),
    Signature(
        "nvlink_inactive",
        ("inactive", "nvlink"),
        r"Link (\d+): (?:<inactive>|inActive|inactive)|all links are in[Aa]ctive",
        "         Link 2: <inactive>",
        "nvidia-smi nvlink -s",
    ),
    Signature(
        "nvlink_none",
        ("node", "sys", "phb"),
        r"^[ \t]*GPU\d+[ \t]+(?:(?:X|NODE|SYS|PHB|PXB|PIX)[ \t]+){4,}",
        "GPU2    NODE    NODE     X      NODE    SYS     SYS     SYS     SYS     NODE",
        "nvidia-smi topo -m",
    ),
    Signature(
        "nvlink_active",
        ("gb/s",),
        r"^[ \t]*Link (\d+): [\d.]+ GB/s",
        "         Link 0: 14.062 GB/s",
        "nvidia-smi nvlink -s",
    ),
    Signature(
        "nvlink_bridge",
        ("bridge",),
        r"(?:NVLink|nvlink|NV-?LINK|SLI)[^\n]{0,40}[Bb]ridge|[Bb]ridge[^\n]{0,30}(?:NVLink|seated|loose)",
        "two RTX 3090 with an NVLink bridge",
        "how people name the part",
    ),
    Signature(
        "no_mig_devices",
        ("no mig devices",),
        r"No MIG devices found",
        "|  No MIG devices found                                                                 |",
        "nvidia-smi",
    ),
    Signature(
        "smi_listed_gpu",
        ("gpu ",),
        r"^[ \t]*GPU \d+: ",
        "GPU 0: NVIDIA RTX A6000 (UUID: GPU-00000000-0000-4000-8000-000000000000)",
        "nvidia-smi -L, nvidia-smi nvlink -s",
    ),
)
