"""What comes in between: while a callback is awaited, inside the sweep, before a launch."""

from model.actions import (
    Answers,
    Close,
    Happens,
    Moment,
    Open,
    Raises,
    Reenters,
    SetIdentity,
    SetLease,
)
from stateful_tests.stories import (
    HOUR,
    START,
    Step,
    Story,
    abandon,
    admit,
    at,
    commit,
    committed,
    ended,
    force,
    later,
    lease,
    maximum,
    on,
    opened,
    reserve,
    row,
    snapshot,
    story,
)

_CONFLICT = "ADMISSION_BINDING_CONFLICT"
_REVOKED = "AUTHORITY_REVOKED"
_BROKEN = "DURABILITY_FAILED"
_GONE = SetLease(None)
_NOBODY = SetIdentity("alice", None)
_PROMOTED = SetIdentity("alice", {"principal": "p-alice", "ownerId": "o-alice", "operator": True})


def _meanwhile(name: str, code: str, event: Close | SetLease | SetIdentity, *back: Step) -> Story:
    """`event` while each callback of a commit is awaited: refused, unchanged; then all is well again."""
    steps: list[Step] = []
    moments: tuple[tuple[Moment, int], ...] = (("authorize", 1), ("read_admission", 1), ("authorize", 2))
    for moment, nth in moments:
        steps += [(code, commit(1, 1, at(moment, event, nth))), *back]
    return story(
        f"meanwhile-{name}",
        "revoked, fenced, expired or closed while a callback is awaited: nothing is published",
        opened(2),
        reserve(1),
        admit(1),
        steps,
        commit(1, 1),
    )


_CALLBACKS: tuple[tuple[Moment, int], ...] = (
    ("read_lease", 1),
    ("authorize", 1),
    ("authorize", 2),
    ("read_lease", 2),
)

_LAST: tuple[tuple[Moment, int], ...] = (("read_lease", 2), ("rename", 1))

_MEANWHILE = (
    _meanwhile("the-lease-is-lost", _REVOKED, _GONE, lease()),
    _meanwhile("the-epoch-changes", _REVOKED, lease("h1", 2), lease()),
    _meanwhile("the-holder-changes", _REVOKED, lease("h2", 1), lease()),
    _meanwhile("the-store-is-closed", _BROKEN, Close("h1"), Open("h1", "h1", 1, 2)),
    story(
        "closed-at-the-last-moment",
        "closed while the lease is read for the last time, or just before the rename: nothing is published",
        opened(2),
        *(
            step
            for moment, nth in _LAST
            for step in ((_BROKEN, reserve(1, at(moment, Close("h1"), nth))), Open("h1", "h1", 1, 2))
        ),
        reserve(1),
    ),
    _meanwhile(
        "the-caller-is-revoked",
        _REVOKED,
        _NOBODY,
        SetIdentity("alice", {"principal": "p-alice", "ownerId": "o-alice", "operator": False}),
    ),
    story(
        "authority-that-differs-the-second-time",
        "authorize again: any difference, a promotion too, aborts",
        opened(2),
        (_REVOKED, reserve(1, at("authorize", _PROMOTED, 2))),
        reserve(1),
    ),
    story(
        "callbacks-that-fail",
        "a coordinator error passes through unchanged; anything else is DURABILITY_FAILED, unknown",
        opened(2),
        *(
            (code, reserve(1, at(moment, Raises(raised), nth)))
            for moment, nth in _CALLBACKS
            for code, raised in (
                (_BROKEN, None),
                ("RECONCILE_REQUIRED", "RECONCILE_REQUIRED"),
                ("IDEMPOTENCY_CONFLICT", "IDEMPOTENCY_CONFLICT"),
            )
        ),
        reserve(1),
    ),
    story(
        "callbacks-of-a-release-that-fail",
        "no proof, no release: whatever comes instead of it, the row stays as it is",
        opened(2),
        committed(1, 1),
        ended(1),
        (_BROKEN, on("normalRelease", 1, at("read_release", Raises()))),
        ("POLICY_DENIED", on("normalRelease", 1, at("read_release", Raises("POLICY_DENIED")))),
        (_BROKEN, on("normalRelease", 1, at("read_release", Reenters()))),
        (_REVOKED, on("normalRelease", 1, at("read_release", _GONE))),
        lease(),
        (_REVOKED, on("normalRelease", 1, at("authorize", Answers({"principal": "p-alice"}), 2))),
        on("normalRelease", 1),
    ),
    story(
        "callbacks-that-call-the-store",
        "calling the store from inside its own callbacks is refused at once",
        opened(2),
        (_BROKEN, reserve(1, at("authorize", Reenters()))),
        (_BROKEN, reserve(1, at("read_lease", Reenters(), 2))),
        committed(1, 1),
        (_BROKEN, on("dispatch", 1, at("prepare", Reenters()))),
        (_BROKEN, on("dispatch", 1, at("activation", Reenters()))),
        on("dispatch", 1),
    ),
)

