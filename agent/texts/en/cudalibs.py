"""Texts for CUDA libraries of different versions in one environment."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "nvidia-wheel-version-conflict": Text(
        title="Two NVIDIA wheels bring the same library",
        cause="Two packages⟦ ({package})⟧ write or load the same library file, and torch⟦"
        " {torch}⟧ gets the version"
        " of the other one.",
        fix=(
            "See them: python -m pip list | grep -i nvidia",
            "Remove the ones this torch does not pin, then put torch's own back: python -m pip"
            " install --force-reinstall torch⟦=={torch}⟧ (or the nvidia-* package at the version"
            " that torch pins).",
        ),
    ),
    "conda-cuda-lib-mismatch": Text(
        title="The conda environment mixes CUDA libraries of different versions",
        cause="conda installed a CUDA library of another version than this torch needs, so a"
        " symbol is missing.",
        fix=(
            "See them: conda list | grep -i -E 'cuda|libcu|nvidia'",
            "Make a new environment with one CUDA: conda create -n fresh -c conda-forge"
            ' pytorch-gpu "cuda-version=<torch\'s CUDA>"; or install torch by pip in it.',
        ),
    ),
    "mixed-cuda-toolkits": Text(
        title="Parts of two CUDA toolkits are loaded together",
        cause="Two toolkits⟦ ({found})⟧ are on the search paths; a library of one looks for its"
        " partner and meets that of the other.",
        fix=(
            "See what is found: ldconfig -p | grep -E 'nvrtc|cudart'; echo $LD_LIBRARY_PATH",
            "Leave only the toolkit that the package was built with on PATH and LD_LIBRARY_PATH.",
        ),
    ),
    "cudnn-older-than-build": Text(
        title="The cuDNN that is loaded is older than the framework was built with",
        cause="⟦Built against cuDNN {wanted}, loaded is {found}. ⟧An older copy is found first.",
        fix=(
            "Find the older copy: ldconfig -p | grep cudnn; echo $LD_LIBRARY_PATH",
            "Remove it from the path⟦, or install the wanted one: python -m pip install"
            ' "nvidia-cudnn-cu12=={wanted}.*" (cu11, cu13 as fits)⟧.',
        ),
    ),
}
