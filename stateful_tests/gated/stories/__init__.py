"""Short stories of the second system, told by hand from the specification (see `stateful_tests.stories`).

A step is an action that must be accepted, or a pair of an outcome and an action that must have it:
`CODE, recoverability`, `noop`, `in_doubt`, or `raised mutation`, `raised step`, `raised value-error`. The
outcome is the author's reading of the specification, not the model's answer.
"""

from hashlib import sha256
from typing import Any, Final

from attrs import evolve

from model.gated.actions import (
    ApplySteps,
    Call,
    CloseLedger,
    Compensate,
    CompensationStep,
    Crash,
    Fault,
    OpenLedger,
    Raising,
    ReadState,
    Step,
    Tamper,
    Transact,
)
from model.values import JSON
from stateful_tests import stories
from stateful_tests.stories import Story

__all__ = ["Story", "story"]

APPEND: Final = "LEDGER_APPEND_REQUIRED_FAILED"
INTEGRITY: Final = "LEDGER_INTEGRITY_FAILED, operator"
MIRROR: Final = "SQLITE_MIRROR_FAILED"
COMMIT: Final = "SQLITE_COMMIT_AFTER_LEDGER_FAILED, in_doubt"
CONFLICT: Final = "IDEMPOTENCY_CONFLICT, operator"
VERIFY: Final = "VERIFY_GATE_FAILED, rollback"
COMPENSATION: Final = "COMPENSATION_FAILED, in_doubt"

BEFORE: Final = sha256(b"before").hexdigest()
AFTER: Final = sha256(b"after").hexdigest()


def story(name: str, why: str, *steps: Any) -> Story:
    """A story of the second system; lists among `steps` are laid out flat."""
    return evolve(stories.story(name, why, *steps), system="ledger")


def opened(client: str = "a", *faults: Fault) -> OpenLedger:
    return OpenLedger(client, tuple(faults))


def closed(client: str = "a") -> CloseLedger:
    return CloseLedger(client)


def read(client: str = "a", *faults: Fault) -> ReadState:
    return ReadState(client, tuple(faults))


def put(key: str = "k1", *faults: Fault, client: str = "a", **rest: Any) -> Transact:
    """A transaction under `key` that sets row `key`, unless `mutation` says what else it does."""
    given: dict[str, Any] = {"phase": "apply", "mutation": {"set": {key: 1}}, "intent": key, **rest}
    return Transact(
        client=client,
        operation_id="op",
        run_id="run",
        node_id="node",
        event_type="row.put",
        idempotency_key=key,
        faults=tuple(faults),
        **given,
    )


def counted(key: str = "k1", *faults: Fault, client: str = "a", **rest: Any) -> Transact:
    """A transaction that adds one to the row `n`: done twice, it shows."""
    return put(key, *faults, client=client, mutation={"increment": "n"}, **rest)


def gate(says: Any, key: str = "k1", **rest: Any) -> Transact:
    """A transaction of phase verify whose verifier says `says`."""
    return put(key, phase="verify", verifier=says, **rest)


def one(
    name: str,
    sequence: int = 1,
    *,
    idempotent: bool = True,
    raises: Raising | None = None,
    receipt: str | None = None,
) -> Step:
    return Step(name, receipt or f"r-{name}", sequence, idempotent, BEFORE, AFTER, raises)


def once(name: str, sequence: int = 1, *, raises: Raising | None = None) -> Step:
    """A step that isn't idempotent."""
    return one(name, sequence, idempotent=False, raises=raises)


def apply(*steps: Step, client: str = "a", run: str = "run", faults: tuple[Fault, ...] = ()) -> ApplySteps:
    return ApplySteps(client, run, "node", "op", steps, faults=faults)


def undo(
    name: str,
    sequence: int = 1,
    *,
    idempotent: bool = True,
    applied: bool = True,
    raises: Raising | None = None,
) -> CompensationStep:
    return CompensationStep(name, sequence, idempotent, applied, raises)


def compensate(
    *steps: CompensationStep,
    key: str = "c",
    client: str = "a",
    run: str = "run",
    after: str = AFTER,
    faults: tuple[Fault, ...] = (),
) -> Compensate:
    return Compensate(client, run, "node", "op", key, BEFORE, after, steps, faults=faults)


def fails(moment: str, nth: int = 1, kind: str = "fails") -> Fault:
    return Fault(moment, nth, kind)


def dies(inside: Call, at: str) -> Crash:
    """The client dies at this small step of what it does."""
    return Crash(inside.client, at, inside)


def gone(client: str = "a") -> Crash:
    """The client dies while it does nothing."""
    return Crash(client)


def tamper(kind: str, *, line: int = 0, n: int = 0) -> Tamper:
    return Tamper(kind, line, n)


def rows(**values: JSON) -> dict[str, JSON]:
    return {"set": dict(values)}
