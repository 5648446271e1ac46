"""Two more facets of the coordinator, told by worlds: files put back under open hosts, each damage alone.

What matters in the first is not what the states say but which of them each host has seen last (C4); in the
second, which of the damages stands. Neither fits slots and tables, and both are small.
"""

from collections.abc import Hashable
from typing import Any, Final

from model.actions import DAMAGES, Action, Call, Close, Damage, Mend, Open, PutBack, ReadEpoch, SetLease
from model.drawing import an_id
from model.explorer.facet import Facet
from model.values import JSON, Store, World
from stateful_tests.exploring.told import Makes, ToldSpace
from stateful_tests.system import COORDINATOR, system_named

_HERE: Final = "stateful_tests.exploring.corners"
_MOST: Final = 4
"""Publications in a story of states put back: the first, two of one past, and one of another."""

_LEASE: Final[JSON] = {
    "holderId": "alpha", "fencingEpoch": 1, "endpoint": "unix:explored", "expiresAt": 10**13,
}  # fmt: skip

FACETS: Final = (
    Facet(
        name="damages",
        about="each way of damaging the files, alone, under an open host and before an opening",
        space=f"{_HERE}:damages",
        bounds={"damages": list(DAMAGES), "at once": 1},
        explored=("quick", "ci", "deep"),
        toured={"quick": 1, "ci": 1, "deep": 1},
    ),
    Facet(
        name="rollback",
        about="states put back under two hosts: older, of the same number, later but of another past",
        space=f"{_HERE}:rollback",
        bounds={"hosts": 2, "publications": _MOST},
        explored=("ci", "deep"),
        toured={"ci": 1, "deep": 1},
    ),
)


def damages() -> ToldSpace:
    """A store that was opened and has granted one reservation or none, with one damage at most."""
    alphabet: dict[str, Makes] = {"lease": _always(SetLease(_LEASE))}
    for kind in DAMAGES:
        alphabet[f"damage {kind}"] = _damage(kind)
        alphabet[f"mend {kind}"] = _mend(kind)
    alphabet |= {
        "reserve": lambda world: None if _rows(world) else _reserve("a", 1),
        "reserve again": lambda world: _reserve("a", 1) if _rows(world) else None,
        "snapshot": _always(Call("a", "alice", "snapshot")),
        "read epoch": _always(ReadEpoch()),
        "open": _always(_open("a")),
        "open another": _always(_open("b")),
        "close another": _close("b"),
    }
    beginning = (SetLease(_LEASE), _open("a"))
    return ToldSpace(system_named(COORDINATOR), alphabet, _by_damage, (beginning,))


def rollback() -> ToldSpace:
    """Two hosts that write in turns, and somebody who puts an earlier state back."""
    alphabet: dict[str, Makes] = {}
    for host in ("a", "b"):
        alphabet |= {
            f"reserve @{host}": _reserve_next(host),
            f"snapshot @{host}": _always(Call(host, "alice", "snapshot")),
            f"open @{host}": _always(_open(host)),
            f"close @{host}": _close(host),
        }
    alphabet |= {
        "put the first back": lambda world: _put_back(world, 0),
        "put the last but one back": lambda world: _put_back(world, len(world.earlier) - 2),
    }
    beginning = (SetLease(_LEASE), _open("a"), _open("b"))
    return ToldSpace(system_named(COORDINATOR), alphabet, _by_sight, (beginning,))


def _by_damage(world: World) -> Hashable:
    hosts = tuple(sorted((host.name, host.is_open) for host in world.hosts))
    return (len(_rows(world)), hosts, world.damage)


def _by_sight(world: World) -> Hashable:
    """Which state stands there, and which each host has seen last, as numbers of publications.

    Equal states have equal numbers, so what has come of one past can be told from what has come of another.
    """
    numbers = {id(store): number for number, store in reversed(list(enumerate(world.earlier)))}

    def number(store: Store | None) -> int | None:
        if store is None:
            return None
        return numbers[id(store)] if id(store) in numbers else world.earlier.index(store)

    pasts = tuple(tuple(row.reservation_id[-1] for row in store.rows) for store in world.earlier)
    hosts = tuple(sorted((host.name, host.is_open, number(host.seen)) for host in world.hosts))
    return (number(world.store), hosts, pasts, bool(world.broken))


def _rows(world: World) -> tuple[Any, ...]:
    return () if world.store is None else world.store.rows


def _always(action: Action) -> Makes:
    return lambda _: action


def _damage(kind: str) -> Makes:
    return lambda world: None if world.damage else Damage(kind)


def _mend(kind: str) -> Makes:
    return lambda world: Mend(kind) if kind in world.damage else None


def _put_back(world: World, index: int) -> Action | None:
    """Once the latest state is in place, and not the one that would be put there."""
    latest = len(world.earlier) - 1
    return PutBack(index) if 0 <= index < latest and world.store == world.earlier[latest] else None


def _close(host: str) -> Makes:
    def makes(world: World) -> Action | None:
        return Close(host) if any(one.name == host and one.is_open for one in world.hosts) else None

    return makes


def _reserve_next(host: str) -> Makes:
    """One more reservation, of another id than any before it."""
    return lambda world: _reserve(host, len(world.earlier)) if len(world.earlier) < _MOST else None


def _open(host: str) -> Open:
    return Open(host, "alpha", 1, 9)


def _reserve(host: str, number: int) -> Call:
    arguments: dict[str, JSON] = {
        "reservationId": an_id(0xA, number),
        "projectId": an_id(0xB, 1),
        "projectControlDomainId": an_id(0xD, 1),
        "runId": an_id(0xE, number),
        "ttlMs": 60_000,
    }
    return Call(host, "alice", "reserve", arguments)
