"""Runs the Hypothesis machine: settings, seed, and the shortest failing story that was seen.

A difference fails the example; its story is kept here, so that nothing depends on Hypothesis' database or
blobs. Shrinking is left to `stateful_tests.shrink`: Hypothesis' own took ten times as long as finding. The
same seed sees the same, also where `CI` is set.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.reporting import with_reporter
from hypothesis.stateful import run_state_machine_as_test

from stateful_tests.pair import DivergedError, Judge, Subject
from stateful_tests.replay import workspace
from stateful_tests.rules import StoreMachine
from stateful_tests.system import system_named
from stateful_tests.walker import Example, Seen


def machine_class(
    root: Path,
    seen: Seen,
    *,
    judge: Judge | None = None,
    target_class: Callable[[Path], Subject] | None = None,
    rules: type[Example] = StoreMachine,
) -> type[Example]:
    """The machine with its stores below `root` and what it sees in `seen`."""
    names = {
        "root": root,
        "seen": seen,
        "judge": staticmethod(judge) if judge else None,
        "target_class": staticmethod(target_class) if target_class else None,
    }
    return type(rules.__name__, (rules,), names)


def run(
    seed_value: int,
    *,
    examples: int,
    steps: int,
    judge: Judge | None = None,
    target_class: Callable[[Path], Subject] | None = None,
    rules: type[Example] = StoreMachine,
) -> Seen:
    """Runs `examples` examples of at most `steps` rules each; the same seed sees the same."""
    seen = Seen(system_named(rules.system_name).coverage())
    # Hypothesis would print a failing example's steps, as a program of its own; ours are in the trace.
    with with_reporter(lambda _text: None), workspace() as root:
        machine = machine_class(root, seen, judge=judge, target_class=target_class, rules=rules)
        with contextlib.suppress(DivergedError):
            run_state_machine_as_test(seed(seed_value)(machine), settings=_settings(examples, steps))
    return seen


def _settings(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        # CI=1 would set both, and then ignore the seed.
        derandomize=False,
        database=None,
        # Finding is Hypothesis' part; replaying and shrinking are ours.
        phases=(Phase.generate,),
        # A store does real fsyncs, next to other jobs: no example has a time to keep.
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=(
            # Generation is slow by Hypothesis' measure because the store is run, not because of filters.
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
        ),
    )
