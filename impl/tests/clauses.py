"""Changes to a valid state that break one clause of S1 … S10 each, or just don't.

Guarantees: each entry of `SEALED` says which clause it breaks first, once all checksums have been made
right again, and the code that this gives. Each of `ALLOWED` lies just inside a clause.
"""

from collections.abc import Callable
from typing import Any

from impl.tests import independent
from impl.tests.crafting import Path, at
from impl.tests.derive_store import T0, uuid
from impl.tests.workbench import EPOCH

Change = Callable[[Any], None]


DURABILITY, BINDING, CAPACITY = "DURABILITY_FAILED", "ADMISSION_BINDING_CONFLICT", "CAPACITY_EXCEEDED"


RESERVED, COMMITTED, RELEASED = uuid(1), uuid(2), uuid(3)


COMMAND = uuid(1, 9)


def inner(state: Any, key: str) -> Any:
    return state["reservations"][key]["reservation"]


def setting(path: Path, value: Any) -> Change:
    def change(state: Any) -> None:
        at(state, path[:-1])[path[-1]] = value

    return change


def dropping(*path: str) -> Change:
    def change(state: Any) -> None:
        del at(state, path[:-1])[path[-1]]

    return change


def row(key: str, *path: str) -> tuple[str, ...]:
    return ("reservations", key, *path)


def rebound(state: Any, key: str, to: str) -> None:
    """Row `key` gets the binding of row `to`."""
    for name in ("projectId", "projectControlDomainId", "runId"):
        inner(state, key)[name] = inner(state, to)[name]


def twins(one: str, other: str) -> Change:
    """Rows 1 and 2 in these states, admitted both, share a binding."""

    def change(state: Any) -> None:
        for key, name in ((RESERVED, one), (COMMITTED, other)):
            inner(state, key).update(state=name, projectAdmitCommitSeq=1)
            inner(state, key).pop("reservedExpiresAt", None)
        rebound(state, COMMITTED, RESERVED)

    return change


def renamed(where: str, old: str, new: str, name: str | None = None) -> Change:
    """A row's or command's key becomes `new`; its own id too, unless it is to be `name`."""

    def change(state: Any) -> None:
        item = state[where].pop(old)
        state[where][new] = item
        holder, field = (
            ("reservation", "reservationId") if where == "reservations" else ("record", "commandId")
        )
        item[holder][field] = new if name is None else name

    return change


def epoch_fallen(state: Any) -> None:
    """All that is new bears an older epoch; only the audit of long ago still tells of the newer one."""
    state["fencingEpoch"] = state["audit"][-1]["epoch"] = EPOCH - 1
    for each in state["reservations"].values():
        each["reservation"]["coordinatorEpoch"] = EPOCH - 1


def both(*changes: Change) -> Change:
    def change(state: Any) -> None:
        for each in changes:
            each(state)

    return change


SECOND = ("audit", 1)


LAST = ("audit", -1)


NOT_CANONICAL = [
    "0A" + uuid(2)[2:],
    uuid(2).replace("-", ""),
    "{" + uuid(2) + "}",
    "x",
    uuid(2) + "\n",
    "2",
    "\uff10" + uuid(2)[1:],
]


