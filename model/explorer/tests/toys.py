"""Small spaces for the tests of the explorer: leases of a few slots, a queue, a lens, two clients."""

from collections.abc import Hashable, Sequence

from attrs import evolve, frozen

from model.explorer.space import Fired, Renaming, Rule, Space, State


@frozen
class Shared:
    """`clock` is read by `take` alone, which sees only whether it is late: a lens."""

    capacity: int
    clock: int = 0
    owner: str = "a"


@frozen
class Slot:
    """`kind`: free, waiting (in the queue of its client, at `rank`), held, or done."""

    kind: str = "free"
    client: str = ""
    rank: int = 0


def swapped(client: str) -> str:
    return {"a": "b", "b": "a"}.get(client, client)


class Leases(Space[Shared, Slot]):
    """Clients wait for slots in line; the first in each client's line may take one while there is room.

    `skip_the_line` plants a bug: whoever waits may take a slot. `overbook` plants another: the capacity is
    not looked at when it is late.
    """

    rules: Sequence[Rule] = (
        Rule("wait a", "call"),
        Rule("wait b", "call"),
        Rule("take", "call", "late"),
        Rule("finish", "local"),
        Rule("hand over", "local"),
        Rule("tick", "weather"),
        Rule("sweep", "whole"),
    )
    renamings: Sequence[Renaming[Shared, Slot]] = (
        Renaming(
            "the other client",
            lambda shared: evolve(shared, owner=swapped(shared.owner)),
            lambda slot: evolve(slot, client=swapped(slot.client)),
            lambda rule: {"wait a": "wait b", "wait b": "wait a"}.get(rule, rule),
        ),
    )

    def __init__(
        self, ids: int, capacity: int = 1, *, skip_the_line: bool = False, overbook: bool = False
    ) -> None:
        self.ids, self.capacity = ids, capacity
        self.skip_the_line, self.overbook = skip_the_line, overbook
        self.asked = 0

    def initial(self) -> Sequence[State[Shared, Slot]]:
        slots = (Slot(),) * self.ids
        return [State(Shared(self.capacity, owner=owner), slots) for owner in ("a", "b")]

    def part(self, lens: str, shared: Shared) -> Hashable:
        return (shared.capacity, shared.clock >= 2) if lens else shared

    def merge(self, lens: str, shared: Shared, after: Shared) -> Shared:  # noqa: ARG002
        return shared

    def residue(self, slot: Slot) -> Hashable:
        return slot if slot.kind == "waiting" else slot.kind == "held"

    def place(self, slot: Slot) -> tuple[Hashable, int] | None:
        return (slot.client, slot.rank) if slot.kind == "waiting" else None

    def placed(self, slot: Slot, rank: int) -> Slot:
        return evolve(slot, rank=rank)

    def fire(
        self, rule: Rule, shared: Shared, slot: Slot | None, context: tuple[Hashable, ...]
    ) -> Fired[Shared, Slot] | None:
        self.asked += 1
        if rule.name == "tick":
            if shared.clock == 2:
                return None
            return Fired("later", evolve(shared, clock=shared.clock + 1))
        if rule.name == "sweep":
            return self._sweep(shared, context)
        assert slot is not None
        if rule.name.startswith("wait"):
            if slot.kind != "free" or shared.owner != rule.name[-1]:
                return None
            return Fired("in line", shared, Slot("waiting", shared.owner))
        if rule.name == "take":
            return self._take(shared, slot, context)
        if slot.kind != "held":
            return None
        if rule.name == "hand over":
            return Fired("handed over", evolve(shared, owner=swapped(shared.owner)), slot)
        return Fired("finished", shared, Slot("done", slot.client))

    def _take(self, shared: Shared, slot: Slot, context: tuple[Hashable, ...]) -> Fired[Shared, Slot] | None:
        if slot.kind != "waiting":
            return None
        first = slot.rank == 0
        if not first and not self.skip_the_line:
            return Fired("not your turn", shared, slot)
        if context.count(True) >= shared.capacity and not (self.overbook and shared.clock >= 2):
            return Fired("full", shared, slot, witnessed=("in-turn",))
        return Fired(
            "taken",
            shared,
            Slot("held", slot.client),
            violated=() if first else ("in-turn",),
            witnessed=("in-turn",),
        )

    def _sweep(self, shared: Shared, context: tuple[Hashable, ...]) -> Fired[Shared, Slot] | None:
        """Once it is late, all who are second in a line give up."""
        if shared.clock < 2:
            return None
        others = tuple(
            Slot("done", each.client) if isinstance(each, Slot) and each.rank == 1 else None
            for each in context
        )
        return Fired("swept" if any(others) else "nothing to sweep", shared, None, others)


class Counters(Space[tuple[int, int], str]):
    """Two counters and no slots; which of them is which does not matter."""

    rules = (Rule("left", "whole"), Rule("right", "whole"), Rule("reset", "weather"))
    renamings = (
        Renaming[tuple[int, int], str](
            "mirror",
            lambda shared: (shared[1], shared[0]),
            lambda slot: slot,
            lambda rule: {"left": "right", "right": "left"}.get(rule, rule),
        ),
    )

    def __init__(self, most: int) -> None:
        self.most = most

    def initial(self) -> Sequence[State[tuple[int, int], str]]:
        return [State((0, 0))]

    def fire(
        self, rule: Rule, shared: tuple[int, int], slot: str | None, context: tuple[Hashable, ...]
    ) -> Fired[tuple[int, int], str] | None:
        assert slot is None
        assert context == ()
        left, right = shared
        if rule.name == "reset":
            return Fired("reset", (0, 0))
        after = (left + 1, right) if rule.name == "left" else (left, right + 1)
        return Fired("counted", after) if max(after) <= self.most else Fired("full", shared)
