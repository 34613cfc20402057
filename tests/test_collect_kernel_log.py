from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.collect.kernel_log import (
    Record,
    event_of,
    events_of,
    nameless,
    newer_events,
    read_kernel_log,
    records_of_kmsg,
    records_of_text,
)
from agent.collect.tree import Tree, open_tree
from agent.model import KernelEvent, KernelLog

from . import host_trees
from .host_trees import bare, plant

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def only(text: str) -> KernelEvent:
    events, _ = events_of(records_of_text(text))
    assert len(events) == 1, events
    return events[0]


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[12345.678901] ",
        "[ 130.456250] [ T1946] ",
        "[   12.000001] [   C7] ",
        "<4>[ 1126.588387] ",
        "[Sun Feb 23 16:24:18 2025] ",
        "[Sun Feb  2 16:24:18 2025] ",
        "kernel: ",
        "Oct  7 12:58:23 host1 kernel: ",
        "Oct 17 12:58:23 host1 kernel: [ 2237.944235] ",
        "2025-01-21T04:41:44.283302+00:00 host1 kernel: ",
        "kern  :warn  : 2025-01-21T04:41:44,283302+00:00 ",
    ],
)
def test_every_way_to_print_a_log_gives_the_same_event(prefix: str) -> None:
    event = only(prefix + XID + "\n")
    assert (event.kind, event.code, event.pci_address) == ("xid", 79, "0000:3b:00.0")
    assert event.text.startswith("NVRM: Xid (PCI:0000:3b:00): 79")


@pytest.mark.parametrize(
    ("prefix", "seconds"),
    [("[12345.678901] ", 12345.678901), ("Oct 17 12:58:23 h kernel: [ 7.5] ", 7.5), ("", None)],
)
def test_the_time_since_boot_where_it_is_printed(prefix: str, seconds: float | None) -> None:
    assert only(prefix + XID).at_seconds == seconds


@pytest.mark.parametrize(
    ("text", "kind", "code", "address"),
    [
        (
            "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x02 0x0)",
            "xid", 149, "0009:01:00.0",
        ),
        (
            "NVRM: Xid (PCI:0000:dc:00): 45, pid=18, name=python3, Ch 1 caused by previous Xid 149",
            "xid", 45, "0000:dc:00.0",
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
            "sxid", 20034, "0000:a9:00.0",
        ),
        ("NVRM: GPU 0000:07:00.0: RmInitAdapter failed! (0x61:0x56)", "nvrm", None, "0000:07:00.0"),
        (
            "nvidia 0000:07:00.0: Direct firmware load for nvidia/570.1/gsp_ga10x.bin failed",
            "nvrm", None, "0000:07:00.0",
        ),
        ("nvidia-uvm: Failed to register", "nvidia-uvm", None, None),
        (
            "amdgpu 0000:c6:00.0: amdgpu: uncorrectable hardware error detected!",
            "amdgpu", None, "0000:c6:00.0",
        ),
        ("[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma1 timeout", "amdgpu", None, None),
        (
            "kfd kfd: amdgpu: skipped device 1002:66af, PCI rejects atomics 730<0",
            "kfd", None, None,
        ),
        ("Memory cgroup out of memory: Killed process 7 (python3) total-vm:9kB", "oom", None, None),
        (
            "pcieport 0000:00:01.1: AER: Uncorrected (Fatal) error received: 0000:01:00.0",
            "aer", None, "0000:00:01.1",
        ),
        ("mce: [Hardware Error]: Machine check events logged", "mce", None, None),
        ("EDAC MC0: 1 UE memory read error on CPU_SrcID#0", "mce", None, None),
        (
            "train[9]: segfault at 7f ip 00 sp 00 error 4 in libnccl.so.2[7f00+d300]",
            "segfault", None, None,
        ),
        ("Lockdown: modprobe: unsigned module loading is restricted", "lockdown", None, None),
        (
            "pci 0000:04:00.0: 252.0 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16"
            " link at 0000:01:00.0",
            "pci", None, "0000:04:00.0",
        ),
        ("pci 0000:01:00.0: BAR 1: no space for [mem size 0x1000000000]", "pci", None,
         "0000:01:00.0"),
    ],
)  # fmt: skip
def test_kinds(text: str, kind: str, code: int | None, address: str | None) -> None:
    event = event_of(Record(text))
    assert event is not None
    assert (event.kind, event.code, event.pci_address) == (kind, code, address)


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.144.03  Mon Dec 30 17:44:08 UTC 2024",
        "NVRM: GPU at PCI:0000:2a:00: GPU-00000000-0000-4000-8000-000000000000",
        "NVRM: GPU Board Serial Number: 1650000000001",
        "NVRM:     -1    103  GSP_RM_ALLOC          0x0000000000002080 0x0000000000000004",
        "NVRM: GPU4 RPC history (CPU -> GSP):",
        "nvidia: module license 'NVIDIA' taints kernel.",
        "nvidia: module verification failed: signature and/or required key missing - tainting",
        "nvidia-uvm: Loaded the UVM driver, major device number 505.",
        "nvidia-nvswitch2: open (major=510)",
        "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Data {0x50610002, 0x10100030}",
        "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Severity 0 Engine instance 46",
        "amdgpu 0000:e3:00.0: amdgpu: MEM ECC is active.",
        "pcieport 0000:00:01.1: AER: enabled with IRQ 28",
        "browser[77]: segfault at 0 ip 00 sp 00 error 4 in libxul.so[7f00+1]",
        "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
        "{3}[Hardware Error]: event severity: corrected",
    ],
)
def test_what_a_healthy_machine_says_is_no_event(text: str) -> None:
    assert event_of(Record(text)) is None


