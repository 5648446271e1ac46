"""The plan of the phase `exploration`: every facet explored, toured and killed along, as its table says.

Planning reads tables alone. The floors are 100% of what a profile declares: each facet explored whole, each
part of a tour taken to its end. How many transitions that is is counted, and told beside how many there are.
"""

from collections.abc import Iterator, Mapping

from model.explorer.facet import Facet
from model.values import JSON
from stateful_tests.exploring.places import FACETS, facets
from stateful_tests.results import Job, Plan, joined
from stateful_tests.system import system_named

PHASE = "exploration"


def plan_exploration(profile: str, seed: int) -> Plan:
    """The jobs of the phase. `seed` is for the failures' stories alone: nothing is drawn."""
    plans = [_plan(system, profile, seed) for system in FACETS]
    return joined(Plan((_rate(),)), *plans)


def _plan(system: str, profile: str, seed: int) -> Plan:
    prefix = system_named(system).prefix
    jobs: list[Job] = []
    floors: dict[str, int] = {}
    for facet in facets(system):
        jobs += _jobs(system, facet, profile, seed)
        if profile in facet.explored:
            floors[f"{prefix}explored/{facet.name}"] = 1
        for what, parts in (("toured", facet.toured), ("along", facet.killed)):
            if parts.get(profile):
                floors[f"{prefix}{what}/{facet.name}"] = parts[profile]
    return Plan(tuple(jobs), floors)


RATED = ("coordinator", "core")
"""The facet on which the explorer's speed is measured."""


def _rate() -> Job:
    system, facet = RATED
    params: Mapping[str, JSON] = {"system": system, "facet": facet}
    return Job(PHASE, "stateful_tests.exploring.runners:run_rate", params, 30.0)


def _jobs(system: str, facet: Facet, profile: str, seed: int) -> Iterator[Job]:
    named: Mapping[str, JSON] = {"system": system, "facet": facet.name, "profile": profile, "seed": seed}
    if profile in facet.explored:
        yield Job(PHASE, "stateful_tests.exploring.runners:run_explored", named, 40.0)
    for runner, parts in (
        ("stateful_tests.exploring.runners:run_tour", facet.toured.get(profile, 0)),
        ("crash_tests.exploring.jobs:run_kills_along", facet.killed.get(profile, 0)),
    ):
        for part in range(parts):
            of: Mapping[str, JSON] = {"part": part, "parts": parts, "depth": facet.depth.get(profile)}
            yield Job(PHASE, runner, {**named, **of}, 20.0)
