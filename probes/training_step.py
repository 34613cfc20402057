"""What does a small training step need: parameters, gradients, optimizer state, activations?

A reader sees from it why the size of a model's file is not what training it needs: AdamW keeps
two more numbers a parameter, the backward pass keeps what the forward pass computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

WIDTH, HEADS, LENGTH, BATCH = 512, 8, 128, 4


def tensors_bytes(tensors: Iterable[Any]) -> int:
    """The bytes of the distinct storages behind some tensors."""
    seen = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
    return sum(seen.values())


def block(torch: Any, device: Any, width: int = WIDTH, heads: int = HEADS) -> Any:
    """One transformer encoder layer in float32."""
    torch.manual_seed(0)
    return torch.nn.TransformerEncoderLayer(
        width, heads, dim_feedforward=4 * width, dropout=0.0, batch_first=True, device=device
    )


def run(torch: Any, device: Any, read_memory: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Take two steps and return the bytes of each part and what ``read_memory`` said by phase.

    ``read_memory()`` returns a dictionary of figures in bytes; the second step is measured,
    since the first one makes the optimizer's state.
    """
    phases: list[dict[str, Any]] = [{"phase": "before", **read_memory()}]
    model = block(torch, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    given = torch.randn(BATCH, LENGTH, WIDTH, device=device)
    phases.append({"phase": "model", **read_memory()})
    losses = []
    kept: dict[int, int] = {}
    for step in range(2):
        parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
        kept = {}

        def keep(
            tensor: Any, parameters: set[int] = parameters, kept: dict[int, int] = kept
        ) -> Any:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in parameters:
                kept[storage.data_ptr()] = storage.nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = model(given).float().pow(2).mean()
        if step == 1:
            phases.append({"phase": "forward", **read_memory()})
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if step == 1:
            phases.append({"phase": "backward", **read_memory()})
        optimizer.step()
        losses.append(float(loss.item()))
    phases.append({"phase": "optimizer", **read_memory()})
    return {
        "model": "transformer layer, width %d, %d heads" % (WIDTH, HEADS),
        "batch": [BATCH, LENGTH, WIDTH],
        "parameter_count": sum(p.numel() for p in model.parameters()),
        "parameters_bytes": tensors_bytes(model.parameters()),
        "gradients_bytes": tensors_bytes(p.grad for p in model.parameters() if p.grad is not None),
        "optimizer_bytes": tensors_bytes(
            value
            for state in optimizer.state.values()
            for value in state.values()
            if torch.is_tensor(value)
        ),
        "activations_bytes": sum(kept.values()),
        "phases": phases,
        "losses": losses,
        "learns": losses[1] < losses[0],
    }
