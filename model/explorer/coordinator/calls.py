"""Rules for calls of an open store: each operation, by each caller at each host; odd and disturbed ones too.

What is relative in a call, an admission's sequence number, is worked out from the world.
"""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import evolve

from model.actions import Action, Call
from model.explorer.coordinator.arguing import odd, oddities
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.disturbing import DISTURBANCES, Disturbing
from model.explorer.coordinator.naming import (
    CONTEXTS,
    attempt_id,
    binding,
    command_id,
    host_name,
    job_handle,
    reason,
)
from model.explorer.coordinator.schemes import Make, Scheme, call, command_word, places, run_word, scheme
from model.explorer.space import Rule, Scope
from model.surroundings import fact_of
from model.values import JSON, World


def reserves(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in places(bounds):
        for run in range(bounds.runs):
            for ttl in bounds.ttls:
                length = f" for {ttl} ms" if len(bounds.ttls) > 1 else ""
                make = _reserve(host, caller, run, ttl)
                yield scheme(f"reserve {run_word(run)}{length} {end}", "call", f"capacity {host}", make)


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
    """The sequence that a caller knows of: the ledger's, or else the row's, or else the one to come."""
    fact = fact_of(world, slot)
    if fact is not None and fact.kind == "admitted":
        return fact.commit_seq
    rows = world.store.rows if world.store is not None else ()
    found = [row.project_admit_commit_seq for row in rows if row.reservation_id == slot]
    return (found[0] if found else None) or world.project_seq + 1


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


def commits(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in places(bounds):
        yield scheme(f"commit {end}", "call", host, _commit(host, caller, 0, None, None))


def wrong_commits(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in places(bounds):
        make = _commit(host, caller, _WRONG, None, None)
        yield scheme(f"commit another-admission {end}", "call", host, make)


_VALUES: Final = (
    ("attempt-1", 0, None),
    ("attempt-2", 1, None),
    ("job-1", None, 0),
    ("attempt-1 job-1", 0, 0),
)


def attempts(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in places(bounds):
        for word, attempt, job in (*_VALUES, ("job-2", None, 1), ("attempt-2 job-1", 1, 0)):
            make = _commit(host, caller, 0, attempt, job)
            yield scheme(f"commit {word} {end}", "call", host, make)


def renews(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in places(bounds):
        for ttl in bounds.ttls:
            length = f" for {ttl} ms" if len(bounds.ttls) > 1 else ""
            make = call(host, caller, "renew", {"ttlMs": ttl})
            yield scheme(f"renew{length} {end}", "call", host, make)
        yield scheme(f"renew without-ttl {end}", "call", host, call(host, caller, "renew"))


def plain(operation: str, word: str) -> Callable[[Bounds], Iterator[Scheme]]:
    def make(bounds: Bounds) -> Iterator[Scheme]:
        for host, caller, end in places(bounds):
            yield scheme(f"{word} {end}", "call", host, call(host, caller, operation))

    return make


def snapshots(bounds: Bounds) -> Iterator[Scheme]:
    for host, caller, end in places(bounds):
        yield scheme(f"snapshot {end}", "whole", host, call(host, caller, "snapshot"))


def forces(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        host = host_name(number)
        for caller in bounds.operators:
            for command in range(bounds.commands):
                for why in range(bounds.reasons):
                    more: dict[str, JSON] = {"commandId": command_id(command), "reason": reason(why)}
                    because = f" reason-{why + 1}" if bounds.reasons > 1 else ""
                    yield scheme(
                        f"force-release {command_word(command)}{because} @{host} {caller}",
                        "call",
                        f"commands {host}",
                        call(host, caller, "forceRelease", {**more, "riskAcknowledgement": True}),
                    )


def maxima(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        host = host_name(number)
        for caller in bounds.operators:
            for command in range(bounds.commands):
                for many in bounds.maxima:
                    more: dict[str, JSON] = {"commandId": command_id(command), "maxActiveRuns": many}
                    yield scheme(
                        f"set-maximum {many} {command_word(command)} @{host} {caller}",
                        "whole",
                        f"commands {host}",
                        call(host, caller, "setMaxActiveRuns", more),
                    )


def command_reads(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        host = host_name(number)
        for caller in bounds.operators:
            for command in range(bounds.commands):
                make = call(host, caller, "readCommand", {"id": command_id(command)})
                name = f"read-command {command_word(command)} @{host} {caller}"
                yield scheme(name, "whole", f"commands {host}", make)


def arguments(bounds: Bounds) -> Iterator[Scheme]:
    """By somebody who may do everything, so that nothing else is in the way."""
    for word, operation, name, value in oddities():
        make = _odd(bounds.callers[0], operation, name, value)
        yield scheme(f"odd {word}", "call", "", make)


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


def disturbed(bounds: Bounds) -> Iterator[Scheme]:
    """Calls in the middle of which something happens; by alice, at the first host."""
    host, caller = host_name(0), CONTEXTS[0]
    for name in bounds.disturbed:
        disturbing = DISTURBANCES[name]
        for word in disturbing.operations:
            operation, scope = _DISTURBABLE[word]
            plain = call(host, caller, operation)
            if word == "reserve":
                plain = _reserve(host, caller, 0, bounds.ttls[0])
            elif word == "commit":
                plain = _commit(host, caller, 0, None, None)
            elif word == "renew":
                plain = call(host, caller, operation, {"ttlMs": bounds.ttls[0]})
            make = _while(plain, disturbing)
            yield Scheme(Rule(f"{word} while {name} @{host} {caller}", scope), make)


def _while(plain: Make, disturbing: Disturbing) -> Make:
    def make(world: World, slot: str) -> Action:
        action = plain(world, slot)
        assert isinstance(action, Call)
        return evolve(action, disturbances=(disturbing.disturbance(world, slot),))

    return make
