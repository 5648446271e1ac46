"""How long a failure's trace is, and the same failure with a shorter trace.

Shortening is `stateful_tests.shrink` on pinned traces, and `crash_tests.shorten` on stories of kills; what is
left was run, and fails by the same rule. Random walks come shortened already. Races can't be shortened: no
order of processes can be forced.
"""

import time
from typing import Any, Final

from crash_tests import shorten
from crash_tests.stories import story_from_json
from model import invariants
from model.values import JSON
from stateful_tests import replay
from stateful_tests.failures import failure
from stateful_tests.results import Failure
from stateful_tests.trace import from_json

BUDGET: Final = 150
"""How often a pinned trace is replayed at most while it is being shortened."""
BUDGET_S: Final = 3.0
"""How long that may take, about: a store that hangs takes seconds each time."""
STORIES: Final = 60
"""How often a story of kills is performed at most: each takes several processes."""


def length_of(trace: JSON) -> int:
    """The number of actions in a trace; each kill, and each disk step that fails, counts as one more."""
    assert isinstance(trace, dict)
    if trace.get("kind") != "kill":
        return len(from_json(trace).steps)
    if trace.get("trial") == "race":
        steps: Any = trace.get("steps", [])
        return len(steps)
    story = story_from_json(trace)
    during = sum(len(killed.during) for killed in story.kills[1:])
    scenario = story.scenario
    struck = len(story.kills) + (story.fault is not None) + (scenario.broken_off is not None)
    return len(scenario.history) + len(scenario.flight) + during + len(story.after) + struck


def shortened(found: Failure) -> Failure:
    """`found`, with a shorter trace if there is one."""
    trace = found.trace
    assert isinstance(trace, dict)
    if trace.get("kind") == "kill":
        return found if trace.get("trial") == "race" else _story(found)
    told = from_json(trace)
    started = time.monotonic()
    records = replay.run(told.actions, world=told.world(), judge=invariants.check)
    budget = min(BUDGET, int(BUDGET_S / (time.monotonic() - started)))
    if not records or records[-1].divergence is None or not budget:
        return found
    return failure(
        records, seed=told.seed or 0, profile=told.profile or "", judge=invariants.check, budget=budget
    )


def _story(found: Failure) -> Failure:
    assert isinstance(found.trace, dict)
    shorter = shorten.shortened(found.trace, tries=STORIES)
    return found if shorter is None else shorter.story.failure()
