"""A bundle in the form of ``torch.utils.collect_env``, which many issue templates want."""

from __future__ import annotations

from agent.model import Bundle, Tool
from agent.report.escape import terminal
from agent.report.shown import chosen_torch_version, import_data

UNKNOWN = "Could not collect"


def collect_env_report(bundle: Bundle) -> str:
    """The report; what the bundle does not say is "Could not collect", as the original prints."""
    parts = (_torch(bundle), _system(bundle), _python(bundle), _devices(bundle), _packages(bundle))
    lines = "\n\n".join("\n".join(terminal(line) for line in part) for part in parts)
    return lines + "\n"


def _torch(bundle: Bundle) -> list[str]:
    data = import_data(bundle)
    debug = data.get("debug")
    return [
        f"PyTorch version: {chosen_torch_version(bundle) or 'N/A'}",
        f"Is debug build: {debug if isinstance(debug, bool) else 'N/A'}",
        f"CUDA used to build PyTorch: {_word(data.get('cuda'), 'N/A')}",
        f"ROCM used to build PyTorch: {_word(data.get('hip'), 'N/A')}",
    ]


def _system(bundle: Bundle) -> list[str]:
    host = bundle.facts.host
    libc = "-".join(part for part in (host.libc_name, host.libc_version) if part)
    return [
        f"OS: {host.os_name or UNKNOWN} ({host.architecture or 'unknown'})",
        f"GCC version: {_tool(bundle, 'gcc')}",
        f"Clang version: {_tool(bundle, 'clang')}",
        f"CMake version: {_tool(bundle, 'cmake')}",
        f"Libc version: {libc or 'N/A'}",
    ]


def _python(bundle: Bundle) -> list[str]:
    chosen = next((item for item in bundle.facts.interpreters if item.chosen), None)
    host = bundle.facts.host
    parts = (host.system, host.kernel_release, host.architecture)
    platform = "-".join(part for part in parts if part)
    return [
        f"Python version: {(chosen.version if chosen else None) or UNKNOWN}",
        f"Python platform: {platform or UNKNOWN}",
    ]


def _devices(bundle: Bundle) -> list[str]:
    drivers = bundle.facts.drivers
    nvidia, amd = drivers.nvidia, drivers.amd
    available = any(
        stage.name == "device" and stage.status == "passed" for stage in bundle.stages
    ) and bundle.run.backend in ("cuda", "rocm")
    driver = nvidia and (nvidia.userspace_version or nvidia.kernel_version)
    models = [
        f"GPU {index}: {device.name or 'unknown'}"
        for index, device in enumerate(bundle.facts.devices)
    ]
    return [
        f"Is CUDA available: {available}",
        f"CUDA runtime version: {_tool(bundle, 'nvcc')}",
        "GPU models and configuration:" + ("" if models else f" {UNKNOWN}"),
        *models,
        f"Nvidia driver version: {driver or UNKNOWN}",
        f"cuDNN version: {_word(import_data(bundle).get('cudnn'), UNKNOWN)}",
        f"HIP runtime version: {(amd.hip_version if amd else None) or 'N/A'}",
    ]


def _packages(bundle: Bundle) -> list[str]:
    lines = ["Versions of relevant libraries:"]
    for package in bundle.facts.packages:
        source = "conda" if package.origin == "conda" else "pip3"
        lines.append(f"[{source}] {package.name}=={package.version}")
    return lines if len(lines) > 1 else [*lines, UNKNOWN]


def _tool(bundle: Bundle, name: str) -> str:
    tools: tuple[Tool, ...] = bundle.facts.toolkits.tools
    return next((tool.version for tool in tools if tool.name == name and tool.version), UNKNOWN)


def _word(value: object, otherwise: str) -> str:
    return str(value) if isinstance(value, (str, int)) and value else otherwise
