# ruff: noqa: E501  (printed lines are as wide as they are)
"""Packages that must match torch: each cause fires, its healthy neighbour stays quiet."""

from __future__ import annotations

import pytest

from tests.rules.judged import Row, alarms, first

ROWS = (
    Row(
        code="torch-family-backend-mismatch",
        fires="""RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major
versions. PyTorch has CUDA Version=13.0 and torchvision has CUDA Version=12.8.
torch 2.9.1+cu130
torchvision 0.24.1+cu128""",
        quiet="""torch 2.9.1+cu130
torchvision 0.24.1+cu130
torch.cuda.is_available(): True""",
        elsewhere=(
            """OSError: libcudart.so.10.2: cannot open shared object file: No such file or directory
  File "site-packages/torchaudio/_extension.py", line 27, in _init_extension
torch==1.11.0+cu113
torchaudio==0.11.0+cu102""",
            """NotImplementedError: Could not run 'torchvision::nms' with arguments from the 'CUDA' backend.
torch                    2.5.1+cu121
torchvision              0.20.1+cpu
GPU: RTX 4070""",
        ),
        source="torchvision extension.py; torchaudio issue 2363; ultralytics issues on nms",
    ),
    Row(
        code="torch-family-version-mismatch",
        fires="""RuntimeError: operator torchvision::nms does not exist
torch 2.5.1+cu124
torchvision 0.19.0""",
        quiet="""torch 2.5.1+cu124
torchvision 0.20.1+cu124
torch.cuda.is_available(): True""",
        elsewhere=(
            """ImportError: /venv/lib/python3.9/site-packages/torchtext/lib/libtorchtext.so: undefined symbol:
_ZN2at4_ops10select_int4callERKNS_6TensorElN3c106SymIntE
torch: 2.0.1""",
            """OSError: /opt/conda/lib/python3.8/site-packages/torchaudio/lib/libtorchaudio.so: undefined
symbol: _ZNK3c107SymBool10guard_boolEPKcl
torch 2.1.0, torchaudio 2.2.0""",
            """ERROR: pip's dependency resolver does not currently take into account all the packages that are
installed.
torchvision 0.15.2 requires torch==2.0.1, but you have torch 2.1.0 which is incompatible.
UserWarning: Failed to load image Python extension: libtorch_cuda_cpp.so""",
        ),
        source="torchvision issue 8235; torchtext issue 2171; torchaudio issue 3600; pip's resolver",
    ),
    Row(
        code="triton-torch-version-mismatch",
        fires="""ImportError: cannot import name 'AttrsDescriptor' from 'triton.compiler.compiler'
torch 2.5.1+cu124
triton 3.3.0""",
        quiet="""torch 2.5.1+cu124
triton 3.1.0
torch.cuda.is_available(): True""",
        elsewhere=(
            """ImportError: cannot import name 'default_dump_dir' from 'triton.runtime.cache'
the log says: Installing collected packages: triton
triton==3.4.0
torch==2.6.0+cu124""",
            """AttributeError: module 'triton.compiler' has no attribute 'OutOfResources'
torch==2.1.0
triton==3.0.0""",
        ),
        source="pytorch issues on AttrsDescriptor; bitsandbytes issue 1413; triton releases",
    ),
    Row(
        code="ext-cxx11-abi-mismatch",
        fires="""ImportError: flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol:
_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
torch 2.5.1+cu124
flash_attn 2.7.4.post1""",
        quiet="""torch 2.5.1+cu124
flash_attn-2.7.4.post1+cu12torch2.5cxx11abiFALSE-cp312-cp312-linux_x86_64.whl
torch.cuda.is_available(): True""",
        elsewhere=(
            """ImportError: causal_conv1d_cuda.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs
torch: 2.7.1+cu126
causal-conv1d: 1.5.0""",
            """Downloading flash_attn-2.8.0.post2+cu12torch2.6cxx11abiTRUE-cp310-cp310-linux_x86_64.whl
ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN3c10...
PyTorch version: 2.6.0+cu124""",
        ),
        source="flash-attention issues 1644, 1691, 1832",
    ),
    Row(
        code="ext-wheel-built-for-other-torch",
        fires="""ImportError: flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol:
_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEENS5_8optionalINS2_10ScalarTypeEEE
torch 2.1.0""",
        quiet="""torch 2.1.0+cu121
flash-attn 2.3.3
torch.cuda.is_available(): True""",
        elsewhere=(
            """WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:
    PyTorch 2.1.2+cu121 with CUDA 1201 (you have 2.2.0+cu121)
    Python  3.10.13 (you have 3.10.12)""",
            """OSError: /opt/lib/python3.9/site-packages/torch_sparse/_convert_cuda.so: undefined symbol:
_ZN5torch3jit17parseSchemaOrNameERKSs
installed from https://data.pyg.org/whl/torch-1.12.0+cu113.html, torch.__version__ is 1.13.1+cu117""",
            """ImportError: /tmp/torch_extensions/py310_cu121/fused_adam/fused_adam.so: undefined symbol:
_ZN3c106detail14torchCheckFailEPKcS2_jRKSs""",
        ),
        source="flash-attention issue 919; xformers _cpp_lib.py; pyg issues; deepspeed issues",
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
