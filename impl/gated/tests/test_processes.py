"""Several threads and processes on one store: turns, forks, kills, and what others do to its files."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
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
    hooked,
    ledger_lines,
    mirrored,
    refused,
    reopened,
    with_events,
)
from impl.points import LEDGER_POINTS, CrashPoint

ROOT = Path(impl.__file__).parent.parent
APPEND = "LEDGER_APPEND_REQUIRED_FAILED"
INTEGRITY = "LEDGER_INTEGRITY_FAILED"


def in_a_child(work: Callable[[], None]) -> int:
    """How a forked child that does `work` ended: 0, or 1 if it raised, or the signal that killed it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # noqa: BLE001 -- told, since nobody else hears of it
            traceback.print_exc()
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def test_threads_that_share_a_store_take_turns(ledger: Ledger, directory: Path) -> None:
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(20):
                ledger.transact(adding(f"{name} {number}"))
                ledger.transact(adding(f"shared {number}"))
        except BaseException as error:  # noqa: BLE001 -- told to the thread that waits
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert ledger.state() == {"count": 4 * 20 + 20}
    ledger.close()
    assert mirrored(directory) == (100, {"count": 100})


def test_processes_that_share_a_directory_take_turns(directory: Path) -> None:
    program = (
        "import sys; from impl.gated import open_ledger; from impl.gated.tests.bench import adding\n"
        "from pathlib import Path\n"
        "with open_ledger(Path(sys.argv[1])) as ledger:\n"
        "    for number in range(25):\n"
        "        ledger.transact(adding(f'{sys.argv[2]} {number}')); ledger.transact(adding(f'{number}'))\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", program, str(directory), str(name)], cwd=ROOT)
        for name in range(3)
    ]
    assert [child.wait(120) for child in children] == [0, 0, 0]
    assert reopened(directory)[1] == {"count": 3 * 25 + 25}


def test_a_forked_child_can_t_use_its_parents_store_and_spoils_nothing(
    ledger: Ledger, directory: Path
) -> None:
    ledger.transact(adding("k1"))

    def child() -> None:
        for call in (lambda: ledger.transact(adding("k2")), ledger.state, lambda: ledger.head):
            assert "forked" in refused(call, APPEND, "operator").message
        ledger.close()

    assert in_a_child(child) == 0
    assert (directory / "mirror.sqlite-wal").exists()
    assert ledger.transact(adding("k2")).state == {"count": 2}


def test_a_forked_child_opens_a_store_of_its_own_only_if_its_parent_has_none_open(
    ledger: Ledger, directory: Path
) -> None:
    def child() -> None:
        with open_ledger(directory) as mine:
            mine.transact(adding("child"))

    ledger.transact(adding("first"))

    def refused_child() -> None:
        assert "forked" in refused(child, APPEND, "operator").message

    assert in_a_child(refused_child) == 0
    ledger.transact(adding("parent"))
    ledger.close()
    assert in_a_child(child) == 0
    assert reopened(directory)[1] == {"count": 3}


def test_a_mutation_that_forks_leaves_the_event_to_the_parent(ledger: Ledger, directory: Path) -> None:
    children: list[int] = []

    def mutate(state: dict[str, Any]) -> dict[str, Any]:
        children.append(os.fork())
        return {**state, "by": "parent" if children[0] else "child"}

    try:
        result = ledger.transact(adding("k", mutate=mutate))
    except BaseException as error:
        if children and children[0] == 0:
            os._exit(0 if isinstance(error, LedgerError) and error.code == APPEND else 1)
        raise
    if children[0] == 0:
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    assert result.state == {"by": "parent"}
    assert len(ledger_lines(directory)) == 1
    assert ledger.transact(adding("k2")).status == "committed"


