"""Arguments, checked before a transaction starts, in the order in which the specification writes them.

Guarantees: what passes has exactly the named arguments, each of exactly the right kind: no coercion, a
boolean is no integer, a subclass of `str` or `int` is neither. Optional ones that are missing or None are
left out. Nothing here looks at the store, a clock or the authority.

Doesn't: know which values make sense together with a row. Those guards are in `operations`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard

from attrs import frozen

from impl.errors import AUTHORITY_REVOKED, COMMAND_FAILED, POLICY_DENIED, CoordinatorError, describe, refuse
from impl.values import MAX_INTEGER, MAX_TEXT, MAX_TTL_MS

_UUID: Final = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CALLBACKS: Final = ("read_lease", "authorize", "read_admission", "read_release")


@frozen
class Call:
    """One operation, with arguments that have the right form."""

    operation: str
    arguments: Mapping[str, Any]
    prepare: Callable[[Any], object] | None = None


@frozen
class Host:
    """Who opened the store, and with what."""

    initial_max_active_runs: int
    epoch: int
    holder_id: str
    authority: Any
    clock: Callable[[], object]
    lock_timeout_s: float


def is_uuid(value: object) -> TypeGuard[str]:
    """Whether `value` is a canonical lower-case UUID."""
    return type(value) is str and _UUID.fullmatch(value) is not None


def is_count(value: object) -> TypeGuard[int]:
    """Whether `value` is an integer of 0 … 2^53 - 1."""
    return type(value) is int and 0 <= value <= MAX_INTEGER


def is_positive(value: object) -> TypeGuard[int]:
    """Whether `value` is an integer of 1 … 2^53 - 1."""
    return type(value) is int and 1 <= value <= MAX_INTEGER


def is_encodable(value: str) -> bool:
    """Whether a text is free of lone surrogates, so that UTF-8 can hold it."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_text(value: object) -> TypeGuard[str]:
    """Whether `value` is a text of 1 … 4096 code points without lone surrogates."""
    return type(value) is str and 1 <= len(value) <= MAX_TEXT and is_encodable(value)


def is_blank(value: str) -> bool:
    """Whether nothing is left after stripping white space."""
    return not value.strip()


_PLAIN: Final = (str, int, bool, float, type(None))


def _shown(value: object) -> str:
    """A value for a message: short, and never failing."""
    if any(type(value) is kind for kind in _PLAIN):  # `in` would ask the class whether it is equal
        try:
            text = repr(value)
        except ValueError:  # an integer of more digits than Python cares to print
            return "an integer of thousands of digits"
        return text if len(text) <= 60 else f"{text[:57]}..."
    return f"a value of type {type(value).__name__}"


def _uuid(name: str, value: object) -> None:
    if not is_uuid(value):
        refuse(COMMAND_FAILED, f"{name} must be a canonical lower-case UUID, not {_shown(value)}")


def _positive(name: str, value: object) -> None:
    if not is_positive(value):
        refuse(COMMAND_FAILED, f"{name} must be an integer of 1 … 2^53 - 1, not {_shown(value)}")


def _ttl(name: str, value: object) -> None:
    if not is_positive(value) or value > MAX_TTL_MS:
        refuse(COMMAND_FAILED, f"{name} must be 1 … {MAX_TTL_MS} milliseconds (a day), not {_shown(value)}")


def _text(name: str, value: object) -> None:
    if not is_text(value):
        refuse(
            COMMAND_FAILED,
            f"{name} must be a text of 1 … {MAX_TEXT} code points without lone surrogates, "
            f"not {_shown(value)}",
        )


def _acknowledgement(name: str, value: object) -> None:
    if value is not True:
        refuse(POLICY_DENIED, f"{name} must be exactly true: the operator takes the risk, or doesn't release")


def _reason(name: str, value: object) -> None:
    if type(value) is not str or is_blank(value):
        refuse(POLICY_DENIED, f"{name} must say why the slot is taken back without proof; it is blank")
    _text(name, value)


_Check = Callable[[str, object], None]
_ID: Final[tuple[str, _Check]] = ("id", _uuid)

