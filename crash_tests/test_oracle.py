"""The oracle: which worlds may be found after a kill, and what it says of all others."""

from attrs import evolve

import model
from crash_tests.oracle import (
    ACKNOWLEDGED,
    LAUNCHED,
    OLD_OR_NEW,
    WHOLE,
    Candidate,
    Violation,
    candidates,
    decide,
)
from crash_tests.scenarios import SCENARIOS
from model.forms import store_to_json
from model.values import World
from stateful_tests.compare import fact_to_json
from stateful_tests.observe import Observation


def _worlds(name: str) -> tuple[World, ...]:
    scenario = SCENARIOS[name]
    world = model.initial_world()
    for action in scenario.history:
        world, _ = model.step(world, action)
    worlds = [world]
    for action in scenario.flight:
        worlds.append(model.step(worlds[-1], action)[0])
    return tuple(worlds)


def _shown(world: World) -> Observation:
    return Observation(
        None if world.store is None else store_to_json(world.store),
        (),
        world.identity_file,
        0,
        {fact.reservation_id: fact_to_json(fact) for fact in world.facts},
        world.launched,
        (),
    )


def _judge(shown: Observation, worlds: tuple[World, ...], acknowledged: int = 0) -> Candidate | Violation:
    return decide(shown, candidates(worlds, acknowledged), worlds, acknowledged)


def _clause(found: Candidate | Violation) -> str:
    assert isinstance(found, Violation), found
    return found.clause


def test_before_and_after_are_both_found() -> None:
    before, after = worlds = _worlds("reserve")
    for world, label in ((before, "before"), (after, "after")):
        found = _judge(_shown(world), worlds)
        assert isinstance(found, Candidate)
        assert found.label == label
        assert found.world == evolve(world, hosts=())


def test_a_third_state_is_neither() -> None:
    worlds = _worlds("reserve")
    third = _worlds("force-release")[1]
    assert _clause(_judge(_shown(third), worlds)) == OLD_OR_NEW


def test_what_was_acknowledged_may_not_be_gone() -> None:
    worlds = _worlds("burst")
    assert len(worlds) == 4
    assert _clause(_judge(_shown(worlds[0]), worlds, 1)) == ACKNOWLEDGED
    assert isinstance(_judge(_shown(worlds[1]), worlds, 1), Candidate)
    assert isinstance(_judge(_shown(worlds[2]), worlds, 1), Candidate)
    assert _clause(_judge(_shown(worlds[3]), worlds, 1)) == OLD_OR_NEW
    assert _clause(_judge(_shown(worlds[2]), worlds, 3)) == ACKNOWLEDGED


def test_genesis_may_stop_between_state_and_identity_but_not_the_other_way_round() -> None:
    before, after = worlds = _worlds("genesis")
    found = _judge(_shown(evolve(after, identity_file=False)), worlds)
    assert isinstance(found, Candidate)
    assert found.label == "state without identity"
    assert _clause(_judge(_shown(evolve(before, identity_file=True)), worlds)) == OLD_OR_NEW


def test_a_ledger_may_be_ahead_of_the_store_and_not_behind_it() -> None:
    before, after = worlds = _worlds("read-sweeps-to-expired")
    ahead = evolve(before, facts=after.facts)
    assert isinstance(_judge(_shown(ahead), worlds), Candidate)
    behind = evolve(after, facts=before.facts)
    assert _clause(_judge(_shown(behind), worlds)) == OLD_OR_NEW


def test_a_launch_needs_what_it_relied_on_to_be_published() -> None:
    before, after = worlds = _worlds("dispatch-sweeping")
    assert isinstance(_judge(_shown(evolve(after, launched=())), worlds), Candidate)
    assert isinstance(_judge(_shown(after), worlds), Candidate)
    too_early = evolve(before, launched=after.launched, facts=after.facts)
    assert _clause(_judge(_shown(too_early), worlds)) == LAUNCHED


def test_a_file_that_is_not_whole_is_no_world_at_all() -> None:
    worlds = _worlds("reserve")
    torn = evolve(_shown(worlds[0]), problems=("coordinator.json: no JSON as it should be",))
    assert _clause(_judge(torn, worlds)) == WHOLE
