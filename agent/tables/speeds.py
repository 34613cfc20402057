"""Which share of its peak a healthy card reaches in a large product, by model and format."""

from __future__ import annotations

from typing import NamedTuple


class Speed(NamedTuple):
    """The lowest share of the peak that says "healthy", from published measurements."""

    gpu: str  # as the driver reports it
    dtype: str
    peak_tflops: float
    low: float
    rows: int  # how many measurements stand behind it
    source: str


_SOURCE = "published matmul benchmarks with their URLs, gathered as measured shares of the peak"

_ROWS = """\
AMD Instinct MI300X|bfloat16|1307.4|0.43|1
AMD Instinct MI325X|bfloat16|1307.4|0.51|1
AMD Instinct MI355X|bfloat16|2516.6|0.53|1
AMD Radeon RX 7700 XT|bfloat16|70.3|0.63|2
AMD Radeon RX 7700 XT|float16|70.3|0.61|3
AMD Radeon RX 7700 XT|float32|35.2|0.2|4
AMD Radeon RX 7900 XT|bfloat16|103.0|0.69|1
AMD Radeon RX 7900 XT|float16|103.0|0.67|1
AMD Radeon RX 7900 XT|float32|51.5|0.38|1
AMD Radeon RX 7900 XTX|bfloat16|122.8|0.61|5
AMD Radeon RX 7900 XTX|float16|122.8|0.61|6
AMD Radeon RX 7900 XTX|float32|61.4|0.32|7
AMD Radeon RX 9060 XT|bfloat16|102.6|0.37|2
AMD Radeon RX 9060 XT|float16|102.6|0.37|2
AMD Radeon RX 9060 XT|float32|25.6|0.31|1
AMD Radeon RX 9070 XT|bfloat16|194.6|0.4|3
AMD Radeon RX 9070 XT|float16|194.6|0.4|3
AMD Radeon RX 9070 XT|float32|48.7|0.26|2
NVIDIA A10|bfloat16|125.0|0.38|1
NVIDIA A10|float16|125.0|0.37|1
NVIDIA A10|float32|31.2|0.38|1
NVIDIA A100 80GB PCIe|bfloat16|311.9|0.69|1
NVIDIA A100-PCIE-40GB|bfloat16|311.9|0.59|2
NVIDIA A100-PCIE-40GB|float16|311.9|0.54|2
NVIDIA A100-PCIE-40GB|float32|19.5|0.77|1
NVIDIA A100-PCIE-40GB|tf32|155.9|0.53|2
NVIDIA A100-SXM4-80GB|bfloat16|311.9|0.71|3
NVIDIA A100-SXM4-80GB|float16|311.9|0.71|1
NVIDIA A100-SXM4-80GB|float32|19.5|0.74|3
NVIDIA A10G|bfloat16|126.1|0.45|2
NVIDIA A10G|float16|126.1|0.44|2
NVIDIA A10G|float32|31.5|0.63|2
NVIDIA A10G|tf32|63.0|0.46|2
NVIDIA A40|bfloat16|149.7|0.61|3
NVIDIA A40|float16|149.7|0.62|2
NVIDIA A40|float32|37.4|0.54|1
NVIDIA A40|tf32|74.8|0.68|1
NVIDIA A800-SXM4-80GB|bfloat16|311.9|0.73|1
NVIDIA A800-SXM4-80GB|float16|311.9|0.73|1
NVIDIA A800-SXM4-80GB|float32|19.5|0.83|1
NVIDIA B200|bfloat16|2250.0|0.64|2
NVIDIA B200|float16|2250.0|0.61|1
NVIDIA B200|float32|75.0|0.75|1
NVIDIA B200|float8|4500.0|0.65|1
NVIDIA B300 SXM6 AC|bfloat16|2250.0|0.67|1
NVIDIA B300 SXM6 AC|float8|4500.0|0.63|1
NVIDIA GB200|bfloat16|2500.0|0.62|1
NVIDIA GB200|float8|5000.0|0.61|1
NVIDIA GH200 144G HBM3e|bfloat16|990.0|0.71|1
NVIDIA GH200 144G HBM3e|float8|1979.0|0.66|1
NVIDIA GeForce RTX 2080|float16|40.3|0.82|1
NVIDIA GeForce RTX 2080|float32|10.1|0.78|1
NVIDIA GeForce RTX 2080 Ti|float16|53.8|0.78|2
NVIDIA GeForce RTX 2080 Ti|float32|13.4|0.73|1
NVIDIA GeForce RTX 3060|bfloat16|25.5|0.85|2
NVIDIA GeForce RTX 3060|float16|25.5|0.83|2
NVIDIA GeForce RTX 3060|float32|12.7|0.55|1
NVIDIA GeForce RTX 3060|tf32|12.7|0.83|2
NVIDIA GeForce RTX 3060 Ti|bfloat16|32.4|0.96|2
NVIDIA GeForce RTX 3060 Ti|float16|32.4|0.96|1
NVIDIA GeForce RTX 3060 Ti|float32|16.2|0.73|1
NVIDIA GeForce RTX 3060 Ti|tf32|16.2|0.96|1
NVIDIA GeForce RTX 3080|bfloat16|59.5|0.91|2
NVIDIA GeForce RTX 3080|float16|59.5|0.91|2
NVIDIA GeForce RTX 3080|float32|29.8|0.6|2
NVIDIA GeForce RTX 3080|tf32|29.8|0.91|2
NVIDIA GeForce RTX 3080 Ti|bfloat16|68.2|0.95|1
NVIDIA GeForce RTX 3080 Ti|float16|68.2|0.94|1
NVIDIA GeForce RTX 3080 Ti|float32|34.1|0.61|1
NVIDIA GeForce RTX 3090|bfloat16|71.2|0.91|3
NVIDIA GeForce RTX 3090|float16|71.2|0.9|3
NVIDIA GeForce RTX 3090|float32|35.6|0.58|4
NVIDIA GeForce RTX 4060 Ti|bfloat16|44.1|0.92|2
NVIDIA GeForce RTX 4060 Ti|float16|44.1|0.92|2
NVIDIA GeForce RTX 4060 Ti|float32|22.1|0.6|1
NVIDIA GeForce RTX 4060 Ti|tf32|22.1|0.91|2
NVIDIA GeForce RTX 4070 SUPER|bfloat16|71.0|0.86|6
NVIDIA GeForce RTX 4070 SUPER|float16|71.0|0.72|6
NVIDIA GeForce RTX 4070 SUPER|float32|35.5|0.52|7
NVIDIA GeForce RTX 4070 SUPER|tf32|35.5|0.86|3
NVIDIA GeForce RTX 4070 Ti SUPER|bfloat16|88.2|0.88|4
NVIDIA GeForce RTX 4070 Ti SUPER|float16|88.2|0.87|4
NVIDIA GeForce RTX 4070 Ti SUPER|float32|44.1|0.6|3
NVIDIA GeForce RTX 4070 Ti SUPER|tf32|44.1|0.87|4
NVIDIA GeForce RTX 4090|bfloat16|165.2|0.82|8
NVIDIA GeForce RTX 4090|float16|165.2|0.8|7
NVIDIA GeForce RTX 4090|float32|82.6|0.48|7
NVIDIA GeForce RTX 4090|tf32|82.6|0.88|2
NVIDIA GeForce RTX 4090 D|bfloat16|147.1|0.86|1
NVIDIA GeForce RTX 4090 D|float16|147.1|0.88|1
NVIDIA GeForce RTX 4090 D|float32|73.5|0.58|1
NVIDIA GeForce RTX 5060 Ti|bfloat16|47.4|0.83|8
NVIDIA GeForce RTX 5060 Ti|float16|47.4|0.84|8
NVIDIA GeForce RTX 5060 Ti|float32|23.7|0.59|4
NVIDIA GeForce RTX 5060 Ti|tf32|23.7|0.84|5
NVIDIA GeForce RTX 5080|bfloat16|112.6|0.78|1
NVIDIA GeForce RTX 5080|float16|112.6|0.77|2
NVIDIA GeForce RTX 5080|float32|56.3|0.5|2
NVIDIA GeForce RTX 5080|tf32|56.3|0.77|2
NVIDIA GeForce RTX 5090|bfloat16|209.5|0.71|7
NVIDIA GeForce RTX 5090|float16|209.5|0.7|5
NVIDIA GeForce RTX 5090|float32|104.8|0.45|6
NVIDIA GeForce RTX 5090|tf32|104.8|0.69|4
NVIDIA H100 80GB HBM3|bfloat16|989.4|0.58|5
NVIDIA H100 80GB HBM3|float16|989.4|0.63|4
NVIDIA H100 80GB HBM3|float32|66.9|0.65|4
NVIDIA H100 80GB HBM3|float8|1978.9|0.6|1
NVIDIA H100 80GB HBM3|tf32|494.7|0.64|2
NVIDIA H20|bfloat16|148.0|0.82|1
NVIDIA H20|float16|148.0|0.81|1
NVIDIA H20|float32|44.0|0.62|1
NVIDIA H200|bfloat16|989.4|0.57|2
NVIDIA H200|float16|989.4|0.65|1
NVIDIA H200|float32|66.9|0.65|1
NVIDIA H200|float8|1978.9|0.62|1
NVIDIA L20|bfloat16|118.7|0.82|1
NVIDIA L20|float16|118.7|0.78|2
NVIDIA L20|float32|59.4|0.51|2
NVIDIA L20|tf32|59.4|0.79|2
NVIDIA L4|bfloat16|121.2|0.42|2
NVIDIA L4|float16|121.2|0.38|2
NVIDIA L4|float32|30.3|0.3|2
NVIDIA L4|tf32|60.6|0.36|2
NVIDIA L40S|bfloat16|362.1|0.4|2
NVIDIA L40S|float16|362.1|0.62|1
NVIDIA L40S|float32|90.5|0.44|1
NVIDIA RTX A2000 12GB|bfloat16|31.9|0.77|2
NVIDIA RTX A2000 12GB|float16|31.9|0.76|2
NVIDIA RTX A2000 12GB|float32|8.0|0.52|2
NVIDIA RTX A2000 12GB|tf32|16.0|0.77|1
NVIDIA RTX A4000|bfloat16|76.7|0.62|2
NVIDIA RTX A4000|float16|76.7|0.67|2
NVIDIA RTX A4000|float32|19.2|0.53|1
NVIDIA RTX A4000|tf32|38.3|0.67|2
NVIDIA RTX A6000|bfloat16|154.8|0.68|1
NVIDIA RTX A6000|float16|154.8|0.66|1
NVIDIA RTX A6000|float32|38.7|0.53|1
NVIDIA RTX PRO 6000 Blackwell Server Edition|bfloat16|503.8|0.69|2
NVIDIA RTX PRO 6000 Blackwell Server Edition|float16|503.8|0.53|2
NVIDIA RTX PRO 6000 Blackwell Server Edition|float32|126.0|0.52|2
NVIDIA RTX PRO 6000 Blackwell Server Edition|tf32|251.9|0.69|1
NVIDIA RTX PRO 6000 Blackwell Workstation Edition|bfloat16|503.8|0.59|3
NVIDIA RTX PRO 6000 Blackwell Workstation Edition|float16|503.8|0.53|3
NVIDIA RTX PRO 6000 Blackwell Workstation Edition|float32|126.0|0.47|3
NVIDIA RTX PRO 6000 Blackwell Workstation Edition|tf32|251.9|0.62|1
Tesla P40|float32|11.8|0.73|1
Tesla T4|float16|65.1|0.55|2
Tesla T4|float32|8.1|0.42|3
Tesla V100-PCIE-32GB|float16|113.0|0.63|1
Tesla V100-PCIE-32GB|float32|14.1|0.78|1
Tesla V100S-PCIE-32GB|float16|130.8|0.58|1
Tesla V100S-PCIE-32GB|float32|16.4|0.7|1
"""


def _row(line: str) -> Speed:
    gpu, dtype, peak, low, rows = line.split("|")
    return Speed(gpu, dtype, float(peak), float(low), int(rows), _SOURCE)


SPEEDS: tuple[Speed, ...] = tuple(_row(line) for line in _ROWS.splitlines())


def expected(gpu: str, dtype: str) -> Speed | None:
    """The row of a model and a format, or None."""
    return next((row for row in SPEEDS if row.gpu == gpu and row.dtype == dtype), None)
