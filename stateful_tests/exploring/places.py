"""What each system has to be explored and toured: its facets, and how one goes back in its store.

Names alone: nothing is imported before it is asked for, so that planning is cheap.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from model.explorer.facet import Facet
from stateful_tests.system import COORDINATOR

LEDGER: Final = "ledger"
FACETS: Final[Mapping[str, tuple[str, ...]]] = {
    COORDINATOR: ("model.explorer.coordinator.facets:FACETS", "stateful_tests.exploring.corners:FACETS"),
    LEDGER: ("model.gated.explorer.names:FACETS",),
}
REWINDERS: Final[Mapping[str, str]] = {
    COORDINATOR: "stateful_tests.exploring.rewind:StoreRewinder",
    LEDGER: "stateful_tests.gated.rewind:LedgerRewinder",
}


def _at(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def facets(system: str) -> tuple[Facet, ...]:
    """The facets of `system`, those of one table after those of the other; the smallest first in each."""
    return tuple(facet for place in FACETS[system] for facet in _at(place))


def facet_named(system: str, name: str) -> Facet:
    """`LookupError` if the system has no such facet."""
    for facet in facets(system):
        if facet.name == name:
            return facet
    raise LookupError(
        f"{system} has no facet {name!r}; known are {', '.join(f.name for f in facets(system))}"
    )


def rewinder(system: str) -> Callable[[Any], Any]:
    """Makes the rewinder of a target of `system`."""
    found: Callable[[Any], Any] = _at(REWINDERS[system])
    return found
