"""The real CUDA build of torch over the stand-in libcuda prints its real text for each refusal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .simulate import environment, simulate, write_answers

# cuInit, the driver's version, and what torch then says (torch 2.14.1+cu130, tried).
TEXTS = (
    (34, 13000, "Error 34: CUDA driver is a stub library"),
    (100, 13000, "No CUDA GPUs are available"),
    (802, 13000, "Error 802: system not yet initialized"),
    (803, 13000, "Error 803: system has unsupported display driver / cuda driver combination"),
    (804, 13000, "Error 804: forward compatibility was attempted on non supported HW"),
    (999, 13000, "CUDA unknown error"),
    (35, 12020, "The NVIDIA driver on your system is too old (found version 12020)"),
)
# torch is imported once; each refusal gets a process forked before the first CUDA call.
PROGRAM = """
import json, os, sys
import torch
for place in sys.argv[1:]:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.environ["FIRSTLIGHT_STAND_IN"] = place
        try:
            torch.cuda.init()
            said = "no error"
        except BaseException as error:
            said = str(error)
        os.write(writer, json.dumps(said).encode())
        os._exit(0)
    os.close(writer)
    print(os.read(reader, 65536).decode())
    os.waitpid(child, 0)
"""


@pytest.mark.torch
def test_each_refusal_has_torchs_own_text(
    tmp_path: Path, stand_ins: Path, torch_cuda_python: Path
) -> None:
    simulation = simulate("h100-sxm", tmp_path / "machine", stand_ins)
    places = []
    for code, version, _ in TEXTS:
        place = tmp_path / f"{code}.txt"
        write_answers(place, {"cuda.init": code, "cuda.driver_version": version})
        places.append(str(place))
    done = subprocess.run(
        [str(torch_cuda_python), "-c", PROGRAM, *places],
        env=environment(simulation),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(TEXTS)
    for text, (code, _, expected) in zip(said, TEXTS, strict=True):
        assert expected in text, code
