"""Does Triton make code for the device, and does that code compute right?"""

from __future__ import annotations

from typing import Any

from .outcome import NotRunError, Place, same

BLOCK = 128


def run(place: Place) -> dict[str, Any]:
    """A sum of two vectors: launched with a device, else compiled for the wanted architectures."""
    report = place.report
    report.step("import triton")
    try:
        import triton
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        raise NotRunError("not-installed", "this environment has no Triton") from None
    report.data(version=str(triton.__version__))
    from . import triton_kernel

    if place.on_gpu:
        return launched(place, triton_kernel.add)
    offered = sorted(triton.backends.backends)
    compiled = []
    for architecture in place.options.get("architectures") or ["sm_90"]:
        vendor = "amd" if architecture.startswith("gfx") else "nvidia"
        if vendor not in offered:
            continue
        report.step("compile for " + architecture)
        compiled.append(
            {"architecture": architecture, **ahead_of_time(triton_kernel.add, architecture)}
        )
        report.data(compiled=compiled, backends=offered)
    if not compiled:
        raise NotRunError("no-device", "this Triton compiles for %s only" % ", ".join(offered))
    names = ", ".join(row["architecture"] for row in compiled)
    raise NotRunError("compiles-not-run", "compiled for %s; no device to run it on" % names)


def launched(place: Place, kernel: Any) -> dict[str, Any]:
    """The kernel's sum and torch's, on the device."""
    torch = place.torch
    place.report.step("compile and launch")
    a, b = (torch.randn(1000, device=place.device) for _ in range(2))
    out = torch.full_like(a, float("nan"))  # not what an earlier run left there
    kernel[((1000 + BLOCK - 1) // BLOCK,)](a, b, out, 1000, BLOCK=BLOCK)
    torch.cuda.synchronize()
    same("a sum by Triton", out, a + b, 0.0)
    return {"operation": "a sum by Triton"}


def ahead_of_time(kernel: Any, architecture: str) -> dict[str, Any]:
    """The sizes of what was compiled: ptx and cubin, or amdgcn and hsaco."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature = {"a": "*fp32", "b": "*fp32", "out": "*fp32", "count": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=kernel, signature=signature, constexprs={"BLOCK": BLOCK})
    if architecture.startswith("gfx"):
        target = GPUTarget("hip", architecture, 64 if architecture.startswith("gfx9") else 32)
        kinds = ("amdgcn", "hsaco")
    else:
        target = GPUTarget("cuda", int("".join(c for c in architecture if c.isdigit())), 32)
        kinds = ("ptx", "cubin")
    made = triton.compile(source, target=target)
    return {"%s_bytes" % kind: len(made.asm[kind]) for kind in kinds}
