"""A client dies at each small step of each call, and in the recovery after it, and once more in that."""

import pytest
from attrs import evolve

from model.gated import initial_world, step, steps
from model.gated.actions import Action, Call, Crash, OpenLedger, ReadState, Tamper, Transact
from model.gated.invariants import check_world
from model.gated.outcomes import Accepted, Declined
from model.gated.running import MOMENTS
from model.gated.tests.worlds import (
    a_compensator,
    a_step,
    apply,
    closed,
    counted,
    died,
    fails,
    keys,
    ledger,
    lines,
    mirror,
    moments,
    ok,
    opened,
    put,
    refused,
    state,
    torn,
    undo,
    value,
)
from model.gated.values import World

REOPEN = OpenLedger("ann")


def behind() -> World:
    return refused(
        counted(2), put("k3", faults=fails("commit")), "SQLITE_COMMIT_AFTER_LEDGER_FAILED", "in_doubt"
    )


def wrecked() -> World:
    return ok(torn(closed(counted(2))), Tamper("mirror-corrupt"))


CALLS: list[tuple[World, Call]] = [
    (initial_world(), REOPEN),
    (counted(2), put("k3")),
    (counted(2), put("k1")),
    (counted(2), put("k3", phase="verify", verifier=False)),
    (counted(2), put("k3", faults=fails("append", "full"))),
    (counted(2), put("k3", faults=(*fails("append-fsync"), *fails("cut")))),
    (counted(2), put("k3", faults=fails("mirror"))),
    (behind(), put("k4")),
    (behind(), ReadState("ann")),
    (behind(), REOPEN),
    (torn(counted(2)), put("k3")),
    (torn(counted(2)), REOPEN),
    (wrecked(), REOPEN),
    (counted(2), apply(a_step(1), a_step(2, idempotent=False), a_step(3))),
    (counted(2), apply(a_step(1), a_step(2, idempotent=False, raises="after"))),
    (counted(2), undo(a_compensator(1), a_compensator(2), a_compensator(3, idempotent=False, applied=False))),
]


def everywhere(world: World, action: Call) -> list[tuple[str, World]]:
    """Each moment of it, and the world once its client has died there."""
    found = []
    for number, (name, there) in enumerate(steps(world, action)):
        nth = sum(each == name for each, _ in steps(world, action)[: number + 1])
        dead = ok(world, Crash(action.client, f"{name}:{nth}", action))
        assert dead == evolve(
            there, clients=tuple(each for each in there.clients if each.name != action.client)
        )
        found.append((name, dead))
    return found


@pytest.mark.parametrize(("world", "action"), CALLS)
def test_whenever_it_dies_the_next_one_finds_all_acknowledged_and_goes_on(world: World, action: Call) -> None:
    acknowledged = [line for line in lines(world) if line.hash in world.acknowledged]
    for name, dead in everywhere(world, action):
        assert dead.wounds or check_world(dead) == (), name
        for recovered in (ok(dead, REOPEN), *(ok(each, REOPEN) for _, each in everywhere(dead, REOPEN))):
            assert check_world(recovered) == (), name
            assert mirror(recovered).lines == ledger(recovered).entries
            assert list(lines(recovered)[: len(acknowledged)]) == acknowledged
            again = ok(recovered, put("probe"))
            assert "probe" in keys(again)


@pytest.mark.parametrize("world", [counted(2), behind(), torn(counted(2))])
def test_a_transaction_is_there_or_not_and_a_retry_says_which(world: World) -> None:
    request = put("new")
    before = len(lines(ok(world, REOPEN)))
    for name, dead in everywhere(world, request):
        recovered = ok(dead, REOPEN)
        there = "new" in keys(recovered)
        assert len(lines(recovered)) == before + there
        assert value(recovered, request)["status"] == ("noop" if there else "committed"), name
        assert state(ok(recovered, request)) == {"count": before + 1}


def test_its_event_is_the_authority_from_its_append_on() -> None:
    world, there = counted(1), set()
    for name, dead in everywhere(world, put("k2")):
        if "k2" in keys(ok(dead, REOPEN)):
            there.add(name)
    assert there == {
        "append-written", "append-fsync", "append-synced", "mirror", "mirrored", "commit", "committed",
        "reply",
    }  # fmt: skip


def test_a_crash_in_recovery_is_recovered_from_at_any_depth() -> None:
    expected = ok(wrecked(), REOPEN)
    worlds = [wrecked()]
    for _ in range(3):
        worlds = [dead for world in worlds for _, dead in everywhere(world, REOPEN)][:40]
        for world in worlds:
            recovered = ok(world, REOPEN)
            assert (recovered.ledger, recovered.mirror) == (expected.ledger, expected.mirror)


def test_an_effect_of_a_step_that_is_not_idempotent_happens_at_most_once_wherever_it_dies() -> None:
    action = apply(a_step(1, idempotent=False), a_step(2, idempotent=False))
    for name, dead in everywhere(opened(), action):
        world = ok(dead, REOPEN)
        told = value(world, action)
        again = ok(world, action)
        assert len({each.key for each in again.effects}) == len(again.effects)
        names = [line.name[1] for line in lines(world)]
        doubtful = ("r1:started" in names) != ("r1" in names) or ("r2:started" in names) != ("r2" in names)
        assert told["status"] == ("in_doubt" if doubtful else "completed"), name


def test_every_small_step_has_a_name_of_the_list_and_every_name_is_used() -> None:
    used = {name for world, action in CALLS for name in moments(world, action)}
    assert used == set(MOMENTS)


def test_the_last_small_step_is_the_reply_that_nobody_gets() -> None:
    for world, action in CALLS:
        name, there = steps(world, action)[-1]
        after, _ = step(world, action)
        assert name == "reply"
        assert evolve(there, acknowledged=after.acknowledged) == after
        assert there.acknowledged <= world.acknowledged


def test_a_client_dies_only_where_it_is() -> None:
    world = counted(1)
    wrong: list[Action] = [
        Crash("ben"),
        Crash("ann", "append"),
        Crash("ann", "run", put()),
        Crash("ann", "append:2", put()),
        Crash("ann", "append:x", put()),
        Crash("ann", "append:0", put()),
        Crash("ben", "append", put()),
        Crash("ben", "begin", put(client="ben")),
    ]
    for action in wrong:
        after, outcome = step(world, action)
        assert isinstance(outcome, Declined)
        assert after == world


def test_one_dies_idle_and_the_others_go_on() -> None:
    world = ok(counted(1), OpenLedger("ben"), Crash("ann"))
    assert [each.name for each in world.clients] == ["ben"]
    assert state(ok(world, put("k2", client="ben"))) == {"count": 2}


def test_what_a_dead_one_left_is_caught_up_by_the_living() -> None:
    world = died(ok(counted(1), OpenLedger("ben")), put("k2"), "append-synced")
    assert value(world, put("k2", client="ben"))["status"] == "noop"
    world = ok(world, put("k3", client="ben"))
    assert (keys(world), state(world)) == (["k1", "k2", "k3"], {"count": 3})


def test_nobody_was_told_of_what_died_with_its_client() -> None:
    world = died(counted(1), put("k2"), "reply")
    assert len(world.acknowledged) == 1
    assert len(ok(world, REOPEN, ReadState("ann")).acknowledged) == 2


def test_steps_of_what_is_no_call_are_none() -> None:
    for action in (Tamper("tail-cut", n=1), Crash("ann"), put(client="ben")):
        assert steps(counted(1), action) == []
    assert isinstance(step(counted(1), Transact("ann", "o", "r", "n", "e", "apply", "k", {}))[1], Accepted)
