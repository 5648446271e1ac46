"""The rules of a facet: `Bounds.groups` names groups of them, and here is what each group holds."""

from collections.abc import Callable, Iterator
from typing import Final

from model.explorer.coordinator import calls, events
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.schemes import Scheme

_GROUPS: Final[dict[str, Callable[[Bounds], Iterator[Scheme]]]] = {
    "lease": events.leases,
    "open": events.opens,
    "reserve": calls.reserves,
    "commit": calls.commits,
    "commit-wrong": calls.wrong_commits,
    "attempts": calls.attempts,
    "renew": calls.renews,
    "orphan": calls.plain("markOrphanSuspect", "mark-orphan"),
    "release": calls.plain("normalRelease", "release"),
    "force": calls.forces,
    "maximum": calls.maxima,
    "read": calls.plain("readReservation", "read"),
    "read-command": calls.command_reads,
    "snapshot": calls.snapshots,
    "dispatch": calls.plain("dispatch", "dispatch"),
    "project": events.project,
    "abandon": events.abandons,
    "elsewhere": events.elsewhere,
    "resume": events.resumes,
    "forget": events.forgets,
    "clock": events.clocks,
    "people": events.people,
    "damage": events.damages,
    "epoch": events.epochs,
    "temps": events.temps,
    "arguments": calls.arguments,
    "disturbed": calls.disturbed,
    "close": events.closes,
    "die": events.deaths,
}


_WITHOUT: Final = {"admits-under-grant": "elsewhere", "facts-survive": "forget", "parked-stays": "resume"}
"""What happens only where an assumption is dropped."""


def schemes(bounds: Bounds) -> Iterator[Scheme]:
    """All rules of the facet; the order is that in which they are tried."""
    groups = bounds.groups | {_WITHOUT[name] for name in bounds.dropped if name in _WITHOUT}
    for group, make in _GROUPS.items():
        if group in groups:
            yield from make(bounds)
