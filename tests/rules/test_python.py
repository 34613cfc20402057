# ruff: noqa: E501  (printed lines are as wide as they are)
"""Python, its packages and the C library: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="glibc-too-old",
        fires="""OSError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found (required by
/venv/lib/python3.9/site-packages/torch/lib/libtorch_cpu.so)
Libc version: glibc-2.27""",
        quiet="""Libc version: glibc-2.35
torch.cuda.is_available(): True""",
        elsewhere=(
            """ImportError: /lib64/libm.so.6: version 'GLIBC_2.29' not found (required by bitsandbytes)
CentOS Linux 7""",
            """ERROR: flash_attn-2.6.3-cp310-cp310-manylinux_2_34_x86_64.whl is not a supported wheel on this
platform.
Libc version: glibc-2.31""",
        ),
        source="glibc; pytorch issue 123649; PEP 600",
    ),
    Row(
        code="libstdcxx-too-old",
        fires="""ImportError: /opt/conda/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by
/venv/lib/python3.10/site-packages/vllm/_C.so)""",
        quiet="""libstdc++.so.6.0.30
torch.cuda.is_available(): True""",
        elsewhere=("""version `CXXABI_1.3.13' not found (required by libtriton.so)""",),
        source="libstdc++ ABI policy",
    ),
    Row(
        code="mkl-version-conflict",
        fires="""ImportError: /envs/a/lib/python3.10/site-packages/torch/lib/libtorch_cpu.so: undefined symbol:
iJIT_NotifyEvent
mkl                       2024.1.0           pypi_0""",
        quiet="""mkl                       2023.1.0
torch 2.2.2
torch.cuda.is_available(): True""",
        elsewhere=(
            """Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so or libmkl_def.so.""",
            """ImportError: libtorch_cpu.so: undefined symbol: mkl_blas_dgemm_pack""",
            """Error: mkl-service + Intel(R) MKL: MKL_THREADING_LAYER=INTEL is incompatible with
libgomp-a34b3233.so.1 library.""",
        ),
        source="pytorch issues 123097, 37377; MegaDetector issue 127",
    ),
    Row(
        code="numpy-abi-mismatch",
        fires="""A module that was compiled using NumPy 1.x cannot be run in NumPy 2.1.3 as it may crash.
torch 2.1.2
numpy 2.1.3""",
        quiet="""torch 2.6.0+cu124
numpy 2.1.3
torch.cuda.is_available(): True""",
        elsewhere=(
            """ImportError: numpy.core.multiarray failed to import
AttributeError: _ARRAY_API not found""",
            """ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C
header, got 88 from PyObject""",
        ),
        source="numpy 2 migration guide; pandas and scipy issues on dtype size",
    ),
    Row(
        code="python-too-new-for-torch",
        fires="""ERROR: Could not find a version that satisfies the requirement torch==2.2.0 (from versions: 2.5.0,
2.5.1, 2.6.0)
ERROR: No matching distribution found for torch==2.2.0
Python 3.13.1""",
        quiet="""Collecting torch==2.2.0
Successfully installed torch-2.2.0
Python 3.11.4""",
        elsewhere=(
            """RuntimeError: Dynamo is not supported on Python 3.12+
torch 2.3.0""",
            """  x No solution found when resolving dependencies:
  Because torch==2.4.1 has no wheels with a matching Python ABI tag (e.g., `cp314`)
Python version: 3.14.0""",
        ),
        source="pytorch RELEASE.md; torch._dynamo; uv's resolver",
    ),
    Row(
        code="local-module-shadows-import",
        fires="""  File "/workspace/train/random.py", line 3, in <module>
    import torch
AttributeError: partially initialized module 'random' has no attribute 'Random' (most likely due to a
circular import)""",
        quiet="""  File "/workspace/train/run.py", line 3, in <module>
    import torch
torch.cuda.is_available(): True""",
        elsewhere=(
            """AttributeError: module 'types' has no attribute 'GenericAlias' (consider renaming
'/home/u/proj/types.py' since it has the same name as the standard library module named 'types' and
prevents importing that standard library module)""",
            """>>> import torch
  File "/home/u/torch.py", line 1, in <module>
    x = torch.rand(2)
AttributeError: partially initialized module 'torch' has no attribute 'rand'""",
        ),
        source="CPython 3.13 messages; Stack Overflow on torch.py",
    ),
    Row(
        code="stale-torch-in-user-site",
        fires="""(base) $ conda activate sd
>>> torch.__file__
'/home/u/.local/lib/python3.10/site-packages/torch/__init__.py'
ImportError: cannot import name 'Tensor' from 'torch', the old torch 1.9 in the user site wins""",
        quiet="""(base) $ conda activate sd
>>> torch.__file__
'/home/u/miniconda3/envs/sd/lib/python3.10/site-packages/torch/__init__.py'
>>> torch.cuda.is_available()
True""",
        elsewhere=(
            """conda list shows pytorch 2.1.0, yet
OSError: /home/me/.local/lib/python3.8/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: x
and PYTHONNOUSERSITE=1 makes it work""",
        ),
        source="anaconda-issues 9688; Python site module",
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_fires_first(row: Row) -> None:
    assert first(row.fires) == row.code


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_the_healthy_neighbour_is_quiet(row: Row) -> None:
    assert alarms(row.quiet) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [(row.code, text) for row in ROWS for text in row.elsewhere],
    ids=lambda value: value if len(value) < 50 else "text",
)
def test_other_wordings(code: str, text: str) -> None:
    assert first(text) == code
