"""From the first difference to something a person can read: the story made short, as a trace with its clause.

The shortened story fails as the found one did (same kind of thing, same clause, same operation); it was run.
If the failure can't be had again from its actions alone, it says so instead of shrinking: that is news, too.
"""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from stateful_tests import replay
from stateful_tests.pair import Judge, StepRecord
from stateful_tests.replay import Factory
from stateful_tests.results import Failure
from stateful_tests.shrink import shrink
from stateful_tests.system import COORDINATOR, System, system_named
from stateful_tests.trace import record

AGAIN = "Not had again by replaying its actions on a fresh store: it depends on more than them."


def failure(
    records: Sequence[StepRecord],
    *,
    seed: int,
    profile: str,
    factory: Factory | None = None,
    judge: Judge | None = None,
    budget: int = 600,
    system: System | None = None,
) -> Failure:
    """The failure at the end of `records`, shrunk within `budget` replays. The system is the coordinator,
    unless given."""
    system = system or system_named(COORDINATOR)
    found = records[-1].divergence
    assert found is not None

    def fails(actions: Sequence[Any]) -> bool:
        try:
            seen = replay.run(actions, factory=factory, judge=judge, system=system)
        except LookupError:
            return False
        last = seen[-1].divergence if seen else None
        return last is not None and last.signature == found.signature

    actions = tuple(one.action for one in records if not one.declined)
    why = f"found by seed {seed} ({profile})"
    if fails(actions):
        shortest = shrink(actions, fails, budget=budget, system=system).actions
        records = replay.run(shortest, factory=factory, judge=judge, system=system)
    else:
        why = f"{why}. {AGAIN}"
    name = f"{found.name}-{found.kind}"
    trace = record(name, why, records, seed=seed, profile=profile, system=system)
    shown = records[-1].divergence or found
    trace = evolve(trace, divergence=shown.to_json(), clause=shown.clause)
    return Failure(trace.to_json(), shown.title, shown.clause, "holdtrue replay TRACE")
