"""Records and lines: their hashes, their bytes, and what is no line."""

import hashlib
import json

import pytest

from model.gated.lines import chain_breaks_at, difference, fold, parsed, replayed, state_of
from model.gated.tests.worlds import A, B, a_step, apply, counted, lines, ok, opened, put
from model.gated.texts import canonical, is_plain
from model.gated.values import Change, Foul, State
from model.values import JSON


def sha(value: object) -> str:
    """Told once more, for values in ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_line_is_canonical_json_and_a_newline() -> None:
    (line,) = lines(ok(opened(), put("k", {"set": {"a": 1}}, intent={"x": 1}, attempt="first")))
    assert line.text.endswith(b"\n")
    form = json.loads(line.text)
    assert line.text.decode() == json.dumps(form, sort_keys=True, separators=(",", ":")) + "\n"
    assert sorted(form) == ["change", "hash", "previousHash", "record", "requestHash", "sequence"]
    assert form["sequence"] == 1
    assert form["previousHash"] == "0" * 64
    assert form["change"] == {"set": {"a": 1}, "remove": []}
    assert form.pop("hash") == sha(form) == line.hash


def test_the_event_hash_covers_all_other_fields_with_a_null_attempt() -> None:
    for attempt in (None, "first"):
        (line,) = lines(ok(opened(), put("k", {"set": {"a": 1}}, attempt=attempt)))
        form = json.loads(line.text)["record"]
        assert ("attemptId" in form) == (attempt is not None)
        digest = form.pop("eventHash")
        assert digest == sha({**form, "attemptId": attempt})
        assert form["beforeStateHash"] == sha({})
        assert form["afterStateHash"] == sha({"a": 1})


def test_the_request_hash_covers_the_intent_and_not_what_mutate_does() -> None:
    expected = sha(
        {
            "operationId": "op",
            "runId": "run",
            "nodeId": "node",
            "eventType": "event",
            "phase": "apply",
            "idempotencyKey": "k",
            "attemptId": None,
            "intent": [1],
        }
    )
    for name in ("a", "b"):
        (line,) = lines(ok(opened(), put("k", {"set": {name: 1}}, intent=[1])))
        assert line.request_hash == expected


def test_a_receipt_line_changes_nothing_and_has_the_hashes_of_its_step() -> None:
    (line,) = lines(ok(opened(), apply(a_step(1))))
    assert line.change == Change()
    assert (line.record.before_state_hash, line.record.after_state_hash) == (B, A)
    assert (line.record.event_type, line.record.phase) == ("scheduler.node.receipt", "receipt")


def test_a_replay_computes_the_same_hashes() -> None:
    assert [line.hash for line in lines(counted(3))] == [line.hash for line in lines(counted(3))]


def test_lines_chain() -> None:
    first, second, third = lines(counted(3))
    assert [each.sequence for each in (first, second, third)] == [1, 2, 3]
    assert (second.previous_hash, third.previous_hash) == (first.hash, second.hash)
    assert chain_breaks_at((first, second, third)) is None
    assert chain_breaks_at((first, third)) == 1
    assert chain_breaks_at((second, third)) == 0
    assert chain_breaks_at((first, Foul(b"x\n"), third)) == 1


def test_what_was_written_is_read_back() -> None:
    world = ok(opened(), put("k", {"set": {"größe": "\u20ac😀\n\u0001\x7f"}}, attempt="a"), apply(a_step(1)))
    for line in lines(world):
        assert parsed(line.text) == line


def test_any_flipped_bit_makes_it_no_line() -> None:
    (line,) = lines(ok(opened(), put("k", {"set": {"ü": 1}})))
    for at in range(len(line.text) - 1):
        for bit in (1, 32, 128):
            changed = bytearray(line.text)
            changed[at] ^= bit
            assert isinstance(parsed(bytes(changed)), Foul), (at, bit)


@pytest.mark.parametrize(
    "text", [b"\n", b"{}\n", b"[]\n", b"null\n", b"\xff\n", b'{"record":1}\n', b"[" * 5000 + b"\n"]
)
def test_other_bytes_are_no_line(text: bytes) -> None:
    assert parsed(text) == Foul(text)


def test_a_line_with_spaces_or_other_fields_is_none() -> None:
    (line,) = lines(counted(1))
    form = json.loads(line.text)
    assert isinstance(parsed(json.dumps(form, sort_keys=True).encode() + b"\n"), Foul)
    more = {**form, "more": 1}
    assert isinstance(parsed(canonical(more).encode() + b"\n"), Foul)
    for field, wrong in (("sequence", "1"), ("sequence", True), ("requestHash", "x"), ("change", {})):
        changed = {**form, field: wrong}
        del changed["hash"]
        sealed = {**changed, "hash": sha(changed)}
        assert isinstance(parsed(canonical(sealed).encode() + b"\n"), Foul), field


def test_canonical_json_sorts_by_utf16_code_units() -> None:
    assert canonical({"\uffff": 1, "😀": 2, "a": {"\ue000": [{"\uffff": 1, "😀": 2}]}}) == (
        '{"a":{"\ue000":[{"😀":2,"\uffff":1}]},"😀":2,"\uffff":1}'
    )
    assert canonical(['\u0000\b\t\n\f\r\u001f\u007f\u20ac"\\/']) == (
        '["\\u0000\\b\\t\\n\\f\\r\\u001f\u007f\u20ac\\"\\\\/"]'
    )


def test_a_row_is_named_and_plain() -> None:
    good: list[JSON] = [{}, {"a": None}, {"a": {"": [True, -(2**53 - 1), "😀"]}}]
    bad: list[JSON] = [None, [], "a", {"": 1}, {"a": 1.0}, {"a": 2**53}, {"\ud800": 1}, {"a": ["\udfff"]}]
    assert all(state_of(each) is not None for each in good)
    assert all(state_of(each) is None for each in bad)
    assert not is_plain({"a": {1}})


def test_a_change_holds_what_a_replay_needs() -> None:
    before = state_of({"gone": 1, "same": {"x": 1}, "other": 1, "one": True})
    after = state_of({"same": {"x": 1}, "other": 2, "new": None, "one": 1})
    assert before is not None
    assert after is not None
    change = difference(before, after)
    assert change == Change((("new", "null"), ("one", "1"), ("other", "2")), ("gone",))
    assert replayed(before, change) == after


def test_the_fold_of_a_ledger_is_its_state() -> None:
    world = ok(counted(3), put("k4", {"set": {"a": 1}, "remove": ["count"]}))
    assert fold(lines(world)).as_json() == {"a": 1}
    assert fold(()) == State()
