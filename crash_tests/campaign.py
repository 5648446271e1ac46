"""A scenario killed everywhere: at every point that it passes, and then at every point of its recovery.

Counts what was really done, by the keys `kill/<scenario>/<point>#<n>` and `point/<point>`, and for kills of
a recovery `kill/<scenario>, recovering/<point>#<n>` and `recovery/<scenario>`. What a kill of the scenario
itself left is `left/<scenario>/<point>/<before, after, ...>`, or `.../none of these`. Recoveries that start
from the same bytes and the same knowledge are the same recovery, so each of them is killed once, however
many kills lead to it.

After a few failures a scenario is left: one is enough to act on, and a broken store has hundreds.
"""

import random
from collections import Counter, deque
from collections.abc import Sequence

from attrs import define, field, frozen

from crash_tests.afterwards import probes, recovery, reopening
from crash_tests.ground import Ground, ground
from crash_tests.oracle import Violation
from crash_tests.scenarios import Scenario
from crash_tests.stories import Killed, Story, diverged
from crash_tests.trial import (
    Aftermath,
    Arrival,
    Situation,
    awoken,
    kill,
    prepared,
    record,
    recover,
    survive,
    survivors,
)
from model.actions import Action
from stateful_tests.lockstep import DivergedError
from stateful_tests.results import Failure

ENOUGH = 3
"""Failures after which a scenario is left."""
OF_NONE = "none of these"
"""What a kill left, in the counts, if it is none of the worlds that it may leave."""


@frozen
class Reach:
    """How far a campaign goes.

    `again`: how many of the distinct recoveries of a scenario are killed themselves; `share`: which part of
    each one's points (1 is all); `depth`: how many kills there are in a row at most; `newer`: after which
    part of the kills a host of the next epoch recovers as well; `survivors`: after which part of the first
    kills the hosts of another process, which lived through it, have to work on as well.
    """

    again: int = 0
    share: float = 1.0
    depth: int = 2
    newer: float = 0.0
    survivors: float = 0.0


@define
class Campaign:
    """Kills one scenario after another and keeps the score."""

    reach: Reach
    seed: int = 0
    counts: Counter[str] = field(factory=Counter)
    failures: list[Failure] = field(factory=list)

    def run(self, scenario: Scenario) -> None:
        failed = len(self.failures)
        with ground(missing=scenario.layout == "missing") as place:
            try:
                with prepared(scenario, place) as situation:
                    _Run(self, scenario, situation, failed + ENOUGH).everywhere()
            except DivergedError as error:
                self.failures.append(Story(scenario, (), (), diverged(error)).failure())


@define
class _Left:
    """What a chain of kills left, to be recovered from again and again."""

    kills: tuple[Killed, ...]
    aftermath: Aftermath


@define
class _Run:
    campaign: Campaign
    scenario: Scenario
    situation: Situation
    most: int
    draw: random.Random = field(init=False)
    asked: dict[str, float] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.draw = random.Random(f"{self.campaign.seed}/{self.scenario.name}")

    @property
    def place(self) -> Ground:
        return self.situation.ground

    @property
    def given_up(self) -> bool:
        return len(self.campaign.failures) >= self.most

    def due(self, what: str, share: float) -> bool:
        """True for `share` of the times that it is asked about `what`, evenly, from a drawn beginning."""
        so_far = self.asked.setdefault(what, self.draw.random())
        self.asked[what] = (so_far + share) % 1 if share < 1 else so_far
        return so_far + share >= 1

    def everywhere(self) -> None:
        lefts = self.killed_in(self.situation, (), record(self.situation))
        reach = self.campaign.reach
        seen: set[tuple[str, bytes, str]] = set()
        chosen = _distinct(lefts, seen)
        if len(chosen) > reach.again:
            chosen = self.draw.sample(chosen, reach.again)
        pending = deque(chosen)
        while pending and not self.given_up:
            left = pending.popleft()
            for newer in (False, True) if self.due("newer, again", reach.newer) else (False,):
                more = self.again(left, newer=newer)
                if len(left.kills) + 1 < reach.depth:
                    pending.extend(_distinct(more, seen))

    def again(self, left: _Left, *, newer: bool) -> list[_Left]:
        """Kills the recovery from `left`."""
        opens = reopening(self.scenario.flight, left.aftermath.decided.world, newer=newer)
        with awoken(self.place, left.aftermath, opens) as situation:
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
            left = kill(situation, arrival)
            kills = (*before, Killed(situation.flight, arrival.point, arrival.n, situation.left))
            if not before:
                label = OF_NONE if isinstance(left, Violation) else left.decided.label
                self.campaign.counts[f"left/{self.scenario.name}/{arrival.point}/{label}"] += 1
            if isinstance(left, Violation):
                self.fail(kills, (), left)
            else:
                self.judge(situation, kills, left, recovery(self.scenario.flight, left.decided.world))
                kept = _Left(kills, left)
                self.recovered_otherwise(situation, kept)
                lefts.append(kept)
            self.count(arrival, again=bool(before))
        return lefts

    def count(self, arrival: Arrival, *, again: bool) -> None:
        counts = self.campaign.counts
        counts[f"point/{arrival.point}"] += 1
        if not again:
            counts[f"kill/{self.scenario.name}/{arrival.key}"] += 1
        else:
            counts[f"kill/{self.scenario.name}, recovering/{arrival.key}"] += 1
            counts[f"recovery/{self.scenario.name}"] += 1

    def recovered_otherwise(self, situation: Situation, left: _Left) -> None:
        """Recovers from `left` in each further way that this campaign asks for."""
        if self.due("newer", self.campaign.reach.newer):
            self.place.put_back(left.aftermath.picture)
            actions = recovery(self.scenario.flight, left.aftermath.decided.world, newer=True)
            self.judge(situation, left.kills, left.aftermath, actions)
            self.campaign.counts[f"newer/{self.scenario.name}"] += 1
        if len(left.kills) == 1 and self.due("survivors", self.campaign.reach.survivors):
            self.survived(left)

    def judge(
        self, situation: Situation, kills: tuple[Killed, ...], left: Aftermath, actions: tuple[Action, ...]
    ) -> None:
        violation = recover(situation, left, actions)
        if violation is not None:
            self.fail(kills, actions, violation)

    def survived(self, left: _Left) -> None:
        """The warm store of this process stands for another one, which lived through the kill."""
        situation, world = self.situation, left.aftermath.decided.world
        actions = tuple(
            action for host in survivors(situation) for action in probes(self.scenario.flight, world, host)
        )
        if not actions:
            return
        self.place.put_back(left.aftermath.picture)
        violation = survive(situation, left.aftermath, actions)
        self.campaign.counts[f"survivor/{self.scenario.name}"] += 1
        if violation is not None:
            self.fail(left.kills, actions, violation, survivor=True)

    def fail(
        self,
        kills: tuple[Killed, ...],
        actions: tuple[Action, ...],
        violation: Violation,
        *,
        survivor: bool = False,
    ) -> None:
        story = Story(self.scenario, kills, actions, violation, survivor)
        self.campaign.failures.append(story.failure())


def _distinct(lefts: Sequence[_Left], seen: set[tuple[str, bytes, str]]) -> list[_Left]:
    """Those whose recovery is not that of one in `seen`, which they are added to."""
    fresh = []
    for left in lefts:
        likeness = (left.aftermath.picture.likeness, left.aftermath.memory, left.aftermath.decided.label)
        if likeness not in seen:
            seen.add(likeness)
            fresh.append(left)
    return fresh
