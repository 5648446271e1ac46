"""From the states of a level to the keys of their successors: what the search, traces and samples share."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Generic

import numpy as np
from attrs import frozen

from model.explorer.packed.expanding import Expander, Moves
from model.explorer.packed.layout import Keys
from model.explorer.packed.levels import Levels
from model.explorer.packed.lookup import Ints
from model.explorer.packed.numbers import Numbers
from model.explorer.packed.ordering import Canonical, arrangements
from model.explorer.packed.sampling import Told
from model.explorer.packed.situations import Seen
from model.explorer.space import G, Label, S, Space, State
from model.explorer.symmetry import Symmetry

CHUNK = 1 << 15
"""States expanded at a time: their successors stay within the processor's caches."""


@frozen
class Part:
    """Some successors: `moves` of the chunk whose first node is `node`, their canonical keys, and, where it
    was asked for, the slots of the targets that the slots of the sources have become."""

    node: int
    moves: Moves
    keys: Keys
    positions: list[Ints] | None

    @property
    def sources(self) -> Ints:
        return self.node + self.moves.rows


class Successors(Generic[G, S]):
    """Expands levels. May widen the keys of `levels` on the way."""

    def __init__(self, space: Space[G, S], levels: Levels, symmetry: Symmetry[G, S], seen: Seen) -> None:
        self.levels, self.symmetry, self.reduce = levels, symmetry, symmetry.reduce
        self.numbers = Numbers(space, symmetry)
        self.expander = Expander(self.numbers, levels.layout.slots, seen)
        self.canonical = Canonical(self.numbers)
        self.node = 0
        """The first node of the chunk at hand."""

    def start(self, starts: list[State[G, S]]) -> None:
        """Makes the first level."""
        number = self.numbers.slots.number
        rows = [[self.numbers.shared.number(state.shared), *map(number, state.slots)] for state in starts]
        self._fit()
        columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
        self.levels.add(self.levels.layout.pack(columns))

    def _fit(self) -> None:
        self.levels.fit(len(self.numbers.shared), len(self.numbers.slots))

    def columns(self, depth: int, first: int, count: int | None = None) -> list[Ints]:
        """Those of `count` states of a level, or of a chunk, from the `first` on."""
        end = first + (CHUNK if count is None else count)
        return self.levels.layout.unpack(self.levels.levels[depth][first:end])

    def orbits(self, columns: list[Ints]) -> Ints:
        """For how many states each canonical state stands."""
        if not self.reduce:
            return np.ones(len(columns[0]), dtype=np.int64)
        images = self.canonical.images(columns)
        self._fit()
        _, _, renamings = self.canonical.keys(images, self.levels.layout)
        return renamings * arrangements(columns[1:], len(columns[0]))

    def of(
        self,
        depth: int,
        first: int,
        *,
        size: int | None = None,
        orbits: Ints | None = None,
        everything: bool = False,
    ) -> Iterator[Part]:
        """The successors of `size` states of a level, or of a chunk, from the `first` on. With `orbits`, the
        number of states that each stands for, visits are counted."""
        size = CHUNK if size is None else size
        columns = self.columns(depth, first, size)
        self.node = self.levels.first_node(depth) + first
        count = orbits is not None
        if orbits is None:
            orbits = np.ones(len(columns[0]), dtype=np.int64)
        chunk = self.expander.chunk(columns)
        for moves in self.expander.expand(
            chunk, orbits, distinct=self.reduce, everything=everything, count=count
        ):
            if not self.reduce:
                self._fit()
                here = self.levels.levels[depth][first : first + size]
                yield Part(self.node, moves, self._plain_keys(here, columns, moves), None)
                continue
            after = moves.after(columns)
            images = self.canonical.images(after)
            self._fit()
            keys, winner, _ = self.canonical.keys(images, self.levels.layout)
            positions = self.canonical.positions(after, winner) if everything else None
            yield Part(self.node, moves, keys, positions)

    def _plain_keys(self, here: Keys, columns: list[Ints], moves: Moves) -> Keys:
        """Keys after `moves` without symmetry: what changes is added to the packed key, where it can be."""
        layout = self.levels.layout
        if moves.columns is not None or not layout.in_bits:
            return layout.pack(moves.after(columns))
        keys: Keys = here[moves.rows] + ((moves.shared - columns[0][moves.rows]) << layout.shared_shift)
        if moves.slot is not None and moves.changed is not None:
            keys += (moves.changed - columns[moves.slot + 1][moves.rows]) << layout.shift(moves.slot)
        return keys

    def of_level(self, depth: int) -> Iterator[tuple[Ints, Keys, Callable[[int], Label]]]:
        """All successors of a level, as `tracing.ways` asks for them."""
        for first in range(0, len(self.levels.levels[depth]), CHUNK):
            for part in self.of(depth, first):
                yield part.sources, part.keys, self.labels(part.moves)

    def labels(self, moves: Moves) -> Callable[[int], Label]:
        rules, of_transition = self.numbers.space.rules, self.expander.table.rule.array
        return lambda place: Label(rules[of_transition[moves.transitions[place]]].name, moves.slot)

    def states(self, keys: Keys) -> Iterator[State[G, S]]:
        """The states that keys stand for."""
        shared, slots = self.numbers.shared.values, self.numbers.slots.values
        for row in zip(*(column.tolist() for column in self.levels.layout.unpack(keys)), strict=True):
            yield State(shared[row[0]], tuple(slots[number] for number in row[1:]))

    def state(self, node: int) -> State[G, S]:
        depth, row = self.levels.place(node)
        return next(self.states(self.levels.levels[depth][row : row + 1]))

    def told(self, depth: int, row: int) -> "Counter[Told[G, S]]":
        """Everything that the tables say of one state."""
        told: Counter[Told[G, S]] = Counter()
        table = self.expander.table
        for part in self.of(depth, row, size=1, everything=True):
            label = self.labels(part.moves)
            outcomes = table.outcome.array[part.moves.transitions].tolist()
            for place, after in enumerate(self.states(part.keys)):
                at = label(place)
                told[at.rule, at.slot, table.outcomes.values[outcomes[place]], after] += 1
        return told
