"""An ONNX model of one node, written byte by byte, so that no package is needed to make it.

The fields and their numbers are those of onnx.proto (onnx/onnx, version 8 of the format).
"""

from __future__ import annotations

FLOAT = 1


def varint(number: int) -> bytes:
    """A number as protobuf writes it: seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: int | bytes | str) -> bytes:
    """One field of a message: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def matrix(name: str, rows: int, columns: int) -> bytes:
    """A ValueInfoProto of a float32 matrix."""
    shape = b"".join(field(1, field(1, length)) for length in (rows, columns))
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def product(rows: int, inner: int, columns: int) -> bytes:
    """A model that computes ``c = a @ b``."""
    node = field(1, "a") + field(1, "b") + field(2, "c") + field(4, "MatMul")
    graph = field(1, node) + field(2, "product")
    graph += field(11, matrix("a", rows, inner)) + field(11, matrix("b", inner, columns))
    graph += field(12, matrix("c", rows, columns))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
