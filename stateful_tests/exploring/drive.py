"""A real store and its model led along the edges of a chart, compared after each action.

After each one the world is located again; node and outcome must be those that the graph foretold. The first
difference ends the drive and is kept in `records`, which tell the story from the very beginning, however it
was come by: files that were put back stand for the actions that had made them.
"""

import shutil
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from stateful_tests.compare import Difference
from stateful_tests.exploring.chart import Chart, Place
from stateful_tests.exploring.rewind import Rewinder
from stateful_tests.pair import Divergence, Judge, Pair, StepRecord, Subject
from stateful_tests.system import Counts, System

ABSTRACTION = "abstraction"
CLAUSE = "explorer: the model does what its graph says"


@frozen
class Kept:
    """A world to come back to: how long the story was there, and what the rewinder kept, if it could."""

    length: int
    place: Place
    token: Any


@define
class Drive:
    """`rewinder_of` makes the rewinder of a new target. Begin with `begin`; end with `end`."""

    chart: Chart
    system: System
    root: Path
    rewinder_of: Any
    judge: Judge | None = None
    coverage: Counts | None = None
    factory: Any = None
    records: list[StepRecord] = field(factory=list)
    actions: int = 0
    """All that happened to the store, ways back included."""
    put_back: int = 0
    walked_back: int = 0
    place: Place = field(init=False)
    pair: Pair = field(init=False)
    target: Subject | None = None
    rewinder: Rewinder = field(init=False)
    _stores: int = 0

    @property
    def node(self) -> int:
        assert self.place.node is not None
        return self.place.node

    @property
    def weight(self) -> int:
        return self.rewinder.weight(self.pair)

    @property
    def divergence(self) -> Divergence | None:
        return self.records[-1].divergence if self.records else None

    def begin(self, start: int) -> bool:
        """A fresh store, led to the start `start`. False if something differed on the way."""
        beginning = self.chart.space.beginnings()[self.chart.starts.index(start)]
        self.records.clear()
        return self._walk(beginning) and self._is_at(start)

    def take(self, edge: int) -> bool:
        before = self.pair.world
        record = self._step(self.chart.action(edge, self.place, before))
        if self.coverage is not None:
            self.coverage.see(before, record, self.pair.world)
        if record.divergence is not None:
            return False
        place, found = self.chart.arrival(edge, record.expected, self.pair.world)
        if record.declined:
            found = (Difference("outcome class", self.chart.outcome(edge), "declined"),)
        if found:
            self._lied(record, found)
            return False
        self.place = place
        return True

    def keep(self) -> Kept:
        return Kept(len(self.records), self.place, self.rewinder.keep(self.pair))

    def back(self, kept: Kept) -> bool:
        actions = [record.action for record in self.records[: kept.length]]
        if kept.token is not None:
            world = self.rewinder.bring(self.pair, kept.token)
            if world is not None and self.chart.locate(world) == kept.place:
                self.put_back += 1
                del self.records[kept.length :]
                assert self.target is not None
                self.pair = self.system.pair(self.target, world, self.judge)
                self.place = kept.place
                return True
        self.walked_back += 1
        self.records.clear()
        return self._walk(actions) and self._is_at(kept.place.node)

    def end(self) -> None:
        """Closes the store and clears its files away."""
        if self.target is not None:
            self.target.close()
            self.target = None
        if self.root.exists():
            shutil.rmtree(self.root, ignore_errors=True)

    def _walk(self, actions: Any) -> bool:
        self.end()
        self._stores += 1
        here = self.root / f"{self._stores}"
        here.mkdir(parents=True)
        self.target = (self.factory or self.system.target)(here / "store")
        self.pair = self.system.pair(self.target, self.system.initial({}), self.judge)
        self.rewinder = self.rewinder_of(self.target)
        for action in actions:
            if self._step(action).divergence is not None:
                return False
        self.place = self.chart.locate(self.pair.world)
        return True

    def _is_at(self, node: int | None) -> bool:
        assert node is not None
        found = self.chart.elsewhere(node, self.place, self.pair.world)
        if not found:
            return True
        self.place = Place(node, self.place.names)
        record = self.records[-1] if self.records else StepRecord(0, None, None)
        self._lied(record, found)
        return False

    def _step(self, action: Any) -> StepRecord:
        self.actions += 1
        record = self.pair.step(action)
        # The pair may be a newer one than the story: its own count is no index into that.
        if record.divergence is not None and record.index != len(self.records):
            record = evolve(record, divergence=evolve(record.divergence, index=len(self.records)))
        record = evolve(record, index=len(self.records))
        self.records.append(record)
        if record.divergence is None:
            self.rewinder.note(self.pair, record)
        return record

    def _lied(self, record: StepRecord, found: tuple[Difference, ...]) -> None:
        name = "beginning" if record.action is None else self.system.name_of(record.action)
        divergence = Divergence(record.index, ABSTRACTION, CLAUSE, name, found)
        if self.records:
            self.records.pop()
        self.records.append(evolve(record, divergence=divergence))
