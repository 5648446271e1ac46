"""Each clause S1-S10 is broken by a state made by hand, and by nothing else in that state."""

import random
from collections.abc import Callable

import pytest
from attrs import evolve

from model import step
from model.actions import PutBack, ReadEpoch
from model.outcomes import Refused
from model.tests.worlds import (
    DOMAIN,
    PROJECT,
    TTL,
    admit,
    call,
    cid,
    commit,
    force,
    maximum,
    ok,
    opened,
    refused,
    reserve,
    rid,
    run_id,
    the_store,
)
from model.validity import _CLAUSES, CODES_OF_CLAUSES, faults, first_fault, is_successor
from model.values import Command, Row, SetMaximum, Store
from model.walk import walk


def sealed(store: Store) -> Store:
    """`store` with its last audit entry bound to its content, whatever that is."""
    last = evolve(store.audit[-1], digest=store.business)
    return evolve(store, audit=(*store.audit[:-1], last))


def base() -> Store:
    """A committed row, a reserved one, and a command."""
    return the_store(ok(opened(maximum=3), reserve(1), admit(1), commit(), reserve(2), maximum(2)))


def rows(store: Store, *changed: Row) -> Store:
    return sealed(evolve(store, rows=changed))


def with_row(number: int, **changes: object) -> Callable[[Store], Store]:
    def change(store: Store) -> Store:
        new = evolve(store.rows[number], **changes)  # type: ignore[arg-type]  # wrong on purpose
        return rows(store, *(new if at == number else row for at, row in enumerate(store.rows)))

    return change


def with_entry(number: int, **changes: object) -> Callable[[Store], Store]:
    def change(store: Store) -> Store:
        new = evolve(store.audit[number], **changes)  # type: ignore[arg-type]  # wrong on purpose
        return evolve(
            store, audit=tuple(new if at == number else each for at, each in enumerate(store.audit))
        )

    return change


def with_command(**changes: object) -> Callable[[Store], Store]:
    def change(store: Store) -> Store:
        new = evolve(store.commands[0], **changes)  # type: ignore[arg-type]  # wrong on purpose
        return sealed(evolve(store, commands=(new,)))

    return change


BROKEN: list[tuple[str, Callable[[Store], Store]]] = [
    ("S1", lambda store: evolve(store, last_wall_time=2**53)),
    ("S1", lambda store: sealed(evolve(store, max_active_runs=2**53))),
    ("S1", with_row(0, owner_id="")),
    ("S1", with_row(0, principal=7)),
    ("S1", with_row(1, renewed_at=1.0)),
    ("S1", with_row(0, release_kind="both")),
    ("S1", with_row(0, concurrency_guarantee="weak")),
    ("S1", with_row(0, attempt_id="")),
    ("S1", with_row(0, admit_run_version=-1)),
    ("S1", with_row(0, project_admit_commit_seq=0)),
    ("S1", with_row(0, provider_job_handle="")),
    ("S1", with_row(0, release_proof_id="")),
    ("S1", with_entry(1, action="")),
    ("S1", with_entry(1, principal="")),
    ("S1", with_entry(0, epoch=-1)),
    ("S1", with_command(caller_principal="")),
    ("S1", with_command(result=0)),
    ("S1", with_command(request=SetMaximum(0))),
    ("S2", lambda store: evolve(store, commit_seq=store.commit_seq + 1)),
    ("S3", with_entry(2, commit_seq=4)),
    ("S3", with_entry(1, recorded_at=1)),
    ("S3", with_entry(2, epoch=2)),
    ("S4", lambda store: evolve(store, max_active_runs=9)),
    ("S4", lambda store: evolve(store, audit=with_entry(-1 % 5, recorded_at=2**52)(store).audit)),
    ("S5", with_row(0, reservation_id=rid(1).upper())),
    ("S5", with_row(0, reservation_id="one")),
    ("S5", with_row(0, updated_at=2**52)),
    ("S5", with_row(0, coordinator_epoch=2)),
    ("S5", with_row(1, reservation_id=rid(1))),
    ("S6", with_row(0, project_admit_commit_seq=None)),
    ("S6", with_row(0, reserved_expires_at=5)),
    ("S6", with_row(0, state="orphan-suspect", project_admit_commit_seq=None)),
    ("S7", with_row(1, reserved_expires_at=None)),
    ("S7", with_row(1, project_admit_commit_seq=4)),
    ("S8", with_row(1, state="committed", run_id=run_id(1), project_admit_commit_seq=2,
                    reserved_expires_at=None)),
    ("S8", with_row(1, state="orphan-suspect", run_id=run_id(1), project_admit_commit_seq=2,
                    reserved_expires_at=None)),
    ("S9", with_command(command_id=cid(1).upper())),
    ("S9", with_command(commit_seq=99)),
    ("S9", lambda store: sealed(evolve(store, commands=store.commands * 2))),
    ("S9", lambda store: with_command(result=store.rows[0])(store)),
    ("S10", lambda store: sealed(evolve(store, max_active_runs=1))),
]  # fmt: skip


def test_the_state_they_start_from_is_whole() -> None:
    assert faults(base()) == ()
    assert first_fault(base()) is None


