"""Texts for several GPUs."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "fabric-manager-version-mismatch": Text(
        title="Fabric manager and driver are of different versions",
        cause="On NVSwitch machines both must agree to the last digit; otherwise the manager"
        " exits and"
        " CUDA returns 802, system not yet initialized.",
        fix=(
            "nvidia-smi | head -4; nv-fabricmanager --version",
            "Install the manager of exactly the driver's version and restart nvidia-fabricmanager.",
        ),
        message="nvidia-fabricmanager does not match driver {driver}. Please install the same"
        " version.",
    ),
    "fabric-manager-not-installed": Text(
        title="No fabric manager runs on this NVSwitch machine",
        cause="Without it the GPUs are not registered with the switches and CUDA returns 802,"
        " system"
        " not yet initialized. torch is not at fault.",
        fix=(
            "systemctl status nvidia-fabricmanager",
            "Install the version of the driver and start it: sudo systemctl enable --now"
            " nvidia-fabricmanager",
        ),
        message="CUDA returns 802: the fabric manager does not run on the host. Please install the"
        " version of driver {driver} and start it.",
    ),
    "fabric-unhealthy": Text(
        title="The NVSwitch fabric reports a fault",
        cause="The GPU is registered, and a route or its bandwidth is bad.",
        fix=("nvidia-smi -q | grep -A8 Fabric",),
        message="The GPU's fabric state is unhealthy. Please check NVSwitch, cables and its"
        " manager.",
    ),
    "iommu-acs-blocks-p2p": Text(
        title="The IOMMU or PCIe ACS breaks copies between GPUs",
        cause="CUDA or HIP says that the GPUs reach each other, and the transfers hang or"
        " corrupt data,"
        " because IOMMU translation or ACS redirects them.",
        fix=(
            "For now: NCCL_P2P_DISABLE=1",
            "On the host: iommu=pt (or intel_iommu=off, amd_iommu=off) on the kernel's command"
            " line,"
            " ACS off in the firmware.",
        ),
        message="Peer-to-peer transfers between the GPUs hang: IOMMU or ACS is on. Please boot with"
        " iommu=pt (or the IOMMU off) and disable ACS.",
    ),
    "p2p-not-supported-by-platform": Text(
        title="These GPUs cannot reach each other's memory, and the program demands it",
        cause="The GPUs, the board or the virtual machine give no peer access. That is normal"
        " for them;"
        " the program needs another way.",
        fix=(
            "Switch the program's own peer path off: disable_custom_all_reduce (vLLM,"
            " TensorRT-LLM),"
            " NCCL_P2P_DISABLE=1",
        ),
        message="The GPUs have no peer access here. Is a machine with NVLink or shared PCIe"
        " available?",
    ),
    "peers-without-p2p": Text(
        title="The GPUs have no direct access to each other",
        cause="Collectives go through host memory: slower, and no fault.",
        fix=("Nothing, unless the order promised NVLink or P2P.",),
        message="The GPUs have no peer access to each other. Is that what the offer says?",
    ),
    "nvlink-bridge-badly-seated": Text(
        title="An NVLink bridge makes only partial contact",
        cause="Some links of the bridge are down or report errors while others work.",
        fix=("Power off, take the bridge off, clean and seat it again; nvidia-smi nvlink -s",),
        message="Some NVLink links between the cards are inactive. Please reseat the bridge.",
    ),
    "nvlink-errors": Text(
        title="The driver reports NVLink errors",
        cause="A link between GPUs or to the switch failed.",
        fix=(
            "nvidia-smi nvlink -e; reset the GPUs; if it comes back, the board is to be checked.",
        ),
        message="The kernel log shows NVLink errors. Please check the GPU board.",
    ),
    "nvlink-down": Text(
        title="NVLink links are inactive",
        cause="Links of this board are down: traffic goes over PCIe and is much slower.",
        fix=("nvidia-smi nvlink -s; nvidia-smi topo -m",),
        message="NVLink links of the GPU are inactive. Please check the board and the fabric"
        " manager.",
    ),
    "nccl-no-usable-interface": Text(
        title="NCCL finds no network interface",
        cause="Even on one host NCCL needs an interface for its bootstrap; there is none, or"
        " NCCL_SOCKET_IFNAME names one that does not exist.",
        fix=(
            "ip -br addr; unset NCCL_SOCKET_IFNAME, or set it to one that is listed (lo for one"
            " host)",
            "Start the container with a network.",
        ),
    ),
    "nccl-wrong-interface": Text(
        title="NCCL uses a network interface that the others cannot reach",
        cause="It picked an interface such as docker0, a bridge or a VPN, or the peer's address"
        " is not"
        " reachable from here.",
        fix=(
            "NCCL_DEBUG=INFO shows it (NET/Socket : Using …)",
            "export NCCL_SOCKET_IFNAME=<the interface between the nodes>, also GLOO_SOCKET_IFNAME",
            "If it is the right one, look at the firewall between the nodes.",
        ),
    ),
    "mig-single-instance": Text(
        title="A process sees only one MIG instance",
        cause="However many instances exist, CUDA gives one process one of them. torch counts 1.",
        fix=(
            "One process for each instance, each with its own CUDA_VISIBLE_DEVICES=MIG-<uuid>",
            "For one job over the whole card: MIG off (its owner: nvidia-smi -mig 0).",
        ),
    ),
    "mig-without-instance": Text(
        title="MIG is on, and no instance exists",
        cause="In MIG mode CUDA only sees instances; none has been created.",
        fix=("sudo nvidia-smi mig -cgi 0 -C, or switch MIG off: sudo nvidia-smi -mig 0",),
        message="MIG is enabled on the GPU without instances. Please create one or disable MIG.",
    ),
}
