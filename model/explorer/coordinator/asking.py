"""Questions that are the same but for what cannot matter are asked once: the footprint of a transition.

`simplest` turns what a rule sees into the plainest question with the same answer, and `Answer` is told in
what changed, so that it can be applied to what was really there. Claimed of the model, and tested against
asking each question as it is:

- a call that is refused before its sweep sees no slot;
- every host that may act does the same, but for the epoch, which it stores;
- how an admitted run stands matters to `release` alone;
- runs differ by name only: where there are two, the slot acted on is of the first.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import evolve, fields, frozen

from model.explorer.coordinator.lenses import lens_of, may_act
from model.explorer.coordinator.values import LIVE_STAGES, UNUSED, LeaseView, Shared, Slot
from model.explorer.space import Rule

_FIELDS = tuple(field.name for field in fields(Slot))


@frozen(cache_hash=True)
class Question:
    """`rule` in a world of `shared` and `slots`; the first slot is the one acted on, if `acts`."""

    rule: str
    shared: Shared
    slots: tuple[Slot, ...]
    acts: bool


@frozen
class Answer:
    """What came of a question: `changes` are the fields of each slot that changed."""

    outcome: str
    shared: Shared
    changes: tuple[Mapping[str, Any], ...]
    violated: tuple[str, ...] = ()
    witnessed: tuple[str, ...] = ()


def changes(before: Slot, after: Slot) -> dict[str, object]:
    if before == after:
        return {}
    return {name: getattr(after, name) for name in _FIELDS if getattr(before, name) != getattr(after, name)}


def literally(rule: Rule, shared: Shared, slots: tuple[Slot, ...]) -> Question:
    """The question as it is."""
    return Question(rule.name, shared, slots, rule.scope in ("local", "call"))


def simplest(rule: Rule, shared: Shared, slots: tuple[Slot, ...]) -> Question:
    """The plainest question with the same answer; see `told_back`."""
    acts = rule.scope in ("local", "call")
    if rule.lens in ("", "store") or rule.scope not in ("call", "whole"):
        return Question(rule.name, shared, slots, acts)
    kind, number = lens_of(rule.lens)
    if kind == "open":
        return Question(rule.name, shared, slots, acts)
    if not may_act(shared, number):
        return Question(rule.name, shared, (UNUSED,) if acts else (), acts)
    last = len(shared.hosts) - 1
    name = rule.name if number == last else rule.name.replace(f"@h{number + 1}", f"@h{last + 1}")
    acting = Shared(
        True,
        True,
        last + 1 if shared.epoch == number + 1 else last,
        shared.maximum,
        shared.commands if kind == "commands" else (None,) * len(shared.commands),
        (None,) * last + (shared.hosts[number],),
        LeaseView("own", last + 1, None),
        shared.people,
        wall=shared.wall,
        temps=shared.temps,
        fresh=shared.fresh,
    )
    name, slots = _first_run(name, slots, acts=acts)
    if kind != "commands":
        slots = tuple(evolve(slot, command=None) if slot.command is not None else slot for slot in slots)
    asks_how_it_stands = acts and rule.name.startswith("release ")
    slots = tuple(
        slot if asks_how_it_stands and not place else _standing(slot) for place, slot in enumerate(slots)
    )
    return Question(name, acting, slots, acts)


@cache
def _standing(slot: Slot) -> Slot:
    """Of an admitted run: that it was admitted."""
    if slot.stage not in LIVE_STAGES or (slot.stage == "running" and not slot.quiet):
        return slot
    return evolve(slot, stage="running", quiet=False)


def _first_run(name: str, slots: tuple[Slot, ...], *, acts: bool) -> tuple[str, tuple[Slot, ...]]:
    """With the first two runs swapped, where that makes the one in question the first."""
    is_second = "run-b" in name or (acts and "run-a" not in name and slots[0].run == 1)
    if not is_second:
        return name, slots
    return name.replace("run-b", "run-a"), tuple(_swapped(slot) for slot in slots)


@cache
def _swapped(slot: Slot) -> Slot:
    if slot.run not in (0, 1) and slot.elsewhere not in (0, 1):
        return slot
    swap = {0: 1, 1: 0}
    return evolve(
        slot,
        run=None if slot.run is None else swap.get(slot.run, slot.run),
        elsewhere=None if slot.elsewhere is None else swap.get(slot.elsewhere, slot.elsewhere),
    )


def told_back(
    rule: Rule, shared: Shared, slots: tuple[Slot, ...], question: Question, answer: Answer
) -> tuple[Shared, tuple[Slot, ...]]:
    """`shared` and `slots` after the transition, where `answer` came of the `simplest` question."""
    if question.shared is shared and question.slots is slots:
        after = tuple(
            evolve(slot, **change) if change else slot
            for slot, change in zip(slots, answer.changes, strict=True)
        )
        return answer.shared, after
    _, number = lens_of(rule.lens)
    if len(question.slots) != len(slots) or not may_act(shared, number):
        return answer.shared, slots
    last = len(shared.hosts) - 1
    epoch = number + 1 if answer.shared.epoch == last + 1 else shared.epoch
    hosts = tuple(answer.shared.hosts[last] if k == number else host for k, host in enumerate(shared.hosts))
    unchanged = answer.shared == question.shared
    now = shared if unchanged else evolve(answer.shared, epoch=epoch, hosts=hosts, lease=shared.lease)
    swapped = question.rule.count("run-a") != rule.name.count("run-a") or (
        question.acts and slots[0].run != question.slots[0].run
    )
    after = tuple(
        _changed(slot, change, swapped=swapped) for slot, change in zip(slots, answer.changes, strict=True)
    )
    return now, after


def _changed(slot: Slot, change: Mapping[str, Any], *, swapped: bool) -> Slot:
    if not change:
        return slot
    after = evolve(_swapped(slot) if swapped else slot, **change)
    return _swapped(after) if swapped else after
