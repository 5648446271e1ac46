"""Replays a trace against model and store, without Hypothesis, and says how it stands today.

- `fixed`: every step is as the model says, and the model says what was recorded.
- `failing`: the recorded divergence happens again, at the same step.
- `now failing`: model and store differ, the model expects what was recorded, and no divergence was: the trace
  held when it was recorded, as pinned ones do.
- `drifted`: something else than recorded happened first: the model expects something else now, or model and
  store differ elsewhere, or an action makes no sense any more. `index` is the step.

It doesn't decide whether drift is good: a changed rule drifts too. Each step tells what was on disk after it,
and `watch` sees it while the store stands there, as it was left.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import evolve, frozen

from model.values import JSON
from stateful_tests.compare import differences
from stateful_tests.pair import Divergence, Judge, StepRecord, Subject
from stateful_tests.removing import remove
from stateful_tests.system import COORDINATOR, System, system_named
from stateful_tests.trace import Trace

Factory = Callable[[Path], Subject]
"""Makes a target for a store in the given (not yet existing) directory."""

Watch = Callable[[StepRecord, Path], None]
"""Is told of each step when it has been taken, and of the store's directory."""

_RANDOM = re.compile(r"[0-9a-f]{32}")


@frozen
class ReplayResult:
    """How a trace stands: `status`, at which step, why in one sentence, and all that was seen."""

    status: Literal["fixed", "failing", "now failing", "drifted"]
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
        remove(root)


def run(
    actions: Iterable[Any],
    *,
    world: Any = None,
    factory: Factory | None = None,
    judge: Judge | None = None,
    system: System | None = None,
    watch: Watch | None = None,
    kept: list[StepRecord] | None = None,
) -> tuple[StepRecord, ...]:
    """Walks model and a fresh store through `actions`, up to the first difference.

    Unless given, `world` is that in which nothing has happened, and `factory` and `system` the coordinator's.
    What was seen stands in `kept`, too, whatever is raised.
    """
    system = system or system_named(COORDINATOR)
    records: list[StepRecord] = [] if kept is None else kept
    with workspace() as root:
        directory = root / "store"
        target = (factory or system.target)(directory)
        try:
            pair = system.pair(target, system.initial({}) if world is None else world, judge)
            for action in actions:
                one = pair.step(action)
                records.append(evolve(one, disk=_on_disk(pair.observation, directory)))
                if watch is not None:
                    watch(records[-1], directory)
                if one.divergence is not None:
                    break
        finally:
            target.close()
    return tuple(records)


def _on_disk(observation: Any, directory: Path) -> dict[str, JSON]:
    """What is on disk in a few words. Random parts of names are left out: equal runs tell equal things."""
    names = sorted(_RANDOM.sub("*", one.name) for one in directory.iterdir()) if directory.is_dir() else []
    return {**getattr(observation, "brief", dict)(), "files": list(names)}


def replay(
    trace: Trace,
    *,
    factory: Factory | None = None,
    judge: Judge | None = None,
    watch: Watch | None = None,
    system: System | None = None,
) -> ReplayResult:
    """Replays `trace` on a fresh store that `factory` makes, and compares with what was recorded.

    The invariants are judged if `judge` says how, or if one of them is what the trace violates. The system is
    that which the trace names, unless it is given with another store or comparison.
    """
    system = system or system_named(trace.system)
    if judge is None and isinstance(trace.divergence, dict) and trace.divergence.get("kind") == "invariant":
        judge = system.judge
    seen: list[StepRecord] = []
    how = {"world": trace.world(), "factory": factory, "judge": judge, "system": system, "watch": watch}
    try:
        run(trace.actions, kept=seen, **how)
    except LookupError as error:
        return ReplayResult("drifted", len(seen), f"it names what is not there: {error}", tuple(seen))
    return _judged(trace, seen, system)


def _judged(trace: Trace, records: Sequence[StepRecord], system: System) -> ReplayResult:
    kept = tuple(records)
    for record, step in zip(records, trace.steps, strict=False):
        found = record.divergence
        now = system.outcome_to_json(record.expected)
        changed = step.expected is not None and now != step.expected
        if found is not None:
            recorded = trace.divergence
            if isinstance(recorded, dict) and _same_failure(recorded, found):
                return ReplayResult("failing", record.index, found.title, kept)
            if recorded is None and not changed:
                told = f"{found.title}; it held when it was recorded"
                return ReplayResult("now failing", record.index, told, kept)
            return ReplayResult("drifted", record.index, f"model and store differ: {found.title}", kept)
        if changed:
            return ReplayResult("drifted", record.index, _changed(step.expected, now), kept)
    return ReplayResult("fixed", None, "model and store agree at every step", kept)


def _changed(recorded: JSON, now: JSON) -> str:
    for one in differences(recorded, now, "outcome"):
        return f"the model now expects {one.store!r} where {one.model!r} was recorded ({one.path})"
    return "the model now expects a value of another kind than was recorded"


def _same_failure(recorded: Mapping[str, object], found: Divergence) -> bool:
    return (recorded.get("index"), recorded.get("kind"), recorded.get("name")) == (
        found.index,
        found.kind,
        found.name,
    )
