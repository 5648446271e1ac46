"""What true capacity takes for granted, one assumption at a time: small bounds in which its loss shows.

With the assumption dropped, exploring ends in a shortest violation of true capacity; with it, in none.
Putting an earlier state back needs the past, so `files-stay` is explored over whole worlds.
"""

from typing import Any, Final

from attrs import evolve

from model.explorer import packed, reference
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.facets import SLOT_COMES_BACK
from model.explorer.coordinator.properties import properties
from model.explorer.coordinator.raw import TRUE_CAPACITY, RawSpace
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.findings import Exploration
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


def exploration(name: str, *, dropped: bool) -> Exploration[Any, Any]:
    """What comes of exploring the bounds of assumption `name`, with or without it."""
    space = CoordinatorSpace(evolve(BOUNDS[name], dropped=frozenset({name} if dropped else ())))
    if name == "files-stay":
        return reference.explore(RawSpace(space, publications=3, put_back=True), [TRUE_CAPACITY])
    return packed.explore(space, properties(space.bounds))
