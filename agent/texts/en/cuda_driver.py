"""Texts for what lies between the driver's CUDA and the programs."""

from __future__ import annotations

from agent.texts import Text

TEXTS: dict[str, Text] = {
    "driver-too-old-for-build": Text(
        title="The NVIDIA driver is too old for this torch",
        cause="torch⟦ {torch}⟧ needs a newer driver⟦: {wanted} or newer⟧.⟦ The one here"
        " understands CUDA up"
        " to {driver_cuda}.⟧ Within one CUDA major any driver of that major would do.",
        fix=(
            "Where the driver cannot be changed, install a build for it: {wheel}",
            "Or move to a host with a newer driver⟦ ({wanted} or newer)⟧.",
        ),
        fix_at={
            "bare": (
                "Install a build for this driver: {wheel}",
                "Or update the driver⟦ to {wanted} or newer⟧ and reboot.",
            ),
        },
        message="The host's NVIDIA driver⟦ {driver}⟧⟦ (CUDA {driver_cuda})⟧ is too old for our"
        " image⟦, which needs {wanted} or newer⟧. Please move the instance to a host with a"
        " newer driver.",
    ),
    "driver-too-old-for-ptx-toolchain": Text(
        title="PTX from a newer toolkit than the driver's compiler understands",
        cause="The program holds this kernel only as PTX, made by a toolkit newer than"
        " what the driver⟦ {driver}⟧ can compile⟦ (CUDA {driver_cuda})⟧. Minor-version"
        " compatibility"
        " does not cover PTX.",
        fix=(
            "Use a build of the library whose CUDA is not newer than the driver's"
            "⟦ ({driver_cuda})⟧, or one with binary code for this GPU.",
            "Or move to a host with a newer driver.",
        ),
        message="Driver⟦ {driver}⟧ is too old to compile our program's PTX. Please offer a host"
        " with"
        " a newer driver branch.",
    ),
    "driver-too-old-for-toolkit-feature": Text(
        title="One CUDA function needs a newer driver branch",
        cause="The driver⟦ {driver}⟧ runs programs of this CUDA major, but the call that failed"
        " came"
        " with a later minor release⟦ ({toolkit})⟧ and is not in this driver.",
        fix=(
            "Use a library built with a CUDA not newer than the driver's⟦ ({driver_cuda})⟧, or"
            " switch the feature"
            " off where it has a switch.",
            "Or move to a host with a newer driver branch.",
        ),
        message="Our program uses a CUDA function that driver⟦ {driver}⟧ lacks. Please offer a host"
        " with a newer driver branch.",
    ),
    "forward-compat-on-unsupported-gpu": Text(
        title="A CUDA compatibility library is loaded on a GPU that does not allow it (error 804)",
        cause="The image puts a cuda-compat libcuda before the driver's own. It is newer than the"
        " kernel driver⟦ {driver}⟧, and forward compatibility works on data-centre GPUs only.",
        fix=(
            "Take the compat directory off the path: remove /usr/local/cuda/compat from"
            " LD_LIBRARY_PATH and from /etc/ld.so.conf.d, then run ldconfig.",
            "Use an image whose CUDA is not newer than the driver's⟦ ({driver_cuda})⟧, or a host"
            " with"
            " a newer driver.",
        ),
    ),
    "compat-libs-shadow-driver": Text(
        title="An old compatibility libcuda hides the driver's own (error 803)",
        cause="The process loads a cuda-compat libcuda from the image although the driver⟦"
        " {driver}⟧"
        " is new enough; the two do not belong together.",
        fix=(
            "See which libcuda is loaded: ldconfig -p | grep libcuda; echo $LD_LIBRARY_PATH",
            "Remove the compat directory (for example /usr/local/cuda/compat) from LD_LIBRARY_PATH"
            " and from /etc/ld.so.conf.d, then run ldconfig.",
        ),
    ),
}
