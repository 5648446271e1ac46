"""The operations: what each may do to the rows, and the guards before it.

Guarantees: `plan` gives every operation of `arguments.OPERATIONS` its rules. Rules change only the `Work`
they are given, and try their guards in the order in which the specification writes them.

Doesn't: open files, take locks or authorize. That is `transaction`'s.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from impl.arguments import Call
from impl.loading import new_uuid
from impl.operations.commands import force_release, set_max_active_runs
from impl.operations.lifecycle import commit, mark_orphan_suspect, proposal, renew, reserve
from impl.operations.reads import dispatch, read_command, read_reservation, snapshot_of
from impl.operations.release import normal_release
from impl.values import Reservation, State
from impl.work import Work

_Rule = Callable[[Work, Mapping[str, Any]], object]


@frozen
class Plan:
    """How a transaction runs one operation."""

    operation: str
    arguments: Mapping[str, Any]
    rule: _Rule
    subject: str | None = None
    """The reservation that `authorize` is shown."""
    proposal: Callable[[int], Reservation] | None = None
    """What it is shown instead while there is no such row; takes this host's epoch."""
    answer: Callable[[State], object] | None = None
    """For answers that depend on the state as published."""


def _nothing(_work: Work, _arguments: Mapping[str, Any]) -> None:
    return None


_RULES: Final[Mapping[str, _Rule]] = {
    "reserve": reserve,
    "commit": commit,
    "renew": renew,
    "markOrphanSuspect": mark_orphan_suspect,
    "normalRelease": normal_release,
    "forceRelease": force_release,
    "setMaxActiveRuns": set_max_active_runs,
    "readReservation": read_reservation,
    "readCommand": read_command,
    "snapshot": _nothing,
    "dispatch": dispatch,
}

INITIALIZE: Final = Plan("initialize", {}, _nothing)
"""What opening runs: genesis, or the taking over of an existing store."""


def plan(call: Call) -> Plan:
    """The plan of one checked call."""
    arguments = dict(call.arguments)
    operation = call.operation
    rule = _RULES[operation]
    if operation == "reserve":
        arguments.setdefault("reservationId", new_uuid())
        return Plan(
            operation,
            arguments,
            rule,
            subject=arguments["reservationId"],
            proposal=lambda epoch: proposal(arguments, epoch),
        )
    if operation == "dispatch":
        arguments["prepare"] = call.prepare
    if operation == "snapshot":
        return Plan(operation, arguments, rule, answer=snapshot_of)
    subject = None if operation == "readCommand" else arguments.get("id")
    return Plan(operation, arguments, rule, subject=subject)
