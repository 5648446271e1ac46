"""What refusals quote and name: of foreign texts a bounded part, of the ledger's lines their numbers.

Doesn't: fix the wording.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from impl.gated import (
    ApplyRequest,
    Change,
    CompensationRequest,
    CompensationStep,
    Ledger,
    Step,
    audit_ledger,
    open_ledger,
)
from impl.gated.errors import LedgerError
from impl.gated.events import Place, event, same_kind
from impl.gated.lines import Draft, Position, check_line, make_line
from impl.gated.records import make_record
from impl.gated.tests.bench import HASH, adding, refused, sha256, with_events
from impl.gated.tests.damages import (
    INTEGRITY,
    flipped,
    lines_of,
    lose_mirror,
    put,
    refuses_and_changes_nothing,
)
from impl.gated.values import State
from impl.jsontext import FormatError

MARK = "\u0436"  # stands in no message by itself
around_200 = pytest.mark.parametrize("length", [1, 199, 200, 201, 5000])


@around_200
def test_a_conflict_quotes_key_and_operation_up_to_200_characters(ledger: Ledger, length: int) -> None:
    ledger.transact(adding(MARK * length))
    told = refused(lambda: ledger.transact(adding(MARK * length, 2)), "IDEMPOTENCY_CONFLICT", "operator")
    assert told.message.count(MARK) == min(length, 200)
    ledger.transact(adding("k", operation_id=MARK * length))
    told = refused(lambda: ledger.transact(adding("k", 2)), "IDEMPOTENCY_CONFLICT", "operator")
    assert told.message.count(MARK) == min(length, 200)


@around_200
def test_a_verifiers_no_quotes_the_operation_up_to_200_characters(ledger: Ledger, length: int) -> None:
    asked = adding("k", phase="verify", verify=lambda _: False, operation_id=MARK * length)
    told = refused(lambda: ledger.transact(asked), "VERIFY_GATE_FAILED", "rollback")
    assert told.message.count(MARK) == min(length, 200)


def a_place(phase: str = "receipt", *, run: str = "run", kind: str = "type") -> Place:
    return Place(run, "node", "op", None, kind, phase)


@around_200
def test_an_event_of_another_kind_quotes_key_run_and_type_up_to_200_characters(length: int) -> None:
    long = MARK * length
    for found, wanted in (
        (event(a_place("start"), "k", HASH, HASH), event(a_place(), long, HASH, HASH)),
        (event(a_place("start"), "k", HASH, HASH), event(a_place(run=long), "k", HASH, HASH)),
        (event(a_place("start", kind=long), "k", HASH, HASH), event(a_place(), "k", HASH, HASH)),
    ):
        told = refused(partial(same_kind, found, wanted), "IDEMPOTENCY_CONFLICT", "operator")
        assert told.message.count(MARK) == min(length, 200)


@around_200
def test_what_is_there_twice_is_quoted_up_to_200_characters(ledger: Ledger, length: int) -> None:
    def nothing() -> None:
        raise AssertionError("an ambiguous step was run")

    long = MARK * length
    steps = [Step(long, f"r{number}", number, True, HASH, HASH, nothing) for number in range(3)]
    with pytest.raises(ValueError, match=r"step id .* is there 3 times") as caught:
        ledger.apply_steps(ApplyRequest("run", "node", "op", steps))
    assert str(caught.value).count(MARK) == min(length, 200)
    undo = [CompensationStep(long, number, True, True, nothing) for number in range(2)]
    with pytest.raises(ValueError, match=r"step id .* is there 2 times") as caught:
        ledger.compensate(CompensationRequest("run", "node", "op", "k", HASH, HASH, undo))
    assert str(caught.value).count(MARK) == min(length, 200)


@pytest.mark.parametrize("length", [1, 59, 60, 61, 5000])
def test_a_row_that_won_t_do_is_named_up_to_60_characters(ledger: Ledger, length: int) -> None:
    def spoil(_: State) -> State:
        return {MARK * length: 1.5}

    spoilt = adding("k", mutate=spoil)
    with pytest.raises(ValueError, match="float") as caught:
        ledger.transact(spoilt)
    assert str(caught.value).count(MARK) == min(length, 60)


def a_line(edit: Callable[[Any], object] = lambda _: None) -> bytes:
    """Line 7, with its content edited and its hash made right for that."""
    raw = make_line(Draft(make_record(a_place(), "k", HASH, HASH), HASH), Position(6, HASH, 100, 50))[1]
    line = json.loads(raw)
    edit(line)
    del line["hash"]
    text = json.dumps(line, sort_keys=True, separators=(",", ":"))
    return text.replace('},"previousHash"', f'}},"hash":"{sha256(text)}","previousHash"', 1).encode()


@pytest.mark.parametrize("length", [1, 37, 38, 39, 5000])
def test_a_number_that_is_none_is_quoted_up_to_40_characters(length: int) -> None:
    raw = a_line().replace(b'"set":{}', f'"set":{{"x":0.{"7" * length}}}'.encode())
    with pytest.raises(FormatError, match="is no integer") as caught:
        check_line(raw, 7, HASH, 100)
    assert str(caught.value).count("7") == min(length, 38)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda line: line.update(sequence=6), "its sequence is not 7"),
        (lambda line: line.update(sequence=8), "its sequence is not 7"),
        (lambda line: line.update(previousHash="0" * 64), "the chain is broken"),
        (lambda line: line.update(previousHash="f" * 64), "the chain is broken"),
        (lambda line: line.update(requestHash="A" * 64), "requestHash is none"),
        (lambda line: line.update(requestHash="a" * 63), "requestHash is none"),
        (lambda line: line["record"].update(eventHash="0" * 64), "its eventHash is not"),
        (lambda line: line["record"].update(eventHash="f" * 64), "its eventHash is not"),
        (lambda line: line["record"].update(nodeId=""), "texts is empty"),
        (lambda line: line["record"].update(phase="done"), "none of the eight"),
        (lambda line: line["record"].pop("nodeId"), "lacks a field"),
        (lambda line: line["change"].update(remove=["b", "a"]), "not in order"),
        (lambda line: line["change"].update(remove=["a"], set={"a": 1}), "a row twice"),
        (lambda line: line.update(zmore=1), "a field too many"),
        (lambda line: line.update(requestHash=5), "one of its hashes is none"),
    ],
)  # fmt: skip
def test_a_line_that_is_none_is_told_why(edit: Callable[[Any], object], why: str) -> None:
    check_line(a_line(), 7, HASH, 100)
    with pytest.raises(FormatError, match=why):
        check_line(a_line(edit), 7, HASH, 100)


@pytest.mark.parametrize("key", ["k", 'es"caped'])
@pytest.mark.parametrize("beside", [1, 300])
@pytest.mark.parametrize(
    "spelt", ['"x":"\\ud800"', '"\\ud800":1', '"\\udfff":{"\\ud800":[]}', '"x":"\\u00e9"']
)
def test_an_escape_that_canonical_text_lacks_is_told_as_that(key: str, beside: int, spelt: str) -> None:
    draft = Draft(make_record(a_place(), key, HASH, HASH), HASH, Change({"a": "\u00e9" * beside}, ()))
    raw = make_line(draft, Position(6, HASH, 100, 50))[1][:-1]
    check_line(raw, 7, HASH, 100)
    with pytest.raises(FormatError, match="no canonical JSON"):
        check_line(raw.replace(b'"set":{', f'"set":{{{spelt},'.encode()), 7, HASH, 100)


@pytest.mark.parametrize("brackets", [0, 60, 101, 130])
def test_brackets_in_the_texts_of_a_short_line_don_t_change_what_is_told(brackets: int) -> None:
    raw = a_line().replace(b'"set":{}', f'"set":{{"x":"{"[" * brackets}\\ud800"}}'.encode())
    with pytest.raises(FormatError, match="its change is no canonical JSON"):
        check_line(raw, 7, HASH, 100)


@pytest.mark.parametrize("mark", ["0", "f"])
def test_a_hash_of_another_content_is_told(mark: str) -> None:
    line = json.loads(a_line())
    with pytest.raises(FormatError, match="its hash is not"):
        check_line(a_line().replace(line["hash"].encode(), mark.encode() * 64), 7, HASH, 100)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_wrong_line_is_named_by_its_number(directory: Path, number: int) -> None:
    with_events(directory, 5)
    lines = lines_of(directory)
    lines[number - 1] = flipped(lines[number - 1])
    put(directory, lines)
    lose_mirror(directory)
    assert f"line {number} of {directory}/ledger.jsonl is wrong" in refuses_and_changes_nothing(directory)
    told = [fault.message for fault in audit_ledger(directory).faults]
    assert any(f"line {number} of" in message for message in told)


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_wrong_line_behind_what_the_mirror_has_seen_is_named_by_its_number(
    ledger: Ledger, directory: Path, before: int
) -> None:
    for number in range(before):
        ledger.transact(adding(f"k{number}"))
    seen = lines_of(directory)
    ledger.transact(adding("more"))
    more = lines_of(directory)[-1]
    ledger.close()
    put(directory, seen)
    lose_mirror(directory)
    with open_ledger(directory) as again:
        put(directory, [*seen, more, flipped(more)])
        told = refused(again.state, INTEGRITY, "operator").message
        assert f"line {before + 2} of {directory}/ledger.jsonl is wrong" in told
        put(directory, [*seen, flipped(more), more])
        told = refused(again.state, INTEGRITY, "operator").message
        assert f"line {before + 1} of {directory}/ledger.jsonl is wrong" in told


@pytest.mark.parametrize(("first", "second"), [(1, 2), (1, 3), (2, 3), (2, 4)])
def test_a_key_that_is_there_twice_is_told_with_both_lines(directory: Path, first: int, second: int) -> None:
    at, raw = Position(), b""
    for number in range(1, 5):
        key = f"k{first if number == second else number}"
        line, text = make_line(Draft(make_record(a_place("apply"), key, HASH, HASH), HASH), at)
        at, raw = line.end, raw + text
    with_events(directory, 0)
    lose_mirror(directory)
    put(directory, [raw])
    assert f"lines {first} and {second} of the ledger" in refuses_and_changes_nothing(directory)
    assert f"lines {first} and {second} of the ledger" in audit_ledger(directory).faults[0].message


def test_an_error_says_where_it_struck_only_once() -> None:
    error = LedgerError("IDEMPOTENCY_CONFLICT", "x", "operator")
    assert error.at(a_place(run="first")).at(a_place(run="second")).run_id == "first"
