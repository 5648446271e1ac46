"""A run against an older one: what changed, and what of that keeps it from being accepted.

Only what both tell of is compared. Whether the older run was a good one is not asked.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reports import previous
from reports.policy import Policy
from reports.targets import deviations, target_of, whose

SHOWN: Final = 5
"""Names in a list within a sentence."""


def compared(older: Mapping[str, Any], now: Mapping[str, Any], policy: Policy) -> tuple[list[str], list[str]]:
    """What changed, and what the policy does not allow of that, in sentences."""
    change = previous.changes(older, now)
    told = [] if change["comparable"] else [f"they did not check the same: {change['note']}"]
    told += [f"new: {one['clause']}: {one['title']}" for one in change["appeared"]]
    told += [f"gone: {one['clause']}: {one['title']}" for one in change["vanished"]]
    if change["floors_newly_missed"]:
        told.append(f"newly seen too rarely: {listed(change['floors_newly_missed'])}")
    reasons = list(_other_store(older, now, policy))
    for what, before, after in change["counts"]:
        if after != before:
            told.append(f"{what}: {before:,} then, {after:,} now")
        if policy.may_fall is not None and after < before * (1 - policy.may_fall):
            share = f"{policy.may_fall:.0%}"
            reasons.append(f"{what} fell from {before:,} to {after:,}, by more than {share}")
    unseen = sorted(_looked_at(older) - _looked_at(now))
    if unseen:
        told.append(f"no longer looked at: {listed(unseen)}")
        if not policy.properties_may_go:
            reasons.append(f"properties that the older run looked at are no longer: {listed(unseen)}")
    then, ours = deviations(older), deviations(now)
    told += [f"deviation no longer declared: {one}" for one in then if one not in ours]
    added = [one for one in ours if one not in then]
    told += [f"deviation newly declared: {one}" for one in added]
    if added and not policy.deviations_may_grow:
        reasons.append(
            f"deviations that the older run did not know are declared: {listed(added)}; "
            "a policy with against.deviations_may_grow = true accepts them"
        )
    return told, reasons


def full(one: Mapping[str, Any]) -> str:
    """A property's id with its system."""
    return f"{one['system']}/{one['id']}"


def listed(names: Any) -> str:
    told = [str(name) for name in names]
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return ", ".join(told[:SHOWN]) + more


def _other_store(older: Mapping[str, Any], now: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    then, ours = target_of(older), target_of(now)
    if then != ours and not policy.store_may_change:
        told_apart = f"the older run is one of {whose(then)}, this one of {whose(ours)}"
        yield f"{told_apart}; a policy with against.store_may_change = true compares them"


def _looked_at(results: Mapping[str, Any]) -> set[str]:
    return {full(one) for one in results["properties"] if one["verdict"] != "not looked at"}
