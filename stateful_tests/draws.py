"""What the Hypothesis machine draws from: small pools of names, amounts, nonsense and disturbances.

Small, so that things meet: the same ids, runs and hosts come up again and again. Every strategy shrinks
towards the plain and valid.
"""

from typing import Any, Final

from hypothesis import strategies as st

from model.actions import (
    AdvanceClock,
    Answers,
    Close,
    Disturbance,
    Effect,
    Happens,
    Moment,
    Raises,
    Reenters,
    SetIdentity,
    SetLease,
)
from model.values import JSON

HOSTS: Final = ("h1", "h2", "h3")
PEOPLE: Final = ("alice", "bob", "root", "eve")
RESERVATIONS: Final = tuple(f"a0000000-0000-4000-8000-00000000000{n}" for n in range(1, 7))
MORE: Final = tuple(f"a0000000-0000-4000-8000-0000000000{n}" for n in range(10, 60))
RUNS: Final = tuple(f"c0000000-0000-4000-8000-00000000000{n}" for n in range(1, 5))
COMMANDS: Final = tuple(f"e0000000-0000-4000-8000-00000000000{n}" for n in range(1, 5))
PROJECT: Final = "b0000000-0000-4000-8000-000000000001"
DOMAIN: Final = "d0000000-0000-4000-8000-000000000001"

hosts: Final = st.sampled_from(HOSTS)
# Mostly the owner of most rows, seldom nobody at all.
people: Final = st.sampled_from(("alice", "alice", "alice", "bob", "root", "eve"))
owners: Final = st.sampled_from(("owner", "owner", "owner", "owner", "alice", "bob", "root", "eve"))
"""`owner` stands for whoever owns the row."""
operators: Final = st.sampled_from(("root", "root", "root", "bob", "alice"))
reservations: Final = st.sampled_from(RESERVATIONS)
runs: Final = st.sampled_from(RUNS)
commands: Final = st.sampled_from(COMMANDS)
ttls: Final = st.sampled_from((1_000, 60_000, 1, 86_400_000))
picks: Final = st.integers(0, 11)
"""An index into whatever is there, modulo its length."""

amounts: Final = st.sampled_from((1, 1_000, 1_000, 60_000, 3_000_000, -1, -1_000))

nonsense: Final[st.SearchStrategy[JSON]] = st.sampled_from(
    (
        None,
        True,
        0,
        -1,
        1.0,
        2**53,
        "",
        " ",
        "3",
        RESERVATIONS[0].upper(),
        RESERVATIONS[0].replace("-", ""),
        "\ud800",
        "x" * 4_097,
        [],
        {},
    )
)

OPERATIONS: Final[dict[str, dict[str, Any]]] = {
    "reserve": {
        "reservationId": RESERVATIONS[0],
        "projectId": PROJECT,
        "projectControlDomainId": DOMAIN,
        "runId": RUNS[0],
        "ttlMs": 1_000,
    },
    "commit": {
        "id": RESERVATIONS[0],
        "projectAdmitCommitSeq": 1,
        "attemptId": RUNS[0],
        "providerJobHandle": "j",
    },
    "renew": {"id": RESERVATIONS[0], "ttlMs": 1_000},
    "markOrphanSuspect": {"id": RESERVATIONS[0]},
    "normalRelease": {"id": RESERVATIONS[0]},
    "forceRelease": {
        "id": RESERVATIONS[0],
        "commandId": COMMANDS[0],
        "riskAcknowledgement": True,
        "reason": "it hangs",
    },
    "setMaxActiveRuns": {"commandId": COMMANDS[0], "maxActiveRuns": 2},
    "readReservation": {"id": RESERVATIONS[0]},
    "readCommand": {"id": COMMANDS[0]},
    "snapshot": {},
    "dispatch": {"id": RESERVATIONS[0]},
}
"""Each operation with arguments that are well-formed, for spoiling one of them."""

_ABSENCE: Final[JSON] = {"status": "not-admitted", "reservationId": RESERVATIONS[0]}
_effects: Final[st.SearchStrategy[Effect]] = st.sampled_from(
    (
        Raises(),
        Raises("RECONCILE_REQUIRED"),
        Answers(None),
        Answers(_ABSENCE),
        Reenters(),
        Happens(SetLease(None)),
        Happens(AdvanceClock(1_000)),
        Happens(AdvanceClock(-1)),
        Happens(Close("h1")),
        Happens(SetIdentity("alice", None)),
    )
)


def _rename(ms: int) -> Disturbance:
    return Disturbance("rename", 1, Happens(AdvanceClock(ms)))


_renames: Final = st.builds(_rename, st.sampled_from((1_000, -1, 3_600_000)))


def disturbed(*moments: Moment) -> st.SearchStrategy[tuple[Disturbance, ...]]:
    """Mostly nothing: what is always disturbed gets nowhere. Else at one of `moments`, or any call's."""
    others: list[tuple[Moment, int]] = [(moment, 1) for moment in moments if moment != "rename"]
    at = st.sampled_from((*others, *others, *_EVERY_CALL))
    one = st.builds(lambda where, effect: Disturbance(where[0], where[1], effect), at, _effects)
    struck = st.one_of(one, one, _renames) if "rename" in moments else one
    return st.one_of(st.just(()), st.just(()), st.tuples(struck))


_EVERY_CALL: Final[tuple[tuple[Moment, int], ...]] = (
    ("read_lease", 1),
    ("read_lease", 2),
    ("authorize", 1),
    ("authorize", 2),
)
