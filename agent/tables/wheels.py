# ruff: noqa: E501  (a row stays on one line)
"""Which torch wheels exist for Linux x86_64: release x build, what each holds and pairs with.

`architectures` lists compiled targets (an empty tuple: not known); `ptx` is the capability whose PTX the
wheel holds, "" for none. Companion versions are series; "" where none was published or none is known.
"""

from __future__ import annotations

from typing import NamedTuple


class Wheel(NamedTuple):
    """One release series of torch in one build."""

    torch: str  # series, "2.8"
    build: str  # cu128, rocm6.4, cpu
    default: bool  # what plain `pip install torch` brings
    architectures: tuple[str, ...]  # sm_90 or gfx942; empty is not known
    ptx: str  # "12.0" where PTX for it is inside
    python_min: str
    python_max: str
    torchvision: str
    torchaudio: str
    triton: str
    cudnn: str
    nccl: str
    cxx11_abi: bool | None
    source: str


_SOURCES = (
    "pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 1.12.1 cp310 wheel (libtorch_python.so, libc10.so)",
    "github.com/pytorch/builder branch release/1.12 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder release/1.12 manywheel/build_docker.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder branch release/1.13 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 1.13.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; github.com/pytorch/builder branch release/1.13 manywheel/build_cuda.sh",
    "github.com/pytorch/builder release/1.13 manywheel/build_docker.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.0.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA",
    "github.com/pytorch/builder branch release/2.0 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder release/2.0 manywheel/build_docker.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder branch release/2.1 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.1.2 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; github.com/pytorch/builder branch release/2.1 manywheel/build_cuda.sh",
    "github.com/pytorch/builder release/2.1 manywheel/build_docker.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder branch release/2.2 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.2.2 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; github.com/pytorch/builder branch release/2.2 manywheel/build_cuda.sh",
    "github.com/pytorch/builder release/2.2 manywheel/build_docker.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder branch release/2.3 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.3.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; github.com/pytorch/builder branch release/2.3 manywheel/build_cuda.sh",
    "github.com/pytorch/builder release/2.3 manywheel/build_docker.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder branch release/2.4 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.4.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA",
    "github.com/pytorch/builder release/2.4 manywheel/build_docker.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/pytorch/builder branch release/2.5 manywheel/build_cuda.sh; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.5.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; github.com/pytorch/builder branch release/2.5 manywheel/build_cuda.sh",
    "github.com/astral-sh/uv/issues/14086 (get_arch_list printed there); pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "pytorch .ci/manywheel/build_cuda.sh as copied in a public test fixture; pytorch issues 152790, 148411; PR 142064",
    "PyPI torch 2.6.0 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; pytorch issues 152790, 148411; PR 142064",
    " (uv crates/uv-torch/src/backend.rs, ROCm 6.1 entry); pytorch RELEASE.md compatibility matrix (main, Sept 2026); pytorch PR 142064 review (rocm and cpu-aarch64 already on cxx11-abi)",
    "PyPI torch 2.7.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; pytorch .ci/manywheel/build_cuda.sh as copied in a public test fixture",
    "pytorch .ci/manywheel/build_cuda.sh as copied in a public test fixture; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "github.com/astral-sh/uv/issues/14086",
    "github.com/astral-sh/uv/issues/14086 (get_arch_list printed there); pytorch RELEASE.md compatibility matrix (main, Sept 2026); unslothai/unsloth PR 9829 (gfx1103, gfx1031-1036 not in release/2.7)",
    "huggingface/kernel-builder PR 304; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.8.0 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; dev-discuss.pytorch.org/t/3128",
    "pytorch .ci/docker/almalinux/build.sh copy; pytorch PR 148562; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "pytorch PR 164471, PR 175253, issue 165111; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.9.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA",
    " (uv crates/uv-torch/src/backend.rs, ROCm 6.4 entry, get_arch_list based); pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.10.0 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA",
    "pytorch PR 167299; pytorch .ci/docker/libtorch/build.sh copy; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "pytorch PR 175253; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "pytorch PR 175253, issue 172352; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.11.0 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; pytorch issue 172663, PR 177975",
    "github.com/astral-sh/uv/pull/18730 (get_arch_list printed there, 26 Mar 2026; torch version not shown); pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "pytorch PR 182849, PR 187075, PR 194367; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.12.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; pytorch PR 182849, PR 187075, PR 194367; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "unslothai/unsloth PR 9829; pytorch PR 167299; pytorch issue 179865; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI-style wheel torch-2.13.0+cpu-cp311 (libc10.so); pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "PyPI torch 2.13.0 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; pytorch PR 182849, PR 187075, PR 194367; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "pytorch PR 182849, PR 187075, PR 194367; pytorch RELEASE.md compatibility matrix (main, Sept 2026); torch/cuda/__init__.py PYTORCH_RELEASES_CODE_CC in torch 2.14.1 and 2.15.0",
    "PyPI torch 2.14.1 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA; pytorch PR 182849, PR 187075, PR 194367; pytorch RELEASE.md compatibility matrix (main, Sept 2026)",
    "pytorch RELEASE.md compatibility matrix (main, Sept 2026); pytorch issue 191688, PR 190276",
    "pytorch issue 190385; torch/cuda/__init__.py PYTORCH_RELEASES_CODE_CC in torch 2.14.1 and 2.15.0",
    "PyPI torch 2.15.0 cp311 wheel: libtorch_python.so arch string, libc10.so symbols, METADATA",
)

