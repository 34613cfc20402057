"""Loads compiled code onto the first device and runs it, by the driver's own functions."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple


class Api(NamedTuple):
    """A driver's library and the names of its functions, in the order that they are called."""

    library: str
    init: str
    load: str
    function: str
    allocate: str
    copy_there: str
    start: str
    wait: str
    copy_back: str


CUDA = Api(
    "libcuda.so.1",
    "cuInit",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuMemAlloc_v2",
    "cuMemcpyHtoD_v2",
    "cuLaunchKernel",
    "cuCtxSynchronize",
    "cuMemcpyDtoH_v2",
)
HIP = Api(
    "libamdhip64.so",
    "hipInit",
    "hipModuleLoadData",
    "hipModuleGetFunction",
    "hipMalloc",
    "hipMemcpyHtoD",
    "hipModuleLaunchKernel",
    "hipDeviceSynchronize",
    "hipMemcpyDtoH",
)
THREADS = 128


class DriverError(Exception):
    """A function of the driver answered with an error."""


def launch(api: Api, image: bytes, name: bytes, values: list[float]) -> list[float]:
    """The numbers after a kernel ``name(float *values, int count)`` has run over them.

    Never run on a device so far; the functions are those of the CUDA driver API and of HIP.
    """
    library = ctypes.CDLL(api.library)

    def ask(function: str, *arguments: Any) -> None:
        code = getattr(library, function)(*arguments)
        if code != 0:
            raise DriverError("%s answered %d" % (function, code))

    ask(api.init, 0)
    if api.init == "cuInit":
        device, context = ctypes.c_int(), ctypes.c_void_p()
        ask("cuDeviceGet", ctypes.byref(device), 0)
        ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        ask("cuCtxSetCurrent", context)
    module, function, there = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    ask(api.load, ctypes.byref(module), image)
    ask(api.function, ctypes.byref(function), module, name)
    count = len(values)
    here = (ctypes.c_float * count)(*values)
    size = ctypes.c_size_t(ctypes.sizeof(here))
    ask(api.allocate, ctypes.byref(there), size)
    ask(api.copy_there, there, here, size)
    number = ctypes.c_int(count)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(there), ctypes.addressof(number))
    blocks = (count + THREADS - 1) // THREADS
    ask(api.start, function, blocks, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    ask(api.wait)
    ask(api.copy_back, here, there, size)
    return list(here)
