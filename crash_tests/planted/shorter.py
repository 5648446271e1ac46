"""How long a failure's trace is, and the same failure with a shorter trace.

Shortening is `stateful_tests.shrink` on both kinds of trace; what is left was run, and fails by the same
rule. Random walks come shortened already. Races can't be shortened: no order of processes can be forced.
"""

import time
from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve

from crash_tests.children import HarnessError
from crash_tests.oracle import Violation
from crash_tests.stories import Story, story_from_json, tell
from model import invariants
from model.actions import Action
from model.values import JSON
from stateful_tests import replay
from stateful_tests.failures import failure
from stateful_tests.results import Failure
from stateful_tests.shrink import shrink
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
        return found if trace.get("trial") == "race" else _story(story_from_json(trace)).failure()
    told = from_json(trace)
    started = time.monotonic()
    records = replay.run(told.actions, world=told.world(), judge=invariants.check)
    budget = min(BUDGET, int(BUDGET_S / (time.monotonic() - started)))
    if not records or records[-1].divergence is None or not budget:
        return found
    return failure(
        records, seed=told.seed or 0, profile=told.profile or "", judge=invariants.check, budget=budget
    )


def _story(story: Story) -> Story:
    wanted = story.violation.clause
    story = _cut(story)

    def of(history: Sequence[Action]) -> Story:
        return evolve(story, scenario=evolve(story.scenario, history=tuple(history)))

    def fails(history: Sequence[Action]) -> bool:
        found = _tell(of(history))
        return found is not None and found.clause == wanted

    if story.scenario.broken_off is None and fails(story.scenario.history):
        story = of(shrink(story.scenario.history, fails, budget=STORIES).actions)
    found = _tell(story)
    return story if found is None else evolve(story, violation=found)


def _cut(story: Story) -> Story:
    """Without what was to happen after the violation."""
    return evolve(story, after=story.after[: story.violation.action + 1])


def _tell(story: Story) -> Violation | None:
    """What is wrong when `story` happens; `None` also where it makes no sense."""
    try:
        found = tell(story)
    except (HarnessError, LookupError):
        return None
    return found if isinstance(found, Violation) else None
