"""`Facet`: a named space with declared bounds, and what each profile of a check does with it.

Nothing but names, so that a check can be planned without the explorer being loaded: `load` does that.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

PROFILES = ("quick", "ci", "deep")


@frozen(kw_only=True)
class Facet:
    """`space` and `properties` are places (`package.module:function`): functions without arguments.

    `bounds` are for people and for results. The rest is by profile; a profile that is not named does not do
    it: `explored` are the profiles that explore it with its properties (the engine's graph is not kept),
    `toured` and `killed` give the number of jobs that walk, or kill, along all its transitions; with a
    `depth`, along those alone that leave a state of that depth at most.
    """

    name: str
    about: str
    space: str
    properties: str = ""
    bounds: Mapping[str, Any] = field(factory=dict)
    explored: tuple[str, ...] = ()
    toured: Mapping[str, int] = field(factory=dict)
    killed: Mapping[str, int] = field(factory=dict)
    depth: Mapping[str, int] = field(factory=dict)


def load(place: str) -> Callable[[], Any]:
    """The function at `place`. `ImportError` or `AttributeError` if there is none."""
    module, _, name = place.partition(":")
    found: Callable[[], Any] = getattr(importlib.import_module(module), name)
    return found
