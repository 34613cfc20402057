"""Texts for GPUs that are slower or smaller than they should be."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "thermal-slowdown": Text(
        title="The GPU is too hot and slows down",
        cause="Clocks are lowered because the chip or its memory reached its thermal limit.",
        fix=("Check fans, dust and air flow; let nothing else heat the chassis.",),
        message="The GPU throttles for heat under load. Please check its cooling.",
    ),
    "power-brake": Text(
        title="The power supply slows the GPU down",
        cause="An outside signal (power brake) asks the GPU to lower its clocks.",
        fix=("Check power cables and the supply's capacity.",),
        message="HW power brake is active on the GPU. Please check the host's power supply.",
    ),
    "power-limit-lowered": Text(
        title="The GPU's power limit is lowered",
        cause="The limit is {limit}, the default {wanted}: under load the GPU is slower than it"
        " could"
        " be.",
        fix=("sudo nvidia-smi -pl <default>, if you own the host.",),
        message="The GPU's power limit is {limit} instead of {wanted}. Please restore the default.",
    ),
    "clocks-locked": Text(
        title="The GPU's clocks are fixed below their maximum",
        cause="Under load the clock is held at {limit} of {wanted}.",
        fix=("sudo nvidia-smi -rgc; sudo nvidia-smi -rac",),
        message="The GPU's clocks are locked at {limit}. Please reset them (nvidia-smi -rgc,"
        " -rac).",
    ),
    "pcie-width-reduced": Text(
        title="The GPU has fewer PCIe lanes than it should",
        cause="The link runs at {found} of {wanted}: copies between host and GPU are slow. Work"
        " that"
        " stays on the GPU is not affected.",
        fix=("Check riser, slot and seating; some slots have fewer lanes by design.",),
        message="The GPU's PCIe link is {found} instead of {wanted}. Please check riser and slot.",
    ),
    "slower-than-card": Text(
        title="The GPU is slower than this model is elsewhere",
        cause="It reached {found}; healthy cards of this model reach {wanted} and more.",
        fix=("Repeat on an idle GPU; look at clocks, power and temperature while it runs.",),
        message="The GPU reaches {found}; this model should reach {wanted} and more. Please"
        " check it.",
    ),
    "vram-smaller-than-product": Text(
        title="The GPU has less memory than this product",
        cause="It reports {found}; this model has {wanted}.",
        fix=("Check that this is the card that was ordered.",),
        message="The GPU reports {found} of memory; the product has {wanted}. Please check it.",
    ),
    "memory-used-by-unseen-process": Text(
        title="GPU memory is used by no process visible here",
        cause="{value} are in use before anything of yours runs. The owner is outside this"
        " container:"
        " another tenant, or a process left over on the host.",
        fix=(
            "Look for own leftovers: nvidia-smi; fuser -v /dev/nvidia*",
            "If there are none, only the host can free it.",
        ),
        message="{value} of the GPU's memory are used by a process that I cannot see. Please"
        " free it.",
    ),
    "nvml-torch-count-differs": Text(
        title="torch sees another number of GPUs than the driver",
        cause="torch lists {found}, the driver {wanted}, and no variable hides any.",
        fix=("Compare nvidia-smi -L with torch.cuda.get_device_properties; read dmesg.",),
        message="CUDA lists {found} GPUs, the driver {wanted}. Please check the missing one.",
    ),
}
