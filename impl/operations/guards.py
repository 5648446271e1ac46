"""Guards that several operations share.

Guarantees: each raises the code that the specification gives it, and changes nothing.

Doesn't: order themselves. Each operation calls them in the order in which they are written for it.
"""

from typing import NoReturn

from impl.authority import Caller
from impl.errors import ADMISSION_BINDING_CONFLICT, AUTHORITY_REVOKED, POLICY_DENIED, refuse
from impl.values import Row
from impl.work import Work


def caller(work: Work) -> Caller:
    """Who was authorized at step 6."""
    assert work.caller is not None
    return work.caller


def existing(work: Work, reservation_id: str) -> Row:
    """The row of that id."""
    row = work.rows.get(reservation_id)
    if row is None:
        refuse(ADMISSION_BINDING_CONFLICT, f"there is no reservation {reservation_id}")
    return row


def owned(work: Work, row: Row) -> Row:
    """The row, if owner and principal are the caller's."""
    who = caller(work)
    if row.owner_id != who.owner_id or row.principal != who.principal:
        refuse(AUTHORITY_REVOKED, f"reservation {row.reservation.reservation_id} belongs to another owner")
    return row


def operator(work: Work) -> None:
    """The caller is an operator."""
    if not caller(work).operator:
        refuse(POLICY_DENIED, "this takes an operator; the authority says that the caller is none")


def conflict(row: Row, why: str) -> NoReturn:
    """Refuse what the row's state, binding or time doesn't allow."""
    refuse(
        ADMISSION_BINDING_CONFLICT,
        f"reservation {row.reservation.reservation_id} is {row.reservation.state}: {why}",
    )
