"""A scenario of the ledger killed everywhere: at every point that it passes, then at those of its recovery.

Counts what was really done: `ledger/kill/<scenario>/<point>#<n>`, `ledger/point/<point>`, for kills of a
recovery `ledger/kill/<scenario>, recovering/<point>#<n>` and `ledger/recovery/<scenario>`,
`ledger/left/<scenario>/<point>/<what a kill of the scenario itself left>`, and
`ledger/survivor/<scenario>`. Recoveries of the same world and the same files are one recovery.

After a few failures a scenario is left: one is enough to act on, and a broken store has hundreds.
"""

import random
from collections import Counter
from collections.abc import Sequence

from attrs import define, evolve, field

from crash_tests.campaign import ENOUGH, OF_NONE, Reach
from crash_tests.gated.scenarios import CLIENT, Scenario
from crash_tests.gated.stories import Killed, Story, diverged
from crash_tests.gated.survivors import NAME, Survivor, can_live_through
from crash_tests.gated.trial import (
    Aftermath,
    Arrival,
    Situation,
    asked_again,
    awoken,
    kill,
    prepared,
    record,
    recover,
    recovery,
)
from crash_tests.ground import ground
from crash_tests.oracle import Violation
from model.gated.actions import Action, OpenLedger
from stateful_tests.pair import DivergedError
from stateful_tests.results import Failure


@define
class _Left:
    """What a chain of kills left, to be recovered from again."""

    kills: tuple[Killed, ...]
    aftermath: Aftermath


@define
class Campaign:
    """Kills one scenario after another and keeps the score.

    `reach.again` bounds how many recoveries are killed after each kill; `reach.newer` means nothing here.
    """

    reach: Reach
    seed: int = 0
    counts: Counter[str] = field(factory=Counter)
    failures: list[Failure] = field(factory=list)

    def run(self, scenario: Scenario) -> None:
        with ground() as place:
            try:
                with prepared(scenario, place) as situation:
                    _Run(self, scenario, situation, len(self.failures) + ENOUGH).everywhere()
            except DivergedError as error:
                self.failures.append(Story(scenario, (), (), diverged(error)).failure())


@define
class _Run:
    campaign: Campaign
    scenario: Scenario
    situation: Situation
    most: int
    draw: random.Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.draw = random.Random(f"{self.campaign.seed}/ledger/{self.scenario.name}")

    @property
    def given_up(self) -> bool:
        return len(self.campaign.failures) >= self.most

    def everywhere(self) -> None:
        reach = self.campaign.reach
        lefts = self.killed_in(self.situation, (), record(self.situation))
        seen: set[tuple[object, ...]] = set()
        chosen = self.some(_distinct(lefts, seen))
        while chosen and not self.given_up:
            left = chosen.pop(0)
            more = self.again(left)
            if len(left.kills) + 1 < reach.depth:
                chosen += self.some(_distinct(more, seen))

    def some(self, lefts: list[_Left]) -> list[_Left]:
        """Those of which the recoveries are killed."""
        many = self.campaign.reach.again
        return lefts if len(lefts) <= many else self.draw.sample(lefts, many)

    def again(self, left: _Left) -> list[_Left]:
        """Kills the recovery from `left`."""
        with awoken(self.situation.ground, left.aftermath, (OpenLedger(CLIENT),)) as situation:
            arrivals = record(situation)
            share = self.campaign.reach.share
            if share < 1:
                arrivals = tuple(self.draw.sample(arrivals, max(1, round(len(arrivals) * share))))
            return self.killed_in(situation, left.kills, arrivals)

    def killed_in(
        self, situation: Situation, before: tuple[Killed, ...], arrivals: Sequence[Arrival]
    ) -> list[_Left]:
        """Kills `situation` at each of `arrivals`; what that left, where it was as it should be."""
        lefts = []
        for arrival in arrivals:
            if self.given_up:
                break
            kills = (*before, Killed(situation.flight, arrival.point, arrival.n))
            left = self.killed_once(situation, kills, arrival, first=not before)
            if not before:
                label = OF_NONE if left is None else left.decided.label
                self.campaign.counts[f"ledger/left/{self.scenario.name}/{arrival.point}/{label}"] += 1
            if left is not None:
                lefts.append(_Left(_seen(kills, situation), left))
            self.count(arrival, again=bool(before))
        return lefts

    def killed_once(
        self, situation: Situation, kills: tuple[Killed, ...], arrival: Arrival, *, first: bool
    ) -> Aftermath | None:
        survives = first and self.draw.random() < self.campaign.reach.survivors
        if survives and can_live_through(situation):
            situation.ground.put_back(situation.picture)
            with Survivor(situation) as other:
                left = kill(situation, arrival, put_back=False)
                if not isinstance(left, Violation):
                    actions = asked_again(self.scenario.flight, NAME)
                    self.judge(_seen(kills, situation), actions, other.work_on(left, actions), survivor=True)
                    self.campaign.counts[f"ledger/survivor/{self.scenario.name}"] += 1
            if not isinstance(left, Violation):
                situation.ground.put_back(left.picture)
        else:
            left = kill(situation, arrival)
        if isinstance(left, Violation):
            self.judge(_seen(kills, situation), (), left)
            return None
        actions = recovery(self.scenario.flight)
        self.judge(_seen(kills, situation), actions, recover(situation, left, actions))
        return left

    def count(self, arrival: Arrival, *, again: bool) -> None:
        counts, name = self.campaign.counts, self.scenario.name
        counts[f"ledger/point/{arrival.point}"] += 1
        if not again:
            counts[f"ledger/kill/{name}/{arrival.key}"] += 1
        else:
            counts[f"ledger/kill/{name}, recovering/{arrival.key}"] += 1
            counts[f"ledger/recovery/{name}"] += 1

    def judge(
        self,
        kills: tuple[Killed, ...],
        actions: tuple[Action, ...],
        violation: Violation | None,
        *,
        survivor: bool = False,
    ) -> None:
        if violation is not None:
            story = Story(self.scenario, kills, actions, violation, survivor=survivor)
            self.campaign.failures.append(story.failure())


def _seen(kills: tuple[Killed, ...], situation: Situation) -> tuple[Killed, ...]:
    """`kills`, the last of which has just happened, with what it left."""
    return (*kills[:-1], evolve(kills[-1], left=situation.left))


def _distinct(lefts: Sequence[_Left], seen: set[tuple[object, ...]]) -> list[_Left]:
    """Those whose recovery is not that of one in `seen`, which they are added to."""
    fresh = []
    for left in lefts:
        if left.aftermath.likeness not in seen:
            seen.add(left.aftermath.likeness)
            fresh.append(left)
    return fresh
