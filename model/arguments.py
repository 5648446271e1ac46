"""The checks of an operation's arguments, before its transaction starts.

`checked` turns raw named values into the values that the operation works with, or says with which code they
are refused. Unknown names come before all else; then each argument in the order in which the specification
writes it. `None` stands for an optional argument that is absent.
"""

from collections.abc import Callable, Mapping
from typing import Final

from attrs import frozen

from model.texts import LONGEST_TTL, is_integer, is_sound, is_text, is_uuid
from model.values import JSON

Values = tuple[str | int | None, ...]
"""An operation's arguments in the order of its signature."""


@frozen
class Unfit:
    """Arguments that are refused, with the code that the caller sees."""

    code: str


def _is_count(value: object) -> bool:
    return is_integer(value, 1)


def _is_ttl(value: object) -> bool:
    return is_integer(value, 1) and value <= LONGEST_TTL


_Check = Callable[[object], bool]
_SIGNATURES: Final[dict[str, tuple[tuple[str, _Check, bool], ...]]] = {
    # name, check, whether it may be absent
    "reserve": (
        ("reservationId", is_uuid, True),
        ("projectId", is_uuid, False),
        ("projectControlDomainId", is_uuid, False),
        ("runId", is_uuid, False),
        ("ttlMs", _is_ttl, False),
    ),
    "commit": (
        ("id", is_uuid, False),
        ("projectAdmitCommitSeq", _is_count, False),
        ("attemptId", is_uuid, True),
        ("providerJobHandle", is_text, True),
    ),
    "renew": (("id", is_uuid, False), ("ttlMs", _is_ttl, True)),
    "markOrphanSuspect": (("id", is_uuid, False),),
    "normalRelease": (("id", is_uuid, False),),
    "setMaxActiveRuns": (("commandId", is_uuid, False), ("maxActiveRuns", _is_count, False)),
    "readReservation": (("id", is_uuid, False),),
    "readCommand": (("id", is_uuid, False),),
    "snapshot": (),
    "dispatch": (("id", is_uuid, False),),
}
_FORCE_RELEASE: Final = frozenset({"id", "commandId", "riskAcknowledgement", "reason"})
_NAMES: Final = {
    "forceRelease": _FORCE_RELEASE,
    **{name: frozenset(each[0] for each in signature) for name, signature in _SIGNATURES.items()},
}


def checked(operation: str, arguments: Mapping[str, JSON]) -> Values | Unfit:
    """The arguments in the order of the signature, or the code with which they are refused."""
    names = _NAMES.get(operation)
    if names is None or not names.issuperset(arguments):
        return Unfit("COMMAND_FAILED")
    if operation == "forceRelease":
        return _force_release(arguments)
    values = []
    for name, fits, optional in _SIGNATURES[operation]:
        value = arguments.get(name)
        if not (fits(value) or (optional and value is None)):
            return Unfit("COMMAND_FAILED")
        values.append(value)
    return tuple(values)  # type: ignore[arg-type]  # each has just been checked


def _force_release(arguments: Mapping[str, JSON]) -> Values | Unfit:
    reservation_id, command_id = arguments.get("id"), arguments.get("commandId")
    if not is_uuid(reservation_id) or not is_uuid(command_id):
        return Unfit("COMMAND_FAILED")
    reason = arguments.get("reason")
    if arguments.get("riskAcknowledgement") is not True or not isinstance(reason, str) or not reason.strip():
        return Unfit("POLICY_DENIED")
    if not is_sound(reason):
        return Unfit("COMMAND_FAILED")
    return (reservation_id, command_id, reason)
