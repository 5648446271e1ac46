"""From what a run counted to its properties: how each was looked at, how often, and what is said of it.

`holds` is said only of what was looked at, as often as its floors ask; it says nothing beyond the scope that
the report states. A property is violated if a failure names it. `comparison`, `recovery` and `race` stand for
the checks that are no invariants of the model: every difference belongs to one of them, or to an invariant.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import frozen

from model.gated.invariants import INVARIANTS as OF_THE_LEDGER
from model.invariants import INVARIANTS
from reports.ledger_coverage import PREFIX

SYSTEMS: Mapping[str, str] = {"coordinator": "", "ledger": PREFIX}
"""Each system with the prefix of its counts."""

PINNED_LEDGERS = "corpus/ledger-"
"""How the counts of the ledger's pinned traces begin."""

CHECKS: Mapping[str, tuple[str, str]] = {
    "comparison": (
        "Model and store agree after every action: outcome, code, answer, side effects, all that is kept.",
        "stateful_tests",
    ),
    "recovery": (
        "Killed at any marked point, or with a disk step failing, the store is as before or as after the "
        "action in flight, keeps what it acknowledged, and works on.",
        "crash_tests",
    ),
    "race": (
        "Whatever the order in which real processes come, the end is one that an order explains.",
        "crash_tests",
    ),
}
"""By id: a sentence, and where it is checked."""

_WAYS: Mapping[str, Sequence[tuple[str, str, tuple[str, ...]]]] = {
    "comparison": (
        ("corpus", "pinned traces replayed", ("corpus/",)),
        ("conformance", "actions compared", ("rule/",)),
    ),
    "recovery": (
        ("kill", "kills at marked points", ("kill/",)),
        ("fault", "disk steps made to fail", ("fault/",)),
    ),
    "race": (("race", "races of real processes", ("race/",)),),
}
"""How each check is looked at: in short, in words, and the kinds of counts that tell how often."""


@frozen
class Known:
    """A property as the model tells it."""

    id: str
    system: str
    kind: str
    sentence: str
    source: str


@cache
def known() -> tuple[Known, ...]:
    """All properties, in the order in which they are shown."""
    told = [
        Known(each.id, system, each.kind, each.sentence, each.source)
        for system, invariants in (("coordinator", INVARIANTS), ("ledger", OF_THE_LEDGER))
        for each in invariants
    ]
    told += [
        Known(name, system, name, sentence, source)
        for system in SYSTEMS
        for name, (sentence, source) in CHECKS.items()
    ]
    return tuple(told)


def broken_by(system: str, clause: str, phase: str, trace: Any) -> Known:
    """The property that a failure in `phase` with that clause and trace breaks."""
    table = {(each.system, each.id): each for each in known()}
    found = table.get((system, clause))
    if found is not None:
        return found
    trial = trace.get("trial") if isinstance(trace, Mapping) else None
    check = "race" if trial == "race" else "recovery" if phase == "kills" else "comparison"
    return table.get((system, check)) or table["coordinator", check]


def properties(
    counts: Mapping[str, int],
    floors: Mapping[str, int],
    failures: Iterable[Mapping[str, Any]],
    explorations: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The `properties` of results.json; `failures` are its failures, which name `system` and `property`."""
    broken: dict[tuple[str, str], int] = {}
    for failure in failures:
        key = (failure["system"], failure["property"])
        broken[key] = broken.get(key, 0) + 1
    return [_property(each, counts, floors, broken, explorations) for each in known()]


def _property(
    each: Known,
    counts: Mapping[str, int],
    floors: Mapping[str, int],
    broken: Mapping[tuple[str, str], int],
    explorations: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    explored = [
        (exploration, told)
        for exploration in explorations
        if exploration.get("system") == each.system
        for told in exploration.get("properties", ())
        if told.get("id") == each.id
    ]
    evidence = [*_counted(each, counts, floors), *(_explored(space, told) for space, told in explored)]
    failures = broken.get((each.system, each.id), 0)
    return {
        "id": each.id,
        "system": each.system,
        "kind": each.kind,
        "sentence": each.sentence,
        "source": each.source,
        "evidence": evidence,
        "failures": failures,
        "verdict": _verdict(failures, evidence, [str(told.get("verdict")) for _, told in explored]),
    }


def _verdict(failures: int, evidence: Sequence[Mapping[str, Any]], explored: Sequence[str]) -> str:
    if failures or "violated" in explored:
        return "violated"
    if not any(each["count"] or each["floor"] for each in evidence):
        return "not looked at"
    if any(each["how"] == "kill" and not (each["count"] or each["floor"]) for each in evidence):
        return "not looked at"  # steps that fail are a part of recovery, and nobody was killed
    short = any(each["count"] < (each["floor"] or 0) for each in evidence)
    return "inconclusive" if short or "inconclusive" in explored else "holds"


def _counted(each: Known, counts: Mapping[str, int], floors: Mapping[str, int]) -> Iterable[dict[str, Any]]:
    prefix = SYSTEMS[each.system]
    if each.id in CHECKS:
        for how, words, kinds in _WAYS[each.id]:
            starts = tuple(prefix + kind for kind in kinds)
            wanted = [key for key in floors if _of_system(key).startswith(starts)]
            missed = sum(max(0, floors[key] - counts.get(key, 0)) for key in wanted)
            count = sum(number for key, number in counts.items() if _of_system(key).startswith(starts))
            least = sum(floors[key] for key in wanted)
            # One key's surplus makes up for no other's lack.
            floor = max(least, count + missed) if missed else least
            yield _evidence(how, words, count, floor if wanted else None)
        return
    for how, words in (("invariant", "steps after which it was evaluated"), ("witness", "times it mattered")):
        key = f"{prefix}{how}/{each.id}"
        yield _evidence(how, words, counts.get(key, 0), floors.get(key))


def _of_system(key: str) -> str:
    """`key` with its system's prefix. Pinned traces are counted by name, and those of the ledger begin so."""
    return PREFIX + key if key.startswith(PINNED_LEDGERS) else key


def _explored(space: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    words = f"states of {space.get('space')}, {told.get('verdict')}"
    states = space.get("states")
    return _evidence("exploration", words, states if isinstance(states, int) else 0, None)


def _evidence(how: str, words: str, count: int, floor: int | None) -> dict[str, Any]:
    return {"how": how, "words": words, "count": count, "floor": floor}
