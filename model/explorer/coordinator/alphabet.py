"""The rules of the coordinator's space, and the action of the model that each stands for in a given world.

A rule's name says all that is constant in its actions; what is relative (an admission's sequence number, the
end of a lease) is worked out from the world. `Bounds.groups` says which groups of rules a facet has.

Names are words, and words that name interchangeable things are the same everywhere: runs are `run-a`,
`run-b`; commands `command-1`, `command-2`; hosts `@h1`, `@h2`; callers their contexts.
"""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import evolve, frozen

from model.actions import (
    Abandon,
    Action,
    Admit,
    AdvanceClock,
    Call,
    Close,
    Damage,
    Finish,
    Forget,
    LeaveTemp,
    Mend,
    Open,
    Park,
    Quiesce,
    ReadEpoch,
    Resume,
    SetIdentity,
    SetLease,
)
from model.explorer.coordinator.arguing import odd, oddities
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.crashing import Killed
from model.explorer.coordinator.disturbing import DISTURBANCES, Disturbing
from model.explorer.coordinator.naming import (
    CONTEXTS,
    DAY,
    ENDPOINT,
    HOLDER,
    IDENTITIES,
    LONG,
    OTHER_HOLDER,
    attempt_id,
    binding,
    command_id,
    host_name,
    job_handle,
    reason,
)
from model.explorer.coordinator.view import seen_ahead, would_be_forgotten
from model.explorer.space import Rule, Scope
from model.surroundings import fact_of
from model.values import JSON, World

Make = Callable[[World, str], Action | Killed | None]
"""(world, reservation id or "") to the action, or `None` where the rule does not apply."""


@frozen
class Scheme:
    """A rule, and how its actions are made."""

    rule: Rule
    make: Make


def run_word(run: int) -> str:
    return f"run-{'abcdef'[run]}"


def command_word(command: int) -> str:
    return f"command-{command + 1}"


def schemes(bounds: Bounds) -> Iterator[Scheme]:
    """All rules of the facet; the order is that in which they are tried."""
    for group, make in _GROUPS.items():
        if group in bounds.groups:
            yield from make(bounds)


def _scheme(name: str, scope: Scope, lens: str, make: Make) -> Scheme:
    return Scheme(Rule(name, scope, lens), make)


def _places(bounds: Bounds) -> Iterator[tuple[str, str, str]]:
    """(host's name, caller, the end of a rule's name) of each caller at each host."""
    for number in range(bounds.hosts):
        for caller in bounds.callers:
            yield host_name(number), caller, f"@{host_name(number)} {caller}"


def _call(host: str, caller: str, operation: str, arguments: dict[str, JSON] | None = None) -> Make:
    def make(_world: World, slot: str) -> Action:
        more = arguments or {}
        return Call(host, caller, operation, {"id": slot, **more} if slot else more)

    return make


