"""The forms of what the authority answers: lease, identity, admission, abandonment, release proof.

Each function takes any JSON value and gives the typed answer, or nothing where the value has not the form.
Extra keys are allowed, except in the lease, whose shape is closed. Booleans are never integers, and an empty
string is no text. Whether a well-formed answer is about the right reservation, and true, is not looked at.
"""

from typing import Final

from attrs import frozen

from model.texts import is_integer, is_telling, is_text
from model.values import JSON, Binding, Fact, Identity, Lease, Row

_LEASE: Final = frozenset({"holderId", "fencingEpoch", "endpoint", "expiresAt"})
_NO_STAGE: Final = "(no stage)"
_FINAL: Final = frozenset({"completed", "failed", "blocked", "cancelled"})


@frozen
class Admission:
    """A project's proof that it admitted a run under a reservation."""

    reservation_id: str
    binding: Binding
    commit_seq: int
    run_version: int

    def names(self, row: Row) -> bool:
        return self.reservation_id == row.reservation_id and self.binding == row.binding


@frozen
class Abandonment:
    """A project's durable word that it will never admit a run under a reservation."""

    reservation_id: str
    binding: Binding

    def names(self, row: Row) -> bool:
        return self.reservation_id == row.reservation_id and self.binding == row.binding


@frozen
class Release:
    """A project's proof of how an admitted run stands, and of what lives of it."""

    admission: Admission
    proof_id: str
    status: str
    stage: str
    requires_readmission: bool
    at_rest: bool
    """No live process, no ambiguous job, and known by more than a timeout."""

    @property
    def frees(self) -> bool:
        """It shows a run that is over or parked, with nothing of it alive."""
        parked = self.status == "paused" and self.stage == "parked" and self.requires_readmission
        return self.at_rest and (self.status in _FINAL or parked)


def lease(value: JSON) -> Lease | None:
    if not isinstance(value, dict) or value.keys() != _LEASE:
        return None
    holder, epoch = value["holderId"], value["fencingEpoch"]
    endpoint, expires = value["endpoint"], value["expiresAt"]
    if is_text(holder) and is_text(endpoint) and is_integer(epoch, 0) and is_integer(expires, 0):
        return Lease(holder, epoch, endpoint, expires)
    return None


def identity(value: JSON) -> Identity | None:
    if not isinstance(value, dict):
        return None
    principal, owner, operator = value.get("principal"), value.get("ownerId"), value.get("operator")
    if is_telling(principal) and is_telling(owner) and isinstance(operator, bool):
        return Identity(principal, owner, operator)
    return None


def _subject(value: dict[str, JSON]) -> tuple[str, Binding] | None:
    reservation, project = value.get("reservationId"), value.get("projectId")
    domain, run = value.get("projectControlDomainId"), value.get("runId")
    if is_text(reservation) and is_text(project) and is_text(domain) and is_text(run):
        return reservation, (project, domain, run)
    return None


def _admission(value: dict[str, JSON]) -> Admission | None:
    subject = _subject(value)
    seq, version = value.get("projectAdmitCommitSeq"), value.get("runVersion")
    if subject is not None and is_integer(seq, 1) and is_integer(version, 0):
        return Admission(*subject, seq, version)
    return None


def admission(value: JSON) -> Admission | None:
    """An admission proof carries no `status` at all; one that is null is one all the same."""
    if not isinstance(value, dict) or "status" in value:
        return None
    return _admission(value)


def abandonment(value: JSON) -> Abandonment | None:
    if not isinstance(value, dict) or value.get("status") != "abandoned":
        return None
    subject = _subject(value)
    if subject is None or not is_integer(value.get("abandonmentCommitSeq"), 1):
        return None
    return Abandonment(*subject) if is_integer(value.get("runVersion"), 0) else None


def verdict(value: JSON) -> Admission | Abandonment | None:
    """What an answer about an admission proves, if anything."""
    return admission(value) or abandonment(value)


def release(value: JSON) -> Release | None:
    """A proof without a `stage` can still show a run that is over, which nobody asks for its stage."""
    if not isinstance(value, dict):
        return None
    subject = _admission(value)
    proof, status, stage = value.get("proofId"), value.get("status"), value.get("stage", _NO_STAGE)
    if subject is None or not is_telling(proof) or not is_text(status) or not is_text(stage):
        return None
    at_rest = (
        value.get("providerNoLiveProcessTree") is True
        and value.get("noAmbiguousJobs") is True
        and value.get("reconcileTimeoutOnly") is False
    )
    return Release(subject, proof, status, stage, value.get("requiresReadmission") is True, at_rest)


def truth(fact: Fact | None) -> Admission | Abandonment | None:
    """What a ledger that tells the truth proves; of a reservation it has no fact of, nothing."""
    if fact is None:
        return None
    if fact.kind == "admitted":
        return Admission(fact.reservation_id, fact.binding, fact.commit_seq, fact.run_version)
    return Abandonment(fact.reservation_id, fact.binding)


def true_release(fact: Fact | None) -> Release | None:
    """The release proof that a truthful ledger gives."""
    if fact is None or fact.kind != "admitted":
        return None
    return Release(
        Admission(fact.reservation_id, fact.binding, fact.commit_seq, fact.run_version),
        f"proof-{fact.commit_seq}-{fact.run_version}",
        fact.status,
        fact.stage,
        fact.requires_readmission,
        fact.quiescent,
    )
