"""Each facet's space and properties, by name: `lifecycle()` and `properties_of_lifecycle()`, and so on.

The names are those of `facets.BOUNDS`, so they need not be told twice.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from model.explorer.coordinator.facets import BOUNDS
from model.explorer.coordinator.properties import Properties, properties
from model.explorer.coordinator.space import CoordinatorSpace

_PROPERTIES = "properties_of_"


def space(name: str) -> CoordinatorSpace:
    return CoordinatorSpace(BOUNDS[name])


def properties_of(name: str) -> Properties:
    return properties(BOUNDS[name])


def __getattr__(name: str) -> Callable[[], Any]:
    if name in BOUNDS:
        return partial(space, name)
    if name.removeprefix(_PROPERTIES) in BOUNDS:
        return partial(properties_of, name.removeprefix(_PROPERTIES))
    raise AttributeError(f"there is no facet {name!r}: there are {', '.join(BOUNDS)}")
