"""Texts for the GPU's memory."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "gpu-memory-exhausted": Text(
        title="The GPU's memory is used up, although the error names a library",
        cause="cuDNN or cuBLAS could not create its handle because no memory was left. The library"
        " itself is usually sound.",
        fix=(
            "Look at the memory while it runs: nvidia-smi",
            "Make the input smaller, then the batch; end leftover processes of yours.",
            "If memory was free: PYTORCH_NO_CUDA_MEMORY_CACHING=0 and a smaller share for the"
            " framework (vLLM: --gpu-memory-utilization, JAX: XLA_PYTHON_CLIENT_MEM_FRACTION).",
        ),
    ),
    "gpu-memory-fragmented": Text(
        title="The GPU's memory is in pieces: much is reserved, no block is large enough",
        cause="torch holds memory⟦ ({found})⟧ that it does not use, in blocks that cannot serve"
        " the request⟦"
        " of {wanted}⟧.",
        fix=(
            "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            "Call torch.cuda.empty_cache() between phases; keep shapes equal where you can.",
        ),
    ),
    "gpu-memory-held-by-other-process": Text(
        title="Another process holds the GPU's memory",
        cause="Memory⟦ ({found})⟧⟦ of {limit}⟧ is held by somebody else: often the child of a"
        " program that"
        " died, or another user.",
        fix=(
            "See who: nvidia-smi; then for your own: ps -fp <pid>, kill <pid>",
            "Workers of a dead parent do not show there: fuser -v /dev/nvidia*",
        ),
        message="GPU memory⟦ ({found})⟧ is held by processes that are not visible to us. Please"
        " free"
        " or reset the GPU.",
    ),
    "gpu-memory-too-small": Text(
        title="The job needs more memory than this GPU has",
        cause="⟦The card has {limit}. ⟧⟦The request that failed was {wanted}. ⟧What the program"
        " keeps and asks for"
        " does not fit.",
        fix=(
            "Make the input smaller (length, resolution), then the batch; use gradient"
            " checkpointing or a smaller dtype.",
            "Or choose a GPU with more memory, or share the model among several.",
        ),
    ),
}
