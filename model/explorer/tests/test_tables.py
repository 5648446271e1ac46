"""The fast engine's parts: keys, look-up tables, levels, ranks."""

import numpy as np
import pytest

from model.explorer.packed import lookup
from model.explorer.packed.layout import Layout, layout_for
from model.explorer.packed.levels import Levels
from model.explorer.packed.lookup import Derived, Growing, Ints, Multisets, Pairs, sorted_columns
from model.explorer.packed.ordering import arrangements, multiplicity
from model.explorer.space import settled
from model.explorer.tests.toys import Leases, Slot

RANDOM = np.random.default_rng(1)


def ints(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    "layout", [layout_for(3, 100, 50), layout_for(3, 1 << 40, 1 << 20), layout_for(0, 9, 9)]
)
def test_what_is_packed_is_unpacked(layout: Layout) -> None:
    columns = [RANDOM.integers(0, 50, 200) for _ in range(layout.slots + 1)]
    keys = layout.pack(columns)
    for before, after in zip(columns, layout.unpack(keys), strict=True):
        assert (before == after).all()


def test_keys_sort_as_their_rows_do_in_bits_and_in_bytes() -> None:
    columns = [RANDOM.integers(0, 300, 500) for _ in range(4)]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    for layout in (layout_for(3, 300, 300), Layout(3, 0, 0)):
        order = np.argsort(layout.pack(columns), kind="stable")
        assert [rows[place] for place in order.tolist()] == sorted(rows)


def test_a_layout_leaves_the_sign_alone_and_holds_what_it_says() -> None:
    layout = layout_for(5, 1 << 13, 1 << 10)
    assert layout.in_bits
    assert layout.shared + 5 * layout.slot == 63
    assert layout.holds(1 << 13, 1 << 10)
    top = [ints((1 << layout.shared) - 1), *(ints((1 << layout.slot) - 1) for _ in range(5))]
    assert layout.pack(top)[0] == 2**63 - 1
    assert not layout_for(6, 1 << 20, 1 << 8).in_bits


def test_levels_hold_each_state_once_and_keep_it_while_keys_grow_into_bytes() -> None:
    levels = Levels(2)
    levels.add(levels.layout.pack([ints(0, 0), ints(1, 1), ints(0, 0)]))
    assert len(levels.close()) == 1
    levels.add(levels.layout.pack([ints(1, 0, 1), ints(1, 1, 1), ints(0, 0, 0)]))
    assert len(levels.close()) == 1
    levels.kept.append(levels.levels[0])
    for shared, slots in ((1 << 20, 1 << 10), (1 << 30, 1 << 30)):
        levels.fit(shared, slots)
        levels.add(levels.layout.pack([ints(0, 1), ints(1, 1), ints(0, 0)]))
        assert levels.settle() == 0
        assert len(levels.close()) == 0
    assert not levels.layout.in_bits
    assert len(levels) == 2
    assert [column.tolist() for column in levels.layout.unpack(levels.kept[0])] == [[0], [1], [0]]
    assert levels.place(1) == (1, 0)


def test_a_pair_is_learned_once_in_the_order_of_appearance() -> None:
    asked: list[tuple[int, int, int]] = []

    def learn(first: int, second: int, row: int) -> int:
        asked.append((first, second, row))
        return first * 1000 + second

    pairs = Pairs(learn)
    assert pairs(ints(7, 3, 7), ints(1, 2, 1)).tolist() == [7001, 3002, 7001]
    assert pairs(ints(3, 500), ints(2, 900)).tolist() == [3002, 500900]
    assert asked == [(7, 1, 0), (3, 2, 1), (500, 900, 1)]
    assert pairs(ints(), ints()).tolist() == []


def test_a_table_too_large_to_be_dense_goes_on_in_sorted_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "DENSE_CELLS", 1 << 10)
    learned = []
    pairs = Pairs(lambda first, second, _row: learned.append((first, second)) or first + second)  # type: ignore[func-returns-value]
    for _ in range(20):
        first, second = RANDOM.integers(0, 60, 50), RANDOM.integers(0, 60, 50)
        assert (pairs(first, second) == first + second).all()
    assert len(learned) == len(set(learned)) > 500


def test_multisets_have_one_number_whatever_their_order() -> None:
    multisets = Multisets()
    numbers = multisets([ints(1, 2, 3, 3), ints(2, 1, 3, 3), ints(3, 3, 3, 1)])
    assert numbers[0] == numbers[1]
    assert len(set(numbers.tolist())) == 3
    assert multisets.values[int(numbers[3])] == (1, 3, 3)


def test_columns_are_sorted_row_by_row() -> None:
    columns = [RANDOM.integers(0, 9, 300) for _ in range(5)]
    told = np.stack(sorted_columns(columns))
    assert (told == np.sort(np.stack(columns), axis=0)).all()


def test_what_follows_from_a_number_is_worked_out_once() -> None:
    values, worked = ["a", "bb"], []

    def derive(number: int) -> int:
        worked.append(number)
        return len(values[number])

    derived = Derived(lambda: len(values), derive)
    assert derived(ints(1, 0, 1)).tolist() == [2, 1, 2]
    values.append("ccc")
    assert derived(ints(2)).tolist() == [3]
    assert worked == [0, 1, 2]


def test_a_growing_array_keeps_what_was_written_into_it() -> None:
    growing = Growing()
    growing.append(1)
    growing.array[0] += 41
    growing.extend(range(200))
    assert growing.array.tolist() == [42, *range(200)]
    assert len(growing) == 201


def test_slots_that_are_equal_are_counted() -> None:
    slots = [ints(1, 1, 1), ints(1, 2, 1), ints(2, 3, 1)]
    assert arrangements(slots, 3).tolist() == [3, 6, 1]
    assert [multiplicity(slots, place).tolist() for place in range(3)] == [[2, 1, 3], [0, 1, 0], [1, 1, 0]]


def test_who_joins_a_line_stands_last_and_who_leaves_makes_room() -> None:
    space = Leases(3)
    first, second, third = (Slot("waiting", "a", rank) for rank in range(3))
    free, held = Slot(), Slot("held", "a")
    assert settled(space, (free, first, free), (first, first, free)) == (second, first, free)
    assert settled(space, (first, second, third), (held, second, third)) == (held, first, second)
    other = Slot("waiting", "b")
    assert settled(space, (first, second, free), (first, second, other)) == (first, second, other)
    # Who changes from one line to another stands last there.
    assert settled(space, (first, other, free), (other, other, free)) == (
        Slot("waiting", "b", 1),
        other,
        free,
    )
