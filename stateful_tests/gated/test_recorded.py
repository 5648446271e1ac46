"""What is recorded of a call beside its answer: its steps in order, and how its connections are set."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from stateful_tests.gated.order import out_of_order
from stateful_tests.gated.pragmas import Connections

COMMITTED = (
    "mirror-begin-after",
    "ledger-append-after",
    "fsync:ledger",
    "mirror-insert-before",
    "mirror-insert-after",
    "mirror-commit-before",
    "mirror-commit-after",
)
REBUILT = (
    "mirror-aside-after",
    "fsync:directory",
    "mirror-build-before",
    "mirror-replay-commit-before",
    "mirror-build-after",
    "fsync:other",
    "mirror-rename-before",
    "mirror-rename-after",
    "fsync:directory",
)
CAUGHT_UP = ("ledger-renew-after", "fsync:ledger", "mirror-replay-before", "mirror-replay-commit-before")


def wrong(steps: Sequence[str], *, died: bool = False, failed: bool = False) -> list[str]:
    return list(out_of_order(steps, died=died, failed=failed))


@pytest.mark.parametrize("steps", [COMMITTED, REBUILT, CAUGHT_UP])
def test_steps_in_order_are_right(steps: tuple[str, ...]) -> None:
    assert wrong(steps) == []


@pytest.mark.parametrize(
    ("steps", "missing", "said"),
    [
        (COMMITTED, "fsync:ledger", "mirrored while a record was not synced"),
        (COMMITTED, "ledger-append-after", "mirrored that had not been appended"),
        (COMMITTED, "mirror-insert-after", "committed whose record had not been mirrored"),
        (COMMITTED, "mirror-commit-after", "neither committed nor rolled back"),
        (REBUILT, "fsync:other", "whose content was not synced"),
        (CAUGHT_UP, "ledger-renew-after", "mirrored without being written again"),
        (CAUGHT_UP, "fsync:ledger", "mirrored without being written again"),
    ],
)
def test_each_step_that_is_left_out_is_missed(steps: tuple[str, ...], missing: str, said: str) -> None:
    assert said in wrong([step for step in steps if step != missing])[0]


def test_a_name_is_durable_only_once_its_directory_was_synced() -> None:
    assert "renamed in, but a mirror was set aside" in wrong(REBUILT[:1] + REBUILT[2:])[0]
    assert wrong(REBUILT[:-1]) == ["a new mirror was renamed in, and the directory was never synced"]
    assert wrong(["ledger-create-after"]) == ["ledger.jsonl was created, and the directory was never synced"]
    assert wrong(REBUILT[:-1], died=True) == wrong(REBUILT[:-1], failed=True) == []


def test_a_committed_transaction_costs_one_fsync_of_the_ledger() -> None:
    twice = [*COMMITTED[:3], "fsync:ledger", *COMMITTED[3:]]
    assert wrong(twice) == ["a record was synced 2 times before it was mirrored"]


def test_rolled_back_exactly_once() -> None:
    rolled = ["mirror-begin-after", "mirror-rollback-before", "mirror-rollback-after"]
    assert wrong(rolled) == []
    assert wrong([*rolled, *rolled[1:]]) == ["a transaction was rolled back twice"]


@pytest.mark.parametrize(("level", "problems"), [("OFF", 1), ("NORMAL", 1), ("FULL", 0), ("EXTRA", 0)])
def test_a_connection_whose_commits_are_not_synced_is_a_problem(
    tmp_path: Path, level: str, problems: int
) -> None:
    connections = Connections()
    with connections.watching():
        made = sqlite3.connect(tmp_path / "mirror.sqlite")
        made.execute(f"PRAGMA synchronous={level}")
        sqlite3.connect(tmp_path / "mirror.sqlite").close()  # can't be asked any more
    made.close()
    assert (connections.asked, len(connections.problems)) == (1, problems)
    with connections.watching():
        pass
    assert connections.problems == []
