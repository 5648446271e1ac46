"""The algorithms over handles without a store: the order of steps, and what each failure comes to."""

from typing import Any

import pytest

from impl.gated import LedgerError, run_ledger_gated_transaction
from impl.gated.errors import Recoverability
from impl.gated.tests.bench import adding, plain_text, refused, sha256
from impl.gated.tests.fakes import FakeDeps, uncut

BROKEN = OSError(5, "broken")


def test_a_new_key_is_looked_up_then_appended_mirrored_and_committed() -> None:
    deps = FakeDeps(rows={"count": "4", "other": '"x"'})
    result = run_ledger_gated_transaction(deps, adding("k", 3))
    assert deps.done == ["begin", "find", "snapshot", "append", "mirror", "commit"]
    assert (result.status, result.applied, result.state) == ("committed", True, {"count": 7, "other": "x"})
    (draft,) = deps.drafts
    assert draft.record is result.record
    assert (draft.change.set, draft.change.remove) == ({"count": 7}, ())
    assert result.record.before_state_hash == sha256(plain_text({"count": 4, "other": "x"}))
    assert result.record.after_state_hash == sha256(plain_text({"count": 7, "other": "x"}))


def test_a_known_key_is_a_noop_that_never_calls_mutate() -> None:
    deps = FakeDeps()
    first = run_ledger_gated_transaction(deps, adding("k"))
    deps.rows, deps.done = {"count": "9"}, []
    result = run_ledger_gated_transaction(deps, adding("k", mutate=lambda state: state["no such row"]))
    assert deps.done == ["begin", "find", "snapshot", "rollback"]
    assert (result.status, result.applied, result.record) == ("noop", False, first.record)
    assert result.state == {"count": 9}


def test_a_known_key_with_another_request_is_a_conflict() -> None:
    deps = FakeDeps()
    run_ledger_gated_transaction(deps, adding("k"))
    deps.done = []
    error = refused(
        lambda: run_ledger_gated_transaction(deps, adding("k", 2)), "IDEMPOTENCY_CONFLICT", "operator"
    )
    assert deps.done == ["begin", "find", "rollback"]
    assert (error.run_id, error.node_id, error.operation_id) == ("run", "node", "op")
    assert (error.attempt_id, error.event_type, error.phase) == (None, "counter.added", "apply")


FAILURES: tuple[tuple[str, Exception, str, Recoverability, list[str]], ...] = (
    ("begin", BROKEN, "SQLITE_MIRROR_FAILED", "retry", ["begin"]),
    ("find", BROKEN, "SQLITE_MIRROR_FAILED", "retry", ["begin", "find", "rollback"]),
    ("append", BROKEN, "LEDGER_APPEND_REQUIRED_FAILED", "rollback", ["append", "rollback"]),
    ("append", uncut(), "LEDGER_APPEND_REQUIRED_FAILED", "in_doubt", ["append", "rollback"]),
    ("mirror", BROKEN, "SQLITE_MIRROR_FAILED", "in_doubt", ["append", "mirror", "rollback"]),
    ("commit", BROKEN, "SQLITE_COMMIT_AFTER_LEDGER_FAILED", "in_doubt", ["mirror", "commit", "rollback"]),
)


@pytest.mark.parametrize(("step", "failure", "code", "recoverability", "last"), FAILURES)
def test_each_failing_step_is_told_and_rolled_back_once(
    step: str, failure: Exception, code: str, recoverability: str, last: list[str]
) -> None:
    deps = FakeDeps(fails={step: failure})
    request = adding("k", attempt_id="a1")
    error = refused(lambda: run_ledger_gated_transaction(deps, request), code, recoverability)
    assert deps.done[-len(last) :] == last
    assert deps.done.count("rollback") == (step != "begin")
    assert error.cause is failure
    assert error.__cause__ is failure
    assert (error.run_id, error.node_id, error.operation_id) == ("run", "node", "op")
    assert (error.attempt_id, error.event_type, error.phase) == ("a1", "counter.added", "apply")


@pytest.mark.parametrize("step", ["find", "append", "mirror", "commit"])
def test_a_rollback_that_fails_is_attached_to_the_first_error_and_not_tried_again(step: str) -> None:
    deps = FakeDeps(fails={step: BROKEN, "rollback": OSError(28, "no rollback")})
    with pytest.raises(LedgerError) as caught:
        run_ledger_gated_transaction(deps, adding("k"))
    assert caught.value.cause is BROKEN
    assert caught.value.rollback_error is deps.fails["rollback"]
    assert any("no rollback" in note for note in caught.value.__notes__)
    assert deps.done.count("rollback") == 1


def test_a_rollback_that_fails_after_a_conflict_or_a_no_does_not_hide_it() -> None:
    deps = FakeDeps(fails={"rollback": BROKEN})
    run_ledger_gated_transaction(deps, adding("k"))
    error = refused(
        lambda: run_ledger_gated_transaction(deps, adding("k", 2)), "IDEMPOTENCY_CONFLICT", "operator"
    )
    assert error.rollback_error is BROKEN
    gate = adding("v", phase="verify", verify=lambda _: False)
    error = refused(lambda: run_ledger_gated_transaction(deps, gate), "VERIFY_GATE_FAILED", "rollback")
    assert error.rollback_error is BROKEN


