# ruff: noqa: E501  (a row stays on one line)
"""What NVIDIA's Xid numbers mean, and whose business each is."""

from __future__ import annotations

from typing import NamedTuple


class Xid(NamedTuple):
    """One Xid number; `cause` is application, driver, hardware, or "" where it is not known."""

    number: int
    name: str  # as the driver's header has it
    meaning: str
    cause: str
    action: str  # the vendor's own bucket: RESTART_APP, RESET_GPU, RESTART_BM, ...
    source: str


_SOURCE = "open-gpu-kernel-modules nverror.h 595.45.04; NVIDIA/NVSentinel xiderrorsmapping.csv"

_ROWS = """\
8|ROBUST_CHANNEL_FIFO_ERROR_IDLE_TIMEOUT|GPU stopped processing|application|RESTART_APP
11|ROBUST_CHANNEL_GR_ERROR_MISSING_HW|Invalid or corrupted push buffer|driver|RESTART_APP
13|ROBUST_CHANNEL_GR_EXCEPTION|Graphics engine exception|application|RESTART_APP
14|ROBUST_CHANNEL_FAKE_ERROR|||IGNORE
16|ROBUST_CHANNEL_VBLANK_CALLBACK_TIMEOUT|Display vblank timeout|driver|CONTACT_SUPPORT
19|ROBUST_CHANNEL_DISP_MISSED_NOTIFIER|||
20|ROBUST_CHANNEL_MPEG_ERROR_SW_METHOD|||
21|ROBUST_CHANNEL_ME_ERROR_SW_METHOD|||
22|ROBUST_CHANNEL_VP_ERROR_SW_METHOD|Video or image engine error|application|CONTACT_SUPPORT
23|ROBUST_CHANNEL_RC_LOGGING_ENABLED|||
25|ROBUST_CHANNEL_GR_ILLEGAL_NOTIFY|Invalid push buffer|driver|RESTART_APP
26|ROBUST_CHANNEL_FIFO_ERROR_FBISTATE_TIMEOUT|||
27|ROBUST_CHANNEL_VP_ERROR|Video or image engine error|application|CONTACT_SUPPORT
28|ROBUST_CHANNEL_VP2_ERROR|Video or image engine error|application|CONTACT_SUPPORT
29|ROBUST_CHANNEL_BSP_ERROR|Video or image engine error|application|CONTACT_SUPPORT
30|ROBUST_CHANNEL_UNUSED_ERROR_30|||
31|ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT|MMU fault|application|RESTART_APP
32|ROBUST_CHANNEL_PBDMA_ERROR|Push buffer DMA error|driver|RESTART_APP
33|ROBUST_CHANNEL_SEC_ERROR|||
34|ROBUST_CHANNEL_MSVLD_ERROR|Video or image engine error|application|CONTACT_SUPPORT
35|ROBUST_CHANNEL_MSPDEC_ERROR|Video or image engine error|application|CONTACT_SUPPORT
36|ROBUST_CHANNEL_MSPPP_ERROR|Video or image engine error|application|CONTACT_SUPPORT
37|ROBUST_CHANNEL_FECS_ERR_UNIMP_FIRMWARE_METHOD|||IGNORE
38|ROBUST_CHANNEL_FECS_ERR_WATCHDOG_TIMEOUT|Firmware engine watchdog|driver|IGNORE
39|ROBUST_CHANNEL_CE0_ERROR|Copy engine error|application|RESTART_APP
40|ROBUST_CHANNEL_CE1_ERROR|Copy engine error|application|RESTART_APP
41|ROBUST_CHANNEL_CE2_ERROR|Copy engine error|application|RESTART_APP
42|ROBUST_CHANNEL_VIC_ERROR|Video or image engine error|application|CONTACT_SUPPORT
43|ROBUST_CHANNEL_RESETCHANNEL_VERIF_ERROR|Channel reset, process stopped|application|IGNORE
44|ROBUST_CHANNEL_GR_FAULT_DURING_CTXSW|Fault during context switch|driver|IGNORE
45|ROBUST_CHANNEL_PREEMPTIVE_REMOVAL|Channels cleaned up early|application|WORKFLOW_XID_45
46|ROBUST_CHANNEL_GPU_TIMEOUT_ERROR|GPU stopped answering|hardware|RESET_GPU
47|ROBUST_CHANNEL_NVENC0_ERROR|Video encoder error|driver|CONTACT_SUPPORT
48|ROBUST_CHANNEL_GPU_ECC_DBE|Double-bit ECC error|hardware|WORKFLOW_XID_48
54|SILENT_RUNNING_PWR_REDUCED_CLOCKING|Extra power cable|hardware|CHECK_MECHANICALS
56|DISPLAY_CHANNEL_EXCEPTION|Display engine error|driver|CONTACT_SUPPORT
57|FB_LINK_TRAINING_FAILURE_ERROR|Memory link training failed|hardware|CONTACT_SUPPORT
58|FB_MEMORY_ERROR|Frame buffer memory error|hardware|CONTACT_SUPPORT
59|PMU_ERROR|Internal controller error|hardware|CONTACT_SUPPORT
60|ROBUST_CHANNEL_SEC2_ERROR|Video processor exception|driver|RESTART_APP
61|PMU_BREAKPOINT|Internal controller breakpoint|hardware|CONTACT_SUPPORT
62|PMU_HALT_ERROR|Internal controller halt|hardware|RESET_GPU
63|INFOROM_PAGE_RETIREMENT_EVENT|Row remap or page retirement recorded|hardware|IGNORE
64|INFOROM_PAGE_RETIREMENT_FAILURE|Row remap or page retirement failed|hardware|RESET_GPU
65|ROBUST_CHANNEL_NVENC1_ERROR|Video encoder exception|driver|CONTACT_SUPPORT
66|ROBUST_CHANNEL_FECS_ERR_REG_ACCESS_VIOLATION|Illegal register access by driver firmware|driver|IGNORE
67|ROBUST_CHANNEL_FECS_ERR_VERIF_VIOLATION|||IGNORE
68|ROBUST_CHANNEL_NVDEC0_ERROR|Video decoder exception|application|RESTART_APP
69|ROBUST_CHANNEL_GR_CLASS_ERROR|Graphics class error|application|RESTART_APP
70|ROBUST_CHANNEL_CE3_ERROR|Copy engine error|application|RESTART_APP
71|ROBUST_CHANNEL_CE4_ERROR|Copy engine error|application|RESTART_APP
72|ROBUST_CHANNEL_CE5_ERROR|Copy engine error|application|RESTART_APP
73|ROBUST_CHANNEL_NVENC2_ERROR|Video encoder error|driver|CONTACT_SUPPORT
74|NVLINK_ERROR|NVLink error|hardware|WORKFLOW_NVLINK_ERR
75|ROBUST_CHANNEL_CE6_ERROR|Copy engine error|application|RESTART_APP
76|ROBUST_CHANNEL_CE7_ERROR|Copy engine error|application|RESTART_APP
77|ROBUST_CHANNEL_CE8_ERROR|Copy engine error|application|RESTART_APP
78|VGPU_START_ERROR|vGPU start error|driver|UPDATE_SWFW
79|ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS|GPU has fallen off the bus|hardware|RESTART_BM
80|PBDMA_PUSHBUFFER_CRC_MISMATCH|Push buffer checksum mismatch|hardware|RESTART_APP
81|ROBUST_CHANNEL_VGA_SUBSYSTEM_ERROR|VGA subsystem error|hardware|CONTACT_SUPPORT
82|ROBUST_CHANNEL_NVJPG0_ERROR|Video or image engine error|application|RESTART_APP
83|ROBUST_CHANNEL_NVDEC1_ERROR|Video or image engine error|application|RESTART_APP
84|ROBUST_CHANNEL_NVDEC2_ERROR|Video or image engine error|application|RESTART_APP
85|ROBUST_CHANNEL_CE9_ERROR|Copy engine error|application|RESTART_APP
86|ROBUST_CHANNEL_OFA0_ERROR|Video or image engine error|application|RESTART_APP
87|NVTELEMETRY_DRIVER_REPORT|||
88|ROBUST_CHANNEL_NVDEC3_ERROR|Video or image engine error|application|RESTART_APP
89|ROBUST_CHANNEL_NVDEC4_ERROR|Video or image engine error|application|RESTART_APP
90|LTC_ERROR|||
91|RESERVED_XID|||
92|EXCESSIVE_SBE_INTERRUPTS|Very many corrected ECC errors|hardware|IGNORE
93|INFOROM_ERASE_LIMIT_EXCEEDED|InfoROM erase limit|hardware|IGNORE
94|ROBUST_CHANNEL_CONTAINED_ERROR|Contained ECC error|hardware|RESTART_APP
95|ROBUST_CHANNEL_UNCONTAINED_ERROR|Uncontained ECC error|hardware|RESET_GPU
96|ROBUST_CHANNEL_NVDEC5_ERROR|Video or image engine error|application|RESTART_APP
97|ROBUST_CHANNEL_NVDEC6_ERROR|Video or image engine error|application|RESTART_APP
98|ROBUST_CHANNEL_NVDEC7_ERROR|Video or image engine error|application|RESTART_APP
99|ROBUST_CHANNEL_NVJPG1_ERROR|Video or image engine error|application|RESTART_APP
100|ROBUST_CHANNEL_NVJPG2_ERROR|Video or image engine error|application|RESTART_APP
101|ROBUST_CHANNEL_NVJPG3_ERROR|Video or image engine error|application|RESTART_APP
102|ROBUST_CHANNEL_NVJPG4_ERROR|Video or image engine error|application|RESTART_APP
103|ROBUST_CHANNEL_NVJPG5_ERROR|Video or image engine error|application|RESTART_APP
104|ROBUST_CHANNEL_NVJPG6_ERROR|Video or image engine error|application|RESTART_APP
105|ROBUST_CHANNEL_NVJPG7_ERROR|Video or image engine error|application|RESTART_APP
106|SMBPBI_TEST_MESSAGE|||
107|SMBPBI_TEST_MESSAGE_SILENT|||
108|NVLINK_REMOTE_TRANSLATION_ERROR|Remote NVLink address translation error|driver|CONTACT_SUPPORT
109|ROBUST_CHANNEL_CTXSW_TIMEOUT_ERROR|Context switch timeout|application|RESET_GPU
110|SEC_FAULT_ERROR|Security fault|hardware|RESET_GPU
111|BUNDLE_ERROR_EVENT|||
112|DISP_SUPERVISOR_ERROR|||
119|GSP_RPC_TIMEOUT|GSP RPC timeout|driver|RESET_GPU
120|GSP_ERROR|GSP error|driver|RESET_GPU
121|C2C_ERROR|C2C link error|hardware|IGNORE
122|SPI_PMU_RPC_READ_FAIL|SPI read failure|hardware|CONTACT_SUPPORT
123|SPI_PMU_RPC_WRITE_FAIL|SPI write failure|hardware|CONTACT_SUPPORT
124|SPI_PMU_RPC_ERASE_FAIL|SPI erase failure|hardware|CONTACT_SUPPORT
125|INFOROM_FS_ERROR|InfoROM file system error|hardware|CONTACT_SUPPORT
126|ROBUST_CHANNEL_CE10_ERROR|Copy engine error|application|RESTART_APP
127|ROBUST_CHANNEL_CE11_ERROR|Copy engine error|application|RESTART_APP
128|ROBUST_CHANNEL_CE12_ERROR|Copy engine error|application|RESTART_APP
129|ROBUST_CHANNEL_CE13_ERROR|Copy engine error|application|RESTART_APP
130|ROBUST_CHANNEL_CE14_ERROR|Copy engine error|application|RESTART_APP
131|ROBUST_CHANNEL_CE15_ERROR|Copy engine error|application|RESTART_APP
132|ROBUST_CHANNEL_CE16_ERROR|Copy engine error|application|RESTART_APP
133|ROBUST_CHANNEL_CE17_ERROR|Copy engine error|application|RESTART_APP
134|ROBUST_CHANNEL_CE18_ERROR|Copy engine error|application|RESTART_APP
135|ROBUST_CHANNEL_CE19_ERROR|Copy engine error|application|RESTART_APP
136|ALI_TRAINING_FAIL|NVLink training failed|hardware|RESET_GPU
137|NVLINK_PRIV_ERR|NVLink privilege or access fault|application|IGNORE
138|ROBUST_CHANNEL_DLA_ERROR|DLA error|driver|CONTACT_SUPPORT
139|ROBUST_CHANNEL_OFA1_ERROR|Video or image engine error|application|RESTART_APP
140|UNRECOVERABLE_ECC_ERROR_ESCAPE|Unrecovered ECC error|hardware|RESET_GPU
141|ROBUST_CHANNEL_FAST_PATH_ERROR|Fast-path error|driver|IGNORE
142|ROBUST_CHANNEL_NVENC3_ERROR|Video encoder error|driver|CONTACT_SUPPORT
143|GPU_INIT_ERROR|GPU init failed|hardware|RESET_GPU
144|NVLINK_SAW_ERROR|NVLink 5 SAW error|hardware|WORKFLOW_NVLINK5_ERR
145|NVLINK_RLW_ERROR|NVLink 5 RLW error|hardware|WORKFLOW_NVLINK5_ERR
146|NVLINK_TLW_ERROR|NVLink 5 TLW error|hardware|WORKFLOW_NVLINK5_ERR
147|NVLINK_TREX_ERROR|NVLink 5 TREX error|hardware|WORKFLOW_NVLINK5_ERR
148|NVLINK_NVLPW_CTRL_ERROR|NVLink 5 control error|hardware|WORKFLOW_NVLINK5_ERR
149|NVLINK_NETIR_ERROR|NVLink 5 NETIR error|hardware|WORKFLOW_NVLINK5_ERR
150|NVLINK_MSE_ERROR|NVLink 5 MSE error|hardware|WORKFLOW_NVLINK5_ERR
151|ROBUST_CHANNEL_KEY_ROTATION_ERROR|Key rotation error|driver|RESTART_VM
152|RESERVED7_ERROR|||
153|RESERVED8_ERROR|||
154|GPU_RECOVERY_ACTION_CHANGED|Recovery action changed|driver|FOLLOW_OTHER_XID
155|NVLINK_SW_DEFINED_ERROR|NVLink software-defined error|hardware|RESET_GPU
156|RESOURCE_RETIREMENT_EVENT|Resource retirement event|hardware|RESET_GPU
157|RESOURCE_RETIREMENT_FAILURE|Resource retirement failed|hardware|IGNORE
158|GPU_FATAL_TIMEOUT|GPU fatal timeout|hardware|RESET_GPU
159|ROBUST_CHANNEL_CHI_NON_DATA_ERROR|CHI non-data error|driver|CHECK_UVM
160|CHANNEL_RETIREMENT_EVENT|Channel retirement event|hardware|RESTART_BM
161|CHANNEL_RETIREMENT_FAILURE|Channel retirement failed|hardware|IGNORE
162|ISINK_REENGAGED|Power smoothing sink re-engaged|hardware|RESET_GPU
163|ISINK_DISENGAGED|Power smoothing sink off|hardware|
164|ISINK_LOW_LIFETIME|Power smoothing sink life low|hardware|
165|ISINK_ZERO_LIFETIME|Power smoothing sink life used up|hardware|
166|NVLINK_SECURE_NVLE_ERROR|Secure NVLink encryption error|driver|
167|PCIE_FATAL_TIMEOUT|PCIe fatal timeout|hardware|
168|REDUCED_GPU_MEMORY_CAPACITY|Less GPU memory than the model has|hardware|
169|SEC2_HALT_ERROR|SEC2 halt|hardware|
170|NVLINK_SECURE_ERROR|Secure NVLink error|driver|
171|UNCORRECTABLE_DRAM_ERROR|Uncorrectable DRAM error|hardware|
172|UNCORRECTABLE_SRAM_ERROR|Uncorrectable SRAM error|hardware|
173|C2C_FATAL_LINK_FAILURE|C2C fatal link failure|hardware|
174|ROBUST_CHANNEL_RESETCHANNEL_KILL_PROCESS_SILENT|Process killed quietly by the driver|application|
175|MEMORY_SUBSYSTEM_ERROR|Memory subsystem error|hardware|
176|PCIE_CORRECTABLE_ERROR_FAULT|PCIe correctable error fault|hardware|
"""


def _row(line: str) -> Xid:
    number, name, meaning, cause, action = line.split("|")
    return Xid(int(number), name, meaning, cause, action, _SOURCE)


XIDS: tuple[Xid, ...] = tuple(_row(line) for line in _ROWS.splitlines())
_BY_NUMBER = {row.number: row for row in XIDS}


def xid(number: int) -> Xid | None:
    """The row of a number, or None."""
    return _BY_NUMBER.get(number)
