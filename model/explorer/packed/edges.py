"""Transitions kept as they are taken, and the graph made of them at the end."""

from collections.abc import Sequence
from typing import Generic, overload

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from model.explorer.graph import Graph
from model.explorer.packed.layout import Keys
from model.explorer.packed.levels import Levels
from model.explorer.packed.lookup import Ints
from model.explorer.packed.situations import Transitions
from model.explorer.packed.successors import Part
from model.explorer.space import G, Label, S, Space, State
from model.explorer.symmetry import Symmetry


@frozen(eq=False)
class PackedStates(Sequence[State[G, S]], Generic[G, S]):
    """States unpacked when they are looked at."""

    matrix: NDArray[np.int32]
    symmetry: Symmetry[G, S]

    def __len__(self) -> int:
        return len(self.matrix)

    @overload
    def __getitem__(self, node: int) -> State[G, S]: ...
    @overload
    def __getitem__(self, node: slice) -> "PackedStates[G, S]": ...
    def __getitem__(self, node: int | slice) -> "State[G, S] | PackedStates[G, S]":
        if isinstance(node, slice):
            return PackedStates(self.matrix[node], self.symmetry)
        shared, *slots = self.matrix[node].tolist()
        values = self.symmetry.slots.values
        return State(self.symmetry.shared.values[shared], tuple(values[slot] for slot in slots))


class EdgeList(Generic[G, S]):
    """Edges, collected. The keys of their targets are kept by the levels, which may have to widen them."""

    def __init__(self, space: Space[G, S], levels: Levels) -> None:
        self._space, self._levels, self._width = space, levels, levels.layout.slots
        self._source: list[NDArray[np.int32]] = []
        self._label: list[NDArray[np.int32]] = []
        self._outcome: list[NDArray[np.int32]] = []
        self._positions: list[NDArray[np.uint8]] = []

    @property
    def taken(self) -> int:
        """Bytes held, the targets' keys left out, and those that making the graph and following its ways
        will take: measured as some 40 a transition, and 8 more for each slot."""
        return sum(map(len, self._source)) * (12 + self._width + 40 + 8 * self._width)

    def add(self, part: Part, table: Transitions) -> None:
        transitions, slot = part.moves.transitions, part.moves.slot
        label = table.rule.array[transitions] * (self._width + 1) + (0 if slot is None else slot + 1)
        self._levels.kept.append(part.keys)
        self._source.append(part.sources.astype(np.int32))
        self._label.append(label.astype(np.int32))
        self._outcome.append(table.outcome.array[transitions].astype(np.int32))
        places = np.empty((len(transitions), self._width), dtype=np.uint8)
        for place in range(self._width):
            places[:, place] = place if part.positions is None else part.positions[place]
        self._positions.append(places)

    def graph(self, symmetry: Symmetry[G, S], outcomes: tuple[str, ...], *, complete: bool) -> Graph[G, S]:
        """The graph of all that was collected."""
        levels = self._levels
        keys: Keys = np.concatenate(levels.levels)
        by_key = np.argsort(keys)
        node = by_key[np.searchsorted(keys, _joined(levels.kept, keys.dtype), sorter=by_key)]
        source, label = _joined(self._source, np.int32), _joined(self._label, np.int32)
        labels = len(self._space.rules) * (self._width + 1)
        order = np.argsort(source.astype(np.int64) * labels + label, kind="stable")
        source, target, label = source[order], node[order].astype(np.int32), label[order]
        used = np.flatnonzero(np.bincount(label, minlength=labels))
        renumbered = np.zeros(labels, dtype=np.int32)
        renumbered[used] = np.arange(len(used))
        depth = np.repeat(np.arange(len(levels.levels)), [len(level) for level in levels.levels])
        columns = levels.layout.unpack(keys)
        positions = np.concatenate(self._positions)[order] if self._positions else np.empty((0, self._width))
        return Graph(
            states=PackedStates(np.stack(columns, axis=1).astype(np.int32), symmetry),
            source=source,
            label=renumbered[label],
            outcome=_joined(self._outcome, np.int32)[order],
            target=target,
            labels=tuple(self._named(number) for number in used.tolist()),
            outcomes=outcomes,
            depth=depth.astype(np.int32),
            parent=_parents(depth, source, target),
            positions=positions.astype(np.uint8),
            symmetry=symmetry,
            complete=complete,
        )

    def _named(self, number: int) -> Label:
        rule, slot = divmod(number, self._width + 1)
        return Label(self._space.rules[rule].name, slot - 1 if slot else None)


def _joined(parts: "list[NDArray[np.int32]] | list[Keys]", kind: object) -> Keys:
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)  # type: ignore[call-overload]


def _parents(depth: Ints, source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each node the first edge that comes from one less deep."""
    parent = np.full(len(depth), -1, dtype=np.int32)
    forward = np.flatnonzero(depth[target] == depth[source] + 1)[::-1]
    parent[target[forward]] = forward  # of several for one node, the last one written stays
    return parent
