"""Model and store over the wire: an honest target agrees; each lie and each breakdown is told as itself."""

from pathlib import Path

import pytest

from model.actions import Admit, Call, Open, SetLease
from stateful_tests.wire import runners
from stateful_tests.wire.fakes import fake
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.rates import own_store
from stateful_tests.wire.target import Command, Session

LATE = 1_800_000_000_000
ONE = {
    "reservationId": "a0000000-0000-4000-8000-000000000001",
    "projectId": "b0000000-0000-4000-8000-000000000001",
    "projectControlDomainId": "d0000000-0000-4000-8000-000000000001",
    "runId": "c0000000-0000-4000-8000-000000000001",
}
OPENED = (
    SetLease({"holderId": "a", "fencingEpoch": 1, "endpoint": "x", "expiresAt": LATE}),
    Open("h", "a", 1, 1),
)
RESERVED = (*OPENED, Call("h", "alice", "reserve", {**ONE, "ttlMs": 1000}))
LAUNCHED = (
    *RESERVED,
    Admit(*ONE.values()),
    Call("h", "alice", "commit", {"id": ONE["reservationId"], "projectAdmitCommitSeq": 1}),
    Call("h", "alice", "dispatch", {"id": ONE["reservationId"]}),
)


def divergence(command: Command, actions: tuple[object, ...], place: Path) -> tuple[str, str, str] | None:
    """Kind and clause of the first difference, and what was said of it."""
    session = Session(command)
    try:
        pair = WireLockstep(session.target(place))
        for action in actions:
            record = pair.step(action)
            assert not record.declined
            if record.divergence is not None:
                return record.divergence.kind, record.divergence.clause, record.divergence.title
    finally:
        session.close()
    return None


def test_this_projects_own_store_agrees_over_the_wire(tmp_path: Path) -> None:
    assert divergence(own_store(), LAUNCHED, tmp_path / "store") is None


@pytest.mark.parametrize(
    ("kind", "found", "told"),
    [
        ("dies", "died", "exit status 7"),
        ("is-killed", "died", "killed by SIGKILL"),
        ("closes", "died", "though it runs"),
        ("floods", "flooded", "16 MiB"),
        ("goes-on", "flooded", "nobody had asked"),
        ("skips", "out of order", "request"),
        ("babbles", "nonsense", "Store opened."),
        ("lists", "nonsense", "no JSON object"),
        ("nests", "nonsense", "no JSON"),
        ("shapeless", "nonsense", "exactly one"),
        ("half", "nonsense", "no observation"),
    ],
)
def test_a_breakdown_is_told_as_what_it_is(tmp_path: Path, kind: str, found: str, told: str) -> None:
    seen = divergence(fake(kind), RESERVED, tmp_path / "store")
    assert seen is not None
    assert seen[0] == found
    assert seen[1].startswith("protocol: ")
    assert told in seen[2]


def test_one_that_hangs_is_told_within_its_limit(tmp_path: Path) -> None:
    seen = divergence(fake("hangs", 3.0), RESERVED, tmp_path / "store")
    assert seen is not None
    assert (seen[0], "within 3 s" in seen[2]) == ("hung", True)


@pytest.mark.parametrize(
    ("kind", "actions", "found"),
    [
        ("accepts-all", (*OPENED, Call("h", "eve", "snapshot")), "outcome"),
        ("other-codes", (*OPENED, Call("h", "eve", "snapshot")), "code"),
        ("does-nothing", RESERVED, "answer"),
        ("crashes", RESERVED, "crashed"),
        ("disowns", RESERVED, "outcome"),
        ("forgets-launches", LAUNCHED, "launches"),
        ("forgets-facts", LAUNCHED, "ledgers"),
    ],
)
def test_a_lie_is_found(tmp_path: Path, kind: str, actions: tuple[object, ...], found: str) -> None:
    seen = divergence(fake(kind), actions, tmp_path / "store")
    assert seen is not None
    assert seen[0] == found


def test_floods_on_standard_error_are_no_breakdown(tmp_path: Path) -> None:
    assert divergence(fake("floods-errors"), RESERVED, tmp_path / "store") is None


def test_after_a_breakdown_the_session_goes_on_with_a_new_process(tmp_path: Path) -> None:
    session = Session(fake("dies"))
    pids = set()
    for number in range(2):
        target = session.target(tmp_path / f"{number}")
        pids.add(target.talk.process.pid)
        pair = WireLockstep(target)
        found = [pair.step(action).divergence for action in RESERVED]
        assert [one.kind if one else None for one in found] == [None, None, "died"]
    session.close()
    assert len(pids) == 2


def test_one_process_serves_many_stores_where_it_can_begin_again(tmp_path: Path) -> None:
    session = Session(own_store())
    targets = [session.target(tmp_path / f"{number}") for number in range(3)]
    assert len({target.talk.process.pid for target in targets}) == 1
    session.close()
    assert not targets[0].talk.process.running


def test_one_that_begins_once_has_a_process_for_each_store(tmp_path: Path) -> None:
    session = Session(fake("begins-once"))
    pids = set()
    for number in range(2):
        target = session.target(tmp_path / f"{number}")
        pids.add(target.talk.process.pid)
        pair = WireLockstep(target)
        assert all(pair.step(action).divergence is None for action in RESERVED)
        target.close()
        assert not target.talk.process.running
    assert len(pids) == 2


def test_a_slow_targets_walks_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(runners.PATIENCE_S, "quick", 0.0)
    size = {"profile": "quick", "seed": 0, "number": 0, "walks": 5, "steps": 20}
    result = runners.run_walks({**size, **runners.Aim(own_store()).to_json()})
    assert (result.counts[runners.SLOW], result.counts["actions"]) == (5, 0)
    assert result.failures == ()
