"""The situations in which a store is killed: a history that leads there, and the actions then in flight.

Each operation stands here at least once where it writes, and where it can also do nothing it stands again
doing nothing: a kill during a refusal or an unchanged answer must leave the bytes alone too. The actions
are the model's, so a failing trial is a trace like any other.

What is not here: an epoch that changes by anything but opening. Opening stores the host's epoch at once,
so no later operation of that host ever finds an older one.
"""

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from model.actions import (
    Abandon,
    Action,
    Admit,
    AdvanceClock,
    Call,
    Finish,
    LeaveTemp,
    Open,
    Park,
    Quiesce,
    ReadEpoch,
    SetLease,
)
from model.values import JSON

START_MS = 1_790_000_000_000
"""What the clock of `model.initial_world()` shows."""

FAR_MS = START_MS + 10_000_000_000
TTL_MS = 60_000
HOLDER = "holder-1"

Layout = Literal["existing", "missing"]
"""Whether the store's directory is there, empty, at first, or has to be made with its parent."""

KillAt = tuple[str, int]
"""A marked point, and which arrival at it (from 1)."""


@frozen
class Scenario:
    """`history` has happened; `flight` is performed by the process that is killed.

    Of several actions in flight each one that has answered counts as acknowledged. With `broken_off` the
    last action of the history was itself killed there, and its process is gone.
    """

    name: str
    why: str
    history: tuple[Action, ...]
    flight: tuple[Action, ...]
    layout: Layout = "existing"
    broken_off: KillAt | None = None


def uuid_of(number: int, kind: int = 0) -> str:
    """A canonical lower-case UUID that a person can tell apart in a trace."""
    return f"{kind}0000000-0000-4000-8000-{number:012d}"


PROJECT, DOMAIN = uuid_of(1, 1), uuid_of(1, 2)


def run_of(number: int) -> dict[str, JSON]:
    """The binding of run `number`, in an operation's own argument names."""
    return {"projectId": PROJECT, "projectControlDomainId": DOMAIN, "runId": uuid_of(number, 3)}


def lease(epoch: int = 1) -> SetLease:
    """`HOLDER` may act as host in `epoch`, for longer than any scenario lasts."""
    return SetLease({"holderId": HOLDER, "fencingEpoch": epoch, "endpoint": "here", "expiresAt": FAR_MS})


def opening(host: str = "a", epoch: int = 1) -> Open:
    return Open(host, HOLDER, epoch, 3)


def call(operation: str, *, host: str = "a", context: str = "alice", **arguments: JSON) -> Call:
    return Call(host, context, operation, arguments)


def reserve(number: int, *, host: str = "a", ttl_ms: int = TTL_MS) -> Call:
    arguments: Mapping[str, JSON] = {"reservationId": uuid_of(number), **run_of(number), "ttlMs": ttl_ms}
    return Call(host, "alice", "reserve", arguments)


def commit(number: int, *, attempt_id: str | None = None) -> Call:
    """Commits run `number`, the first that its project has recorded anything of."""
    if attempt_id is None:
        return call("commit", id=uuid_of(number), projectAdmitCommitSeq=1)
    return call("commit", id=uuid_of(number), projectAdmitCommitSeq=1, attemptId=attempt_id)


def admit(number: int) -> Admit:
    return Admit(uuid_of(number), PROJECT, DOMAIN, uuid_of(number, 3))


def abandon(number: int) -> Abandon:
    return Abandon(uuid_of(number), PROJECT, DOMAIN, uuid_of(number, 3))


def force_release(number: int, command: int) -> Call:
    return call(
        "forceRelease",
        context="root",
        id=uuid_of(number),
        commandId=uuid_of(command),
        riskAcknowledgement=True,
        reason="the machine burned down",
    )


def set_maximum(maximum: int, command: int) -> Call:
    return call("setMaxActiveRuns", context="root", commandId=uuid_of(command), maxActiveRuns=maximum)


OPENED: tuple[Action, ...] = (lease(), opening())
RESERVED = (*OPENED, reserve(1))
ADMITTED = (*RESERVED, admit(1))
COMMITTED = (*ADMITTED, commit(1))
LATE = AdvanceClock(TTL_MS + 1)

_GENESIS = (
    Scenario("genesis", "an empty directory becomes a store", (lease(),), (opening(),)),
    Scenario(
        "genesis-deep",
        "opening makes the missing directories too",
        (lease(),),
        (opening(),),
        layout="missing",
    ),
    Scenario(
        "genesis-completed",
        "a genesis was killed between the state and the identity; opening completes it",
        OPENED,
        (opening(),),
        broken_off=("identity-create-before", 1),
    ),
    Scenario(
        "genesis-overtaken",
        "the next host, with a newer epoch, completes an interrupted genesis",
        OPENED,
        (lease(2), opening("b", 2)),
        broken_off=("identity-create-before", 1),
    ),
    Scenario("open-again", "the same host opens once more: nothing to write", RESERVED, (opening(),)),
    Scenario(
        "open-newer-epoch", "a newer host fences the older one", (*RESERVED, lease(2)), (opening("b", 2),)
    ),
    Scenario(
        "open-newer-epoch-sweeping",
        "a newer host sweeps an admitted reservation while it opens",
        (*ADMITTED, LATE, lease(2)),
        (opening("b", 2),),
    ),
)