def _reserves(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in _places(bounds):
        for run in range(bounds.runs):
            for ttl in bounds.ttls:
                length = f" for {ttl} ms" if len(bounds.ttls) > 1 else ""
                make = _reserve(host, caller, run, ttl)
                yield _scheme(f"reserve {run_word(run)}{length} {end}", "call", f"capacity {host}", make)


def _reserve(host: str, caller: str, run: int, ttl: int) -> Make:
    project, domain, name = binding(run)

    def make(_world: World, slot: str) -> Action:
        arguments: dict[str, JSON] = {
            "reservationId": slot,
            "projectId": project,
            "projectControlDomainId": domain,
            "runId": name,
            "ttlMs": ttl,
        }
        return Call(host, caller, "reserve", arguments)

    return make


def admission_of(world: World, slot: str) -> int:
    """The sequence that a caller knows of: the ledger's, or else the row's, or else a first one."""
    fact = fact_of(world, slot)
    if fact is not None and fact.kind == "admitted":
        return fact.commit_seq
    rows = world.store.rows if world.store is not None else ()
    found = [row.project_admit_commit_seq for row in rows if row.reservation_id == slot]
    return (found[0] if found else None) or 1


_WRONG: Final = 500
"""Added to a sequence that is right, gives one that no reservation has."""


def _commit(host: str, caller: str, off: int, attempt: int | None, job: int | None) -> Make:
    def make(world: World, slot: str) -> Action:
        arguments: dict[str, JSON] = {"id": slot, "projectAdmitCommitSeq": admission_of(world, slot) + off}
        if attempt is not None:
            arguments["attemptId"] = attempt_id(attempt)
        if job is not None:
            arguments["providerJobHandle"] = job_handle(job)
        return Call(host, caller, "commit", arguments)

    return make


def _commits(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in _places(bounds):
        yield _scheme(f"commit {end}", "call", host, _commit(host, caller, 0, None, None))


def _wrong_commits(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in _places(bounds):
        make = _commit(host, caller, _WRONG, None, None)
        yield _scheme(f"commit another-admission {end}", "call", host, make)


_VALUES: Final = (
    ("attempt-1", 0, None),
    ("attempt-2", 1, None),
    ("job-1", None, 0),
    ("attempt-1 job-1", 0, 0),
)


def _attempts(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in _places(bounds):
        for word, attempt, job in (*_VALUES, ("job-2", None, 1), ("attempt-2 job-1", 1, 0)):
            make = _commit(host, caller, 0, attempt, job)
            yield _scheme(f"commit {word} {end}", "call", host, make)


def _renews(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in _places(bounds):
        for ttl in bounds.ttls:
            length = f" for {ttl} ms" if len(bounds.ttls) > 1 else ""
            make = _call(host, caller, "renew", {"ttlMs": ttl})
            yield _scheme(f"renew{length} {end}", "call", host, make)
        yield _scheme(f"renew without-ttl {end}", "call", host, _call(host, caller, "renew"))


def _plain(operation: str, word: str) -> Callable[[Bounds], Iterator[Scheme]]:
    def make(bounds: Bounds) -> Iterator[Scheme]:
        for host, caller, end in _places(bounds):
            yield _scheme(f"{word} {end}", "call", host, _call(host, caller, operation))

    return make


def _snapshots(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in _places(bounds):
        yield _scheme(f"snapshot {end}", "whole", host, _call(host, caller, "snapshot"))


def _forces(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        host = host_name(number)
        for caller in bounds.operators:
            for command in range(bounds.commands):
                for why in range(bounds.reasons):
                    more: dict[str, JSON] = {"commandId": command_id(command), "reason": reason(why)}
                    because = f" reason-{why + 1}" if bounds.reasons > 1 else ""
                    yield _scheme(
                        f"force-release {command_word(command)}{because} @{host} {caller}",
                        "call",
                        f"commands {host}",
                        _call(host, caller, "forceRelease", {**more, "riskAcknowledgement": True}),
                    )


def _maxima(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        host = host_name(number)
        for caller in bounds.operators:
            for command in range(bounds.commands):
                for many in bounds.maxima:
                    more: dict[str, JSON] = {"commandId": command_id(command), "maxActiveRuns": many}
                    yield _scheme(
                        f"set-maximum {many} {command_word(command)} @{host} {caller}",
                        "whole",
                        f"commands {host}",
                        _call(host, caller, "setMaxActiveRuns", more),
                    )


def _command_reads(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        host = host_name(number)
        for caller in bounds.operators:
            for command in range(bounds.commands):
                make = _call(host, caller, "readCommand", {"id": command_id(command)})
                name = f"read-command {command_word(command)} @{host} {caller}"
                yield _scheme(name, "whole", f"commands {host}", make)


def _opens(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        for many in bounds.initial:
            for arbitrates in bounds.arbitration:
                words = f" for {many}" if len(bounds.initial) > 1 else ""
                words += "" if arbitrates else " without-arbitration"
                make = _remembering(bounds, _open(number, many, arbitrates=arbitrates))
                yield _scheme(f"open{words} @{host_name(number)}", "whole", f"open {host_name(number)}", make)


def _open(number: int, many: int, *, arbitrates: bool) -> Make:
    action = Open(host_name(number), HOLDER, number + 1, many, arbitrates)
    return lambda _world, _slot: action


def _closes(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        yield _scheme(f"close @{host_name(number)}", "weather", "", _remembering(bounds, _close(number)))


def _remembering(bounds: Bounds, make: Make) -> Make:
    """Where the clock may go back: not while that would be forgotten."""
    if not bounds.back:
        return make
    return lambda world, slot: None if would_be_forgotten(world) else make(world, slot)


def _close(number: int) -> Make:
    action = Close(host_name(number))

    def make(world: World, _slot: str) -> Action | None:
        return action if any(host.name == action.host and host.is_open for host in world.hosts) else None

    return make


def _deaths(bounds: Bounds) -> Iterator[Scheme]:
    """See `crashing`."""
    for number in range(bounds.hosts):
        host = host_name(number)
        sweep, genesis = (
            Call(host, CONTEXTS[0], "snapshot"),
            Open(host, HOLDER, number + 1, bounds.initial[0]),
        )
        yield _scheme(
            f"die-having-arbitrated @{host}", "whole", f"die {host}", _die(Killed(sweep, "ledger ahead"))
        )
        yield _scheme(
            f"die-in-genesis @{host}", "weather", "", _die(Killed(genesis, "state without identity"))
        )


def _die(kill: Killed) -> Make:
    return lambda _world, _slot: kill


def _leases(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        yield _scheme(
            f"lease @{host_name(number)}", "weather", "", _lease(HOLDER, number + 1, bounds.lease_left)
        )
    for kind in bounds.leases:
        yield _scheme(f"lease {kind}", "weather", "", _OTHER_LEASES[kind])


def _lease(holder: str, epoch: int, left: int | None) -> Make:
    def make(world: World, _slot: str) -> Action:
        ends = world.clock + (LONG if left is None else left)
        return SetLease({"holderId": holder, "fencingEpoch": epoch, "endpoint": ENDPOINT, "expiresAt": ends})

    return make


_OTHER_LEASES: Final[dict[str, Make]] = {
    "none": lambda _world, _slot: SetLease(None),
    "malformed": lambda _world, _slot: SetLease({"holderId": "", "fencingEpoch": 1}),
    "expired": _lease(HOLDER, 1, 0),
    "short": _lease(HOLDER, 1, 1),
    "other-holder": _lease(OTHER_HOLDER, 1, None),
    "other-epoch": _lease(HOLDER, 9, None),
}


def _clocks(bounds: Bounds) -> Iterator[Scheme]:
    for ms in bounds.steps:
        yield _scheme(f"clock +{ms} ms", "weather", "", _clock(ms))
    if bounds.back:
        yield _scheme("clock -1 ms", "weather", "", _clock(-1))
    if bounds.aging:
        yield _scheme("clock +1 day", "weather", "", _clock(DAY))


def _clock(ms: int) -> Make:
    action = AdvanceClock(ms)
    return lambda world, _slot: action if ms > 0 or seen_ahead(world) == 0 else None


def _project(bounds: Bounds) -> Iterator[Scheme]:
    """What a project does under a reservation that was granted."""
    yield _scheme("admit", "local", "store", _subject(Admit))
    for status in bounds.stages:
        if status == "parked":
            yield _scheme("park", "local", "store", lambda _world, slot: Park(slot))
        else:
            yield _scheme(f"finish {status}", "local", "store", _finish(status))
    yield _scheme("quiesce", "local", "store", lambda _world, slot: Quiesce(slot))


def _finish(status: str) -> Make:
    return lambda _world, slot: Finish(slot, status)  # type: ignore[arg-type]  # one of its four


def _subject(kind: type[Admit] | type[Abandon]) -> Make:
    """About the run for which the reservation was granted; about none, if it wasn't."""

    def make(world: World, slot: str) -> Action | None:
        for row in world.store.rows if world.store is not None else ():
            if row.reservation_id == slot:
                return kind(slot, *row.binding)
        return None

    return make


def _abandons(_bounds: Bounds) -> Iterator[Scheme]:
    yield _scheme("abandon", "local", "store", _subject(Abandon))


def _elsewhere(bounds: Bounds) -> Iterator[Scheme]:
    """A ledger that abandons, under a reservation's id, a run that isn't its own; or before it is granted."""
    for run in range(bounds.runs):
        about = binding(run)
        yield _scheme(f"abandon {run_word(run)}", "local", "store", _about(Abandon, about))
        if bounds.dropped:
            yield _scheme(f"admit {run_word(run)}", "local", "store", _about(Admit, about))


def _about(kind: type[Admit] | type[Abandon], about: tuple[str, str, str]) -> Make:
    return lambda _world, slot: kind(slot, *about)


def _resumes(_bounds: Bounds) -> Iterator[Scheme]:
    yield _scheme("resume", "local", "store", lambda _world, slot: Resume(slot))


def _forgets(_bounds: Bounds) -> Iterator[Scheme]:
    def make(world: World, slot: str) -> Action | None:
        known = any(fact.reservation_id == slot for fact in world.forgotten)
        return None if known else Forget(slot)

    yield _scheme("forget", "local", "store", make)


def _people(bounds: Bounds) -> Iterator[Scheme]:
    for kind in bounds.identities:
        action = SetIdentity(CONTEXTS[0], IDENTITIES[kind])
        yield _scheme(f"alice-becomes {kind}", "weather", "", _always(action))


def _always(action: Action) -> Make:
    return lambda _world, _slot: action


def _damages(bounds: Bounds) -> Iterator[Scheme]:
    for kind in bounds.damages:
        yield _scheme(f"damage {kind}", "weather", "", _always(Damage(kind)))
        yield _scheme(f"mend {kind}", "weather", "", _always(Mend(kind)))


def _epochs(_bounds: Bounds) -> Iterator[Scheme]:
    yield _scheme("read-epoch", "weather", "", _always(ReadEpoch()))


def _temps(_bounds: Bounds) -> Iterator[Scheme]:
    yield _scheme("leave-temp", "weather", "", _always(LeaveTemp()))


def _arguments(bounds: Bounds) -> Iterator[Scheme]:
    """By somebody who may do everything, so that nothing else is in the way."""
    for word, operation, name, value in oddities():
        make = _odd(bounds.callers[0], operation, name, value)
        yield _scheme(f"odd {word}", "call", "", make)


def _odd(caller: str, operation: str, name: str, value: JSON) -> Make:
    return lambda _world, slot: Call(host_name(0), caller, operation, odd(operation, name, value, slot))


_DISTURBABLE: Final[dict[str, tuple[str, Scope]]] = {
    "reserve": ("reserve", "call"),
    "commit": ("commit", "call"),
    "renew": ("renew", "call"),
    "release": ("normalRelease", "call"),
    "dispatch": ("dispatch", "call"),
    "snapshot": ("snapshot", "whole"),
}


def _disturbed(bounds: Bounds) -> Iterator[Scheme]:
    """Calls in the middle of which something happens; by alice, at the first host."""
    host, caller = host_name(0), CONTEXTS[0]
    for name in bounds.disturbed:
        disturbing = DISTURBANCES[name]
        for word in disturbing.operations:
            operation, scope = _DISTURBABLE[word]
            plain = _call(host, caller, operation)
            if word == "reserve":
                plain = _reserve(host, caller, 0, bounds.ttls[0])
            elif word == "commit":
                plain = _commit(host, caller, 0, None, None)
            elif word == "renew":
                plain = _call(host, caller, operation, {"ttlMs": bounds.ttls[0]})
            make = _while(plain, disturbing)
            yield Scheme(Rule(f"{word} while {name} @{host} {caller}", scope), make)


def _while(plain: Make, disturbing: Disturbing) -> Make:
    def make(world: World, slot: str) -> Action:
        action = plain(world, slot)
        assert isinstance(action, Call)
        return evolve(action, disturbances=(disturbing.disturbance(world, slot),))

    return make


_GROUPS: Final[dict[str, Callable[[Bounds], Iterator[Scheme]]]] = {
    "lease": _leases,
    "open": _opens,
    "reserve": _reserves,
    "commit": _commits,
    "commit-wrong": _wrong_commits,
    "attempts": _attempts,
    "renew": _renews,
    "orphan": _plain("markOrphanSuspect", "mark-orphan"),
    "release": _plain("normalRelease", "release"),
    "force": _forces,
    "maximum": _maxima,
    "read": _plain("readReservation", "read"),
    "read-command": _command_reads,
    "snapshot": _snapshots,
    "dispatch": _plain("dispatch", "dispatch"),
    "project": _project,
    "abandon": _abandons,
    "elsewhere": _elsewhere,
    "resume": _resumes,
    "forget": _forgets,
    "clock": _clocks,
    "people": _people,
    "damage": _damages,
    "epoch": _epochs,
    "temps": _temps,
    "arguments": _arguments,
    "disturbed": _disturbed,
    "close": _closes,
    "die": _deaths,
}
