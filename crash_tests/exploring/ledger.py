"""The ledger's store led along an explored graph, and killed in each new call at every point that it passes.

The tour itself goes on in its own directory. The kills happen in another one, to processes of their own:
each finds the files of the last camp on the way (see `stateful_tests.gated.rewind`), opens what was open,
does what was done since, and then the call, in which it dies of a real SIGKILL. What it left must be one of
the worlds that the oracle allows; a fresh process opens the store, asks again, and commits, as the model
says.

Not covered here: kills of the recovery after a kill (the graph has recoveries of its own, which are killed
like any call), and processes that live through one (see `crash_tests.gated.campaign`).
"""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any

from attrs import define, field

from crash_tests.gated.scenarios import Scenario
from crash_tests.gated.stories import Killed, Story, diverged
from crash_tests.gated.trial import Arrival, Situation, kill, record, recover, recovery
from crash_tests.ground import Ground, Picture, ground
from crash_tests.oracle import Violation
from model.gated import initial_world
from model.gated.actions import Action, Call, OpenLedger
from stateful_tests.exploring.drive import Drive
from stateful_tests.exploring.route import Part
from stateful_tests.gated.rewind import Camp
from stateful_tests.pair import DivergedError


@define
class LedgerKillingDrive(Drive):
    """A drive that kills in the calls at the edges of `part` before it takes them.

    `classes` counts the transitions killed in, `kills` the kills; `stories` are those that went wrong, after
    `enough` of which no more is killed.
    """

    part: Part | None = None
    enough: int = 3
    classes: int = 0
    kills: int = 0
    points: dict[str, int] = field(factory=dict)
    stories: list[Story] = field(factory=list)
    _killed: set[int] = field(factory=set)
    _stack: ExitStack = field(factory=ExitStack)
    _ground: Ground | None = None
    _empty: Picture | None = None

    def take(self, edge: int) -> bool:
        if self.part is not None and self.part.lacks(edge) and edge not in self._killed:
            self._killed.add(edge)
            action = self.chart.action(edge, self.place, self.pair.world)
            if isinstance(action, Call):
                self.classes += 1
                self._everywhere(edge, action)
            if len(self.stories) >= self.enough:
                return False
        return super().take(edge)

    def end(self) -> None:
        super().end()
        self._stack.close()
        self._ground = None

    def _everywhere(self, edge: int, call: Call) -> None:
        """Kills whoever makes `call`, wherever it passes a marked point."""
        with closing(self._situation(call)) as situation:
            try:
                arrivals = record(situation)
            except DivergedError as error:
                self._tell(edge, situation, (), (), diverged(error))
                return
            for arrival in arrivals:
                if len(self.stories) >= self.enough:
                    break
                self._kill(edge, situation, arrival)

    def _situation(self, call: Call) -> Situation:
        """The world as it stands, in the other directory, with `call` in flight."""
        if self._ground is None:
            self._ground = self._stack.enter_context(ground())
            self._empty = self._ground.picture()
        assert self._empty is not None
        camp, since = self._camp()
        if camp is None:
            return Situation(self._ground, self._empty, initial_world(), (), since, (call,))
        files = {name: (mode, content) for name, mode, content in camp.files}
        picture = Picture(files, self._empty.inode)
        warm = (*(OpenLedger(name) for name in camp.clients), *since)
        return Situation(self._ground, picture, camp.world, camp.effects, warm, (call,))

    def _camp(self) -> tuple[Camp | None, tuple[Action, ...]]:
        """The last camp on the way here, and what was done since; no camp: all that was done."""
        kept: Any = self.rewinder.keep(self.pair)
        if kept is None:
            return None, tuple(one.action for one in self.records if not one.declined)
        return kept.camp, kept.since

    def _kill(self, edge: int, situation: Situation, arrival: Arrival) -> None:
        self.kills += 1
        self.points[arrival.point] = self.points.get(arrival.point, 0) + 1
        killed = (Killed(situation.flight, arrival.point, arrival.n),)
        left = kill(situation, arrival)
        if isinstance(left, Violation):
            self._tell(edge, situation, killed, (), left)
            return
        actions = recovery(situation.flight)
        violation = recover(situation, left, actions)
        if violation is not None:
            self._tell(edge, situation, killed, actions, violation)

    def _tell(
        self,
        edge: int,
        situation: Situation,
        kills: tuple[Killed, ...],
        actions: Sequence[Action],
        violation: Violation,
    ) -> None:
        done = tuple(one.action for one in self.records if not one.declined)
        since = self._camp()[1]
        history = done[: len(done) - len(since)]
        name, why = self.chart.label(edge).rule, "a kill along the explored graph"
        scenario = Scenario(name, why, history, situation.flight, situation.warm)
        self.stories.append(Story(scenario, kills, tuple(actions), violation))
