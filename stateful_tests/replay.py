"""Replays a trace against model and store, without Hypothesis, and says how it stands today.

- `fixed`: every step is as the model says, and the model says what was recorded.
- `failing`: the recorded divergence happens again, at the same step.
- `drifted`: something else than recorded happened first: the model expects something else now, or model and
  store differ elsewhere, or an action makes no sense any more. `index` is the step.

It doesn't decide whether drift is good: a changed rule drifts too.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from attrs import frozen

from model import invariants
from model.actions import Action
from model.forms import outcome_to_json
from model.values import World
from stateful_tests.compare import differences
from stateful_tests.lockstep import Divergence, Judge, Lockstep, StepRecord
from stateful_tests.target import StoreTarget, Target
from stateful_tests.trace import Trace

Factory = Callable[[Path], Target]
"""Makes a target for a store in the given (not yet existing) directory."""


@frozen
class ReplayResult:
    """How a trace stands: `status`, at which step, why in one sentence, and all that was seen."""

    status: Literal["fixed", "failing", "drifted"]
    index: int | None
    sentence: str
    records: tuple[StepRecord, ...]

    @property
    def divergence(self) -> Divergence | None:
        return self.records[-1].divergence if self.records else None


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """A private directory, gone afterwards: below `TMPDIR` if that is set, else in RAM if that can be."""
    shared = Path("/dev/shm")
    in_ram = "TMPDIR" not in os.environ and shared.is_dir() and os.access(shared, os.W_OK)
    root = Path(tempfile.mkdtemp(prefix="holdtrue-", dir=shared if in_ram else None))
    try:
        yield root
    finally:
        shutil.rmtree(root)


def run(
    actions: Iterable[Action],
    *,
    world: World | None = None,
    factory: Factory = StoreTarget,
    judge: Judge | None = None,
) -> tuple[StepRecord, ...]:
    """Walks model and a fresh store through `actions`, up to the first difference."""
    records: list[StepRecord] = []
    with workspace() as root:
        target = factory(root / "store")
        try:
            pair = Lockstep(target, world, judge=judge)
            for action in actions:
                records.append(pair.step(action))
                if records[-1].divergence is not None:
                    break
        finally:
            target.close()
    return tuple(records)


def replay(trace: Trace, *, factory: Factory = StoreTarget, judge: Judge | None = None) -> ReplayResult:
    """Replays `trace` on a fresh store that `factory` makes, and compares with what was recorded.

    The invariants are judged if `judge` says how, or if one of them is what the trace violates.
    """
    if judge is None and isinstance(trace.divergence, dict) and trace.divergence.get("kind") == "invariant":
        judge = invariants.check
    try:
        records = run(trace.actions, world=trace.world(), factory=factory, judge=judge)
    except LookupError as error:
        return ReplayResult("drifted", None, f"an action names what is not there: {error}", ())
    return _judged(trace, records)


def _judged(trace: Trace, records: Sequence[StepRecord]) -> ReplayResult:
    kept = tuple(records)
    for record, step in zip(records, trace.steps, strict=False):
        found = record.divergence
        if found is not None:
            recorded = trace.divergence
            if isinstance(recorded, dict) and _same_failure(recorded, found):
                return ReplayResult("failing", record.index, found.title, kept)
            return ReplayResult("drifted", record.index, f"model and store differ: {found.title}", kept)
        now = outcome_to_json(record.expected)
        if step.expected is not None and now != step.expected:
            changed = differences(step.expected, now, "expected")
            told = f"the model says something else than recorded: {changed[0]}" if changed else "kinds differ"
            return ReplayResult("drifted", record.index, told, kept)
    return ReplayResult("fixed", None, "model and store agree at every step", kept)


def _same_failure(recorded: Mapping[str, object], found: Divergence) -> bool:
    return (recorded.get("index"), recorded.get("kind"), recorded.get("name")) == (
        found.index,
        found.kind,
        found.name,
    )
