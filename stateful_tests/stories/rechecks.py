"""What must be looked at again, and whom an answer is about. Planted faults got past all other stories."""

from model.actions import Answers, Close, SetIdentity
from model.values import JSON
from stateful_tests.stories import (
    DOMAIN,
    HOUR,
    PROJECT,
    START,
    Story,
    admit,
    at,
    commit,
    committed,
    later,
    lease,
    on,
    opened,
    reserve,
    row,
    run,
    says,
    snapshot,
    story,
)

_REVOKED = "AUTHORITY_REVOKED"
_PARTNER = SetIdentity("partner", {"principal": "p-partner", "ownerId": "o-alice", "operator": False})


def _about(n: int, of: int, **more: JSON) -> dict[str, JSON]:
    """What a project says of reservation `n` for run `of`."""
    names: dict[str, JSON] = {
        "reservationId": row(n),
        "projectId": PROJECT,
        "projectControlDomainId": DOMAIN,
        "runId": run(of),
    }
    return {**names, "runVersion": 1, **more}


def _admission(n: int, of: int) -> Answers:
    return says(_about(n, of, projectAdmitCommitSeq=1))


def _abandonment(n: int, of: int) -> Answers:
    return says(_about(n, of, status="abandoned", abandonmentCommitSeq=1))


STORIES: tuple[Story, ...] = (
    story(
        "sweep-with-a-proof-of-another",
        "the sweep: a proof in good form that names another reservation or run leaves the slot taken",
        opened(2),
        reserve(1, ttl=1_000),
        later(1_000),
        snapshot(at("read_admission", _admission(2, 1))),
        snapshot(at("read_admission", _admission(1, 2))),
        snapshot(at("abandon_admission_if_absent", _abandonment(2, 1))),
        snapshot(at("abandon_admission_if_absent", _abandonment(1, 2))),
        snapshot(at("abandon_admission_if_absent", _admission(2, 1))),
        admit(1),
        snapshot(),
    ),
    story(
        "commit-with-a-proof-in-good-form-of-another",
        "commit: the proof must name this reservation and this run, and be none of abandonment",
        opened(2),
        reserve(1),
        admit(1),
        ("ADMISSION_BINDING_CONFLICT", commit(1, 1, at("read_admission", _admission(2, 1)))),
        ("ADMISSION_BINDING_CONFLICT", commit(1, 1, at("read_admission", _admission(1, 2)))),
        ("ADMISSION_BINDING_CONFLICT", commit(1, 1, at("read_admission", _abandonment(1, 1)))),
        commit(1, 1),
    ),
    story(
        "read-whose-lease-ends-while-it-is-read-again",
        "the lease is read, then the clock is looked at: where nothing is written, too",
        lease(until=START + 1_000),
        opened(2)[1:],
        later(999),
        (_REVOKED, snapshot(at("read_lease", later(1), 2))),
        lease(until=START + HOUR),
        snapshot(),
    ),
    story(
        "read-of-a-store-that-is-closed-meanwhile",
        "step 9: the store is not closed; where nothing is written, too",
        opened(2),
        ("DURABILITY_FAILED", snapshot(at("authorize", Close("h1")))),
        opened(2),
        ("DURABILITY_FAILED", snapshot(at("authorize", Close("h1"), 2))),
        opened(2),
        snapshot(),
    ),
    story(
        "sweep-that-reads-the-lease-after-each-row",
        "step 5 once, before arbitration, after each row's calls, and step 9 once",
        opened(2),
        reserve(1, ttl=1_000),
        later(1_000),
        (_REVOKED, snapshot(at("read_lease", says(None), 4))),
        snapshot(at("read_lease", says(None), 5)),
    ),
    story(
        "another-principal-of-the-same-owner",
        "other owner: ownerId or principal differs",
        opened(2),
        _PARTNER,
        committed(1, 1),
        (_REVOKED, on("readReservation", 1, who="partner")),
        (_REVOKED, commit(1, 1, who="partner")),
        (_REVOKED, on("renew", 1, who="partner")),
        (_REVOKED, on("markOrphanSuspect", 1, who="partner")),
        (_REVOKED, on("normalRelease", 1, who="partner")),
        (_REVOKED, on("dispatch", 1, who="partner")),
        (_REVOKED, reserve(1, who="partner")),
    ),
)
