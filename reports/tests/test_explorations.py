"""Explorations: parts of one space become one object, and the table says what share was walked."""

from typing import Any

from reports.explorations import explorations_table, merged

CORE: dict[str, Any] = {
    "system": "coordinator", "space": "core", "verdict": "holds", "states": 755274, "orbits": 70914,
    "transitions": 30983074, "depth": 26,
}  # fmt: skip


def tours(taken: int, *, space: str = "small", whole: int = 300) -> dict[str, Any]:
    numbers = {"transitions": whole, "planned": taken, "taken": taken, "actions": 2 * taken}
    return {"system": "coordinator", "space": space, "tours": numbers}


def test_parts_of_one_space_are_one_object_in_the_order_of_first_mention() -> None:
    small: dict[str, Any] = {"system": "coordinator", "space": "small", "verdict": "holds", "states": 30}
    joined = merged(
        [tours(100), CORE, small, tours(150), {**tours(0), "kills": {"classes": 3, "points": 20}}]
    )
    assert [one["space"] for one in joined] == ["small", "core"]
    assert joined[0]["verdict"] == "holds"
    assert joined[0]["tours"] == {"transitions": 300, "planned": 250, "taken": 250, "actions": 500}
    assert joined[0]["kills"] == {"classes": 3, "points": 20}
    assert joined[1] == CORE


def test_spaces_of_two_systems_with_one_name_stay_apart() -> None:
    other = {**tours(7), "system": "ledger"}
    assert [one["system"] for one in merged([tours(5), other])] == ["coordinator", "ledger"]


def test_what_is_told_is_not_changed() -> None:
    one, two = tours(1), tours(2)
    merged([one, two])
    assert (one["tours"]["taken"], two["tours"]["taken"]) == (1, 2)


def test_the_table_says_what_share_was_walked() -> None:
    lines = explorations_table({"explorations": merged([CORE, tours(150)])})
    text = " ".join(lines)
    assert "755,274" in text
    assert "50%" in text
    assert "150 of 300, 50.0%" in text
    assert "(1 more were explored only)" in text
    named = {**CORE, "system": "ledger", "space": "two-compensators"}
    wide = explorations_table({"explorations": merged([CORE, named, {**tours(150), "space": "elsewhere"}])})
    assert all(len(line) <= 80 for line in [*lines, *wide])


def test_a_space_that_was_not_explored_and_one_that_was_not_toured_are_told_so() -> None:
    text = "\n".join(explorations_table({"explorations": [tours(3)]}))
    assert "not explored" in text
    assert "No space was toured" in "\n".join(explorations_table({"explorations": [CORE]}))


def test_where_nothing_was_explored_there_is_no_table() -> None:
    assert explorations_table({"explorations": []}) == []
    assert explorations_table({}) == []


def test_hostile_shapes_are_rendered_as_missing() -> None:
    odd: list[dict[str, Any]] = [
        {"system": 1, "space": None, "states": True, "tours": "x", "kills": [], "verdict": {"a": 1}}
    ]
    assert explorations_table({"explorations": odd})
    assert merged([{"tours": {"taken": "many"}}, {"tours": {"taken": 3}}])[0]["tours"] == {"taken": 3}
