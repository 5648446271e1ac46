"""What is wrong with a trace is said with its place, in plain words; a fault is not called a kill."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from crash_tests import faults, ground, stories, trial
from crash_tests.gated import faults as ledger_faults
from crash_tests.gated import scenarios as ledger_scenarios
from crash_tests.gated import stories as ledger_stories
from crash_tests.gated import tamper
from crash_tests.gated import trial as ledger_trial
from crash_tests.gated.changes import Change
from crash_tests.oracle import Violation
from crash_tests.reading import StoryError
from crash_tests.replays import replay_trace
from crash_tests.scenarios import SCENARIOS
from impl import transaction
from impl.gated.mirror import Mirror

WRONG = Violation("C6", "something is wrong", (), 1)


def coordinators() -> dict[str, Any]:
    scenario = SCENARIOS["reserve"]
    kills = (stories.Killed(scenario.flight, "state-rename-before", 1),)
    fault = faults.Fault("state-rename-before", 1, 5)
    made: dict[str, Any] = json.loads(
        json.dumps(stories.Story(scenario, kills, scenario.flight, WRONG, fault=fault).to_json())
    )
    return made | {"broken_off": ["state-write-after", 1]}


def ledgers() -> dict[str, Any]:
    scenario = ledger_scenarios.SCENARIOS["transact"]
    kills = (ledger_stories.Killed(scenario.flight, "ledger-fsync-before", 1),)
    fault = ledger_faults.Fault("ledger-fsync-before", 1, 5)
    made: dict[str, Any] = json.loads(
        json.dumps(ledger_stories.Story(scenario, kills, scenario.flight, WRONG, fault=fault).to_json())
    )
    return made


READERS: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[Any], Any]]] = {
    "coordinator": (coordinators, stories.story_from_json),
    "ledger": (ledgers, ledger_stories.story_from_json),
}
BOTH = pytest.mark.parametrize("system", READERS)


@BOTH
def test_what_is_read_is_what_was_written(system: str) -> None:
    trace, read = READERS[system][0](), READERS[system][1]
    # What a violation differed in belongs to the run in which it was found; it is not read again.
    assert read(trace).to_json() == trace


@BOTH
def test_each_field_that_is_missing_is_named(system: str) -> None:
    make, read = READERS[system]
    unread = {"kind", "system", "trial", "clause"}
    for name in set(make()) - unread:
        trace = make()
        del trace[name]
        with pytest.raises(StoryError, match=rf"^{name}: missing; it may have been cut off"):
            read(trace)


@BOTH
@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("schema_version",), 9, "schema_version: 9, and this version of holdtrue reads 1"),
        (("name",), 3, "name: a text is needed, and a whole number (3) stands there"),
        (("history",), {"do": "x"}, "history: a list is needed, and an object ({'do': 'x'}) stands there"),
        (("kills",), None, "kills: a list is needed, and null stands there"),
        (("kills", 0), "x", "kills[0]: an object is needed, and a text ('x') stands there"),
        (("kills", 0, "n"), "1", "kills[0].n: a whole number is needed, and a text ('1') stands there"),
        (("kills", 0, "n"), True, "kills[0].n: a whole number is needed, and true or false (True)"),
        (("kills", 0, "during", 0), 5, "kills[0].during[0]"),
        (("after", 0, "do"), "fly", "after[0].do: 'fly' is no action"),
        (("survivor",), 0, "survivor: true or false is needed, and a whole number (0) stands there"),
        (("fault", "errno"), "EWHAT", "fault.errno: 'EWHAT' is no error number's name"),
        (("fault", "point"), "moon", "fault.point: 'moon' is no marked point of this version's store"),
        (("violation",), [], "violation: an object is needed, and a list ([]) stands there"),
        (("violation", "action"), 1.5, "violation.action: a whole number is needed, and a float (1.5)"),
    ],
)
def test_what_is_of_the_wrong_kind_is_named_with_its_place(
    system: str, path: tuple[Any, ...], value: object, told: str
) -> None:
    make, read = READERS[system]
    trace = make()
    held: Any = trace
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] = value
    with pytest.raises(StoryError) as refused:
        read(trace)
    assert str(refused.value).startswith(told)
    assert "Error" not in str(refused.value)


def test_a_flight_that_was_broken_off_has_a_point_and_a_number() -> None:
    with pytest.raises(StoryError, match="broken_off: a point and a number are needed, and 1 items"):
        stories.story_from_json(coordinators() | {"broken_off": ["state-write-after"]})
    with pytest.raises(StoryError, match=r"broken_off\[1\]: a whole number is needed"):
        stories.story_from_json(coordinators() | {"broken_off": ["state-write-after", "1"]})


def test_nobody_is_killed_in_what_is_no_call() -> None:
    trace = ledgers() | {"flight": [{"do": "closeLedger", "client": "a"}]}
    with pytest.raises(StoryError, match=r"flight\[0\]: nobody is killed in 'closeLedger'"):
        ledger_stories.story_from_json(trace)


@pytest.mark.parametrize("system", ["coordinator", "ledger"])
def test_a_race_that_is_not_known_is_named(system: str) -> None:
    race = {"kind": "kill", "system": system, "trial": "race", "name": "no-such", "clause": "C7"}
    with pytest.raises(StoryError, match=r"^name: 'no-such' is no race of this version"):
        replay_trace(race)
    with pytest.raises(StoryError, match=r"^clause: missing"):
        replay_trace({key: value for key, value in race.items() if key != "clause"})


def test_a_tampering_that_cant_be_done_is_named() -> None:
    change: dict[str, Any] = dict(Change("ledger.jsonl", "line-removed", 1).to_json())
    trace = {"kind": "kill", "system": "ledger", "trial": "tampering", "clause": "x", "victim": "pristine"}
    for wrong, told in (
        ({"at": 99}, "change: ledger.jsonl: line-removed, line 99, 0 can't be done"),
        ({"kind": "burnt"}, "change: ledger.jsonl: burnt"),
        ({"file": "else"}, "change: there is no file 'else'"),
        ({"n": None}, "change.n: a whole number is needed, and null stands there"),
    ):
        with pytest.raises(StoryError, match=f"^{told}"):
            replay_trace({**trace, "change": {**change, **wrong}})
    with pytest.raises(StoryError, match=f"^victim: 'nobody' is none of {', '.join(tamper.VICTIMS)}"):
        replay_trace({**trace, "change": change, "victim": "nobody"})


def test_after_a_fault_of_the_ledger_nobody_speaks_of_a_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        ground.ground() as place,
        ledger_trial.prepared(ledger_scenarios.SCENARIOS["transact"], place) as one,
    ):
        monkeypatch.setattr(Mirror, "replay", lambda _self, lines: len(list(lines)))
        found = ledger_faults.strike(one, ledger_faults.Fault("mirror-insert-before", 1, 5))
    assert found is not None
    assert "after the fault the store does not work on" in found.title
    assert "kill" not in found.title


def test_after_a_fault_of_the_coordinator_nobody_speaks_of_a_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "remove_leftovers", lambda _directory: None)
    with ground.ground() as place, trial.prepared(SCENARIOS["reserve"], place) as situation:
        found = faults.strike(situation, faults.Fault("state-rename-before", 1, 5, untidy=True))
    assert found is not None
    assert "after the fault the store" in found.title
    assert "kill" not in found.title