def test_records_that_a_program_wrote_are_not_believed() -> None:
    forged = "11,22625,652513086584,-;" + XID
    real = "4,22626,652513086585,-;" + XID
    assert records_of_kmsg(forged + "\n") == []
    assert [record.at_seconds for record in records_of_kmsg(real)] == [652513.086585]


def test_a_message_of_several_lines_is_one_record_in_every_log() -> None:
    whole = (
        "NVRM: API mismatch: the client has the version 535.54.03, but "
        "this kernel module has the version 530.30.02.  Please"
    )
    first, second = whole.split(" this kernel")
    second = "this kernel" + second
    dmesg = f"[ 7.5] {first}\n       NVRM: {second}\n"
    syslog = f"Jun 30 11:07:05 gpu-0 kernel: {first}#012NVRM: {second}\n"
    kmsg = f"3,1,7500000,-;{first}\\x0aNVRM: {second}\n SUBSYSTEM=pci\n DEVICE=+pci:0\n"
    assert [record.text for record in records_of_text(dmesg)] == [whole]
    assert [record.text for record in records_of_text(syslog)] == [whole]
    assert [record.text for record in records_of_kmsg(kmsg)] == [whole]


def test_lines_of_other_programs_in_a_syslog_are_not_the_kernels() -> None:
    text = f"Aug 17 00:00:24 node-1 docker[12]: {XID}\nAug 17 00:00:25 node-1 kernel: {XID}\n"
    assert len(records_of_text(text)) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "NVRM: Xid (PCI:0000:01:00): 43, pid=12, name=secretname, Ch 00000018",
            "NVRM: Xid (PCI:0000:01:00): 43, pid=12, Ch 00000018",
        ),
        (
            "NVRM: Xid (PCI:0000:01:00): 31, pid=12, name=ray::secretname",
            "NVRM: Xid (PCI:0000:01:00): 31, pid=12",
        ),
        (
            "NVRM: API mismatch: the client 'secretname' (pid 1005) has the version 595.84",
            "NVRM: API mismatch: the client (pid 1005) has the version 595.84",
        ),
        (
            "Out of memory: Kill process 456 (secretname) score 50 or sacrifice child",
            "Out of memory: Kill process 456 score 50 or sacrifice child",
        ),
        ("Out of memory: Killed process 12, UID 48, (secretname).",
         "Out of memory: Killed process 12."),
        (
            "oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/x,task=secretname,pid=77,uid=0",
            "oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/x,pid=77,uid=0",
        ),
        ("secretname invoked oom-killer: order=0", "a process invoked oom-killer: order=0"),
        ("secretname[7]: segfault at 0 in libcuda.so", "pid 7: segfault at 0 in libcuda.so"),
        (
            "traps: secretname[7] general protection fault ip:1 in libtorch.so",
            "pid 7: general protection fault ip:1 in libtorch.so",
        ),
        (
            "page fault (src_id:0 ring:24, for process secretname pid 12 thread secretname pid 13)",
            "page fault (src_id:0 ring:24, for process pid 12)",
        ),
    ],
)  # fmt: skip
def test_names_of_processes_are_left_out(text: str, shown: str) -> None:
    assert nameless(text) == shown


