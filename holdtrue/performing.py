"""A trace performed by model and store as they are today, of whatever kind it is: what came of it.

A trace of steps is walked in lockstep; a kill, a failing disk step, a tampering or a race is performed with
real processes. NoTraceError says, with the place in the trace, why there is nothing that can be performed.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

from model.values import JSON

Status = Literal["fixed", "failing", "now failing", "drifted"]
Watch = Callable[[int, Mapping[str, JSON], Path], None]
"""Is told of each step of a walk: its index, what it was as JSON, and the store's directory."""


class NoTraceError(ValueError):
    """There is no trace that can be performed. The message says where it is wrong, and what to do."""


@frozen
class Performed:
    """`story` is the trace's JSON with what was seen now; `sentence` says why it stands as it does, and at
    which step."""

    name: str
    story: Mapping[str, Any]
    status: Status
    sentence: str


def perform(data: Any, *, watch: Watch | None = None) -> Performed:
    """Performs the trace `data` (parsed JSON); NoTraceError if it is none. `watch` sees walks alone."""
    if isinstance(data, Mapping) and data.get("kind") == "kill":
        return _strike(data)
    if isinstance(data, Mapping) and "verdict" in data and "phases" in data:
        raise NoTraceError(
            "this is the summary of a run; the traces of what it found stand in traces/ beside it"
        )
    return _walk(data, watch)


def _walk(data: Any, watch: Watch | None) -> Performed:
    from stateful_tests.pair import StepRecord
    from stateful_tests.replay import replay
    from stateful_tests.system import system_named
    from stateful_tests.trace import TraceError, from_json, seen_step

    try:
        trace = from_json(data)
    except TraceError as error:
        raise NoTraceError(str(error)) from error
    whole(data)
    system = system_named(trace.system)

    def told(one: StepRecord) -> dict[str, JSON]:
        return seen_step(one, system).to_json(system)

    def look(one: StepRecord, directory: Path) -> None:
        if watch is not None:
            found = None if one.divergence is None else one.divergence.to_json()
            watch(one.index, {**told(one), "divergence": found}, directory)

    result = replay(trace, judge=system.judge, watch=look)
    steps = [told(one) for one in result.records]
    at, story = result.index, trace.to_json()
    if at is not None and at == len(steps):  # a step that could not even be taken
        steps.append({"action": system.action_to_json(trace.steps[at].action)})
    story["steps"] = list(steps)
    found = result.divergence
    story["divergence"] = None if found is None else found.to_json()
    story["clause"] = None if found is None else found.clause
    if result.status == "drifted":
        story["drifted_at"] = at
    where = f"step {at + 1}: " if at is not None else ""
    return Performed(trace.name, story, result.status, where + result.sentence)


def whole(data: Mapping[str, Any]) -> None:
    """NoTraceError if there is nothing to replay, or not the step that differed: that would look fixed."""
    steps, found = data["steps"], data.get("divergence")
    if not steps:
        raise NoTraceError("it has no steps: there is nothing to replay")
    index = found.get("index") if isinstance(found, Mapping) else None
    if isinstance(index, int) and index >= len(steps):
        raise NoTraceError(
            f"it ends after step {len(steps)}, before step {index + 1}, which differed: it was cut off or "
            "edited; fetch it again"
        )


def _strike(data: Mapping[str, Any]) -> Performed:
    from crash_tests.replays import MENDED, replay_trace
    from crash_tests.stories import StoryError

    try:
        result = replay_trace(data)
    except StoryError as error:
        raise NoTraceError(str(error)) from error
    now = result.violation
    story = {name: value for name, value in data.items() if name != MENDED}
    story |= {"violation": now and now.to_json(), "clause": now and now.clause}
    if isinstance(data.get("fault"), dict):
        story["fault"] = {**data["fault"], "left": result.lefts[0] if result.lefts else None}
    if isinstance(data.get("kills"), list):
        lefts = [*result.lefts, *[None] * len(data["kills"])]
        story["kills"] = [{**kill, "left": left} for kill, left in zip(data["kills"], lefts, strict=False)]
    return Performed(str(data.get("name")), story, result.status, result.sentence)
