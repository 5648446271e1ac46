"""Which world `holdtrue explore` is asked for: a facet, a facet with other bounds, or one assumption less."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from holdtrue.exits import UsageError
from holdtrue.options.exploring import BOUNDS

if TYPE_CHECKING:
    from model.explorer.facet import Facet
    from model.explorer.properties import Property
    from model.explorer.space import Space

FIRST = {"coordinator": "core", "ledger": "transact"}
SHOWN_ALONE = frozenset({"proofs-true", "files-stay"})
"""Assumptions whose loss no other facet can show: it takes untrue answers, or worlds with their past."""


@frozen
class World:
    """What is to be explored: a facet, its bounds as they are asked for, and what is asked of it."""

    name: str
    about: str
    bounds: Mapping[str, Any]
    space: "Space[Any, Any]"
    properties: "Sequence[Property[Any, Any]]"


def facets_of(system: str) -> "dict[str, Facet]":
    from stateful_tests.exploring.places import facets

    return {facet.name: facet for facet in facets(system)}


def chosen(asked: Mapping[str, Any]) -> World:
    system = asked["system"]
    facets = facets_of(system)
    changes = {each: asked[each] for each in BOUNDS if asked[each] is not None}
    if asked["drop"]:
        changes["dropped"] = frozenset(asked["drop"])
    if changes and system != "coordinator":
        options = ", ".join(f"--{'drop' if each == 'dropped' else each}" for each in changes)
        raise UsageError(f"{options}: only the coordinator's bounds can be changed; the ledger has facets")
    _known_assumptions(changes)
    if asked["facet"] is None and len(changes.get("dropped", ())) == len(changes) == 1:
        return _without(asked["drop"][0])
    name = FIRST[system] if asked["facet"] is None else asked["facet"]
    if name not in facets:
        raise UsageError(f"--facet {name!r}: the {system} has {', '.join(facets)}")
    return _bounded(facets[name], changes) if changes else _whole(facets[name])


def _whole(facet: "Facet") -> World:
    """A facet as it is declared."""
    from model.explorer.facet import load

    properties = load(facet.properties)() if facet.properties else ()
    return World(facet.name, facet.about, facet.bounds, load(facet.space)(), properties)


def _known_assumptions(changes: Mapping[str, Any]) -> None:
    from model.surroundings import ASSUMPTIONS

    unknown = sorted(set(changes.get("dropped", ())) - set(ASSUMPTIONS))
    if unknown:
        raise UsageError(f"--drop {unknown[0]!r}: the assumptions are {', '.join(ASSUMPTIONS)}")


def _without(assumption: str) -> World:
    """The small world in which the loss of one assumption shows."""
    from model.explorer.coordinator import assuming
    from model.surroundings import ASSUMPTIONS

    bounds = {"dropped": [assumption]}
    space, properties = assuming.space(assumption), assuming.properties_of(assumption)
    return World(
        f"without {assumption}", f"not assumed: {ASSUMPTIONS[assumption]}", bounds, space, properties
    )


def _bounded(facet: "Facet", changes: Mapping[str, Any]) -> World:
    """A facet of the coordinator with other bounds."""
    from model.explorer.coordinator.facets import BOUNDS as KNOWN
    from model.explorer.coordinator.properties import properties
    from model.explorer.coordinator.space import CoordinatorSpace

    alone = sorted(changes.get("dropped", frozenset()) & SHOWN_ALONE)
    if alone:
        raise UsageError(
            f"--drop {alone[0]}: shows in a world of its own only; leave out --facet, bounds and other --drop"
        )
    if facet.name not in KNOWN:
        raise UsageError(f"--facet {facet.name}: its bounds can't be changed")
    bounds = evolve(KNOWN[facet.name], **changes)
    told = {**facet.bounds, **{name: sorted(v) if name == "dropped" else v for name, v in changes.items()}}
    return World(facet.name, "with other bounds", told, CoordinatorSpace(bounds), properties(bounds))