def test_opening_and_closing_the_database_from_outside_doesn_t_drop_the_lock(directory: Path) -> None:
    with open_ledger(directory) as ledger:

        def mutate(state: dict[str, Any]) -> dict[str, Any]:
            with (directory / "mirror.sqlite").open("rb") as file:
                file.read(100)
            with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as foreign:
                foreign.execute("SELECT * FROM rows").fetchall()
            program = (
                "import sys; from impl.gated import open_ledger; open_ledger(sys.argv[1], lock_timeout_s=0.1)"
            )
            other = [sys.executable, "-c", program, str(directory)]
            done = subprocess.run(other, cwd=ROOT, check=False, capture_output=True, text=True, timeout=60)
            assert "SQLITE_MIRROR_FAILED (retry)" in done.stderr
            return {**state, "held": True}

        assert ledger.transact(adding("k", mutate=mutate)).status == "committed"
    assert reopened(directory)[1] == {"held": True}


def test_a_holder_that_is_killed_lets_the_next_one_go_on_at_once(directory: Path) -> None:
    with_events(directory, 1)

    def dies() -> None:
        def kill(_: Any) -> Any:
            os.kill(os.getpid(), signal.SIGKILL)

        with open_ledger(directory) as mine:
            mine.transact(adding("dies", mutate=kill))

    assert in_a_child(dies) == signal.SIGKILL
    with open_ledger(directory, lock_timeout_s=5) as ledger:
        assert ledger.transact(adding("k")).status == "committed"


def test_a_lock_file_that_is_replaced_during_a_transaction_keeps_it_from_appending(
    ledger: Ledger, directory: Path
) -> None:
    def mutate(state: dict[str, Any]) -> dict[str, Any]:
        (directory / "ledger.lock").unlink()
        (directory / "ledger.lock").touch(mode=0o600)
        return {**state, "x": 1}

    refused(lambda: ledger.transact(adding("k", mutate=mutate)), INTEGRITY, "operator")
    assert ledger_lines(directory) == []


# --- kills -------------------------------------------------------------------------------------------


def everything(ledger: Ledger, ran: Callable[[str], object]) -> None:
    """A transaction, two steps, a compensation."""
    ledger.transact(adding("k1"))
    steps = [
        Step("a", "ra", 1, True, HASH, HASH, lambda: ran("a")),
        Step("b", "rb", 2, False, HASH, HASH, lambda: ran("b")),
    ]
    ledger.apply_steps(ApplyRequest("run", "node", "op", steps))
    undoing = [CompensationStep("a", 1, True, True, lambda: ran("undo a"))]
    ledger.compensate(CompensationRequest("run", "node", "op", "undo", HASH, HASH, undoing))


KILLED_AT = [
    point
    for point in LEDGER_POINTS
    if point.startswith(("ledger-append", "ledger-fsync", "mirror-insert", "mirror-commit", "mirror-begin"))
]


@pytest.mark.parametrize("nth", range(1, 7))
@pytest.mark.parametrize("point", KILLED_AT, ids=str)
def test_killed_anywhere_and_asked_again_everything_has_happened_once(
    directory: Path, point: CrashPoint, nth: int
) -> None:
    with_events(directory, 0)
    log = directory.parent / "effects"

    def ran(what: str) -> None:
        with log.open("a") as file:
            file.write(f"{what}\n")

    def dies() -> None:
        arrivals = 0

        def strike(arrived: CrashPoint) -> None:
            nonlocal arrivals
            arrivals += arrived is point
            if arrivals == nth:
                os.kill(os.getpid(), signal.SIGKILL)

        with open_ledger(directory) as mine, hooked(strike):
            everything(mine, ran)

    assert in_a_child(dies) == signal.SIGKILL, "there are six events, so each point is passed six times"
    done = len(ledger_lines(directory)) if point.rpartition("-")[2] != "torn" else None
    with open_ledger(directory) as ledger:
        assert ledger.recovery.cut_bytes == 0 or done is None
        everything(ledger, ran)
        assert ledger.state() == {"count": 1}
        keys = [line["record"]["idempotencyKey"] for line in ledger_lines(directory)]
    effects = log.read_text().splitlines()
    assert effects.count("b") <= 1, "a step that isn't idempotent ran twice"
    in_doubt = "rb:started" in keys and "rb" not in keys
    assert keys == ["k1", "ra", "rb:started", *([] if in_doubt else ["rb"]), "undo", "undo:a"]
    assert reopened(directory)[1] == {"count": 1}
