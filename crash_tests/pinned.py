"""The pinned corpus of kills, failing steps and tamperings: performed again in every check.

Each is the trace of a failure that was once found, with the reason why it is kept in `why`; `violation` says
what it showed then, and `mended` that it held when it was pinned. Walks are pinned elsewhere
(`stateful_tests.pinned`). Races are not pinned: every check runs them all.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from crash_tests.reading import StoryError
from crash_tests.replays import MENDED, Replay, replay_trace
from model.values import JSON
from stateful_tests.pinning import PinError, named, reason_of, slug, with_what_it_showed
from stateful_tests.results import Failure
from stateful_tests.trace import once

DIRECTORY = Path(__file__).parent / "corpus"
_RANDOM: Final = re.compile(r"#.*")
_DONE: Final = (
    *("system", "trial", "layout", "history", "warm", "broken_off", "flight", "after", "survivor", "fault"),
    *("victim", "change"),
)
"""The fields that say what happens."""


@frozen
class PinnedKill:
    path: Path
    name: str
    result: Replay


def names(directory: Path = DIRECTORY) -> tuple[str, ...]:
    """The names of all that are pinned, in order."""
    return tuple(sorted(path.stem for path in directory.glob("*.json")))


def load(name: str, directory: Path = DIRECTORY) -> dict[str, Any]:
    """The pinned trace of that name. StoryError if it can't be read."""
    path = directory / f"{name}.json"
    try:
        found = json.loads(path.read_text("utf-8"), object_pairs_hook=once)
    except (OSError, ValueError) as error:
        raise StoryError(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise StoryError(f"{path}: this is no trace")
    return found


def checked(name: str) -> Failure | None:
    """The pinned trace of that name, performed again: what is wrong, if anything."""
    trace = load(name)
    result = replay_trace(trace)
    if result.status == "fixed":
        return None
    now = result.violation
    clause = now.clause if now is not None else "pinned expectation"
    recorded = {name: value for name, value in trace.items() if name != MENDED}
    story: JSON = {**recorded, "violation": None if now is None else now.to_json(), "clause": clause}
    return Failure(
        story, f"pinned trace {name} {result.status}: {result.sentence}", clause, "holdtrue replay TRACE"
    )


def pin(
    trace: Mapping[str, Any],
    *,
    reason: str,
    directory: Path = DIRECTORY,
    name: str | None = None,
    failing: bool = False,
) -> PinnedKill:
    """Performs `trace` again and writes it to `directory`. PinError if it can't be pinned, OSError if it
    can't be written, StoryError if it is no trace. `failing` allows one that still breaks its rule."""
    if trace.get("trial") == "race":
        raise PinError("races are not pinned: every check runs each of them")
    why = reason_of(reason)
    called = slug(_RANDOM.sub("", _told(trace))) if name is None else named(name)
    for other in names(directory):
        if other == called:
            raise PinError(f"a trace named {called!r} is pinned already; give this one another with --name")
        if _story(load(other, directory)) == _story(trace):
            raise PinError(f"the same is pinned already, as {other!r}")
    result = replay_trace(trace)
    if result.status == "drifted":
        raise PinError(
            f"it no longer fits: {result.sentence}; record it again before it is pinned", "drifted"
        )
    if result.violation is not None and not failing:
        raise PinError(
            f"it still fails: {result.sentence}; mend the store first, or pin it with --failing: every check "
            "is violated then until it is mended",
            "failing",
        )
    path = directory / f"{called}.json"
    kept = {**trace, "why": with_what_it_showed(why, _text(trace.get("clause")))}
    if (now := result.violation) is None:
        kept[MENDED] = True
    else:
        kept |= {MENDED: False, "violation": now.to_json(), "clause": now.clause}
    directory.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(kept, indent=1, ensure_ascii=True) + "\n", encoding="ascii")
    fresh.replace(path)
    return PinnedKill(path, called, result)


def _told(trace: Mapping[str, Any]) -> str:
    """What a file of this trace may be called: the scenario's name, and where it is struck."""
    kills = trace.get("kills")
    points = [str(kill.get("point")) for kill in kills] if isinstance(kills, list) else []
    fault, change = trace.get("fault"), trace.get("change")
    points += [str(fault.get("point"))] if isinstance(fault, Mapping) else []
    points += [str(change.get("kind"))] if isinstance(change, Mapping) else []
    system = trace.get("system", "")
    return " ".join(part for part in (str(system), str(trace.get("name")), *points) if part)


def _story(trace: Mapping[str, Any]) -> str:
    """Equal for traces in which the same happens."""
    kills = trace.get("kills") or []
    struck = [[kill.get(part) for part in ("during", "point", "n")] for kill in kills]
    return json.dumps([[trace.get(part) for part in _DONE], struck], sort_keys=True)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
