"""What refusals and audits say: of foreign texts a bounded part, and of each fault the place where it stands.

Guarantees: however long a text is that a message quotes, the message stays short, and a short text is quoted
whole; the faults of a state name the entry, row or command that they are of.

Doesn't: fix the wording.
"""

import copy
import fcntl
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import evolve

import impl
from impl import disk
from impl.canonical import Chain, business_of, state_hash_of
from impl.codec import decode_state
from impl.jsontext import FormatError, parse_json
from impl.loading import read_whole
from impl.tests.crafting import example, grown, seal
from impl.tests.derive_store import uuid
from impl.tests.independent import dump
from impl.tests.workbench import Bench, Caller, refusal, workbench
from impl.validate import faults
from impl.values import ForceReleaseRequest, State

MARK = "\u0436"  # stands in no message by itself


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    return Caller(bench.open(), bench)


@pytest.mark.parametrize("length", [1, 57, 58, 59, 60, 61, 4000])
def test_a_wrong_argument_is_shown_whole_up_to_sixty_characters(call: Caller, length: int) -> None:
    """Of 60, two are the quotation marks; of a longer one 57 are left, before three dots."""
    message = refusal(lambda: call("readReservation", id=MARK * length), "COMMAND_FAILED").message
    assert message.count(MARK) == (length if length <= 58 else 56)
    assert message.endswith("...") == (length > 58)
    unknown = refusal(lambda: call("snapshot", **{MARK * length: 1}), "COMMAND_FAILED").message
    assert unknown.count(MARK) == message.count(MARK)


@pytest.mark.parametrize("digits", [59, 60, 61, 62, 4000, 5000])
def test_a_number_of_many_digits_is_shown_in_part(call: Caller, digits: int) -> None:
    given = {"commandId": uuid(1), "maxActiveRuns": int("7" * digits) if digits < 4300 else 10**digits}
    message = refusal(lambda: call("setMaxActiveRuns", "root", **given), "COMMAND_FAILED").message
    if digits < 4300:  # what Python prints
        assert message.count("7") == (digits if digits <= 60 else 57)
    else:
        assert "thousands of digits" in message


@pytest.mark.parametrize("length", [1, 37, 38, 39, 4000])
def test_a_number_that_is_none_is_quoted_up_to_forty_characters(length: int) -> None:
    for before in ("0.", "-1"):
        with pytest.raises(FormatError) as caught:
            parse_json(f"[{before}{'7' * length}]\n".encode())
        assert str(caught.value).count("7") == min(length, 38)


@pytest.mark.parametrize("beside", ['"-"', '"[-"'], ids=["nothing like a minus", "a minus in a text"])
def test_a_number_of_sixteen_digits_may_be_one_and_one_of_more_may_not(bench: Bench, beside: str) -> None:
    assert parse_json(f"[{2**53 - 1},{beside}]\n".encode()) == [2**53 - 1, beside.strip('"')]
    state = copy.deepcopy(example(bench).state)
    state["lastWallTime"] = 10**16
    bench.put(example(bench))
    bench.state.write_bytes(dump(seal(state)))
    assert [fault.clause for fault in impl.audit_directory(bench.directory).faults] == ["S1"]


@pytest.mark.parametrize("length", [1, 39, 40, 41, 4000])
def test_a_status_that_proves_nothing_is_quoted_up_to_forty_characters(
    bench: Bench, call: Caller, length: int
) -> None:
    bench.authority.finish(call.admitted(1)["reservation"], MARK * length)
    message = refusal(lambda: call("normalRelease", id=uuid(1)), "RECONCILE_REQUIRED").message
    assert message.count(MARK) == min(length, 40)