@pytest.mark.parametrize(
    ("clause", "breaks"), BROKEN, ids=[f"{at}-{each[0]}" for at, each in enumerate(BROKEN)]
)
def test_a_state_that_breaks_one_clause_is_named_by_it(clause: str, breaks: Callable[[Store], Store]) -> None:
    store = breaks(base())
    assert faults(store) == (clause,)
    assert first_fault(store) == CODES_OF_CLAUSES[clause]


@pytest.mark.parametrize(
    ("clause", "breaks"), BROKEN, ids=[f"{at}-{each[0]}" for at, each in enumerate(BROKEN)]
)
def test_a_state_that_breaks_a_clause_is_refused_by_every_reader(
    clause: str, breaks: Callable[[Store], Store]
) -> None:
    world = evolve(opened(), store=breaks(base()))
    refused(world, call("snapshot"), CODES_OF_CLAUSES[clause])
    refused(world, ReadEpoch(), CODES_OF_CLAUSES[clause])


def test_every_clause_is_broken_by_some_state() -> None:
    assert {clause for clause, _ in BROKEN} == {clause for clause, _ in _CLAUSES}


def test_residue_of_a_ttl_is_accepted_on_terminal_rows() -> None:
    store = the_store(ok(opened(), reserve(), force()))
    residue = rows(store, evolve(store.rows[0], reserved_expires_at=5))
    assert faults(residue) == ()
    assert faults(rows(store, evolve(store.rows[0], state="expired", reserved_expires_at=5))) == ()


def test_faults_are_told_row_by_row() -> None:
    """Row 1 breaks S8, row 2 S5: the first row's comes first, though S5 is the lower number."""
    store = base()
    twin = evolve(store.rows[0], reservation_id=rid(7))
    late = evolve(store.rows[1], updated_at=2**52)
    broken = rows(evolve(store, max_active_runs=3), store.rows[0], twin, late)
    assert faults(broken) == ("S5", "S8")
    assert first_fault(broken) == "ADMISSION_BINDING_CONFLICT"
    assert (
        first_fault(rows(evolve(store, max_active_runs=3), late, store.rows[0], twin)) == "DURABILITY_FAILED"
    )


def test_a_fault_of_the_whole_comes_before_and_after_those_of_rows() -> None:
    store = base()
    no_ttl = with_row(1, reserved_expires_at=None)(store)
    assert first_fault(evolve(no_ttl, commit_seq=9)) == "DURABILITY_FAILED"
    both = sealed(evolve(no_ttl, max_active_runs=1))
    assert faults(both) == ("S7", "S10")
    assert first_fault(both) == "ADMISSION_BINDING_CONFLICT"
    command = Command("x", SetMaximum(1), "p", 1, 1)
    assert first_fault(sealed(evolve(store, commands=(command,), max_active_runs=1))) == "DURABILITY_FAILED"


KNOWN = the_store(ok(opened(maximum=3), reserve(1), admit(1), commit(), reserve(2)))
GROWN = [each for each in BROKEN if each[1](base()).audit[: len(KNOWN.audit)] == KNOWN.audit]
"""Those whose past is sound."""


@pytest.mark.parametrize(
    ("clause", "breaks"), GROWN, ids=[f"{at}-{each[0]}" for at, each in enumerate(GROWN)]
)
def test_looking_only_at_what_is_new_finds_the_same(clause: str, breaks: Callable[[Store], Store]) -> None:
    """A state is looked at as grown from a valid one: whatever is new in it, or changed, is found."""
    assert len(GROWN) == len(BROKEN) - 6
    assert faults(KNOWN) == ()
    assert faults(breaks(base()), KNOWN) == (clause,)


@pytest.mark.parametrize("seed", range(5))
def test_both_ways_of_looking_agree_on_every_state_of_a_walk(seed: int) -> None:
    world = opened()
    for action in walk(random.Random(seed), 150, world):
        world, _ = step(world, action)
        if world.store is not None:
            assert tuple(clause for clause, holds in _CLAUSES if not holds(world.store)) == faults(
                world.store
            )


def test_a_successor_holds_what_was_seen() -> None:
    first = ok(opened(), reserve(1))
    second = ok(first, reserve(2))
    other = ok(first, call("renew", id=rid(1), ttlMs=TTL + 1))
    assert is_successor(the_store(second), the_store(first))
    assert is_successor(the_store(first), evolve(the_store(first)))
    assert not is_successor(the_store(first), the_store(second))
    assert not is_successor(the_store(other), the_store(second))
    assert not is_successor(the_store(ok(other, reserve(3))), the_store(second))


def test_a_binding_is_three_ids_not_one_text() -> None:
    store = base()
    assert store.rows[0].binding == (PROJECT, DOMAIN, run_id(1))
    joined = "/".join((PROJECT, DOMAIN))
    odd = evolve(store.rows[0], reservation_id=rid(9), project_id=joined, project_control_domain_id=run_id(1))
    assert "S8" not in faults(rows(store, *store.rows, odd))


def test_an_invalid_state_put_back_is_refused_whole() -> None:
    world = ok(opened(), reserve())
    spoilt = evolve(world, earlier=(with_row(0, reserved_expires_at=None)(the_store(world)),))
    _, outcome = step(ok(spoilt, PutBack(0)), call("snapshot"))
    assert outcome == Refused("ADMISSION_BINDING_CONFLICT")
