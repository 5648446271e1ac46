"""What can happen in a facet, as rules: requests, each with the failing steps and deaths that may befall it.

A rule's name says all: `k1`, `k1 | append-fsync fails`, `k1 † append-torn` (its client dies there), `tamper
mirror-deleted`. A `Request` is one call, whoever makes it; its `variants` are the failing steps with which
it is tried, one combination each.
"""

from typing import Final, Literal

from attrs import evolve, field, frozen

from model.gated.actions import Action, Call, CloseLedger, Crash, Fault, OpenLedger, ReadState, Tamper

CLIENTS: Final = ("a", "b", "c")
NOBODY: Final = ""
DIES: Final = " † "
FAILS: Final = " | "

Faults = tuple[Fault, ...]


def fails(*moments: str) -> Faults:
    """Failing steps, as `append`, `append full`, or `append:2` for the second arrival."""
    faults = []
    for told in moments:
        moment, _, kind = told.partition(" ")
        moment, _, nth = moment.partition(":")
        faults.append(Fault(moment, int(nth or 1), kind or "fails"))
    return tuple(faults)


def told(faults: Faults) -> str:
    """The failing steps in the name of a rule."""
    parts = []
    for fault in faults:
        nth = f":{fault.nth}" if fault.nth > 1 else ""
        parts.append(f"{fault.moment}{nth} {fault.kind}")
    return ", ".join(parts)


Deaths = Literal["each", "telling", "none"]
"""At each small step; at the first of those that leave the same behind (nobody can tell them apart
afterwards, and real kills come to every one); or at none."""


@frozen
class Request:
    """A call that clients can make, `action.client` aside.

    `variants` are combinations of failing steps; one of which a step is never come to, does not happen.
    `deaths` says at which small steps whoever makes it may die, `late_deaths` at which of them that come
    after a step has failed.
    """

    name: str
    action: Call
    variants: tuple[Faults, ...] = ()
    deaths: Deaths = "each"
    late_deaths: Deaths = "none"

    def by(self, client: str, faults: Faults = ()) -> Call:
        return evolve(self.action, client=client, faults=faults)

    def rule(self, faults: Faults = (), at: str = "") -> str:
        name = f"{self.name}{FAILS}{told(faults)}" if faults else self.name
        return f"{name}{DIES}{at}" if at else name


@frozen
class Meaning:
    """What a rule's name stands for; `at` is the small step at which its client dies, if it does."""

    request: Request | None = None
    faults: Faults = ()
    at: str = ""
    tampering: Tamper | None = None
    leaves: bool = False

    def action(self, client: str) -> Action:
        """The one action that it is, done by `client`."""
        if self.tampering is not None:
            return self.tampering
        if self.leaves:
            return Crash(client) if self.at else CloseLedger(client)
        assert self.request is not None
        call = self.request.by(client, self.faults)
        return Crash(client, self.at, call) if self.at else call


OPENING: Final = "open"
READING: Final = "read"
CLOSING: Final = "close"
IDLE: Final = f"close{DIES}idle"


def opening(*variants: Faults, deaths: Deaths = "each", late_deaths: Deaths = "none") -> Request:
    return Request(OPENING, OpenLedger(NOBODY), variants, deaths, late_deaths)


def reading(*variants: Faults, deaths: Deaths = "each") -> Request:
    return Request(READING, ReadState(NOBODY), variants, deaths)


def tampering(kind: str, line: int = 0, n: int = 0) -> tuple[str, Tamper]:
    """A rule's name, and the tampering that it is."""
    place = f" {line}" if line else ""
    size = f" by {n}" if n else ""
    return f"tamper {kind}{place}{size}", Tamper(kind, line, n)


@frozen
class Scheme:
    """A facet's alphabet: how many clients there are, what they ask for, and what is done to the files.

    `before` leads to where the facet starts. `alike` are groups of requests of which each may be called by
    another's name. Files are tampered with while not more than `most_wounds` of them would be wounded.
    """

    clients: int
    requests: tuple[Request, ...]
    tamperings: tuple[tuple[str, Tamper], ...] = ()
    before: tuple[Action, ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()
    most_wounds: int = 1
    closes: bool = True
    _by_name: dict[str, Request] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        # What a tampering leaves is told by a digest of its bytes, in which nobody can rename anything.
        assert not (self.alike and self.tamperings)
        for request in self.requests:
            assert request.name not in self._by_name, request.name
            self._by_name[request.name] = request

    def request(self, name: str) -> Request:
        return self._by_name[name]
