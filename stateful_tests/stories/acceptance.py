"""The cases that any such store has to answer for: fencing, clocks, leases, sweeps, several hosts."""

from model.actions import (
    Close,
    Open,
    ReadEpoch,
    SetIdentity,
    SetLease,
)
from model.values import JSON
from stateful_tests.stories import (
    HOUR,
    START,
    Story,
    admit,
    at,
    commit,
    committed,
    later,
    lease,
    maximum,
    opened,
    reserve,
    snapshot,
    story,
)

_REVOKED = "AUTHORITY_REVOKED"
_BROKEN = "DURABILITY_FAILED"
_NO_LEASES: tuple[JSON, ...] = (
    {"holderId": "h1", "fencingEpoch": 1, "endpoint": "e", "expiresAt": START + HOUR, "more": 1},
    {"holderId": "h1", "fencingEpoch": 1, "expiresAt": START + HOUR},
    {"holderId": "h1", "fencingEpoch": 1, "endpoint": "", "expiresAt": START + HOUR},
    {"holderId": "h1", "fencingEpoch": True, "endpoint": "e", "expiresAt": START + HOUR},
    {"holderId": "h1", "fencingEpoch": 1, "endpoint": "e", "expiresAt": 1.5},
    {"holderId": "h1", "fencingEpoch": 1, "endpoint": "\ud800", "expiresAt": START + HOUR},
    {"holderId": "h1", "fencingEpoch": 1, "endpoint": "e", "expiresAt": START},
    ["h1"],
)
_NOBODIES: tuple[JSON, ...] = (
    {"principal": " ", "ownerId": "o", "operator": False},
    {"principal": "p", "ownerId": "", "operator": False},
    {"principal": "p", "ownerId": "o", "operator": 0},
    {"principal": "p", "ownerId": "o"},
    {"principal": "p", "ownerId": "\udc00", "operator": False},
    {"principal": "p" * 4_097, "ownerId": "o", "operator": False},
    "root",
)

_OPENING = (
    story(
        "opening-guards",
        "opening: maximum before epoch before holder; then lease, holder, epoch and its end",
        ReadEpoch(),
        (_REVOKED, Open("h1", "h1", 1, 2)),
        lease(),
        ("COMMAND_FAILED", Open("h1", "", 0, 0)),
        ("COMMAND_FAILED", Open("h1", "h1", 1, None)),
        (_REVOKED, Open("h1", "h1", 0, 2)),
        (_REVOKED, Open("h1", " ", 1, 2)),
        (_REVOKED, Open("h1", None, 1, 2)),
        (_REVOKED, Open("h1", "h2", 1, 2)),
        (_REVOKED, Open("h1", "h1", 2, 2)),
        ReadEpoch(),
        Open("h1", "h1", 1, 2),
        ReadEpoch(),
    ),
    story(
        "reopening-keeps-what-is-there",
        "the initial maximum counts once; closing and opening again loses nothing and writes nothing",
        opened(1),
        committed(1, 1),
        Close("h1"),
        (_BROKEN, snapshot()),
        Close("h1"),
        Open("h1", "h1", 1, 9),
        snapshot(),
        ("CAPACITY_EXCEEDED", reserve(2)),
    ),
    story(
        "leases-of-the-wrong-shape",
        "a lease is a closed shape with texts that are not empty",
        opened(),
        *(step for wrong in _NO_LEASES for step in (SetLease(wrong), (_REVOKED, snapshot()))),
        lease(),
        snapshot(),
    ),
    story(
        "identities-of-the-wrong-shape",
        "authorize: blank, missing or wrong kinds are nobody",
        opened(),
        *(
            step
            for wrong in _NOBODIES
            for step in (SetIdentity("mallory", wrong), (_REVOKED, snapshot(who="mallory")))
        ),
        SetIdentity("mallory", {"principal": "p", "ownerId": "o", "operator": False, "more": 1}),
        snapshot(who="mallory"),
    ),
)

_FENCING = (
    story(
        "a-newer-epoch-fences-the-older-host",
        "once a newer epoch is stored, an older host never changes anything again",
        opened(2),
        reserve(1),
        opened(2, host="h2", epoch=2),
        (_REVOKED, reserve(2)),
        reserve(2, host="h2"),
        lease("h1", 1),
        (_REVOKED, snapshot()),
        (_REVOKED, Open("h1", "h1", 1, 2)),
        ReadEpoch(),
    ),
    story(
        "a-read-stores-a-newer-epoch",
        "a host of a newer epoch stores it with whatever it does first",
        opened(2),
        reserve(1),
        Open("h2", "h1", 1, 2),
        lease("h1", 5),
        Open("h3", "h1", 5, 2),
        lease("h1", 1),
        (_REVOKED, reserve(2, host="h2")),
        ReadEpoch(),
    ),
    story(
        "several-hosts-take-turns",
        "no copy of capacity in a host is ever trusted",
        opened(2),
        Open("h2", "h1", 1, 2),
        reserve(1),
        reserve(2, host="h2"),
        ("CAPACITY_EXCEEDED", reserve(3)),
        admit(1),
        commit(1, 1, host="h2"),
        snapshot(),
        maximum(3, 1),
        reserve(3, host="h2"),
        Close("h1"),
        snapshot(host="h2"),
    ),
    story(
        "an-older-state-under-a-newly-opened-host",
        "what is due is swept by whichever host comes first",
        opened(2),
        reserve(1, ttl=1_000),
        admit(1),
        later(2_000),
        Open("h2", "h1", 1, 2),
        snapshot(host="h2"),
    ),
)

_CLOCK = (
    story(
        "a-clock-that-went-backwards",
        "below lastWallTime or below what this store has seen: refused, reopened or open",
        opened(2),
        later(1_000),
        reserve(1),
        later(-1),
        (_REVOKED, snapshot()),
        (_REVOKED, Open("h2", "h1", 1, 2)),
        later(1),
        later(500),
        snapshot(),
        later(-1),
        (_REVOKED, snapshot()),
        Open("h2", "h1", 1, 2),
        snapshot(host="h2"),
    ),
    story(
        "a-clock-that-goes-backwards-meanwhile",
        "every later look at the clock obeys the same rule, in the sweep too",
        opened(2),
        reserve(1, ttl=1_000),
        later(1_000),
        (_REVOKED, snapshot(at("authorize", later(-1)))),
        later(1),
        (_REVOKED, snapshot(at("read_admission", later(-1)))),
        later(1),
        (_REVOKED, snapshot(at("abandon_admission_if_absent", later(-1)))),
        later(1),
        snapshot(),
    ),
    story(
        "a-lease-that-ends-while-being-read",
        "the lease is read, then the clock is looked at",
        lease(until=START + 1_000),
        Open("h1", "h1", 1, 2),
        later(999),
        reserve(1),
        (_REVOKED, reserve(2, at("read_lease", later(1)))),
        lease(until=START + 2_000),
        (_REVOKED, reserve(2, at("read_lease", later(1_000), 2))),
        lease(),
        reserve(2),
    ),
)


STORIES: tuple[Story, ...] = (
    *_OPENING,
    *_FENCING,
    *_CLOCK,
)