# Each entry breaks its clause and no other; `seal` makes every checksum right afterwards.
SEALED: dict[str, list[tuple[str, Change, str]]] = {
    "S1": [
        ("commitSeq 0", both(setting(("commitSeq",), 0), setting(("audit",), [])), DURABILITY),
        ("state nonsense", setting(row(COMMITTED, "reservation", "state"), "Committed"), DURABILITY),
        ("two slots", setting(row(COMMITTED, "reservation", "slots"), 2), DURABILITY),
        ("no slot", setting(row(COMMITTED, "reservation", "slots"), 0), DURABILITY),
        ("kind nonsense", setting(row(RELEASED, "releaseKind"), "gentle"), DURABILITY),
        ("guarantee nonsense", setting(row(RELEASED, "concurrencyGuarantee"), "none"), DURABILITY),
        ("sequence 0", setting(row(COMMITTED, "reservation", "projectAdmitCommitSeq"), 0), DURABILITY),
        ("maximum 0", setting(("maxActiveRuns",), 0), DURABILITY),
        ("version 2", setting(("version",), 2), DURABILITY),
        ("denied", setting(("commands", COMMAND, "request", "riskAcknowledgement"), False), DURABILITY),
        ("result 0", setting(("commands", uuid(2, 9), "result"), 0), DURABILITY),
        ("mixed request", setting(("commands", COMMAND, "request", "maxActiveRuns"), 1), DURABILITY),
    ],
    "S2": [
        ("an entry missing", setting(("commitSeq",), 5), DURABILITY),
        ("an entry too many", setting(("commitSeq",), 3), DURABILITY),
    ],
    "S3": [
        ("counts from 2", setting(("audit", 0, "commitSeq"), 2), DURABILITY),
        ("counts 0", setting(("audit", 0, "commitSeq"), 0), DURABILITY),
        ("counts twice", setting((*SECOND, "commitSeq"), 1), DURABILITY),
        ("time falls", setting((*SECOND, "recordedAt"), T0 + 2_500), DURABILITY),
        ("time falls at the end", setting((*LAST, "recordedAt"), T0), DURABILITY),
        ("the epoch fell", epoch_fallen, DURABILITY),
        ("an epoch above", setting((*SECOND, "epoch"), EPOCH + 1), DURABILITY),
    ],
    "S4": [
        ("a time above the last", setting((*LAST, "recordedAt"), T0 + 3_001), DURABILITY),
    ],
    "S5": [
        ("another key", renamed("reservations", COMMITTED, uuid(77), COMMITTED), DURABILITY),
        ("updated later", setting(row(COMMITTED, "updatedAt"), T0 + 3_001), DURABILITY),
        ("a later epoch", setting(row(COMMITTED, "reservation", "coordinatorEpoch"), EPOCH + 1), DURABILITY),
        *((f"key {key!r}", renamed("reservations", COMMITTED, key), DURABILITY) for key in NOT_CANONICAL),
        ("another key, before", renamed("reservations", COMMITTED, uuid(0), COMMITTED), DURABILITY),
    ],
    "S6": [
        ("no sequence", dropping(*row(COMMITTED, "reservation", "projectAdmitCommitSeq")), BINDING),
        ("committed with a TTL", setting(row(COMMITTED, "reservation", "reservedExpiresAt"), T0), BINDING),
        ("committed with TTL 0", setting(row(COMMITTED, "reservation", "reservedExpiresAt"), 0), BINDING),
        ("suspect, no sequence", both(
            setting(row(COMMITTED, "reservation", "state"), "orphan-suspect"),
            dropping(*row(COMMITTED, "reservation", "projectAdmitCommitSeq"))), BINDING),
        ("suspect with a TTL", both(
            setting(row(COMMITTED, "reservation", "state"), "orphan-suspect"),
            setting(row(COMMITTED, "reservation", "reservedExpiresAt"), T0 + 10**9)), BINDING),
    ],
    "S7": [
        ("reserved, no TTL", dropping(*row(RESERVED, "reservation", "reservedExpiresAt")), BINDING),
        ("reserved, a sequence", setting(row(RESERVED, "reservation", "projectAdmitCommitSeq"), 1), BINDING),
    ],
    "S8": [
        ("twice committed", twins("committed", "committed"), BINDING),
        ("committed and suspect", twins("committed", "orphan-suspect"), BINDING),
        ("suspect and committed", twins("orphan-suspect", "committed"), BINDING),
        ("twice suspect", twins("orphan-suspect", "orphan-suspect"), BINDING),
    ],
    "S9": [
        ("another key", renamed("commands", COMMAND, uuid(77, 9), COMMAND), DURABILITY),
        ("started", setting(("commands", COMMAND, "record", "status"), "started"), DURABILITY),
        ("two commits", setting(("commands", COMMAND, "record", "firstCommitSeq"), 1), DURABILITY),
        ("a commit to come", both(
            setting(("commands", COMMAND, "record", "firstCommitSeq"), 5),
            setting(("commands", COMMAND, "record", "lastCommitSeq"), 5)), DURABILITY),
        ("another kind", setting(("commands", COMMAND, "record", "kind"), "setMaxActiveRuns"), DURABILITY),
        *((f"key {key!r}", renamed("commands", COMMAND, key), DURABILITY) for key in NOT_CANONICAL),
        *((f"{where[-2]} of {where[-1]} {NOT_CANONICAL[0]!r}", setting(where, NOT_CANONICAL[0]), DURABILITY)
          for where in (("commands", COMMAND, "request", "reservationId"),
                        ("commands", COMMAND, "result", "reservation", "reservationId"),
                        ("commands", COMMAND, "result", "reservation", "runId"))),
        ("another key, before", renamed("commands", COMMAND, uuid(0, 9), COMMAND), DURABILITY),
        ("completing", setting(("commands", COMMAND, "record", "status"), "complete"), DURABILITY),
        ("two, backwards", setting(("commands", COMMAND, "record", "lastCommitSeq"), 1), DURABILITY),
        ("the other kind", setting(("commands", uuid(2, 9), "record", "kind"), "forceRelease"), DURABILITY),
    ],
    "S10": [
        ("two held of one", setting(("maxActiveRuns",), 1), CAPACITY),
        ("two committed of one", both(
            setting(("maxActiveRuns",), 1), twins("committed", "committed"),
            setting(row(RESERVED, "reservation", "runId"), uuid(50))), CAPACITY),
    ],
}  # fmt: skip


def clauses(state: Any) -> list[str]:
    """The clauses that the independent judge finds broken, in order."""
    return [fault[:3].rstrip(":") for fault in independent.faults(state)]


ALLOWED: list[tuple[str, Change]] = [
    ("a TTL left on a released row", setting(row(RELEASED, "reservation", "reservedExpiresAt"), T0)),
    ("a TTL left on an expired row", both(
        setting(row(RELEASED, "reservation", "state"), "expired"),
        setting(row(RELEASED, "reservation", "reservedExpiresAt"), T0 + 10**10))),
    ("a reserved row with a committed one's binding", lambda state: rebound(state, RESERVED, COMMITTED)),
    ("a released row with a committed one's binding", lambda state: rebound(state, RELEASED, COMMITTED)),
    ("two rows of one project", setting(row(RESERVED, "reservation", "projectId"), uuid(2, 1))),
    ("all slots held", setting(("maxActiveRuns",), 2)),
    ("a command of the last commit", both(
        setting(("commands", COMMAND, "record", "firstCommitSeq"), 4),
        setting(("commands", COMMAND, "record", "lastCommitSeq"), 4))),
    ("a command without its request", dropping("commands", COMMAND, "request")),
    ("no rows", setting(("reservations",), {})),
    ("no commands", setting(("commands",), {})),
    ("a time of the future that has passed", setting(("lastWallTime",), T0 + 50_000)),
    ("updated at the last time", setting(row(COMMITTED, "updatedAt"), T0 + 3_000)),
    ("the largest numbers", setting(row(COMMITTED, "reservation", "projectAdmitCommitSeq"), 2**53 - 1)),
]  # fmt: skip
