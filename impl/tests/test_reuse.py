"""What is remembered between calls never changes what is accepted.

Guarantees: a state recognised by its bytes, grown from a known one, or sealed over a trusted one is judged
and hashed as if it were looked at whole and for the first time; canonical texts that are kept or extended
are those that would be made anew.

Doesn't: measure. The benchmarks do.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from impl import CoordinatorError
from impl.canonical import Chain, business_of, dumps, state_hash_of, value_text
from impl.codec import to_json
from impl.jsontext import FormatError
from impl.loading import Known, decode_grown, read_whole
from impl.tests.derive_store import uuid
from impl.tests.workbench import Bench, Caller, force, refusal, workbench
from impl.validate import validate


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    return Caller(bench.open(), bench)


def history(bench: Bench, call: Caller) -> Iterator[bytes]:
    """The file after each of some commits."""
    yield bench.state.read_bytes()
    for number in (9, 2, 5, 1):  # not in the order of their keys
        call.admitted(number)
        yield bench.state.read_bytes()
        bench.clock.advance(1)
    bench.authority.finish(call("readReservation", id=uuid(5))["reservation"])
    call("normalRelease", id=uuid(5))
    yield bench.state.read_bytes()
    call("forceRelease", "root", id=uuid(9), **force(3, reason="é \u2028 \U0001f600 \x1f"))
    yield bench.state.read_bytes()
    call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=7)
    yield bench.state.read_bytes()


def test_a_grown_state_is_read_as_the_same_value_as_from_scratch(bench: Bench, call: Caller) -> None:
    known: Known | None = None
    for raw in history(bench, call):
        whole = read_whole(raw)
        if known is not None:
            grown = read_whole(raw, known)
            assert decode_grown(raw, known) is not None
            assert grown.state == whole.state
            assert grown.chain.text == whole.chain.text
            assert grown.chain.hasher.hexdigest() == whole.chain.hasher.hexdigest()
            assert list(grown.state.reservations) == list(whole.state.reservations)
        known = whole


def test_a_grown_state_that_is_broken_is_refused_as_from_scratch(bench: Bench, call: Caller) -> None:
    """Every seventh byte after the known audit, one bit flipped."""
    states = list(history(bench, call))
    known, raw = read_whole(states[-2]), states[-1]
    end = len(b'{"audit":[' + known.chain.text)
    for position in range(end, len(raw), 7):
        flipped = bytearray(raw)
        flipped[position] ^= 1 << position % 5
        assert judged(bytes(flipped), known) == judged(bytes(flipped), None)
    for tail in (b",", b",]", b",,{", b"{", b"", b"]", b"}", b",\n{", b', {"commitSeq":1}'):
        broken = raw[:end] + tail + raw[end:]
        assert judged(broken, known) == judged(broken, None)


def judged(raw: bytes, known: Known | None) -> str:
    try:
        return read_whole(raw, known).state.state_hash
    except FormatError:
        return "S1"
    except CoordinatorError as error:
        return error.code


def test_an_older_epoch_under_a_known_audit_is_looked_at_again(bench: Bench, call: Caller) -> None:
    """S3 compares each entry's epoch with fencingEpoch: a fall of that one undoes what was vouched for."""
    call.reserve(1)
    raw = bench.state.read_bytes()
    known = read_whole(raw)
    fallen = raw.replace(b'"fencingEpoch":2', b'"fencingEpoch":1')
    assert judged(fallen, known) == judged(fallen, None) == "DURABILITY_FAILED"
    state = evolve(known.state, fencing_epoch=1)
    business = business_of(1, state.max_active_runs, state.reservations, state.commands)
    with pytest.raises(CoordinatorError, match=r"S3 audit\[0\]: epoch 2 is above"):
        validate(evolve(state, state_hash="f" * 64), business, "f" * 64, trusted=known.state)


def test_what_is_written_is_what_would_be_hashed_from_scratch(bench: Bench, call: Caller) -> None:
    for raw in history(bench, call):
        known = read_whole(raw)
        state = known.state
        for row in state.reservations.values():
            assert value_text(row) == dumps(to_json(row))
        business = business_of(state.fencing_epoch, state.max_active_runs, state.reservations, state.commands)
        assert state.state_hash == state_hash_of(state, Chain.of(state.audit), business)
        assert to_json(state) == json.loads(raw)


def test_a_published_state_is_recognised_by_its_very_bytes_alone(bench: Bench, call: Caller) -> None:
    """The same state in other bytes is read anew, and is no roll-back."""
    call.reserve(1)
    rewritten = json.dumps(json.loads(bench.state.read_bytes()), indent=1).encode() + b"\n"
    bench.state.write_bytes(rewritten)
    assert call("snapshot")["commitSeq"] == 2
    bench.state.write_bytes(rewritten.replace(b'"slots": 1', b'"slots": 1.0'))
    refusal(lambda: call("snapshot"), "DURABILITY_FAILED")


def test_a_value_that_breaks_the_shape_is_never_published(bench: Bench, call: Caller) -> None:
    """The clock may be so late that a time to live ends beyond what the format holds."""
    bench.clock.now = 2**53 - 1 - 60_000
    bench.authority.lease["expiresAt"] = 2**53 - 1
    call.reserve(1)
    bench.clock.advance(1)
    before = bench.state.read_bytes()
    error = refusal(lambda: call.reserve(2), "DURABILITY_FAILED")
    assert "S1" in error.message
    assert "reserved_expires_at" in error.message
    assert bench.state.read_bytes() == before


def test_canonical_text_is_that_of_rfc_8785() -> None:
    value: Any = {"b": [True, 1, '\u20ac$\u000f\nA\'B"\\\\"/'], "a": {"\U0001f600": 0, "\ufb33": 1}}
    assert dumps({"b": value["b"]}) == '{"b":[true,1,"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"]}'.encode()
