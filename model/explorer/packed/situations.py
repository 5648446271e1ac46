"""What the space said of each situation, as tables: the only place from which `fire` is called.

A situation is what the rules of one scope and lens see: a part of the shared value, a slot, a context. Its
transitions lie side by side in arrays, those that move something first.
"""

from collections.abc import Callable, Sequence
from typing import Generic, cast

import numpy as np
from attrs import frozen

from model.explorer.packed.lookup import Growing, Ints, Pairs
from model.explorer.packed.numbers import Numbers
from model.explorer.space import Fired, G, Label, Rule, S
from model.explorer.symmetry import Interner
from model.explorer.taking import SpaceError, Taken, check_fired

STAYS = (-1, -1, -1)

Seen = Callable[[int, Taken], None]
"""Told of each transition when it is learned: the row in which its situation stands, and what it is."""


@frozen
class Chunk:
    """Some states of a level, in columns of numbers; and what follows from them once for all rules."""

    shared: Ints
    slots: list[Ints]
    residues: list[Ints]
    multiset: Ints

    def __len__(self) -> int:
        return len(self.shared)


class Transitions:
    """All learned transitions, in parallel arrays; -1 stands for what does not change."""

    def __init__(self, slots: int) -> None:
        self.rule, self.outcome = Growing(), Growing()
        self.after, self.slot, self.change = Growing(), Growing(), Growing()
        self.requeues = Growing()
        self.outcomes: Interner[str] = Interner()
        self.witnessed: list[tuple[str, ...]] = []
        self._changes: Interner[tuple[tuple[int, int], ...]] = Interner()
        self._width = max(slots, 1)

    def __len__(self) -> int:
        return len(self.rule)

    def change_number(self, pairs: tuple[tuple[int, int], ...]) -> int:
        return self._changes.number(pairs) if pairs else -1

    def changes(self) -> tuple[Ints, Ints]:
        """For each number of a change, residues and the slots that come of them; -2 fills up."""
        before = np.full((len(self._changes), self._width), -2, dtype=np.int64)
        after = before.copy()
        for number, pairs in enumerate(self._changes.values):
            for place, (residue, slot) in enumerate(pairs):
                before[number, place], after[number, place] = residue, slot
        return before, after

    def add(self, rows: Sequence[tuple[int, int, int, int, int, bool, tuple[str, ...]]]) -> None:
        """Rows of (rule, outcome, after, slot, change, requeues, witnessed)."""
        columns = (self.rule, self.outcome, self.after, self.slot, self.change, self.requeues)
        for column, values in zip(columns, zip(*(row[:6] for row in rows), strict=True), strict=False):
            column.extend(values)
        self.witnessed.extend(row[6] for row in rows)


