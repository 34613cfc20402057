"""One text in, observations out: every reader looks for its own blocks, in a fixed order."""

from __future__ import annotations

from importlib import import_module

from agent.model import Gap, Observations
from agent.reading.draft import Draft
from agent.reading.facts import facts_of, gaps_of, stages_of
from agent.reading.normalise import page_of_text
from agent.reading.page import Page

# Each reader is a module with ``read(page, draft)``; it is loaded only for a text that holds one
# of its words, since most texts need few. A tool's own print comes before what people say about
# it: devices are made by the first that names them, and later statements find them by index,
# UUID or address.
READERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("smi_table", ("NVIDIA-SMI", "MiB")),
    (
        "smi_query",
        (
            "NVSMI LOG",
            "<nvidia_smi_log",
            "Attached GPUs",
            "Remapped Rows",
            "Retired Pages",
            "Throttle Reasons",
            "Clocks Event Reasons",
            "Product Name",
            "License Status",
            "FB Memory Usage",
            "Power Readings",
            "PCIe Generation",
            "GPU Virtualization Mode",
            "ECC Errors",
            "Fabric\n",
        ),
    ),
    ("smi_lists", ("GPU", "index,", "name,", "Peer")),
    ("amd", ("GPU[", '"card', "Marketing Name", "BDFID", "ROCk", "/dev/kfd", "PwrCap", "AMD")),
    ("amd_smi", ("AMD-SMI", "AMDSMI", "GPU: ", '"gpu"')),
    ("system_devices", ("controller", "accelerators", "/dev/", "nvidia", "amdgpu", "kfd", "dxg")),
    ("system_libraries", ("=>", ".so")),
    (
        "system_limits",
        ("%", "(-", "(kbytes", "(blocks", "ulimit", "Mem:", "Mem", "memory.", "pids.", "cpu.max"),
    ),
    ("kernel", ("NVRM", "nvidia-", "amdgpu", "kfd", "Kill", "kill", "AER", "PCIe", "mce", "fault")),
    ("hosts", ("",)),
    (
        "boxes",
        (
            "docker",
            "kube",
            "pod",
            "nvidia-container",
            "OCI",
            "apptainer",
            "fabricmanager",
            "singularity",
            "podman",
            "enroot",
            "container",
            "nvidia.com/gpu",
            "Scheduling",
            "FROM ",
            "apiVersion",
        ),
    ),
    ("variables", ("=", "_", "PATH", "--shm")),
    ("keyed", (":", "=", "|", "....", "\n#")),
    ("packages", ("torch", "nvidia", "cu1", ".")),
    (
        "banners",
        ("torch", "Torch", "CUDA", "cuda", "reported version", "Device", "Python ", "(arch="),
    ),
    ("torch_messages", ("",)),
)


def read_text(text: str, source: str = "") -> Observations:
    """Return what a pasted text shows, as the ladder would have put it; never raises.

    ``lines`` are the text's own, each with the pointer "line N"; ``source`` names the text in
    gaps. An empty text gives empty observations.
    """
    return read_page(page_of_text(text), source)


def read_page(page: Page, source: str = "") -> Observations:
    """Return what a cleaned page shows."""
    draft = Draft()
    for name, words in READERS:
        if not any(word in page.text for word in words):
            continue
        try:
            import_module(f"agent.reading.{name}").read(page, draft)
        except Exception as error:  # noqa: BLE001 - one odd block must not hide the others
            draft.gaps.append(
                Gap(
                    pointer="/facts",
                    why=f"{name} could not be read: {type(error).__name__}: {error}",
                    said_by=source or "reading",
                )
            )
    return Observations(
        facts=facts_of(draft),
        stages=stages_of(draft),
        gaps=(*page.gaps, *gaps_of(draft)),
        lines=page.observed_lines(),
        from_text=True,
    )