# torch|build|default|architectures|ptx|python|torchvision|torchaudio|triton|cudnn|nccl|abi|source
_ROWS = """\
1.12|cpu||||3.7-3.10|0.13|0.12||||old|0
1.12|cu102|default|sm_37 sm_50 sm_60 sm_70||3.7-3.10|0.13|0.12||||old|1
1.12|cu113||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86||3.7-3.10|0.13|0.12||8.3.2.44||old|2
1.12|cu116||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86||3.7-3.10|0.13|0.12||8.3.2.44||old|2
1.12|rocm5.1.1||gfx900 gfx906 gfx908 gfx90a gfx1030||3.7-3.10|0.13|0.12||||old|3
1.13|cpu||||3.7-3.11|0.14|0.13||||old|0
1.13|cu116||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86||3.7-3.11|0.14|0.13||8.3.2.44||old|4
1.13|cu117|default|sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86||3.7-3.11|0.14|0.13||8.5.0.96||old|5
1.13|rocm5.2||gfx900 gfx906 gfx908 gfx90a gfx1030||3.7-3.11|0.14|0.13||||old|6
2.0|cpu||||3.8-3.11|0.15|2.0||||old|0
2.0|cu117|default|sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86||3.8-3.11|0.15|2.0|2.0|8.5.0.96|2.14.3|old|7
2.0|cu118||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.11|0.15|2.0|2.0|8.7.0.84||old|8
2.0|rocm5.4.2||gfx900 gfx906 gfx908 gfx90a gfx1030||3.8-3.11|0.15|2.0||||old|9
2.1|cpu||||3.8-3.11|0.16|2.1||||old|0
2.1|cu118||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.11|0.16|2.1|2.1|8.7.0.84||old|10
2.1|cu121|default|sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.11|0.16|2.1|2.1|8.9.2.26|2.18.1|old|11
2.1|rocm5.6||gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100||3.8-3.11|0.16|2.1||||old|12
2.2|cpu||||3.8-3.12|0.17|2.2||||old|0
2.2|cu118||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.17|2.2|2.2|8.7.0.84||old|13
2.2|cu121|default|sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.17|2.2|2.2|8.9.2.26|2.19.3|old|14
2.2|rocm5.7||gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100||3.8-3.12|0.17|2.2||||old|15
2.3|cpu||||3.8-3.12|0.18|2.3||||old|0
2.3|cu118||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.18|2.3|2.3|8.7.0.84||old|16
2.3|cu121|default|sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.18|2.3|2.3|8.9.2.26|2.20.5|old|17
2.3|rocm6.0||gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100 gfx942||3.8-3.12|0.18|2.3||||old|18
2.4|cpu||||3.8-3.12|0.19|2.4||||old|0
2.4|cu118||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.19|2.4|3.0|9.1.0.70||old|19
2.4|cu121|default|sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.19|2.4|3.0|9.1.0.70|2.20.5|old|20
2.4|cu124||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.19|2.4|3.0|9.1.0.70||old|19
2.4|rocm6.1||gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100 gfx942||3.8-3.12|0.19|2.4||||old|21
2.5|cpu||||3.8-3.12|0.20|2.5||||old|0
2.5|cu118||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.20|2.5|3.1|9.1.0.70||old|22
2.5|cu121||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.20|2.5|3.1|9.1.0.70||old|22
2.5|cu124|default|sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.8-3.12|0.20|2.5|3.1|9.1.0.70|2.21.5|old|23
2.5|rocm6.2||gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100 gfx942||3.8-3.12|0.20|2.5||||old|24
2.6|cpu||||3.9-3.13|0.21|2.6|||||0
2.6|cu118||sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.9-3.13|0.21|2.6|3.2|||old|25
2.6|cu124|default|sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.9-3.13|0.21|2.6|3.2|9.1.0.70|2.21.5|old|26
2.6|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.9-3.13|0.21|2.6|3.2|9.5.1.17||new|25
2.6|rocm6.2.4||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101||3.9-3.13|0.21|2.6||||new|27
2.7|cpu||||3.9-3.13|0.22|2.7||||new|0
2.7|cu118||||3.9-3.13|0.22|2.7|3.3|9.1.0.70||new|0
2.7|cu126|default|sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.9-3.13|0.22|2.7|3.3|9.5.1.17|2.26.2|new|28
2.7|cu128||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120|12.0|3.9-3.13|0.22|2.7|3.3|9.7.1.26||new|29
2.7|rocm6.2.4||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201||3.9-3.13|0.22|2.7||||new|30
2.7|rocm6.3||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201||3.9-3.13|0.22|2.7||||new|31
2.8|cpu||||3.9-3.13|0.23|2.8||||new|0
2.8|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.9-3.13|0.23|2.8|3.4|9.10.2.21||new|32
2.8|cu128|default|sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.9-3.13|0.23|2.8|3.4|9.10.2.21|2.27.3|new|33
2.8|cu129||sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120|12.0|3.9-3.13|0.23|2.8|3.4|9.10.2.21||new|29
2.8|rocm6.4||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201||3.9-3.13|0.23|2.8||||new|34
2.9|cpu||||3.10-3.14|0.24|2.9||||new|0
2.9|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.10-3.14|0.24|2.9|3.5|9.10.2.21||new|35
2.9|cu128|default|sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.10-3.14|0.24|2.9|3.5|9.10.2.21|2.27.5|new|36
2.9|cu130||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120|12.0|3.10-3.14|0.24|2.9|3.5|9.13.0.50||new|35
2.9|rocm6.4||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201||3.10-3.14|0.24|2.9||||new|37
2.10|cpu||||3.10-3.14|0.25|2.10||||new|0
2.10|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.10-3.14|0.25|2.10|3.6|9.10.2.21||new|35
2.10|cu128|default|sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.10-3.14|0.25|2.10|3.6|9.10.2.21|2.27.5|new|38
2.10|cu130||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120|12.0|3.10-3.14|0.25|2.10|3.6|9.15.1.9||new|35
2.10|rocm7.1||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201 gfx950 gfx1150 gfx1151||3.10-3.14|0.25|2.10||||new|39
2.11|cpu||||3.10-3.14|0.26|2.11||||new|0
2.11|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.10-3.14|0.26|2.11|3.6|9.10.2.21|2.28.9|new|40
2.11|cu128||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.10-3.14|0.26|2.11|3.6|9.17.1.4|2.28.9|new|41
2.11|cu130|default|sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.10-3.14|0.26|2.11|3.6|9.19.0.56|2.28.9|new|42
2.11|rocm7.2||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201 gfx950 gfx1150 gfx1151||3.10-3.14|0.26|2.11||||new|43
2.12|cpu||||3.10-3.14|0.27|2.11||||new|0
2.12|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.10-3.14|0.27|2.11|3.7|9.10.2.21|2.29.3|new|44
2.12|cu130|default|sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.10-3.14|0.27|2.11|3.7|9.20.0.48|2.29.7|new|45
2.12|cu132||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120|12.0|3.10-3.14|0.27|2.11|3.7|9.20.0.48|2.29.7|new|44
2.12|rocm7.2||gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201 gfx950 gfx1150 gfx1151||3.10-3.14|0.27|2.11||||new|46
2.13|cpu||||3.10-3.15|0.28|2.11||||new|47
2.13|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.10-3.15|0.28|2.11|3.7|9.10.2.21|2.29.3|new|44
2.13|cu130|default|sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.10-3.15|0.28|2.11|3.7|9.20.0.48|2.29.7|new|48
2.13|cu132||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120|12.0|3.10-3.15|0.28|2.11|3.7|9.20.0.48|2.29.7|new|44
2.13|rocm7.2||||3.10-3.15|0.28|2.11||||new|0
2.14|cpu||||3.10-3.15|0.29|2.11||||new|0
2.14|cu126||sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90||3.10-3.15|0.29|2.11|3.8|9.10.2.21|2.29.3|new|49
2.14|cu130|default|sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.10-3.15|0.29|2.11|3.8|9.24.0.43|2.30.7|new|50
2.14|cu132||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120|12.0|3.10-3.15|0.29|2.11|3.8|9.24.0.43|2.30.7|new|44
2.14|rocm7.14||||3.10-3.15|0.29|2.11||||new|51
2.15|cpu||||3.11-3.15|0.29|2.11||||new|0
2.15|cu126||||3.11-3.15|0.29|2.11|3.9||||52
2.15|cu130||sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.11-3.15|0.29|2.11|3.9|||new|52
2.15|cu132|default|sm_75 sm_80 sm_86 sm_90 sm_100 sm_120||3.11-3.15|0.29|2.11|3.9|9.26.0.51|2.30.7|new|53
"""


def _read(line: str) -> Wheel:
    torch, build, default, archs, ptx, python, vision, audio, triton, cudnn, nccl, abi, source = (
        line.split("|")
    )
    low, high = python.split("-")
    return Wheel(
        torch,
        build,
        default == "default",
        tuple(archs.split()),
        ptx,
        low,
        high,
        vision,
        audio,
        triton,
        cudnn,
        nccl,
        {"new": True, "old": False}.get(abi),
        _SOURCES[int(source)],
    )


# The first torch release whose binaries hold code for a GPU of this capability or newer.
# Source: PyTorch release notes; the arch lists above.
FIRST_RELEASES: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((8, 0), (1, 7)),
    ((9, 0), (2, 0)),
    ((10, 0), (2, 7)),
)

# CUDA of the default build on PyPI, from this release on, before the rows above begin.
# Source: PyTorch's page of previous versions; versions of the wheels' own libcudart.
DEFAULT_CUDA: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((1, 0), (9, 0)),
    ((1, 2), (10, 0)),
    ((1, 3), (10, 1)),
    ((1, 5), (10, 2)),
)

WHEELS: tuple[Wheel, ...] = tuple(_read(line) for line in _ROWS.splitlines())
