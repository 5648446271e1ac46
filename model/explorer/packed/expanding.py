"""All successors of some states at once."""

from collections.abc import Iterator, Sequence
from typing import Generic

import numpy as np
from attrs import frozen

from model.explorer.packed.lookup import Ints
from model.explorer.packed.numbers import Numbers
from model.explorer.packed.ordering import multiplicity, settled
from model.explorer.packed.situations import Chunk, Group, Seen, Transitions
from model.explorer.space import G, Rule, S


@frozen
class Moves:
    """Transitions taken: from row `rows[k]` of a chunk by learned transition `transitions[k]`.

    `slot` is the slot acted on, `shared` and `changed` are the shared value and that slot after. Where
    `columns` is given it holds all slots after, which other changes may have befallen.
    """

    rows: Ints
    transitions: Ints
    slot: int | None
    shared: Ints
    changed: Ints | None
    columns: list[Ints] | None

    def after(self, before: list[Ints]) -> list[Ints]:
        """The columns of the states after, of those of the chunk's states before: shared, then all slots."""
        if self.columns is not None:
            return [self.shared, *self.columns]
        slots = [column[self.rows] for column in before[1:]]
        if self.slot is not None and self.changed is not None:
            slots[self.slot] = self.changed
        return [self.shared, *slots]


class Expander(Generic[G, S]):
    """Takes transitions from the tables, and learns those that are not there."""

    def __init__(self, numbers: Numbers[G, S], slots: int, seen: Seen) -> None:
        self._numbers, self._width = numbers, slots
        self.table = Transitions(slots)
        grouped: dict[tuple[str, str, bool], list[tuple[int, Rule]]] = {}
        for index, rule in enumerate(numbers.space.rules):
            drifts = rule.scope == "weather" and numbers.space.drifts(rule)
            grouped.setdefault((rule.scope, rule.lens, drifts), []).append((index, rule))
        self.groups = [Group(numbers, rules, self.table, seen) for rules in grouped.values()]

    def chunk(self, columns: Sequence[Ints]) -> Chunk:
        """What is to be expanded, from the columns of its states' numbers."""
        shared, slots = columns[0], list(columns[1:])
        residues = [self._numbers.residue(column) for column in slots]
        multiset = self._numbers.all_residues(residues) if slots else np.zeros(len(shared), dtype=np.int64)
        return Chunk(shared, slots, residues, multiset)

    def expand(
        self, chunk: Chunk, orbits: Ints, *, distinct: bool, everything: bool, count: bool
    ) -> Iterator[Moves]:
        """Successors, in parts. With `distinct`, of equal slots only the first is acted on. With
        `everything`, also transitions that leave all as it is. `count` counts the visits to situations;
        `orbits` is the number of states that each row stands for."""
        for group in self.groups:
            if group.scope in ("whole", "weather"):
                situations = group.situations(chunk, None)
                if count:
                    group.visited(situations, orbits)
                yield from self._moves(group, chunk, None, None, situations, everything)
                continue
            for slot in range(self._width):
                situations = group.situations(chunk, slot)
                chosen, weights = None, orbits
                if distinct:
                    times = multiplicity(chunk.slots, slot)
                    chosen = np.flatnonzero(times)
                    situations, weights = situations[chosen], (times * orbits)[chosen]
                if count:
                    group.visited(situations, weights)
                yield from self._moves(group, chunk, slot, chosen, situations, everything)

    def _moves(
        self,
        group: Group[G, S],
        chunk: Chunk,
        slot: int | None,
        chosen: Ints | None,
        situations: Ints,
        everything: bool,
    ) -> Iterator[Moves]:
        table = self.table
        counts = (group.count if everything else group.moving).array[situations]
        total = int(counts.sum())
        if not total:
            return
        ends = np.cumsum(counts)
        rows = np.repeat(np.arange(len(situations)), counts)
        transitions = np.arange(total) + (group.start.array[situations] - ends + counts)[rows]
        if chosen is not None:
            rows = chosen[rows]
        shared = group.lens.merged(chunk.shared[rows], table.after.array[transitions])
        changed = None
        if slot is not None:
            after = table.slot.array[transitions]
            changed = np.where(after < 0, chunk.slots[slot][rows], after)
        if group.scope == "weather":
            columns = self._drifted(group, chunk, rows, transitions) if group.drifts else None
            yield Moves(rows, transitions, None, shared, None, columns)
            return
        special = (table.change.array[transitions] >= 0) | (table.requeues.array[transitions] > 0)
        if special.any():
            some = np.flatnonzero(special)
            part = Moves(
                rows[some],
                transitions[some],
                slot,
                shared[some],
                None if changed is None else changed[some],
                None,
            )
            columns = self._columns(chunk, part)
            yield Moves(part.rows, part.transitions, slot, part.shared, part.changed, columns)
            rest = np.flatnonzero(~special)
            if not len(rest):
                return
            rows, transitions, shared = rows[rest], transitions[rest], shared[rest]
            changed = None if changed is None else changed[rest]
        yield Moves(rows, transitions, slot, shared, changed, None)

    def _drifted(self, group: Group[G, S], chunk: Chunk, rows: Ints, transitions: Ints) -> list[Ints]:
        before = [column[rows] for column in chunk.slots]
        after = [group.drifted(transitions, column) for column in before]
        return settled(self._numbers, before, after)

    def _columns(self, chunk: Chunk, moves: Moves) -> list[Ints]:
        """All slots after `moves`: other slots changed where they look as the change says, ranks dense."""
        before = [column[moves.rows] for column in chunk.slots]
        after = list(before)
        if moves.slot is not None and moves.changed is not None:
            after[moves.slot] = moves.changed
        change = self.table.change.array[moves.transitions]
        affected = np.flatnonzero(change >= 0)
        if len(affected):
            residues, slots = self.table.changes()
            kinds = change[affected]
            for place in range(self._width):
                if place == moves.slot:
                    continue
                seen, column = chunk.residues[place][moves.rows[affected]], after[place].copy()
                for k in range(residues.shape[1]):
                    hit = np.flatnonzero(residues[kinds, k] == seen)
                    column[affected[hit]] = slots[kinds[hit], k]
                after[place] = column
        return settled(self._numbers, before, after)
