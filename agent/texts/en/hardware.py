"""Texts for faults of the hardware."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "gpu-off-bus": Text(
        title="A GPU has fallen off the PCI bus",
        cause="The driver cannot reach the card any more: seating, power, heat, a riser, or a"
        " failing"
        " board. No software on this machine brings it back.",
        fix=(
            "Save what runs on the other GPUs; power the host off and on.",
            "If it comes back and falls again: temperature and power first, then seating, then"
            " the card.",
        ),
        message="A GPU has fallen off the bus (Xid 79 / GPU is lost). Please check seating,"
        " power and"
        " cooling, or give me another host.",
    ),
    "motherboard-fault": Text(
        title="The host's board is at fault, not the GPU",
        cause="The machine reports errors of its own bus or processor, or every card fails in"
        " the same"
        " place.",
        fix=(
            "Try the card in another slot or host; read the board's event log (ipmitool sel list).",
        ),
        message="The host reports hardware errors of its own (machine check, PCIe). Please"
        " check the"
        " board, or give me another host.",
    ),
    "gpu-needs-reset": Text(
        title="The GPU must be reset",
        cause="The driver says that this GPU takes no work until it is reset.",
        fix=("With nothing running on it: sudo nvidia-smi --gpu-reset -i <index>; else reboot.",),
        message="The GPU requires a reset. Please reset it or reboot the host.",
    ),
    "gpu-answers-with-errors": Text(
        title="The GPU does not answer some of the driver's questions",
        cause="nvidia-smi prints ERR! for several readings of one GPU: it hangs, is about to be"
        " lost,"
        " or needs a reset.",
        fix=(
            "dmesg | grep -i xid; reset the GPU (sudo nvidia-smi --gpu-reset -i <index>) or"
            " reboot.",
        ),
        message="nvidia-smi shows ERR! for several readings of a GPU. Please check or reset it.",
    ),
    "nvswitch-fault": Text(
        title="An NVSwitch reports a fatal error",
        cause="The kernel log holds a fatal SXid: traffic between GPUs over that switch fails.",
        fix=("Stop multi-GPU jobs; let the host be reset.",),
        message="The kernel log shows a fatal SXid of an NVSwitch. Please check the host.",
    ),
    "gpu-hardware-fault": Text(
        title="The driver reports a hardware fault of the GPU",
        cause="{value}. NVIDIA files this under hardware.",
        fix=("Stop long runs on it and have the card checked.",),
        message="The kernel log shows {value}. Please check the GPU, or give me another one.",
    ),
    "gsp-firmware-driver-bug": Text(
        title="The GPU's firmware processor hangs: a driver fault",
        cause="The driver gets no answer from the GSP firmware (Xid 119 or 120). That came with"
        " certain"
        " driver releases; the card itself is usually sound.",
        fix=(
            "Reboot, then install a later release of the driver branch.",
            "Where that is not possible, on GPUs before Blackwell with the proprietary module:"
            " options"
            " nvidia NVreg_EnableGpuFirmware=0",
        ),
        message="GSP RPC timeouts (Xid 119/120) with driver {driver}. Please update the driver, or"
        " switch GSP firmware off.",
    ),
    "ecc-uncorrectable": Text(
        title="The GPU has uncorrectable memory errors",
        cause="Data in the GPU's memory was lost. Programs are stopped, and further ones may be.",
        fix=(
            "Stop using this GPU; let it be reset, and look whether rows were remapped:"
            " nvidia-smi -q -d ECC,ROW_REMAPPER",
        ),
        message="The GPU reports uncorrectable ECC errors. Please reset or replace it.",
    ),
    "row-remap-pending": Text(
        title="Memory rows were remapped and wait for a reset",
        cause="Bad rows were marked; until the GPU is reset they are still in use.",
        fix=("With nothing running: sudo nvidia-smi --gpu-reset -i <index>, or reboot.",),
        message="Row remapping is pending on the GPU. Please reset it before long runs.",
    ),
    "remap-failed": Text(
        title="The GPU's spare memory rows are used up",
        cause="A bad row could not be remapped, or too many pages are retired: the card is to be"
        " replaced.",
        fix=("Move the work to another GPU.",),
        message="Row remapping failed on the GPU. Please replace it.",
    ),
    "ecc-errors-rising": Text(
        title="The GPU corrects very many memory errors",
        cause="Corrected errors are harmless one by one; this many announce a failing memory.",
        fix=("Watch nvidia-smi -q -d ECC during a run; keep checkpoints close.",),
        message="The GPU reports a high rate of corrected ECC errors. Please check it.",
    ),
    "vram-aliases": Text(
        title="The GPU's memory does not hold what is written",
        cause="{count} blocks read back differently after all had been written: cells are"
        " shared by two"
        " addresses, or broken. The card has less memory than it claims.",
        fix=("Do not use this card.",),
        message="A sweep of the GPU's memory reads back wrong data. Please replace the card.",
    ),
    "wrong-results": Text(
        title="The GPU computes wrong results",
        cause="{value}. The same product is exact on any sound device.",
        fix=("Do not train on it. Repeat once after a reboot, with clocks at their defaults.",),
        message="The GPU returns wrong results for exact products. Please replace it.",
    ),
    "torch-crashes-on-device": Text(
        title="torch dies or hangs when it uses the GPU",
        cause="The stage {value}. Nothing seen here names the cause.",
        fix=(
            "Read the kernel log (dmesg) of that moment.",
            "Repeat the step alone with CUDA_LAUNCH_BLOCKING=1.",
        ),
        message="torch ends or hangs on this GPU ({value}). Please look at the host's kernel log.",
    ),
    "application-fault": Text(
        title="The kernel log holds Xids that programs cause",
        cause="{value}. A program's own mistake writes this; the card is not to blame.",
        fix=("Look in the program that ran then: out-of-bounds access, a mismatched extension.",),
    ),
}
