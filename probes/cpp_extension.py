"""Does an operator written in C++, and a kernel beside it, build against torch's own headers?

It takes 15 s for the processor alone and over a minute with CUDA, for torch's headers' sake.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from . import toolchain
from .build_folder import private_folder
from .outcome import NotRunError, Place, same

CPU = """
#include <torch/extension.h>
torch::Tensor twice_and_one(torch::Tensor given) { return given * 2 + 1; }
"""
DECLARED = """
#include <torch/extension.h>
torch::Tensor twice_and_one(torch::Tensor given);
"""
GPU = """
#include <torch/extension.h>
__global__ void work(const float *given, float *out, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) out[index] = given[index] * 2.0f + 1.0f;
}
torch::Tensor twice_and_one(torch::Tensor given) {
  auto out = torch::empty_like(given);
  int count = given.numel();
  work<<<(count + 127) / 128, 128>>>(given.data_ptr<float>(), out.data_ptr<float>(), count);
  return out;
}
"""


def run(place: Place) -> dict[str, Any]:
    """The operator, built, loaded and compared; for the processor where no device is there."""
    torch, report = place.torch, place.report
    around = toolchain.surroundings(shutil.which("nvcc") if place.on_gpu else None)
    report.data(**around)
    lacking = [name for name in ("host_compiler", "ninja", "python_headers") if not around[name]]
    if lacking:
        words = {"host_compiler": "a C++ compiler", "ninja": "ninja", "python_headers": "Python.h"}
        text = "nothing can be built here: %s missing" % ", ".join(words[n] for n in lacking)
        raise NotRunError("no-toolchain", text)
    folder_of_ninja = os.path.dirname(around["ninja"])
    os.environ["PATH"] = os.environ.get("PATH", "") + os.pathsep + folder_of_ninja
    from torch.utils import cpp_extension

    sources = {"cpp_sources": DECLARED, "cuda_sources": GPU} if place.on_gpu else {}
    report.step("build")
    with private_folder() as folder:
        built = cpp_extension.load_inline(
            name="firstlight_twice",
            **(sources or {"cpp_sources": CPU}),
            functions=["twice_and_one"],
            build_directory=folder,
        )
        report.step("call")
        given = torch.randn(1000, device=place.device)
        same("an operator in C++", built.twice_and_one(given), given * 2 + 1, 1e-6)
    return {"operation": "an operator by torch.utils.cpp_extension"}
