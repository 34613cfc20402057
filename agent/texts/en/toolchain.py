"""Texts for building extensions."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "build-oom-killed": Text(
        title="The build ran out of memory: the kernel killed the compiler",
        cause="Each nvcc or cc1plus process may take several GB, and as many run at once as there"
        " are cores. The compiler and the GPU are not at fault.",
        fix=(
            "Build with fewer jobs: MAX_JOBS=2 NVCC_THREADS=1 python -m pip install ... (for CMake:"
            " --parallel 2).",
            "Or install a prebuilt wheel, or give the machine more memory or swap.",
        ),
    ),
    "cuda-home-malformed": Text(
        title="CUDA_HOME is not a single directory",
        cause="⟦It is set to {value}. ⟧CUDA_HOME names one toolkit directory; it is not a list like"
        " PATH, and not its bin directory.",
        fix=(
            "export CUDA_HOME=/usr/local/cuda",
            "Remove lines such as `export CUDA_HOME=$CUDA_HOME:...` from ~/.bashrc.",
        ),
    ),
    "nvcc-torch-cuda-mismatch": Text(
        title="The toolkit for building is of another CUDA version than torch",
        cause="⟦Found for building: CUDA {found}; torch was built with {wanted}. ⟧Extensions"
        " must be built with"
        " the CUDA major that torch was built with.",
        fix=(
            "Point to a toolkit of torch's CUDA⟦: export CUDA_HOME=/usr/local/cuda-{wanted}"
            " PATH=/usr/local/cuda-{wanted}/bin:$PATH⟧",
            "If it is not there, install it (conda install -c nvidia cuda-toolkit=<version>), or"
            " install a torch built for the toolkit that is.",
        ),
    ),
    "nvcc-too-old-for-arch": Text(
        title="The nvcc found first is too old for this GPU",
        cause="This nvcc⟦ ({found})⟧ cannot make code for the GPU⟦ ({architecture})⟧.",
        fix=(
            "See which one is found: which nvcc; nvcc --version",
            "Put a newer toolkit first (CUDA_HOME and PATH), of torch's CUDA major.",
            'Or build for an architecture it knows, with PTX: TORCH_CUDA_ARCH_LIST="9.0+PTX"',
        ),
    ),
    "nvcc-dropped-arch": Text(
        title="This nvcc no longer makes code for an old GPU architecture",
        cause="The build asks for an architecture⟦ ({architecture})⟧ which this toolkit has"
        " dropped.",
        fix=(
            "Build only for the GPUs at hand: export TORCH_CUDA_ARCH_LIST=<their capability>",
            "For that old GPU use an older toolkit.",
        ),
    ),
    "python-headers-missing": Text(
        title="Python's headers (Python.h) are not installed",
        cause="Extensions, and Triton's launcher at the first compiled kernel, are compiled against"
        " them.",
        fix=(
            "Debian, Ubuntu: apt-get install python3-dev⟦ (for this version:"
            " python{python}-dev)⟧. Fedora, RHEL: dnf install python3-devel",
            "Without root: use a conda or uv Python, which bring their headers.",
        ),
    ),
    "no-compiler": Text(
        title="No C compiler is installed",
        cause="Triton and torch.compile compile a small launcher at run time; extensions are"
        " compiled as a whole.",
        fix=(
            "Debian, Ubuntu: apt-get install build-essential",
            "Without root: conda install -c conda-forge gxx",
        ),
    ),
    "cuda-toolkit-missing": Text(
        title="A build needs the CUDA toolkit, and none is found",
        cause="torch's wheel brings CUDA's libraries, but no nvcc and no headers. They are needed"
        " to compile extensions, not to run torch.",
        fix=(
            "Use a prebuilt wheel of the extension, or a -devel image.",
            "Or install a toolkit of torch's CUDA and set CUDA_HOME to it⟦: conda"
            " install -c nvidia cuda-toolkit={torch_cuda}⟧",
        ),
    ),
    "compiler-unsuited": Text(
        title="The C++ compiler does not suit this build",
        cause="nvcc accepts host compilers up to a certain version, and torch's headers need one"
        " with C++17. The one found is outside that range.",
        fix=(
            "Install one that fits (for example gcc-12 g++-12) and name it: CC=gcc-12 CXX=g++-12"
            " NVCC_PREPEND_FLAGS='-ccbin g++-12'",
        ),
    ),
    "ninja-missing": Text(
        title="The build tool ninja is missing",
        cause="torch builds extensions at run time by ninja.",
        fix=("python -m pip install ninja",),
    ),
    "build-isolation-hides-torch": Text(
        title="pip builds in an isolated environment that has no torch",
        cause="The package imports torch in its build, but pip builds it in an empty environment."
        " Your torch is not broken.",
        fix=(
            "python -m pip install setuptools wheel ninja packaging",
            "python -m pip install --no-build-isolation <package>",
        ),
    ),
    "cuda-home-from-symlink": Text(
        title="Builds would use /usr/local/cuda, which is of another CUDA than torch",
        cause="CUDA_HOME is not set; torch takes /usr/local/cuda⟦ (CUDA {found})⟧, while it was"
        " built with"
        " another⟦ ({torch_cuda})⟧ itself. Running is not affected, building extensions is.",
        fix=("Before building: export CUDA_HOME=<a toolkit of torch's CUDA⟦, {torch_cuda}⟧>",),
    ),
}