OPERATIONS: Final[Mapping[str, tuple[tuple[str, _Check], ...]]] = {
    "reserve": (
        ("reservationId?", _uuid),
        ("projectId", _uuid),
        ("projectControlDomainId", _uuid),
        ("runId", _uuid),
        ("ttlMs", _ttl),
    ),
    "commit": (
        _ID,
        ("projectAdmitCommitSeq", _positive),
        ("attemptId?", _uuid),
        ("providerJobHandle?", _text),
    ),
    "renew": (_ID, ("ttlMs?", _ttl)),
    "markOrphanSuspect": (_ID,),
    "normalRelease": (_ID,),
    "forceRelease": (
        _ID,
        ("commandId", _uuid),
        ("riskAcknowledgement", _acknowledgement),
        ("reason", _reason),
    ),
    "setMaxActiveRuns": (("commandId", _uuid), ("maxActiveRuns", _positive)),
    "readReservation": (_ID,),
    "readCommand": (_ID,),
    "snapshot": (),
    "dispatch": (_ID,),
}
"""Each operation's arguments in order of checking. A question mark: may be left out or None."""


def parse(operation: object, arguments: object, prepare: object) -> Call:
    """An operation's arguments as given, checked. Raises COMMAND_FAILED or POLICY_DENIED."""
    if type(operation) is not str or operation not in OPERATIONS:
        refuse(COMMAND_FAILED, f"no operation {_shown(operation)}; there are: {', '.join(OPERATIONS)}")
    given = _copy(operation, arguments)
    known = {name.rstrip("?") for name, _ in OPERATIONS[operation]}
    for name in given:
        if type(name) is not str or name not in known:
            takes = ", ".join(sorted(known)) or "none"
            refuse(COMMAND_FAILED, f"{operation} has no argument {_shown(name)}; it takes: {takes}")
    checked: dict[str, Any] = {}
    for marked, check in OPERATIONS[operation]:
        name = marked.rstrip("?")
        value = given.get(name)
        if value is None and marked.endswith("?"):
            continue
        check(name, value)
        checked[name] = value
    if operation == "dispatch":
        if not callable(prepare):
            refuse(COMMAND_FAILED, "dispatch needs prepare, a function that returns the activation")
        return Call(operation, checked, prepare)
    if prepare is not None:
        refuse(COMMAND_FAILED, f"{operation} takes no prepare; only dispatch does")
    return Call(operation, checked)


def _copy(operation: str, arguments: object) -> dict[object, object]:
    """The arguments as a plain dict of our own, whatever kind of mapping they came in."""
    try:
        if not isinstance(arguments, Mapping):
            refuse(COMMAND_FAILED, f"the arguments of {operation} must be a mapping of names to values")
        return dict(arguments)
    except CoordinatorError:
        raise
    except Exception as error:  # noqa: BLE001 -- a foreign mapping may fail in any way; it is refused
        refuse(COMMAND_FAILED, f"the arguments of {operation} can't be read: {describe(error)}")


def check_opening(
    *,
    initial_max_active_runs: object,
    epoch: object,
    holder_id: object,
    authority: object,
    clock: object,
    lock_timeout_s: object,
) -> Host:
    """What a store is opened with, checked. Raises COMMAND_FAILED or AUTHORITY_REVOKED."""
    if not is_positive(initial_max_active_runs):
        shown = _shown(initial_max_active_runs)
        refuse(COMMAND_FAILED, f"initial_max_active_runs must be an integer of 1 … 2^53 - 1, not {shown}")
    if not _is_duration(lock_timeout_s):
        refuse(COMMAND_FAILED, f"lock_timeout_s must be seconds from 0, not {_shown(lock_timeout_s)}")
    if not is_positive(epoch):
        refuse(AUTHORITY_REVOKED, f"a host needs a positive epoch from its lease, not {_shown(epoch)}")
    if not is_text(holder_id) or is_blank(holder_id):
        refuse(AUTHORITY_REVOKED, f"a host needs the holderId of its lease, not {_shown(holder_id)}")
    for name in _CALLBACKS:
        if not callable(callback(authority, name)):
            refuse(
                AUTHORITY_REVOKED, f"the authority lacks the callback {name}; the store can't trust itself"
            )
    if not callable(clock):
        refuse(AUTHORITY_REVOKED, "the clock must be a function that returns milliseconds since the epoch")
    return Host(initial_max_active_runs, epoch, holder_id, authority, clock, lock_timeout_s)


def _is_duration(value: object) -> TypeGuard[float]:
    return (type(value) is int or type(value) is float) and 0 <= value <= 86_400


def callback(authority: object, name: str) -> Any:
    """One of the authority's functions, or None."""
    try:
        return getattr(authority, name, None)
    except Exception:  # noqa: BLE001 -- a property that raises is a callback that is missing
        return None
