"""A failing trial as a story: what had happened, what was in flight, where it was killed, what went wrong.

`tell` performs a story again on this version of the store: same history, same kills or fault, same actions
afterwards. Its JSON holds the actions themselves, so a trace outlives the scenario that it came from.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from attrs import field, frozen

from crash_tests.faults import Fault, fault_from_json, strike
from crash_tests.ground import ground
from crash_tests.oracle import Violation
from crash_tests.reading import Fields, checked
from crash_tests.reading import StoryError as StoryError
from crash_tests.scenarios import Scenario
from crash_tests.trial import Situation, awoken, kill, prepared, record, recover, survive
from model.actions import Action
from model.forms import action_from_json, action_to_json
from model.values import JSON
from stateful_tests.lockstep import DivergedError
from stateful_tests.results import Failure

SCHEMA_VERSION = 1

Watch = Callable[[str, Path, Sequence[str]], None]
"""Is told of a moment, of the store's directory as it stands then, and of the points that what was killed
passes when it is not killed, in order."""
REPRODUCE = "holdtrue replay {trace}"


@frozen
class Killed:
    """A process died at the `n`-th arrival at `point`, while it was doing `during`. `left` tells people what
    was on disk then, where that was looked at."""

    during: tuple[Action, ...]
    point: str
    n: int
    left: Mapping[str, JSON] | None = field(default=None, eq=False)

    def to_json(self) -> dict[str, JSON]:
        told: dict[str, JSON] = {"during": _to_json(self.during), "point": self.point, "n": self.n}
        return told if self.left is None else {**told, "left": dict(self.left)}


@frozen
class Story:
    """`kills` are the processes that died: first the one in flight, then each that tried to recover.

    `after` are the actions performed when all kills were over: by a fresh process or, with `survivor`, by
    another one that had the store open all the time. With a `fault` nobody dies: a disk step fails. With
    neither, the scenario goes wrong by itself.
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
            "trial": "fault" if self.fault else "kill",
            "schema_version": SCHEMA_VERSION,
            "name": scenario.name,
            "why": scenario.why,
            "layout": scenario.layout,
            "history": _to_json(scenario.history),
            "broken_off": None if scenario.broken_off is None else list(scenario.broken_off),
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
    """The story in a trace of the kind `kill`. Raises `StoryError`."""
    trace = Fields(data)
    trace.version(SCHEMA_VERSION)
    scenario = Scenario(
        trace.text("name"),
        trace.text("why"),
        _actions(trace, "history"),
        _actions(trace, "flight"),
        "missing" if trace.text("layout") == "missing" else "existing",
        _broken_off(trace),
    )
    kills = tuple(
        Killed(_actions(one, "during"), one.text("point"), one.number("n"), one.free("left"))
        for one in trace.objects("kills")
    )
    seen, fault = trace.nested("violation"), trace.maybe("fault")
    violation = Violation(seen.text("clause"), seen.text("title"), (), seen.number("action"))
    struck = None if fault is None else fault_from_json(fault)
    return Story(scenario, kills, _actions(trace, "after"), violation, trace.flag("survivor"), struck)


def _broken_off(trace: Fields) -> tuple[str, int] | None:
    if trace.any("broken_off") is None:
        return None
    parts = list(trace.items("broken_off"))
    if len(parts) != 2:
        raise StoryError(f"broken_off: a point and a number are needed, and {len(parts)} items stand there")
    return checked(parts[0][0], str, parts[0][1]), checked(parts[1][0], int, parts[1][1])


def _to_json(actions: Sequence[Action]) -> list[JSON]:
    return [action_to_json(action) for action in actions]


def _actions(trace: Fields, name: str) -> tuple[Action, ...]:
    return trace.each(name, action_from_json)


def _unwatched(_moment: str, _directory: Path, _steps: Sequence[str]) -> None:
    """Nobody looks on."""


def tell(story: Story, lefts: list[JSON] | None = None, watch: Watch | None = None) -> Violation | str | None:
    """What is wrong when `story` happens now; a string where it can't happen as it did.

    What each kill, or the failing step, left is added to `lefts`, as in `Killed.left`. `watch` sees the
    store's directory after each kill, and at the end.
    """
    watch = watch or _unwatched
    with ground(missing=story.scenario.layout == "missing") as place:
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
    place = first.ground
    with ExitStack() as stack:
        situation, left = first, None
        for number, killed in enumerate(story.kills):
            if left is not None:
                situation = stack.enter_context(awoken(place, left, killed.during))
            steps = record(situation)
            passed = {(one.point, one.n): one for one in steps}
            arrival = passed.get((killed.point, killed.n))
            if arrival is None:
                which = f"kill {number + 1} of {len(story.kills)}: " if len(story.kills) > 1 else ""
                return f"{which}the store no longer comes to {killed.point} ({killed.n}) there"
            found = kill(situation, arrival)
            lefts.append(dict(situation.left))
            watch(f"kill-{number + 1}", first.ground.directory, [one.key for one in steps])
            if isinstance(found, Violation):
                return found
            left = found
        if left is None:
            record(situation)
            return None
        if story.survivor:
            return survive(first, left, story.after)
        return recover(situation, left, story.after)
