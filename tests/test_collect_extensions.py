"""Which extensions are tried: what is installed, what was named, and how deep the run is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.collect.extensions import (
    architecture_of,
    expected_seconds,
    extension_tasks,
    wanted_architectures,
)
from agent.model import Device, Facts, Package
from agent.options import RunOptions
from agent.run.tasks import Task
from probes.extension_table import EXTENSIONS, OWN, PACKAGES, row

WORKDIR = Path("/somewhere")


def _facts(*packages: str, architectures: tuple[str, ...] = ()) -> Facts:
    devices = tuple(
        Device(id=f"GPU-{place}", vendor="nvidia", architecture=text)
        for place, text in enumerate(architectures)
    )
    found = tuple(Package(name=name, version="1.0") for name in packages)
    return Facts(packages=found, devices=devices)


def _tasks(facts: Facts, **options: Any) -> dict[str, Task]:
    tasks = extension_tasks(RunOptions(**options), facts, WORKDIR)
    assert len({task.subject for task in tasks}) == len(tasks)
    return {task.subject: task for task in tasks}


def test_installed_packages_and_what_all_torch_has() -> None:
    tasks = _tasks(_facts("flash-attn", "onnxruntime-gpu", "requests"))
    standard = {f"ext:{one.name}" for one in OWN if one.depth == "standard"}
    assert set(tasks) == standard | {"ext:flash-attn", "ext:onnxruntime"}
    options = tasks["ext:onnxruntime"].options
    assert (options["distribution"], options["version"]) == ("onnxruntime-gpu", "1.0")
    assert tasks["ext:onnxruntime"].fresh
    assert not tasks["ext:flash-attn"].fresh


def test_deep_builds_against_torchs_headers_and_no_other_depth_does() -> None:
    deep = _tasks(_facts(), depth="deep")
    assert deep["ext:cpp-extension"].deadline_seconds == 240
    assert "ext:cpp-extension" not in _tasks(_facts())
    assert "ext:torch-compile" not in _tasks(_facts())


def test_quick_tries_only_what_was_named() -> None:
    tasks = _tasks(_facts("torchvision"), depth="quick", extensions=("mine.kernels:check",))
    assert list(tasks) == ["ext:mine.kernels"]
    assert tasks["ext:mine.kernels"].options["callable"] == "check"
    assert tasks["ext:mine.kernels"].options["named"] is True


def test_a_named_module_of_the_table_is_tried_once_with_its_line() -> None:
    tasks = _tasks(_facts("flash-attn"), extensions=("flash_attn", "transformer_engine:go"))
    assert tasks["ext:flash-attn"].options["named"] is True
    assert tasks["ext:flash-attn"].options["callable"] is None
    assert tasks["ext:transformer-engine"].options["callable"] == "go"
    assert "named" not in tasks["ext:triton"].options
    assert list(tasks)[:2] == ["ext:flash-attn", "ext:transformer-engine"]


def test_only_extensions_at_quick_depth_tries_all() -> None:
    tasks = _tasks(_facts("numba"), depth="quick", only=("extensions",))
    assert {"ext:numba", "ext:toolchain"} <= set(tasks)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("9.0", "sm_90"),
        ("12.1", "sm_121"),
        ("gfx90a:sramecc+:xnack-", "gfx90a"),
        (None, None),
        ("", None),
        ("hopper", None),
    ],
)
def test_names_of_architectures(text: str | None, name: str | None) -> None:
    assert architecture_of(text) == name


def test_kernels_are_compiled_for_the_devices_else_for_common_ones() -> None:
    facts = _facts(architectures=("8.6", "9.0", "8.6"))
    assert wanted_architectures("auto", facts) == ("sm_86", "sm_90")
    assert wanted_architectures("rocm", _facts()) == ("gfx942",)
    assert wanted_architectures("cpu", _facts()) == ("sm_90", "gfx942")
    assert _tasks(facts, backend="cpu")["ext:nvrtc"].options["devices"] == 0
    assert _tasks(facts)["ext:nvrtc"].options["devices"] == 3


def test_more_to_do_is_expected_to_take_longer() -> None:
    few = extension_tasks(RunOptions(), _facts(), WORKDIR)
    many = extension_tasks(RunOptions(depth="deep"), _facts("vllm", "jax"), WORKDIR)
    assert 0 < expected_seconds(few, _facts()) < 30
    assert expected_seconds(many, _facts()) > expected_seconds(few, _facts()) + 10


def test_every_line_of_the_table_can_be_tried() -> None:
    for one in EXTENSIONS:
        assert one.operation
        module, function = one.operation.split(":")
        source = Path(__file__).parent.parent / "probes" / f"{module}.py"
        assert f"def {function}(" in source.read_text()
        assert row(one.name) == one
    assert len({one.name for one in EXTENSIONS}) == len(EXTENSIONS)
    assert all(one.distributions and one.modules for one in PACKAGES)
    # What runs on a GPU only cannot have been proven without one.
    assert not [one.name for one in EXTENSIONS if one.needs_gpu and "cpu" in one.proven]
