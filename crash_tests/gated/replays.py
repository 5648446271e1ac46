"""Replays the ledger's traces of kills, failing steps, tampering and races (see `crash_tests.replays`)."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from crash_tests.gated import changes, tamper
from crash_tests.gated.jobs import once, race_named
from crash_tests.gated.stories import Story, story_from_json, tell
from crash_tests.oracle import Violation
from crash_tests.reading import Fields, StoryError
from crash_tests.replays import RACES_AGAIN, Replay, judged
from crash_tests.stories import Watch
from model.gated.forms import action_to_json
from model.values import JSON


def replay_ledger(trace: Mapping[str, Any], watch: Watch | None = None) -> Replay:
    """Performs `trace`, whose system is the ledger, again. Raises `StoryError` if it can't be read."""
    if trace.get("trial") == "race":
        return _race(trace)
    if trace.get("trial") == "tampering":
        return _tampering(trace)
    story = story_from_json(trace)
    lefts: list[JSON] = []
    now = tell(story, lefts, watch)
    if isinstance(now, str):
        return Replay("drifted", now, lines(story), None, tuple(lefts))
    return evolve(_judged(story.violation.clause, now, lines(story)), lefts=tuple(lefts))


def _judged(clause: str, now: Violation | None, told: tuple[str, ...]) -> Replay:
    if now is not None:
        told = (*told, f"   {now.clause}: {now.title}", *(f"     {one}" for one in now.differences))
    return evolve(judged(clause, now), lines=told)


def _tampering(trace: Mapping[str, Any]) -> Replay:
    fields = Fields(trace)
    clause, change = fields.text("clause"), changes.change_from_json(fields.nested("change"))
    name = next((one for one in tamper.VICTIMS if one == fields.text("victim")), None)
    if name is None:
        raise StoryError(f"victim: {trace['victim']!r} is none of {', '.join(tamper.VICTIMS)}")
    with tamper.victim(name) as store:
        if (wrong := store.refuses(change)) is not None:
            raise StoryError(f"change: {wrong}")
        now = tamper.judge(store, change, must_open=change.kind == "tail-torn")
    return _judged(clause, now, (str(change),))


def _race(trace: Mapping[str, Any]) -> Replay:
    fields = Fields(trace)
    name, clause = fields.text("name"), fields.text("clause")
    try:
        race = race_named(name)
    except (KeyError, ValueError):
        raise StoryError(f"name: {name!r} is no race of this version") from None
    for attempt in range(1, RACES_AGAIN + 1):
        if wrong := once(race):
            found = Violation(race.clause, wrong[0])
            again = _judged(clause, found, tuple(wrong))
            return Replay(again.status, f"in attempt {attempt}: {wrong[0]}", tuple(wrong), found)
    return Replay("fixed", f"{RACES_AGAIN} times over, the race went as it should", (race.why,))


def lines(story: Story) -> tuple[str, ...]:
    """The story as lines for a person."""
    scenario = story.scenario
    told = [_say(action) for action in scenario.history]
    told += [f"the process that dies: {_say(action)}" for action in scenario.warm]
    for killed in story.kills:
        told += [_say(action) for action in killed.during]
        told.append(f"   … killed at {killed.point} ({killed.n})")
    if not story.kills:
        told += [_say(action) for action in scenario.flight]
    if story.fault is not None:
        told.append(f"   … with {story.fault}")
    if story.kills:
        who = "another process, which lived through it" if story.survivor else "a fresh process"
        told += [f"   … then {who}:", *(_say(action) for action in story.after)]
    return tuple(told)


def _say(action: Any) -> str:
    form = dict(action_to_json(action))
    done = form.pop("do")
    return f"{done}({', '.join(f'{key}={value}' for key, value in form.items())})"
