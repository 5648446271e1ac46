"""`python -m stateful_tests.stories`: runs every story and writes the pinned corpus from those that hold.

A story whose refusals are not those that its author wrote down, or on which model and store differ, is
reported and not written, and the exit code is 1. Files that no story tells are named and left: they were
pinned by hand, or are of a story that is told no longer, which only a person can know.
"""

import sys
from pathlib import Path

from attrs import evolve

from stateful_tests import pinned
from stateful_tests.gated.stories import receipts, recovery, retries, transactions
from stateful_tests.pair import StepRecord
from stateful_tests.replay import run
from stateful_tests.stories import (
    Story,
    acceptance,
    fixes,
    guards,
    halves,
    interruptions,
    rechecks,
    releases,
    rollbacks,
)
from stateful_tests.system import system_named
from stateful_tests.trace import record, save

STORIES: tuple[Story, ...] = (
    *fixes.STORIES,
    *rollbacks.STORIES,
    *guards.STORIES,
    *releases.STORIES,
    *acceptance.STORIES,
    *interruptions.STORIES,
    *rechecks.STORIES,
    *halves.STORIES,
    *transactions.STORIES,
    *receipts.STORIES,
    *recovery.STORIES,
    *retries.STORIES,
)


def tell(one: Story) -> tuple[tuple[StepRecord, ...], str | None]:
    """Runs a story: what was seen, and what is wrong with it, if anything."""
    system = system_named(one.system)
    actions = [step[1] if isinstance(step, tuple) else step for step in one.steps]
    records = run(actions, judge=system.judge, system=system)
    for step, seen in zip(one.steps, records, strict=False):
        if seen.divergence is not None:
            return records, f"step {seen.index}: {seen.divergence.title}"
        told, outcome = step[0] if isinstance(step, tuple) else "accepted", system.outcome_name(seen.expected)
        if told != outcome:
            return records, f"step {seen.index}: the author says {told}, the model {outcome}"
    # What stood on disk is for a failure's reader, and comes anew whenever a trace is replayed.
    return tuple(evolve(seen, disk=None) for seen in records), None


def main(directory: Path) -> int:
    wrong = 0
    names = {one.name for one in STORIES}
    assert len(names) == len(STORIES), "two stories of one name"
    for one in STORIES:
        records, problem = tell(one)
        if problem is None:
            save(
                record(one.name, one.why, records, system=system_named(one.system)),
                directory / f"{one.name}.json",
            )
        else:
            wrong += 1
            print(f"{one.name}: {problem}", file=sys.stderr)
    for untold in sorted(path.name for path in directory.glob("*.json") if path.stem not in names):
        print(f"{untold}: no story tells it; remove it yourself if it was not pinned by hand")
    print(f"{len(STORIES) - wrong} stories written to {directory.name}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pinned.DIRECTORY))
