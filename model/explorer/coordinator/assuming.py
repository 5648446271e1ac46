"""What true capacity takes for granted, one assumption at a time: small bounds in which its loss shows.

With the assumption dropped, exploring ends in a shortest violation of true capacity; with it, in none.
Putting an earlier state back needs the past, so `files-stay` is explored over whole worlds.
"""

from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve

from model.explorer import packed
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.facets import SLOT_COMES_BACK
from model.explorer.coordinator.properties import properties
from model.explorer.coordinator.raw import TRUE_CAPACITY, RawSpace
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.findings import Exploration
from model.explorer.properties import Property
from model.explorer.space import Space
from model.invariants import INVARIANTS
from model.surroundings import ASSUMPTIONS

_GROUPS: Final = frozenset({"reserve", "commit", "release", "snapshot", "project", "clock"})
_UNTESTED: Final = frozenset({each.id for each in INVARIANTS} | {SLOT_COMES_BACK})

BOUNDS: Final[dict[str, Bounds]] = {
    "admits-under-grant": Bounds(groups=_GROUPS | {"elsewhere"}, untested=_UNTESTED),
    "admits-once": Bounds(groups=_GROUPS, untested=_UNTESTED),
    "abandon-is-final": Bounds(groups=_GROUPS, untested=_UNTESTED),
    "facts-survive": Bounds(groups=_GROUPS | {"forget"}, untested=_UNTESTED),
    "proofs-true": Bounds(
        groups=_GROUPS | {"disturbed"}, disturbed=("proof whole", "admission abandoned"), untested=_UNTESTED
    ),
    "parked-stays": Bounds(groups=_GROUPS | {"resume"}, untested=_UNTESTED),
    "files-stay": Bounds(groups=frozenset({"open", "close", "reserve", "project", "commit"}), stages=()),
}
assert BOUNDS.keys() == ASSUMPTIONS.keys()


def space(name: str, *, dropped: bool = True) -> Space[Any, Any]:
    """The bounds of assumption `name`, without it or with it."""
    kept = CoordinatorSpace(evolve(BOUNDS[name], dropped=frozenset({name} if dropped else ())))
    return RawSpace(kept, publications=3, put_back=True) if name == "files-stay" else kept


def properties_of(name: str) -> Sequence[Property[Any, Any]]:
    """What is asked of that space."""
    return (TRUE_CAPACITY,) if name == "files-stay" else properties(BOUNDS[name])


def exploration(name: str, *, dropped: bool) -> Exploration[Any, Any]:
    """What comes of it. Graphs are kept."""
    return packed.explore(space(name, dropped=dropped), properties_of(name), edges=True)
