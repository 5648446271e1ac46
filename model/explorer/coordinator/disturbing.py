"""What can strike in the middle of a call, by name: at which arrival of which callback, and in which calls.

`Bounds.disturbed` names those of a facet. Answers are worked out from the world, so that they are wrong in
one thing only.
"""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen

from model.actions import (
    Admit,
    AdvanceClock,
    Answers,
    Close,
    Damage,
    Disturbance,
    Effect,
    Happens,
    Moment,
    Raises,
    Reenters,
    SetLease,
)
from model.explorer.coordinator.naming import ENDPOINT, HOLDER, binding, host_name, slot_id
from model.surroundings import fact_of
from model.values import JSON, World

Make = Callable[[World, str], Effect]
"""(world, reservation id or "") to what strikes."""


@frozen
class Disturbing:
    """`effect` strikes at the `nth` arrival at `moment`, in calls of `operations` (words of rules' names)."""

    moment: Moment
    nth: int
    effect: Make
    operations: tuple[str, ...]

    def disturbance(self, world: World, slot: str) -> Disturbance:
        return Disturbance(self.moment, self.nth, self.effect(world, slot))


def _always(effect: Effect) -> Make:
    return lambda _world, _slot: effect


def _subject(world: World, slot: str) -> dict[str, JSON]:
    """Names the reservation asked about: the one acted on, or else the first that is stored."""
    rows = world.store.rows if world.store is not None else ()
    named = [row for row in rows if row.reservation_id == slot] or list(rows)
    project, domain, run = named[0].binding if named else binding(0)
    return {
        "reservationId": named[0].reservation_id if named else slot_id(0),
        "projectId": project,
        "projectControlDomainId": domain,
        "runId": run,
    }


_UNHEARD: Final = 700
"""An admission's sequence that no ledger has."""


def _admission(changed: dict[str, JSON], *, seq: int | None = None) -> Make:
    def make(world: World, slot: str) -> Effect:
        about = _subject(world, slot)
        fact = fact_of(world, str(about["reservationId"]))
        true = fact.commit_seq if fact is not None else _UNHEARD
        proof = {**about, "projectAdmitCommitSeq": seq or true, "runVersion": 1, **changed}
        return Answers(proof)

    return make


def _word(status: str, changed: dict[str, JSON] | None = None) -> Make:
    def make(world: World, slot: str) -> Effect:
        about = _subject(world, slot)
        return Answers(
            {**about, "status": status, "abandonmentCommitSeq": 1, "runVersion": 0, **(changed or {})}
        )

    return make


def _release(changed: dict[str, JSON]) -> Make:
    """A proof that would free the slot but for `changed`."""

    def make(world: World, slot: str) -> Effect:
        about = _subject(world, slot)
        fact = fact_of(world, str(about["reservationId"]))
        proof: dict[str, JSON] = {
            **about,
            "projectAdmitCommitSeq": fact.commit_seq if fact is not None else 1,
            "runVersion": 9,
            "proofId": "told",
            "status": "completed",
            "stage": "terminal",
            "requiresReadmission": False,
            "providerNoLiveProcessTree": True,
            "noAmbiguousJobs": True,
            "reconcileTimeoutOnly": False,
        }
        return Answers({**proof, **changed})

    return make


def _admits(world: World, slot: str) -> Effect:
    about = _subject(world, slot)
    return Happens(
        Admit(*(str(about[key]) for key in ("reservationId", "projectId", "projectControlDomainId", "runId")))
    )


def _lease(epoch: int) -> Make:
    def make(world: World, _slot: str) -> Effect:
        return Answers(
            {
                "holderId": HOLDER,
                "fencingEpoch": epoch,
                "endpoint": ENDPOINT,
                "expiresAt": world.clock + 1000,
            }
        )

    return make


_OTHERS: Final[tuple[tuple[str, dict[str, JSON]], ...]] = (
    ("other-id", {"reservationId": slot_id(97)}),
    ("other-run", {"runId": binding(5)[2]}),
    ("other-project", {"projectId": binding(2)[0]}),
    ("other-domain", {"projectControlDomainId": binding(3)[1]}),
)
"""What an answer about another reservation or run says of itself."""

