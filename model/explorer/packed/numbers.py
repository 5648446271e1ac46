"""Everything in numbers: what follows from slots and shared values, as arrays that grow."""

from collections.abc import Callable, Hashable
from typing import Generic

import numpy as np

from model.explorer.packed.lookup import Derived, Ints, Multisets, Pairs
from model.explorer.space import G, Renaming, S, Space
from model.explorer.symmetry import Interner, Symmetry

_NOTHING: Ints = np.empty(0, dtype=np.int64)


class Numbers(Generic[G, S]):
    """The numbered values of one exploration; shared values and slots are numbered as in `symmetry`."""

    def __init__(self, space: Space[G, S], symmetry: Symmetry[G, S]) -> None:
        self.space = space
        self.shared, self.slots = symmetry.shared, symmetry.slots
        self.residues: Interner[Hashable] = Interner()
        self.contexts: Interner[tuple[int, ...]] = Interner()
        self._queues: Interner[Hashable] = Interner()
        self._places: Interner[tuple[Hashable, int] | None] = Interner()
        self.all_residues = Multisets()
        self.residue = self._of_slot(lambda slot: self.residues.number(space.residue(slot)))
        self.queue = self._of_slot(self._queue)
        self.place = self._of_slot(lambda slot: self._places.number(space.place(slot)))
        self.rank = self._of_slot(lambda slot: (space.place(slot) or (None, 0))[1])
        self.without = Pairs(self._without)
        self.placed = Pairs(self._placed)
        self.lenses = {lens: Lens(space, self.shared, lens) for lens in {rule.lens for rule in space.rules}}
        self.renamed = [self._renamed(each) for each in space.renamings]

    def _of_slot(self, derive: Callable[[S], int]) -> Derived:
        return Derived(lambda: len(self.slots), lambda number: derive(self.slots.values[number]))

    def _queue(self, slot: S) -> int:
        """0 for none."""
        place = self.space.place(slot)
        return 0 if place is None else self._queues.number(place[0]) + 1

    def queues(self) -> bool:
        """Whether any slot met so far stands in a queue."""
        self.queue(_NOTHING)
        return len(self._queues) > 0

    def _without(self, multiset: int, residue: int, _row: int) -> int:
        """The context that is left of all residues when one of them is taken out."""
        left = list(self.all_residues.values[multiset])
        left.remove(residue)
        return self.contexts.number(tuple(left))

    def _placed(self, slot: int, rank: int, _row: int) -> int:
        return self.slots.number(self.space.placed(self.slots.values[slot], rank))

    def _renamed(self, renaming: Renaming[G, S]) -> tuple[Derived, Derived]:
        def shared(number: int) -> int:
            return self.shared.number(renaming.shared(self.shared.values[number]))

        def slot(number: int) -> int:
            return self.slots.number(renaming.slot(self.slots.values[number]))

        return Derived(lambda: len(self.shared), shared), Derived(lambda: len(self.slots), slot)

    def context(self, residues: tuple[int, ...]) -> tuple[Hashable, ...]:
        return tuple(self.residues.values[number] for number in residues)


class Lens(Generic[G, S]):
    """The parts of shared values that are seen through one lens, numbered."""

    def __init__(self, space: Space[G, S], shared: Interner[G], lens: str) -> None:
        self.whole = not lens
        self._space, self._shared, self._lens = space, shared, lens
        self._parts: Interner[Hashable] = Interner()
        self._afters: list[G] = []
        self._part = Derived(lambda: len(shared), lambda number: self._number(shared.values[number]))
        self._merged = Pairs(self._merge)

    def _number(self, shared: G) -> int:
        number = self._parts.number(self._space.part(self._lens, shared))
        if number == len(self._afters):
            self._afters.append(shared)
        return number

    def part(self, shared: Ints) -> Ints:
        return shared if self.whole else self._part(shared)

    def after(self, part: int, after: G) -> int:
        """The number of the part of `after`, or -1 if it is `part`."""
        number = self._shared.number(after) if self.whole else self._number(after)
        return -1 if number == part else number

    def merged(self, shared: Ints, after: Ints) -> Ints:
        """Shared values after `after`, numbers given by the method of that name."""
        stays = after < 0
        if self.whole:
            return np.where(stays, shared, after)
        merged = shared.copy()
        moved = ~stays
        if moved.any():
            merged[moved] = self._merged(shared[moved], after[moved])
        return merged

    def _merge(self, shared: int, after: int, _row: int) -> int:
        values = self._shared.values
        return self._shared.number(self._space.merge(self._lens, values[shared], self._afters[after]))
