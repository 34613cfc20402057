"""Texts for Python, its packages and the C library."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "glibc-too-old": Text(
        title="The system's C library (glibc) is too old for this binary",
        cause="The binary needs a newer glibc⟦ ({wanted})⟧ than the system has⟦ ({found})⟧."
        " glibc cannot be replaced"
        " inside an environment.",
        fix=(
            "Use an image or a system with a newer glibc (a container with Ubuntu 22.04 or newer"
            " runs on an old host).",
            "Or install an older release of the package that was built for this glibc.",
        ),
        message="The operating system's glibc⟦ ({found})⟧ is too old for our software⟦, which needs"
        " {wanted}⟧. Please offer a newer operating system image.",
    ),
    "libstdcxx-too-old": Text(
        title="An old libstdc++ is found first",
        cause="The binary needs a newer one⟦ ({wanted})⟧; the libstdc++ named in the evidence is"
        " older.",
        fix=(
            "See which one is meant: strings <that file> | grep GLIBCXX | tail -3",
            "In conda: conda install -c conda-forge libstdcxx-ng, or take the old copy off"
            " LD_LIBRARY_PATH.",
        ),
    ),
    "mkl-version-conflict": Text(
        title="torch and the installed MKL do not fit",
        cause="This torch links to Intel's MKL and misses a symbol in the version that is"
        " installed. It has nothing to do with CUDA or the GPU.",
        fix=(
            'conda install "mkl<2024.1" intel-openmp',
            "Or install torch by pip: its wheels contain their own MKL.",
        ),
    ),
    "numpy-abi-mismatch": Text(
        title="A module built for NumPy 1 runs beside NumPy 2",
        cause="torch⟦ {torch}⟧ (or the module named) was compiled for NumPy 1; installed is"
        " NumPy 2⟦ ({found})⟧. torch is built for NumPy 2 from 2.3 on.",
        fix=(
            'python -m pip install "numpy<2"',
            "Or upgrade torch and the other compiled packages.",
        ),
    ),
    "python-too-new-for-torch": Text(
        title="No torch wheel exists for this Python version",
        cause="pip found no torch for this Python⟦ ({python})⟧⟦; the wheels go up to Python"
        " {limit}⟧.",
        fix=(
            "Make an environment with an older Python⟦: uv venv --python {limit} (or conda create"
            " -n torch python={limit})⟧",
            "Then install torch in it.",
        ),
    ),
    "local-module-shadows-import": Text(
        title="A file of yours is imported instead of the real module",
        cause="It has the name of a module⟦ ({value})⟧ and lies in the working directory or next"
        " to the"
        " script, where Python looks first.",
        fix=(
            "Rename it, and delete __pycache__ beside it.",
            'Check from elsewhere: cd / && {python_path} -c "import torch; print(torch.__file__)"',
        ),
    ),
    "stale-torch-in-user-site": Text(
        title="An old torch in your user site directory wins over the new one",
        cause="~/.local/lib/python*/site-packages is searched before the environment's packages,"
        " and holds another torch⟦ ({found})⟧.",
        fix=(
            'See which is taken: {python_path} -c "import torch; print(torch.__file__)"',
            'Try without it: PYTHONNOUSERSITE=1 {python_path} -c "import torch"',
            "Then remove the old one: {python_path} -m pip uninstall torch (repeat until none is"
            " left in ~/.local).",
        ),
    ),
}
