"""The story of a kill, or of a failing step, made shorter while it goes on breaking the same rule.

What happens after the violation goes first, then kills that it doesn't take, then as much of the history as
can go (`stateful_tests.shrink`). What is left was performed, and breaks the same rule. Of either system.
Races and tamperings can't be made shorter: no order of processes can be forced, and one change is one change.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from attrs import evolve, frozen

from crash_tests.children import HarnessError
from crash_tests.oracle import Violation
from stateful_tests.shrink import shrink
from stateful_tests.system import COORDINATOR, system_named

TOLD_AS_A_STORY: Final = ("kill", "fault")
_STORIES: Final[Mapping[str, str]] = {
    COORDINATOR: "crash_tests.stories",
    "ledger": "crash_tests.gated.stories",
}


@frozen
class Shortened:
    """`story` is a `Story` of its system; `exhausted` says that the tries were used up."""

    story: Any
    tries: int
    exhausted: bool


def shortened(trace: Mapping[str, Any], *, tries: int) -> Shortened | None:
    """The shortest story found that breaks the rule that `trace` breaks, in about `tries` performances.

    `None` if it doesn't break it now. `StoryError` if it is no story.
    """
    name = str(trace.get("system", COORDINATOR))
    stories = import_module(_STORIES[name])
    search = _Search(stories.story_from_json(trace), stories.tell, tries)
    found = search.tell(search.story)
    if found is None or found.clause != search.story.violation.clause:
        return None
    search.story = evolve(search.story, violation=found, after=search.story.after[: found.action + 1])
    search.fewer_kills()
    search.shorter("history", system_named(name))
    search.shorter("warm", system_named(name))
    lefts: list[Any] = []
    stories.tell(search.story, lefts)
    story = search.story
    if story.fault is not None and lefts:
        story = evolve(story, fault=evolve(story.fault, left=lefts[0]))
    kills = tuple(evolve(kill, left=left) for kill, left in zip(story.kills, lefts, strict=False))
    story = evolve(story, kills=kills) if len(kills) == len(story.kills) else story
    return Shortened(story, search.tries, search.tries >= tries)


class _Search:
    def __init__(self, story: Any, tell: Callable[..., Any], budget: int) -> None:
        self.story = story
        self.tries = 0
        self._tell, self._budget = tell, budget

    def tell(self, story: Any) -> Violation | None:
        """What is wrong when `story` happens; `None` also where it makes no sense."""
        self.tries += 1
        try:
            found = self._tell(story)
        except (HarnessError, LookupError):
            return None
        return found if isinstance(found, Violation) else None

    def takes(self, story: Any) -> bool:
        """Performs `story`; keeps it if it breaks the same rule."""
        if self.tries >= self._budget:
            return False
        found = self.tell(story)
        if found is None or found.clause != self.story.violation.clause:
            return False
        self.story = evolve(story, violation=found)
        return True

    def fewer_kills(self) -> None:
        """Of a chain of kills as few as it takes, the later ones gone first."""
        at = len(self.story.kills) - 1
        while at > 0:
            kills = self.story.kills
            self.takes(evolve(self.story, kills=kills[:at] + kills[at + 1 :]))
            at -= 1

    def shorter(self, part: str, system: Any) -> None:
        """The `history`, or what the process that dies did before (`warm`), with fewer, simpler actions."""
        scenario = self.story.scenario
        actions = getattr(scenario, part, ())
        if not actions or getattr(scenario, "broken_off", None) is not None:
            return

        def fails(fewer: Sequence[Any]) -> bool:
            return self.takes(evolve(self.story, scenario=evolve(scenario, **{part: tuple(fewer)})))

        if fails(actions):
            shrink(actions, fails, budget=max(self._budget - self.tries, 0), system=system)
