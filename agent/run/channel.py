"""How do bytes get from a child to the agent without ever blocking it or filling its memory?"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass, field

from agent.run.records import LIMIT_BYTES

READ_BYTES = 1 << 16
READS_A_TURN = 64  # a flooding child must not starve the others


@dataclass(slots=True)
class Channel:
    """The agent's end of a child's record channel.

    An AF_UNIX socket of type SEQPACKET where the system allows one: a record is a packet, so that
    several forked writers never mix, and a record is read whole or not at all. Otherwise a pipe,
    where only records up to 4 KiB (PIPE_BUF) are safe from mixing with those of another writer;
    mixed ones are not JSON, and are counted as bad.
    """

    reader: int
    packets: bool
    buffer: bytearray = field(default_factory=bytearray)
    too_long: int = 0
    open: bool = True


def open_channel(packets: bool = True) -> tuple[Channel, int]:
    """The agent's end, and the descriptor that the child writes to (blocking)."""
    if packets:
        with suppress(OSError):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.setblocking(False)
            with suppress(OSError):  # several whole records; the default holds them barely
                theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            return Channel(reader=ours.detach(), packets=True), theirs.detach()
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    return Channel(reader=reader, packets=False), writer


def read_lines(channel: Channel) -> list[bytes]:
    """The records that have arrived, unchecked; at most some 64 reads' worth of them."""
    lines: list[bytes] = []
    for _ in range(READS_A_TURN):
        if not channel.open:
            break
        try:
            # One byte more than a record may have: a longer packet shows by being cut.
            data = os.read(channel.reader, LIMIT_BYTES + 2 if channel.packets else READ_BYTES)
        except (BlockingIOError, InterruptedError):
            break
        except OSError:
            data = b""
        if not data:
            channel.open = False
            break
        lines += _split_packet(data) if channel.packets else _split_stream(channel, data)
    return lines


def _split_packet(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line]


def _split_stream(channel: Channel, data: bytes) -> list[bytes]:
    *lines, rest = bytes(channel.buffer + data).split(b"\n")
    if len(rest) > LIMIT_BYTES:  # a line without an end is dropped as it comes
        channel.too_long += 1
        rest = b""
    channel.buffer = bytearray(rest)
    return [line for line in lines if line]


def left_over(channel: Channel) -> bytes:
    """The beginning of a record whose writer died in the middle of it."""
    return bytes(channel.buffer)


@dataclass(slots=True)
class Tail:
    """The last bytes of a noisy stream; ``total`` counts all that ever came."""

    reader: int
    keep: int = 64 * 1024
    kept: bytearray = field(default_factory=bytearray)
    total: int = 0
    open: bool = True


def drain(tail: Tail) -> None:
    """Reads what is there, keeping the tail only."""
    for _ in range(READS_A_TURN):
        if not tail.open:
            return
        try:
            data = os.read(tail.reader, READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            tail.open = False
            return
        tail.total += len(data)
        tail.kept += data
        if len(tail.kept) > 2 * tail.keep:
            del tail.kept[: -tail.keep]


def text_between(tail: Tail, start: int, end: int | None, limit: int) -> str:
    """What came after the stream's ``start``-th byte and up to the ``end``-th (None: the last).

    Of that the last ``limit`` bytes, as far as they are kept.
    """
    last = tail.total if end is None else end
    gone = tail.total - len(tail.kept)  # the number of the first byte that is kept
    first = max(start, last - limit, gone)
    if first >= last:
        return ""
    return bytes(tail.kept[first - gone : last - gone]).decode("utf-8", "backslashreplace")


def dropped_bytes(tail: Tail) -> int:
    """How much of the stream is not kept."""
    return tail.total - min(len(tail.kept), tail.keep)