def test_a_noop_whose_rollback_fails_may_be_asked_again() -> None:
    deps = FakeDeps(fails={"rollback": BROKEN})
    run_ledger_gated_transaction(deps, adding("k"))
    refused(lambda: run_ledger_gated_transaction(deps, adding("k")), "SQLITE_MIRROR_FAILED", "retry")
    assert deps.done.count("rollback") == 1


class MutateError(Exception):
    """What a mutation raises."""


def test_what_mutate_raises_passes_through_after_one_rollback() -> None:
    def mutate(_: Any) -> Any:
        raise MutateError("no")

    deps = FakeDeps(fails={"rollback": BROKEN})
    with pytest.raises(MutateError) as caught:
        run_ledger_gated_transaction(deps, adding("k", mutate=mutate))
    assert deps.done == ["begin", "find", "snapshot", "rollback"]
    assert any("broken" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interruption_is_rolled_back_and_passes(error: BaseException) -> None:
    def mutate(_: Any) -> Any:
        raise error

    deps = FakeDeps()
    with pytest.raises(type(error)):
        run_ledger_gated_transaction(deps, adding("k", mutate=mutate))
    assert deps.done[-1] == "rollback"


@pytest.mark.parametrize(
    "returned",
    [None, [], 3, {"": 1}, {1: 1}, {"a": 1.5}, {"a": (1,)}, {"a": {2: 1}}, {"a": 2**53}, {"\ud800": 1}],
)
def test_what_is_no_state_is_a_value_error_before_the_verifier_is_asked(returned: Any) -> None:
    asked: list[Any] = []

    def verify(state: Any) -> bool:
        asked.append(state)
        return True

    deps = FakeDeps()
    gate = adding("k", phase="verify", mutate=lambda _: returned, verify=verify)
    with pytest.raises(ValueError, match=r"mutate must|row|key"):
        run_ledger_gated_transaction(deps, gate)
    assert deps.done == ["begin", "find", "snapshot", "rollback"]
    assert not asked


def test_a_row_that_won_t_do_is_named() -> None:
    deps = FakeDeps()
    with pytest.raises(ValueError, match="'price'"):
        run_ledger_gated_transaction(deps, adding("k", mutate=lambda _: {"ok": 1, "price": {"x": [0.1]}}))


@pytest.mark.parametrize("answer", [False, None, 1, "yes", []])
def test_only_true_opens_the_verify_gate(answer: Any) -> None:
    deps = FakeDeps()
    gate = adding("k", phase="verify", verify=lambda _: answer)
    error = refused(lambda: run_ledger_gated_transaction(deps, gate), "VERIFY_GATE_FAILED", "rollback")
    assert error.phase == "verify"
    assert deps.done == ["begin", "find", "snapshot", "rollback"]
    run_ledger_gated_transaction(deps, adding("k", phase="verify", verify=lambda _: True))
    assert deps.done[-1] == "commit"


def test_a_verifier_that_raises_passes_through() -> None:
    def verify(_: Any) -> bool:
        raise MutateError("can't tell")

    deps = FakeDeps()
    with pytest.raises(MutateError):
        run_ledger_gated_transaction(deps, adding("k", phase="verify", verify=verify))
    assert deps.done == ["begin", "find", "snapshot", "rollback"]


def test_mutate_and_verify_get_copies_and_what_they_keep_changes_nothing() -> None:
    kept: list[Any] = []

    def mutate(state: dict[str, Any]) -> dict[str, Any]:
        state["list"].append(2)
        kept.append(state)
        return state

    def verify(state: dict[str, Any]) -> bool:
        state["list"].append("verifier's own")
        kept[0]["list"].append("mutate's own")
        return True

    deps = FakeDeps(rows={"list": "[1]"})
    result = run_ledger_gated_transaction(deps, adding("k", phase="verify", mutate=mutate, verify=verify))
    assert result.state == {"list": [1, 2]}
    assert deps.drafts[0].change.set == {"list": [1, 2]}
    assert deps.rows == {"list": "[1]"}


def test_a_change_holds_what_is_new_or_another_or_gone() -> None:
    deps = FakeDeps(rows={"same": "1", "other": "1", "gone": "1", "also gone": "null"})
    after = {"same": 1, "other": True, "new": None}
    run_ledger_gated_transaction(deps, adding("k", mutate=lambda _: after))
    change = deps.drafts[0].change
    assert change.set == {"other": True, "new": None}
    assert change.remove == ("also gone", "gone")


def test_an_order_of_keys_is_no_change() -> None:
    deps = FakeDeps(rows={"a": '{"x":1,"y":2}'})
    result = run_ledger_gated_transaction(deps, adding("k", mutate=lambda _: {"a": {"y": 2, "x": 1}}))
    assert deps.drafts[0].change.set == {}
    assert result.record.before_state_hash == result.record.after_state_hash
