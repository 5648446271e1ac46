"""A failing trial of the ledger as a story: what had happened, what was in flight, where it was struck.

`tell` performs a story again on this version of the store. Its JSON holds the actions themselves, so a trace
outlives the scenario that it came from. It is a coordinator's story in form (`crash_tests.stories`), with
`"system": "ledger"`, and with what the killed process did before, unharmed.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from attrs import field, frozen

from crash_tests.gated.faults import Fault, fault_from_json, strike
from crash_tests.gated.scenarios import Scenario
from crash_tests.gated.survivors import Survivor
from crash_tests.gated.trial import Situation, awoken, kill, prepared, record, recover
from crash_tests.ground import ground
from crash_tests.oracle import Violation
from crash_tests.reading import Fields, StoryError
from crash_tests.stories import REPRODUCE, Watch
from model.gated.actions import Action, Call
from model.gated.forms import action_from_json, action_to_json
from model.values import JSON
from stateful_tests.pair import DivergedError
from stateful_tests.results import Failure

SCHEMA_VERSION = 1


@frozen
class Killed:
    """A process died at the `n`-th arrival at `point`, while it was doing `during`. `left` tells people what
    was on disk then, where that was looked at."""

    during: tuple[Call, ...]
    point: str
    n: int
    left: Mapping[str, JSON] | None = field(default=None, eq=False)

    def to_json(self) -> dict[str, JSON]:
        told: dict[str, JSON] = {"during": _to_json(self.during), "point": self.point, "n": self.n}
        return told if self.left is None else {**told, "left": dict(self.left)}


@frozen
class Story:
    """`kills` are the processes that died: first the one in flight, then each that tried to recover.

    `after` are the actions performed when all kills were over: by a fresh process or, with `survivor`, by one
    that had the store open all the time. With a `fault` nobody dies: a step fails. With neither, the scenario
    goes wrong by itself.
    """

    scenario: Scenario
    kills: tuple[Killed, ...]
    after: tuple[Action, ...]
    violation: Violation
    survivor: bool = False
    fault: Fault | None = None

    def to_json(self) -> dict[str, JSON]:
        scenario = self.scenario
        return {
            "kind": "kill",
            "system": "ledger",
            "trial": "fault" if self.fault else "kill",
            "schema_version": SCHEMA_VERSION,
            "name": scenario.name,
            "why": scenario.why,
            "history": _to_json(scenario.history),
            "warm": _to_json(scenario.warm),
            "flight": _to_json(scenario.flight),
            "kills": [killed.to_json() for killed in self.kills],
            "after": _to_json(self.after),
            "survivor": self.survivor,
            "fault": None if self.fault is None else self.fault.to_json(),
            "violation": self.violation.to_json(),
            "clause": self.violation.clause,
        }

    def failure(self) -> Failure:
        return Failure(self.to_json(), self.title, self.violation.clause, REPRODUCE)

    @property
    def title(self) -> str:
        where = ", then at ".join(f"{one.point} ({one.n})" for one in self.kills)
        killed = f" killed at {where}" if where else ""
        return f"{self.scenario.name}{killed}: {self.violation.title}"


def story_from_json(data: Mapping[str, Any]) -> Story:
    """The story in a trace of the kind `kill` whose system is the ledger. Raises `StoryError`."""
    trace = Fields(data)
    trace.version(SCHEMA_VERSION)
    scenario = Scenario(
        trace.text("name"),
        trace.text("why"),
        _actions(trace, "history"),
        _calls(trace, "flight"),
        _actions(trace, "warm"),
    )
    kills = tuple(
        Killed(_calls(one, "during"), one.text("point"), one.number("n"), one.free("left"))
        for one in trace.objects("kills")
    )
    seen, fault = trace.nested("violation"), trace.maybe("fault")
    violation = Violation(seen.text("clause"), seen.text("title"), (), seen.number("action"))
    struck = None if fault is None else fault_from_json(fault)
    return Story(scenario, kills, _actions(trace, "after"), violation, trace.flag("survivor"), struck)


def _to_json(actions: Sequence[Action]) -> list[JSON]:
    return [action_to_json(action) for action in actions]


def _actions(trace: Fields, name: str) -> tuple[Action, ...]:
    return trace.each(name, action_from_json)


def _calls(trace: Fields, name: str) -> tuple[Call, ...]:
    return trace.each(name, _call)


def _call(form: object, where: str) -> Call:
    action = action_from_json(form, where)
    if not isinstance(action, Call):
        raise StoryError(f"{where}: nobody is killed in {action_to_json(action)['do']!r}, which is no call")
    return action


def _unwatched(_moment: str, _directory: Path, _steps: Sequence[str]) -> None:
    """Nobody looks on."""


def tell(story: Story, lefts: list[JSON] | None = None, watch: Watch | None = None) -> Violation | str | None:
    """What is wrong when `story` happens now; a string where it can't happen as it did.

    What each kill, or the failing step, left is added to `lefts`, as in `Killed.left`. `watch` sees the
    store's directory after each kill, and at the end.
    """
    watch = watch or _unwatched
    with ground() as place:
        try:
            with prepared(story.scenario, place) as situation:
                if story.fault is not None:
                    found = _struck(story.fault, situation, [] if lefts is None else lefts)
                else:
                    found = _killed(story, situation, [] if lefts is None else lefts, watch)
                watch("end", place.directory, ())
                return found
        except DivergedError as error:
            watch("end", place.directory, ())
            return diverged(error)


def diverged(error: DivergedError) -> Violation:
    """The violation of a scenario that goes wrong without any kill."""
    divergence = error.record.divergence
    assert divergence is not None
    title = f"without any kill: {divergence.title}"
    return Violation(divergence.clause, title, divergence.differences, divergence.index)


def _struck(fault: Fault, situation: Situation, lefts: list[JSON]) -> Violation | str | None:
    if (fault.point, fault.n) not in {(one.point, one.n) for one in record(situation)}:
        return f"the store no longer comes to {fault.point} ({fault.n}) there"
    found = strike(situation, fault)
    lefts.append(dict(situation.left))
    return found


def _killed(story: Story, first: Situation, lefts: list[JSON], watch: Watch) -> Violation | str | None:
    with ExitStack() as stack:
        situation, left = first, None
        for number, killed in enumerate(story.kills):
            if left is not None:
                situation = stack.enter_context(awoken(first.ground, left, killed.during))
            steps = record(situation)
            passed = {(one.point, one.n): one for one in steps}
            arrival = passed.get((killed.point, killed.n))
            if arrival is None:
                which = f"kill {number + 1} of {len(story.kills)}: " if len(story.kills) > 1 else ""
                return f"{which}the store no longer comes to {killed.point} ({killed.n}) there"
            if story.survivor:
                first.ground.put_back(first.picture)
                survivor = stack.enter_context(Survivor(first))
            found = kill(situation, arrival, put_back=not story.survivor)
            lefts.append(dict(situation.left))
            watch(f"kill-{number + 1}", first.ground.directory, [one.key for one in steps])
            if isinstance(found, Violation):
                return found
            left = found
        if left is None:
            record(situation)
            return None
        return (
            survivor.work_on(left, story.after) if story.survivor else recover(situation, left, story.after)
        )
