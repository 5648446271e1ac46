"""The on-disk format is the original implementation's, both ways.

Two fixtures open here and are continued: one that the original wrote, one derived from the specification
(`fixtures/*/README.md`). What `impl` then writes is judged by `independent`, which shares no code with it.
The canonical text itself is pinned against digests that Node's own `JSON.stringify` gave.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import impl
from impl.tests import derive_store, independent
from impl.tests.derive_store import uuid
from impl.tests.workbench import EPOCH, Bench, Caller, photograph, workbench

FIXTURES = Path(__file__).parent / "fixtures"
QUEUE = ("writer.lock.queue", "writer.lock.queue.lock", "writer.lock.queue.1790000000000-77-abc")


@pytest.fixture(params=["seed_written", "derived"])
def fixture(request: pytest.FixtureRequest) -> Path:
    return FIXTURES / str(request.param)


@pytest.fixture
def bench(fixture: Path) -> Iterator[Bench]:
    with workbench() as made:
        made.directory.mkdir(mode=0o700)
        independent.rehome(fixture, made.directory)
        made.authority.people["alice"] = {"principal": "p1", "ownerId": "o1", "operator": True}
        made.authority.people["op"] = {"principal": "op1", "ownerId": "o1", "operator": True}
        yield made


def plain(value: Any) -> Any:
    """A state as its content: neither the order of keys nor this directory's identity matters."""
    ignored = ("directoryIdentity", "stateHash")
    return {key: item for key, item in value.items() if key not in ignored}


def test_the_derived_fixture_is_what_its_script_writes_byte_for_byte(tmp_path: Path) -> None:
    script = Path(derive_store.__file__)
    subprocess.run([sys.executable, "-I", str(script), str(tmp_path)], check=True, timeout=30)
    for name in (independent.STATE, independent.IDENTITY):
        assert (tmp_path / name).read_bytes() == (FIXTURES / "derived" / name).read_bytes()


def test_canonical_text_hashes_as_node_hashes_it() -> None:
    every = "".join(chr(code) for code in range(0x10000) if not 0xD800 <= code <= 0xDFFF)
    every += "\U00010000\U0001f600\U0010ffff"
    keys = {"\U0001f600": 1, "\ufb33": 2, "a": 3, "A": 4, "é": 5, "": 6, "10": 7, "9": 8}
    scalars: list[Any] = [9007199254740991, 0, 0, 1.0, True, None, [], {}]
    pinned = {
        "32979338b277dccd82c9e7f4f776c122ae1674776cb3095f44621bb81839f473": every,
        "96a45bc1279b895d03c5a1e45a0518c79df251a4e84335e2154c9ccd669d1ad4": keys,
        "2c636e018309c9e4d2762127739fed9a914a87f167cce4004c9ee04fe73338a3": scalars,
    }
    assert {derive_store.digest(value): value for value in pinned.values()} == pinned


def test_the_independent_judge_finds_nothing_wrong_with_a_fixture(bench: Bench) -> None:
    assert independent.store_faults(bench.directory) == []


def hash_holders(state: Any) -> Iterator[tuple[Any, str]]:
    """Each object of a state that holds a hash, with that hash's key."""
    yield state, "stateHash"
    for entry in state["audit"]:
        yield from ((entry, key) for key in ("previousHash", "stateDigest", "hash"))
    for command in state["commands"].values():
        if "request" in command:  # nothing binds the hash of an old command without one
            yield command["record"], "requestHash"


def test_the_independent_judge_sees_every_hash_of_a_fixture_broken(fixture: Path) -> None:
    """Without this, a judge that checked nothing would pass all the tests below."""
    seen: set[str] = set()
    content = (fixture / independent.STATE).read_bytes()
    for number, _ in enumerate(hash_holders(independent.parse(content))):
        state = independent.parse(content)
        holder, key = list(hash_holders(state))[number]
        holder[key] = holder[key][:-1] + ("0" if holder[key][-1] != "0" else "1")
        if key != "stateHash":
            state["stateHash"] = derive_store.digest(derive_store.without(state, "stateHash"))
        found = independent.faults(state)
        assert found, (number, key)
        seen.update(fault[:2] for fault in found)
    assert seen == {"S2", "S3", "S4", "S9"}


def test_a_fixture_opens_and_reads_whole_without_a_byte_changed_but_for_the_epoch(bench: Bench) -> None:
    stored = bench.read_state()
    bench.authority.lease["fencingEpoch"] = stored["fencingEpoch"]
    before = bench.state.read_bytes()
    store = bench.open(epoch=stored["fencingEpoch"])
    seen = Caller(store, bench)("snapshot")
    assert seen["reservations"] == list(stored["reservations"].values())
    assert seen["commands"] == list(stored["commands"].values())
    assert (seen["commitSeq"], seen["fencingEpoch"]) == (stored["commitSeq"], stored["fencingEpoch"])
    assert seen["capacity"]["maxActiveRuns"] == stored["maxActiveRuns"]
    assert seen["concurrencyGuarantee"] == "operator-overridden"
    assert bench.state.read_bytes() == before
    assert impl.read_durable_epoch(bench.directory) == stored["fencingEpoch"]
    assert impl.audit_directory(bench.directory).faults == ()


