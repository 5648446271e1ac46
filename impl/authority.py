"""What the authority answers, and whether it has the form that the specification asks for.

Guarantees: an answer is read once, into plain values of exact types; any object at all may be answered,
also one that raises when looked at: it then lacks the form. Callbacks get fresh copies. A callback's
`CoordinatorError` passes unchanged, any other exception becomes DURABILITY_FAILED with side effects unknown.

Doesn't: believe an answer. Whether it names this row is asked by `sweep` and `operations`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from attrs import frozen

from impl.arguments import is_blank, is_count, is_positive, is_text
from impl.errors import AUTHORITY_REVOKED, DURABILITY_FAILED, CoordinatorError, describe, refuse
from impl.values import Reservation

_BINDING: Final = ("projectId", "projectControlDomainId", "runId")
_LEASE: Final = ("holderId", "fencingEpoch", "endpoint", "expiresAt")
_PROOF: Final = (
    "reservationId",
    *_BINDING,
    "projectAdmitCommitSeq",
    "abandonmentCommitSeq",
    "runVersion",
    "status",
)
_RELEASE: Final = (
    *_PROOF,
    "proofId",
    "stage",
    "requiresReadmission",
    "providerNoLiveProcessTree",
    "noAmbiguousJobs",
    "reconcileTimeoutOnly",
)


class Authority(Protocol):
    """The host's trusted callbacks. `abandon_admission_if_absent(reservation)` may be there as well."""

    def read_lease(self) -> object:
        """`{holderId, fencingEpoch, endpoint, expiresAt}` or None: who may act as host now."""

    def authorize(self, context: Any, operation: str, reservation: dict[str, Any] | None) -> object:
        """`{principal, ownerId, operator}`: who the caller is."""

    def read_admission(self, reservation: dict[str, Any]) -> object:
        """Proof of admission, abandonment, absence or None."""

    def read_release(self, reservation: dict[str, Any]) -> object:
        """Proof that nothing of the run can still be alive."""


@frozen
class Lease:
    """Who may act as host, until when (milliseconds since the epoch)."""

    holder_id: str
    fencing_epoch: int
    expires_at: int


@frozen
class Caller:
    """Who a context stands for."""

    principal: str
    owner_id: str
    operator: bool


@frozen
class Admission:
    """An answer with the form of an admission proof."""

    reservation_id: str
    binding: tuple[str, str, str]
    project_admit_commit_seq: int
    run_version: int

    def names(self, reservation: Reservation) -> bool:
        """Whether it is about this reservation and this binding."""
        return self.reservation_id == reservation.reservation_id and self.binding == reservation.binding


@frozen
class Abandonment:
    """An answer with the form of a durable abandonment."""

    reservation_id: str
    binding: tuple[str, str, str]

    def names(self, reservation: Reservation) -> bool:
        """Whether it is about this reservation and this binding."""
        return self.reservation_id == reservation.reservation_id and self.binding == reservation.binding


def ask(name: str, find: Callable[[], Callable[..., object]], *arguments: object) -> object:
    """Find one callback and call it. What it answers may be anything."""
    try:
        return find()(*arguments)
    except CoordinatorError:
        raise
    except Exception as error:
        raise CoordinatorError(
            DURABILITY_FAILED,
            f"the callback {name} failed: {describe(error)}. What it did before that is not known here; "
            "mend the callback, then call again.",
            side_effects="unknown",
        ) from error


def _fields(answer: object, names: tuple[str, ...]) -> dict[str, Any] | None:
    """Those of `names` that the answer has; None if it is no mapping that can be read."""
    try:
        if not isinstance(answer, Mapping):
            return None
        return {name: answer[name] for name in names if name in answer}
    except Exception:  # noqa: BLE001 -- a foreign object may fail in any way; it then proves nothing
        return None


def _size(answer: Any) -> int:
    try:
        return len(answer)
    except Exception:  # noqa: BLE001 -- as above
        return -1


def lease_of(answer: object) -> Lease:
    """A lease of closed shape. Raises AUTHORITY_REVOKED."""
    if answer is None:
        refuse(AUTHORITY_REVOKED, "there is no lease: nobody may act as host now")
    found = _fields(answer, _LEASE)
    if (
        found is None
        or len(found) != len(_LEASE)
        or _size(answer) != len(_LEASE)
        or not is_text(found["holderId"])
        or not is_text(found["endpoint"])
        or not is_count(found["fencingEpoch"])
        or not is_count(found["expiresAt"])
    ):
        refuse(
            AUTHORITY_REVOKED,
            "the lease has not the closed shape {holderId, fencingEpoch, endpoint, expiresAt}; "
            "see what read_lease answers",
        )
    return Lease(found["holderId"], found["fencingEpoch"], found["expiresAt"])


def caller_of(answer: object, operation: str) -> Caller:
    """An identity with a principal and an owner. Raises AUTHORITY_REVOKED."""
    found = _fields(answer, ("principal", "ownerId", "operator"))
    if found is None:
        refuse(AUTHORITY_REVOKED, f"the authority knows no identity for this context ({operation})")
    for name in ("principal", "ownerId"):
        value = found.get(name)
        if not is_text(value) or is_blank(value):
            refuse(AUTHORITY_REVOKED, f"the authority answered no usable {name} for {operation}")
    if type(found.get("operator")) is not bool:
        refuse(AUTHORITY_REVOKED, f"the authority's `operator` for {operation} is no boolean")
    return Caller(found["principal"], found["ownerId"], found["operator"])


def _named(found: dict[str, Any]) -> tuple[str, tuple[str, str, str]] | None:
    """The reservation and binding that an answer names, if it names any."""
    if not all(is_text(found.get(name)) for name in ("reservationId", *_BINDING)):
        return None
    project_id, domain_id, run_id = (found[name] for name in _BINDING)
    return found["reservationId"], (project_id, domain_id, run_id)


def admission_of(answer: object) -> Admission | None:
    """The answer as a proof of admission, or None if it hasn't the form of one."""
    found = _fields(answer, _PROOF)
    if found is None:
        return None
    named = _named(found)
    if named is None:
        return None
    if "status" in found:
        return None
    if not is_positive(found.get("projectAdmitCommitSeq")):
        return None
    if not is_count(found.get("runVersion")):
        return None
    return Admission(*named, found["projectAdmitCommitSeq"], found["runVersion"])


def abandonment_of(answer: object) -> Abandonment | None:
    """The answer as a durable abandonment, or None if it hasn't the form of one."""
    found = _fields(answer, _PROOF)
    if found is None:
        return None
    named = _named(found)
    if named is None:
        return None
    status = found.get("status")
    if type(status) is not str or status != "abandoned":
        return None
    if not is_positive(found.get("abandonmentCommitSeq")):
        return None
    if not is_count(found.get("runVersion")):
        return None
    return Abandonment(*named)


def release_of(answer: object) -> dict[str, Any] | None:
    """The fields of a release proof, its texts and numbers of the right kind; None if they are not."""
    found = _fields(answer, _RELEASE)
    if found is None:
        return None
    if _named(found) is None:
        return None
    if not is_positive(found.get("projectAdmitCommitSeq")):
        return None
    if not is_count(found.get("runVersion")):
        return None
    if not is_text(found.get("proofId")):
        return None
    if not is_text(found.get("status")):
        return None
    if "stage" in found and not is_text(found["stage"]):
        return None
    return found
