"""The phases of a check, in their order, and where their plans come from.

A plan is asked for by name and only when its phase is wanted, so that the front door starts without the
checks. Tests pass phases of their own to `holdtrue.check.check`.
"""

import importlib
from collections.abc import Callable

from attrs import frozen

from stateful_tests.results import Plan

Planner = Callable[[str, int], Plan]
"""(profile, seed) to the phase's plan; cheap, since it runs in the front door's own process."""


@frozen
class Phase:
    name: str
    about: str
    plan: Planner


def _at(where: str) -> Planner:
    module, _, name = where.partition(":")

    def plan(profile: str, seed: int) -> Plan:
        planner: Planner = getattr(importlib.import_module(module), name)
        return planner(profile, seed)

    return plan


PHASES: tuple[Phase, ...] = (
    Phase("corpus", "pinned traces, replayed", _at("stateful_tests.jobs:plan_corpus")),
    Phase(
        "conformance", "model against store, action by action", _at("stateful_tests.jobs:plan_conformance")
    ),
    Phase("kills", "the store killed at every marked point", _at("crash_tests.jobs:plan_kills")),
    Phase(
        "exploration",
        "small worlds, every state and transition",
        _at("stateful_tests.exploring.jobs:plan_exploration"),
    ),
    Phase("invariants", "what must always be true of the model", _at("stateful_tests.jobs:plan_invariants")),
)
OF_A_TARGET = ("corpus", "conformance", "kills")
"""The names of the phases of a check of a target; their plans are `holdtrue.aimed`'s."""
