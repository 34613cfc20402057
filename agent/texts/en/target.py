"""Texts for the target itself."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "torch-not-installed": Text(
        title="torch is not installed in this Python",
        cause="The interpreter⟦ {python_path}⟧ has no torch.",
        fix=(
            "If your program uses another Python, name it: --python <path>",
            "Else install it: {wheel}",
        ),
    ),
    "other-interpreter-has-torch": Text(
        title="Another Python on this machine has torch",
        cause="torch is installed for another Python⟦, {path}⟧, not for the one that would be"
        " taken by default.",
        fix=(
            "Use it⟦: {path} your_program.py⟧ (or activate its environment first).",
            "Or check it: --python ⟦{path}⟧",
        ),
    ),
    "torch-installation-incomplete": Text(
        title="torch is only half installed",
        cause="A part of it is there, but not the package⟦: {value}⟧. An install was"
        " interrupted, the"
        " disk was full, or files were deleted by hand.",
        fix=(
            "See whether the disk is full: df -h",
            "Remove what is left, then install anew: {python_path} -m pip uninstall -y torch;"
            " {wheel}",
        ),
    ),
    "python-paths-disagree": Text(
        title="Two Pythons or two copies of a package are mixed in this session",
        cause="What is loaded may not be what was installed⟦: {value}⟧.",
        fix=(
            'See what is taken: {python_path} -c "import sys, torch; print(sys.executable,'
            ' torch.__file__)"',
            "Install with the same Python: {python_path} -m pip install ...; unset PYTHONPATH and"
            " PYTHONHOME if they point elsewhere.",
        ),
    ),
    "torch-crashes-on-import": Text(
        title="Importing torch fails",
        cause="It ended with an error⟦: {value}⟧.",
        fix=(
            'See it for yourself: {python_path} -X faulthandler -c "import torch"',
            "Try without the session's paths: env -u LD_LIBRARY_PATH -u PYTHONPATH"
            ' PYTHONNOUSERSITE=1 {python_path} -c "import torch"',
            "If that fails too, reinstall torch in a fresh environment.",
        ),
    ),
    "cpu-lacks-instructions": Text(
        title="The processor lacks instructions that this build uses",
        cause="The process ended with an illegal instruction: builds of today expect AVX2, some"
        " AVX-512, and a virtual machine may hide what the processor has.",
        fix=(
            "See what there is: grep -o -w -E 'avx2|avx512f' /proc/cpuinfo | sort | uniq -c",
            "Use a host with AVX2 (or a virtual machine that passes the processor through).",
        ),
        message="The processor shown to our instance has no AVX2. Please set its CPU type to"
        " host-passthrough or move it.",
    ),
    "torch-import-hangs": Text(
        title="Importing torch does not end",
        cause="It was still running⟦ after {value}⟧. Usual reasons: the environment lies on a slow"
        " network disk, or a driver call hangs.",
        fix=(
            'See where it stands: {python_path} -X importtime -c "import torch" 2>&1 | tail',
            "If it is the disk, copy the environment to a local one.",
        ),
        message="Loading our software hangs in the driver or on the volume. Please check the host.",
    ),
    "ssh-session-lacks-environment": Text(
        title="This login shell lacks the container's environment",
        cause="The container's first process has variables that SSH sessions do not inherit"
        "⟦: {value}⟧.",
        fix=(
            "Take them over: export $(tr '\\0' '\\n' < /proc/1/environ | grep -E"
            " '^(LD_LIBRARY_PATH|PATH|CUDA_|NVIDIA_|NCCL_)' | xargs -d '\\n')",
            "Or start the program from the container's own command instead of an SSH session.",
        ),
    ),
}
