"""The search: level by level, each in chunks, until nothing new comes or the budget is spent."""

from collections.abc import Callable, Sequence
from typing import Generic

import numpy as np

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
from model.explorer.taking import Taken


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
    a transition, and one more for each slot. `sample` states of each level are also taken whole, as the
    reference engine does it, and must come to the same (`SpaceError` otherwise). `each_level` is told the
    depth of each level and how many states were seen up to it.
    """
    search = _Search(space, properties, reduce, budget or Budget(), edges)
    reason = search.run(sample, each_level or (lambda _depth, _states: None))
    return told(
        space,
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
            for row in sorted({size * part // sample for part in range(sample)}):
                tabled = self.successors.told(depth, row)
                verify(
                    self.space,
                    self.symmetry,
                    self.successors.state(self.levels.first_node(depth) + row),
                    tabled,
                )
        return ""

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
