"""Opening a store, and reading its epoch without one: bad options, bad paths, bad directories.

Options are checked before anything is made. Only what opening itself made is ever given a mode; a
directory that existed is used as it is or refused, saying how to mend it. The epoch's reader needs no host
and no lock, writes nothing, and answers 0 only where there is no store.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import impl
from impl.tests.authority import Authority, answers, raises
from impl.tests.independent import LOCK, store_faults
from impl.tests.workbench import Bench, Caller, at_once, photograph, refusal, untouched, workbench

DURABILITY = "DURABILITY_FAILED"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
BAD_COUNTS: list[Any] = [
    0, -1, 2**53, 10**400, 1.0, 1.5, float("nan"), float("inf"), True, False, None, "", "1", b"1",
    [], {}, object(),
]  # fmt: skip


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_initial_maximum_that_is_no_positive_integer_is_refused(bench: Bench) -> None:
    for wrong in BAD_COUNTS:
        refusal(lambda w=wrong: bench.open(initial_max_active_runs=w), "COMMAND_FAILED")
    assert not bench.directory.exists()
    assert not bench.authority.log


def test_an_epoch_that_is_no_positive_integer_is_refused(bench: Bench) -> None:
    for wrong in BAD_COUNTS:
        refusal(lambda w=wrong: bench.open(epoch=w), "AUTHORITY_REVOKED")
    assert not bench.directory.exists()
    assert not bench.authority.log


def test_a_blank_holder_is_refused(bench: Bench) -> None:
    for wrong in ("", " ", "\t\n", "\u00a0", None, 1, True, b"host-1", ["host-1"], {}, object()):
        refusal(lambda w=wrong: bench.open(holder_id=w), "AUTHORITY_REVOKED")
    assert not bench.directory.exists()


@pytest.mark.parametrize("missing", ["read_lease", "authorize", "read_admission", "read_release"])
def test_a_missing_callback_is_refused(bench: Bench, missing: str) -> None:
    class Lacking:
        def __getattr__(self, name: str) -> Any:
            if name == missing:
                raise AttributeError(name)
            return getattr(bench.authority, name)

    refusal(lambda: bench.open(authority=Lacking()), "AUTHORITY_REVOKED")
    no_function: list[Any] = [None, 1, "read_lease", {}]
    for wrong in no_function:
        setattr(bench.authority, missing, wrong)
        refusal(lambda: bench.open(), "AUTHORITY_REVOKED")
    assert not bench.directory.exists()


def test_an_authority_that_is_none_at_all_is_refused(bench: Bench) -> None:
    for wrong in (None, 1, "authority", object(), {}, []):
        refusal(lambda w=wrong: bench.open(authority=w), "AUTHORITY_REVOKED")
    assert not bench.directory.exists()


def test_the_maximum_is_checked_before_epoch_holder_and_callbacks(bench: Bench) -> None:
    wrong: dict[str, Any] = {"epoch": 0, "holder_id": "", "authority": None}
    refusal(lambda: bench.open(initial_max_active_runs=0, **wrong), "COMMAND_FAILED")
    refusal(lambda: bench.open(**wrong), "AUTHORITY_REVOKED")


def test_the_initial_maximum_counts_only_at_genesis(bench: Bench) -> None:
    bench.open(initial_max_active_runs=2).close()
    assert Caller(bench.open(initial_max_active_runs=9), bench)("snapshot")["capacity"]["maxActiveRuns"] == 2


def test_the_largest_numbers_open(bench: Bench) -> None:
    bench.authority.lease["fencingEpoch"] = 2**53 - 1
    store = bench.open(epoch=2**53 - 1, initial_max_active_runs=2**53 - 1)
    assert Caller(store, bench)("snapshot")["fencingEpoch"] == 2**53 - 1
    assert impl.read_durable_epoch(bench.directory) == 2**53 - 1


REFUSED_GENESIS = {
    "no lease": (answers(None), "AUTHORITY_REVOKED", "none"),
    "nonsense for a lease": (answers([]), "AUTHORITY_REVOKED", "none"),
    "a coordinator error": (
        raises(impl.CoordinatorError("POLICY_DENIED", "not today")), "POLICY_DENIED", "none"
    ),
    "another error": (raises(ValueError("broken")), DURABILITY, "unknown"),
}  # fmt: skip


@pytest.mark.parametrize("told", REFUSED_GENESIS)
@pytest.mark.parametrize("nth", [1, 2])
def test_a_refused_genesis_writes_neither_file_and_can_be_tried_again(
    bench: Bench, told: str, nth: int
) -> None:
    answer, code, effects = REFUSED_GENESIS[told]
    bench.authority.interfere("read_lease", nth, answer)
    refusal(lambda: bench.open(), code, side_effects=effects)
    assert [path.name for path in bench.directory.iterdir()] in ([], [LOCK])
    bench.open()
    assert store_faults(bench.directory) == []


def test_an_operation_on_an_empty_directory_is_no_genesis(bench: Bench) -> None:
    store = bench.open()
    for path in (bench.state, bench.identity):
        path.unlink()
    refusal(lambda: Caller(store, bench)("snapshot"), DURABILITY)
    assert [path.name for path in bench.directory.iterdir()] == [LOCK]


def test_a_missing_identity_is_completed_by_opening_alone_and_only_after_the_first_commit(
    bench: Bench,
) -> None:
    call = Caller(bench.open(), bench)
    identity = bench.identity.read_bytes()
    bench.identity.unlink()
    refusal(lambda: call("snapshot"), DURABILITY)
    refusal(lambda: impl.read_durable_epoch(bench.directory), DURABILITY)
    assert not bench.identity.exists()
    call = Caller(bench.open(), bench)
    assert bench.identity.read_bytes() == identity
    call.reserve(1)
    bench.identity.unlink()
    with untouched(bench.directory):
        refusal(lambda: bench.open(), DURABILITY)


@pytest.mark.parametrize("told", ["another action", "another directory", "two commits"])
def test_a_first_state_that_is_no_genesis_of_this_directory_gets_no_identity(bench: Bench, told: str) -> None:
    history = bench.history(epoch=2)
    if told == "another action":
        history.state.update(commitSeq=0, audit=[])
        history.commit("reserve", "p-alice", history.state["lastWallTime"])
    elif told == "another directory":
        history = type(history)(str(bench.root / "other"), 1, 2, epoch=2)
    else:
        history.commit("initialize", "coordinator-bootstrap", history.state["lastWallTime"])
    bench.put(history)
    bench.identity.unlink()
    before = photograph(bench.directory)
    refusal(lambda: bench.open(), DURABILITY)
    after = photograph(bench.directory)
    after.pop(LOCK, None)
    assert after == before


def test_missing_directories_are_made_one_by_one_and_private(bench: Bench) -> None:
    former = os.umask(0)
    try:
        store = bench.open(bench.root / "a" / "b" / "c")
    finally:
        os.umask(former)
    for path in (bench.root / "a", bench.root / "a" / "b", bench.root / "a" / "b" / "c"):
        assert mode(path) == 0o700
    assert store.directory == str(bench.root / "a" / "b" / "c")
    assert [mode(path) for path in Path(store.directory).iterdir()] == [0o600] * 3


def test_a_path_may_be_relative_doubled_or_end_with_a_slash(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.root)
    wanted = str(bench.root / "store")
    ways: list[Any] = [
        "store",
        "./store",
        "store/",
        "store//",
        f"{wanted}/",
        f"{bench.root}//store/.",
        Path("store"),
    ]
    ways += ["store/../store", f"{bench.root}/./store", f"/{wanted}"]
    for way in ways:
        store = bench.open(way)
        assert store.directory == wanted
        monkeypatch.chdir("/")
        assert Caller(store, bench)("snapshot")["commitSeq"] == 1
        monkeypatch.chdir(bench.root)
        assert impl.read_durable_epoch(way) == 2
        assert impl.audit_directory(way).faults == ()


def test_a_path_with_any_characters_of_unicode_opens(bench: Bench) -> None:
    directory = bench.root / 'st\u00f6re \u2028 \U0001f600 "quoted" \\ \x01 e\u0301'
    store = bench.open(directory)
    assert store.directory == str(directory)
    assert store_faults(directory) == []
    assert impl.read_durable_epoch(directory) == 2


def test_a_path_that_is_no_unicode_or_no_path_is_refused(bench: Bench) -> None:
    odd = os.fsdecode(os.fsencode(bench.root) + b"/st\xffre")
    for wrong in (odd, f"{bench.root}/st\0re", f"{bench.root}/{'x' * 300}", f"{bench.root}/{'x/' * 3000}"):
        refusal(lambda w=wrong: bench.open(w), DURABILITY, "COMMAND_FAILED", side_effects=None)
    files = [path for path in bench.root.rglob("*") if not path.is_dir()]
    assert [path.name for path in files if path.name != LOCK] == []


def test_an_ancestor_that_is_a_symlink_is_resolved_but_the_directory_itself_may_not_be_one(
    bench: Bench,
) -> None:
    real = bench.root / "real"
    real.mkdir(mode=0o755)
    (bench.root / "link").symlink_to(real)
    store = bench.open(bench.root / "link" / "store")
    assert store.directory == str(real / "store")
    store.close()
    for reader in (lambda: impl.read_durable_epoch(bench.root / "link" / "store"),):
        refusal(reader, DURABILITY)
    assert impl.read_durable_epoch(real / "store") == 2
    (bench.root / "direct").symlink_to(real / "store")
    refusal(lambda: impl.read_durable_epoch(bench.root / "direct"), DURABILITY)


def test_a_dangling_symlink_on_the_way_is_refused_and_its_target_not_made(bench: Bench) -> None:
    (bench.root / "link").symlink_to(bench.root / "nowhere")
    for way in (bench.root / "link", bench.root / "link" / "store"):
        refusal(lambda w=way: bench.open(w), DURABILITY, side_effects=None)
    assert not (bench.root / "nowhere").exists()


def test_a_file_in_the_place_of_the_directory_or_a_parent_is_refused(bench: Bench) -> None:
    (bench.root / "file").write_text("mine")
    os.mkfifo(bench.root / "fifo")
    with at_once(), untouched(bench.root):
        for way in ("file", "file/store", "fifo", "fifo/store", "file/a/b"):
            refusal(lambda w=way: bench.open(bench.root / w), DURABILITY, side_effects=None)
        for way in ("file", "fifo"):
            refusal(lambda w=way: impl.read_durable_epoch(bench.root / w), DURABILITY)
            assert impl.audit_directory(bench.root / way).faults != ()


@pytest.mark.parametrize("wrong", [0o755, 0o750, 0o705, 0o701, 0o710, 0o720, 0o777, 0o1777])
def test_an_existing_directory_open_to_others_is_refused_saying_how_to_mend_it(
    bench: Bench, wrong: int
) -> None:
    bench.directory.mkdir()
    bench.directory.chmod(wrong)
    error = refusal(lambda: bench.open(), DURABILITY)
    assert "chmod" in error.message
    assert str(bench.directory) in error.message
    assert mode(bench.directory) == wrong
    assert list(bench.directory.iterdir()) == []
    bench.directory.chmod(0o700)
    bench.open().close()
    bench.directory.chmod(wrong)
    with untouched(bench.directory):
        refusal(lambda: bench.open(), DURABILITY)
        refusal(lambda: impl.read_durable_epoch(bench.directory), DURABILITY)
        assert impl.audit_directory(bench.directory).faults != ()


def test_shared_parents_are_used_as_they_are(bench: Bench) -> None:
    shared = bench.root / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    bench.open(shared / "store")
    assert mode(shared) == 0o1777


@root_only
def test_a_directory_of_another_owner_is_refused(bench: Bench) -> None:
    bench.open().close()
    os.chown(bench.directory, 65534, 65534)
    with untouched(bench.directory):
        refusal(lambda: bench.open(), DURABILITY)
        refusal(lambda: impl.read_durable_epoch(bench.directory), DURABILITY)
        assert impl.audit_directory(bench.directory).faults != ()


def test_two_hosts_may_hold_one_store_open_and_the_newer_epoch_fences_the_older(bench: Bench) -> None:
    older = Caller(bench.open(), bench)
    newer = Authority(bench.clock, holder="host-2", epoch=3)
    other = bench.open(authority=newer, holder_id="host-2", epoch=3)
    bench.authority = newer
    Caller(other, bench).reserve(1)
    with untouched(bench.directory):
        refusal(lambda: older.store.call("snapshot", {}, "alice"), "AUTHORITY_REVOKED")
    shutil.rmtree(bench.directory)
