"""`run_ledger_gated_transaction`: one mutation, gated by its ledger event.

The order decides which error a caller sees: the request's own form; the poisoned store; catch-up; BEGIN; the
known key; `mutate` and what it returns; the verifier; append; mirror; commit.
"""

from model.gated import lines
from model.gated.actions import PHASES, Transact
from model.gated.running import Passing, Refusal, Running
from model.gated.texts import is_name, is_plain
from model.gated.values import RECEIPT_PHASES, Line, State
from model.values import JSON


def is_well_formed(action: Transact) -> bool:
    """A request can say this; else making one is a ValueError."""
    named = (
        action.operation_id,
        action.run_id,
        action.node_id,
        action.event_type,
        action.idempotency_key,
    )
    return (
        all(map(is_name, named))
        and (action.attempt_id is None or is_name(action.attempt_id))
        and action.phase in PHASES
        and action.phase not in RECEIPT_PHASES
        and is_plain(action.intent)
        and (action.phase == "verify") == (action.verifier is not None)
    )


def mutated(mutation: dict[str, JSON], before: State) -> JSON:
    """What `mutate` returns; raises `Passing` if it raises."""
    if "garbage" in mutation:
        return mutation["garbage"]
    if "raises" in mutation:
        raise Passing("mutation")
    rows = before.as_json()
    if "increment" in mutation:
        name = str(mutation["increment"])
        count = rows.get(name, 0)
        if type(count) is not int:
            raise Passing("mutation")
        return {**rows, name: count + 1}
    put, gone = mutation.get("set", {}), mutation.get("remove", [])
    assert isinstance(put, dict)
    assert isinstance(gone, list)
    rows.update(put)
    return {name: value for name, value in rows.items() if name not in gone}


def request_hash(action: Transact) -> str:
    return lines.request_hash(
        operation_id=action.operation_id,
        run_id=action.run_id,
        node_id=action.node_id,
        event_type=action.event_type,
        phase=action.phase,
        idempotency_key=action.idempotency_key,
        attempt_id=action.attempt_id,
        intent=action.intent,
    )


def transact(running: Running, action: Transact) -> JSON:
    if not is_well_formed(action):
        raise Passing("value-error")
    requested = request_hash(action)

    def judge(known: Line) -> None:
        if known.request_hash != requested:
            raise Refusal("IDEMPOTENCY_CONFLICT", "operator")

    def build() -> Line:
        return _staged(running, action, requested)

    line, is_new = running.gated(("", action.idempotency_key), judge, build)
    running.acknowledge()
    return {
        "status": "committed" if is_new else "noop",
        "applied": is_new,
        "record": lines.record_to_json(line.record),
        "state": running.found().state.as_json(),
    }


def _staged(running: Running, action: Transact, requested: str) -> Line:
    """The line of a mutation that nobody has committed yet."""
    mirror = running.found()
    before = mirror.state
    after = lines.state_of(mutated(action.mutation, before))
    if after is None:
        raise Passing("value-error")
    if action.verifier == "raises":
        raise Passing("mutation")
    if action.verifier is False:
        raise Refusal("VERIFY_GATE_FAILED", "rollback")
    entry = lines.record(
        operation_id=action.operation_id,
        run_id=action.run_id,
        node_id=action.node_id,
        event_type=action.event_type,
        phase=action.phase,
        idempotency_key=action.idempotency_key,
        attempt_id=action.attempt_id,
        before=before.hash,
        after=after.hash,
    )
    change = lines.difference(before, after)
    return lines.sealed(mirror.sequence + 1, entry, requested, change, mirror.head)
