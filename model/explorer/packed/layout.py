"""How a state is one key: the numbers of its shared value and its slots, side by side.

In 63 bits where they fit, else in bytes, four for each number, most significant first. Either way keys sort
as the rows of numbers do, so that widening a field keeps sorted arrays sorted.
"""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from model.explorer.packed.lookup import Ints

Keys = NDArray[Any]
"""One-dimensional: int64, or bytes of a fixed length."""

BITS = 63


@frozen
class Layout:
    """`shared` and `slot` are the widths of the fields in bits; 0 and 0 for bytes."""

    slots: int
    shared: int
    slot: int

    @property
    def in_bits(self) -> bool:
        return self.shared > 0

    def holds(self, shared: int, slots: int) -> bool:
        """Whether so many different shared values and slots can be told apart."""
        return not self.in_bits or (shared <= 1 << self.shared and slots <= 1 << self.slot)

    def shift(self, slot: int) -> int:
        """By how many bits the field of this slot is shifted."""
        return self.slot * (self.slots - 1 - slot)

    @property
    def shared_shift(self) -> int:
        return self.slot * self.slots

    def pack(self, columns: list[Ints]) -> Keys:
        """Keys of rows, given as columns: the shared value's first."""
        if not self.in_bits:
            matrix = np.stack(columns, axis=1).astype(">u4")
            return np.ascontiguousarray(matrix).view(f"S{4 * len(columns)}").ravel()
        keys = columns[0] << self.shared_shift
        for slot, column in enumerate(columns[1:]):
            keys = keys | column << self.shift(slot)
        return keys

    def unpack(self, keys: Keys) -> list[Ints]:
        """The columns of numbers of which `keys` were made."""
        if not self.in_bits:
            width = self.slots + 1
            matrix = np.ascontiguousarray(keys).view(">u4").reshape(len(keys), width)
            return [np.ascontiguousarray(matrix[:, at]).astype(np.int64) for at in range(width)]
        mask = (1 << self.slot) - 1
        return [keys >> self.shared_shift, *(keys >> self.shift(at) & mask for at in range(self.slots))]


def layout_for(slots: int, shared_values: int, slot_values: int) -> Layout:
    """A layout for at least so many different values, with room for more where there is."""
    shared, slot = _width(shared_values), _width(slot_values) if slots else 0
    spare = BITS - shared - slots * slot
    if spare < 0:
        return Layout(slots, 0, 0)
    more = spare // 2 // slots if slots else 0
    return Layout(slots, BITS - slots * (slot + more), slot + more)


def _width(values: int) -> int:
    return max(1, (values - 1).bit_length())
