"""Predicates over one step: no row is admitted, expired or released but on a proof.

What proves which is told here once more, of ledgers and of raw answers alike, and not by `model.answers`. A
proof need not be true: what a callback answered instead of the truth is proof enough, as it is for a store.
"""

from typing import Any, Final

from model.actions import Action
from model.asked import answered
from model.changes import pairs
from model.outcomes import Outcome
from model.values import Fact, Row, World

_OVER: Final = frozenset({"completed", "failed", "blocked", "cancelled"})


def _facts(before: World, after: World, row: Row) -> list[Fact]:
    """What the row's ledger says of its very run, before or after, or had said once."""
    return [
        fact
        for fact in (*after.facts, *before.facts, *after.forgotten)
        if fact.reservation_id == row.reservation_id and fact.binding == row.binding
    ]


def _names(answer: Any, row: Row) -> bool:
    return isinstance(answer, dict) and (
        answer.get("reservationId"),
        answer.get("projectId"),
        answer.get("projectControlDomainId"),
        answer.get("runId"),
    ) == (row.reservation_id, *row.binding)


def _counts(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _proves_admission(answer: Any, row: Row) -> bool:
    return (
        _names(answer, row)
        and "status" not in answer
        and type(answer.get("projectAdmitCommitSeq")) is int
        and answer["projectAdmitCommitSeq"] == row.project_admit_commit_seq
        and _counts(answer.get("runVersion"), 0)
        and answer["runVersion"] == row.admit_run_version
    )


def admitted_rows(before: World, after: World) -> list[Row]:
    """Those that a publication has given an admission."""
    return [
        new
        for old, new in pairs(before, after)
        if new is not None
        and new.project_admit_commit_seq is not None
        and old.project_admit_commit_seq is None
    ]


def admissions_are_proven(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    for row in admitted_rows(before, after):
        ledger = any(
            fact.kind == "admitted"
            and fact.commit_seq == row.project_admit_commit_seq
            and fact.run_version >= (row.admit_run_version or 0)
            for fact in _facts(before, after, row)
        )
        told = answered(action, "read_admission", "abandon_admission_if_absent")
        if not ledger and not any(_proves_admission(answer, row) for answer in told):
            return False
    return True


def expired_rows(before: World, after: World) -> list[Row]:
    return [
        new
        for old, new in pairs(before, after)
        if new is not None and new.state == "expired" and old.state != "expired"
    ]


def expiries_are_proven(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    for row in expired_rows(before, after):
        if any(fact.kind == "abandoned" for fact in _facts(before, after, row)):
            continue
        told = answered(action, "read_admission", "abandon_admission_if_absent")
        if not any(
            _names(answer, row)
            and answer.get("status") == "abandoned"
            and _counts(answer.get("abandonmentCommitSeq"), 1)
            and _counts(answer.get("runVersion"), 0)
            for answer in told
        ):
            return False
    return True


def _proves_release(answer: Any, row: Row) -> bool:
    if not _names(answer, row):
        return False
    status, proof = answer.get("status"), answer.get("proofId")
    parked = (
        status == "paused" and answer.get("stage") == "parked" and answer.get("requiresReadmission") is True
    )
    return (
        answer.get("projectAdmitCommitSeq") == row.project_admit_commit_seq
        and _counts(answer.get("runVersion"), row.admit_run_version or 0)
        and (isinstance(proof, str) and proof.strip() != "" and proof == row.release_proof_id)
        and answer.get("providerNoLiveProcessTree") is True
        and answer.get("noAmbiguousJobs") is True
        and answer.get("reconcileTimeoutOnly") is False
        and (status in _OVER or parked)
    )


def _shows_release(fact: Fact, row: Row) -> bool:
    parked = fact.status == "paused" and fact.stage == "parked" and fact.requires_readmission
    return (
        fact.kind == "admitted"
        and fact.commit_seq == row.project_admit_commit_seq
        and fact.run_version >= (row.admit_run_version or 0)
        and fact.quiescent
        and (fact.status in _OVER or parked)
    )


def released_rows(before: World, after: World) -> list[Row]:
    """Those whose slot a proof has just freed."""
    return [
        new
        for old, new in pairs(before, after)
        if new is not None and new.release_kind == "normal" and old.release_kind is None
    ]


def releases_are_proven(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    return all(
        any(_shows_release(fact, row) for fact in _facts(before, after, row))
        or any(_proves_release(answer, row) for answer in answered(action, "read_release"))
        for row in released_rows(before, after)
    )
