"""Short stories, told by hand from the specification, from which the pinned corpus is written.

A story's steps are actions that must be accepted, or pairs of a code and an action that must be refused with
it; the code is the author's reading of the specification, not the model's answer. `python -m
stateful_tests.stories` runs them all and writes `corpus/*.json`; what is replayed ever after are those files.

The words below make the usual actions with usual arguments. They are no generator: nothing here is random.
"""

from typing import Any

from attrs import frozen

from model.actions import (
    Abandon,
    Admit,
    AdvanceClock,
    Answers,
    Call,
    Disturbance,
    Effect,
    Event,
    Finish,
    Happens,
    Moment,
    Open,
    Park,
    Quiesce,
    SetLease,
)
from model.values import JSON
from stateful_tests.system import COORDINATOR

START = 1_790_000_000_000
HOUR = 3_600_000
PROJECT = "b0000000-0000-4000-8000-000000000001"
DOMAIN = "d0000000-0000-4000-8000-000000000001"

Step = Any
"""An action, or a pair of a code and an action."""


@frozen
class Story:
    """What happens, and why it is worth keeping. `name` becomes the file's name."""

    name: str
    why: str
    steps: tuple[Step, ...]
    system: str = COORDINATOR


def story(name: str, why: str, *steps: Step | list[Step]) -> Story:
    """A story of `steps`; lists among them are laid out flat."""
    flat: list[Step] = []
    for step in steps:
        flat += step if isinstance(step, list) else [step]
    return Story(name, why, tuple(flat))


def row(n: int) -> str:
    """The id of reservation number `n`."""
    return f"a0000000-0000-4000-8000-{n:012x}"


def run(n: int) -> str:
    """The id of run number `n`."""
    return f"c0000000-0000-4000-8000-{n:012x}"


def command(n: int) -> str:
    """The id of command number `n`."""
    return f"e0000000-0000-4000-8000-{n:012x}"


def lease(host: str = "h1", epoch: int = 1, *, until: int = START + HOUR) -> SetLease:
    return SetLease({"holderId": host, "fencingEpoch": epoch, "endpoint": "unix:1", "expiresAt": until})


def opened(maximum: int = 2, *, host: str = "h1", epoch: int = 1, arbitration: bool = True) -> list[Step]:
    """The host gets the lease and opens the store."""
    return [lease(host, epoch), Open(host, host, epoch, maximum, arbitration)]


def call(
    operation: str,
    arguments: dict[str, Any] | None = None,
    *meanwhile: Disturbance,
    who: str = "alice",
    host: str = "h1",
) -> Call:
    return Call(host, who, operation, arguments or {}, tuple(meanwhile))


def reserve(
    n: int = 1,
    *meanwhile: Disturbance,
    of: int | None = None,
    ttl: JSON = 60_000,
    who: str = "alice",
    host: str = "h1",
) -> Call:
    """Reservation `n` for run `of` (by default run `n`)."""
    arguments = {
        "reservationId": row(n),
        "projectId": PROJECT,
        "projectControlDomainId": DOMAIN,
        "runId": run(n if of is None else of),
        "ttlMs": ttl,
    }
    return call("reserve", arguments, *meanwhile, who=who, host=host)


def admit(n: int = 1, *, of: int | None = None) -> Admit:
    return Admit(row(n), PROJECT, DOMAIN, run(n if of is None else of))


def abandon(n: int = 1, *, of: int | None = None) -> Abandon:
    return Abandon(row(n), PROJECT, DOMAIN, run(n if of is None else of))


def commit(
    n: int = 1,
    sequence: JSON = 1,
    *meanwhile: Disturbance,
    who: str = "alice",
    host: str = "h1",
    **more: JSON,
) -> Call:
    return call(
        "commit", {"id": row(n), "projectAdmitCommitSeq": sequence, **more}, *meanwhile, who=who, host=host
    )


def on(
    operation: str, n: int, *meanwhile: Disturbance, who: str = "alice", host: str = "h1", **more: JSON
) -> Call:
    """An operation on reservation `n`: renew, markOrphanSuspect, normalRelease, readReservation, dispatch."""
    return call(operation, {"id": row(n), **more}, *meanwhile, who=who, host=host)


def force(
    n: int, by: int, *meanwhile: Disturbance, who: str = "root", reason: JSON = "it hangs", **more: JSON
) -> Call:
    """forceRelease of reservation `n` by command `by`."""
    arguments: dict[str, JSON] = {
        "id": row(n),
        "commandId": command(by),
        "riskAcknowledgement": True,
        "reason": reason,
    }
    return call("forceRelease", arguments | more, *meanwhile, who=who)


def maximum(to: JSON, by: int, *meanwhile: Disturbance, who: str = "root") -> Call:
    """setMaxActiveRuns to `to` by command `by`."""
    return call("setMaxActiveRuns", {"commandId": command(by), "maxActiveRuns": to}, *meanwhile, who=who)


def snapshot(*meanwhile: Disturbance, who: str = "alice", host: str = "h1") -> Call:
    return call("snapshot", {}, *meanwhile, who=who, host=host)


def committed(n: int = 1, sequence: int = 1, *, of: int | None = None) -> list[Step]:
    """Reservation `n` is reserved, admitted and committed; `sequence` counts the admissions so far."""
    return [reserve(n, of=of), admit(n, of=of), commit(n, sequence)]


def ended(n: int = 1) -> list[Step]:
    """The run of reservation `n` has completed, and nothing of it lives."""
    return [Finish(row(n), "completed"), Quiesce(row(n))]


def parked(n: int = 1) -> list[Step]:
    return [Park(row(n)), Quiesce(row(n))]


def at(moment: Moment, effect: Effect | Event, nth: int = 1) -> Disturbance:
    """A disturbance; an event stands for `Happens(event)`."""
    struck = effect if isinstance(effect, Effect) else Happens(effect)
    return Disturbance(moment, nth, struck)


def later(ms: int) -> AdvanceClock:
    return AdvanceClock(ms)


def says(value: JSON) -> Answers:
    return Answers(value)


def proof(n: int, sequence: int, **changed: JSON) -> dict[str, JSON]:
    """A release proof for reservation `n`, good in everything but what is `changed`."""
    return {
        "reservationId": row(n),
        "projectId": PROJECT,
        "projectControlDomainId": DOMAIN,
        "runId": run(n),
        "projectAdmitCommitSeq": sequence,
        "runVersion": 2,
        "proofId": "proof",
        "status": "completed",
        "stage": "terminal",
        "requiresReadmission": False,
        "providerNoLiveProcessTree": True,
        "noAmbiguousJobs": True,
        "reconcileTimeoutOnly": False,
        **changed,
    }
