"""What opening does about every state that the ledger may be in."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.gated import open_ledger
from impl.gated.tests.bench import (
    adding,
    photograph,
    plain_text,
    refused,
    reopened,
    sha256,
    with_events,
)
from impl.gated.tests.damages import (
    DAMAGES,
    INTEGRITY,
    lines_of,
    lose_mirror,
    put,
    put_mirror,
    refuses_and_changes_nothing,
    report_of,
    spoil_mirror,
    take_mirror,
)


@pytest.mark.parametrize("mirror", [lambda _: None, lose_mirror, spoil_mirror])
def test_a_tail_torn_anywhere_is_cut_off_and_told(directory: Path, mirror: Callable[[Path], None]) -> None:
    with_events(directory, 2)
    old = take_mirror(directory)
    with_events(directory, 3)
    whole = lines_of(directory)
    for length in (1, 2, len(whole[2]) // 2, len(whole[2]) - 2, len(whole[2]) - 1):
        put(directory, [*whole[:2], whole[2][:length]])
        put_mirror(directory, old)
        mirror(directory)
        with open_ledger(directory) as ledger:
            assert ledger.recovery.cut_bytes == length
            assert any(str(length) in note for note in ledger.recovery.notes)
            assert ledger.state() == {"count": 1}
            ledger.transact(adding("next", 10))
        assert lines_of(directory)[:2] == whole[:2]
        assert reopened(directory)[1] == {"count": 11}, "the record after a torn line was swallowed by it"


def test_a_tail_torn_inside_a_character_of_several_bytes_is_cut_off(directory: Path) -> None:
    with open_ledger(directory) as ledger:
        ledger.transact(adding("k1"))
    old = take_mirror(directory)
    with open_ledger(directory) as ledger:
        ledger.transact(adding("\U0001f600"))
    first, second = lines_of(directory)
    start = second.index("\U0001f600".encode())
    for length in range(start + 1, start + 4):
        put(directory, [first, second[:length]])
        put_mirror(directory, old)
        assert report_of(directory).cut_bytes == length
        assert lines_of(directory) == [first]


def test_a_torn_tail_that_the_mirror_has_seen_is_refused(directory: Path) -> None:
    with_events(directory, 3)
    whole = lines_of(directory)
    for length in (1, len(whole[2]) - 1):
        put(directory, [*whole[:2], whole[2][:length]])
        assert "3 events" in refuses_and_changes_nothing(directory)


def test_zeros_at_the_end_are_a_torn_tail(directory: Path) -> None:
    with_events(directory, 2)
    with (directory / "ledger.jsonl").open("ab") as ledger:
        ledger.write(bytes(5000))
    assert report_of(directory).cut_bytes == 5000


def bad_last_lines(line: bytes) -> list[bytes]:
    return [
        b"\n",
        b"{}\n",
        bytes(100) + b"\n",
        line[:50] + b"\0" * 20 + line[70:],
        line.replace(b"op", b"oq"),
    ]


@pytest.mark.parametrize("kind", range(5))
def test_a_whole_last_line_that_is_none_is_cut_if_a_sound_mirror_ends_just_before_it(
    directory: Path, kind: int
) -> None:
    with_events(directory, 2)
    old = take_mirror(directory)
    with_events(directory, 3)
    whole = lines_of(directory)
    bad = bad_last_lines(whole[2])[kind]
    put(directory, [*whole[:2], bad])
    put_mirror(directory, old)
    assert report_of(directory).cut_bytes == len(bad)
    assert lines_of(directory) == whole[:2]


@pytest.mark.parametrize("kind", range(5))
def test_a_whole_last_line_that_is_none_is_refused_otherwise(directory: Path, kind: int) -> None:
    with_events(directory, 1)
    behind = take_mirror(directory)
    with_events(directory, 3)
    seen = take_mirror(directory)
    whole = lines_of(directory)
    bad = bad_last_lines(whole[2])[kind]
    for mirror in (seen, behind, b"no database" * 1000, None):
        put(directory, [*whole[:2], bad])
        put_mirror(directory, mirror or b"")
        if mirror is None:
            lose_mirror(directory)
        before = photograph(directory)
        refused(lambda: open_ledger(directory), INTEGRITY, "operator")
        assert (directory / "ledger.jsonl").read_bytes() == before["ledger.jsonl"]
        assert not list(directory.glob("*.aside-*"))


def test_a_bad_line_before_a_torn_tail_is_not_the_last(directory: Path) -> None:
    with_events(directory, 2)
    old = take_mirror(directory)
    put(directory, [*lines_of(directory), b"{}\n", b'{"torn'])
    put_mirror(directory, old)
    refuses_and_changes_nothing(directory)


# --- the ledger's body -------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_whatever_else_is_wrong_is_refused_with_nothing_changed(
    directory: Path, damage: Callable[[list[bytes]], list[bytes]]
) -> None:
    with_events(directory, 4)
    put(directory, damage(lines_of(directory)))
    refuses_and_changes_nothing(directory)


@pytest.mark.parametrize("mirror", [lose_mirror, spoil_mirror])
@pytest.mark.parametrize(
    "name", [name for name in DAMAGES if name not in ("the last line cut off", "all lines cut off")]
)
def test_a_ledger_that_is_wrong_is_refused_without_a_mirror_as_well(
    directory: Path, name: str, mirror: Callable[[Path], None]
) -> None:
    with_events(directory, 4)
    mirror(directory)
    put(directory, DAMAGES[name](lines_of(directory)))
    before = photograph(directory)
    refused(lambda: open_ledger(directory), INTEGRITY, "operator")
    after = photograph(directory)
    assert {name: after.get(name) for name in before} == before


def edited(line: bytes, previous_hash: str | None, edit: Callable[[dict[str, Any]], None]) -> bytes:
    """A line with other content and hashes that are right for it."""
    shown: dict[str, Any] = json.loads(line)
    edit(shown)
    shown["previousHash"] = previous_hash or shown["previousHash"]
    record = {name: value for name, value in shown["record"].items() if name != "eventHash"}
    shown["record"]["eventHash"] = sha256(plain_text({"attemptId": None} | record))
    shown["hash"] = sha256(plain_text({name: value for name, value in shown.items() if name != "hash"}))
    return (plain_text(shown) + "\n").encode()


def test_a_history_that_was_written_anew_with_right_hashes_is_on_another_chain(directory: Path) -> None:
    with_events(directory, 2)
    first, second = lines_of(directory)
    first = edited(first, None, lambda line: line["change"]["set"].update(count=1000))
    hash_ = json.loads(first)["hash"]
    put(directory, [first, edited(second, hash_, lambda _: None)])
    assert "another hash" in refuses_and_changes_nothing(directory)


def test_one_key_twice_is_refused(directory: Path) -> None:
    with_events(directory, 2)
    first, second = lines_of(directory)
    again = edited(second, None, lambda line: line["record"].update(idempotencyKey="k0"))
    put(directory, [first, again])
    lose_mirror(directory)
    before = (directory / "ledger.jsonl").read_bytes()
    assert "same key" in refused(lambda: open_ledger(directory), INTEGRITY, "operator").message
    assert (directory / "ledger.jsonl").read_bytes() == before


def test_a_ledger_that_is_gone_is_refused_while_the_mirror_knows_of_it(directory: Path) -> None:
    with_events(directory, 2)
    (directory / "ledger.jsonl").unlink()
    refuses_and_changes_nothing(directory)
    assert not (directory / "ledger.jsonl").exists()


def test_whole_records_cut_off_with_the_mirror_gone_as_well_can_t_be_noticed(directory: Path) -> None:
    """So the documents say, and an audit takes an anchor."""
    with_events(directory, 3)
    put(directory, lines_of(directory)[:2])
    lose_mirror(directory)
    assert report_of(directory).mirror == "rebuilt"
