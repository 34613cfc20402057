"""Texts for how a process starts."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "initialised-before-fork": Text(
        title="CUDA was started before the process forked",
        cause="A child made by fork cannot use a CUDA that its parent started. GPU and driver are"
        " sound.",
        fix=(
            'Start workers by spawn: torch.multiprocessing.set_start_method("spawn") (vLLM:'
            " VLLM_WORKER_MULTIPROC_METHOD=spawn).",
            "Or do not touch CUDA before the workers start, nor in DataLoader workers.",
        ),
    ),
    "visible-devices-uuid-unsupported": Text(
        title="CUDA_VISIBLE_DEVICES holds a UUID that this program cannot read",
        cause="The program takes the entries for numbers; a GPU- or MIG- UUID stops it.",
        fix=(
            "For whole GPUs use indices: CUDA_VISIBLE_DEVICES=0",
            "For MIG upgrade the framework, or give the container just the one slice"
            " (NVIDIA_VISIBLE_DEVICES) and unset CUDA_VISIBLE_DEVICES.",
        ),
    ),
    "visible-devices-wrong-index": Text(
        title="An index is asked for that this machine does not have",
        cause="⟦{value}. ⟧⟦The process is shown {count} devices, counted from 0. ⟧The first"
        " wrong index hides all that follow.",
        fix=(
            "See what there is: nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES",
            "unset CUDA_VISIBLE_DEVICES, or name indices that exist; find the script or launcher"
            " that sets it.",
        ),
    ),
    "device-order-differs": Text(
        title="CUDA numbers the GPUs in another order than nvidia-smi",
        cause="CUDA puts the fastest GPU first; nvidia-smi goes by PCI address. Index 0 is then not"
        " the same card in both.",
        fix=("export CUDA_DEVICE_ORDER=PCI_BUS_ID",),
    ),
}
