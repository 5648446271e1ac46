"""Records, requests, lines and their hashes, told a second time."""

import json
from typing import Any

import pytest

from impl.gated import ApplyRequest, Change, CompensationStep, Request, Step
from impl.gated.errors import LedgerError
from impl.gated.events import Place
from impl.gated.lines import Draft, Position, check_line, make_line, stored
from impl.gated.records import make_record, request_hash
from impl.gated.state import canonical, in_order, state_text
from impl.gated.tests.bench import HASH, adding, plain_text, sha256
from impl.jsontext import FormatError

ODD_TEXTS = ("a", 'quote"d', "back\\slash", "tab\there", "nul\0", "é", "\u2028", "\U0001f600", "\x7f", "{},:")


def a_place(text: str = "x", phase: str = "apply", attempt: str | None = None) -> Place:
    return Place(f"run {text}", f"node {text}", f"op {text}", attempt, f"type {text}", phase)


def a_line(
    text: str = "x", phase: str = "apply", attempt: str | None = None, change: Change | None = None
) -> bytes:
    record = make_record(a_place(text, phase, attempt), f"key {text}", HASH, HASH)
    draft = Draft(record, HASH, Change({text: {"n": 1}}, ()) if change is None else change)
    return make_line(draft, Position(6, HASH, 100, 50))[1]


def test_the_event_hash_covers_all_other_fields_with_null_for_no_attempt() -> None:
    record = make_record(a_place(), "k", HASH, "cd" * 32)
    fields: dict[str, Any] = {
        "operationId": "op x",
        "runId": "run x",
        "nodeId": "node x",
        "eventType": "type x",
        "phase": "apply",
        "idempotencyKey": "k",
        "beforeStateHash": HASH,
        "afterStateHash": "cd" * 32,
        "attemptId": None,
    }
    assert record.event_hash == sha256(plain_text(fields))
    tried = make_record(a_place(attempt="a1"), "k", HASH, "cd" * 32)
    assert tried.event_hash == sha256(plain_text(fields | {"attemptId": "a1"}))


def test_the_request_hash_covers_the_intent_and_not_what_mutate_is() -> None:
    request = adding("k", 2)
    fields: dict[str, Any] = {
        "operationId": "op",
        "runId": "run",
        "nodeId": "node",
        "eventType": "counter.added",
        "phase": "apply",
        "idempotencyKey": "k",
        "attemptId": None,
        "intent": {"add": 2, "row": "count"},
    }
    assert request_hash(request) == sha256(plain_text(fields))
    assert request_hash(adding("k", 2, mutate=lambda state: state)) == request_hash(request)
    assert request_hash(adding("k", 3)) != request_hash(request)


@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.parametrize("attempt", [None, "a", 'odd "attempt"'])
def test_a_line_is_canonical_json_and_chained(text: str, attempt: str | None) -> None:
    raw = a_line(text, attempt=attempt)
    line = json.loads(raw)
    assert raw == (plain_text(line) + "\n").encode()
    assert line["sequence"] == 7
    assert line["previousHash"] == HASH
    assert ("attemptId" in line["record"]) == (attempt is not None)
    rest = {name: value for name, value in line.items() if name != "hash"}
    assert line["hash"] == sha256(plain_text(rest))
    found = check_line(raw[:-1], 7, HASH, 100)
    assert (found.sequence, found.hash, found.key) == (7, line["hash"], f"key {text}")
    assert (found.scope, dict(found.change)) == ("", line["change"])
    assert (found.start, found.size) == (100, len(raw))


@pytest.mark.parametrize("phase", ["start", "receipt", "compensate"])
def test_lines_of_steps_have_keys_within_their_run(phase: str) -> None:
    assert check_line(a_line(phase=phase)[:-1], 7, HASH, 100).scope == "run x"


@pytest.mark.parametrize("text", ["plain", 'es"caped'])
def test_no_byte_of_a_line_can_be_another(text: str) -> None:
    raw = bytearray(a_line(text)[:-1])
    for place in range(len(raw)):
        for mask in (0x01, 0x20, 0x80):
            raw[place] ^= mask
            with pytest.raises(FormatError):
                check_line(bytes(raw), 7, HASH, 100)
            raw[place] ^= mask
    check_line(bytes(raw), 7, HASH, 100)


