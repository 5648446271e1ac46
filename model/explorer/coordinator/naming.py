"""The real names behind the numbers of slots, runs, owners, commands, hosts and people."""

from typing import Final

from model.drawing import an_id
from model.start import PEOPLE
from model.values import JSON, Binding, Identity, Raw

HOLDER: Final = "alpha"
"""Of every host: they differ in their epochs, so that the epoch alone has to tell them apart."""

OTHER_HOLDER: Final = "beta"
ENDPOINT: Final = "unix:explored"
LONG: Final = 10**11
"""Milliseconds that nothing within any bounds waits for."""

DAY: Final = 86_400_001
"""Milliseconds: longer than any TTL."""

CONTEXTS: Final = tuple(name for name, _ in PEOPLE)
OWNERS: Final[tuple[tuple[str, str], ...]] = (
    ("p-alice", "o-alice"),
    ("p-bob", "o-bob"),
    ("p-root", "o-root"),
    ("p-alice", "o-bob"),
    ("p-bob", "o-alice"),
)
"""(principal, owner id) by number; the last two share one of both with alice or bob."""

PRINCIPALS: Final = ("p-root", "p-alice", "p-bob")

IDENTITIES: Final[dict[str, JSON]] = {
    "alice": {"principal": "p-alice", "ownerId": "o-alice", "operator": False},
    "operator": {"principal": "p-alice", "ownerId": "o-alice", "operator": True},
    "other-owner": {"principal": "p-alice", "ownerId": "o-bob", "operator": False},
    "other-principal": {"principal": "p-bob", "ownerId": "o-alice", "operator": False},
    "nobody": None,
    "blank": {"principal": " ", "ownerId": "o-alice", "operator": False},
    "odd": {"principal": "p-alice", "ownerId": "o-alice", "operator": "yes"},
}
"""Who the context `alice` may come to be, as the authority answers it."""


def slot_id(number: int) -> str:
    return an_id(0xA, number + 1)


def number_of_slot(reservation_id: str) -> int:
    return int(reservation_id[-12:], 16) - 1


_PROJECT, _DOMAIN, _RUN = an_id(0xB, 1), an_id(0xD, 1), an_id(0xE, 1)
_BINDINGS: Final[tuple[Binding, ...]] = (
    (_PROJECT, _DOMAIN, _RUN),
    (_PROJECT, _DOMAIN, an_id(0xE, 2)),
    (an_id(0xB, 2), _DOMAIN, _RUN),
    (_PROJECT, an_id(0xD, 2), _RUN),
)
"""Of runs by number: each of the later ones differs from the first in one of three."""


def binding(run: int) -> Binding:
    return _BINDINGS[run] if run < len(_BINDINGS) else (_PROJECT, _DOMAIN, an_id(0xE, run))


def number_of_run(of: Binding) -> int:
    return _BINDINGS.index(of) if of in _BINDINGS else int(of[2][-12:], 16)


def command_id(number: int) -> str:
    return an_id(0xC, number + 1)


def number_of_command(command: str) -> int:
    return int(command[-12:], 16) - 1


def attempt_id(number: int) -> str:
    return an_id(0xAA, number + 1)


def job_handle(number: int) -> str:
    return f"job-{number + 1}"


def reason(number: int) -> str:
    return f"reason {number + 1}"


def number_at_end(text: str) -> int:
    """Of an attempt, a job or a reason."""
    return int(text.rpartition("-")[2].rpartition(" ")[2], 16) - 1


def host_name(number: int) -> str:
    return f"h{number + 1}"


def identity_kind(identity: Identity | Raw | None) -> str:
    """Which of `IDENTITIES` this is."""
    if identity is None:
        return "nobody"
    if isinstance(identity, Raw):
        return "blank" if '" "' in identity.text else "odd"
    if identity.operator:
        return "operator"
    if identity.owner_id != "o-alice":
        return "other-owner"
    return "alice" if identity.principal == "p-alice" else "other-principal"