class Group(Generic[G, S]):
    """The rules of one scope and lens, and the situations in which they have been fired."""

    def __init__(
        self, numbers: Numbers[G, S], rules: list[tuple[int, Rule]], table: Transitions, seen: Seen
    ) -> None:
        self.scope, self.lens = rules[0][1].scope, numbers.lenses[rules[0][1].lens]
        self.drifts = self.scope == "weather" and numbers.space.drifts(rules[0][1])
        self._numbers, self._rules, self._table, self._seen = numbers, rules, table, seen
        self.start, self.moving, self.count = Growing(), Growing(), Growing()
        self.visits = Growing()
        self.weight = Growing()
        self._sights: Interner[tuple[int, int]] = Interner()
        self._sight = Pairs(lambda slot, context, _row: self._sights.number((slot, context)))
        self._situation = Pairs(self._learn)
        self._chunk: Chunk | None = None
        self._slot: int | None = None
        self._origins: dict[int, tuple[Rule, G]] = {}
        self.drifted = Pairs(self._drift)
        self.fired = 0

    def situations(self, chunk: Chunk, slot: int | None) -> Ints:
        """The situation of each row, acting on slot `slot` where the scope has one."""
        self._chunk, self._slot = chunk, slot
        nothing = np.zeros(len(chunk), dtype=np.int64)
        if slot is not None:
            context = nothing
            if self.scope == "call":
                context = self._numbers.without(chunk.multiset, chunk.residues[slot])
            sight = self._sight(chunk.slots[slot], context)
        else:
            sight = chunk.multiset if self.scope == "whole" else nothing
        return self._situation(self.lens.part(chunk.shared), sight)

    def visited(self, situations: Ints, weights: Ints) -> None:
        """Counts each row's situation once, and by its weight."""
        size = len(self.start)
        self.visits.array[:] += np.bincount(situations, minlength=size)
        self.weight.array[:] += np.bincount(situations, weights=weights, minlength=size).astype(np.int64)

    def _learn(self, part: int, sight: int, row: int) -> int:
        """Fires all rules in the situation that stands in `row`."""
        assert self._chunk is not None
        numbers, values = self._numbers, self._numbers.slots.values
        number = -1
        residues: tuple[int, ...] = ()
        if self.scope in ("local", "call"):
            number, of_context = self._sights.values[sight]
            residues = numbers.contexts.values[of_context] if self.scope == "call" else ()
        elif self.scope == "whole":
            residues = numbers.all_residues.values[sight]
        context = numbers.context(residues)
        shared = numbers.shared.values[int(self._chunk.shared[row])]
        slot = values[number] if number >= 0 else None
        rows = []
        for index, rule in self._rules:
            self.fired += 1
            fired = numbers.space.fire(rule, shared, slot, context)
            if fired is not None:
                self._seen(
                    row, Taken(Label(rule.name, self._slot), fired.outcome, fired.violated, fired.witnessed)
                )
                check_fired(numbers.space, rule, slot, context, fired)
                rows.append(self._row(index, part, number, residues, fired))
                if self.drifts:
                    self._origins[len(self._table) + len(rows) - 1] = rule, shared
        moving = len(rows)
        if not self.drifts:  # what drifts is not known here
            rows.sort(key=lambda each: each[2:5] == STAYS)
            moving = sum(each[2:5] != STAYS for each in rows)
        self.start.append(len(self._table))
        self.count.append(len(rows))
        self.moving.append(moving)
        self.visits.append(0)
        self.weight.append(0)
        if rows:
            self._table.add(rows)
        return len(self.start) - 1

    def _drift(self, transition: int, slot: int, _row: int) -> int:
        rule, shared = self._origins[transition]
        slots = self._numbers.slots
        return slots.number(self._numbers.space.drift(rule, shared, slots.values[slot]))

    def _row(
        self, index: int, part: int, number: int, residues: tuple[int, ...], fired: Fired[G, S]
    ) -> tuple[int, int, int, int, int, bool, tuple[str, ...]]:
        numbers, space = self._numbers, self._numbers.space
        slot, requeues = -1, False
        if fired.slot is not None:
            slot = numbers.slots.number(fired.slot)
            before = numbers.slots.values[number]
            requeues = space.place(before) != space.place(fired.slot)
            slot = -1 if slot == number else slot
        pairs: dict[int, int] = {}
        for residue, changed in zip(residues, fired.others, strict=False):
            was = numbers.residues.values[residue]
            stays = changed is None or changed == was
            if pairs.setdefault(residue, -1 if stays else numbers.slots.number(cast(S, changed))) != (
                -1 if stays else numbers.slots.number(cast(S, changed))
            ):
                raise SpaceError(f"two slots that look the same, {was!r}, are changed differently")
            if not stays:  # then the residue is the slot itself: check_fired has seen to it
                requeues = requeues or space.place(cast(S, was)) != space.place(cast(S, changed))
        moved = tuple(pair for pair in pairs.items() if pair[1] >= 0)
        table = self._table
        after = self.lens.after(part, fired.shared)
        outcome = table.outcomes.number(fired.outcome)
        return index, outcome, after, slot, table.change_number(moved), requeues, fired.witnessed
