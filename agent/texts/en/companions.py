"""Texts for packages that must match torch."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "torch-family-backend-mismatch": Text(
        title="torch and a companion package are built for different back ends",
        cause="torch⟦ {torch}⟧ stands beside a companion⟦ ({package})⟧ that was built for"
        " another back end, so it"
        " looks for libraries that this torch does not have.",
        fix=(
            "Install torch and its companions together, from one index: {wheel}",
            "Check with: python -m pip list | grep -i torch",
        ),
    ),
    "torch-family-version-mismatch": Text(
        title="A companion package belongs to another torch release",
        cause="torch⟦ {torch}⟧ is installed, but a companion⟦ ({package})⟧ was built for another"
        " release; usually a"
        " later install step replaced torch.",
        fix=(
            "Install the matching set in one step: {wheel}",
            "Find the step that replaced torch (its log says `Uninstalling torch-`), and pin torch"
            " there.",
        ),
    ),
    "triton-torch-version-mismatch": Text(
        title="The installed triton is not the one this torch needs",
        cause="The installed triton⟦ ({found})⟧ does not pair with torch⟦ {torch}⟧⟦, which wants"
        " {wanted}⟧.",
        fix=(
            "⟦Put the pinned version back: python -m pip install --force-reinstall --no-deps"
            " triton=={wanted}.*⟧",
            "Or let torch decide: reinstall torch in one step with what asked for triton.",
        ),
    ),
    "ext-cxx11-abi-mismatch": Text(
        title="Extension and torch use different C++ ABIs",
        cause="The extension was built with the other C++11 ABI than torch⟦ {torch}⟧, so names of"
        " C++ strings do not match although the versions do.",
        fix=(
            'Ask torch: python -c "import torch; print(torch.compiled_with_cxx11_abi())"',
            "Install the extension's wheel⟦ with {wanted} in its name⟧, or build it here with"
            " --no-build-isolation.",
        ),
    ),
    "ext-wheel-built-for-other-torch": Text(
        title="An extension was compiled for another torch than the one installed",
        cause="⟦{package} was built against {wanted}. ⟧Installed is torch⟦ {torch}⟧. Compiled"
        " extensions fit only the torch (and its CUDA variant) they were built with.",
        fix=(
            "Install the extension's release for this torch and CUDA, or rebuild it: python -m pip"
            " install --no-build-isolation --no-cache-dir --force-reinstall --no-deps <package>",
            "Delete cached builds: rm -r ~/.cache/torch_extensions",
        ),
    ),
}
