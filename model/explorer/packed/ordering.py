"""Ranks kept dense and states brought to their canonical form, for whole arrays at a time.

The same as `space.settled` and `Symmetry.canonical`, told in columns of numbers.
"""

from typing import Generic

import numpy as np

from model.explorer.packed.layout import Keys, Layout
from model.explorer.packed.lookup import Ints, sorted_columns
from model.explorer.packed.numbers import Numbers
from model.explorer.space import G, S


def settled(numbers: Numbers[G, S], before: list[Ints], after: list[Ints]) -> list[Ints]:
    """Columns of slots `after` that came of `before`, with dense ranks."""
    if not numbers.queues():
        return after
    moved = np.zeros(len(after[0]), dtype=bool)
    for was, now in zip(before, after, strict=True):
        moved |= numbers.place(was) != numbers.place(now)
    rows = np.flatnonzero(moved)
    if not len(rows):
        return after
    if len(rows) == len(moved):
        return _ranked(numbers, before, after)
    ranked = _ranked(numbers, [column[rows] for column in before], [column[rows] for column in after])
    after = [column.copy() for column in after]
    for column, some in zip(after, ranked, strict=True):
        column[rows] = some
    return after


def _ranked(numbers: Numbers[G, S], before: list[Ints], after: list[Ints]) -> list[Ints]:
    queues = [numbers.queue(column) for column in after]
    keys = []
    for was, column, queue in zip(before, after, queues, strict=True):
        joined = numbers.queue(was) != queue
        keys.append(numbers.rank(column) + (joined.astype(np.int64) << 32))
    told = []
    for place, column in enumerate(after):
        rank = np.zeros(len(column), dtype=np.int64)
        for other in range(len(after)):
            if other != place:
                rank += (queues[other] == queues[place]) & (keys[other] < keys[place])
        differs = np.flatnonzero((queues[place] > 0) & (rank != numbers.rank(column)))
        if len(differs):
            column = column.copy()
            column[differs] = numbers.placed(column[differs], rank[differs])
        told.append(column)
    return told


class Canonical(Generic[G, S]):
    """Canonical keys of states given as columns."""

    def __init__(self, numbers: Numbers[G, S]) -> None:
        self._numbers = numbers

    def images(self, columns: list[Ints]) -> list[list[Ints]]:
        """The rows under the identity and every renaming, each with its slots sorted."""
        told = [[columns[0], *sorted_columns(columns[1:])]]
        for shared, slot in self._numbers.renamed:
            told.append([shared(columns[0]), *sorted_columns([slot(column) for column in columns[1:]])])
        return told

    def keys(self, images: list[list[Ints]], layout: Layout) -> tuple[Keys, Ints, Ints]:
        """The smallest key of each row's images, whose it is, and how many images there are."""
        best = layout.pack(images[0])
        own, winner = best, np.zeros(len(best), dtype=np.int64)
        same = np.ones(len(best), dtype=np.int64)
        for index, image in enumerate(images[1:], start=1):
            key = layout.pack(image)
            less = key < best
            best = np.where(less, key, best)
            winner[less] = index
            same += key == own
        return best, winner, len(images) // same

    def positions(self, columns: list[Ints], winner: Ints) -> list[Ints]:
        """For each slot, where it is in the canonical state; equal slots keep their order."""
        width = len(columns) - 1
        told = [np.zeros(len(winner), dtype=np.int64) for _ in range(width)]
        for index in range(len(self._numbers.renamed) + 1):
            rows = np.flatnonzero(winner == index)
            if not len(rows):
                continue
            slots = [column[rows] for column in columns[1:]]
            if index:
                slots = [self._numbers.renamed[index - 1][1](column) for column in slots]
            ranked = sorted_columns([column * width + place for place, column in enumerate(slots)])
            for place, column in enumerate(ranked):
                origin = column % width
                for slot in range(width):
                    told[slot][rows[origin == slot]] = place
        return told


def arrangements(slots: list[Ints], rows: int) -> Ints:
    """In how many different ways the slots of each row, sorted, can be arranged."""
    count, run = np.ones(rows, dtype=np.int64), np.ones(rows, dtype=np.int64)
    for place in range(1, len(slots)):
        run = np.where(slots[place] == slots[place - 1], run + 1, 1)
        count = count * (place + 1) // run
    return count


def multiplicity(slots: list[Ints], place: int) -> Ints:
    """How many slots of each row, sorted, equal the one at `place`; 0 where one before it does."""
    count = np.ones(len(slots[place]), dtype=np.int64)
    for other in range(place + 1, len(slots)):
        count += slots[other] == slots[place]
    if place:
        count[slots[place - 1] == slots[place]] = 0
    return count
