"""One story or more for each fix that a single process can show (C1 … C17)."""

from model.actions import Answers, Damage, Mend, Open, Raises, ReadEpoch, SetLease
from stateful_tests.stories import (
    HOUR,
    PROJECT,
    START,
    Story,
    abandon,
    admit,
    at,
    call,
    commit,
    committed,
    ended,
    force,
    later,
    lease,
    on,
    opened,
    reserve,
    row,
    run,
    snapshot,
    story,
)

NO_SUCH_LEASE = SetLease(None)


def _damaged(kind: str) -> Story:
    """An operation, an epoch read and a second opening while the damage stands; all is well once mended."""
    epoch = ReadEpoch() if kind.startswith("lock-") else ("DURABILITY_FAILED", ReadEpoch())
    return story(
        f"c12-{kind}",
        "C12, C14, C15: a store whose files are not what they must be is refused, at once and unchanged",
        opened(),
        reserve(1),
        Damage(kind),
        ("DURABILITY_FAILED", reserve(2)),
        epoch,
        ("DURABILITY_FAILED", Open("h2", "h1", 1, 2)),
        Mend(kind),
        reserve(2),
    )


_FILES = (
    "state-missing",
    "state-symlink",
    "state-hardlink",
    "state-mode",
    "state-fifo",
    "state-directory",
    "state-truncated",
    "state-bitflip",
    "state-duplicate-key",
    "state-float",
    "state-unsealed",
    "state-digest",
    "state-chain",
    "identity-missing",
    "identity-symlink",
    "identity-hardlink",
    "identity-mode",
    "identity-fifo",
    "identity-truncated",
    "identity-duplicate-key",
    "identity-float",
    "lock-symlink",
    "lock-hardlink",
    "lock-mode",
    "lock-fifo",
)

_GENESIS = (
    story(
        "c1-lease-lost-before-the-first-rename",
        "C1: a genesis that loses its lease just before its rename leaves a directory that still opens",
        lease(until=START + 1_000),
        ("AUTHORITY_REVOKED", Open("h1", "h1", 1, 2, disturbances=(at("rename", later(1_000)),))),
        lease(until=START + HOUR),
        Open("h1", "h1", 1, 2),
        reserve(),
    ),
    story(
        "c1-lease-lost-during-genesis",
        "C1: a refused first opening writes neither file",
        lease(),
        ("AUTHORITY_REVOKED", Open("h1", "h1", 1, 2, disturbances=(at("read_lease", NO_SUCH_LEASE, 2),))),
        ReadEpoch(),
        *opened(),
        ReadEpoch(),
    ),
)

_IDS = tuple(
    story(
        f"c2-{operation}-with-an-upper-case-id",
        "C2: two spellings of one id must not be two ids",
        opened(),
        reserve(1),
        ("COMMAND_FAILED", call(operation, arguments, who="root")),
    )
    for operation, arguments in (
        (
            "reserve",
            {
                "reservationId": row(1).upper(),
                "projectId": PROJECT,
                "projectControlDomainId": PROJECT,
                "runId": run(1),
                "ttlMs": 1_000,
            },
        ),
        ("commit", {"id": row(1).upper(), "projectAdmitCommitSeq": 1}),
        ("setMaxActiveRuns", {"commandId": row(1).upper(), "maxActiveRuns": 3}),
        ("readReservation", {"id": row(1).upper()}),
        ("dispatch", {"id": row(1).upper()}),
    )
)


_SWEEPS = (
    story(
        "c8-an-expired-reservation-whose-run-holds-a-slot",
        "C8: the sweep leaves such a row as it is; it must not make every call fail",
        opened(3),
        reserve(1, of=1, ttl=1_000),
        reserve(2, of=1, ttl=1_000),
        admit(1, of=1),
        admit(2, of=1),
        commit(1, 1),
        later(1_000),
        snapshot(),
        reserve(3),
        snapshot(),
    ),
    story(
        "c8-two-expired-reservations-of-one-run",
        "C8: what this very sweep has committed counts, too",
        opened(3),
        reserve(1, of=1, ttl=1_000),
        reserve(2, of=1, ttl=1_000),
        admit(1, of=1),
        admit(2, of=1),
        later(1_000),
        snapshot(),
    ),
    story(
        "c9-force-release-of-a-proven-release",
        "C9: a proven, normal release must not become operator-overridden",
        opened(),
        committed(),
        ended(),
        on("normalRelease", 1),
        ("ADMISSION_BINDING_CONFLICT", force(1, 1)),
        on("normalRelease", 1),
    ),
    story(
        "c10-commit-after-the-sweep-has-committed",
        "C10: the owner's attempt and job are bound once, and then they stand",
        opened(),
        reserve(1, ttl=1_000),
        admit(1),
        later(1_000),
        snapshot(),
        commit(1, 1, attemptId=run(7)),
        commit(1, 1, attemptId=run(7), providerJobHandle="job"),
        commit(1, 1, attemptId=run(7), providerJobHandle="job"),
        ("ADMISSION_BINDING_CONFLICT", commit(1, 1, attemptId=run(8), providerJobHandle="job")),
        ("ADMISSION_BINDING_CONFLICT", commit(1, 1, attemptId=run(7))),
        ("ADMISSION_BINDING_CONFLICT", commit(1, 2, attemptId=run(7), providerJobHandle="job")),
    ),
    story(
        "c16-renew-of-a-reservation-whose-time-is-over",
        "C16: what arbitration may have abandoned must not live on",
        opened(arbitration=False),
        reserve(1, ttl=1_000),
        later(1_000),
        ("ADMISSION_BINDING_CONFLICT", on("renew", 1, ttlMs=60_000)),
        snapshot(),
    ),
    story(
        "c16-renew-after-a-rolled-back-abandonment",
        "C16: the sweep that arbitrated was rolled back, and arbitration then fails: still no new life",
        opened(),
        reserve(1, ttl=1_000),
        later(1_000),
        ("DURABILITY_FAILED", snapshot(at("authorize", Raises(), 2))),
        (
            "ADMISSION_BINDING_CONFLICT",
            on("renew", 1, at("read_admission", Raises()), ttlMs=60_000),
        ),
        snapshot(),
    ),
)


_ABANDONED = (
    story(
        "c16-abandoned-by-its-project",
        "abandonment is durable: neither renewed nor committed nor reserved again",
        opened(),
        reserve(1, ttl=1_000),
        abandon(1),
        ("ADMISSION_BINDING_CONFLICT", commit(1, 1)),
        later(1_000),
        ("ADMISSION_BINDING_CONFLICT", on("renew", 1, ttlMs=1_000)),
        snapshot(),
        ("ADMISSION_BINDING_CONFLICT", reserve(1, ttl=1_000)),
    ),
    story(
        "c8-an-answer-that-names-another-run",
        "an answer about something else proves nothing: the slot stays taken",
        opened(arbitration=False),
        reserve(1, ttl=1_000),
        admit(1),
        later(1_000),
        snapshot(at("read_admission", Answers({"reservationId": row(2), "runVersion": 1}))),
        snapshot(),
    ),
)

STORIES: tuple[Story, ...] = (
    *_GENESIS,
    *_IDS,
    *_SWEEPS,
    *_ABANDONED,
    *(_damaged(kind) for kind in _FILES),
)
