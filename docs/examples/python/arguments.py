"""An operation's arguments, checked before its transaction starts."""

from collections.abc import Callable
from typing import Any

from errors import StoreError
from surroundings import IDS
from values import is_integer, is_text, is_uuid

Message = dict[str, Any]


def _count(value: object) -> bool:
    return is_integer(value, 1)


def _ttl(value: object) -> bool:
    return is_integer(value, 1) and isinstance(value, int) and value <= 86_400_000


def _handle(value: object) -> bool:
    return value is None or is_text(value)


SIGNATURES: dict[str, dict[str, Callable[[object], bool]]] = {
    "reserve": {**dict.fromkeys(IDS, is_uuid), "ttlMs": _ttl},
    "commit": {
        "id": is_uuid,
        "projectAdmitCommitSeq": _count,
        "attemptId": lambda value: value is None or is_uuid(value),
        "providerJobHandle": _handle,
    },
    "normalRelease": {"id": is_uuid},
    "setMaxActiveRuns": {"commandId": is_uuid, "maxActiveRuns": _count},
    "readReservation": {"id": is_uuid},
    "snapshot": {},
}


def checked(operation: str, given: Message) -> Message:
    """The arguments, absent ones as `None`; refuses what is not as it should be."""
    signature = SIGNATURES.get(operation)
    if signature is None or set(given) - set(signature):
        raise StoreError("COMMAND_FAILED")
    args = {name: given.get(name) for name in signature}
    if not all(fits(args[name]) for name, fits in signature.items()):
        raise StoreError("COMMAND_FAILED")
    return args
