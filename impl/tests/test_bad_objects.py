"""What a caller hands over is an object that lies, fails or has a nonsensical clock behind it.

Nothing of it reaches the files: a call is refused, or what is stored is the plain value.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest

import impl
from impl.tests.derive_store import uuid
from impl.tests.nonsense import (
    BAD_COUNT,
    BAD_TTL,
    GOOD,
    LARGEST,
    OPERATIONS,
    Attack,
    Pretender,
    Shifty,
    Size,
    SlyNumber,
    SlyText,
    prepare,
)
from impl.tests.workbench import CODES, Bench, Caller, refusal, reserving, untouched, workbench


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def store(bench: Bench) -> impl.Coordinator:
    """Holds one reserved row, number 1."""
    opened = bench.open()
    Caller(opened, bench).reserve(1)
    return opened


def test_the_typed_methods_refuse_what_call_refuses(bench: Bench, store: impl.Coordinator) -> None:
    bench.authority.log.clear()
    names = {"project_id": GOOD, "project_control_domain_id": GOOD, "run_id": GOOD, "ttl_ms": 5}
    force: dict[str, Any] = {"command_id": GOOD, "risk_acknowledgement": True, "reason": "because"}
    wide: Any = store
    with untouched(bench.directory):
        for value in (GOOD.upper(), 5, None, "", "\ud800", GOOD + "\n"):
            for name in ("project_id", "project_control_domain_id", "run_id"):
                refusal(lambda n=name, v=value: wide.reserve("root", **{**names, n: v}), "COMMAND_FAILED")
            refusal(lambda v=value: wide.commit("root", v, project_admit_commit_seq=1), "COMMAND_FAILED")
            for method in (wide.renew, wide.mark_orphan_suspect, wide.normal_release, wide.read_reservation):
                refusal(lambda m=method, v=value: m("root", v), "COMMAND_FAILED")
            refusal(lambda v=value: wide.read_command("root", v), "COMMAND_FAILED")
            refusal(lambda v=value: wide.dispatch("root", v, prepare), "COMMAND_FAILED")
            refusal(lambda v=value: wide.force_release("root", v, **force), "COMMAND_FAILED")
            refusal(
                lambda v=value: wide.force_release("root", GOOD, **{**force, "command_id": v}),
                "COMMAND_FAILED",
            )
        for value in BAD_TTL:
            refusal(lambda v=value: wide.reserve("root", **{**names, "ttl_ms": v}), "COMMAND_FAILED")
            refusal(lambda v=value: wide.renew("root", GOOD, ttl_ms=v), "COMMAND_FAILED")
        for value in BAD_COUNT:
            refusal(lambda v=value: wide.commit("root", GOOD, project_admit_commit_seq=v), "COMMAND_FAILED")
            given = {"command_id": GOOD, "max_active_runs": value}
            refusal(lambda g=given: wide.set_max_active_runs("root", **g), "COMMAND_FAILED")
        refusal(lambda: wide.force_release("root", GOOD, **{**force, "reason": " "}), "POLICY_DENIED")
    assert not bench.authority.log


def test_an_object_that_only_pretends_is_refused(bench: Bench, store: impl.Coordinator) -> None:
    attack = Attack(bench, store)
    for operation, wanted in OPERATIONS.items():
        for name, (kind, _) in wanted.items():
            policy = kind == "policy" or name == "reason"
            attack.vary(operation, name, Pretender(), "POLICY_DENIED" if policy else "COMMAND_FAILED")
    attack.finish()


SLY: dict[str, list[Any]] = {
    "id": [SlyText("x"), SlyText(GOOD.upper())],
    "id?": [SlyText("x"), SlyText("")],
    "text?": [SlyText(""), SlyText("\ud800")],
    "count": [SlyNumber(0), SlyNumber(2**53), SlyNumber(-1)],
    "ttl": [SlyNumber(0), SlyNumber(86_400_001)],
    "ttl?": [SlyNumber(0), SlyNumber(86_400_001)],
    "policy": [SlyNumber(1), SlyText("true")],
    "reason too long": [SlyText(""), SlyText("  ")],
}


def test_a_subclass_of_text_or_number_never_gets_past_what_its_plain_value_would_not(
    bench: Bench, store: impl.Coordinator
) -> None:
    """Whether a subclass is taken at its plain value or refused is left open; lying helps in neither case."""
    attack = Attack(bench, store)
    for operation, wanted in OPERATIONS.items():
        for name, (kind, _) in wanted.items():
            policy = kind in ("policy", "reason too long")
            for value in SLY[kind]:
                attack.vary(operation, name, value, "POLICY_DENIED" if policy else "COMMAND_FAILED")
    attack.finish()


def test_a_subclass_with_a_valid_plain_value_is_refused_or_stored_plain(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    values: list[dict[str, Any]] = [{"ttlMs": Size.ONE}, {"ttlMs": SlyNumber(5)}, {"runId": SlyText(GOOD)}]
    for number, extra in enumerate(values, 1):
        try:
            call.reserve(number, **extra)
        except impl.CoordinatorError as caught:
            refused = caught.code
            assert refused == "COMMAND_FAILED"
    assert impl.audit_directory(bench.directory).faults == ()
    assert bench.open().call("snapshot", {}, "root") is not None


def test_a_mapping_that_fails_when_read_leaves_the_store_as_it_was(
    bench: Bench, store: impl.Coordinator
) -> None:
    """Its own error may come through; nothing else may have happened."""
    with untouched(bench.directory):
        for failing in ("getitem", "iter"):
            with pytest.raises((impl.CoordinatorError, RuntimeError)):
                store.call("renew", Shifty(failing), "alice")
    assert Caller(store, bench)("renew", id=uuid(1), ttlMs=1)["reservation"]["state"] == "reserved"


def test_any_mapping_serves_as_arguments_and_stays_as_it_was(store: impl.Coordinator) -> None:
    given = reserving(2)
    assert store.call("reserve", MappingProxyType(given), "alice") is not None
    assert given == reserving(2)
    store.call("renew", Shifty("nothing"), "alice")


def test_an_unhashable_or_failing_context_reaches_only_the_authority(
    bench: Bench, store: impl.Coordinator
) -> None:
    bench.authority.interfere("authorize", 1, lambda _truth: None)
    with untouched(bench.directory):
        refusal(lambda: store.call("snapshot", {}, Pretender()), "AUTHORITY_REVOKED")
        bench.authority.authorize = lambda *_: None  # type: ignore[method-assign]
        for context in ([], {}, float("nan"), b"\xff", "\ud800", None, object()):
            refusal(lambda c=context: store.call("snapshot", {}, c), "AUTHORITY_REVOKED")


def test_a_dispatch_without_a_callable_preparation_is_refused(bench: Bench, store: impl.Coordinator) -> None:
    Caller(store, bench).admitted(2)
    with untouched(bench.directory):
        no_function: list[Any] = [None, 1, "prepare", [], {}]
        for wrong in no_function:
            refusal(
                lambda w=wrong: store.call("dispatch", {"id": uuid(2)}, "alice", prepare=w),
                "COMMAND_FAILED",
                "DURABILITY_FAILED",
                side_effects=None,
            )


def test_a_clock_that_answers_nonsense_is_never_believed(bench: Bench, store: impl.Coordinator) -> None:
    good = bench.clock.now
    no_time: list[Any] = [None, "now", float(good), True, -1, 2**53, 10**400, float("nan"), [], Pretender()]
    with untouched(bench.directory):
        for wrong in no_time:
            bench.clock.now = wrong
            refusal(lambda: store.call("reserve", reserving(2), "alice"), *CODES, side_effects=None)
    bench.clock.now = good
    assert store.call("reserve", reserving(2), "alice") is not None


def test_a_clock_that_fails_is_an_error_with_unknown_effects(bench: Bench) -> None:
    good = bench.clock

    def broken() -> int:
        raise OSError(5, "no such clock")

    other = bench.open(clock=lambda: broken() if bench.clock.now is None else good())
    bench.clock.now, now = None, good.now
    with untouched(bench.directory):
        refusal(lambda: other.call("snapshot", {}, "alice"), "DURABILITY_FAILED", side_effects="unknown")
    bench.clock.now = now
    assert other.call("snapshot", {}, "alice") is not None


def test_a_ttl_that_would_end_beyond_all_numbers_is_refused(bench: Bench) -> None:
    bench.clock.now = LARGEST - 10
    bench.authority.lease["expiresAt"] = LARGEST
    call = Caller(bench.open(), bench)
    with untouched(bench.directory):
        refusal(lambda: call.reserve(1, ttlMs=11), "DURABILITY_FAILED", "COMMAND_FAILED", side_effects=None)
    assert call.reserve(1, ttlMs=10)["reservation"]["reservedExpiresAt"] == LARGEST
    assert impl.audit_directory(bench.directory).faults == ()
