"""The search: level by level, each in chunks, until nothing new comes or the budget is spent."""

from collections.abc import Callable, Hashable, Sequence
from typing import Final, Generic

import numpy as np
from attrs import evolve

from model.explorer.budget import Budget, Meter
from model.explorer.findings import Exploration, Findings, Spot
from model.explorer.packed.edges import EdgeList
from model.explorer.packed.judging import Judge
from model.explorer.packed.levels import Levels
from model.explorer.packed.lookup import Ints
from model.explorer.packed.sampling import verify
from model.explorer.packed.successors import CHUNK, Successors
from model.explorer.packed.telling import told
from model.explorer.properties import Property
from model.explorer.space import G, S, Space
from model.explorer.symmetry import Symmetry
from model.explorer.taking import SpaceError, Taken


def explore(
    space: Space[G, S],
    properties: Sequence[Property[G, S]] = (),
    *,
    reduce: bool = False,
    budget: Budget | None = None,
    edges: bool = False,
    sample: int = 2,
    each_level: Callable[[int, int], None] | None = None,
) -> Exploration[G, S]:
    """Explores `space` from its initial states on.

    `reduce` uses its symmetries. `edges` keeps the graph, which `EventuallyPossible` needs: some 24 bytes
    a transition, and one more for each slot. `sample` states of each level, and the first of each kind, are
    also taken whole, as the reference engine does it, and must come to the same. Where they don't, what comes
    back is of the `unhidden` space if that breaks a property, and `SpaceError` otherwise. `each_level` is
    told the depth of each level and how many states were seen up to it.
    """
    search = _Search(space, properties, reduce, budget or Budget(), edges)
    try:
        reason = search.run(sample, each_level or (lambda _depth, _states: None))
        return _told(search, reason)
    except SpaceError as error:
        return _explored_plainly(space, properties, error, search, edges=edges)


PLAIN_STATES: Final = 50_000
"""So many states at the most are looked at with nothing hidden: some minutes, and only where tables fail."""


def _explored_plainly(
    space: Space[G, S],
    properties: Sequence[Property[G, S]],
    error: SpaceError,
    search: "_Search[G, S]",
    *,
    edges: bool,
) -> Exploration[G, S]:
    """What tables made of it is not to be trusted. It may be the model that is wrong, where a rule is said
    not to see what a guard should have stopped: so the space is explored once more, as far, with nothing
    hidden from any rule. What that finds is so; if it finds nothing, it is the space that is wrong.
    """
    plain = space.unhidden() if properties else None
    if plain is None:
        raise error
    far, given = len(search.levels.levels), search.meter.budget
    again = evolve(
        given,
        depth=far if given.depth is None else min(far, given.depth),
        states=PLAIN_STATES if given.states is None else min(PLAIN_STATES, given.states),
    )
    explored = explore(plain, properties, reduce=search.symmetry.reduce, budget=again, edges=edges)
    if not explored.violated:
        raise SpaceError(
            f"{error}\nWith nothing hidden from any rule no property is broken "
            f"{'' if explored.complete else 'so far '}({explored.reason or 'all of it was seen'}). So a rule "
            "looks at something, or changes something, that its lens, its residues or its simplest question "
            "leave out: hold these against the guard that it comes to, or say as a property what that guard "
            "is for."
        ) from error
    return explored


def _told(search: "_Search[G, S]", reason: str) -> Exploration[G, S]:
    return told(
        search.space,
        search.successors,
        search.findings,
        search.judge,
        search.edges,
        reason=reason,
        full_states=search.full_states,
        seconds=search.meter.seconds,
    )


class _Search(Generic[G, S]):
    def __init__(
        self,
        space: Space[G, S],
        properties: Sequence[Property[G, S]],
        reduce: bool,
        budget: Budget,
        edges: bool,
    ) -> None:
        self.space, self.meter, self.findings = space, Meter(budget), Findings(properties)
        self.symmetry = Symmetry(space, reduce=reduce)
        self._starts = [self.symmetry.canonical(each)[0] for each in space.initial()]
        self.levels = Levels(len(self._starts[0].slots))
        self.successors = Successors(space, self.levels, self.symmetry, self._learned)
        self.judge = Judge(self.successors.numbers, properties)
        self.edges = EdgeList(space, self.levels) if edges else None
        self.full_states = 0
        self._shared_seen: set[int] = set()
        self._kinds: set[Hashable] = set()

    def run(self, sample: int, each_level: Callable[[int, int], None]) -> str:
        """Explores; returns why it ended before the end, or nothing."""
        self.successors.start(self._starts)
        while len(self.levels.close()):
            depth = len(self.levels.levels) - 1
            orbits = self._look_at(depth)
            each_level(depth, len(self.levels))
            reason = self.meter.too_deep(depth + 1) or self._spent() or self._expand(depth, orbits)
            if reason:
                if len(self.levels.close()):
                    self._look_at(depth + 1)
                return reason
            size = len(self.levels.levels[depth])
            rows = {size * part // sample for part in range(sample)} if sample else set()
            for row in sorted(rows | (self._first_of_kinds(depth) if sample else rows)):
                tabled = self.successors.told(depth, row)
                verify(
                    self.space,
                    self.symmetry,
                    self.successors.state(self.levels.first_node(depth) + row),
                    tabled,
                )
        return ""

    def _first_of_kinds(self, depth: int) -> set[int]:
        """The first row of a level of each kind that no level had before."""
        found = set()
        numbers, places = np.unique(
            self.successors.columns(depth, 0, len(self.levels.levels[depth]))[0], return_index=True
        )
        for number, row in zip(numbers.tolist(), places.tolist(), strict=True):
            if number not in self._shared_seen:
                self._shared_seen.add(number)
                kinds = self.space.kinds(self.successors.numbers.shared.values[number])
                if not self._kinds.issuperset(kinds):
                    self._kinds.update(kinds)
                    found.add(row)
        return found

    def _learned(self, row: int, taken: Taken) -> None:
        self.findings.note(Spot(self.successors.node + row, taken.label), taken)

    def _look_at(self, depth: int) -> Ints:
        """Asks the predicates of a level; for how many states each of its states stands."""
        node = self.levels.first_node(depth)
        orbits = []
        for first in range(0, len(self.levels.levels[depth]), CHUNK):
            columns = self.successors.columns(depth, first)
            for name, row in self.judge.interesting(columns):
                self.findings.saw(Spot(node + first + row), name)
            orbits.append(self.successors.orbits(columns))
        told: Ints = np.concatenate(orbits)
        self.full_states += int(told.sum())
        return told

    def _expand(self, depth: int, orbits: Ints) -> str | None:
        for first in range(0, len(self.levels.levels[depth]), CHUNK):
            some = orbits[first : first + CHUNK]
            for part in self.successors.of(depth, first, orbits=some, everything=self.edges is not None):
                self.levels.add(part.keys)
                if self.edges is not None:
                    self.edges.add(part, self.successors.expander.table)
            reason = self._spent()
            if reason:
                return reason
        return None

    def _spent(self) -> str | None:
        limit = self.meter.budget.states
        states = len(self.levels)
        if limit is not None and states + self.levels.coming > limit:
            states += self.levels.settle()
        return self.meter.spent(
            states=states, taken=self.levels.taken + (self.edges.taken if self.edges else 0)
        )
