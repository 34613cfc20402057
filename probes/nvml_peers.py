"""Which NVIDIA devices can read each other's memory, and over what?"""

from __future__ import annotations

from typing import Any

from .nvml_fields import P2P_STATUS, TOPOLOGY, ImplausibleError, among
from .report import Report


def read_peers(nvml: Any, report: Report, handles: Any) -> None:
    """Reports for each pair whether one device can read the other's memory, and over what."""
    peers = []
    for one, handle in handles.items():
        report.step("GPU %d: nvmlDeviceGetP2PStatus" % one)
        for other, second in handles.items():
            if one == other:
                continue
            entry = {"from": one, "to": other}
            for key, call, arguments, words in (
                ("path", "nvmlDeviceGetTopologyCommonAncestor", (), TOPOLOGY.get),
                ("access", "nvmlDeviceGetP2PStatus", (0,), among(P2P_STATUS)),
                ("nvlink", "nvmlDeviceGetP2PStatus", (2,), lambda code: code == 0),
            ):
                try:
                    entry[key] = words(getattr(nvml, call)(handle, second, *arguments))
                except (nvml.NVMLError, ImplausibleError, AttributeError):
                    continue
            peers.append(entry)
    report.data(peers=peers)
