"""A check that never failed is no check: each invariant fails on a step made by hand, and holds on others."""

import random
from collections.abc import Callable

import pytest
from attrs import evolve

from model import initial_world, step
from model.actions import Action, AdvanceClock, Open, ReadEpoch
from model.guards import GUARDS
from model.invariants import INVARIANTS, SLOW, check, check_world
from model.outcomes import Accepted, Outcome, Refused
from model.tests.test_validity import sealed
from model.tests.worlds import (
    TTL,
    admit,
    call,
    cid,
    commit,
    committed,
    force,
    lease,
    maximum,
    ok,
    opened,
    over,
    release,
    reserve,
    rid,
    row,
    run_id,
    the_store,
)
from model.values import AuditEntry, Command, Row, SetMaximum, Store, World
from model.walk import walk

Step = tuple[World, Action, Outcome, World]
ALL = {each.id: each for each in INVARIANTS}
DAY = 86_400_001


def publish(before: World, action: Action = call("snapshot"), **changes: object) -> Step:  # noqa: B008
    """A step in which a store, gone wrong, publishes its state with these changes, and says that all is well.

    The default action is a frozen value. The audit grows by one entry, unless the changes say otherwise.
    """
    old = the_store(before)
    seq = old.commit_seq + 1
    new: Store = evolve(old, commit_seq=seq, last_wall_time=before.clock, **changes)  # type: ignore[arg-type]
    if "audit" not in changes:
        entry = AuditEntry(seq, new.fencing_epoch, before.clock, "snapshot", "p-alice", new.business)
        new = evolve(new, audit=(*old.audit, entry))
    return before, action, Accepted(), evolve(before, store=new, earlier=(*before.earlier, new))


def standing(change: Callable[[Store], Store]) -> Step:
    """A step that leaves a state changed by hand: a committed row, a reserved one and a command."""
    before = ok(opened(maximum=3), reserve(1), admit(1), commit(), reserve(2), maximum(2))
    store = change(the_store(before))
    return before, call("snapshot"), Accepted(), evolve(before, store=store, earlier=(*before.earlier, store))


def changed(world: World, number: int, **changes: object) -> tuple[Row, ...]:
    old = row(world, number)
    new: Row = evolve(old, **changes)  # type: ignore[arg-type]  # wrong on purpose
    return tuple(new if each is old else each for each in the_store(world).rows)


def of_row(**changes: object) -> Callable[[Store], Store]:
    """Row 1 or 2, by whether it is the committed or the reserved one that `changes` are about."""

    def change(store: Store) -> Store:
        at = 1 if "renewed_at" in changes else 0
        new: Row = evolve(store.rows[at], **changes)  # type: ignore[arg-type]  # wrong on purpose
        return sealed(
            evolve(store, rows=tuple(new if n == at else each for n, each in enumerate(store.rows)))
        )

    return change


def double_binding(store: Store) -> Store:
    twin = evolve(
        store.rows[1],
        state="committed",
        run_id=run_id(1),
        project_admit_commit_seq=9,
        reserved_expires_at=None,
    )
    return sealed(evolve(store, rows=(store.rows[0], twin)))


def past_due() -> World:
    """An admitted run whose reservation is due."""
    return ok(opened(), reserve(), admit(), AdvanceClock(TTL))


def released() -> World:
    return ok(committed(), *over(), release())


def two_epochs() -> World:
    """Host `h` of epoch 1, fenced by `h2` of epoch 2."""
    return ok(opened(), lease(epoch=2), Open("h2", "alpha", 2, 2))


def refused_but_written() -> Step:
    before, action, _, after = publish(opened(), max_active_runs=7)
    return before, action, Refused("POLICY_DENIED"), after


def command_again() -> Step:
    """A repeated command that raises the maximum a second time."""
    before = ok(opened(), maximum(5), maximum(7, command=2))
    before, action, _, after = publish(before, maximum(5), max_active_runs=5)
    return before, action, Accepted(5), after


def command_answers_anew() -> Step:
    before = ok(opened(), maximum(5))
    return before, maximum(5), Accepted(6), before


def launched(world: World) -> Step:
    after = evolve(world, launched=(rid(1),))
    return world, call("dispatch", id=rid(1)), Accepted(f"launched:{rid(1)}"), after


def lost_history() -> Step:
    """An older state was put back, believed, and written on: what had been acknowledged is gone."""
    before = ok(opened(), reserve(1), reserve(2))
    back = evolve(before, store=before.earlier[1])
    return publish(back, rows=changed(back, 1, renewed_at=1))


