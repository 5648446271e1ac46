"""How deep, how long, how far: rows nested as deep as allowed, ledgers in blocks, progress, waiting.

Guarantees: values are as deep as allowed and no deeper, however lists and objects alternate; a ledger is read
alike in blocks of any size, and how far it is read is told byte by byte; what can't be read is told.

Doesn't: measure. `test_costs` counts steps.
"""

from pathlib import Path
from typing import Any

import pytest

from impl import disklog
from impl.gated import Change, Ledger, audit_ledger, open_ledger
from impl.gated.events import Place
from impl.gated.lines import Draft, Position, check_line, make_line
from impl.gated.mirror import Mirror
from impl.gated.place import LedgerPlace
from impl.gated.records import make_record
from impl.gated.recovery import Files, recover
from impl.gated.tests.bench import HASH, adding, failing, hooked, with_events
from impl.gated.tests.damages import lines_of, put
from impl.jsontext import FormatError
from impl.points import CrashPoint


def a_place(phase: str) -> Place:
    return Place("run", "node", "op", None, "type", phase)


def nested(levels: int, kinds: str) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if kinds[level % len(kinds)] == "[" else {"x": value}
    return value


@pytest.mark.parametrize("text", ["plain", 'es"caped'])
@pytest.mark.parametrize("kinds", ["[", "{", "[{", "{[", "[[{", "{{["])
def test_a_row_is_100_levels_deep_at_most_whatever_it_is_made_of(
    ledger: Ledger, directory: Path, kinds: str, text: str
) -> None:
    for levels, fits in ((99, True), (100, True), (101, False), (150, False)):
        value = nested(levels, kinds)
        record = make_record(a_place("apply"), text, HASH, HASH)
        raw = make_line(Draft(record, HASH, Change({"row": value}, ())), Position())[1][:-1]
        change = adding(f"{text} {levels}", mutate=lambda state, value=value: {**state, "row": value})
        if fits:
            assert check_line(raw, 1, "0" * 64, 0).change["set"] == {"row": value}
            assert ledger.transact(change).state["row"] == value
        else:
            with pytest.raises(FormatError, match="more than 100 levels deep"):
                check_line(raw, 1, "0" * 64, 0)
            with pytest.raises(ValueError, match="more than 100 levels deep"):
                ledger.transact(change)
    assert audit_ledger(directory).faults == ()


@pytest.mark.parametrize("block", [1, 2, 7, 64, 500, 501, 1 << 20])
@pytest.mark.parametrize("torn", [b"", b"{", b"{}\n"])
def test_a_ledger_is_read_alike_in_blocks_of_any_size(
    directory: Path, monkeypatch: pytest.MonkeyPatch, block: int, torn: bytes
) -> None:
    with_events(directory, 3)
    put(directory, [*lines_of(directory), torn])
    size = (directory / "ledger.jsonl").stat().st_size
    monkeypatch.setattr(disklog, "BLOCK", block)
    told: list[tuple[int, int]] = []
    report = audit_ledger(directory, progress=lambda *seen: told.append(seen))
    assert (report.faults, report.commit_seq, report.torn_bytes) == ((), 3, len(torn))
    steps = [min(start + block, size) for start in range(0, size, block)]
    assert told == [(at, 2 * size) for at in [*steps, *(size + step for step in steps)]]
    told.clear()
    with open_ledger(directory, progress=lambda *seen: told.append(seen)) as ledger:
        assert ledger.recovery.cut_bytes == len(torn)
        assert ledger.state() == {"count": 3}
    assert told == [(step, size) for step in steps]


def test_an_audit_tells_what_it_could_not_read(directory: Path) -> None:
    with_events(directory, 2)
    with failing("ledger-read-before"):
        report = audit_ledger(directory)
    (fault,) = report.faults
    assert (fault.clause, fault.where) == ("FILES", str(directory))
    assert "injected at ledger-read-before" in fault.message


@pytest.mark.parametrize(("left", "told"), [(-5.0, 0), (0.0, 0), (2.0, 2000)])
def test_a_foreign_writer_is_waited_for_no_longer_than_until_the_deadline(
    directory: Path, left: float, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_events(directory, 1)
    found = directory.stat()
    place = LedgerPlace(str(directory), found.st_dev, found.st_ino)
    files = Files(place, Mirror(place.mirror_path))
    waits: list[int] = []

    def look(point: CrashPoint) -> None:
        if point is CrashPoint.LEDGER_READ_BEFORE:
            waits.append(files.mirror.open.execute("PRAGMA busy_timeout").fetchone()[0])

    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    with hooked(look):
        recover(files, 1000.0 + left)
    assert waits[0] == told
    files.mirror.disconnect()
    assert files.journal is not None
    files.journal.close()