_ALL: Final = ("snapshot", "reserve", "commit", "dispatch")
_CLOSES: Final = _always(Happens(Close(host_name(0))))
_MS_PASSES: Final = _always(Happens(AdvanceClock(1)))
_MS_BACK: Final = _always(Happens(AdvanceClock(-1)))
_NO_LEASE: Final = _always(Happens(SetLease(None)))
_ASKED: Final = ("snapshot", "commit", "renew")
_SWEPT: Final = ("snapshot", "reserve", "renew")


def _authorities() -> Iterator[tuple[str, Disturbing]]:
    """What can go wrong with the lease and with who the caller is."""
    for nth in (1, 2, 3):
        yield f"lease-{nth} raises", Disturbing("read_lease", nth, _always(Raises()), _ALL)
        yield f"lease-{nth} other-epoch", Disturbing("read_lease", nth, _lease(9), _ALL)
        yield f"lease-{nth} clock+1", Disturbing("read_lease", nth, _MS_PASSES, _ALL)
        yield f"lease-{nth} closes", Disturbing("read_lease", nth, _CLOSES, _ALL)
    yield "lease-1 code", Disturbing("read_lease", 1, _always(Raises("POLICY_DENIED")), ("snapshot",))
    yield "lease-1 malformed", Disturbing("read_lease", 1, _always(Answers({"holderId": ""})), ("snapshot",))
    yield "lease-2 back", Disturbing("read_lease", 2, _MS_BACK, ("snapshot", "reserve"))
    alice: dict[str, JSON] = {"principal": "p-alice", "ownerId": "o-alice", "operator": False}
    for nth in (1, 2):
        yield f"caller-{nth} raises", Disturbing("authorize", nth, _always(Raises()), _ALL)
        yield (
            f"caller-{nth} code",
            Disturbing("authorize", nth, _always(Raises("POLICY_DENIED")), ("reserve",)),
        )
        yield f"caller-{nth} closes", Disturbing("authorize", nth, _CLOSES, _ALL)
        yield f"caller-{nth} clock+1", Disturbing("authorize", nth, _MS_PASSES, _ALL)
        yield f"caller-{nth} no-lease", Disturbing("authorize", nth, _NO_LEASE, ("snapshot", "reserve"))
        yield f"caller-{nth} reenters", Disturbing("authorize", nth, _always(Reenters()), ("snapshot",))
    for word, changed in (
        ("operator", {"operator": True}),
        ("owner", {"ownerId": "o-bob"}),
        ("principal", {"principal": "p-bob"}),
        ("blank", {"principal": " "}),
        ("odd", {"operator": "yes"}),
    ):
        effect = _always(Answers({**alice, **changed}))
        yield f"caller-2 {word}", Disturbing("authorize", 2, effect, ("snapshot", "reserve", "commit"))


def _proofs() -> Iterator[tuple[str, Disturbing]]:
    """What can go wrong when a project is asked."""
    for word, effect in (
        ("raises", _always(Raises())),
        ("code", _always(Raises("CAPACITY_EXCEEDED"))),
        ("nothing", _always(Answers(None))),
        ("not-admitted", _word("not-admitted")),
        *((word, _admission(changed)) for word, changed in _OTHERS),
        ("with-status", _admission({"status": None})),
        ("no-sequence", _admission({"projectAdmitCommitSeq": True})),
        ("unheard-of", _admission({}, seq=_UNHEARD)),
        ("abandoned", _word("abandoned")),
        ("clock+1", _MS_PASSES),
        ("admits", _admits),
        ("closes", _CLOSES),
        ("no-lease", _NO_LEASE),
        ("reenters", _always(Reenters())),
        ("back", _MS_BACK),
    ):
        yield f"admission {word}", Disturbing("read_admission", 1, effect, _ASKED)
    for word, effect in (
        ("raises", _always(Raises())),
        ("not-admitted", _word("not-admitted")),
        ("nothing", _always(Answers(None))),
        *((word, _word("abandoned", changed)) for word, changed in _OTHERS),
        ("no-sequence", _word("abandoned", {"abandonmentCommitSeq": 0})),
        ("lies", _word("abandoned")),
        ("clock+1", _MS_PASSES),
        ("admits", _admits),
        ("closes", _CLOSES),
        ("no-lease", _NO_LEASE),
        ("back", _MS_BACK),
    ):
        yield f"arbitration {word}", Disturbing("abandon_admission_if_absent", 1, effect, _SWEPT)


