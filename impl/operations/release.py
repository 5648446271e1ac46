"""normalRelease: a slot comes back once it is proven that nothing of its run can be alive.

Guarantees: each thing that the proof must say is checked on its own; what it lacks is told.

Doesn't: believe the caller, or time. Without proof there is only forceRelease.
"""

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from attrs import evolve

from impl.arguments import is_blank
from impl.authority import release_of
from impl.errors import RECONCILE_REQUIRED, refuse
from impl.operations.guards import conflict, existing, owned
from impl.values import ADMITTED, Row
from impl.work import Work

_TERMINAL: Final = frozenset({"completed", "failed", "blocked", "cancelled"})


def normal_release(work: Work, arguments: Mapping[str, Any]) -> Row:
    """Give the slot back, on proof."""
    row = owned(work, existing(work, arguments["id"]))
    if row.reservation.state == "released" and row.release_kind == "normal":
        return row
    if row.reservation.state not in ADMITTED:
        conflict(row, "only an admitted one can be released normally")
    proof_id = _proof_id(row, work.read_release(row.reservation))
    released = evolve(row.reservation, state="released", coordinator_epoch=work.epoch)
    return work.put(row, released, release_kind="normal", release_proof_id=proof_id, updated_at=work.now)


def _proof_id(row: Row, answer: object) -> str:
    """The id of a proof that says all that is needed."""
    proof = release_of(answer)
    if proof is None:
        _unproven(row, "the answer hasn't the form of a release proof")
    reservation = row.reservation
    if proof["reservationId"] != reservation.reservation_id:
        _unproven(row, "the proof names another reservation")
    if (proof["projectId"], proof["projectControlDomainId"], proof["runId"]) != reservation.binding:
        _unproven(row, "the proof names another project, domain or run")
    if proof["projectAdmitCommitSeq"] != reservation.project_admit_commit_seq:
        _unproven(row, "the proof names another projectAdmitCommitSeq")
    if proof["runVersion"] < (row.admit_run_version or 0):
        _unproven(row, "the proof is older than the admission")
    proof_id = proof["proofId"]
    assert isinstance(proof_id, str)
    if is_blank(proof_id):
        _unproven(row, "the proof has no id")
    if proof.get("providerNoLiveProcessTree") is not True:
        _unproven(row, "a process of the run may be alive")
    if proof.get("noAmbiguousJobs") is not True:
        _unproven(row, "a job of the provider is ambiguous")
    if proof.get("reconcileTimeoutOnly") is not False:
        _unproven(row, "that reconciling timed out proves nothing")
    if not (_is_terminal(proof) or _is_parked(proof)):
        _unproven(row, f"the run is {proof['status'][:40]}, neither terminal nor parked for readmission")
    return proof_id


def _is_terminal(proof: Mapping[str, Any]) -> bool:
    return proof["status"] in _TERMINAL


def _is_parked(proof: Mapping[str, Any]) -> bool:
    return (
        proof["status"] == "paused"
        and proof.get("stage") == "parked"
        and proof.get("requiresReadmission") is True
    )


def _unproven(row: Row, why: str) -> NoReturn:
    refuse(
        RECONCILE_REQUIRED,
        f"reservation {row.reservation.reservation_id} keeps its slot: {why}. Reconcile the run with its "
        "provider, then release it again",
    )
