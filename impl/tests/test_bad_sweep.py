"""Nonsense and failures inside the sweep: the slot stays taken, and nobody else's call fails for it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

import impl
from impl.tests.answers import NO_COUNT, NO_TEXT, OTHERS, named, variations
from impl.tests.authority import answers, raises
from impl.tests.derive_store import T0, uuid
from impl.tests.workbench import (
    EPOCH,
    Bench,
    Caller,
    arbitrating,
    lock_is_free,
    refusal,
    untouched,
    workbench,
)

DURABILITY, REVOKED = "DURABILITY_FAILED", "AUTHORITY_REVOKED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with arbitrating() as made:
        yield made


def due(bench: Bench) -> Caller:
    """On a store whose row 1 is reserved and past its time."""
    call = Caller(bench.open(), bench)
    call.reserve(1, ttlMs=10)
    bench.clock.advance(10)
    return call


def nothing_proven(bench: Bench, row: Any) -> list[Any]:
    """Answers that are neither an admission proof nor an abandonment; the last is a good abandonment."""
    proof = copy.deepcopy(bench.authority.admit(row["reservation"]))
    abandoned = copy.deepcopy(bench.authority.abandon(row["reservation"]))
    bench.authority.admissions.clear()
    wrong: list[Any] = [{**proof, "status": "abandoned"}, {**proof, "status": "not-admitted"}]
    for good, sequence in ((proof, "projectAdmitCommitSeq"), (abandoned, "abandonmentCommitSeq")):
        wrong += variations(good, {**named(), sequence: [*NO_COUNT, 0], "runVersion": NO_COUNT})
    return [*wrong, abandoned]


def test_a_sweep_frees_and_commits_nothing_on_nonsense() -> None:
    """Without arbitration `read_admission` alone is asked, of which neither nonsense nor absence is proof."""
    with workbench() as bench:
        call = due(bench)
        row = call("readReservation", id=uuid(1))
        nonsense = nothing_proven(bench, row)
        abandoned = nonsense.pop()
        nonsense += [{**abandoned, "status": value} for value in [*NO_TEXT, "Abandoned", "not-admitted"]]
        with untouched(bench.directory):
            for wrong in nonsense:
                bench.authority.interfere("read_admission", 1, answers(wrong))
                assert call("readReservation", id=uuid(1)) == row, repr(wrong)[:200]
        assert len(nonsense) > 250


def test_an_arbitration_that_answers_nonsense_frees_nothing() -> None:
    with arbitrating() as bench:
        call = due(bench)
        bench.authority.interfere("abandon_admission_if_absent", 1, answers(None))
        row = call("readReservation", id=uuid(1))
        with untouched(bench.directory):
            for wrong in nothing_proven(bench, row)[:-1]:
                bench.authority.interfere("abandon_admission_if_absent", 1, answers(wrong))
                assert call("readReservation", id=uuid(1)) == row, repr(wrong)[:200]
        assert call("readReservation", id=uuid(1))["reservation"]["state"] == "expired"


def test_a_sweep_takes_the_two_proofs_with_extra_keys_too() -> None:
    with workbench() as bench:
        call = due(bench)
        call.reserve(2, ttlMs=10)
        bench.clock.advance(10)
        for number, kind in ((1, "admit"), (2, "abandon")):
            answer = getattr(bench.authority, kind)({**_ids(number)})
            answer["extra"] = {"any": "thing"}
        states = {row["reservation"]["reservationId"]: row for row in call("snapshot")["reservations"]}
        assert states[uuid(1)]["reservation"]["state"] == "committed"
        assert states[uuid(2)]["reservation"]["state"] == "expired"
        assert "reservedExpiresAt" not in states[uuid(2)]["reservation"]


def _ids(number: int) -> dict[str, str]:
    return {
        "reservationId": uuid(number),
        "projectId": uuid(number, 1),
        "projectControlDomainId": uuid(number, 2),
        "runId": uuid(number, 3),
    }


def test_a_nonsensical_lease_after_a_swept_row_aborts_and_undoes_the_sweep() -> None:
    """The fence before arbitration only skips the row; the one after each row's calls aborts all."""
    with arbitrating() as bench:
        call = due(bench)
        with untouched(bench.directory):
            bench.authority.interfere("read_lease", 3, answers(None))
            refusal(lambda: call("snapshot"), REVOKED)
        assert bench.authority.called[-2:] == ["abandon_admission_if_absent", "read_lease"]
        bench.authority.admissions.clear()
        with untouched(bench.directory):
            bench.authority.interfere("read_lease", 2, answers(None))
            assert call("snapshot")["capacity"]["reserved"] == 1
        assert "abandon_admission_if_absent" not in bench.authority.called
        assert call("snapshot")["capacity"]["reserved"] == 0


