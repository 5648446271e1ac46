"""Arguments that are refused before a transaction starts, each wrong in one thing; and some that just fit."""

from collections.abc import Callable, Iterator
from typing import Final

from model.explorer.coordinator.naming import attempt_id, binding, command_id, reason
from model.texts import LARGEST, LONGEST, LONGEST_TTL
from model.values import JSON

Arguments = dict[str, JSON]

_LONG: Final = "x" * LONGEST
_SURROGATE: Final = "\ud800"


def _reserve(slot: str) -> Arguments:
    project, domain, run = binding(0)
    return {
        "reservationId": slot,
        "projectId": project,
        "projectControlDomainId": domain,
        "runId": run,
        "ttlMs": 1,
    }


def _commit(slot: str) -> Arguments:
    return {"id": slot, "projectAdmitCommitSeq": 1}


def _force(slot: str) -> Arguments:
    return {"id": slot, "commandId": command_id(0), "riskAcknowledgement": True, "reason": reason(0)}


def _set(_slot: str) -> Arguments:
    return {"commandId": command_id(0), "maxActiveRuns": 1}


def _one(slot: str) -> Arguments:
    return {"id": slot}


def _none(_slot: str) -> Arguments:
    return {}


_BASES: Final[dict[str, Callable[[str], Arguments]]] = {
    "reserve": _reserve,
    "commit": _commit,
    "forceRelease": _force,
    "setMaxActiveRuns": _set,
    "renew": _one,
    "markOrphanSuspect": _one,
    "normalRelease": _one,
    "readReservation": _one,
    "readCommand": _one,
    "dispatch": _one,
    "snapshot": _none,
}

_CHANGES: Final[tuple[tuple[str, str, JSON], ...]] = (
    ("reserve", "reservationId", "UPPER"),
    ("reserve", "runId", "UPPER"),
    ("reserve", "ttlMs", 0),
    ("reserve", "ttlMs", LONGEST_TTL + 1),
    ("reserve", "ttlMs", 1.0),
    ("reserve", "ttlMs", True),
    ("reserve", "projectId", ""),
    ("reserve", "state", "committed"),
    ("reserve", "slots", 2),
    ("commit", "id", "UPPER"),
    ("commit", "projectAdmitCommitSeq", 0),
    ("commit", "projectAdmitCommitSeq", None),
    ("commit", "projectAdmitCommitSeq", LARGEST + 1),
    ("commit", "attemptId", "UPPER"),
    ("commit", "attemptId", ""),
    ("commit", "providerJobHandle", ""),
    ("commit", "providerJobHandle", _LONG + "x"),
    ("commit", "providerJobHandle", _SURROGATE),
    ("commit", "runId", binding(1)[2]),
    ("commit", "state", "released"),
    ("renew", "ttlMs", 0),
    ("renew", "ttlMs", "1"),
    ("renew", "id", "UPPER"),
    ("markOrphanSuspect", "id", "UPPER"),
    ("normalRelease", "id", "UPPER"),
    ("normalRelease", "proofId", "x"),
    ("readReservation", "id", "UPPER"),
    ("readReservation", "id", "x"),
    ("readCommand", "id", "UPPER"),
    ("dispatch", "id", "UPPER"),
    ("snapshot", "id", None),
    ("forceRelease", "id", "UPPER"),
    ("forceRelease", "commandId", "UPPER"),
    ("forceRelease", "riskAcknowledgement", False),
    ("forceRelease", "riskAcknowledgement", 1),
    ("forceRelease", "reason", " "),
    ("forceRelease", "reason", None),
    ("forceRelease", "reason", _LONG + "x"),
    ("forceRelease", "reason", _SURROGATE),
    ("setMaxActiveRuns", "maxActiveRuns", 0),
    ("setMaxActiveRuns", "maxActiveRuns", 2.0),
    ("setMaxActiveRuns", "maxActiveRuns", "2"),
    ("setMaxActiveRuns", "commandId", "UPPER"),
)
"""(operation, argument, value); `UPPER` is the right id in capitals."""


def odd(operation: str, name: str, value: JSON, slot: str) -> Arguments:
    """The arguments of `operation`, right but for this one."""
    arguments = _BASES[operation](slot)
    right = arguments.get(name) or (attempt_id(0) if name == "attemptId" else slot)
    return {**arguments, name: str(right).upper() if value == "UPPER" else value}


def oddities() -> Iterator[tuple[str, str, str, JSON]]:
    """(a word for it, operation, argument, value)."""
    for operation, name, value in _CHANGES:
        shown = (
            "too-long" if value == _LONG + "x" else "lone-surrogate" if value == _SURROGATE else repr(value)
        )
        yield f"{operation} {name}={shown.replace(' ', '_')}", operation, name, value
