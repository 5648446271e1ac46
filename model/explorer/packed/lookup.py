"""Tables that are filled as they are asked, for whole arrays at a time.

A question is a pair of small numbers (or one), the answer a number from 0; what is not known yet is learned
in Python, once, in the order of first appearance. Dense while that is small, sorted keys beyond: a dense
look-up takes some 5 ns, a search in 100,000 keys some 100 ns.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

DENSE_CELLS = 1 << 25
"""Up to so many cells of four bytes a table is dense."""


class Growing:
    """An int64 array that grows at its end."""

    def __init__(self) -> None:
        self._buffer = np.empty(64, dtype=np.int64)
        self._length = 0
        self._pending: list[int] = []

    def __len__(self) -> int:
        return self._length + len(self._pending)

    def append(self, value: int) -> None:
        self._pending.append(value)

    def extend(self, values: Iterable[int]) -> None:
        self._pending.extend(values)

    @property
    def array(self) -> Ints:
        """What there is; a view that later growth leaves behind."""
        if self._pending:
            end = len(self)
            if end > len(self._buffer):
                longer = np.empty(max(end, 2 * len(self._buffer)), dtype=np.int64)
                longer[: self._length] = self._buffer[: self._length]
                self._buffer = longer
            self._buffer[self._length : end] = self._pending
            self._length = end
            self._pending.clear()
        return self._buffer[: self._length]


class Derived:
    """A number that follows from another: `of[n]`, for the numbers that some interner gives."""

    def __init__(self, size: Callable[[], int], derive: Callable[[int], int]) -> None:
        self._size, self._derive = size, derive
        self._known = Growing()

    def __call__(self, numbers: Ints) -> Ints:
        if len(self._known) < self._size():
            # `derive` may number new values; those are derived the next time.
            self._known.extend([self._derive(n) for n in range(len(self._known), self._size())])
        return self._known.array[numbers]


def distinct_rows(keys: Ints) -> Ints:
    """The index of the first of each kind in `keys`, ascending."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = ranked[1:] != ranked[:-1]
    return np.sort(order[first])


class Pairs:
    """Answers for pairs of numbers. `learn(a, b, row)` gives the answer to the pair that stands in `row`."""

    def __init__(self, learn: Callable[[int, int, int], int]) -> None:
        self._learn = learn
        self._table: NDArray[np.int32] | None = np.full((16, 16), -1, dtype=np.int32)
        self._keys: Ints = np.empty(0, dtype=np.int64)
        self._values: Ints = np.empty(0, dtype=np.int64)

    def __call__(self, first: Ints, second: Ints) -> Ints:
        if not len(first):
            return first
        if self._table is not None:
            self._fit(int(first.max()) + 1, int(second.max()) + 1)
        found = self._find(first, second)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            a, b = first[missing], second[missing]
            rows = distinct_rows(a << 32 | b)
            answers = [self._learn(int(a[row]), int(b[row]), int(missing[row])) for row in rows.tolist()]
            self._store(a[rows], b[rows], np.array(answers, dtype=np.int64))
            found[missing] = self._find(a, b)
        return found

    def _find(self, first: Ints, second: Ints) -> Ints:
        if self._table is not None:
            cells = self._table.ravel()
            found: Ints = cells[first * self._table.shape[1] + second].astype(np.int64)
            return found
        keys = first << 32 | second
        if not len(self._keys):
            return np.full(len(keys), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._values[places], -1)

    def _store(self, first: Ints, second: Ints, answers: Ints) -> None:
        if self._table is not None:
            self._table[first, second] = answers
            return
        keys = first << 32 | second
        order = np.argsort(keys)
        places = np.searchsorted(self._keys, keys[order])
        self._keys = np.insert(self._keys, places, keys[order])
        self._values = np.insert(self._values, places, answers[order])

    def _fit(self, rows: int, columns: int) -> None:
        table = self._table
        assert table is not None
        if rows <= table.shape[0] and columns <= table.shape[1]:
            return
        shape = [
            max(have, 1 << (need - 1).bit_length())
            for have, need in zip(table.shape, (rows, columns), strict=True)
        ]
        if shape[0] * shape[1] > DENSE_CELLS:
            self._table = None
            first, second = np.nonzero(table >= 0)
            self._store(
                first.astype(np.int64), second.astype(np.int64), table[first, second].astype(np.int64)
            )
            return
        self._table = np.full(shape, -1, dtype=np.int32)
        self._table[: table.shape[0], : table.shape[1]] = table


class Multisets:
    """Numbers multisets of small numbers, given as columns; `values` are the sorted tuples."""

    def __init__(self) -> None:
        self.values: list[tuple[int, ...]] = [()]
        self._steps: list[Pairs] = []

    def __call__(self, columns: list[Ints]) -> Ints:
        """The number of each row's multiset. At least one column; all calls have as many."""
        number = np.zeros(len(columns[0]), dtype=np.int64)
        for place, column in enumerate(sorted_columns(columns)):
            if place == len(self._steps):
                self._steps.append(Pairs(self._number))
            number = self._steps[place](number, column)
        return number

    def _number(self, before: int, last: int, _row: int) -> int:
        self.values.append((*self.values[before], last))
        return len(self.values) - 1


def sorted_columns(columns: list[Ints]) -> list[Ints]:
    """Each row sorted, by a network of comparisons: fast for the few columns there are."""
    columns = list(columns)
    for end in range(len(columns) - 1, 0, -1):
        for place in range(end):
            low = np.minimum(columns[place], columns[place + 1])
            columns[place + 1] = np.maximum(columns[place], columns[place + 1])
            columns[place] = low
    return columns
