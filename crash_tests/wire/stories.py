"""The story of a target's kill as a trace: told in the form of any kill, replayed only with a target.

`kind` is `kill` and `trial` is `wire`; each kill also says in what `way` the target died. A marked point and
a system call come again; a random moment may not, so a replay tries it several times.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from crash_tests.oracle import Violation
from crash_tests.scenarios import Scenario
from crash_tests.wire import calls
from crash_tests.wire.trial import CALL, MOMENT, POINT, REPLY, Left, Trial, Way
from model.actions import Action
from model.forms import action_from_json, action_to_json
from model.values import JSON
from stateful_tests.lockstep import DivergedError
from stateful_tests.results import Failure
from stateful_tests.wire.faults import TargetFaultError
from stateful_tests.wire.runners import REPRODUCE, Aim

TRIAL: Final = "wire"
SCHEMA_VERSION: Final = 1
_WORDS: Final = {MOMENT: "a random moment", REPLY: "the moment after its reply"}
_AGAIN: Final = 10


class WireStoryError(ValueError):
    """A trace of a target's kill can't be read. The message names the place in it."""


class DriftedError(Exception):
    """The target no longer comes to the place where it was killed, so the story can't be told again."""


@frozen
class KilledTarget:
    """A target died in this `way` while it was doing `during`."""

    during: tuple[Action, ...]
    way: Way

    def to_json(self) -> dict[str, JSON]:
        way = self.way
        point = f"the system call {way.name}" if way.kind == CALL else _WORDS.get(way.kind, way.name)
        return {
            "during": [action_to_json(one) for one in self.during],
            "point": point,
            "n": way.nth,
            "way": {"kind": way.kind, "name": way.name, "nth": way.nth, "delayS": way.delay_s},
        }


def killed(during: tuple[Action, ...], way: Way) -> KilledTarget:
    return KilledTarget(during, way)


def failure(
    scenario: Scenario, kills: Sequence[KilledTarget], after: Sequence[Action], violation: Violation
) -> Failure:
    where = "".join(f" killed at {one.to_json()['point']} ({one.way.nth})" for one in kills)
    trace: dict[str, JSON] = {
        "kind": "kill",
        "trial": TRIAL,
        "schema_version": SCHEMA_VERSION,
        "name": scenario.name,
        "why": scenario.why,
        "layout": scenario.layout,
        "history": [action_to_json(one) for one in scenario.history],
        "broken_off": None,
        "flight": [action_to_json(one) for one in scenario.flight],
        "kills": [one.to_json() for one in kills],
        "after": [action_to_json(one) for one in after],
        "survivor": False,
        "fault": None,
        "violation": violation.to_json(),
        "clause": violation.clause,
    }
    return Failure(trace, f"{scenario.name}{where}: {violation.title}", violation.clause, REPRODUCE)


def again(trace: Mapping[str, Any], aim: Aim, root: Path) -> Violation | None:
    """Tells the story again, on stores below `root`: what is wrong, if anything.

    Raises `WireStoryError` if there is no story, `DriftedError` if it can't be told any more.
    """
    scenario, ways = _read(trace)
    for number in range(_AGAIN if any(way.kind == MOMENT for way in ways) else 1):
        found = _once(Trial(aim, scenario, root / f"{number}" / "store"), ways, root)
        if found is not None:
            return found
    return None


def _once(trial: Trial, ways: tuple[Way, ...], root: Path) -> Violation | None:
    try:
        if not ways:
            trial.record()
            return None
        way = ways[0]
        if way.kind == CALL:
            way = _found_again(trial, way, root)
            trial = Trial(trial.aim, trial.scenario, trial.directory.parent / "again" / "store")
        left: Left | Violation | None = trial.kill(way)
        for then in ways[1:]:
            if isinstance(left, Left):
                left = trial.kill_recovering(left, then)
    except DivergedError as error:
        found = error.record.divergence
        assert found is not None
        return Violation(found.clause, found.title, found.differences)
    except TargetFaultError as fault:
        return Violation(f"protocol: {fault.kind}", f"the target {fault}")
    if left is None:
        raise DriftedError("the target no longer comes to the place where it was killed")
    return left if isinstance(left, Violation) else trial.recover(left)[0]


def _found_again(trial: Trial, way: Way, root: Path) -> Way:
    """The same call of the flight, whatever its number is for strace today."""
    why = calls.usable()
    if why is not None:
        raise WireStoryError(f"kills[0].way: it was killed at a system call, and {why}")
    log = root / "calls"
    recorded = trial.record(calls.recording(log), log)
    for place in calls.places(log, recorded.log_start, trial.directory):
        if (place.name, place.nth) == (way.name, way.nth):
            return Way(CALL, place.name, place.nth, place)
    raise DriftedError(f"the target no longer makes system call {way.nth} of {way.name} there")


def _read(trace: Mapping[str, Any]) -> tuple[Scenario, tuple[Way, ...]]:
    try:
        if trace["schema_version"] != SCHEMA_VERSION:
            raise WireStoryError(f"schema_version: {trace['schema_version']!r}; known is {SCHEMA_VERSION}")
        scenario = Scenario(
            str(trace["name"]),
            str(trace["why"]),
            _actions(trace["history"], "history"),
            _actions(trace["flight"], "flight"),
            "missing" if trace["layout"] == "missing" else "existing",
        )
        return scenario, tuple(_way(kill, f"kills[{at}].way") for at, kill in enumerate(trace["kills"]))
    except WireStoryError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise WireStoryError(f"no story of a target's kill: {type(error).__name__}: {error}") from None


def _way(kill: Mapping[str, Any], where: str) -> Way:
    told = kill["way"]
    kind, delay = str(told["kind"]), float(told["delayS"])
    if kind not in (CALL, MOMENT, POINT, REPLY):
        raise WireStoryError(f"{where}.kind: {kind!r} is none")
    return Way(kind, str(told["name"]), int(told["nth"]), None, delay)


def _actions(forms: Any, where: str) -> tuple[Action, ...]:
    return tuple(action_from_json(form, f"{where}[{index}]") for index, form in enumerate(forms))
