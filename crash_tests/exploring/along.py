"""The store led along an explored graph, and killed in each new transition at every point that it passes.

At each edge of the share the action is first performed once in a child, to learn which marked points it
passes. Then, for each of these, a child of the warm store performs it and dies there of a real SIGKILL; what
it left must be one of the worlds that the oracle allows, the store must open again, do what the killed
process had been about to do as the model says, and grant one more write. Afterwards the files stand as
before, the edge is taken, and the tour goes on.

Not covered here: kills of the recovery itself, and processes that live through a kill (see `campaign`).
"""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from attrs import define, field

import model
from crash_tests.exploring.aftercare import aftercare
from crash_tests.ground import Ground
from crash_tests.oracle import Violation
from crash_tests.scenarios import Scenario
from crash_tests.stories import Killed, Story
from crash_tests.trial import Arrival, Situation, kill, record, recover
from model.actions import Action, Call, Open, ReadEpoch
from model.outcomes import Declined
from stateful_tests.exploring.drive import Drive
from stateful_tests.exploring.route import Part
from stateful_tests.lockstep import DivergedError


@define
class KillingDrive(Drive):
    """A drive that kills at the edges of `part` before it takes them.

    `classes` counts the transitions killed in (those in which a store is at work), `kills` the kills;
    `stories` are those that went wrong, after `enough` of which no more is killed.
    """

    part: Part | None = None
    enough: int = 3
    classes: int = 0
    kills: int = 0
    points: dict[str, int] = field(factory=dict)
    stories: list[Story] = field(factory=list)
    _killed: set[int] = field(factory=set)

    def take(self, edge: int) -> bool:
        if self.part is not None and self.part.lacks(edge) and edge not in self._killed:
            self._killed.add(edge)
            action = self.chart.action(edge, self.place, self.pair.world)
            self.everywhere(edge, action)
            if len(self.stories) >= self.enough:
                return False
        return super().take(edge)

    def everywhere(self, edge: int, action: Action) -> None:
        """Kills `action`, which is about to happen, wherever it passes a marked point."""
        target: Any = self.target
        if not isinstance(action, Call | Open | ReadEpoch) or target.files.standing:
            return  # no process of a store is at work, so there is none to kill
        if isinstance(model.step(self.pair.world, action)[1], Declined):
            return
        self.classes += 1
        place = Ground(target.files.directory.parent, target.files.directory)
        with closing(Situation.of(place, target, self.pair.world, (action,))) as situation:
            try:
                arrivals = record(situation)
            except DivergedError as error:
                raise AssertionError("a divergence that taking the edge shows, too") from error
            for arrival in arrivals:
                if len(self.stories) >= self.enough:
                    break
                self._kill(edge, situation, arrival)
            place.put_back(situation.picture)
        target.look_afresh()

    def _kill(self, edge: int, situation: Situation, arrival: Arrival) -> None:
        self.kills += 1
        self.points[arrival.point] = self.points.get(arrival.point, 0) + 1
        left = kill(situation, arrival)
        if isinstance(left, Violation):
            self._tell(edge, situation, arrival, (), left)
            return
        actions = aftercare(situation.flight, left.decided.world)
        violation = recover(situation, left, actions)
        if violation is not None:
            self._tell(edge, situation, arrival, actions, violation)

    def _tell(
        self,
        edge: int,
        situation: Situation,
        arrival: Arrival,
        actions: Sequence[Action],
        violation: Violation,
    ) -> None:
        history = tuple(one.action for one in self.records if not one.declined)
        label = str(self.chart.label(edge))
        scenario = Scenario(label, "a kill along the explored graph", history, situation.flight)
        killed = Killed(situation.flight, arrival.point, arrival.n)
        self.stories.append(Story(scenario, (killed,), tuple(actions), violation))
