"""Tampering and races of the ledger: sound stores hold true, broken ones are caught."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from crash_tests.gated import changes, tamper
from crash_tests.gated.changes import Change
from crash_tests.gated.jobs import ARENA, EVERY_RACE, once, race_named, run_tampering
from crash_tests.gated.tamper import SILENT, VICTIMS, Victim, judge, victim
from crash_tests.replays import replay_trace
from crash_tests.stories import StoryError
from impl.gated import verdict
from impl.gated.mirror import Mirror
from stateful_tests.gated.observe import LEDGER, MIRROR

Patch = pytest.MonkeyPatch


@pytest.fixture
def pristine() -> Iterator[Victim]:
    with victim("pristine") as store:
        yield store


def test_a_victim_knows_what_was_acknowledged() -> None:
    with victim("pristine") as store:
        assert len(store.acknowledged) == len(store.at_most) == 6
    with victim("unseen") as store:
        assert (len(store.acknowledged), len(store.at_most)) == (2, 3)
        assert store.content(f"{MIRROR}-wal")


@pytest.mark.parametrize("name", VICTIMS)
def test_changes_of_lines_are_recovered_from_or_refused(name: tamper.Name) -> None:
    params = {"victim": name, "file": "lines", "sample": 40, "seed": 1}
    result = run_tampering(params)
    assert [failure.title for failure in result.failures] == []
    assert result.counts["ledger/tampered/refused"] > 0
    assert result.counts["ledger/tampered/recovered"] > 0


@pytest.mark.parametrize("file", [LEDGER, MIRROR, f"{MIRROR}-wal"])
def test_changed_bytes_are_recovered_from_or_refused(file: str) -> None:
    result = run_tampering({"victim": "unseen", "file": file, "sample": 60, "seed": 2})
    assert [failure.title for failure in result.failures] == []
    assert (
        sum(count for key, count in result.counts.items() if key.startswith(f"ledger/tampered/{file}")) == 60
    )


def test_each_byte_is_changed_in_each_way_without_a_sample() -> None:
    found = list(changes.flips(10, LEDGER, random.Random(1), sample=None))
    assert len(found) == 30
    assert {change.at for change in found} == set(range(10))


def test_a_mirror_that_is_ahead_and_accepted_is_a_silent_loss(pristine: Victim, monkeypatch: Patch) -> None:
    def follow(self: Any, lines: Any, fold: Any) -> None:
        for line in lines:
            fold.add(line)
        self.unusable = "never mind"

    monkeypatch.setattr(verdict.Examination, "follow", follow)
    found = judge(pristine, Change(LEDGER, "line-removed", 6))
    assert found is not None
    assert found.clause == SILENT
    assert "acknowledged events are gone" in found.title


def test_a_torn_line_that_keeps_a_store_from_opening_is_caught(pristine: Victim, monkeypatch: Patch) -> None:
    assert judge(pristine, Change(LEDGER, "tail-torn", n=20), must_open=True) is None
    found = judge(pristine, Change(LEDGER, "line-swapped", 1), must_open=True)
    assert found is not None
    assert found.clause == tamper.HONEST
    monkeypatch.setattr(verdict.Fold, "add", lambda *_: 1 // 0)
    found = judge(pristine, Change(LEDGER, "tail-torn", n=20))
    assert found is not None
    assert "ZeroDivisionError" in found.title


def test_a_tampering_is_replayed_from_its_trace(pristine: Victim, monkeypatch: Patch) -> None:
    change = Change(LEDGER, "line-removed", 6)
    with monkeypatch.context() as patch:
        patch.setattr(verdict.Fold, "add", lambda *_: 1 // 0)
        found = judge(pristine, change)
        assert found is not None
        form = json.loads(json.dumps(tamper.failure("pristine", change, found).trace))
        assert replay_trace(form).status == "failing"
    assert replay_trace(form).status == "fixed"
    with pytest.raises(StoryError):
        replay_trace(form | {"victim": "nobody"})
    with pytest.raises(StoryError):
        replay_trace(form | {"change": {"file": LEDGER}})


@pytest.mark.parametrize("name", [race.name for race in EVERY_RACE])
def test_a_race_goes_as_it_should(name: str) -> None:
    assert once(race_named(name)) == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_clients_killed_anywhere_lose_nothing(seed: int) -> None:
    assert once(race_named(f"ledger-killed-anywhere#{seed}")) == []


def _nobody_locks(patch: Patch) -> None:
    patch.setattr("impl.lockfile.try_lock", lambda _descriptor: True)


@pytest.mark.parametrize("name", ["ledger-closed-to-others", "ledger-stopped-holder"])
def test_a_lock_that_nobody_takes_is_caught(name: str, monkeypatch: Patch) -> None:
    _nobody_locks(monkeypatch)
    assert once(race_named(name)) != []


def test_a_key_that_is_not_looked_up_is_caught_by_its_race(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Mirror, "find", lambda *_: None)
    assert once(race_named("ledger-one-lost-answer")) != []


def test_a_race_is_replayed_from_its_trace(monkeypatch: Patch) -> None:
    race = race_named("ledger-one-lost-answer")
    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "find", lambda *_: None)
        form = json.loads(json.dumps(ARENA.failure(race, once(race)).trace))
        assert replay_trace(form).status == "failing"
    assert replay_trace(form).status == "fixed"
    with pytest.raises(StoryError):
        replay_trace(form | {"name": "ledger-nothing"})