def test_an_interrupt_inside_the_sweep_goes_through_and_undoes_it(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.reserve(1, ttlMs=10)
    bench.clock.advance(10)
    with untouched(bench.directory):
        for callback in ("read_admission", "abandon_admission_if_absent"):
            bench.authority.interfere(callback, 1, raises(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt):
                call("snapshot")
        lock_is_free(bench)


def test_a_failure_inside_the_sweep_only_skips_the_row(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.reserve(1, ttlMs=10)
    call.reserve(2)
    bench.clock.advance(10)
    errors: list[Exception] = [*OTHERS, *(impl.CoordinatorError(code, "no") for code in impl.CODES)]
    with untouched(bench.directory):
        for callback, nth in (("read_admission", 1), ("abandon_admission_if_absent", 1), ("read_lease", 2)):
            for error in errors:
                bench.authority.interfere(callback, nth, raises(error))
                assert call("snapshot")["capacity"]["reserved"] == 2
                bench.authority.admissions.clear()
        lock_is_free(bench)
    bench.authority.interfere("read_admission", 1, raises(ValueError("wrong")))
    assert call.reserve(3)["reservation"]["state"] == "reserved"
    assert call("snapshot")["capacity"]["reserved"] == 2


def test_a_failure_in_the_fence_after_a_row_aborts_the_transaction(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.reserve(1, ttlMs=10)
    bench.clock.advance(10)
    with untouched(bench.directory):
        bench.authority.interfere("read_lease", 3, raises(ValueError("wrong")))
        refusal(lambda: call("snapshot"), DURABILITY, side_effects="unknown")
        bench.authority.interfere("read_lease", 3, raises(impl.CoordinatorError("POLICY_DENIED", "no")))
        refusal(lambda: call("snapshot"), "POLICY_DENIED")


def test_a_clock_that_falls_inside_the_sweep_aborts_even_where_the_row_would_be_skipped(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.reserve(1, ttlMs=10)
    bench.clock.advance(10)

    def fall(_truth: Any) -> Any:
        bench.clock.advance(-1)
        raise ValueError("wrong")

    for callback in ("read_admission", "abandon_admission_if_absent"):
        with untouched(bench.directory):
            bench.authority.interfere(callback, 1, fall)
            refusal(lambda: call("snapshot"), "AUTHORITY_REVOKED")
            assert bench.authority.called[-1] == callback  # at once, not at a later look
        bench.clock.advance(1)


def test_an_arbitration_that_comes_after_the_admission_commits_the_row(bench: Bench) -> None:
    """ADMIT and ABANDON race in the project's own ledger; whichever came first is what the store hears."""
    call = due(bench)
    bench.authority.interfere("read_admission", 1, answers(None))
    ids = {
        "reservationId": uuid(1),
        "projectId": uuid(1, 1),
        "projectControlDomainId": uuid(1, 2),
        "runId": uuid(1, 3),
    }
    bench.authority.admit(ids, sequence=9)
    row = call("readReservation", id=uuid(1))
    assert (row["reservation"]["state"], row["reservation"]["projectAdmitCommitSeq"]) == ("committed", 9)
    assert bench.authority.called.count("abandon_admission_if_absent") == 1


def test_of_two_due_rows_of_one_run_the_first_commits_and_the_second_stays(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    same = {"projectId": uuid(1, 1), "projectControlDomainId": uuid(1, 2), "runId": uuid(1, 3)}
    for number in (1, 2):
        bench.authority.admit(call.reserve(number, ttlMs=10, **same)["reservation"], sequence=number)
    bench.clock.advance(10)
    for _ in range(2):
        states = [row["reservation"]["state"] for row in call("snapshot")["reservations"]]
        assert states == ["committed", "reserved"]
        bench.clock.advance(10)
    assert call.reserve(3)["reservation"]["state"] == "reserved"


def test_a_sweep_is_part_of_a_read_and_is_undone_with_a_refused_operation(bench: Bench) -> None:
    call = due(bench)
    with untouched(bench.directory):
        refusal(lambda: call("markOrphanSuspect", id=uuid(1)), "ADMISSION_BINDING_CONFLICT")
        assert "abandon_admission_if_absent" in bench.authority.called
    assert call("readReservation", id=uuid(1))["reservation"]["state"] == "expired"
    entry = bench.read_state()["audit"][-1]
    assert (entry["action"], entry["principal"]) == ("readReservation", "p-alice")


def test_where_the_admission_is_proven_nobody_arbitrates(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    bench.authority.admit(call.reserve(1, ttlMs=10)["reservation"])
    bench.clock.advance(10)
    assert call("snapshot")["capacity"]["committed"] == 1
    assert "abandon_admission_if_absent" not in bench.authority.called


@pytest.mark.parametrize("state", ["released", "expired"])
def test_a_time_to_live_left_on_a_terminal_row_is_never_due(bench: Bench, state: str) -> None:
    """Old stores hold such rows. Neither proof about them is asked for, and neither would move them."""
    history = bench.history(epoch=EPOCH)
    history.row(1, state, T0, reservedExpiresAt=T0 + 1)
    history.commit("snapshot", "p-alice", T0)
    bench.put(history)
    call = Caller(bench.open(), bench)
    row = history.state["reservations"][uuid(1)]
    for proof in (bench.authority.admit, bench.authority.abandon):
        proof(row["reservation"])
        with untouched(bench.directory):
            assert call("snapshot")["reservations"] == [row]
        assert bench.authority.called == ["read_lease", "authorize", "authorize", "read_lease"]