VIOLATIONS: list[tuple[str, Callable[[], Step]]] = [
    ("S1", lambda: standing(of_row(owner_id=""))),
    ("S2", lambda: standing(lambda store: evolve(store, commit_seq=store.commit_seq + 1))),
    ("S3", lambda: standing(lambda store: evolve(store, fencing_epoch=0))),
    ("S4", lambda: standing(lambda store: evolve(store, max_active_runs=9))),
    ("S5", lambda: standing(of_row(coordinator_epoch=9))),
    ("S6", lambda: standing(of_row(reserved_expires_at=9))),
    ("S7", lambda: standing(of_row(renewed_at=1, reserved_expires_at=None))),
    ("S8", lambda: standing(double_binding)),
    ("S9", lambda: standing(lambda store: sealed(evolve(store, commands=store.commands * 2)))),
    ("S10", lambda: standing(lambda store: sealed(evolve(store, max_active_runs=1)))),
    ("true-capacity", lambda: publish(committed(), rows=())),
    ("true-capacity", lambda: publish(committed(), rows=changed(committed(), 1, run_id=run_id(2)))),
    ("true-capacity", lambda: publish(past_due(), rows=changed(past_due(), 1, state="expired"))),
    ("true-capacity", lambda: publish(committed(), rows=changed(committed(), 1, state="released"))),
    ("live-runs-fit", lambda: publish(committed(2, committed()), max_active_runs=1)),
    ("live-runs-fit", lambda: (initial_world(), ReadEpoch(), Accepted(0), evolve(committed(), store=None,
                                                                                earlier=()))),
    ("terminal-stays", lambda: publish(released(), rows=changed(released(), 1, state="committed"))),
    ("ids-are-used-once", lambda: publish(released(), rows=changed(released(), 1, run_id=run_id(3)))),
    ("ids-are-used-once", lambda: publish(released(), rows=changed(released(), 1, owner_id="o-bob"))),
    ("ids-are-used-once", lambda: publish(released(), rows=())),
    ("time-frees-no-run", lambda: publish(past_due(), rows=changed(past_due(), 1, state="expired"))),
    ("time-frees-no-committed-row",
     lambda: publish(committed(), release(2), rows=changed(committed(), 1, state="released"))),
    ("time-frees-no-committed-row",
     lambda: publish(committed(), release(1), rows=changed(committed(), 1, state="expired"))),
    ("time-frees-no-committed-row", lambda: publish(committed(), rows=())),
    ("epoch-never-falls", lambda: publish(two_epochs(), fencing_epoch=1)),
    ("older-hosts-are-fenced", lambda: publish(two_epochs(), max_active_runs=7)),
    ("audit-grows", lambda: publish(opened(), audit=())),
    ("audit-grows", lambda: publish(opened(), audit=the_store(opened()).audit)),
    ("acknowledged-stays", lost_history),
    ("wall-time-never-falls", lambda: publish(evolve(opened(), clock=1), max_active_runs=7)),
    ("commands-take-effect-once", command_again),
    ("commands-take-effect-once", command_answers_anew),
    ("commands-take-effect-once", lambda: publish(ok(opened(), maximum(5)), commands=())),
    ("commands-take-effect-once",
     lambda: publish(opened(), commands=(Command(cid(1), SetMaximum(2), "p-root", 1, 2),))),
    ("refused-writes-nothing", refused_but_written),
    ("refused-writes-nothing", lambda: (opened(), call("snapshot"), Refused("POLICY_DENIED"),
                                        evolve(opened(), identity_file=False))),
    ("idle-reads-write-nothing", lambda: publish(opened())),
    ("idle-reads-write-nothing", lambda: publish(opened(), max_active_runs=7)),
    ("launches-are-fenced", lambda: launched(ok(opened(), reserve()))),
    ("launches-are-fenced", lambda: launched(evolve(committed(), hosts=two_epochs().hosts,
                                                    store=evolve(the_store(committed()), fencing_epoch=2)))),
    ("nothing-gets-stuck", lambda: standing(lambda store: evolve(store, last_wall_time=2**53))),
    ("proof-frees", lambda: standing(lambda store: evolve(store, last_wall_time=2**53))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "made"), VIOLATIONS, ids=[f"{at}-{each[0]}" for at, each in enumerate(VIOLATIONS)]
)
def test_an_invariant_fails_on_a_step_that_violates_it(name: str, made: Callable[[], Step]) -> None:
    violated = check(*made())
    assert name in violated
    assert name not in check(*made(), leave_out=frozenset({name}))


def test_every_invariant_is_seen_to_fail() -> None:
    of_guards = {each.id for each in GUARDS}  # see `test_guard_invariants`
    assert {name for name, _ in VIOLATIONS} == set(ALL) - of_guards


def test_every_invariant_says_what_it_is_and_where_it_comes_from() -> None:
    assert len(ALL) == len(INVARIANTS)
    for each in INVARIANTS:
        assert each.sentence.endswith(".")
        assert each.source
        assert each.kind in ("always", "step")


def test_the_steps_that_they_are_made_from_are_innocent() -> None:
    for world in (opened(), committed(), past_due(), released(), two_epochs(), command_again()[0]):
        assert check_world(world) == ()


@pytest.mark.parametrize("seed", range(8))
def test_a_random_walk_violates_nothing(seed: int) -> None:
    world = initial_world()
    for action in walk(random.Random(seed), 120):
        after, outcome = step(world, action)
        assert check(world, action, outcome, after) == ()
        world = after


def test_the_slow_ones_can_be_left_out() -> None:
    assert set(ALL) > SLOW
    stuck = dict(VIOLATIONS)["nothing-gets-stuck"]()
    assert set(check(*stuck)) - set(check(*stuck, leave_out=SLOW)) == SLOW


def test_a_row_once_found_free_to_go_is_tried_again_when_its_ledger_says_something_else() -> None:
    """Its fact is part of what it is remembered by."""
    world = ok(opened(), reserve())
    assert ALL["proof-frees"].predicate(world)
    assert ALL["proof-frees"].predicate(ok(world, admit()))
    late = evolve(world, store=evolve(the_store(world), last_wall_time=2**53))
    assert not ALL["proof-frees"].predicate(ok(late, admit()))


def test_an_operator_took_the_risk_for_that_very_run_only() -> None:
    world = ok(committed(), force())
    assert check_world(world) == ()
    world = committed(2, ok(opened(), reserve(1), force(1)))
    assert "true-capacity" in check(*publish(world, rows=changed(world, 2, state="released")))
