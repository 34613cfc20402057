"""Is every byte of a device's memory really there? Blocks are all written before any is read.

The word at position j of block i holds ``(j * STRIDE) ^ seed(i)``. Two addresses that share a
cell, as on a card that claims more memory than it has, cannot both hold what was written there.
Writing everything first keeps the caches of the device from answering in the memory's place, and
holding all blocks at once keeps the allocator from handing out the same one twice.
"""

from __future__ import annotations

from typing import Any

STRIDE = 0x9E3779B1  # odd, so that the words of a block are all different (Knuth, TAOCP 6.4)
WORD_BYTES = 4
WRAP = 2**32


def signed(word: int) -> int:
    """The 32-bit word as the signed number that an int32 tensor holds."""
    word %= WRAP
    return word - WRAP if word >= WRAP // 2 else word


def seed(block: int) -> int:
    """A word for a block, unrelated to its neighbours' (the finaliser of splitmix64)."""
    mixed = (block + 1) * 0x9E3779B97F4A7C15 % 2**64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
    return signed(mixed ^ (mixed >> 31))


def pattern(torch: Any, words: int, device: Any) -> Any:
    """The words of a block before its seed goes in, as an int32 tensor."""
    return torch.arange(words, dtype=torch.int32, device=device) * signed(STRIDE)


def write_all(blocks: list[Any], base: Any, invert: bool = False) -> None:
    """Fill every block with its own pattern; ``invert`` flips every bit, for a second pass."""
    for index, block in enumerate(blocks):
        block.copy_(base[: block.numel()])
        block.bitwise_xor_(~seed(index) if invert else seed(index))


def read_all(
    torch: Any, blocks: list[Any], base: Any, invert: bool = False
) -> list[tuple[int, int, int]]:
    """Return [(block, wrong words, first wrong position)] of the blocks that changed."""
    wrong = []
    for index, block in enumerate(blocks):
        # The pattern comes out when the seed is taken back; only then is it compared, in place.
        block.bitwise_xor_(~seed(index) if invert else seed(index))
        whole = base[: block.numel()]
        if torch.equal(block, whole):
            continue
        differs = block.ne(whole).to(torch.uint8)
        wrong.append((index, int(differs.sum().item()), int(differs.argmax().item())))
        del differs
    return wrong


def allocate(torch: Any, device: Any, wanted_bytes: int, block_bytes: int) -> list[Any]:
    """Return blocks of int32 words, as many as fit into ``wanted_bytes`` and into the memory."""
    blocks = []
    left = wanted_bytes
    while left >= block_bytes:
        try:
            block = torch.empty(block_bytes // WORD_BYTES, dtype=torch.int32, device=device)
        except RuntimeError as error:
            if "out of memory" not in str(error).lower() and "alloc" not in str(error).lower():
                raise
            break
        blocks.append(block)
        left -= block_bytes
    return blocks


def check(torch: Any, blocks: list[Any], base: Any, passes: int = 1) -> list[dict[str, int]]:
    """Write and read all blocks ``passes`` times, inverted every second time.

    Returns the wrong blocks as dictionaries {"block", "pass", "wrong_words", "first_word"}.
    """
    found = []
    for number in range(passes):
        write_all(blocks, base, invert=number % 2 == 1)
        for index, count, first in read_all(torch, blocks, base, invert=number % 2 == 1):
            found.append(
                {"block": index, "pass": number, "wrong_words": count, "first_word": first}
            )
    return found
