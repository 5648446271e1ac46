"""The plans of a check of a target: pinned traces and conformance. (`crash_tests.wire.jobs` plans its kills.)

A plan is a function of profile, seed, the aim, and what the target says that it can do: a floor stands only
for what it can be brought to. Planning starts nothing.
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from model.values import JSON
from stateful_tests import floors, pinned
from stateful_tests.results import Job, Plan
from stateful_tests.system import COORDINATOR
from stateful_tests.wire.capabilities import Capabilities
from stateful_tests.wire.reach import Reach
from stateful_tests.wire.runners import Aim, out_of_reach

_RUNNERS: Final = "stateful_tests.wire.runners"
_RARE: Final = {
    *("rule/open/COMMAND_FAILED", "rule/open/DURABILITY_FAILED", "rule/readEpoch/DURABILITY_FAILED"),
    *(f"rule/{name}/DURABILITY_FAILED" for name in ("readReservation", "readCommand", "snapshot")),
    "rule/forceRelease/DURABILITY_FAILED",
}
"""Outcomes that need damage to the files or a rare coincidence: seen as they come, not counted on."""
_OF_FILES: Final = ("putBack", "leaveTemp", "damage", "mend")


@frozen
class Budget:
    """How much a profile does, in counts. `least` is the floor of every key."""

    jobs: int
    walks: int
    steps: int
    least: int


BUDGETS: Final[Mapping[str, Budget]] = {
    "quick": Budget(8, 25, 150, 1),
    "ci": Budget(16, 60, 150, 3),
    "deep": Budget(96, 120, 150, 10),
}


def plan_corpus(profile: str, seed: int, *, aim: Aim, capabilities: Capabilities) -> Plan:
    """The coordinator's pinned traces, in two jobs. Those beyond the target's reach have no floor."""
    reach = Reach(capabilities, aim.policy)
    names = pinned.names(COORDINATOR)
    jobs: list[Job] = []
    for start in (0, 1):
        half: list[JSON] = list(names[start::2])
        jobs.append(_job("corpus", "run_corpus", profile, seed, aim, len(half), names=half))
    within = [name for name in names if out_of_reach(pinned.pinned(name), reach) is None]
    return Plan(tuple(jobs), {f"corpus/{name}": 1 for name in within})


def plan_conformance(profile: str, seed: int, *, aim: Aim, capabilities: Capabilities) -> Plan:
    """Random walks with tours."""
    budget = BUDGETS[profile]
    size: dict[str, JSON] = {"walks": budget.walks, "steps": budget.steps}
    jobs = [
        _job("conformance", "run_walks", profile, seed, aim, budget.walks, number=number, **size)
        for number in range(budget.jobs)
    ]
    return Plan(tuple(jobs), conformance_floors(aim, capabilities, budget.least))


def conformance_floors(aim: Aim, can: Capabilities, least: int) -> dict[str, int]:
    """Those of a conformance run in process, as far as the target reaches."""
    missing = {one.operation for one in aim.policy.missing}
    keys = {
        f"rule/{name}/{outcome}"
        for name, outcomes in floors.OUTCOMES.items()
        for outcome in outcomes
        if name not in missing and name not in _OF_FILES and (can.read_epoch or name != "readEpoch")
    } - _RARE
    dispatch = set() if "dispatch" not in missing else {"prepare", "activation"}
    for moment in can.moments - dispatch - ({"read_release"} if "normalRelease" in missing else set()):
        if moment == "abandon_admission_if_absent" and can.arbitration == "never":
            continue
        possible = can.effects & {"happens"} if moment == "rename" else can.effects
        keys |= {f"moment/{moment}/{effect}" for effect in possible}
    keys |= {f"hosts/{count}" for count in ((1, 2) if can.hosts == "many" else (1,))}
    return dict.fromkeys(sorted(keys), least)


def _job(phase: str, runner: str, profile: str, seed: int, aim: Aim, weight: float, **params: Any) -> Job:
    every = {"profile": profile, "seed": seed, **aim.to_json()}
    return Job(phase, f"{_RUNNERS}:{runner}", {**every, **params}, weight)
