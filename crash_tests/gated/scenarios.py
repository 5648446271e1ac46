"""The situations in which a ledger-gated store is killed: what led there, and what is then in flight.

`history` happens in one process, which closes all it had open. Then the process that will be killed does
`warm`, unharmed: by default its client opens the store. `flight` is what it is killed in. The actions are
the model's, so a failing trial is a story like any other.
"""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from model.gated.actions import (
    Action,
    ApplySteps,
    Call,
    CloseLedger,
    Compensate,
    CompensationStep,
    Crash,
    Fault,
    OpenLedger,
    ReadState,
    Step,
    Tamper,
    Transact,
)
from model.values import JSON

BEFORE: Final = "b" * 64
AFTER: Final = "a" * 64
CLIENT: Final = "a"


@frozen
class Scenario:
    """See the module. The clients in `warm` are open when the flight begins."""

    name: str
    why: str
    history: tuple[Action, ...]
    flight: tuple[Call, ...]
    warm: tuple[Action, ...] = (OpenLedger(CLIENT),)


def counted(key: str, *faults: Fault, client: str = CLIENT) -> Transact:
    """A transaction that adds one to the row `n`: done twice, it shows."""
    mutation: dict[str, JSON] = {"increment": "n"}
    return Transact(
        client, "op", "run", "node", "row.count", "apply", key, mutation, intent=key, faults=faults
    )


def put(key: str, value: JSON) -> Transact:
    """A transaction that sets the row `key`."""
    return Transact(
        CLIENT, "op", "run", "node", "row.put", "commit", key, {"set": {key: value}}, intent=value
    )


def verified(key: str) -> Transact:
    """A transaction that has to pass its verifier."""
    return Transact(
        CLIENT, "op", "run", "node", "row.gate", "verify", key, {"increment": "n"}, intent=key, verifier=True
    )


def steps(*idempotent: bool, run: str = "run", client: str = CLIENT) -> ApplySteps:
    """Steps s1, s2 … of which these are idempotent."""
    listed = tuple(Step(f"s{n}", f"r{n}", n, each, BEFORE, AFTER) for n, each in enumerate(idempotent, 1))
    return ApplySteps(client, run, "node", "op", listed)


def undone(*idempotent: bool, run: str = "run") -> Compensate:
    """The compensation of s1, s2 …; what isn't idempotent was not applied."""
    listed = tuple(CompensationStep(f"s{n}", n, each, each) for n, each in enumerate(idempotent, 1))
    return Compensate(CLIENT, run, "node", "op", "undo", AFTER, BEFORE, listed)


def dies(inside: Call, at: str) -> Crash:
    return Crash(inside.client, at, inside)


OPEN: Final = OpenLedger(CLIENT)
TWO: Final[tuple[Action, ...]] = (OPEN, counted("k1"), put("k2", "\u00fc\U0001f512"))
CLOSED: Final = (*TWO, CloseLedger(CLIENT))
TORN: Final = (*TWO, dies(counted("k3"), "append-torn"))
UNSEEN: Final = (*TWO, dies(counted("k3"), "append-synced"))
_TWO_CLIENTS: Final[tuple[Action, ...]] = (OPEN, OpenLedger("b"))

_OPENINGS: Final = (
    Scenario("first-opening", "an empty directory becomes a store", (), (OPEN,), ()),
    Scenario("open-again", "nothing to recover", TWO, (OPEN,), ()),
    Scenario("open-torn", "a torn tail is cut off", TORN, (OPEN,), ()),
    Scenario("open-behind", "the mirror is caught up", UNSEEN, (OPEN,), ()),
    Scenario(
        "open-bad-last-line",
        "a last line that is not valid, and that the mirror has not seen",
        (*UNSEEN, Tamper("line-edited", 3, 30)),
        (OPEN,),
        (),
    ),
    Scenario("open-mirror-missing", "the mirror is built", (*CLOSED, Tamper("mirror-deleted")), (OPEN,), ()),
    Scenario(
        "open-mirror-empty", "an empty mirror is set aside", (*CLOSED, Tamper("mirror-emptied")), (OPEN,), ()
    ),
    Scenario(
        "open-mirror-corrupt",
        "a corrupt mirror is set aside, and the tail is torn",
        (*TORN, Tamper("mirror-corrupt")),
        (OPEN,),
        (),
    ),
    Scenario("open-mirror-schema", "another schema", (*UNSEEN, Tamper("mirror-schema")), (OPEN,), ()),
    Scenario("open-mirror-behind", "an older mirror", (*CLOSED, Tamper("mirror-behind", n=1)), (OPEN,), ()),
    Scenario("open-refused", "the mirror is ahead", (*TWO, Tamper("line-removed", 2)), (OPEN,), ()),
)
_TRANSACTIONS: Final = (
    Scenario("first-transaction", "the first line of a ledger", (OPEN,), (counted("k1"),)),
    Scenario("transact", "one more line", TWO, (counted("k3"),)),
    Scenario("verify", "through the gate", TWO, (verified("k3"),)),
    Scenario("noop", "a known key is answered again", TWO, (counted("k1"),)),
    Scenario("conflict", "a known key, another request", TWO, (put("k1", 0),)),
    Scenario("read", "the state is read", TWO, (ReadState(CLIENT),)),
    Scenario(
        "burst", "what has answered is there for good", TWO, (counted("k3"), counted("k4"), put("k5", 1))
    ),
    Scenario(
        "append-full",
        "an append that fails half-way is cut off again",
        TWO,
        (counted("k3", Fault("append", 1, "full")), counted("k3")),
    ),
    Scenario(
        "append-fsync-fails",
        "an append whose fsync fails is cut off again",
        TWO,
        (counted("k3", Fault("append-fsync", 1, "fails")), counted("k4")),
    ),
    Scenario(
        "mirror-fails",
        "the mirror fails after the append, and the next call catches up",
        TWO,
        (counted("k3", Fault("mirror", 1, "fails")), counted("k4")),
    ),
    Scenario(
        "commit-fails",
        "COMMIT fails after the append, and the retry is a no-op",
        TWO,
        (counted("k3", Fault("commit", 1, "fails")), counted("k3")),
    ),
    Scenario(
        "another-died-torn",
        "a call cuts off what another client's death has left",
        TWO,
        (counted("k3"),),
        (*_TWO_CLIENTS, dies(counted("k3", client="b"), "append-torn")),
    ),
    Scenario(
        "another-died-unseen",
        "a call catches up with what another client's death has left",
        TWO,
        (counted("k3"),),
        (*_TWO_CLIENTS, dies(counted("k3", client="b"), "append-synced")),
    ),
)
_EFFECTS: Final = (
    Scenario("steps", "two steps, of which one may run but once", TWO, (steps(True, False),)),
    Scenario(
        "steps-again",
        "the first is skipped, the second runs",
        (*TWO, steps(True)),
        (steps(True, True),),
    ),
    Scenario(
        "steps-in-doubt",
        "started without receipt",
        (*TWO, dies(steps(False), "ran")),
        (steps(False, True),),
    ),
    Scenario("compensation", "two compensators in reverse", TWO, (undone(True, False, True),)),
    Scenario(
        "compensation-again",
        "one has its receipt",
        (*TWO, dies(undone(True, True), "ran:2")),
        (undone(True, True),),
    ),
)

SCENARIOS: Final[Mapping[str, Scenario]] = {
    scenario.name: scenario for scenario in (*_OPENINGS, *_TRANSACTIONS, *_EFFECTS)
}
"""By name, in the order in which a person would tell them."""
