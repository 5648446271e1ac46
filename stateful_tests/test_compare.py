"""The comparison sees every kind of difference, and none where there is none."""

from typing import Any

import pytest

from stateful_tests.compare import ABSENT, Difference, differences, same

ROW = {"reservation": {"reservationId": "a", "state": "reserved", "slots": 1}, "updatedAt": 5}
OTHER = {"reservation": {"reservationId": "b", "state": "committed", "slots": 1}, "updatedAt": 6}
COMMAND = {"record": {"commandId": "c", "status": "completed"}, "result": 3}


def _changed(**changed: Any) -> dict[str, Any]:
    return {**ROW, "reservation": {**ROW["reservation"], **changed}}  # type: ignore[dict-item]  # a test's row


@pytest.mark.parametrize(
    ("model", "store", "path"),
    [
        (1, 2, "(all)"),
        (None, 0, "(all)"),
        ({"a": 1}, {"a": 2}, "a"),
        ({"a": 1}, {}, "a"),
        ({}, {"a": 1}, "a"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "a.b[1]"),
        ([1], [1, 2], "[1]"),
        ([1, 2], [2, 1], "[0]"),
        ([ROW], [_changed(state="committed")], "[a].reservation.state"),
        ([ROW, OTHER], [ROW], "[b]"),
        ([COMMAND], [{**COMMAND, "result": 4}], "[c].result"),
        ({"a": "x"}, {"a": ["x"]}, "a"),
    ],
)
def test_each_kind_of_difference_is_seen_at_its_place(model: Any, store: Any, path: str) -> None:
    assert not same(model, store)
    assert differences(model, store)[0].path == path


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), (1, "1"), (None, "")])
def test_kinds_of_values_are_told_apart(one: Any, other: Any) -> None:
    for model, store in (
        (one, other),
        ({"a": one}, {"a": other}),
        ([one], [other]),
        ({"a": [ROW, {"b": one}]}, {"a": [ROW, {"b": other}]}),
    ):
        assert not same(model, store)
        assert differences(model, store)


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [ROW, OTHER], {"a": [1, {"b": None}]}])
def test_equal_values_have_no_difference(value: Any) -> None:
    assert same(value, value)
    assert differences(value, value) == ()


def test_the_order_of_rows_and_commands_is_ignored() -> None:
    assert same([ROW, OTHER], [OTHER, ROW])
    assert same(
        {"commands": [COMMAND, {"record": {"commandId": "d"}}]},
        {"commands": [{"record": {"commandId": "d"}}, COMMAND]},
    )


def test_a_row_that_stands_twice_is_a_difference() -> None:
    assert not same([ROW], [ROW, ROW])
    assert not same([ROW, OTHER], [ROW, ROW])


def test_what_is_missing_is_shown_as_absent() -> None:
    assert differences({"a": 1}, {}) == (Difference("a", 1, ABSENT),)
    assert differences([ROW], [])[0].store == ABSENT


def test_the_list_of_differences_is_bounded() -> None:
    assert len(differences(list(range(1_000)), list(range(1, 1_001)))) == 40