def test_a_storm_is_counted_and_other_devices_are_kept_apart() -> None:
    storm = "".join(
        f"[{n}.5] NVRM: Xid (PCI:0000:{bus}:00): 31, pid={n}, name=a, Ch {n:08x}, intr {n}\n"
        for n in range(10, 40)
        for bus in ("01", "02")
    )
    events, more = events_of(records_of_text(storm))
    assert more == 0
    assert [(e.pci_address, e.at_seconds) for e in events[:2]] == [
        ("0000:01:00.0", 10.5),
        ("0000:02:00.0", 10.5),
    ]
    assert sum(event.count for event in events) == 60
    assert len(events) < 20  # "Ch 0000000a" holds a letter, so it does not equal "Ch 00000010"


def test_what_came_between_two_readings() -> None:
    def log(text: str) -> KernelLog:
        return KernelLog(readable=True, events=events_of(records_of_text(text))[0])

    old = "[1.5] NVRM: Xid (PCI:0000:01:00): 31, pid=7, Ch 00000001\n"
    again = "[9.5] NVRM: Xid (PCI:0000:01:00): 31, pid=8, Ch 00000002\n"
    other = "[9.6] NVRM: Xid (PCI:0000:02:00): 31, pid=8, Ch 00000002\n"
    newer = newer_events(log(old), log(old + again + again + other))
    assert [(event.pci_address, event.count) for event in newer] == [
        ("0000:01:00.0", 2),
        ("0000:02:00.0", 1),
    ]
    assert newer_events(log(old), log(old)) == ()


def test_there_is_an_end_to_what_is_kept() -> None:
    letters = [f"{a}{b}{c}" for a in "ghijklmnop" for b in "ghijklmnop" for c in "ghijklmnop"]
    text = "".join(f"[1.5] NVRM: failure {word} of the adapter\n" for word in letters)
    events, more = events_of(records_of_text(text))
    assert (len(events), more) == (200, 800)
    long = event_of(Record("NVRM: error " + "x" * 5000))
    assert long is not None
    assert len(long.text) == 400


def test_a_closed_log_is_a_gap(tmp_path: Path) -> None:
    root = plant(tmp_path, bare(), refused={"/dev/kmsg": "EPERM"})
    log, gaps = read_kernel_log(open_tree(root))
    assert log.readable is False
    assert [gap.pointer for gap in gaps] == ["/facts/kernel_log"]
    assert "EPERM" in gaps[0].why


def test_a_recorded_tree_may_hold_a_print_instead(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    files["/var/log/kern.log"] = f"Oct  7 12:58:23 host1 kernel: {XID}\n"
    log, gaps = read_kernel_log(open_tree(plant(tmp_path, files, **stated)))
    assert log.readable is True
    assert [event.code for event in log.events] == [79]
    assert gaps[0].why.startswith("at_seconds: ")


def test_the_living_log_is_read_or_refused() -> None:
    log, gaps = read_kernel_log(Tree())
    assert log.readable or gaps[0].pointer == "/facts/kernel_log"


@given(some.text(alphabet="NVRM: Xid(PC0:a,);-\\x\n[]kernlamdgpu.", max_size=200))
def test_any_text_can_stand_in_a_log(text: str) -> None:
    for records in (records_of_text(text), records_of_kmsg(text)):
        events, _ = events_of(records)
        assert sum(event.count for event in events) <= len(records)
