"""A space that is not what it declares itself to be is found out."""

from collections.abc import Hashable, Sequence

import pytest
from attrs import evolve

from model.explorer import packed, reference
from model.explorer.properties import Sometimes
from model.explorer.space import Fired, Rule, State
from model.explorer.taking import SpaceError
from model.explorer.tests.test_engines import PROPERTIES
from model.explorer.tests.toys import Leases, Shared, Slot


def test_a_context_whose_order_is_looked_at_is_found_by_the_sample() -> None:
    class Peeking(Leases):
        def fire(
            self, rule: Rule, shared: Shared, slot: Slot | None, context: tuple[Hashable, ...]
        ) -> Fired[Shared, Slot] | None:
            fired = super().fire(rule, shared, slot, context)
            if fired is not None and rule.name == "take":
                return evolve(fired, outcome=f"{fired.outcome} next to {context[0]}")
            return fired

    with pytest.raises(SpaceError, match="hides something that matters"):
        packed.explore(Peeking(3, 2), sample=50)


def test_a_drift_that_looks_past_its_lens_is_found_by_the_sample() -> None:
    class Drifting(Leases):
        rules = tuple(Rule("tick", "weather", "clock") if r.name == "tick" else r for r in Leases.rules)

        def part(self, lens: str, shared: Shared) -> Hashable:
            return shared.clock if lens == "clock" else super().part(lens, shared)

        def merge(self, lens: str, shared: Shared, after: Shared) -> Shared:
            return evolve(shared, clock=after.clock) if lens == "clock" else shared

        def drift(self, rule: Rule, shared: Shared, slot: Slot) -> Slot:
            assert rule.name == "tick"
            gone = shared.owner == "b" and slot.kind == "held"
            return Slot("done", slot.client) if gone else slot

    with pytest.raises(SpaceError, match="'tick'"):
        packed.explore(Drifting(2), sample=50)


def test_a_lens_that_hides_something_is_found_by_the_sample() -> None:
    class Short(Leases):
        """Its `take` looks at the owner, which its lens leaves out."""

        def fire(
            self, rule: Rule, shared: Shared, slot: Slot | None, context: tuple[Hashable, ...]
        ) -> Fired[Shared, Slot] | None:
            fired = super().fire(rule, shared, slot, context)
            if fired is not None and rule.name == "take" and shared.owner == "b":
                return evolve(fired, outcome="taken from b")
            return fired

    with pytest.raises(SpaceError, match="hides something that matters") as caught:
        packed.explore(Short(2))
    assert "'take'" in str(caught.value)
    assert "r1: Slot(kind=waiting" in str(caught.value)


def test_a_renaming_that_is_no_symmetry_makes_full_and_reduced_disagree() -> None:
    class Partial(Leases):
        """Client b is served only once it is late."""

        def fire(
            self, rule: Rule, shared: Shared, slot: Slot | None, context: tuple[Hashable, ...]
        ) -> Fired[Shared, Slot] | None:
            if rule.name == "tick" and shared.owner == "b":
                return None
            return super().fire(rule, shared, slot, context)

    full = packed.explore(Partial(2))
    reduced = packed.explore(Partial(2), reduce=True)
    assert reduced.full_transitions != full.transitions


def test_a_rule_that_renamings_do_not_map_is_found_by_replaying() -> None:
    class Wrong(Leases):
        """Its renaming forgets that `wait a` and `wait b` change places."""

        renamings = (evolve(Leases.renamings[0], rule=lambda rule: rule),)

        def initial(self) -> Sequence[State[Shared, Slot]]:
            return super().initial()[:1]

    asked = (
        Sometimes[Shared, Slot](
            "both", "Both have one.", lambda _, slots: {slot.client for slot in slots} == {"a", "b"}
        ),
    )
    assert packed.explore(Leases(2), asked, reduce=True).verdict("both").verdict == "holds"
    with pytest.raises(SpaceError, match="hides something that matters"):
        packed.explore(Wrong(2), asked, reduce=True)


@pytest.mark.parametrize("engine", [packed.explore, reference.explore], ids=["packed", "reference"])
def test_a_slot_seen_only_coarsely_cannot_be_changed(engine: object) -> None:
    class Grabbing(Leases):
        def fire(
            self, rule: Rule, shared: Shared, slot: Slot | None, context: tuple[Hashable, ...]
        ) -> Fired[Shared, Slot] | None:
            if rule.name == "finish":
                return super().fire(rule, shared, slot, context)
            fired = super().fire(rule, shared, slot, context)
            if fired is not None and rule.name == "take" and context:
                return evolve(fired, others=(Slot("done"),) * len(context))
            return fired

        def residue(self, slot: Slot) -> Hashable:
            return slot.kind == "held"

    assert callable(engine)
    with pytest.raises(SpaceError, match="sees only the residue"):
        engine(Grabbing(2))


def test_two_slots_that_look_the_same_cannot_be_changed_differently() -> None:
    class Choosing(Leases):
        def fire(
            self, rule: Rule, shared: Shared, slot: Slot | None, context: tuple[Hashable, ...]
        ) -> Fired[Shared, Slot] | None:
            if rule.name == "sweep":
                return Fired("chosen", shared, None, (Slot("done"), *(None,) * (len(context) - 1)))
            return super().fire(rule, shared, slot, context)

        def residue(self, slot: Slot) -> Hashable:
            return slot

    with pytest.raises(SpaceError, match="changed differently"):
        packed.explore(Choosing(2))


def test_a_breach_of_something_undeclared_is_an_error_of_the_space() -> None:
    with pytest.raises(SpaceError, match="not declared as something to break"):
        packed.explore(Leases(2, 1, skip_the_line=True), PROPERTIES[:1])
