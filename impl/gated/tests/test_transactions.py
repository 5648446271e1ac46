"""Transactions, steps and compensations on a real ledger and a real mirror, when nothing fails."""

from pathlib import Path
from typing import Any

import pytest

import impl
from impl.gated import (
    ApplyRequest,
    CompensationRequest,
    CompensationStep,
    Ledger,
    LedgerError,
    Step,
    open_ledger,
)
from impl.gated.tests.bench import (
    HASH,
    adding,
    failing,
    folded,
    ledger_lines,
    mirrored,
    photograph,
    plain_text,
    refused,
    reopened,
    sha256,
    with_events,
)


def test_the_ledger_grows_by_one_event_per_committed_transaction_and_by_none_otherwise(
    ledger: Ledger, directory: Path
) -> None:
    def raising(_: Any) -> Any:
        raise KeyError("no")

    for number in range(1, 4):
        result = ledger.transact(adding(f"k{number}"))
        assert (result.status, result.state) == ("committed", {"count": number})
        assert len(ledger_lines(directory)) == number
    before = (directory / "ledger.jsonl").read_bytes()
    assert ledger.transact(adding("k1")).status == "noop"
    refused(lambda: ledger.transact(adding("k1", 9)), "IDEMPOTENCY_CONFLICT", "operator")
    refused(
        lambda: ledger.transact(adding("v", phase="verify", verify=lambda _: False)),
        "VERIFY_GATE_FAILED",
        "rollback",
    )
    with pytest.raises(KeyError):
        ledger.transact(adding("x", mutate=raising))
    with pytest.raises(ValueError, match="row 'price'"):
        ledger.transact(adding("x", mutate=lambda _: {"price": 0.5}))
    assert (directory / "ledger.jsonl").read_bytes() == before
    assert ledger.state() == {"count": 3}


def test_ledger_mirror_and_answers_say_the_same(ledger: Ledger, directory: Path) -> None:
    ledger.transact(adding("k1", 2, "a", attempt_id="try 1"))
    ledger.transact(adding("k2", 3, "é\U0001f600\ufb33"))
    result = ledger.transact(adding("k3", mutate=lambda state: {"b": [state, None, "x" * 5000]}))
    head = ledger.head
    ledger.close()
    lines = ledger_lines(directory)
    assert [line["sequence"] for line in lines] == [1, 2, 3]
    assert [line["previousHash"] for line in lines] == ["0" * 64, lines[0]["hash"], lines[1]["hash"]]
    assert head == (3, lines[2]["hash"])
    assert lines[0]["record"]["attemptId"] == "try 1"
    assert lines[0]["record"]["beforeStateHash"] == sha256("{}")
    assert lines[0]["record"]["afterStateHash"] == sha256(plain_text({"a": 2}))
    assert lines[1]["record"]["beforeStateHash"] == lines[0]["record"]["afterStateHash"]
    assert lines[2]["change"]["remove"] == ["a", "é\U0001f600\ufb33"]
    assert mirrored(directory) == (3, result.state)
    assert folded(directory) == result.state


def test_an_honest_retry_gets_its_answer_however_often_the_store_was_opened(directory: Path) -> None:
    with open_ledger(directory) as ledger:
        first = ledger.transact(adding("k", 5))
        ledger.transact(adding("other"))
    with open_ledger(directory) as ledger:
        again = ledger.transact(adding("k", 5, mutate=lambda state: state["now it raises"]))
        assert (again.status, again.record, again.state) == ("noop", first.record, {"count": 6})


def test_state_and_answers_are_the_callers_own(ledger: Ledger) -> None:
    result = ledger.transact(adding("k", mutate=lambda _: {"list": [1]}))
    result.state["list"].append(2)
    ledger.state()["list"].append(3)
    assert ledger.state() == {"list": [1]}


def test_a_new_store_is_private_and_its_parts_are_made_once(directory: Path) -> None:
    with open_ledger(directory) as ledger:
        report = ledger.recovery
        assert ledger.head == (0, "0" * 64)
        assert ledger.state() == {}
    assert (report.mirror, report.cut_bytes, report.replayed_events, report.set_aside) == (
        "rebuilt",
        0,
        0,
        (),
    )
    assert sorted(path.name for path in directory.iterdir()) == [
        "ledger.jsonl",
        "ledger.lock",
        "mirror.sqlite",
    ]
    assert directory.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o600}
    with open_ledger(directory) as ledger:
        assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o600}
        assert ledger.recovery.mirror == "intact"


def test_steps_and_compensations_are_in_the_ledger_and_found_after_opening_anew(directory: Path) -> None:
    ran: list[str] = []
    steps = [
        Step("a", "ra", 1, True, HASH, HASH, lambda: ran.append("a")),
        Step("b", "rb", 2, False, HASH, HASH, lambda: ran.append("b")),
    ]
    undoing = [CompensationStep("a", 1, True, True, lambda: ran.append("-a"))]
    request = ApplyRequest("run", "node", "op", steps, attempt_id="a1", event_type="my.receipt")
    undo = CompensationRequest("run", "node", "op", "undo", HASH, HASH, undoing)
    with open_ledger(directory) as ledger:
        first = ledger.apply_steps(request)
        undone = ledger.compensate(undo)
    assert [line["record"]["idempotencyKey"] for line in ledger_lines(directory)] == [
        "ra",
        "rb:started",
        "rb",
        "undo",
        "undo:a",
    ]
    for line in ledger_lines(directory):
        assert line["change"] == {"remove": [], "set": {}}
        record = line["record"]
        asked = {name: value for name, value in record.items() if not name.endswith("Hash")}
        assert line["requestHash"] == sha256(plain_text({"attemptId": None} | asked | {"intent": None}))
    with open_ledger(directory) as ledger:
        again = ledger.apply_steps(request)
        assert (again.skipped_step_ids, again.receipts) == (("a", "b"), first.receipts)
        assert ledger.compensate(undo).receipts == undone.receipts
        assert ledger.head[0] == 5
    assert ran == ["a", "b", "-a"]