_OPERATIONS = (
    Scenario("reserve", "a new reservation", RESERVED, (reserve(2),)),
    Scenario("reserve-again", "an id that is known answers its row", RESERVED, (reserve(1),)),
    Scenario("commit", "an admitted run gets its slot for good", ADMITTED, (commit(1),)),
    Scenario(
        "commit-binds",
        "a committed row still lacks the attempt id",
        COMMITTED,
        (commit(1, attempt_id=uuid_of(1, 4)),),
    ),
    Scenario("renew-reserved", "a new time limit", RESERVED, (call("renew", id=uuid_of(1), ttlMs=TTL_MS),)),
    Scenario("renew-committed", "a sign of life", COMMITTED, (call("renew", id=uuid_of(1)),)),
    Scenario(
        "mark-orphan-suspect",
        "reconciling has given up",
        COMMITTED,
        (call("markOrphanSuspect", id=uuid_of(1)),),
    ),
    Scenario(
        "normal-release",
        "the run is over and nothing of it lives",
        (*COMMITTED, Finish(uuid_of(1), "completed"), Quiesce(uuid_of(1))),
        (call("normalRelease", id=uuid_of(1)),),
    ),
    Scenario(
        "normal-release-parked",
        "the run is parked and nothing of it lives",
        (*COMMITTED, Park(uuid_of(1)), Quiesce(uuid_of(1))),
        (call("normalRelease", id=uuid_of(1)),),
    ),
    Scenario("force-release", "an operator takes the risk", COMMITTED, (force_release(1, 101),)),
    Scenario(
        "force-release-again",
        "a command that took effect answers the same again",
        (*COMMITTED, force_release(1, 101)),
        (force_release(1, 101),),
    ),
    Scenario("set-max-active-runs", "an operator raises the maximum", RESERVED, (set_maximum(5, 102),)),
)

_READS = (
    Scenario(
        "read-reservation", "a read that writes nothing", RESERVED, (call("readReservation", id=uuid_of(1)),)
    ),
    Scenario(
        "read-command",
        "a read of a command that writes nothing",
        (*OPENED, set_maximum(5, 102)),
        (call("readCommand", context="root", id=uuid_of(102)),),
    ),
    Scenario("snapshot", "a read of everything that writes nothing", COMMITTED, (call("snapshot"),)),
    Scenario("read-epoch", "the stored epoch is read without a host", RESERVED, (ReadEpoch(),)),
    Scenario(
        "read-sweeps-to-committed",
        "a read finds an admitted reservation past its time",
        (*ADMITTED, LATE),
        (call("readReservation", id=uuid_of(1)),),
    ),
    Scenario(
        "read-sweeps-to-expired",
        "a read has an unadmitted reservation past its time abandoned",
        (*RESERVED, LATE),
        (call("snapshot"),),
    ),
    Scenario(
        "foreign-state",
        "another process has written: its state is made durable before it is answered from",
        (*RESERVED, opening("b"), reserve(2, host="b")),
        (call("snapshot"),),
    ),
)

_SWEEPS = (
    Scenario(
        "sweep-to-committed",
        "the host died between admission and commit; another operation sweeps",
        (*ADMITTED, LATE),
        (reserve(2),),
    ),
    Scenario(
        "sweep-to-expired",
        "the project had abandoned the reservation; another operation sweeps",
        (*RESERVED, abandon(1), LATE),
        (reserve(2),),
    ),
    Scenario(
        "sweep-both-ways",
        "one row is admitted, the other is abandoned in the very same sweep",
        (*ADMITTED, reserve(2), LATE),
        (set_maximum(5, 102),),
    ),
    Scenario(
        "sweep-refused",
        "the operation is refused after its sweep: the sweep is undone, the abandonment is not",
        (*RESERVED, LATE),
        (call("markOrphanSuspect", id=uuid_of(1)),),
    ),
)

_OTHERS = (
    Scenario("dispatch", "a launch under the mutex", COMMITTED, (call("dispatch", id=uuid_of(1)),)),
    Scenario(
        "dispatch-sweeping",
        "a launch that publishes a sweep first",
        (*ADMITTED, LATE),
        (call("dispatch", id=uuid_of(1)),),
    ),
    Scenario(
        "refused-capacity",
        "no slot is free",
        (*RESERVED, reserve(2), reserve(3)),
        (reserve(4),),
    ),
    Scenario(
        "leftover-temp", "a killed writer's file is cleaned up", (*RESERVED, LeaveTemp()), (reserve(2),)
    ),
    Scenario(
        "burst",
        "several operations in a row: what has answered is there for good",
        (*RESERVED, admit(1)),
        (reserve(2), commit(1), call("renew", id=uuid_of(2), ttlMs=2 * TTL_MS)),
    ),
)

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario for scenario in (*_GENESIS, *_OPERATIONS, *_READS, *_SWEEPS, *_OTHERS)
}
"""By name, in the order in which a person would tell them."""
