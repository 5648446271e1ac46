"""What the exploration of a facet finds: its size, a verdict on each property, failures and their traces.

A property that does not hold becomes a failure with its shortest trace, told in the model's own actions from
the world in which nothing has happened, so that it replays like any other.
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve, frozen

from model.explorer.facet import Facet, load
from model.explorer.findings import Exploration
from model.explorer.graph import Graph
from model.explorer.packed import explore
from model.values import JSON
from stateful_tests.exploring.places import facet_named
from stateful_tests.pair import StepRecord
from stateful_tests.results import Failure
from stateful_tests.system import System, system_named
from stateful_tests.trace import record

_KINDS: Final = {
    "Always": "always",
    "Step": "step",
    "Sometimes": "sometimes",
    "EventuallyPossible": "eventually",
}


@frozen
class Found:
    """`told` is the exploration as results have it; `complete` says whether nothing was left out."""

    complete: bool
    told: Mapping[str, JSON]
    failures: tuple[Failure, ...]


def explored(system: str, name: str) -> tuple[Any, Graph[Any, Any], Found]:
    """The space, its whole graph up to symmetry, and what was found. `LookupError` if there is no such."""
    facet = facet_named(system, name)
    space = load(facet.space)()
    properties = load(facet.properties)() if facet.properties else ()
    seen = explore(space, properties, reduce=True, edges=True)
    assert seen.graph is not None
    kinds = {each.id: _KINDS[type(each).__name__] for each in properties}
    failures = tuple(broken(space, each, facet, system_named(system)) for each in seen.violated)
    return space, seen.graph, Found(seen.complete, told(system, facet, seen, kinds), failures)


def told(system: str, facet: Facet, seen: Exploration[Any, Any], kinds: Mapping[str, str]) -> dict[str, JSON]:
    """The exploration as results have it."""
    verdicts = [each.verdict for each in seen.verdicts]
    worst = next((each for each in ("violated", "inconclusive") if each in verdicts), "holds")
    if worst == "holds" and not (seen.complete and not seen.dead):
        worst = "inconclusive"
    never = f"never could happen: {', '.join(seen.dead[:3])}" if seen.dead else ""
    return {
        "system": system,
        "space": facet.name,
        "about": facet.about,
        "bounds": dict(facet.bounds),
        "verdict": worst,
        "reason": seen.reason or never,
        "states": seen.full_states,
        "orbits": seen.states,
        "transitions": seen.full_transitions,
        "depth": seen.depth,
        "properties": [
            {
                "id": each.id,
                "sentence": each.sentence,
                "kind": kinds[each.id],
                "verdict": each.verdict,
                "detail": each.reason or f"{each.cases:,} cases",
            }
            for each in seen.verdicts
        ],
        "dead_rules": list(seen.dead),
    }


def broken(space: Any, verdict: Any, facet: Facet, system: System) -> Failure:
    """A property that the model breaks, with the shortest way to that."""
    world = system.initial({})
    records: list[StepRecord] = []

    def take(action: Any) -> None:
        nonlocal world
        world, outcome = system.step(world, action)
        records.append(StepRecord(len(records), action, outcome))

    for action in space.beginnings()[0]:
        take(action)
    for move in verdict.trace.moves if verdict.trace is not None else ():
        take(space.action(move.label, world))
    why = f"the explorer's shortest way to break {verdict.id} within the bounds of {facet.name}"
    trace = record(f"explored-{verdict.id}", why, records, system=system)
    title = f"the model breaks {verdict.id} within the bounds of {facet.name}: {verdict.sentence}"
    return Failure(evolve(trace, clause=verdict.id).to_json(), title, verdict.id, "holdtrue replay TRACE")