@pytest.mark.parametrize("text", ["plain", 'es"caped'])
def test_no_prefix_of_a_line_is_one_and_nothing_longer_either(text: str) -> None:
    raw = a_line(text)[:-1]
    for length in range(len(raw)):
        with pytest.raises(FormatError):
            check_line(raw[:length], 7, HASH, 100)
    for more in (b" ", b"}", b"{}", b"\0"):
        with pytest.raises(FormatError):
            check_line(raw + more, 7, HASH, 100)


def rehashed(raw: bytes, edit: Any) -> bytes:
    """A line whose content was edited, with hashes that are right for it."""
    line = json.loads(raw)
    edit(line)
    record = {name: value for name, value in line["record"].items() if name != "eventHash"}
    line["record"]["eventHash"] = sha256(plain_text({"attemptId": None} | record))
    line["hash"] = sha256(plain_text({name: value for name, value in line.items() if name != "hash"}))
    return plain_text(line).encode()


def test_an_edit_that_keeps_the_shape_and_mends_the_hashes_is_another_line() -> None:
    check_line(rehashed(a_line(), lambda line: line["change"]["set"].update(other=[1])), 7, HASH, 100)


@pytest.mark.parametrize(
    "edit",
    [
        lambda line: line["change"]["set"].update(x=1.5),
        lambda line: line["change"]["set"].update(x=2**53),
        lambda line: line["change"]["set"].update(x=-(2**53)),
        lambda line: line["change"]["set"].update({"": 1}),
        lambda line: line["change"].update(remove=["x"]),
        lambda line: line["change"].update(remove=["b", "a"]),
        lambda line: line["change"].update(remove=["b", "b"]),
        lambda line: line["change"].update(remove=[""]),
        lambda line: line["change"].update(remove=[1]),
        lambda line: line["change"].update(remove={}),
        lambda line: line["change"].update(more=1),
        lambda line: line["change"].update(zmore=1),
        lambda line: line.update(change={"set": [], "remove": []}),
        lambda line: line.update(change=None),
        lambda line: line.update(more=1),
        lambda line: line.update(requestHash="A" * 64),
        lambda line: line.update(requestHash="a" * 63),
        lambda line: line["record"].update(attemptId=None),
        lambda line: line["record"].update(attemptId=""),
        lambda line: line["record"].update(runId=""),
        lambda line: line["record"].update(phase="done"),
        lambda line: line["record"].update(more="x"),
        lambda line: line["record"].update(nodeId=5),
        lambda line: line["record"].update(beforeStateHash=""),
        lambda line: line["record"].pop("nodeId"),
        lambda line: line.pop("requestHash"),
        lambda line: line.update(sequence=8),
        lambda line: line.update(previousHash="0" * 64),
    ],
)
def test_content_that_is_none_is_refused_even_with_the_right_hashes(edit: Any) -> None:
    edited = rehashed(a_line(), edit)
    with pytest.raises(FormatError):
        check_line(edited, 7, HASH, 100)


@pytest.mark.parametrize(
    ("asked", "instead"),
    [
        (b'"n":1', b'"n":1e0'),
        (b'"n":1', b'"n":-0'),
        (b'"n":1', b'"n": 1'),
        (b'"n":1', b'"n":NaN'),
        (b'"n":1', b'"n":1,"n":1'),
        (b'"n":1', b'"n":' + b"[" * 5000),
        (b'"n":1', b'"n":' + b"9" * 5000),
        (b'"n":1', b'"n":"\\u0041"'),
        (b'"n":1', b'"n":"\\ud800"'),
        (b'"n":1', b'"n":"\xff"'),
        (b'"remove":[],"set":{"x":{"n":1}}', b'"set":{"x":{"n":1}},"remove":[]'),
        (b'"sequence":7', b'"sequence":07'),
        (b'"sequence":7', b'"sequence":7.0'),
    ],
)
def test_another_spelling_of_the_same_is_no_line(asked: bytes, instead: bytes) -> None:
    raw = a_line()[:-1]
    assert raw.count(asked) == 1
    with pytest.raises(FormatError):
        check_line(raw.replace(asked, instead), 7, HASH, 100)


JUNK = (b"", b"null", b"[]", b"{}", b'"x"', b"\0" * 700, b"[" * 100_000, b"\xff\xfe")


@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_no_line(junk: bytes) -> None:
    with pytest.raises(FormatError):
        check_line(junk, 7, HASH, 100)


