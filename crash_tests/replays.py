"""Replays the trace of a kill, of a failing disk step or of a race, and says how it stands today.

- `fixed`: performed again, the store holds true.
- `failing`: the same rule is broken again.
- `now failing`: a rule is broken now, of a trace that was pinned when its store was mended (`mended`).
- `drifted`: another rule is broken now, or the store no longer comes to the point where it was killed.

A race is run several times, since no order of its processes can be forced: `fixed` then says only that the
fault did not come up again.
"""

from collections.abc import Mapping
from typing import Any, Literal

from attrs import evolve, frozen

from crash_tests.children import MisfitError
from crash_tests.oracle import Violation
from crash_tests.reading import Fields, StoryError
from crash_tests.stories import Story, Watch, story_from_json, tell
from model.forms import action_to_json
from model.values import JSON

RACES_AGAIN = 5
MENDED = "mended"
"""A trace's field that says, where it is true, that the store was mended when the trace was pinned: it held
then, and `violation` is what it had shown before."""


@frozen
class Replay:
    """How a trace stands: `status`, why in one sentence, the story line by line, and what is wrong now."""

    status: Literal["fixed", "failing", "now failing", "drifted"]
    sentence: str
    lines: tuple[str, ...] = ()
    violation: Violation | None = None
    lefts: tuple[JSON, ...] = ()
    """What each kill left on disk, of those that were performed."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "status": self.status,
            "sentence": self.sentence,
            "lines": list(self.lines),
            "violation": None if self.violation is None else self.violation.to_json(),
        }


def replay_trace(trace: Mapping[str, Any], *, watch: Watch | None = None) -> Replay:
    """Performs `trace` again. Raises `StoryError` if it can't be read, `HarnessError` if it can't be done.

    `watch` looks on at stories of kills and faults; races and tampering have nothing for it.
    """
    mended = MENDED in trace and Fields(trace).flag(MENDED)
    try:
        result = _performed(trace, watch)
    except (MisfitError, LookupError) as error:
        if type(error) in (KeyError, IndexError):
            raise  # no host or client that is missing: a bug of ours
        return Replay("drifted", f"it can't happen any more: {error}")
    found = result.violation
    if not mended or found is None:
        return result
    return evolve(result, status="now failing", sentence=f"{found.title}; it held when it was pinned")


def _performed(trace: Mapping[str, Any], watch: Watch | None) -> Replay:
    if trace.get("kind") != "kill":
        raise StoryError(f"kind is {trace.get('kind')!r}, not 'kill': this is another kind of trace")
    if trace.get("system", "coordinator") == "ledger":
        from crash_tests.gated.replays import replay_ledger

        return replay_ledger(trace, watch)
    if trace.get("trial") == "race":
        return _race(trace)
    if trace.get("trial") == "wire":
        raise StoryError("this is the kill of a target: name it, with --target 'COMMAND {directory}'")
    return _story(story_from_json(trace), watch)


def _story(story: Story, watch: Watch | None) -> Replay:
    lefts: list[JSON] = []
    now = tell(story, lefts, watch)
    told = lines(story, now if isinstance(now, Violation) else None)
    if isinstance(now, str):
        return Replay("drifted", now, told, None, tuple(lefts))
    return evolve(judged(story.violation.clause, now), lines=told, lefts=tuple(lefts))


def judged(clause: str, now: Violation | None) -> Replay:
    """How a trace stands that broke the rule `clause`, now that it was performed again."""
    if now is None:
        return Replay("fixed", "performed again, the store holds true")
    if now.clause == clause:
        return Replay("failing", now.title, violation=now)
    told = f"another rule is broken now: {now.clause}: {now.title}"
    return Replay("drifted", told, violation=now)


def _race(trace: Mapping[str, Any]) -> Replay:
    from crash_tests.jobs import once, race_named

    fields = Fields(trace)
    name, clause = fields.text("name"), fields.text("clause")
    try:
        race = race_named(name)
    except (KeyError, ValueError):
        raise StoryError(f"name: {name!r} is no race of this version") from None
    for attempt in range(1, RACES_AGAIN + 1):
        if wrong := once(race):
            found = Violation(race.clause, wrong[0])
            status: Literal["failing", "drifted"] = "failing" if race.clause == clause else "drifted"
            return Replay(status, f"in attempt {attempt}: {wrong[0]}", tuple(wrong), found)
    return Replay("fixed", f"{RACES_AGAIN} times over, the race went as it should", (race.why,))


def lines(story: Story, now: Violation | None) -> tuple[str, ...]:
    """The story as numbered lines for a person; the line that fails says so."""
    told: list[tuple[str, str]] = [("", _say(action)) for action in story.scenario.history]
    if story.scenario.broken_off is not None:
        point, n = story.scenario.broken_off
        told.append(("", f"   … killed there at {point} ({n})"))
    if not story.kills:
        told += [("", _say(action)) for action in story.scenario.flight]
        if story.fault is not None:
            told.append((_mark(now, -1), f"   … with {story.fault}"))
    for index, killed in enumerate(story.kills):
        told += [("", _say(action)) for action in killed.during]
        last = index + 1 == len(story.kills)
        told.append((_mark(now, -1) if last else "", f"   … killed at {killed.point} ({killed.n})"))
    if story.kills:
        who = "another process, which lived through it" if story.survivor else "a fresh process"
        told.append(("", f"   … then {who}:"))
        told += [(_mark(now, index), _say(action)) for index, action in enumerate(story.after)]
    numbered = [f"{mark:2}{line}" for mark, line in told]
    if now is not None:
        numbered.append(f"   {now.clause}: {now.title}")
        numbered += [f"     {difference}" for difference in now.differences]
    return tuple(numbered)


def _mark(now: Violation | None, action: int) -> str:
    return "✗" if now is not None and now.action == action else ""


def _say(action: Any) -> str:
    """An action in one line: what it does, and with what."""
    form = dict(action_to_json(action))
    done = form.pop("do")
    if done == "call":
        done = f"{form.pop('operation')}"
        given = form.pop("arguments", None)
        form = {**form, **(given if isinstance(given, dict) else {})}
    rest = ", ".join(f"{key}={value}" for key, value in form.items())
    return f"{done}({rest})"
