"""How long a failure's trace is, and the same failure with a shorter trace.

As for the coordinator (`crash_tests.planted.shorter`): the checks' own shrinker, on pinned traces and on
stories of kills and failing steps. Random walks come shortened already; races can't be. What was tampered
with is a history, one change, and the opening after it.
"""

import time
from typing import Any

from crash_tests import shorten
from crash_tests.gated.stories import story_from_json
from crash_tests.planted.shorter import BUDGET, BUDGET_S, STORIES
from model.values import JSON
from stateful_tests import replay
from stateful_tests.failures import failure
from stateful_tests.gated.system import SYSTEM
from stateful_tests.results import Failure
from stateful_tests.trace import from_json


def length_of(trace: JSON) -> int:
    """The number of actions in a trace; each kill, and each step that fails, counts as one more."""
    assert isinstance(trace, dict)
    if trace.get("kind") != "kill":
        return len(from_json(trace).steps)
    if trace.get("trial") not in shorten.TOLD_AS_A_STORY:
        told: Any = trace.get("history", trace.get("steps", []))
        return len(told) + (2 if "change" in trace else 0)
    story = story_from_json(trace)
    during = sum(len(killed.during) for killed in story.kills[1:])
    struck = len(story.kills) + (story.fault is not None)
    scenario = story.scenario
    return (
        len(scenario.history) + len(scenario.warm) + len(scenario.flight) + during + len(story.after) + struck
    )


def shortened(found: Failure) -> Failure:
    """`found`, with a shorter trace if there is one."""
    trace = found.trace
    assert isinstance(trace, dict)
    if trace.get("kind") == "kill":
        if trace.get("trial") not in shorten.TOLD_AS_A_STORY:
            return found
        shorter = shorten.shortened(trace, tries=STORIES)
        return found if shorter is None else shorter.story.failure()
    told = from_json(trace)
    started = time.monotonic()
    records = replay.run(told.actions, judge=SYSTEM.judge, system=SYSTEM)
    budget = min(BUDGET, int(BUDGET_S / (time.monotonic() - started)))
    if not records or records[-1].divergence is None or not budget:
        return found
    return failure(
        records,
        seed=told.seed or 0,
        profile=told.profile or "",
        judge=SYSTEM.judge,
        budget=budget,
        system=SYSTEM,
    )
