"""A model that several explorers can be measured on: reservations under a capacity, a clock and epochs.

Of the shape of published measurements (four ids, capacity 1-3, clock 0-2, epochs 1-3), with rules of our
own: 32,432 orbits under permutation of four ids stand for 578,415 states. Told twice: as a `Space`, and as
plain successors of frozen values, as one would write it for other tools.
"""

from collections.abc import Hashable, Iterator, Sequence

from attrs import evolve, frozen

from model.explorer.space import Fired, Rule, Space, State

CLOCK, EPOCHS, CAPACITY, TTL = 2, 3, 3, 2
HOLDING = frozenset({"reserved", "committed", "orphan-suspect"})


@frozen
class Around:
    capacity: int
    clock: int = 0
    epoch: int = 1


@frozen
class Row:
    """`state` is `none` for an id that is not used."""

    state: str = "none"
    expires: int = 0
    epoch: int = 0
    admitted: bool = False


class Reservations(Space[Around, Row]):
    """The model as a space: only `reserve` looks at other rows, and only at whether they hold a slot."""

    rules = (
        Rule("tick", "weather"),
        Rule("take over", "weather"),
        Rule("reserve", "call"),
        *(Rule(name, "local") for name in ("admit", "commit", "sweep", "suspect", "release", "force")),
    )

    def __init__(self, ids: int) -> None:
        self.ids = ids

    def initial(self) -> Sequence[State[Around, Row]]:
        return [State(Around(capacity), (Row(),) * self.ids) for capacity in range(1, CAPACITY + 1)]

    def residue(self, slot: Row) -> bool:
        return slot.state in HOLDING

    def drifts(self, rule: Rule) -> bool:  # noqa: ARG002  # as Space has it
        return False

    def fire(
        self, rule: Rule, shared: Around, slot: Row | None, context: tuple[Hashable, ...]
    ) -> Fired[Around, Row] | None:
        if slot is None:
            after = around(rule.name, shared)
            return None if after is None else Fired("done", after)
        row = changed(rule.name, shared, slot, held=context.count(True))
        return None if row is None else Fired("done", shared, row)


def around(name: str, now: Around) -> Around | None:
    """What becomes of the surroundings, or `None` where it cannot happen."""
    if name == "tick":
        return evolve(now, clock=now.clock + 1) if now.clock < CLOCK else None
    return evolve(now, epoch=now.epoch + 1) if now.epoch < EPOCHS else None


def changed(name: str, now: Around, row: Row, *, held: int) -> Row | None:
    """What becomes of a row while `held` others hold slots, or `None` where it cannot happen."""
    if name == "reserve":
        free = row.state == "none" and held < now.capacity
        return Row("reserved", now.clock + TTL, now.epoch) if free else None
    if row.state == "reserved":
        if name == "admit":
            return None if row.admitted else evolve(row, admitted=True)
        if name == "commit":
            return Row("committed", epoch=now.epoch) if row.admitted else None
        if name == "sweep" and now.clock >= row.expires:
            return Row("committed", epoch=now.epoch) if row.admitted else Row("expired")
    if name == "suspect":
        return Row("orphan-suspect", epoch=now.epoch) if row.state == "committed" else None
    if name == "release":
        return Row("released") if row.state in ("committed", "orphan-suspect") else None
    if name == "force":
        return Row("forced") if row.state in HOLDING else None
    return None


@frozen
class Plain:
    """A state as one would write it down for a checker that takes any values."""

    now: Around
    rows: tuple[Row, ...]


def starts(ids: int) -> list[Plain]:
    return [Plain(each.shared, each.slots) for each in Reservations(ids).initial()]


def after(state: Plain, name: str, place: int | None) -> Plain | None:
    """The state after rule `name` on the row at `place`, or `None` where it cannot happen."""
    if place is None:
        now = around(name, state.now)
        return None if now is None else evolve(state, now=now)
    held = sum(row.state in HOLDING for at, row in enumerate(state.rows) if at != place)
    row = changed(name, state.now, state.rows[place], held=held)
    return None if row is None else evolve(state, rows=(*state.rows[:place], row, *state.rows[place + 1 :]))


def labels(ids: int) -> list[tuple[str, int | None]]:
    """Every rule and the place it acts on."""
    told: list[tuple[str, int | None]] = []
    for rule in Reservations.rules:
        told += [(rule.name, None)] if rule.scope == "weather" else [(rule.name, at) for at in range(ids)]
    return told


def successors(state: Plain) -> Iterator[tuple[str, Plain]]:
    for name, place in labels(len(state.rows)):
        reached = after(state, name, place)
        if reached is not None:
            yield name if place is None else f"{name} {place}", reached
