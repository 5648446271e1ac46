"""The independent reader accepts what the specification allows, and catches what was tampered with."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from stateful_tests.reader import ZERO_HASH, StateReader

ROW_ID = "a0000000-0000-4000-8000-000000000001"
State = dict[str, Any]


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def _row(n: int) -> State:
    name = ROW_ID[:-1] + str(n)
    reservation = {"reservationId": name, "state": "reserved", "slots": 1, "reservedExpiresAt": 9}
    return {"reservation": reservation, "ownerId": "ö", "principal": "p", "updatedAt": n}


def _state(commits: int) -> State:
    """A state of `commits` commits, each after the first adding a row."""
    state: State = {
        "version": 1,
        "fencingEpoch": 1,
        "commitSeq": 0,
        "lastWallTime": 0,
        "directoryIdentity": {"canonicalPath": "/s", "dev": 1, "ino": 2},
        "instanceId": ROW_ID,
        "maxActiveRuns": 9,
        "reservations": {},
        "commands": {},
        "audit": [],
    }
    for number in range(1, commits + 1):
        if number > 1:
            row = _row(number)
            state["reservations"][row["reservation"]["reservationId"]] = row
        state["commitSeq"] = state["lastWallTime"] = number
        entry = {
            "commitSeq": number,
            "epoch": 1,
            "recordedAt": number,
            "action": "reserve",
            "principal": "p",
            "previousHash": state["audit"][-1]["hash"] if state["audit"] else ZERO_HASH,
            "stateDigest": _digest(state),
        }
        state["audit"].append({**entry, "hash": _hash(entry)})
    state["stateHash"] = _hash(state)
    return state


def _digest(state: State) -> str:
    return _hash(
        {name: state[name] for name in ("fencingEpoch", "maxActiveRuns", "reservations", "commands")}
    )


def _rehashed(state: State) -> State:
    """`state` with a stateHash that is right again, whatever else is not."""
    body = {name: value for name, value in state.items() if name != "stateHash"}
    return {**body, "stateHash": _hash(body)}


def _bytes(state: State, **how: Any) -> bytes:
    usual: State = {"separators": (",", ":"), "ensure_ascii": False}
    return (json.dumps(state, **(usual | how)) + "\n").encode()


def _spoil(change: Callable[[State], Any], *, rehash: bool = True) -> bytes:
    state = _state(3)
    change(state)
    return _bytes(_rehashed(state) if rehash else state)


@pytest.mark.parametrize(
    "how", [{}, {"indent": 1}, {"ensure_ascii": True}, {"sort_keys": True}, {"separators": None}]
)
def test_any_key_order_and_spacing_is_read(how: State) -> None:
    reading = StateReader().read(_bytes(_state(3), **how))
    assert reading.problems == ()
    assert reading.store is not None
    assert [entry["commitSeq"] for entry in reading.store["audit"]] == [1, 2, 3]
    assert [row["updatedAt"] for row in reading.store["reservations"]] == [2, 3]
    assert "hash" not in reading.store["audit"][0]


def test_a_growing_history_is_read_as_from_scratch() -> None:
    reader = StateReader()
    for commits in (1, 2, 3, 3, 5, 2, 4):
        raw = _bytes(_state(commits))
        assert reader.read(raw) == StateReader().read(raw)
        assert reader.read(raw).problems == ()


TAMPERED: dict[str, bytes] = {
    "stateHash": _spoil(lambda state: state.update(stateHash=ZERO_HASH), rehash=False),
    "a row, hashes left": _spoil(lambda state: state["reservations"].popitem(), rehash=False),
    "a row, stateHash made right": _spoil(lambda state: state["reservations"].popitem()),
    "the maximum": _spoil(lambda state: state.update(maxActiveRuns=10)),
    "an entry's hash": _spoil(lambda state: state["audit"][1].update(hash=ZERO_HASH)),
    "an entry's principal": _spoil(lambda state: state["audit"][1].update(principal="q")),
    "an entry's previousHash": _spoil(lambda state: state["audit"][1].update(previousHash=ZERO_HASH)),
    "an entry's number": _spoil(lambda state: state["audit"][1].update(commitSeq=3)),
    "the last entry gone": _spoil(lambda state: state["audit"].pop()),
    "the first entry gone": _spoil(lambda state: state["audit"].pop(0)),
    "no audit": _spoil(lambda state: state.update(audit=[], commitSeq=0)),
    "an unknown key": _spoil(lambda state: state.update(more=1)),
    "a missing key": _spoil(lambda state: state.pop("instanceId")),
    "another version": _spoil(lambda state: state.update(version=2)),
    "a boolean version": _spoil(lambda state: state.update(version=True)),
    "a text for a number": _spoil(lambda state: state.update(lastWallTime="3")),
    "an epoch above": _spoil(lambda state: state.update(fencingEpoch=0)),
    "an early lastWallTime": _spoil(lambda state: state.update(lastWallTime=2)),
    "nothing": b"",
    "half of it": _bytes(_state(3))[:400],
    "two newlines": _bytes(_state(3)) + b"\n",
    "no newline": _bytes(_state(3))[:-1],
    "a key twice": _bytes(_state(3)).replace(b'{"version":1,', b'{"version":1,"version":1,', 1),
    "a row's key twice": _bytes(_state(3)).replace(b'"updatedAt":2', b'"updatedAt":2,"updatedAt":2', 1),
    "a fraction": _bytes(_state(3)).replace(b'"updatedAt":2', b'"updatedAt":2.0', 1),
    "no UTF-8": _bytes(_state(3)).replace("ö".encode(), b"\xff"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_caught_by_a_fresh_reader_and_by_one_that_knew_the_state(what: str) -> None:
    fresh, knowing = StateReader(), StateReader()
    assert knowing.read(_bytes(_state(2))).problems == ()
    assert knowing.read(_bytes(_state(3))).problems == ()
    for reader in (fresh, knowing):
        reading = reader.read(TAMPERED[what])
        assert reading.store is None
        assert len(reading.problems) == 1


def test_a_boolean_in_a_row_is_caught_even_where_every_hash_is_right() -> None:
    state = _state(1)
    row = _row(2)
    row["reservation"]["slots"] = True
    state["reservations"][row["reservation"]["reservationId"]] = row
    entry = {**state["audit"][0], "stateDigest": _digest(state)}
    del entry["hash"]
    state["audit"] = [{**entry, "hash": _hash(entry)}]
    reading = StateReader().read(_bytes(_rehashed(state)))
    assert len(reading.problems) == 1
    assert reading.problems[0].endswith("000000000002.reservation.slots is a boolean")


def test_the_reader_recovers_after_a_bad_state() -> None:
    reader = StateReader()
    assert reader.read(b"nonsense\n").problems
    assert reader.read(_bytes(_state(3))).problems == ()
