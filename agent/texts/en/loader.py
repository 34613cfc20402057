"""Texts for what the loader and the linker find."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "libcuda-stub-loaded": Text(
        title="The toolkit's stub of libcuda is loaded instead of the driver's",
        cause="The file in .../lib64/stubs is only for linking; every call on it fails (error 34)."
        " A path variable puts it before the driver's library.",
        fix=(
            "Remove the stubs directory from LD_LIBRARY_PATH (and from /etc/ld.so.conf.d, then run"
            " ldconfig).",
            "Check: ldconfig -p | grep libcuda",
        ),
    ),
    "libcuda-linker-symlink-missing": Text(
        title="The linker finds no libcuda.so, only a versioned name",
        cause="Programs run with libcuda.so.1; building (also Triton's launcher) asks the linker"
        " for the plain name libcuda.so, and no such link is on its path.",
        fix=(
            "As root: ln -s libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so && ldconfig",
            "Without root: mkdir -p ~/lib && ln -s $(ldconfig -p | awk '/libcuda.so.1/"
            " {{print $NF; exit}}') ~/lib/libcuda.so && export LIBRARY_PATH=$HOME/lib",
            "For Triton alone: export TRITON_LIBCUDA_PATH=<directory with libcuda.so.1>",
        ),
    ),
    "libcuda-not-in-ldcache": Text(
        title="libcuda is there, but not in the loader's cache",
        cause="The tool asks `ldconfig -p` for libcuda; the library lies in a directory that the"
        " cache does not cover, or the cache is older than the driver's files.",
        fix=(
            "As root: ldconfig (after naming the directory in /etc/ld.so.conf.d where it is an"
            " unusual one).",
            "Without root: export TRITON_LIBCUDA_PATH=<directory with libcuda.so.1>, and"
            " LD_LIBRARY_PATH for other programs.",
        ),
    ),
    "wsl-libcuda-so-link-missing": Text(
        title="WSL: libcuda.so is not visible, only libcuda.so.1",
        cause="Windows provides libcuda in /usr/lib/wsl/lib; cuDNN opens it by the plain name"
        " libcuda.so, which the loader does not find there.",
        fix=(
            "export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH",
            "Or as root: ln -s /usr/lib/wsl/lib/libcuda.so.1 /usr/local/cuda/lib64/libcuda.so",
        ),
    ),
    "bundled-cuda-libs-not-on-path": Text(
        title="NVIDIA's pip libraries are installed, but the loader does not look there",
        cause="The library⟦ ({library})⟧ lies in site-packages/nvidia/*/lib; only torch finds"
        " these directories by"
        " itself, other programs search LD_LIBRARY_PATH.",
        fix=(
            'Add all of their directories: export LD_LIBRARY_PATH=$(python -c "import glob, site;'
            " print(':'.join(d for p in site.getsitepackages() for d in"
            " glob.glob(p + '/nvidia/*/lib')))\"):$LD_LIBRARY_PATH",
            "Or import torch before the library that fails.",
        ),
    ),
    "lib-built-for-other-cuda-major": Text(
        title="A library was built for another CUDA major than what is here",
        cause="⟦{library} belongs to CUDA {wanted}; the libraries here are of {found}. ⟧A"
        " program finds only"
        " libraries of the major it was linked with.",
        fix=(
            "Install the package's build for the CUDA that is here (its index or extra for that"
            " major), or change it to one that is.",
            "Or install the libraries it wants beside the others: python -m pip install"
            " nvidia-cublas-cu<major> nvidia-cuda-runtime-cu<major> nvidia-cudnn-cu<major>",
        ),
    ),
    "cuda-runtime-libs-missing-in-container": Text(
        title="The image lacks CUDA libraries; the host's do not count",
        cause="The container toolkit mounts only the driver's libraries. What is missing⟦"
        " ({library})⟧ belongs to the"
        " CUDA runtime, which has to be inside the image and on its loader path.",
        fix=(
            "Start from an image that holds it (nvidia/cuda:<version>-cudnn-runtime-<os> instead of"
            " -base), or install the nvidia-* wheels in the image.",
            "If it is there: ldconfig, or LD_LIBRARY_PATH=/usr/local/cuda/lib64.",
        ),
    ),
    "ld-library-path-clobbered": Text(
        title="LD_LIBRARY_PATH was overwritten and lost a needed directory",
        cause="Some CUDA libraries are found and others not: a module or script set the variable"
        " anew instead of adding to it.",
        fix=(
            "Look at it in the failing shell: echo $LD_LIBRARY_PATH",
            "Add instead of replacing: export LD_LIBRARY_PATH=<directory>:$LD_LIBRARY_PATH, after"
            " the module or script that resets it.",
        ),
    ),
    "ld-library-path-shadows-torch-libs": Text(
        title="An older CUDA library on the path hides the one that torch brings",
        cause="torch⟦ {torch}⟧ brings its own CUDA libraries; LD_LIBRARY_PATH or a system CUDA"
        " makes"
        " the loader take an older copy first.",
        fix=(
            'Try without it: env -u LD_LIBRARY_PATH {python_path} -c "import torch"',
            "If that helps, remove the CUDA and cuDNN directories from LD_LIBRARY_PATH for this"
            " program (module unload, .bashrc).",
        ),
    ),
}
