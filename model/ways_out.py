"""Nothing gets stuck: from any state with a held slot there is a way to free it, and here it is tried.

The predicates build the surroundings in which the specification promises a way out (a live lease of the
stored epoch, a clock at or above `lastWallTime`, an authority that answers) and take it, by `step`. Each
way is one operation, so a row that is not freed by it is stuck.

A row that was found free to go is not tried again while it stays the same object: what frees it depends on
the row, on what its ledger says, and on the whole state being valid, which S1-S10 watch.
"""

from attrs import evolve

from model.actions import Call
from model.always import row_of
from model.outcomes import Accepted
from model.stepping import step
from model.values import ADMITTED, Fact, Host, Identity, Lease, Row, Store, World

_RESCUER = "rescuer"
_COMMAND = "ffffffff-ffff-4fff-bfff-ffffffffffff"


def repaired(
    store: Store,
    *,
    fact: Fact | None = None,
    clock: int = 0,
    owner: Row | None = None,
    arbitration: bool = True,
) -> World:
    """`store` with everything around it as good as can be: a live lease of its own epoch, an operator, and
    a clock of at least `clock` and `lastWallTime`. `fact` is all that the ledgers know; `owner`'s owner may
    call as `owner`. Without `arbitration` nothing more is ever proven.
    """
    now = max(clock, store.last_wall_time)
    epoch = max(store.fencing_epoch, 1)
    people = [(_RESCUER, Identity("p-rescuer", "o-rescuer", operator=True))]
    if owner is not None:
        people.append(("owner", Identity(owner.principal, owner.owner_id)))
    return World(
        clock=now,
        store=store,
        identity_file=True,
        lease=Lease(_RESCUER, epoch, "rescue", now + 1000),
        hosts=(Host(_RESCUER, _RESCUER, epoch, arbitration),),
        people=tuple(people),
        facts=() if fact is None else (fact,),
        project_seq=0 if fact is None else fact.commit_seq,
    )


def _frees(world: World, context: str, operation: str, row: Row, **more: str | bool) -> bool:
    """Whether this operation, which the store must accept, takes the slot from `row`."""
    arguments = {} if operation == "snapshot" else {"id": row.reservation_id, **more}
    after, outcome = step(world, Call(_RESCUER, context, operation, arguments))
    found = row_of(after.store, row.reservation_id)
    return isinstance(outcome, Accepted) and found is not None and not found.holds_slot


def operator_can_free(store: Store, row: Row) -> bool:
    """Whether forceRelease takes the slot from `row` while no project arbitrates or proves anything."""
    return _frees(
        repaired(store, arbitration=False),
        _RESCUER,
        "forceRelease",
        row,
        commandId=_COMMAND,
        riskAcknowledgement=True,
        reason="nothing gets stuck",
    )


def proof_can_free(store: Store, row: Row, fact: Fact | None) -> bool:
    """Whether arbitration, or the proof that the run is over, takes the slot from `row`.

    `fact` is what the ledgers know of it. Where that is about another binding or sequence than the row's
    there is no such proof, and where the binding has a slot already the other row has to go first (C8):
    the operator alone is left then, and this is true.
    """
    if fact is not None and fact.binding != row.binding:
        return True
    if row.state != "reserved":
        if fact is None or fact.kind != "admitted" or fact.commit_seq != row.project_admit_commit_seq:
            return True
        return _frees(repaired(store, fact=_over(fact, row), owner=row), "owner", "normalRelease", row)
    due = repaired(store, fact=fact, clock=row.reserved_expires_at or 0, owner=row)
    if fact is None or fact.kind == "abandoned":
        return _frees(due, "owner", "snapshot", row)
    if any(each.state in ADMITTED and each.binding == row.binding for each in store.rows):
        return True
    after, _ = step(due, Call(_RESCUER, "owner", "snapshot"))
    committed = row_of(after.store, row.reservation_id)
    if after.store is None or committed is None or committed.state != "committed":
        return False
    over = repaired(after.store, fact=_over(fact, committed), owner=row)
    return _frees(over, "owner", "normalRelease", row)


def _over(fact: Fact, row: Row) -> Fact:
    """The same run once it has come to its end and nothing of it lives."""
    return evolve(
        fact,
        status="completed",
        stage="terminal",
        requires_readmission=False,
        quiescent=True,
        run_version=max(fact.run_version, row.admit_run_version or 0),
    )


class _Tried:
    """What has been found free to go, for the state looked at last. Holds the objects, so ids stay theirs."""

    __slots__ = ("kept", "keys")

    def __init__(self) -> None:
        self.keys: frozenset[tuple[int, int]] = frozenset()
        self.kept: tuple[object, ...] = ()


def _all_free(world: World, tried: _Tried, facts: dict[str, Fact], *, by_proof: bool) -> bool:
    store = world.store
    if store is None:
        return True
    keys = set()
    for row in store.rows:
        if row.holds_slot:
            fact = facts.get(row.reservation_id)
            key = (id(row), id(fact))
            if key not in tried.keys and not (
                proof_can_free(store, row, fact) if by_proof else operator_can_free(store, row)
            ):
                return False
            keys.add(key)
    tried.keys, tried.kept = frozenset(keys), (store.rows, facts)
    return True


_by_operator = _Tried()
_by_proof = _Tried()


def operator_frees_all(world: World) -> bool:
    return _all_free(world, _by_operator, {}, by_proof=False)


def proof_frees_all(world: World) -> bool:
    facts = {fact.reservation_id: fact for fact in world.facts}
    return _all_free(world, _by_proof, facts, by_proof=True)
