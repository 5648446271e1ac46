"""The ledger's kill trials, failing steps and stories: sound stores hold true, broken ones are caught.

Each test that breaks the store breaks it in this process alone; forked children inherit what is broken.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from crash_tests.campaign import ENOUGH, Reach
from crash_tests.gated import campaign as campaigns
from crash_tests.gated.campaign import Campaign
from crash_tests.gated.faults import ERROR, TRUE, Fault, faults, strike
from crash_tests.gated.jobs import plan
from crash_tests.gated.oracle import ACKNOWLEDGED, BEFORE_OR_AFTER, STUCK
from crash_tests.gated.paths import PASSED
from crash_tests.gated.scenarios import SCENARIOS
from crash_tests.gated.stories import story_from_json
from crash_tests.gated.survivors import can_live_through
from crash_tests.gated.trial import Arrival, Situation, kill, look, prepared, record
from crash_tests.ground import ground
from crash_tests.oracle import Violation
from crash_tests.replays import replay_trace
from crash_tests.stories import StoryError
from impl import disklog, points
from impl.gated import journal
from impl.gated.mirror import Mirror
from impl.points import LEDGER_POINTS

Patch = pytest.MonkeyPatch
THOROUGH = Reach(again=2, share=0.5, survivors=0.5)


def run(name: str, reach: Reach | None = None) -> Campaign:
    campaign = Campaign(reach or Reach())
    campaign.run(SCENARIOS[name])
    return campaign


def clauses(campaign: Campaign) -> set[str]:
    return {failure.clause for failure in campaign.failures}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_passes_the_points_that_are_written_down(name: str) -> None:
    with ground() as place, prepared(SCENARIOS[name], place) as situation:
        assert {arrival.key for arrival in record(situation)} == set(PASSED[name])


def test_every_point_of_the_ledger_is_passed_by_some_scenario() -> None:
    passed = {key.partition("#")[0] for keys in PASSED.values() for key in keys}
    assert set(LEDGER_POINTS) <= passed


@pytest.mark.parametrize(
    "name",
    ["first-opening", "open-torn", "open-mirror-schema", "transact", "append-full", "mirror-fails", "steps"],
)
def test_a_sound_store_lives_through_kills_everywhere(name: str) -> None:
    campaign = run(name, THOROUGH)
    assert [failure.title for failure in campaign.failures] == []
    for key in PASSED[name]:
        assert campaign.counts[f"ledger/kill/{name}/{key}"] == 1
    assert campaign.counts[f"ledger/recovery/{name}"] > 0


def test_whoever_lives_through_a_kill_works_on() -> None:
    campaign = run("transact", Reach(survivors=1.0))
    assert campaign.failures == []
    assert campaign.counts["ledger/survivor/transact"] == len(PASSED["transact"])
    with ground() as place, prepared(SCENARIOS["open-torn"], place) as situation:
        assert not can_live_through(situation), "opening it cuts the tail off"


def _write_in_front(patch: Patch) -> None:
    """The answer comes first, the record when the next call comes: nothing acknowledged is durable."""
    held: list[tuple[int, int, bytes]] = []
    real = disklog.append

    def append(descriptor: int, start: int, data: bytes) -> None:
        points.tell("ledger", "append-before")
        held.append((descriptor, start, data))
        points.tell("ledger", "append-after")
        if len(held) > 1:
            for each in held[:-1]:
                real(*each)
            del held[:-1]

    patch.setattr(disklog, "append", append)


def test_a_store_that_answers_before_it_appends_diverges_without_any_kill(monkeypatch: Patch) -> None:
    _write_in_front(monkeypatch)
    campaign = run("burst")
    assert len(campaign.failures) == 1


def test_a_torn_tail_that_is_kept_is_caught(monkeypatch: Patch) -> None:
    monkeypatch.setattr(disklog, "cut", lambda *_: None)
    campaign = run("open-torn")
    assert len(campaign.failures) == 1
    assert "without any kill" in campaign.failures[0].title


def test_a_cut_that_comes_too_early_is_caught_by_a_kill(monkeypatch: Patch) -> None:
    """A recovery that cuts one whole line too many, and writes it again from the mirror."""
    real = journal.Journal.append

    def append(self: Any, start: int, data: bytes) -> None:
        disklog.cut(self.descriptor, 0)
        real(self, start, data)

    monkeypatch.setattr(journal.Journal, "append", append)
    campaign = run("transact")
    assert campaign.failures
    assert clauses(campaign) <= {BEFORE_OR_AFTER, ACKNOWLEDGED} or "without any kill" in str(
        campaign.failures[0].title
    )


def test_a_mirror_that_is_not_caught_up_is_caught(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Mirror, "replay", lambda _self, lines: len(list(lines)))
    campaign = run("open-behind")
    assert len(campaign.failures) == 1
    campaign = run("transact")
    assert campaign.failures
    assert all(clause.startswith(STUCK) for clause in clauses(campaign))


def test_a_failing_scenario_is_left_after_a_few_failures(monkeypatch: Patch) -> None:
    monkeypatch.setattr(campaigns, "recover", lambda *_: Violation("a rule", "always wrong"))
    campaign = run("transact")
    assert len(campaign.failures) == ENOUGH
    assert clauses(campaign) == {"a rule"}


@pytest.fixture
def situation() -> Iterator[Situation]:
    with ground() as place, prepared(SCENARIOS["transact"], place) as made:
        yield made


def test_what_was_acknowledged_is_missed(situation: Situation) -> None:
    left = kill(situation, Arrival("ledger-append-before", 1, ()))
    assert not isinstance(left, Violation)
    path = situation.ground.directory / "ledger.jsonl"
    path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n")
    found = look(situation, (), 0)
    assert isinstance(found, Violation)
    assert found.clause == ACKNOWLEDGED


@pytest.mark.parametrize("name", ["first-opening", "open-mirror-corrupt", "commit-fails", "compensation"])
def test_failing_steps_are_told_truly(name: str) -> None:
    with ground() as place, prepared(SCENARIOS[name], place) as made:
        chosen = list(faults(record(made), every_error=True))
        assert len(chosen) > 5
        for fault in chosen[::3]:
            assert strike(made, fault) is None, str(fault)


def test_an_error_that_is_none_of_the_store_s_own_is_caught(situation: Situation, monkeypatch: Patch) -> None:
    assert strike(situation, Fault("mirror-insert-before", 1, 5)) is None
    monkeypatch.setattr("impl.gated.gate._failed", lambda *_: KeyError("what the store should not raise"))
    found = strike(situation, Fault("mirror-insert-before", 1, 5))
    assert found is not None
    assert found.clause == ERROR


def test_an_error_that_says_rollback_of_what_is_durable_is_caught(
    situation: Situation, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(disklog, "cut", lambda *_: points.tell("ledger", "cut-before"))
    found = strike(situation, Fault("ledger-fsync-before", 1, 5))
    assert found is not None
    assert found.clause in (TRUE, BEFORE_OR_AFTER)


def test_a_story_is_told_again_from_its_json(monkeypatch: Patch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "replay", lambda _self, lines: len(list(lines)))
        (failure, *_) = run("transact").failures
        form = json.loads(json.dumps(failure.trace))
        again = story_from_json(form).to_json()
        assert {**again, "violation": None} == {**form, "violation": None}
        assert replay_trace(form).status == "failing"
    now = replay_trace(form)
    assert now.status == "fixed"
    assert any("killed at" in line for line in now.lines)


@pytest.mark.parametrize("change", [{"schema_version": 2}, {"kills": 1}, {"flight": [{"do": "fly"}]}])
def test_what_is_no_story_is_refused(monkeypatch: Patch, change: dict[str, Any]) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "replay", lambda _self, lines: len(list(lines)))
        (failure, *_) = run("open-behind").failures
    assert isinstance(failure.trace, dict)
    with pytest.raises(StoryError):
        replay_trace({**failure.trace, **change})


@pytest.mark.parametrize("profile", ["quick", "ci", "deep"])
def test_a_plan_has_work_for_each_of_its_floors(profile: str) -> None:
    made = plan(profile, 3)
    assert all(key.startswith("ledger/") for key in made.floors)
    named = {name for job in made.jobs for name in _strings(job.params.get("scenarios"))}
    assert named == set(SCENARIOS)
    json.dumps(made.to_json())


def _strings(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []
