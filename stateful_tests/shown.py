"""What the authority was shown, held against what it must be: who asks for what, about which reservation.

The first `authorize` of a call sees the row as it stands before the sweep, for `reserve` of a new id the
proposal; the second sees it as it will be published; there is none for calls about no reservation. Nothing of
this shows in files or answers.

Doesn't: judge calls in the middle of which something happens, nor the second look of one that is refused.
"""

from typing import Final

from model.actions import Call
from model.forms import reservation_to_json
from model.outcomes import Accepted, Outcome
from model.values import JSON, Store, World
from stateful_tests import clauses
from stateful_tests.compare import differences, same
from stateful_tests.pair import Found

Shown = tuple[str, JSON]
"""The operation's name and the reservation, as `authorize` got them."""

_ABOUT_NONE: Final = frozenset({"snapshot", "readCommand", "setMaxActiveRuns"})


def shown_differs(
    call: Call, before: World, outcome: Outcome, after: World, shown: tuple[Shown, ...]
) -> Found | None:
    """How what was `shown` during `call` differs from what it must be, if it does."""
    if call.disturbances:
        return None
    accepted = isinstance(outcome, Accepted)
    expected = [[call.operation, _at_first(call, before)]]
    if accepted:
        expected.append([call.operation, _row(call, after.store)])
    elif not shown:
        return None
    told: list[JSON] = [list(each) for each in (shown if accepted else shown[:1])]
    if same(expected, told):
        return None
    return ("shown", clauses.SHOWN, differences(expected, told, "authorize"))


def _subject(call: Call) -> JSON:
    if call.operation in _ABOUT_NONE:
        return None
    return call.arguments.get("reservationId" if call.operation == "reserve" else "id")


def _row(call: Call, store: Store | None) -> JSON:
    subject = _subject(call)
    rows = () if store is None else store.rows
    return next((reservation_to_json(row) for row in rows if row.reservation_id == subject), None)


def _at_first(call: Call, before: World) -> JSON:
    row = _row(call, before.store)
    if row is not None or call.operation != "reserve":
        return row
    asked = ("reservationId", "projectId", "projectControlDomainId", "runId")
    epoch = next((host.epoch for host in before.hosts if host.name == call.host), None)
    proposal: dict[str, JSON] = {name: call.arguments.get(name) for name in asked}
    return {**proposal, "state": "reserved", "slots": 1, "coordinatorEpoch": epoch}
