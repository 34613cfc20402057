"""Does the runtime compiler (NVRTC, hipRTC) make code for the device, and does that code run?"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
from typing import Any, NamedTuple

from . import kernel_launch
from .outcome import NotRunError, Place, equal

SOURCE = b"""
extern "C" __global__ void twice(float *values, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) values[index] *= 2.0f;
}
"""


class Compiler(NamedTuple):
    """A runtime compiler's library and how its functions are called."""

    library: Any
    path: str
    prefix: str
    code: str


class RuntimeCompilerError(Exception):
    """The library refused; the text is its own."""


def run(place: Place) -> dict[str, Any]:
    """Compiles one kernel for each wanted architecture; with a device it is launched."""
    compiled = []
    for architecture in place.options.get("architectures") or ["sm_90"]:
        place.report.step("find the runtime compiler for " + architecture)
        compiler = hip() if architecture.startswith("gfx") else nvidia()
        if compiler is None:
            continue
        place.report.step("compile for " + architecture)
        image = compiled_code(compiler, architecture)
        row = {"architecture": architecture, "library": compiler.path, "bytes": len(image)}
        compiled.append(row)
        place.report.data(compiled=compiled)
        if place.on_gpu:
            place.report.step("launch")
            values = [float(number) for number in range(1000)]
            api = kernel_launch.HIP if architecture.startswith("gfx") else kernel_launch.CUDA
            got = kernel_launch.launch(api, image, b"twice", values)
            equal("a kernel for %s" % architecture, got, [2 * value for value in values])
    if not compiled:
        raise NotRunError("not-installed", "no NVRTC or hipRTC library was found")
    if not place.on_gpu:
        names = ", ".join(row["architecture"] for row in compiled)
        raise NotRunError("compiles-not-run", "compiled for %s; no device to run it on" % names)
    return {"operation": "a kernel by the runtime compiler"}


# ---------------------------------------------------------------- finding the library
def nvidia() -> Compiler | None:
    """NVRTC of a wheel in this environment, else the one that the loader finds.

    Its library of built-ins comes first: NVRTC asks the loader for it, which does not look into
    wheels, and then fails with BUILTIN_OPERATION_FAILURE.
    """
    for path in wheel_files("libnvrtc.so.*"):
        for builtins in glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so*")):
            ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
        return Compiler(ctypes.CDLL(path), path, "nvrtc", "CUBIN")
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"):
        try:
            return Compiler(ctypes.CDLL(name), name, "nvrtc", "CUBIN")
        except OSError:
            continue
    return None


def hip() -> Compiler | None:
    """hipRTC of ROCm."""
    places = sorted(glob.glob("/opt/rocm*/lib/libhiprtc.so"), reverse=True)
    for name in [*wheel_files("libhiprtc.so*"), "libhiprtc.so", *places]:
        try:
            return Compiler(ctypes.CDLL(name), name, "hiprtc", "Code")
        except OSError:
            continue
    return None


def wheel_files(pattern: str) -> list[str]:
    """Libraries of NVIDIA's and AMD's wheels below the folders of packages, the newest first."""
    found = []
    for folder in sys.path:
        for below in ("nvidia/*/lib", "_rocm_sdk_*/lib", "torch/lib"):
            found += glob.glob(os.path.join(folder, below, pattern))
    return sorted((path for path in found if ".alt." not in path), reverse=True)


# ---------------------------------------------------------------- compiling
def compiled_code(compiler: Compiler, architecture: str) -> bytes:
    """The kernel's machine code; raises RuntimeCompilerError with the compiler's log."""
    ask = Caller(compiler)
    program = ctypes.c_void_p()
    ask("CreateProgram", ctypes.byref(program), SOURCE, b"twice.cu", 0, None, None)
    flag = b"--offload-arch=" if compiler.prefix == "hiprtc" else b"-arch="
    options = (ctypes.c_char_p * 1)(flag + architecture.encode())
    try:
        ask("CompileProgram", program, 1, options)
    except RuntimeCompilerError as error:
        raise RuntimeCompilerError("%s %s" % (error, log_of(ask, program))) from None
    size = ctypes.c_size_t()
    ask("Get%sSize" % compiler.code, program, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    ask("Get" + compiler.code, program, image)
    return image.raw


class Caller:
    """Calls a function of the library by its name without the prefix, and checks its answer."""

    def __init__(self, compiler: Compiler) -> None:
        self.library, self.prefix = compiler.library, compiler.prefix

    def __call__(self, name: str, *arguments: Any) -> None:
        """Raises RuntimeCompilerError unless the function answers 0."""
        code = getattr(self.library, self.prefix + name)(*arguments)
        if code != 0:
            words = getattr(self.library, self.prefix + "GetErrorString")
            words.restype = ctypes.c_char_p
            said = (words(code) or b"").decode(errors="replace")
            raise RuntimeCompilerError("%s%s: %d %s" % (self.prefix, name, code, said))


def log_of(ask: Caller, program: Any) -> str:
    """What the compiler printed."""
    size = ctypes.c_size_t()
    ask("GetProgramLogSize", program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    ask("GetProgramLog", program, log)
    return log.value.decode("utf-8", "replace").strip()
