"""What changed from one run to a later one, from the results of both.

Failures are the same if their fingerprints are; a floor is the same if its key is. Two runs that did not
check the same things are compared all the same, and `comparable` and `note` say how far that goes.
"""

from collections.abc import Mapping
from typing import Any

from reports.coverage import actions_in, kills_in
from reports.targets import target_of, whose

MOST = 50
"""Entries of each list; a run that fails entirely tells no more by more of them."""


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """`environment.previous` of `now`: what appeared, vanished, was newly missed or reached again."""
    note = _note(before, now)
    old, new = _kinds(before), _kinds(now)
    missed, misses = _missed(before), _missed(now)
    return {
        "run": before["environment"]["run"],
        "verdict": before["verdict"]["word"],
        "comparable": not note,
        "note": note,
        "appeared": [new[key] for key in new if key not in old][:MOST],
        "vanished": [old[key] for key in old if key not in new][:MOST],
        "floors_newly_missed": sorted(misses - missed)[:MOST],
        "floors_regained": sorted(missed - misses)[:MOST],
        "counts": [
            [what, _sum(before, counted), _sum(now, counted)]
            for what, counted in (("actions", actions_in), ("kills", kills_in))
        ],
    }


def _note(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    stores = target_of(before), target_of(now)
    told = [] if stores[0] == stores[1] else [f"{whose(stores[0])} then, {whose(stores[1])} now"]
    told += [
        f"{name} {before[name]} then, {now[name]} now"
        for name in ("profile", "seed")
        if before[name] != now[name]
    ]
    then, ours = ({phase["name"] for phase in run["phases"]} for run in (before, now))
    told += [f"phases only then: {', '.join(sorted(then - ours))}"] if then - ours else []
    told += [f"phases only now: {', '.join(sorted(ours - then))}"] if ours - then else []
    return "; ".join(told)


def _kinds(run: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        one["id"]: {name: one[name] for name in ("id", "title", "clause")}
        for one in reversed(run["failures"])
    }


def _missed(run: Mapping[str, Any]) -> set[str]:
    return {str(short[0]) for phase in run["phases"] for short in phase["below_floor"]}


def _sum(run: Mapping[str, Any], counted: Any) -> int:
    return sum(counted(phase["counts"]) for phase in run["phases"])
