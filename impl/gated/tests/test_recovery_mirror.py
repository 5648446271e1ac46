"""What opening does about every state that the mirror may be in."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from impl.gated import audit_ledger, open_ledger
from impl.gated.tests.bench import (
    adding,
    failing,
    mirrored,
    photograph,
    refused,
    with_events,
)
from impl.gated.tests.damages import (
    INTEGRITY,
    UNUSABLE,
    lines_of,
    lose_mirror,
    put,
    put_mirror,
    refuses_and_changes_nothing,
    report_of,
    spoil_mirror,
    take_mirror,
)


def test_a_mirror_that_is_behind_is_caught_up(directory: Path) -> None:
    mirrors = []
    for count in range(5):
        with_events(directory, count)
        mirrors.append(take_mirror(directory))
    for behind, mirror in enumerate(mirrors):
        put_mirror(directory, mirror)
        with failing() as passed:
            report = report_of(directory)
        how = "intact" if behind == 4 else "caught-up"
        assert (report.mirror, report.replayed_events) == (how, 4 - behind)
        assert (report.set_aside, report.cut_bytes) == ((), 0)
        assert passed.count("mirror-replay-commit-before") == (behind != 4), "one SQLite transaction"
        assert mirrored(directory) == (4, {"count": 6})


def test_what_the_mirror_lacks_is_synced_before_it_is_replayed(directory: Path) -> None:
    with_events(directory, 1)
    behind = take_mirror(directory)
    with_events(directory, 3)
    put_mirror(directory, behind)
    with failing() as passed:
        report_of(directory)
    assert passed.index("ledger-renew-fsync-after") < passed.index("mirror-replay-before")
    put_mirror(directory, behind)
    with failing("ledger-renew-fsync-before"):
        refused(lambda: open_ledger(directory), "LEDGER_APPEND_REQUIRED_FAILED", "retry")
    assert mirrored(directory)[0] == 1


def test_a_mirror_that_is_missing_is_built(directory: Path) -> None:
    with_events(directory, 3)
    lose_mirror(directory)
    report = report_of(directory)
    assert (report.mirror, report.replayed_events, report.set_aside) == ("rebuilt", 3, ())
    assert mirrored(directory) == (3, {"count": 3})
    assert not list(directory.glob("*.new*"))


@pytest.mark.parametrize("damage", UNUSABLE.values(), ids=UNUSABLE)
def test_a_mirror_that_is_unusable_is_set_aside_and_built_anew(
    directory: Path, damage: Callable[[Path], object]
) -> None:
    with_events(directory, 3)
    damage(directory)
    spoiled = photograph(directory)["mirror.sqlite"]
    with open_ledger(directory) as ledger:
        report = ledger.recovery
        assert ledger.transact(adding("k1", 1)).status == "noop"
        assert ledger.transact(adding("k9", 1)).state == {"count": 4}
    assert (report.mirror, report.replayed_events, report.cut_bytes) == ("rebuilt", 3, 0)
    assert any("set aside" in note for note in report.notes)
    assert report.set_aside[0].startswith("mirror.sqlite.aside-")
    aside = (directory / report.set_aside[0]).read_bytes()
    assert len(aside) == len(spoiled) or not spoiled
    assert mirrored(directory) == (4, {"count": 4})
    assert report_of(directory).mirror == "intact"


def test_wal_and_shared_memory_are_set_aside_too(directory: Path) -> None:
    with_events(directory, 3)
    spoil_mirror(directory)
    for side in ("-wal", "-shm"):
        (directory / f"mirror.sqlite{side}").write_bytes(b"left behind" * 4000)
        (directory / f"mirror.sqlite{side}").chmod(0o600)
    report = report_of(directory)
    base = report.set_aside[0]
    assert report.set_aside == (base, f"{base}-wal", f"{base}-shm")
    assert (directory / f"{base}-wal").read_bytes() == b"left behind" * 4000
    assert sorted(path.name for path in directory.glob("mirror.sqlite-*")) == []


def test_a_wal_without_its_database_is_set_aside_before_another_is_built(directory: Path) -> None:
    with_events(directory, 3)
    lose_mirror(directory)
    (directory / "mirror.sqlite-wal").write_bytes(b"left behind" * 4000)
    (directory / "mirror.sqlite-wal").chmod(0o600)
    report = report_of(directory)
    assert report.mirror == "rebuilt"
    assert [name[-4:] for name in report.set_aside] == ["-wal"]


def test_the_mirror_of_another_ledger_is_refused(directory: Path) -> None:
    with_events(directory, 2)
    foreign = take_mirror(directory)
    for path in directory.iterdir():
        path.unlink()
    with open_ledger(directory) as ledger:
        for number in range(3):
            ledger.transact(adding(f"other {number}"))
    put_mirror(directory, foreign)
    assert "another hash" in refuses_and_changes_nothing(directory)


def test_a_mirror_ahead_of_its_ledger_is_refused(directory: Path) -> None:
    with_events(directory, 3)
    whole = lines_of(directory)
    for count in (0, 1, 2):
        put(directory, whole[:count])
        refuses_and_changes_nothing(directory)
    put(directory, whole)
    assert report_of(directory).mirror == "intact"


@pytest.mark.parametrize("name", ["mirror.sqlite", "mirror.sqlite-wal", "ledger.jsonl", "ledger.lock"])
def test_a_symlink_in_place_of_a_file_is_refused(directory: Path, name: str) -> None:
    with_events(directory, 1)
    (directory / name).unlink(missing_ok=True)
    (directory / name).symlink_to(directory.parent / "elsewhere")
    refused(lambda: open_ledger(directory), INTEGRITY, "operator")
    assert (directory / name).is_symlink()
    assert not (directory.parent / "elsewhere").exists()


@pytest.mark.parametrize("name", ["ledger.jsonl", "ledger.lock"])
def test_a_ledger_or_lock_that_others_may_touch_is_refused(directory: Path, name: str) -> None:
    with_events(directory, 1)
    (directory / name).chmod(0o640)
    assert "chmod 600" in refused(lambda: open_ledger(directory), INTEGRITY, "operator").message


def test_leftovers_of_killed_recoveries_are_removed_and_foreign_files_are_not(directory: Path) -> None:
    with_events(directory, 1)
    ours = [directory / f"mirror.sqlite.{'0' * 32}.new{side}" for side in ("", "-wal", "-shm", "-journal")]
    others = [directory / name for name in ("notes.txt", f"mirror.sqlite.{'0' * 31}.new")]
    for path in [*ours, *others]:
        path.touch()
    report_of(directory)
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)


def test_a_list_of_free_pages_that_names_one_in_use_makes_a_mirror_unusable(directory: Path) -> None:
    """SQLite would write new events over that page. No table shows it, only a look at the whole file."""
    with open_ledger(directory) as ledger:
        ledger.transact(adding("k1", mutate=lambda state: {**state, "large": "x" * 50_000}))
        ledger.transact(adding("k2", mutate=lambda _: {"small": 1}))
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone()[0] > 2
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(take_mirror(directory))
    put_mirror(directory, bytes(content))
    assert report_of(directory).mirror == "intact"
    trunk = int.from_bytes(content[32:36], "big")
    first = (trunk - 1) * size + 8  # behind the next trunk's number and the count of leaves
    content[first : first + 4] = root.to_bytes(4, "big")
    put_mirror(directory, bytes(content))
    assert [fault.clause for fault in audit_ledger(directory).faults] == ["MIRROR"]
    report = report_of(directory)
    assert (report.mirror, report.replayed_events) == ("rebuilt", 2)
    assert "out of order" in str(report.notes)
