"""The machinery proves itself: a store that is broken on purpose is caught, and so is a broken trial.

Each test breaks the store in this process alone; the children that are forked inherit what is broken.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crash_tests import stories
from crash_tests.afterwards import recovery
from crash_tests.campaign import ENOUGH, Campaign, Reach
from crash_tests.children import HarnessError
from crash_tests.faults import ERROR, TEMPS, Fault, faults, strike
from crash_tests.ground import ground
from crash_tests.holders import forked_holder, replaced_lock, stopped_holder
from crash_tests.jobs import once, race_named
from crash_tests.oracle import ACKNOWLEDGED, STUCK, WHOLE, Violation
from crash_tests.processes import during_dispatch, for_slots
from crash_tests.races import Race
from crash_tests.replays import replay_trace
from crash_tests.scenarios import SCENARIOS
from crash_tests.trial import Arrival, kill, prepared, record, recover
from impl import disk, lock, lockfile, points, transaction
from stateful_tests.memory import remember

Patch = pytest.MonkeyPatch


def _campaign(name: str) -> Campaign:
    campaign = Campaign(Reach())
    campaign.run(SCENARIOS[name])
    return campaign


def _clauses(campaign: Campaign) -> set[str]:
    return {failure.clause for failure in campaign.failures}


def _write_in_place(patch: Patch) -> None:
    def create(subject: str, path: str) -> int:
        points.tell(subject, "create-before")
        descriptor = os.open(path.rsplit(".", 2)[0], os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        points.tell(subject, "create-after")
        return descriptor

    patch.setattr(disk, "create_temp", create)
    patch.setattr(disk, "rename", lambda subject, _source, _target: points.tell(subject, "rename-before"))


def test_a_state_that_is_written_in_place_is_caught(monkeypatch: Patch) -> None:
    _write_in_place(monkeypatch)
    campaign = _campaign("reserve")
    assert len(campaign.failures) == ENOUGH
    assert _clauses(campaign) == {WHOLE}
    assert "reserve killed at state-create-after (1)" in campaign.failures[0].title


def test_a_temporary_file_that_nobody_removes_is_caught(monkeypatch: Patch) -> None:
    monkeypatch.setattr(transaction, "remove_leftovers", lambda _directory: None)
    campaign = _campaign("reserve")
    assert len(campaign.failures) == ENOUGH
    (clause,) = _clauses(campaign)
    assert clause.startswith(STUCK)
    assert "C6" in clause


def test_what_each_kill_left_is_counted() -> None:
    counts = _campaign("reserve").counts
    assert counts["left/reserve/state-rename-before/before"] == 1
    assert counts["left/reserve/state-rename-after/after"] == 1
    left = sum(count for key, count in counts.items() if key.startswith("left/"))
    assert left == sum(count for key, count in counts.items() if key.startswith("kill/reserve/"))


def test_that_a_kill_left_nothing_legal_is_counted(monkeypatch: Patch) -> None:
    _write_in_place(monkeypatch)
    assert _campaign("reserve").counts["left/reserve/state-write-torn/none of these"] == 1


def test_a_publication_that_comes_after_its_answer_is_caught_without_any_kill(monkeypatch: Patch) -> None:
    _write_behind(monkeypatch)
    campaign = _campaign("burst")
    assert len(campaign.failures) == 1
    assert "without any kill" in campaign.failures[0].title


def test_what_a_lying_store_acknowledged_is_missed_after_the_kill(monkeypatch: Patch) -> None:
    with ground() as place, prepared(SCENARIOS["burst"], place) as situation:
        _write_behind(monkeypatch)
        arrival = Arrival("lock-acquire-before", 2, remember(situation.target.around))
        left = kill(situation, arrival)
    assert isinstance(left, Violation)
    assert left.clause == ACKNOWLEDGED


def _write_behind(patch: Patch) -> None:
    """A rename waits until the mutex is taken the next time."""
    waiting: list[tuple[str, str]] = []
    take, rename = lockfile.try_lock, os.replace

    def later(subject: str, source: str, target: str) -> None:
        points.tell(subject, "rename-before")
        hidden = f"{source}.hidden"
        rename(source, hidden)
        waiting.append((hidden, target))

    def taken(descriptor: int) -> bool:
        got = take(descriptor)
        while got and waiting:
            rename(*waiting.pop())
        return got

    patch.setattr(disk, "rename", later)
    patch.setattr(lockfile, "try_lock", taken)


def test_a_lock_that_a_killed_holder_keeps_is_caught(monkeypatch: Patch) -> None:
    held: list[Path] = []

    def take(_descriptor: int) -> bool:
        try:
            (held[0] / "taken").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    drop = lockfile.close_lock

    def dropped(descriptor: int) -> None:
        drop(descriptor)
        (held[0] / "taken").unlink(missing_ok=True)

    with ground() as place, prepared(SCENARIOS["reserve"], place) as situation:
        held.append(place.directory)
        monkeypatch.setattr(lockfile, "try_lock", take)
        monkeypatch.setattr(lockfile, "close_lock", dropped)
        left = kill(situation, record(situation)[2])
        assert not isinstance(left, Violation)
        violation = recover(situation, left, recovery(situation.flight, left.decided.world))
    assert violation is not None
    assert violation.clause.startswith(STUCK)


@pytest.mark.parametrize(
    ("break_it", "clause", "point"),
    [
        (lambda patch: patch.setattr(disk, "unlink_temp", lambda _path: None), TEMPS, "state-write-torn"),
        (lambda patch: _swallow(patch, "sync_file"), ERROR, "state-fsync-before"),
        (lambda patch: _swallow(patch, "sync_directory"), ERROR, "state-dirsync-before"),
    ],
    ids=["draft-not-removed", "failed-fsync-ignored", "failed-directory-sync-ignored"],
)
def test_a_failing_disk_step_that_is_not_dealt_with_is_caught(
    monkeypatch: Patch, break_it: Callable[[Patch], None], clause: str, point: str
) -> None:
    break_it(monkeypatch)
    with ground() as place, prepared(SCENARIOS["reserve"], place) as situation:
        fault = next(fault for fault in faults(record(situation), every_error=False) if fault.point == point)
        violation = strike(situation, fault)
    assert violation is not None
    assert violation.clause == clause


def _swallow(patch: Patch, name: str) -> None:
    really = getattr(disk, name)

    def deaf(*arguments: Any) -> None:
        try:
            really(*arguments)
        except OSError:
            return

    patch.setattr(disk, name, deaf)


def test_a_child_that_is_not_killed_is_a_failure_of_the_harness() -> None:
    with ground() as place, prepared(SCENARIOS["reserve"], place) as situation:
        never = Arrival("state-rename-after", 99, remember(situation.target.around))
        with pytest.raises(HarnessError, match="was to be killed at state-rename-after#99, but it exited"):
            kill(situation, never)


def test_a_child_that_dies_otherwise_is_a_failure_of_the_harness(monkeypatch: Patch) -> None:
    with ground() as place, prepared(SCENARIOS["reserve"], place) as situation:
        monkeypatch.setattr(disk, "rename", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        arrival = Arrival("state-rename-after", 1, remember(situation.target.around))
        with pytest.raises(HarnessError, match="but it died of SIGTERM"):
            kill(situation, arrival)


def test_a_fault_that_never_strikes_is_a_failure_of_the_harness() -> None:
    with (
        ground() as place,
        prepared(SCENARIOS["reserve"], place) as situation,
        pytest.raises(HarnessError, match="never struck"),
    ):
        strike(situation, Fault("state-rename-before", 9, 5))


@pytest.mark.parametrize("race", [stopped_holder, during_dispatch], ids=["stopped-holder", "during-dispatch"])
def test_a_mutex_that_lets_everybody_in_is_caught(
    monkeypatch: Patch, race: Callable[[Any], list[str]]
) -> None:
    monkeypatch.setattr(lockfile, "try_lock", lambda _descriptor: True)
    assert once(Race("broken", "", "C7", race))


def test_32_processes_without_a_mutex_are_caught_soon(monkeypatch: Patch) -> None:
    monkeypatch.setattr(lockfile, "try_lock", lambda _descriptor: True)
    assert any(once(Race("broken", "", "S10", for_slots)) for _ in range(5))


def test_a_forked_child_that_believes_to_hold_the_mutex_is_caught(monkeypatch: Patch) -> None:
    monkeypatch.setattr(lockfile, "forks", lambda: 0)
    assert once(Race("broken", "", "C7", forked_holder))


def test_a_replaced_lock_file_that_is_not_noticed_is_caught(monkeypatch: Patch) -> None:
    monkeypatch.setattr(lock.Held, "check", lambda _self: None)
    assert once(Race("broken", "", "C7", replaced_lock))


def test_a_caught_kill_replays_as_failing_and_as_fixed_once_it_is_mended(monkeypatch: Patch) -> None:
    with monkeypatch.context() as broken:
        _write_in_place(broken)
        failure = _campaign("reserve").failures[0]
        assert isinstance(failure.trace, dict)
        now = replay_trace(failure.trace)
        assert now.status == "failing"
        assert any(line.startswith("✗") and "killed at state-create-after" in line for line in now.lines)
    assert replay_trace(failure.trace).status == "fixed"


def test_a_kill_at_a_point_that_is_no_longer_passed_replays_as_drifted(monkeypatch: Patch) -> None:
    with monkeypatch.context() as broken:
        _write_in_place(broken)
        story = stories.story_from_json(dict(_trace(_campaign("reserve"))))
    trace = story.to_json()
    kills = trace["kills"]
    assert isinstance(kills, list)
    assert isinstance(kills[0], dict)
    kills[0]["n"] = 7
    assert replay_trace(trace).status == "drifted"


def _trace(campaign: Campaign) -> dict[str, Any]:
    trace = campaign.failures[0].trace
    assert isinstance(trace, dict)
    return trace


@pytest.mark.parametrize("name", ["kills", "violation", "history", "layout"])
def test_a_trace_that_lacks_a_field_is_refused(monkeypatch: Patch, name: str) -> None:
    with monkeypatch.context() as broken:
        _write_in_place(broken)
        trace = _trace(_campaign("reserve"))
    del trace[name]
    with pytest.raises(stories.StoryError, match=name):
        replay_trace(trace)


def test_a_trace_of_a_race_runs_the_race_again() -> None:
    trace = {"kind": "kill", "trial": "race", "name": "first-opens", "clause": "genesis"}
    assert replay_trace(trace).status == "fixed"
    with pytest.raises(stories.StoryError, match="no-such"):
        replay_trace({**trace, "name": "no-such"})


def test_a_torture_is_named_by_its_seed() -> None:
    assert race_named("killed-anywhere#42").name == "killed-anywhere#42"