def test_who_waited_in_vain_is_told_how_long_and_for_which_file(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=0.25), bench)
    with (bench.directory / "writer.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        message = refusal(lambda: call("snapshot"), "DURABILITY_FAILED").message
    waited = float(message.partition("another call for ")[2].partition(" s.")[0])
    assert 0.2 <= waited < 60
    assert message.endswith("fuser -v writer.lock")


def judged(state: State, trusted: State | None = None) -> list[tuple[str, str]]:
    """Clause and place of each fault."""
    business = business_of(state.fencing_epoch, state.max_active_runs, state.reservations, state.commands)
    state_hash = state_hash_of(state, Chain.of(state.audit), business)
    return [(fault.clause, fault.where) for fault in faults(state, business, state_hash, trusted)]


@pytest.fixture
def state(bench: Bench) -> State:
    return read_whole(dump(grown(example(bench)))).state


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: evolve(entry, commit_seq=entry.commit_seq + 1),
        lambda entry: evolve(entry, commit_seq=entry.commit_seq - 1),
        lambda entry: evolve(entry, hash="0" * 64),
        lambda entry: evolve(entry, hash="f" * 64),
        lambda entry: evolve(entry, previous_hash="1" * 64),
        lambda entry: evolve(entry, recorded_at=entry.recorded_at + 1),
        lambda entry: evolve(entry, epoch=entry.epoch + 1),
    ],
)
def test_a_fault_of_an_audit_entry_names_its_number(state: State, spoil: Callable[[Any], Any]) -> None:
    for number in range(len(state.audit)):
        audit = list(state.audit)
        audit[number] = spoil(audit[number])
        found = {where for clause, where in judged(evolve(state, audit=tuple(audit))) if clause == "S3"}
        assert f"audit[{number}]" in found
        assert found <= {f"audit[{number}]", f"audit[{number + 1}]"}


@pytest.mark.parametrize(
    ("name", "right"),
    [("audit", "array"), ("reservations", "object"), ("commands", "object"), ("directoryIdentity", "object")],
)
def test_a_container_of_another_kind_is_told_even_if_it_is_empty(bench: Bench, name: str, right: str) -> None:
    state = example(bench).state
    decode_state(dump(state))
    others: list[Any] = [{} if right == "array" else [], "", 0, None, True]
    for other in others:
        with pytest.raises(FormatError) as caught:
            decode_state(dump({**state, name: other}))
        assert str(caught.value) == f"not a JSON {right} @ $.{name}"


def test_faults_of_the_last_entry_of_rows_and_of_commands_name_them(state: State) -> None:
    last = len(state.audit) - 1
    audit = (*state.audit[:-1], evolve(state.audit[-1], action=""))
    assert ("S1", f"audit[{last}]") in judged(evolve(state, audit=audit), state)
    audit = (*state.audit[:-1], evolve(state.audit[-1], state_digest="0" * 64))
    assert ("S4", f"audit[{last}].stateDigest") in judged(evolve(state, audit=audit))
    for key, row in state.reservations.items():
        rows = {**state.reservations, key: evolve(row, owner_id="")}
        assert ("S1", f"reservations[{key}]") in judged(evolve(state, reservations=rows), state)
    for key, command in state.commands.items():
        commands = {**state.commands, key: evolve(command, result=0)}
        assert ("S1", f"commands[{key}]") in judged(evolve(state, commands=commands), state)


def test_only_what_is_the_very_same_object_is_taken_for_vouched_for(state: State) -> None:
    """1 is equal to True, and so are the values that hold them; their texts and hashes differ."""
    command = state.commands[uuid(1, 9)]
    assert isinstance(command.request, ForceReleaseRequest)
    one: Any = 1
    alike = evolve(command, request=evolve(command.request, risk_acknowledgement=one))
    assert alike == command
    found = judged(evolve(state, commands={**state.commands, uuid(1, 9): alike}), state)
    assert [fault for fault in found if "commands" in fault[1]] == [
        ("S1", f"commands[{uuid(1, 9)}]"),
        ("S9", f"commands[{uuid(1, 9)}]"),
    ]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_an_audit_that_does_not_go_on_from_the_trusted_one_is_looked_at_whole(
    state: State, kept: int
) -> None:
    """Shorter, or another from some entry on: nothing of it is vouched for."""
    spoilt = tuple(evolve(entry, hash="0" * 64) for entry in state.audit)
    shorter = judged(evolve(state, audit=spoilt[:kept]), evolve(state, audit=spoilt))
    assert [where for clause, where in shorter if clause == "S3"][:kept] == ["audit[0]", "audit[1]"][:kept]
    another = judged(evolve(state, audit=spoilt), state)
    assert ("S3", "audit[0]") in another


def test_a_bad_count_of_a_crash_point_is_told() -> None:
    for count in ("", "0", "00", "-1", "+1", "1.5", "x", "\u0661", "1" * 10, " 1"):
        with pytest.raises(ValueError, match="a count from 1"):
            disk.parse_crash_at(f"state-fsync-after:{count}")
    for count, number in (("1", 1), ("01", 1), ("9" * 9, 10**9 - 1)):
        assert disk.parse_crash_at(f"state-fsync-after:{count}")[1] == number
    assert disk.parse_crash_at("state-fsync-after")[1] == 1
