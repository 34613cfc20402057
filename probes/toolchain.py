"""Can a kernel be compiled here with the toolkit's own compiler, and does it run?"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from typing import Any

from .build_folder import call, private_folder
from .outcome import NotRunError, Place, WrongResultError

# Without torch's headers: 0.7 s against the 15 to 66 s that they cost. {api} is cuda or hip.
PROGRAM = """
#include <cstdio>
{include}
__global__ void twice(float *values, int count) {{
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) values[index] *= 2.0f;
}}
#define ASK(call) do {{ {api}Error_t code = (call); if (code != {api}Success) {{ \\
  std::printf("%s: %s\\n", #call, {api}GetErrorString(code)); return 1; }} }} while (0)
int main() {{
  const int count = 1000;
  float values[count], *there;
  for (int i = 0; i < count; ++i) values[i] = i;
  ASK({api}Malloc(reinterpret_cast<void **>(&there), sizeof values));
  ASK({api}Memcpy(there, values, sizeof values, {api}MemcpyHostToDevice));
  twice<<<(count + 127) / 128, 128>>>(there, count);
  ASK({api}GetLastError());
  ASK({api}DeviceSynchronize());
  ASK({api}Memcpy(values, there, sizeof values, {api}MemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += values[i] != 2.0f * i;
  std::printf("wrong: %d\\n", wrong);
  return 0;
}}
"""
RIGHT = "wrong: 0"


def run(place: Place) -> dict[str, Any]:
    """Compiles for the wanted architectures; with a device, the program is run as well."""
    report, wanted = place.report, place.options.get("architectures") or ["sm_90"]
    report.step("look at the tools")
    tools = {"nvcc": shutil.which("nvcc") or in_home("nvcc"), "hipcc": shutil.which("hipcc")}
    report.data(**surroundings(tools["nvcc"]))
    if not tools["hipcc"] and os.access("/opt/rocm/bin/hipcc", os.X_OK):
        tools["hipcc"] = "/opt/rocm/bin/hipcc"
    compiled = []
    for architecture in wanted:
        name = "hipcc" if architecture.startswith("gfx") else "nvcc"
        compiler = tools[name]
        if compiler is None:
            continue
        report.step("%s for %s" % (name, architecture))
        compiled.append(compile_and_run(place, compiler, architecture))
        report.data(compiled=compiled)
    if not compiled:
        raise NotRunError("no-toolchain", "no nvcc or hipcc for %s is here" % ", ".join(wanted))
    if not place.on_gpu:
        names = ", ".join(row["architecture"] for row in compiled)
        raise NotRunError("compiles-not-run", "compiled for %s; no device to run it on" % names)
    return {"operation": "a kernel by the toolkit's compiler"}


def in_home(name: str) -> str | None:
    """The compiler of the toolkit that CUDA_HOME or the usual place names."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        found = os.path.join(os.environ.get(variable) or "/none", "bin", name)
        if os.access(found, os.X_OK):
            return found
    usual = os.path.join("/usr/local/cuda/bin", name)
    return usual if os.access(usual, os.X_OK) else None


def compile_and_run(place: Place, compiler: str, architecture: str) -> dict[str, Any]:
    """One architecture: the code alone without a device, the whole program with one."""
    is_hip = architecture.startswith("gfx")
    include = "#include <hip/hip_runtime.h>" if is_hip else ""
    flag = "--offload-arch=" if is_hip else "-arch="
    with private_folder() as folder:
        source = os.path.join(folder, "twice.hip" if is_hip else "twice.cu")
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM.format(api="hip" if is_hip else "cuda", include=include))
        target = os.path.join(folder, "twice")
        kind = [] if place.on_gpu else ["--genco" if is_hip else "-cubin"]
        call([compiler, *kind, flag + architecture, "-o", target, source], folder)
        row = {"architecture": architecture, "bytes": os.path.getsize(target)}
        if place.on_gpu:
            said = call([target], folder)
            if RIGHT not in said:
                raise WrongResultError(
                    "a kernel for %s doubled numbers wrongly: %s"
                    % (architecture, said.strip()[:200])
                )
            row["ran"] = True
    return row


# ---------------------------------------------------------------- what surrounds the compiler
def surroundings(nvcc: str | None) -> dict[str, Any]:
    """The host compiler, ninja, Python's headers, and the toolkit as torch would take it."""
    host = shutil.which(os.environ.get("CXX") or "c++") or shutil.which("g++")
    headers = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    found: dict[str, Any] = {
        "nvcc": nvcc,
        "host_compiler": host,
        "ninja": shutil.which("ninja") or beside_python("ninja"),
        "python_headers": os.path.exists(headers),
        "traps": [],
    }
    if nvcc is None:
        return found
    home, why = guessed_home(nvcc)
    found["cuda_home"], found["cuda_home_from"] = home, why
    lacking = [name for name in ("include/cuda_runtime.h", "libcudart.so") if lacks(home, name)]
    if lacking:
        text = "torch would take %s for the toolkit, which lacks %s; set CUDA_HOME"
        found["traps"].append(text % (home, " and ".join(lacking)))
    found["host_compilers_accepted"] = accepted(nvcc, home)
    return found


def beside_python(name: str) -> str | None:
    """A program in the folder of this interpreter, which a venv that is not active hides."""
    path = os.path.join(os.path.dirname(sys.executable), name)
    return path if os.access(path, os.X_OK) else None


def guessed_home(nvcc: str) -> tuple[str, str]:
    """The toolkit that torch.utils.cpp_extension takes: a variable, else two levels over nvcc.

    It does not follow links: a link or wrapper in /usr/local/bin makes it take /usr/local.
    """
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            return os.environ[variable], variable
    on_path = shutil.which("nvcc")
    if on_path is None:
        return os.path.dirname(os.path.dirname(nvcc)), "default"
    return os.path.dirname(os.path.dirname(on_path)), "nvcc on PATH"


def lacks(home: str, name: str) -> bool:
    """Whether the toolkit has not the file, for a library in any of its folders."""
    folders = ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")
    places = [name] if "/" in name else [os.path.join(folder, name) for folder in folders]
    return not any(os.path.exists(os.path.join(home, place)) for place in places)


def accepted(nvcc: str, home: str) -> dict[str, int]:
    """The newest gcc and clang that the toolkit accepts, by its own header; empty if not found."""
    real = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    for root in (home, real, "/usr/local/cuda"):
        try:
            with open(os.path.join(root, "include", "crt", "host_config.h")) as file:
                text = file.read(1 << 20)
        except OSError:
            continue
        found = {}
        for name, pattern in (
            ("gcc", r"#if __GNUC__ > (\d+)"),
            ("clang", r"__clang_major__ >= (\d+)"),
        ):
            match = re.search(pattern, text)
            if match:
                found[name] = int(match.group(1)) - (name == "clang")
        return found
    return {}
