"""Races as jobs, of whichever system: run in fresh places, counted, and told as failures with their steps.

Guarantees: a race that is refused where nothing may be, or whose files can't be read afterwards, has gone
wrong; nothing it raises gets out but what only the harness itself can have done wrong.
"""

import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import partial
from typing import Any, TypeVar

from attrs import frozen

import impl
from crash_tests.ground import ground
from crash_tests.races import Place, Race
from crash_tests.stories import REPRODUCE
from impl.gated import LedgerError
from model.values import JSON
from stateful_tests.results import Failure

_Items = TypeVar("_Items", bound=Sized)

Tally = tuple[Mapping[str, int], list[Failure]]
"""What was counted, and what has gone wrong."""


@frozen
class Arena:
    """The races of one system. `torture(seed, place)` kills its processes anywhere, under `killed_anywhere`.

    Keys of what is counted begin with `prefix`; traces name `system` if it isn't the coordinator.
    """

    races: tuple[Race, ...]
    killed_anywhere: str
    torture: Callable[[int, Place], list[str]]
    why: str
    clause: str
    prefix: str = ""
    system: str | None = None

    def tortured(self, seed: int) -> Race:
        """Processes killed anywhere, drawn with `seed`, as a race with a name by which it is found again."""
        name = f"{self.killed_anywhere}#{seed}"
        return Race(name, self.why, self.clause, partial(self.torture, seed))

    def named(self, name: str) -> Race:
        """Raises `KeyError` if there is no such race, ValueError for a seed that is none."""
        if name.startswith(f"{self.killed_anywhere}#"):
            return self.tortured(int(name.partition("#")[2]))
        return {race.name: race for race in self.races}[name]

    def run(self, params: Mapping[str, Any]) -> Tally:
        """Runs each race that `params` names, `times` over, or until it goes wrong."""
        counts: Counter[str] = Counter()
        failures: list[Failure] = []
        for race in map(self.named, params["names"]):
            for _ in range(int(params["times"])):
                wrong = once(race)
                counts[f"{self.prefix}race/{race.name}"] += 1
                if wrong:
                    failures.append(self.failure(race, wrong))
                    break
        return counts, failures

    def run_tortures(self, params: Mapping[str, Any]) -> Tally:
        """Several processes killed anywhere, once for each of the seeds, or until one goes wrong."""
        counts: Counter[str] = Counter()
        for race in (self.tortured(int(seed)) for seed in params["seeds"]):
            wrong = once(race)
            counts[f"{self.prefix}race/{self.killed_anywhere}"] += 1
            if wrong:
                return counts, [self.failure(race, wrong)]
        return counts, []

    def failure(self, race: Race, wrong: Sequence[str]) -> Failure:
        of: dict[str, JSON] = {} if self.system is None else {"system": self.system}
        trace: JSON = {
            "kind": "kill",
            **of,
            "trial": "race",
            "schema_version": 1,
            "name": race.name,
            "why": race.why,
            "clause": race.clause,
            "steps": list(race.steps),
            "wrong": list(wrong),
        }
        return Failure(trace, f"{race.name}: {wrong[0]}", race.clause, REPRODUCE)

    def floors(self, *, times: int, tortures: int) -> dict[str, int]:
        """How often each race has to be run."""
        least = {f"{self.prefix}race/{race.name}": times for race in self.races}
        return {**least, f"{self.prefix}race/{self.killed_anywhere}": tortures}


def once(race: Race) -> list[str]:
    """Runs `race` in a fresh place; what was wrong. A refusal that no race expects is wrong, too."""
    with ground(missing=True) as place:
        try:
            return race.run(Place(place.root))
        except (impl.CoordinatorError, LedgerError) as error:
            return [f"refused where nothing may be: {error.code}: {error.message}"]
        except AssertionError as error:
            return [f"what leads up to the race was refused: {str(error) or _line_of(error)}"]
        except UNREADABLE as error:
            return [unreadable(error)]


UNREADABLE = (ValueError, KeyError, TypeError)
"""What comes of reading files that are not what a store may leave."""


def unreadable(error: Exception) -> str:
    """What to say of a race whose files could not be read."""
    return f"what the race left can't be read: {type(error).__name__}, in: {_line_of(error)}"


def _line_of(error: Exception) -> str:
    """The line of ours that failed, as its source says it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "crash_tests" in frame.filename] or frames
    return f"{ours[-1].line}" if ours else "an assertion"


def bundles(sizes: Mapping[str, int], enough: int) -> Iterator[tuple[tuple[str, ...], float]]:
    """Names in bundles of about equal work, each with the sum of its sizes, which is at least `enough`, or
    what is left."""
    names: list[str] = []
    weight = 0
    for name, size in sizes.items():
        names.append(name)
        weight += size
        if weight >= enough:
            yield tuple(names), weight
            names, weight = [], 0
    if names:
        yield tuple(names), weight


def slices(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """`items` in pieces of `size`, the last one shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
