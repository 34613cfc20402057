"""A sandbox that refuses system calls, as gVisor, old kernels and seccomp profiles do."""

from __future__ import annotations

import ctypes
import os
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER_MODE = 38, 22, 2
SUBREAPER = 36
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 38  # ENOSYS
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # of BPF
NUMBERS = {  # of the kernel's system calls
    "x86_64": {"socketpair": 53, "prctl": 157, "pidfd_open": 434, "pidfd_send_signal": 424},
    "aarch64": {"socketpair": 199, "prctl": 167, "pidfd_open": 434, "pidfd_send_signal": 424},
}


def refuse_system_calls() -> None:
    """From now on pidfd, socket pairs and becoming a subreaper are refused to this process."""
    numbers = NUMBERS[os.uname().machine]
    lines: list[tuple[int, int, int, int]] = [(LOAD, 0, 0, 0)]  # the number of the call
    for name in ("socketpair", "pidfd_open", "pidfd_send_signal"):
        lines += [(EQUAL, 0, 1, numbers[name]), (RETURN, 0, 0, REFUSE)]
    lines += [
        (EQUAL, 0, 3, numbers["prctl"]),
        (LOAD, 0, 0, 16),  # its first argument
        (EQUAL, 0, 1, SUBREAPER),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(code))
    )
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    if libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(FILTER_MODE), program, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
