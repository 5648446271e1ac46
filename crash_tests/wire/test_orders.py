"""Orders that explain answers are found where there are any, and none is made up where there is none."""

from collections.abc import Sequence

import pytest
from attrs import evolve

import model
from crash_tests.scenarios import lease, uuid_of
from crash_tests.wire.orders import Asked, Orders
from crash_tests.wire.racers import RACES, Turn, WireRace
from model.actions import Action
from model.forms import value_to_json
from model.outcomes import Accepted, Outcome, Refused
from model.values import World
from stateful_tests.lockstep import outcome_differs
from stateful_tests.target import Answered, Refusal, Result

FULL = Refusal("CAPACITY_EXCEEDED")
ANY = Answered(None)
"""An acceptance; in these tests what it answers is not compared."""


def agrees(_action: Action, outcome: Outcome, result: Result) -> bool:
    if isinstance(outcome, Accepted) and isinstance(result, Answered):
        result = said(outcome)
    return outcome_differs(outcome, result) is None


def said(outcome: Outcome) -> Result:
    """What a store answers that does as the model does."""
    if isinstance(outcome, Accepted):
        return Answered(value_to_json(outcome.value))
    assert isinstance(outcome, Refused)
    return Refusal(outcome.code)


def begun(race: WireRace) -> World:
    """Its history, and every process has opened the store."""
    world = model.initial_world()
    opens = [turn.action for turn in race.bursts[0] if turn is not None]
    for action in (*race.history, *opens):
        world = model.step(world, action)[0]
    return world


def turns(race: WireRace) -> list[Turn]:
    return [turn for turn in race.bursts[-1] if turn is not None]


def explained(
    race: WireRace, results: Sequence[Result | None], shown: Sequence[int] | None = None
) -> tuple[World, ...]:
    asked = [Asked(turn, result) for turn, result in zip(turns(race), results, strict=True)]
    rows = None if shown is None else tuple(uuid_of(number) for number in shown)
    return Orders(agrees, rows).explain(begun(race), asked)


def rows(world: World) -> list[str]:
    assert world.store is not None
    return [row.reservation_id for row in world.store.rows]


SLOTS = RACES["for-slots"]
THREE: list[Result] = [ANY, FULL, ANY, FULL, FULL, FULL, FULL, ANY]


def test_an_order_that_ends_with_the_rows_in_their_order_is_found() -> None:
    (end,) = explained(SLOTS, THREE, [8, 1, 3])
    assert rows(end) == [uuid_of(8), uuid_of(1), uuid_of(3)]


@pytest.mark.parametrize("shown", [[1, 3], [1, 3, 2], [1, 3, 8, 2]])
def test_rows_that_no_order_ends_with_are_not_explained(shown: list[int]) -> None:
    ends = explained(SLOTS, THREE, shown)
    assert all(rows(end) != [uuid_of(number) for number in shown] for end in ends)


@pytest.mark.parametrize("accepted", [2, 4, 8])
def test_too_many_or_too_few_acceptances_have_no_order(accepted: int) -> None:
    results: list[Result] = [*[ANY] * accepted, *[FULL] * (8 - accepted)]
    assert explained(SLOTS, results) == ()


def test_whoever_was_killed_has_taken_a_slot_or_none() -> None:
    two = [None, ANY, ANY, FULL, FULL, FULL, FULL, FULL]
    (end,) = explained(SLOTS, two, [2, 1, 3])
    assert len(rows(end)) == 3
    three = [None, ANY, ANY, ANY, FULL, FULL, FULL, FULL]
    (end,) = explained(SLOTS, three, [2, 3, 4])
    assert len(rows(end)) == 3


def test_what_is_void_has_done_nothing() -> None:
    results = [FULL, *THREE[1:]]
    asked = [Asked(turn, result) for turn, result in zip(turns(SLOTS), results, strict=True)]
    assert Orders(agrees).explain(begun(SLOTS), asked) == ()  # two rows, and nevertheless full
    asked[0] = evolve(asked[0], result=ANY)
    assert Orders(agrees).explain(begun(SLOTS), asked) != ()
    asked[0] = evolve(asked[0], void=True)
    assert Orders(agrees).explain(begun(SLOTS), asked) == ()


def test_what_was_answered_before_comes_before() -> None:
    race = RACES["newer-epoch"]
    revoked = Refusal("AUTHORITY_REVOKED")
    asked = [Asked(turn, revoked) for turn in turns(race)]
    asked[0], asked[7] = evolve(asked[0], result=ANY), evolve(asked[7], result=ANY)
    assert len(Orders(agrees).explain(begun(race), asked)) == 1
    asked[0] = evolve(asked[0], after=frozenset({7}))  # reserved, although the newer host had been there
    assert Orders(agrees).explain(begun(race), asked) == ()


@pytest.mark.parametrize("race", RACES.values(), ids=lambda race: race.name)
def test_what_the_model_itself_answers_in_some_order_is_explained(race: WireRace) -> None:
    world, results = begun(race), list[Result]()
    for turn in turns(race):
        believed = model.step(world, lease(turn.epoch))[0]
        after, outcome = model.step(believed, turn.action)
        results.append(said(outcome))
        world = evolve(after, lease=world.lease)
    asked = [Asked(turn, result) for turn, result in zip(turns(race), results, strict=True)]
    exact = Orders(lambda _action, outcome, result: outcome_differs(outcome, result) is None)
    ends = evolve(exact, shown=tuple(rows(world))).explain(begun(race), asked)
    assert world.store in [end.store for end in ends]
