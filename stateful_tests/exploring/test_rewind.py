"""Going back in a real store: the files, the surroundings and what hosts know are as the model then says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from model.actions import Action, Admit, AdvanceClock, Call, Close, Damage, LeaveTemp, Mend, Open
from model.outcomes import Refused
from model.values import JSON, World
from stateful_tests.exploring.rewind import StoreRewinder
from stateful_tests.exploring.toys import DOMAIN, OPENING, PROJECT, beginning
from stateful_tests.lockstep import Lockstep
from stateful_tests.target import StoreTarget

NAMES = tuple(f"a0000000-0000-4000-8000-{number:012x}" for number in range(1, 4))


def reserve(name: str, host: str = "h") -> Call:
    bound: dict[str, JSON] = {
        "projectId": PROJECT,
        "projectControlDomainId": DOMAIN,
        "runId": name,
        "ttlMs": 1_000,
    }
    return Call(host, "alice", "reserve", {"reservationId": name, **bound})


class Story:
    """A store at work, with a rewinder that is told of everything."""

    def __init__(self, directory: Path) -> None:
        self.target = StoreTarget(directory)
        self.rewinder = StoreRewinder(self.target)
        self.pair = Lockstep(self.target)
        self.do(*beginning(self.pair.world.clock))

    def do(self, *actions: Action) -> None:
        for action in actions:
            record = self.pair.check(action)
            assert not record.declined, action
            self.rewinder.note(self.pair, record)

    def back(self, kept: object) -> World:
        world: World | None = self.rewinder.bring(self.pair, kept)  # type: ignore[arg-type]  # as it was kept
        assert world is not None
        self.pair = Lockstep(self.target, world)
        return world


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    told = Story(tmp_path / "store")
    with told.target:
        yield told


def _without_hosts(world: World) -> World:
    return evolve(world, hosts=())


def test_one_comes_back_as_often_as_one_likes_and_goes_on_otherwise(story: Story) -> None:
    story.do(Call("h", "root", "setMaxActiveRuns", {"commandId": PROJECT, "maxActiveRuns": 3}))
    story.do(reserve(NAMES[0]))
    kept, there = story.rewinder.keep(story.pair), story.pair.world
    for name in (NAMES[1], NAMES[2]):
        story.do(reserve(name), Admit(name, PROJECT, DOMAIN, name), AdvanceClock(5), Close("h"), OPENING)
        world = story.back(kept)
        assert _without_hosts(world) == _without_hosts(there)
        assert [host.is_open for host in world.hosts] == [True]
    story.do(reserve(NAMES[1]), Call("h", "alice", "snapshot"))


def test_a_host_that_was_closed_is_closed_again_and_one_that_was_open_is_open(story: Story) -> None:
    story.do(Open("other", "holder", 1, 1), Close("h"))
    kept = story.rewinder.keep(story.pair)
    story.do(OPENING, Close("other"))
    world = story.back(kept)
    assert {host.name: host.is_open for host in world.hosts} == {"h": False, "other": True}
    story.do(Call("h", "alice", "snapshot"), Call("other", "alice", "snapshot"))


def test_a_host_under_which_the_clock_went_back_still_knows_the_later_time(story: Story) -> None:
    story.do(AdvanceClock(50), Call("h", "alice", "snapshot"), AdvanceClock(-20))
    kept, there = story.rewinder.keep(story.pair), story.pair.world
    story.do(AdvanceClock(500), reserve(NAMES[0]))
    world = story.back(kept)
    assert world.hosts[0].high_water == there.hosts[0].high_water == world.clock + 20
    record = story.pair.check(reserve(NAMES[1]))
    assert isinstance(record.expected, Refused)
    assert record.expected.code == "AUTHORITY_REVOKED"


def test_leftover_temporary_files_come_back_too(story: Story) -> None:
    story.do(LeaveTemp())
    kept = story.rewinder.keep(story.pair)
    story.do(reserve(NAMES[0]))
    assert story.pair.observation.temps == 0
    story.back(kept)
    assert story.pair.observation.temps == 1
    story.do(reserve(NAMES[1]))
    assert story.pair.observation.temps == 0


def test_a_state_that_was_published_later_is_not_there_to_be_put_back(story: Story) -> None:
    kept = story.rewinder.keep(story.pair)
    story.do(reserve(NAMES[0]))
    story.back(kept)
    story.pair.target.observe()
    assert len(story.target.files.published) == len(story.pair.world.earlier) == 1


def test_where_one_could_not_come_back_nothing_is_kept(story: Story, tmp_path: Path) -> None:
    kept = story.rewinder.keep(story.pair)
    story.do(Damage("state-mode"))
    assert story.rewinder.keep(story.pair) is None
    assert kept is not None
    assert story.rewinder.bring(story.pair, kept) is None
    story.do(Mend("state-mode"))
    assert story.rewinder.keep(story.pair) is not None
    fresh = StoreTarget(tmp_path / "fresh")
    assert StoreRewinder(fresh).keep(Lockstep(fresh)) is None


def test_a_host_that_the_rewinder_never_saw_opening_can_not_be_had_again(story: Story) -> None:
    stranger = StoreRewinder(story.target)
    assert stranger.keep(story.pair) is None
