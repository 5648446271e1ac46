"""Which states have been seen, and at what depth: sorted arrays of keys, one for each level.

A level is deduplicated by sorting it and comparing neighbours, which is many times faster than hashing.
"""

import numpy as np
from numpy.typing import NDArray

from model.explorer.packed.layout import Keys, Layout, layout_for
from model.explorer.packed.lookup import Ints


def sorted_distinct(keys: Keys) -> Keys:
    """Each key once, in order."""
    if not len(keys):
        return keys
    keys = np.sort(keys)
    keep = np.ones(len(keys), dtype=bool)
    keep[1:] = keys[1:] != keys[:-1]
    return keys[keep]


class Levels:
    """All states seen, by level; the last level is the frontier. `coming` collects the next one."""

    def __init__(self, slots: int) -> None:
        self.layout = layout_for(slots, 1, 1)
        self.levels: list[Keys] = []
        self._seen: Keys = np.empty(0, dtype=np.int64)
        self._coming: list[Keys] = []
        self.kept: list[Keys] = []
        """Keys that somebody else goes on to need."""

    def __len__(self) -> int:
        """States seen."""
        return len(self._seen)

    @property
    def taken(self) -> int:
        """Bytes held."""
        return sum(part.nbytes for part in (*self.levels, self._seen, *self._coming, *self.kept))

    @property
    def coming(self) -> int:
        """How many states the next level has at most."""
        return sum(map(len, self._coming))

    def fit(self, shared: int, slots: int) -> None:
        """Sees to it that so many shared values and slots can be told apart; may change all keys."""
        if self.layout.holds(shared, slots):
            return
        old, new = self.layout, layout_for(self.layout.slots, shared, slots)
        self.layout = new
        self.levels = [_repacked(keys, old, new) for keys in self.levels]
        self._seen = _repacked(self._seen, old, new)
        self._coming = [_repacked(keys, old, new) for keys in self._coming]
        self.kept = [_repacked(keys, old, new) for keys in self.kept]

    def add(self, keys: Keys) -> None:
        """States of the next level, among them perhaps some that were seen before."""
        self._coming.append(sorted_distinct(keys))
        if len(self._coming) > 16:
            self._coming = [sorted_distinct(np.concatenate(self._coming))]

    def settle(self) -> int:
        """How many states of the next level are known to be new by now."""
        if self._coming:
            keys = sorted_distinct(np.concatenate(self._coming))
            self._coming = [keys[~self._known(keys, np.searchsorted(self._seen, keys))]]
        return self.coming

    def close(self) -> Keys:
        """Ends the next level: the states in it that are new, sorted. If there are none, no level is made."""
        if not self._coming:
            return self._seen[:0]
        self.settle()
        (keys,) = self._coming
        self._coming = []
        if len(keys):
            self._seen = (
                np.insert(self._seen, np.searchsorted(self._seen, keys), keys) if self.levels else keys
            )
            self.levels.append(keys)
        return keys

    def _known(self, keys: Keys, places: Ints) -> NDArray[np.bool_]:
        if not len(self._seen):
            return np.zeros(len(keys), dtype=bool)
        known: NDArray[np.bool_] = self._seen[np.minimum(places, len(self._seen) - 1)] == keys
        return known

    def first_node(self, depth: int) -> int:
        """The number of the first state of a level; states are numbered level by level."""
        return sum(map(len, self.levels[:depth]))

    def place(self, node: int) -> tuple[int, int]:
        """The level and the row there of a state's number."""
        depth = 0
        while node >= len(self.levels[depth]):
            node -= len(self.levels[depth])
            depth += 1
        return depth, node


def _repacked(keys: Keys, old: Layout, new: Layout) -> Keys:
    return new.pack(old.unpack(keys))
