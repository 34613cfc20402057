from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.collect.limits import controllers, read_limits
from agent.collect.tree import open_tree
from agent.model import Limits

from . import host_trees
from .gap_law import pointers
from .host_trees import GIB, NO_LIMIT_V1, Files, bare, more_mounts, plant


def limits(tmp_path: Path, files: Files, **stated: Any) -> tuple[Limits, dict[str, str]]:
    found, gaps = read_limits(open_tree(plant(tmp_path, files, **stated)))
    return found, dict(pointers(gaps))


def test_a_container_in_its_own_namespace_reads_the_mount_point(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    found, gaps = limits(tmp_path, files, **stated)
    assert found.cgroup_version == 2
    assert found.memory_limit_bytes == 96 * GIB
    assert found.memory_used_bytes == 10 * GIB  # 13 less 3 of file cache that can be dropped
    assert found.swap_limit_bytes == 0
    assert found.oom_kill_count == 1
    assert found.cpu_quota_cores == 48
    assert (found.pids_limit, found.pids_used) == (629145, 77)
    assert (found.shm_total_bytes, found.shm_free_bytes) == (64 << 20, 64 << 20)
    assert gaps == {}


def test_the_tightest_parent_counts_not_the_leaf_that_says_max(tmp_path: Path) -> None:
    # As a pyxis/enroot step shows it: "max" at the leaf, the job's limit two levels above.
    files = bare()
    step = "/system.slice/n1_slurmstepd.scope/job_7/step_0/user"
    files["/proc/self/cgroup"] = f"0::{step}/task_0\n"
    here = "/sys/fs/cgroup" + step
    files[f"{here}/task_0/memory.max"] = "max\n"
    files[f"{here}/memory.max"] = f"{4 * GIB}\n"
    files["/sys/fs/cgroup/system.slice/memory.max"] = f"{8 * GIB}\n"
    files[f"{here}/memory.current"] = f"{GIB}\n"
    found, _ = limits(tmp_path, files)
    assert found.memory_limit_bytes == 4 * GIB
    assert found.memory_used_bytes == GIB


def test_version_1_controllers_stand_at_different_depths(tmp_path: Path) -> None:
    files, stated = host_trees.slurm_v1()
    found, gaps = limits(tmp_path, files, **stated)
    assert found.cgroup_version == 1
    assert found.memory_limit_bytes == 4 * GIB
    assert found.memory_used_bytes == GIB
    assert found.swap_limit_bytes == GIB  # 5 of memory and swap, less 4 of memory
    assert found.oom_kill_count == 3
    assert found.cpu_quota_cores == 2.5  # set above the step, whose own quota is -1
    assert (found.pids_limit, found.pids_used) == ("unlimited", 40)
    assert gaps == {}


def test_docker_on_version_1_without_a_namespace_shows_its_host_path(tmp_path: Path) -> None:
    files = bare()
    box = "/docker/c0ffee"
    files["/proc/self/cgroup"] = f"5:memory:{box}\n3:cpu:{box}\n"
    files["/proc/self/mountinfo"] = (
        "1 0 0:9 / / rw - overlay overlay rw\n"
        f"2 1 0:30 {box} /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        f"3 1 0:31 {box} /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
    )
    files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = f"{16 * GIB}\n"
    files["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = f"{GIB}\n"
    files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "150000\n"
    files["/sys/fs/cgroup/cpu/cpu.cfs_period_us"] = "100000\n"
    found, gaps = limits(tmp_path, files)
    assert found.memory_limit_bytes == 16 * GIB
    assert found.cpu_quota_cores == 1.5
    assert "not account for swap" in gaps["/facts/limits/swap_limit_bytes"]
    assert "pids controller" in gaps["/facts/limits/pids_limit"]


def test_a_path_outside_of_the_mount_leaves_the_mount_point(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    files["/proc/self/cgroup"] = "0::/../../other.scope\n"
    found, _ = limits(tmp_path, files, **stated)
    assert found.memory_limit_bytes == 96 * GIB


@pytest.mark.parametrize("huge", [NO_LIMIT_V1, "9223372036854710272\n", "9223372036854775807\n"])
def test_version_1_writes_no_limit_as_a_huge_number(huge: str, tmp_path: Path) -> None:
    files, stated = host_trees.slurm_v1()
    job = "/sys/fs/cgroup/memory/slurm/uid_1000/job_42"
    files[f"{job}/memory.limit_in_bytes"] = huge
    files[f"{job}/memory.memsw.limit_in_bytes"] = huge
    found, _ = limits(tmp_path, files, **stated)
    assert found.memory_limit_bytes == "unlimited"
    assert found.swap_limit_bytes == "unlimited"


def test_a_hybrid_machine_takes_each_controller_where_it_is(tmp_path: Path) -> None:
    files = bare()
    files["/proc/self/cgroup"] = "4:memory:/a\n0::/b\n"
    more_mounts(
        files,
        "30 22 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "31 22 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    )
    found = controllers(open_tree(plant(tmp_path, files)))
    assert found["memory"].version == 1
    assert found["memory"].directories == ("/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory")
    assert found["pids"].version == 2
    assert found["pids"].directories == ("/sys/fs/cgroup/unified/b", "/sys/fs/cgroup/unified")


def test_ulimits_are_numbers_or_unlimited(tmp_path: Path) -> None:
    found, _ = limits(tmp_path, bare(), **host_trees.BARE_STATED)
    assert (found.memlock_soft_bytes, found.memlock_hard_bytes) == (64 << 20, "unlimited")
    assert (found.nofile_soft, found.nofile_hard) == (1024, 1048576)
    assert found.nproc_soft == 1030000
    assert found.address_space_soft_bytes == "unlimited"
    assert found.core_soft_bytes == 0


def test_without_cgroup_files_each_field_says_why(tmp_path: Path) -> None:
    files, stated = host_trees.gvisor()
    found, gaps = limits(tmp_path, files, **stated)
    assert found.memory_limit_bytes is None
    assert "no cgroup file system" in gaps["/facts/limits/memory_limit_bytes"]
    assert "statvfs" in gaps["/facts/limits/shm_total_bytes"]
