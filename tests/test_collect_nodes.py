from __future__ import annotations

import os
import signal
import stat
import time
from pathlib import Path

import pytest

from agent.collect.nodes import open_and_close, read_nodes, try_to_open
from agent.collect.tree import Tree, open_tree

from . import host_trees
from .host_trees import bare, plant


def test_nodes_of_a_machine_with_eight_gpus(tmp_path: Path) -> None:
    files, stated = host_trees.eight_gpus()
    found, gaps = read_nodes(open_tree(plant(tmp_path, files, **stated)))
    nodes = {node.path: node for node in found}
    assert [path for path in nodes if path.startswith("/dev/nvidia")] == [
        "/dev/nvidiactl",
        "/dev/nvidia-uvm",
        *(f"/dev/nvidia{number}" for number in range(8)),
    ]
    assert nodes["/dev/nvidia7"].openable is True
    assert (nodes["/dev/nvidia7"].major, nodes["/dev/nvidia7"].minor) == (195, 7)
    assert nodes["/dev/kfd"].present is False
    assert gaps == ()


def test_a_cgroup_refuses_what_the_mode_allows(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    found, _ = read_nodes(open_tree(plant(tmp_path, files, **stated)))
    refused = next(node for node in found if node.path == "/dev/nvidia5")
    assert (refused.mode, refused.openable, refused.error) == ("0666", False, "EPERM")


def test_render_nodes_without_the_group(tmp_path: Path) -> None:
    files, stated = host_trees.amd()
    found, _ = read_nodes(open_tree(plant(tmp_path, files, **stated)))
    kfd = next(node for node in found if node.path == "/dev/kfd")
    assert (kfd.group, kfd.openable, kfd.error) == ("render", False, "EACCES")
    assert [n.path for n in found if n.path.startswith("/dev/dri")] == [
        "/dev/dri/renderD128",
        "/dev/dri/renderD129",
    ]


def test_a_plain_file_in_a_tree_is_a_node_of_unknown_use(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, bare() | {"/dev/nvidia0": "", "/dev/nvidia10": ""}))
    found, gaps = read_nodes(tree)
    assert [n.path for n in found if n.present] == ["/dev/nvidia0", "/dev/nvidia10"]
    assert all(node.openable is None for node in found)
    assert any(gap.why.startswith("openable: not stated") for gap in gaps)


def test_a_node_behind_a_closed_folder_is_there_but_not_described(tmp_path: Path) -> None:
    files = bare() | {"/dev/nvidiactl": "-> nvidiactl"}  # a circle: stat() fails, not as "absent"
    found, gaps = read_nodes(open_tree(plant(tmp_path, files)))
    node = next(node for node in found if node.path == "/dev/nvidiactl")
    assert (node.present, node.mode) == (True, None)
    assert node.error is not None
    assert any(gap.why.startswith("mode, owner, group, major and minor: ") for gap in gaps)


def test_more_capability_nodes_than_are_shown(tmp_path: Path) -> None:
    caps = {f"/dev/nvidia-caps/nvidia-cap{number}": "" for number in range(1, 101)}
    found, gaps = read_nodes(open_tree(plant(tmp_path, bare() | caps)))
    assert sum("nvidia-cap" in node.path for node in found) == 64
    assert any("36 further nodes" in gap.why for gap in gaps)


def test_opening_is_really_tried(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    results = try_to_open(["/dev/null", str(tmp_path / "gone"), str(folder)])
    assert results == {"/dev/null": "ok", str(tmp_path / "gone"): "ENOENT", str(folder): "EISDIR"}


def test_a_capability_node_is_opened_for_reading_only(tmp_path: Path) -> None:
    caps = tmp_path / "nvidia-caps"
    caps.mkdir()
    # A directory opens for reading and not for writing, also for root.
    assert open_and_close(str(caps)) == "EISDIR"
    (caps / "nvidia-cap1").mkdir()
    assert open_and_close(str(caps / "nvidia-cap1")) == "ok"


def test_a_driver_that_hangs_costs_the_time_limit_and_no_more() -> None:
    def opening(path: str) -> str:
        if path == "/dev/nvidia0":
            time.sleep(60)
        return "ok"

    start = time.monotonic()
    results = try_to_open(["/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1"], 0.3, opening)
    assert time.monotonic() - start < 5
    assert results == {"/dev/nvidiactl": "ok"}
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_child_that_dies_in_the_driver_leaves_the_rest_unknown() -> None:
    def opening(path: str) -> str:
        if path == "/dev/nvidia0":
            os.kill(os.getpid(), signal.SIGKILL)
        return "EACCES"

    assert try_to_open(["/dev/nvidiactl", "/dev/nvidia0"], 5, opening) == {
        "/dev/nvidiactl": "EACCES"
    }


def test_a_signal_to_the_group_does_not_run_the_agents_handler_in_the_child() -> None:
    ran: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: ran.append(os.getpid()))

    def opening(path: str) -> str:
        os.kill(os.getpid(), signal.SIGUSR1)
        return "ok" if ran == [] else "EIO"

    try:
        assert try_to_open(["/dev/null"], 5, opening) == {"/dev/null": "ok"}
        os.kill(os.getpid(), signal.SIGUSR1)
        assert ran == [os.getpid()]  # and the agent itself is as reachable as before
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_no_child_is_left_behind() -> None:
    try_to_open(["/dev/null"])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_the_living_nodes_are_described() -> None:
    found, _ = read_nodes(Tree())
    for node in found:
        exists = Path(node.path).exists()
        assert node.present == exists
        if exists:
            assert stat.S_IMODE(Path(node.path).stat().st_mode) == int(node.mode or "", 8)
            assert node.openable is not None
