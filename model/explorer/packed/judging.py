"""Predicates over states, asked of whole levels: once for each distinct thing that they see."""

from collections.abc import Sequence
from typing import Generic

import numpy as np

from model.explorer.packed.lookup import Derived, Ints, Multisets, Pairs
from model.explorer.packed.numbers import Numbers
from model.explorer.properties import Property
from model.explorer.space import G, S
from model.explorer.tabulating import Table, tables


class Judge(Generic[G, S]):
    """Asks all predicates of the properties."""

    def __init__(self, numbers: Numbers[G, S], properties: Sequence[Property[G, S]]) -> None:
        self.tables: list[Table[G, S]] = tables(properties)
        self._asked = [_Asked(numbers, table) for table in self.tables]

    def interesting(self, columns: list[Ints]) -> list[tuple[str, int]]:
        """The properties that some row breaks (or shows, for `Sometimes`), and the first such row."""
        found = []
        for asked in self._asked:
            rows = np.flatnonzero(asked(columns))
            if len(rows):
                found.append((asked.table.asked.id, int(rows[0])))
        return found


class _Asked(Generic[G, S]):
    def __init__(self, numbers: Numbers[G, S], table: Table[G, S]) -> None:
        self.table = table
        shared, slots, asked = numbers.shared, numbers.slots, table.asked
        self._part = Derived(lambda: len(shared), lambda n: table.parts.number(asked.part(shared.values[n])))
        self._projection = Derived(
            lambda: len(slots), lambda n: table.projections.number(asked.project(slots.values[n]))
        )
        self._multisets = Multisets()
        self._answers = Pairs(self._answer)

    def __call__(self, columns: list[Ints]) -> Ints:
        projections = [self._projection(column) for column in columns[1:]]
        multiset = self._multisets(projections) if projections else np.zeros(len(columns[0]), dtype=np.int64)
        return self._answers(self._part(columns[0]), multiset)

    def _answer(self, part: int, multiset: int, _row: int) -> int:
        return int(self.table.answer(part, self._multisets.values[multiset]))
