"""What a "key: value" line states of torch, Python, cuDNN and NCCL."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.reading.draft import MESSAGE, REPORT, TOOL, Draft
from agent.reading.versions import build_of_conda, cuda_of, dotted, torch_version

Reader = Callable[[Draft, str, int], None]


def _torch(draft: Draft, value: str, line: int) -> None:
    version = torch_version(value)
    if version is None:
        return
    draft.put("torch.version", version, line, REPORT)
    usable = re.search(r"\((True|False)\)$", value)  # "PyTorch version (GPU?): 2.5.1 (True)"
    if usable:
        draft.put("import.is_available", usable[1] == "True", line, MESSAGE)
    built = re.search(r"\(?build:? ?([\w.]+)", value)
    if built:
        draft.put("torch.build", build_of_conda(built[1]), line, REPORT)


def _torch_cuda(draft: Draft, value: str, line: int) -> None:
    if value.upper() == "N/A":
        return  # so a ROCm build answers
    if re.fullmatch(r"(?:none|cpu(?: only)?)", value, re.I):
        if draft.get("torch.hip_version") is None and draft.get("torch.version"):
            draft.put("torch.build", "cpu", line, MESSAGE)
        return
    draft.put("torch.cuda_version", cuda_of(value), line, REPORT)


def _torch_hip(draft: Draft, value: str, line: int) -> None:
    version = dotted(value)
    if version:
        draft.put("torch.hip_version", version, line, REPORT)
        draft.put("torch.build", "rocm" + ".".join(version.split(".")[:2]), line, MESSAGE)


def _torch_build(draft: Draft, value: str, line: int) -> None:
    plain = re.fullmatch(r"(?:cu\d{2,3}|cpu|rocm[\d.]+)", value)
    draft.put("torch.build", plain[0] if plain else build_of_conda(value), line, REPORT)


def _arch_list(draft: Draft, value: str, line: int) -> None:
    names = re.findall(r"(?:sm|compute)_\d{2,3}[af]?|gfx[0-9a-f]{3,4}", value)
    if names:
        draft.put("torch.architectures", tuple(dict.fromkeys(names)), line, REPORT)


def _available(draft: Draft, value: str, line: int) -> None:
    if re.match(r"(?:true|yes|1|available)\b", value, re.I):
        draft.put("import.is_available", True, line, REPORT)
    elif re.match(r"(?:false|no|0|unavailable|not available)\b", value, re.I):
        draft.put("import.is_available", False, line, REPORT)


def _python(draft: Draft, value: str, line: int) -> None:
    version = dotted(value)
    if version and version.split(".")[0] in ("2", "3"):
        draft.put("interpreter.version", version, line, REPORT)
    if "conda" in value.lower():
        draft.put("interpreter.kind", "conda", line, MESSAGE)
    prefix = re.search(r"(/[\w./+-]+)/bin/python", value)
    if prefix:
        draft.put("interpreter.path", prefix[0], line, TOOL)
        draft.put("interpreter.prefix", prefix[1], line, TOOL)


def _installer(draft: Draft, value: str, line: int) -> None:
    if "conda" in value.lower():
        draft.put("interpreter.kind", "conda", line, MESSAGE)


def _cudnn(draft: Draft, value: str, line: int) -> None:
    found = re.search(r"libcudnn\.so\.(\d[\d.]*)", value)
    draft.put("torch.cudnn_version", found[1] if found else dotted(value), line, MESSAGE)


def _nccl(draft: Draft, value: str, line: int) -> None:
    draft.put("torch.nccl_version", dotted(value), line, MESSAGE)


def _abi(draft: Draft, value: str, line: int) -> None:
    draft.put("torch.cxx11_abi", value.strip().lower() in ("true", "1", "yes"), line, REPORT)


KEYS: dict[str, Reader] = {
    **dict.fromkeys(
        (
            "torch version",
            "pytorch version",
            "pytorch",
            "torch",
            "pytorch version (gpu?)",
            "torch __version__",
            "torch.__version__",
            "torch ver",
            "pytorch.version",
            "pytorch版本",
            "torch版本",
            "pytorch version (accelerator?)",
            "phiên bản pytorch",
            "pytorch build",
            "libtorch version",
        ),
        _torch,
    ),
    **dict.fromkeys(
        (
            "cuda used to build pytorch",
            "torch cuda",
            "torch cuda version",
            "torch.version.cuda",
            "pytorch cuda",
            "pytorch cuda version",
            "torch version cuda",
            "built with cuda",
            "cuda build",
            "pytorch compiled cuda",
        ),
        _torch_cuda,
    ),
    **dict.fromkeys(
        (
            "rocm used to build pytorch",
            "torch hip",
            "torch.version.hip",
            "torch hip version",
            "hip used to build pytorch",
            "torch rocm",
        ),
        _torch_hip,
    ),
    **dict.fromkeys(
        (
            "torch build",
            "pytorch build string",
            "build string",
            "build",
        ),
        _torch_build,
    ),
    **dict.fromkeys(
        (
            "arch list",
            "torch arch list",
            "torch.cuda.get arch list()",
            "cuda arch list",
            "compiled archs",
            "pytorch arch list",
            "arch flags",
            "torch arch",
            "torch archs",
            "supported archs",
        ),
        _arch_list,
    ),
    **dict.fromkeys(
        (
            "is cuda available",
            "cuda available",
            "torch.cuda.is available()",
            "torch cuda is available",
            "torch.cuda.is available",
            "cuda is available",
            "torch cuda available",
            "gpu available",
            "pytorch cuda available",
            "is gpu available",
            "is rocm available",
            "pytorch using gpu",
            "pytorch.cuda",
        ),
        _available,
    ),
    **dict.fromkeys(
        (
            "python version",
            "python",
            "python executable",
            "python ver",
            "sys.version",
            "interpreter",
        ),
        _python,
    ),
    **dict.fromkeys(
        (
            "installer",
            "package manager",
            "installed with",
            "how you installed pytorch",
            "how you installed pytorch (conda, pip, source)",
        ),
        _installer,
    ),
    **dict.fromkeys(
        (
            "cudnn version",
            "cudnn",
            "cudnn loaded",
        ),
        _cudnn,
    ),
    **dict.fromkeys(
        (
            "nccl version",
            "nccl",
        ),
        _nccl,
    ),
    **dict.fromkeys(
        (
            "cxx11 abi",
            "torch cxx11 abi",
            "pytorch cxx11 abi",
            "torch. c. glibcxx use cxx11 abi",
            "glibcxx use cxx11 abi",
        ),
        _abi,
    ),
}