def test_keys_of_transactions_and_of_runs_are_apart(ledger: Ledger) -> None:
    ledger.transact(adding("k"))
    step = Step("a", "k", 1, True, HASH, HASH, lambda: None)
    for run in ("run", "another", "and another"):
        assert ledger.apply_steps(ApplyRequest(run, "n", "o", [step])).executed_step_ids == ("a",)
    assert ledger.head[0] == 4


def test_a_step_may_use_the_store_and_a_mutation_may_not(ledger: Ledger) -> None:
    step = Step("a", "r", 1, True, HASH, HASH, lambda: ledger.transact(adding("inner")))
    assert ledger.apply_steps(ApplyRequest("run", "node", "op", [step])).status == "completed"

    def mutate(state: dict[str, Any]) -> dict[str, Any]:
        refused(lambda: ledger.transact(adding("too deep")), "SQLITE_MIRROR_FAILED", "retry")
        refused(ledger.state, "SQLITE_MIRROR_FAILED", "retry")
        return {**state, "outer": True}

    ledger.transact(adding("outer", mutate=mutate))
    assert ledger.state() == {"count": 1, "outer": True}


def test_another_stores_error_raised_by_mutate_passes_as_it_is(ledger: Ledger, tmp_path: Path) -> None:
    def mutate(_: Any) -> Any:
        impl.read_durable_epoch(tmp_path / "file")

    (tmp_path / "file").write_text("")
    with pytest.raises(impl.CoordinatorError):
        ledger.transact(adding("k", mutate=mutate))

    def disk_like(_: Any) -> Any:
        raise OSError(5, "mutate's own")

    with pytest.raises(OSError, match="mutate's own"):
        ledger.transact(adding("k", mutate=disk_like))
    assert ledger.head[0] == 0


def test_two_stores_on_one_directory_see_each_others_events(directory: Path) -> None:
    with open_ledger(directory) as one, open_ledger(directory) as two:
        for number in range(6):
            (one, two)[number % 2].transact(adding(f"k{number}"))
        assert one.state() == two.state() == {"count": 6}
        assert one.head == two.head
        assert two.transact(adding("k0")).status == "noop"
    assert mirrored(directory) == (6, {"count": 6})


def test_a_closed_store_refuses_every_call(directory: Path) -> None:
    ledger = open_ledger(directory)
    ledger.close()
    ledger.close()
    assert ledger.closed
    step = ApplyRequest("run", "node", "op", [])
    undo = CompensationRequest("run", "node", "op", "k", HASH, HASH, [])
    for call in (
        lambda: ledger.transact(adding("k")),
        lambda: ledger.apply_steps(step),
        lambda: ledger.compensate(undo),
        ledger.state,
        lambda: ledger.head,
    ):
        error = refused(call, "LEDGER_APPEND_REQUIRED_FAILED", "operator")
        assert "closed" in error.message


def test_closing_inside_of_mutate_keeps_the_event_from_being_appended(directory: Path) -> None:
    ledger = open_ledger(directory)

    def mutate(state: dict[str, Any]) -> dict[str, Any]:
        ledger.close()
        return {**state, "closed": True}

    refused(lambda: ledger.transact(adding("k", mutate=mutate)), "LEDGER_APPEND_REQUIRED_FAILED", "operator")
    assert reopened(directory)[1] == {}


def test_opening_tells_how_far_it_is(directory: Path) -> None:
    with_events(directory, 3)
    told: list[tuple[int, int]] = []
    open_ledger(directory, progress=lambda done, total: told.append((done, total))).close()
    size = (directory / "ledger.jsonl").stat().st_size
    assert told[-1] == (size, size)


@pytest.mark.parametrize("bad", ["", "\0", None, 3])
def test_what_is_no_path_is_a_value_error(bad: Any) -> None:
    with pytest.raises(ValueError, match="path"):
        open_ledger(bad)


@pytest.mark.parametrize("bad", [-1, None, True, "3", float("nan"), 1e9])
def test_what_is_no_time_is_a_value_error(directory: Path, bad: Any) -> None:
    with pytest.raises(ValueError, match="lock_timeout_s"):
        open_ledger(directory, lock_timeout_s=bad)
    assert not directory.exists()


def test_a_directory_that_others_may_enter_is_refused(directory: Path) -> None:
    directory.mkdir(mode=0o755)
    directory.chmod(0o755)
    refused(lambda: open_ledger(directory), "LEDGER_INTEGRITY_FAILED", "operator")
    assert photograph(directory) == {}


def test_nothing_is_appended_when_the_ledger_can_t_be_had(ledger: Ledger) -> None:
    with failing("lock-acquire-before"):
        refused(lambda: ledger.transact(adding("k")), "SQLITE_MIRROR_FAILED", "retry")
    assert ledger.head[0] == 0
    assert isinstance(LedgerError("SQLITE_MIRROR_FAILED", "x", "retry"), Exception)