_SWEEP = (
    story(
        "admitted-and-then-the-host-dies-before-commit",
        "the slot is never freed by time: the sweep commits it",
        opened(1),
        reserve(1, ttl=1_000),
        admit(1),
        later(HOUR // 2),
        ("CAPACITY_EXCEEDED", reserve(2)),
        snapshot(),
    ),
    story(
        "evidence-that-fails-or-names-another",
        "admission evidence unavailable, failing or about something else: the slot stays",
        opened(1),
        reserve(1, ttl=1_000),
        later(1_000),
        snapshot(at("read_admission", Raises())),
        snapshot(at("read_admission", Raises(_REVOKED))),
        snapshot(at("read_admission", Reenters())),
        snapshot(at("abandon_admission_if_absent", Raises())),
        snapshot(at("abandon_admission_if_absent", Reenters())),
        snapshot(at("abandon_admission_if_absent", Answers(None))),
        snapshot(
            at("abandon_admission_if_absent", Answers({"status": "abandoned", "reservationId": row(2)}))
        ),
        ("CAPACITY_EXCEEDED", reserve(2, at("read_admission", Raises()))),
        snapshot(),
        reserve(2),
    ),
    story(
        "not-admitted-is-no-proof",
        "without arbitration a plain observation never frees a slot",
        opened(1, arbitration=False),
        reserve(1, ttl=1_000),
        later(1_000),
        snapshot(),
        ("CAPACITY_EXCEEDED", reserve(2)),
        admit(1),
        snapshot(),
    ),
    story(
        "the-fence-inside-the-sweep",
        "before arbitration a failing fence skips the row; after a row's calls it aborts",
        opened(2),
        reserve(1, ttl=1_000),
        later(1_000),
        (_REVOKED, snapshot(at("read_lease", _GONE, 2))),
        lease(),
        (_REVOKED, snapshot(at("read_lease", _GONE, 3))),
        lease(),
        snapshot(at("read_lease", Answers(None), 2)),
        (_REVOKED, snapshot(at("read_lease", Answers(None), 3))),
        snapshot(),
    ),
    story(
        "only-a-reservation-before-admission-expires",
        "committed and orphan-suspect rows never do",
        opened(3),
        committed(1, 1),
        reserve(2, ttl=1_000),
        admit(2),
        commit(2, 2),
        on("markOrphanSuspect", 2),
        reserve(3, ttl=1_000),
        later(HOUR // 2),
        snapshot(),
    ),
    story(
        "admit-races-abandon",
        "whichever came first stands; abandonment can't be undone",
        opened(2),
        reserve(1, ttl=1_000),
        reserve(2, ttl=1_000),
        abandon(2),
        later(1_000),
        snapshot(at("read_admission", admit(1))),
        snapshot(),
        (_CONFLICT, commit(2, 1)),
        Close("h1"),
        Open("h1", "h1", 1, 2),
        (_CONFLICT, commit(2, 1)),
        (_CONFLICT, on("dispatch", 2)),
    ),
    story(
        "a-refused-operation-rolls-its-sweep-back",
        "sweep and epoch included: not a byte; what the project recorded stays",
        opened(2),
        reserve(1, ttl=1_000),
        later(1_000),
        (_CONFLICT, commit(9)),
        (_REVOKED, snapshot(at("authorize", _NOBODY, 2))),
        lease("h1", 2),
        Open("h2", "h1", 2, 2),
        snapshot(host="h2", who="root"),
    ),
)

_DISPATCH = (
    story(
        "dispatch-is-denied-by-epoch-expiry-and-closing",
        "dispatch holds the fence through preparation and looks again before it launches",
        opened(2),
        committed(1, 1),
        (_REVOKED, on("dispatch", 1, at("prepare", _GONE))),
        lease(),
        (_REVOKED, on("dispatch", 1, at("prepare", later(HOUR)))),
        lease(until=START + 2 * HOUR),
        (_BROKEN, on("dispatch", 1, at("prepare", Close("h1")))),
        Open("h1", "h1", 1, 2),
        (_BROKEN, on("dispatch", 1, at("read_lease", Close("h1"), 2))),
        Open("h1", "h1", 1, 2),
        (_REVOKED, on("dispatch", 1, at("read_lease", _GONE, 2))),
        lease(until=START + 2 * HOUR),
        on("dispatch", 1),
        on("dispatch", 1, at("activation", _GONE)),
    ),
    story(
        "force-release-is-durable-and-bound",
        "its command answers the same after a restart, to its principal and for its request alone",
        opened(2),
        SetIdentity("ops", {"principal": "p-ops", "ownerId": "o-root", "operator": True}),
        committed(1, 1),
        force(1, 1),
        Close("h1"),
        Open("h1", "h1", 1, 2),
        force(1, 1),
        ("CROSS_PRINCIPAL_COMMAND", force(1, 1, who="ops")),
        ("CROSS_PRINCIPAL_COMMAND", maximum(5, 1, who="ops")),
        ("IDEMPOTENCY_CONFLICT", maximum(5, 1)),
        ended(1),
        (_CONFLICT, on("normalRelease", 1)),
    ),
    story(
        "a-refused-publication-is-forgotten",
        "time passes between the fsync and the rename: refused, unless the lease still stands",
        lease(until=START + 1_000),
        Open("h1", "h1", 1, 2),
        reserve(1, at("rename", Happens(later(999)))),
        (_REVOKED, reserve(2, at("rename", later(1)))),
        lease(),
        (_REVOKED, reserve(2, at("rename", later(-1)))),
        later(1),
        reserve(2),
    ),
)


STORIES: tuple[Story, ...] = (
    *_MEANWHILE,
    *_SWEEP,
    *_DISPATCH,
)
