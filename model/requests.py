"""A predicate over one step: nothing is answered whose arguments have not their form.

The forms are told here once more, and not by the checks of `model.arguments`: names, ids, counts, TTLs.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from model.actions import Action, Call, Open
from model.outcomes import Accepted, Outcome
from model.values import World

_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DAY: Final = 24 * 60 * 60 * 1000


def _id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _count(value: Any) -> bool:
    return type(value) is int and 1 <= value < 2**53


def _ttl(value: Any) -> bool:
    return _count(value) and value <= _DAY


def _text(value: Any) -> bool:
    if not isinstance(value, str) or not 1 <= len(value) <= 4096:
        return False
    return all(not 0xD800 <= ord(letter) <= 0xDFFF for letter in value)


def _reason(value: Any) -> bool:
    return _text(value) and value.strip() != ""


def _is_true(value: Any) -> bool:
    return value is True


def _or_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


FORMS: Final[dict[str, dict[str, Callable[[Any], bool]]]] = {
    "reserve": {
        "reservationId": _id,
        "projectId": _id,
        "projectControlDomainId": _id,
        "runId": _id,
        "ttlMs": _ttl,
    },
    "commit": {
        "id": _id,
        "projectAdmitCommitSeq": _count,
        "attemptId": _or_none(_id),
        "providerJobHandle": _or_none(_text),
    },
    "renew": {"id": _id, "ttlMs": _or_none(_ttl)},
    "markOrphanSuspect": {"id": _id},
    "normalRelease": {"id": _id},
    "forceRelease": {"id": _id, "commandId": _id, "riskAcknowledgement": _is_true, "reason": _reason},
    "setMaxActiveRuns": {"commandId": _id, "maxActiveRuns": _count},
    "readReservation": {"id": _id},
    "readCommand": {"id": _id},
    "snapshot": {},
    "dispatch": {"id": _id},
}


def arguments_have_their_form(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not isinstance(outcome, Accepted):
        return True
    if isinstance(action, Open):
        holder = action.holder_id
        return (
            _count(action.initial_max_active_runs)
            and _count(action.epoch)
            and isinstance(holder, str)
            and holder.strip() != ""
        )
    if not isinstance(action, Call):
        return True
    forms = FORMS.get(action.operation)
    return (
        forms is not None
        and forms.keys() >= action.arguments.keys()
        and all(check(action.arguments.get(name)) for name, check in forms.items())
    )
