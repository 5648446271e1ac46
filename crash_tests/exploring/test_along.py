"""Kills along a graph: a sound store survives them all, a faulty one doesn't, and its story is told again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve

import model
from crash_tests.exploring.aftercare import aftercare
from crash_tests.exploring.along import KillingDrive
from model.actions import Action, AdvanceClock, Call, Close, SetIdentity, SetLease
from model.explorer.reference import explore
from model.outcomes import Accepted
from model.values import World
from stateful_tests.exploring.chart import Chart
from stateful_tests.exploring.rewind import StoreRewinder
from stateful_tests.exploring.route import Part, Tour
from stateful_tests.exploring.share import share
from stateful_tests.exploring.toys import OPENING, PROJECT, TTL, beginning, small_space
from stateful_tests.system import COORDINATOR, system_named

SYSTEM = system_named(COORDINATOR)

HUNT = """
import json
from crash_tests.planted.catalogue import BY_ID
from crash_tests.planted.plant import plant
plant(BY_ID["in-place-write"])
from crash_tests.exploring.jobs import run_kills_along
from crash_tests.stories import story_from_json, tell
params = {"system": "coordinator", "facet": "killed", "profile": "quick", "seed": 0}
result = run_kills_along({**params, "part": 0, "parts": 1, "depth": 0})
first = result.failures[0]
again = tell(story_from_json(first.trace))
print(json.dumps({"failures": len(result.failures), "title": first.title, "again": again.title,
                  "done": result.counts["along/killed"]}))
"""


def drive_along(tmp_path: Path, *, depth: int) -> tuple[Tour, KillingDrive]:
    space = small_space(1)
    graph = explore(space).graph
    assert graph is not None
    chart = Chart(space, graph)
    part = Part(chart, share(chart, 0, 1, depth=depth))
    drive = KillingDrive(chart, SYSTEM, tmp_path / "along", StoreRewinder, part=part)
    tour = Tour(part, drive)
    try:
        tour.run()
    finally:
        drive.end()
    return tour, drive


def test_every_transition_is_killed_at_every_point_that_it_passes(tmp_path: Path) -> None:
    tour, drive = drive_along(tmp_path, depth=1)
    assert drive.divergence is None
    assert drive.stories == []
    assert tour.finished
    assert 0 < drive.classes <= tour.part.size
    assert drive.kills > 4 * drive.classes, "each passes the lock and the files at the least"
    assert {"lock-acquire-before", "state-write-torn", "state-rename-after"} <= set(drive.points)


def test_a_store_that_writes_in_place_is_found_and_its_story_is_told_again() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HUNT], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["failures"] > 0
    assert found["done"] == 0
    assert "killed at" in found["title"]
    assert found["again"] in found["title"]


def opened() -> World:
    world = model.initial_world()
    for action in beginning(world.clock):
        world, _ = model.step(world, action)
    return world


RESERVE = Call(
    "h",
    "alice",
    "reserve",
    {
        "reservationId": PROJECT,
        "projectId": PROJECT,
        "projectControlDomainId": PROJECT,
        "runId": PROJECT,
        "ttlMs": TTL,
    },
)


@pytest.mark.parametrize(
    "before",
    [(), (SetLease(None),), (SetIdentity("alice", None),), (RESERVE, AdvanceClock(-5)), (Close("h"),)],
    ids=["as it is", "no lease", "nobody", "the clock went back", "closed"],
)
def test_after_a_kill_in_any_world_the_last_write_is_granted(before: tuple[Action, ...]) -> None:
    world = opened()
    for action in before:
        world, _ = model.step(world, action)
    world = evolve(world, hosts=())
    for flight in ((RESERVE,), (OPENING,)):
        after = world
        actions = aftercare(flight, world)
        for action in actions:
            after, outcome = model.step(after, action)
        assert isinstance(outcome, Accepted)
        assert after.store is not None
        assert world.store is not None
        assert after.store.commit_seq > world.store.commit_seq
