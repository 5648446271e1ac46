"""What counts as a text, an id and a number; the forms of what the authority answers; the faults."""

import re
from typing import Any

FAULTS = {
    "autocommit": "each statement is a transaction of its own: what a refused call has swept stays",
    "in-two-steps": "a call commits its rows first and its numbers afterwards: a kill between leaves half",
    "begun-late": "a transaction takes its lock as it first writes: of two that have read, one breaks down",
    "late-by-one": "a reservation is over only after its last millisecond, not at it",
    "any-sequence": "commit does not compare the sequence that it is given with the one that was admitted",
    "late-commit": "commit does not look whether the time was over before the project had answered",
    "owner-only": "the same owner with another principal passes for the owner",
    "below-held": "the maximum can be set below the slots that are held",
    "any-request": "a command id that was used answers, whatever is asked for with it",
    "stale-proof": "a release is proven by what was so at an earlier run version",
}
"""The faults that were written into the store on purpose. All are there by default."""

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Message = dict[str, Any]


def is_integer(value: object, least: int) -> bool:
    return type(value) is int and least <= value < 2**53


def is_sound(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 4096 and not re.search("[\ud800-\udfff]", value)


def is_text(value: object) -> bool:
    return is_sound(value) and value != ""


def is_telling(value: object) -> bool:
    return isinstance(value, str) and is_sound(value) and value.strip() != ""


def is_uuid(value: object) -> bool:
    return isinstance(value, str) and UUID.fullmatch(value) is not None


def lease_of(value: Any) -> Message | None:
    keys = {"holderId", "fencingEpoch", "endpoint", "expiresAt"}
    if not isinstance(value, dict) or value.keys() != keys:
        return None
    texts = is_text(value["holderId"]) and is_text(value["endpoint"])
    return (
        value
        if texts and is_integer(value["fencingEpoch"], 0) and is_integer(value["expiresAt"], 0)
        else None
    )


def identity_of(value: Any) -> tuple[str, str, bool] | None:
    """Principal, owner, and whether it is an operator."""
    if not isinstance(value, dict) or not isinstance(value.get("operator"), bool):
        return None
    if not is_telling(value.get("principal")) or not is_telling(value.get("ownerId")):
        return None
    return (value["principal"], value["ownerId"], value["operator"])


def proves_admission(value: Any) -> bool:
    return (
        _names_a_run(value)
        and is_integer(value.get("projectAdmitCommitSeq"), 1)
        and is_integer(value.get("runVersion"), 0)
    )


def verdict_of(value: Any) -> str | None:
    """`admitted`, `abandoned`, or nothing."""
    if not _names_a_run(value):
        return None
    if "status" not in value:
        return "admitted" if proves_admission(value) else None
    abandoned = value["status"] == "abandoned" and is_integer(value.get("abandonmentCommitSeq"), 1)
    return "abandoned" if abandoned and is_integer(value.get("runVersion"), 0) else None


def shows_the_end(proof: Any) -> bool:
    """A whole proof of a run that is over or parked, with nothing of it alive."""
    if (
        not proves_admission(proof)
        or not is_telling(proof.get("proofId"))
        or not is_text(proof.get("status"))
    ):
        return False
    if "stage" in proof and not is_text(proof["stage"]):
        return False
    parked = (proof["status"], proof.get("stage")) == ("paused", "parked")
    parked = parked and proof.get("requiresReadmission") is True
    over = proof["status"] in ("completed", "failed", "blocked", "cancelled")
    dead = proof.get("providerNoLiveProcessTree") is True and proof.get("noAmbiguousJobs") is True
    return (parked or over) and dead and proof.get("reconcileTimeoutOnly") is False


def _names_a_run(value: Any) -> bool:
    names = ("reservationId", "projectId", "projectControlDomainId", "runId")
    return isinstance(value, dict) and all(is_text(value.get(name)) for name in names)
