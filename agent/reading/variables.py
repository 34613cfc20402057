"""Environment variables that a text shows: dumps, exports, docker options, command lines."""

from __future__ import annotations

import re

from agent.reading.draft import REPORT, TOOL, Draft
from agent.reading.page import Page
from agent.reading.versions import size

_PREFIXES = """
CUDA CUDNN NVIDIA NCCL RCCL HIP HSA ROCR ROCM LD PYTORCH TORCH TORCHINDUCTOR TRITON XLA JAX TF
VIRTUAL CONDA PYTHON OMP MKL GLOO MASTER UCX VLLM SGLANG AMD MIOPEN GPU FORCE MAX_JOBS CC CXX
PATH LIBRARY CPATH HF WORLD RANK LOCAL SLURM NUMBA CMAKE NVCC NVTE FLASH DS OMPI KINETO TENSILE
ROCBLAS HIPBLASLT TOKENIZERS OPAL FI IBV MAMBA BNB BITSANDBYTES XDG TMPDIR AMDGPU DISPLAY
"""
_NAME = rf"((?:{'|'.join(_PREFIXES.split())})(?:_[A-Z0-9_]+)?|LD_LIBRARY_PATH)"
_ASSIGNED = re.compile(
    rf"(?:^|[ \t\"'`$;(]|--env=)(?:export |set |setenv |ENV |-x )?(?<![\w.$]){_NAME}"
    r"=(\"[^\"\n]*\"|'[^'\n]*'|[^\s;\"'`]*(?:[ \t]+(?![\w./-]*[ =])[^\n=;]*$)?)",
    re.M,
)
_WHOLE = re.compile(rf"^(?:export |declare -x |set )?{_NAME}=(.*)$", re.M)
# What follows a value on a command line; a value of several words has none of these.
_COMMAND = re.compile(
    r"\S*[ \t]+(?:[A-Z][A-Z0-9_]*=|(?:python|torchrun|mpirun|accelerate|deepspeed|vllm|bash|sh|"
    r"srun|nohup|time|env|sudo|docker|make|cmake|pip|uv|jupyter|ollama|nsys|ncu|node|npm)\d?\b|\.{0,2}/|"
    r"[\w.-]+\.(?:py|sh)\b|[\w.-]+ --?\w)"
)
_NAMED = re.compile(rf"^[ \t*>-]*{_NAME}(?: set to)?[ \t]*: ?(\S[^\n]*)$", re.M)
_ECHOED = re.compile(rf"^\S{{0,60}}[$#%>] ?echo \"?\${{?{_NAME}}}?\"?[ \t]*\n([^\n]*)$", re.M)
_IN_PYTHON = re.compile(rf"environ\[['\"]{_NAME}['\"]\] ?= ?['\"]([^'\"\n]*)['\"]")
_ANSWERED = re.compile(
    rf"(?:environ(?:\.get\(|\[)|getenv\()['\"]{_NAME}['\"][\])]{{1,2}}\s{{0,3}}\n"
    r"['\"]?([\w.,:/-]+)['\"]?[ \t]*$",
    re.M,
)
_SHM = re.compile(r"--shm-size[= ](\d+(?:\.\d+)?\s?[kmgKMG]?[bB]?)")
_EMPTY = re.compile(r"^(?:n/?a|none|not set|unset|<not set>|\(not set\))?$", re.I)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft with the variables and the shared memory that a command line asks for."""
    text = page.text
    found: list[tuple[int, str, str]] = []
    if "=" in text:
        whole = {
            match.start(1): match for match in _WHOLE.finditer(text) if not _COMMAND.match(match[2])
        }
        found += [(offset, match[1], match[2]) for offset, match in whole.items()]
        starts = {text.rfind("\n", 0, offset) for offset in whole}
        found += [
            (match.start(1), match[1], match[2])
            for match in _ASSIGNED.finditer(text)
            if text.rfind("\n", 0, match.start(1)) not in starts
        ]
    for pattern in (_NAMED, _ECHOED, _IN_PYTHON, _ANSWERED):
        found += [
            (match.start(1), match[1], match[2])
            for match in pattern.finditer(text)
            # "not set" is no value, and an empty echo does not tell unset from empty.
            if pattern is _IN_PYTHON or not _EMPTY.match(match[2].strip())
        ]
    for _, name, value in sorted(found):
        _add(draft, name, value)
    for match in _SHM.finditer(text):
        amount = match[1] if re.search(r"[a-z]", match[1], re.I) else match[1] + " B"
        amount = re.sub(r"(?i)([kmg])b?$", r" \1B", amount)
        draft.put("limits.shm_total_bytes", size(amount), page.number_at(match.start()), TOOL)
    for variable in draft.environment:
        if variable.name == "CUDA_HOME":
            draft.put("toolkits.cuda_home", variable.value, 0, REPORT)
            draft.put("toolkits.cuda_home_source", "CUDA_HOME", 0, REPORT)
        elif variable.name == "CONDA_PREFIX":
            draft.put("interpreter.kind", "conda", 0, TOOL)


def _add(draft: Draft, name: str, value: str) -> None:
    value = value.strip().strip("\"'`")
    # One word alone ("GPU: 0") is a table's column, not a variable.
    if "_" not in name and name not in ("PATH", "CC", "CXX", "CPATH", "TMPDIR"):
        return
    draft.add_variable(name, value)