def test_each_row_and_command_of_a_fixture_reads_as_it_is_written(bench: Bench) -> None:
    stored = bench.read_state()
    call = Caller(bench.open(), bench)
    for key, row in stored["reservations"].items():
        bench.authority.people["owner"] = {
            "principal": row["principal"],
            "ownerId": row["ownerId"],
            "operator": False,
        }
        assert call("readReservation", "owner", id=key) == row
    for key, command in stored["commands"].items():
        caller = command["record"]["callerPrincipal"]
        bench.authority.people["caller"] = {"principal": caller, "ownerId": "anyone", "operator": False}
        assert call("readCommand", "caller", id=key) == command


def continue_store(bench: Bench) -> None:
    """Every operation once, on top of what a fixture holds."""
    call = Caller(bench.open(), bench)
    call("setMaxActiveRuns", "op", commandId=uuid(50, 9), maxActiveRuns=9)
    call.reserve(51)
    call("renew", id=uuid(51), ttlMs=70_000)
    bench.authority.admit(call("readReservation", id=uuid(51))["reservation"], sequence=3, version=2)
    call.commit(
        51, sequence=3, attemptId=uuid(51, 4), providerJobHandle="job \x00\x1f\x7f \u2028 é \U0001f600"
    )
    call("markOrphanSuspect", id=uuid(51))
    bench.authority.finish(call("readReservation", id=uuid(51))["reservation"], proofId='proof \u2029 \\ "')
    call("normalRelease", id=uuid(51))
    call.reserve(52)
    force = {"id": uuid(52), "commandId": uuid(52, 9), "riskAcknowledgement": True}
    call("forceRelease", "op", reason=derive_store.REASON, **force)
    call.reserve(53, ttlMs=1)
    bench.clock.advance(1)
    bench.authority.abandon(call("readReservation", id=uuid(53))["reservation"])
    assert call("readReservation", id=uuid(53))["reservation"]["state"] == "expired"
    assert call("forceRelease", "op", reason=derive_store.REASON, **force)["releaseKind"] == "force"


def test_what_is_written_on_top_of_a_fixture_satisfies_the_independent_judge(bench: Bench) -> None:
    stored = bench.read_state()
    continue_store(bench)
    assert independent.store_faults(bench.directory) == []
    assert impl.audit_directory(bench.directory).faults == ()
    now = bench.read_state()
    count = len(stored["audit"])
    assert now["audit"][:count] == stored["audit"]
    opening = ["initialize"] if stored["fencingEpoch"] < EPOCH else []
    assert [entry["action"] for entry in now["audit"][count:]] == [
        *opening, "setMaxActiveRuns", "reserve", "renew", "commit", "markOrphanSuspect", "normalRelease",
        "reserve", "forceRelease", "reserve", "readReservation",
    ]  # fmt: skip
    for key, row in stored["reservations"].items():
        assert now["reservations"][key] == row
    assert list(now["reservations"]) == [*stored["reservations"], uuid(51), uuid(52), uuid(53)]
    assert list(now["commands"]) == [*stored["commands"], uuid(50, 9), uuid(52, 9)]


def test_a_new_store_satisfies_the_independent_judge_from_its_first_commit_on() -> None:
    with workbench() as bench:
        store = bench.open()
        assert independent.store_faults(bench.directory) == []
        state = bench.read_state()
        assert list(state["directoryIdentity"]) == ["canonicalPath", "dev", "ino"]
        assert state["audit"][0]["previousHash"] == "0" * 64
        store.close()
        bench.authority.people["op"] = bench.authority.people["root"]
        continue_store(bench)
        assert independent.store_faults(bench.directory) == []
        assert impl.audit_directory(bench.directory).faults == ()


def test_a_store_survives_being_reopened_after_each_operation(bench: Bench) -> None:
    for number in range(60, 63):
        call = Caller(bench.open(initial_max_active_runs=1), bench)
        call("setMaxActiveRuns", "op", commandId=uuid(number, 9), maxActiveRuns=number)
        call.reserve(number)
        call.store.close()
        assert independent.store_faults(bench.directory) == []
    assert bench.read_state()["maxActiveRuns"] == 62


def test_the_files_of_the_original_mutex_beside_the_store_are_left_alone(bench: Bench) -> None:
    for name in QUEUE[:2]:
        (bench.directory / name).write_text('{"pid":1}\n')
    (bench.directory / QUEUE[2]).mkdir()
    before = photograph(bench.directory)
    continue_store(bench)
    after = photograph(bench.directory)
    assert {name: after[name] for name in QUEUE} == {name: before[name] for name in QUEUE}


def test_any_key_order_and_any_white_space_is_the_same_store(bench: Bench) -> None:
    """The format fixes the hashes, not the writing."""
    state = bench.read_state()
    bench.authority.lease["fencingEpoch"] = state["fencingEpoch"]
    text = json.dumps(derive_store.backwards(state), indent=1).encode() + b"\n"
    bench.state.write_bytes(text)
    store = bench.open(epoch=state["fencingEpoch"])
    assert len(Caller(store, bench)("snapshot")["reservations"]) == len(state["reservations"])
    assert bench.state.read_bytes() == text