_SPOILT: Final[tuple[tuple[str, dict[str, JSON]], ...]] = (
    ("whole", {}),
    ("parked", {"status": "paused", "stage": "parked", "requiresReadmission": True}),
    ("parked-elsewhere", {"status": "paused", "stage": "paused", "requiresReadmission": True}),
    ("parked-at-will", {"status": "paused", "stage": "parked"}),
    ("running", {"status": "running"}),
    ("alive", {"providerNoLiveProcessTree": False}),
    ("alive-at-a-guess", {"providerNoLiveProcessTree": 1}),
    ("ambiguous", {"noAmbiguousJobs": False}),
    ("by-timeout", {"reconcileTimeoutOnly": True}),
    *_OTHERS,
    ("other-admission", {"projectAdmitCommitSeq": _UNHEARD}),
    ("earlier-version", {"runVersion": 0}),
    ("blank-id", {"proofId": " "}),
    ("no-status", {"status": None}),
)


def _releases() -> Iterator[tuple[str, Disturbing]]:
    for word, changed in _SPOILT:
        yield f"proof {word}", Disturbing("read_release", 1, _release(changed), ("release",))
    for word, effect in (
        ("raises", _always(Raises())),
        ("code", _always(Raises("POLICY_DENIED"))),
        ("clock+1", _MS_PASSES),
        ("closes", _CLOSES),
        ("nothing", _always(Answers(None))),
    ):
        yield f"proof {word}", Disturbing("read_release", 1, effect, ("release",))


def _launches() -> Iterator[tuple[str, Disturbing]]:
    """What can go wrong around the publication and a launch."""
    for moment, word in (("prepare", "prepare"), ("activation", "launch")):
        at: Moment = moment  # type: ignore[assignment]  # of two
        yield f"{word} raises", Disturbing(at, 1, _always(Raises()), ("dispatch",))
        yield f"{word} code", Disturbing(at, 1, _always(Raises("POLICY_DENIED")), ("dispatch",))
        yield f"{word} answers", Disturbing(at, 1, _always(Answers(7)), ("dispatch",))
        yield f"{word} closes", Disturbing(at, 1, _CLOSES, ("dispatch",))
        yield f"{word} clock+1", Disturbing(at, 1, _MS_PASSES, ("dispatch",))
        yield f"{word} reenters", Disturbing(at, 1, _always(Reenters()), ("dispatch",))
    # Not while renewing: who renews twice within one ms publishes nothing, and states don't tell that apart.
    yield "rename clock+1", Disturbing("rename", 1, _MS_PASSES, (*_ALL, "release"))
    yield "rename back", Disturbing("rename", 1, _MS_BACK, ("reserve", "commit"))
    yield "rename closes", Disturbing("rename", 1, _CLOSES, ("reserve", "commit", "dispatch"))
    yield "rename no-lease", Disturbing("rename", 1, _NO_LEASE, ("reserve", "dispatch"))


def _sweeps() -> Iterator[tuple[str, Disturbing]]:
    """What can go wrong while two rows are due: at the question about either, or at the fences between."""
    moments: tuple[tuple[str, Moment], ...] = (
        ("admission", "read_admission"),
        ("arbitration", "abandon_admission_if_absent"),
    )
    for word, moment in moments:
        for nth in (1, 2):
            for what, effect in (("raises", _always(Raises())), ("no-lease", _NO_LEASE), ("closes", _CLOSES)):
                yield f"{word}-{nth} {what}", Disturbing(moment, nth, effect, ("snapshot", "reserve"))
    for nth in (2, 3, 4, 5, 6):
        for what, effect in (("raises", _always(Raises())), ("other-epoch", _lease(9))):
            yield f"fence-{nth} {what}", Disturbing("read_lease", nth, effect, ("snapshot", "reserve"))


def _files() -> Iterator[tuple[str, Disturbing]]:
    for kind in ("lock-symlink", "state-symlink"):
        effect = _always(Happens(Damage(kind)))
        yield f"caller-1 {kind}", Disturbing("authorize", 1, effect, ("snapshot", "reserve"))


AUTHORITIES: Final = dict(_authorities())
PROOFS: Final = dict(_proofs())
RELEASES: Final = dict(_releases())
LAUNCHES: Final = dict(_launches())
SWEEPS: Final = dict(_sweeps())
FILES: Final = dict(_files())
DISTURBANCES: Final[dict[str, Disturbing]] = {
    **AUTHORITIES,
    **PROOFS,
    **RELEASES,
    **LAUNCHES,
    **SWEEPS,
    **FILES,
}