def test_keys_sort_by_utf_16_code_units() -> None:
    astral, private = "\U0001f600", "\ufb33"
    assert sorted([astral, private]) == [private, astral]
    assert in_order([private, astral]) == [astral, private]
    value = {private: 1, astral: [{private: 1, astral: 2}]}
    assert canonical(value) == f'{{"{astral}":[{{"{astral}":2,"{private}":1}}],"{private}":1}}'
    assert state_text({private: "1", astral: "2"}) == f'{{"{astral}":2,"{private}":1}}'
    change = Change({private: 1, astral: 2}, ())
    check_line(a_line(change=change)[:-1], 7, HASH, 100)
    gone = Change({}, (astral, private))
    check_line(a_line(change=gone)[:-1], 7, HASH, 100)


def test_a_stored_line_gives_back_its_record_and_nothing_that_was_changed() -> None:
    raw = a_line(attempt="a1")
    record, asked = stored(raw[:-1].decode())
    assert record == make_record(a_place(attempt="a1"), "key x", HASH, HASH)
    assert asked == HASH
    for text in ("", "{}", "nonsense", raw[:-1].decode().replace("node x", "node y")):
        with pytest.raises(FormatError):
            stored(text)


BAD_TEXTS: tuple[Any, ...] = ("", None, 3, b"x", "\ud800", ["x"])


@pytest.mark.parametrize("bad", BAD_TEXTS)
@pytest.mark.parametrize(
    "name", ["operation_id", "run_id", "node_id", "event_type", "phase", "idempotency_key", "attempt_id"]
)
def test_a_request_with_a_text_that_is_none_is_a_value_error(name: str, bad: Any) -> None:
    if name == "attempt_id" and bad is None:
        return
    with pytest.raises(ValueError, match=name):
        adding("k", **{name: bad})


NO_JSON = (1.5, float("nan"), 2**53, (1,), {1: 2}, {"a": b""}, object(), "\udc00", {"\ud800": 1}, [True, 0.0])


@pytest.mark.parametrize("bad", NO_JSON)
def test_an_intent_that_is_no_json_is_a_value_error(bad: Any) -> None:
    with pytest.raises(ValueError, match="intent"):
        adding("k", intent=bad)


def test_an_intent_that_holds_itself_is_a_value_error() -> None:
    knot: list[Any] = []
    knot.append(knot)
    with pytest.raises(ValueError, match="levels deep"):
        adding("k", intent=knot)


@pytest.mark.parametrize("phase", ["start", "receipt", "compensate"])
def test_phases_of_steps_are_not_for_transactions(phase: str) -> None:
    with pytest.raises(ValueError, match="steps and compensations"):
        adding("k", phase=phase)


def test_a_verifier_goes_with_phase_verify_and_only_there() -> None:
    adding("k", phase="verify", verify=lambda _: True)
    for changed in ({"phase": "verify"}, {"verify": lambda _: True}):
        with pytest.raises(ValueError, match="verifier"):
            adding("k", **changed)
    with pytest.raises(ValueError, match="function"):
        adding("k", phase="verify", verify="yes")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Step("s", "r", True, True, HASH, HASH, lambda: None),
        lambda: Step("s", "r", 1, 1, HASH, HASH, lambda: None),  # type: ignore[arg-type]  # that it won't do is tested
        lambda: Step("s", "", 1, True, HASH, HASH, lambda: None),
        lambda: Step("s", "r", 1, True, "", HASH, lambda: None),
        lambda: Step("s", "r", 1, True, HASH, HASH, None),  # type: ignore[arg-type]  # as above
        lambda: CompensationStep("s", 1, True, None, lambda: None),  # type: ignore[arg-type]  # as above
        lambda: ApplyRequest("r", "n", "", []),
        lambda: Request("o", "r", "n", "e", "apply", "k", 1, None),  # type: ignore[arg-type]  # as above
    ],
)
def test_steps_and_requests_are_checked_where_they_are_made(make: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        make()


def test_an_error_survives_pickling_with_where_it_struck() -> None:
    import pickle

    error = LedgerError("SQLITE_MIRROR_FAILED", "it broke", "in_doubt", cause=OSError(5, "x")).at(adding("k"))
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.message, copy.recoverability) == (error.code, error.message, "in_doubt")
    assert (copy.run_id, copy.node_id, copy.operation_id, copy.phase) == ("run", "node", "op", "apply")
    assert str(copy) == "SQLITE_MIRROR_FAILED (in_doubt): it broke"
