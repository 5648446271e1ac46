"""Kills along the ledger's graph: every call, every point; a store that is wrong is found, and told again."""

import json
from pathlib import Path
from typing import Any

import pytest

from crash_tests.exploring.ledger import LedgerKillingDrive
from crash_tests.gated.paths import PASSED
from crash_tests.replays import replay_trace
from impl.gated import recovery
from impl.gated.mirror import Mirror
from stateful_tests.exploring.charts import charted
from stateful_tests.exploring.places import rewinder
from stateful_tests.exploring.route import Part, Tour
from stateful_tests.gated.system import SYSTEM

Patch = pytest.MonkeyPatch


def killed(place: Path, facet: str, *, most: int | None = None) -> tuple[Tour, LedgerKillingDrive]:
    chart = charted("ledger", facet).chart
    part = Part(chart, range(chart.nodes))
    drive = LedgerKillingDrive(chart, SYSTEM, place / "tour", rewinder("ledger"), part=part)
    tour = Tour(part, drive, most=most)
    try:
        tour.run()
    finally:
        drive.end()
    return tour, drive


def test_every_call_of_a_facet_is_killed_at_every_point_and_nothing_is_lost(tmp_path: Path) -> None:
    tour, drive = killed(tmp_path, "killed-undoing")
    assert drive.stories == []
    assert drive.divergence is None
    assert tour.finished
    assert drive.classes > 15
    assert drive.kills > 10 * drive.classes
    for name in ("first-opening", "compensation"):
        passed = {point.partition("#")[0] for point in PASSED[name]}
        assert passed <= set(drive.points), name


def test_kills_of_a_tour_that_is_cut_short_are_counted(tmp_path: Path) -> None:
    tour, drive = killed(tmp_path, "killed", most=6)
    assert not tour.finished
    assert tour.part.done == 6
    assert 0 < drive.classes <= 6


def test_a_recovery_that_does_not_catch_up_is_found_and_told_again(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Mirror, "replay", lambda _self, lines: len(list(lines)))
        _, drive = killed(tmp_path, "killed-undoing")
        assert drive.stories
        story = drive.stories[0]
        assert story.kills
        form: dict[str, Any] = json.loads(json.dumps(story.failure().trace))
        assert replay_trace(form).status == "failing"
    assert replay_trace(form).status == "fixed"


def test_a_torn_tail_that_stays_is_found(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("impl.gated.journal.Journal.cut", lambda _self, _length: None)
    _, drive = killed(tmp_path, "killed-undoing")
    assert drive.stories or drive.divergence is not None


def test_after_enough_stories_no_more_is_killed(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(recovery, "_remove_leftovers", lambda _place: None)
    _, drive = killed(tmp_path, "killed-undoing")
    assert 1 <= len(drive.stories) <= drive.enough
