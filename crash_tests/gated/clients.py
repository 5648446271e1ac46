"""What races of real processes at one ledger share: clients, requests, effects on file, and a last look.

Effects of steps are lines in a file that every process appends to, so they outlive whoever is killed. The
last look is the independent reader's: lines, chain, keys, and the mirror against their fold.
"""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import crash_tests.races
from crash_tests.gated.scenarios import AFTER, BEFORE
from crash_tests.races import LONG_S, Said
from impl.gated import (
    ApplyRequest,
    CompensationRequest,
    CompensationStep,
    Ledger,
    LedgerError,
    Request,
    Step,
    open_ledger,
)
from stateful_tests.gated.observe import Observation, Observer
from stateful_tests.gated.reader import chain_problems, fold

Place = crash_tests.races.Place


def opened(place: Place, *, lock_timeout_s: float = LONG_S) -> Ledger:
    """The ledger, open in this process."""
    return open_ledger(place.store, lock_timeout_s=lock_timeout_s)


def counting(key: str) -> Request:
    """Adds one to the row `n`: done twice, it shows."""
    return Request(
        operation_id="op",
        run_id="run",
        node_id="node",
        event_type="row.count",
        phase="apply",
        idempotency_key=key,
        intent=key,
        mutate=lambda state: {**state, "n": state.get("n", 0) + 1},
    )


def asked(call: Callable[[], object]) -> Said:
    """One call, with its refusal as a value: `code/recoverability`."""
    try:
        value = call()
    except LedgerError as error:
        return Said(f"{error.code}/{error.recoverability}", error.message)
    return Said(str(getattr(value, "status", "ok")))


def count(ledger: Ledger, key: str) -> Said:
    return asked(lambda: ledger.transact(counting(key)))


def effect(place: Place, name: str) -> Callable[[], None]:
    """A side effect that can be counted afterwards, whoever dies."""

    def run() -> None:
        descriptor = os.open(place.root / "effects", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, f"{name}\n".encode())
        os.close(descriptor)

    return run


def effects(place: Place) -> Counter[str]:
    """How often each side effect has happened."""
    path = place.root / "effects"
    return Counter(path.read_text().split()) if path.exists() else Counter()


def applying(place: Place, *idempotent: bool, run: str = "run") -> ApplyRequest:
    """Steps s1, s2 … of which these are idempotent."""
    steps = tuple(
        Step(f"s{n}", f"r{n}", n, each, BEFORE, AFTER, effect(place, f"{run}/s{n}"))
        for n, each in enumerate(idempotent, 1)
    )
    return ApplyRequest(run_id=run, node_id="node", operation_id="op", steps=steps)


def undoing(place: Place, many: int, *, run: str = "run") -> CompensationRequest:
    """The compensation of s1, s2 …, all idempotent."""
    steps = tuple(
        CompensationStep(f"s{n}", n, True, True, effect(place, f"{run}/undo-s{n}"))
        for n in range(1, many + 1)
    )
    return CompensationRequest(run, "node", "op", "undo", AFTER, BEFORE, steps)


def looked(place: Place) -> Observation:
    """What the files show."""
    observer = Observer(place.store)
    try:
        return observer.look()
    finally:
        observer.close()


def keys(place: Place) -> list[str]:
    """The keys in the ledger, in order: of receipts and their like with their run before them."""
    lines = [line for line in looked(place).reading.lines if line is not None]
    return ["/".join(filter(None, line.key)) for line in lines]


def faults(place: Place) -> list[str]:
    """What is wrong with the files: each by itself, and the mirror against the ledger."""
    seen = looked(place)
    wrong = [*seen.problems, *chain_problems(seen.reading)]
    if seen.reading.tail:
        wrong.append("the ledger ends with a torn line")
    mirror, lines = seen.store["mirror"], seen.reading.lines
    if not isinstance(mirror, dict):
        return [*wrong, f"the mirror is {mirror}"]
    head = lines[-1].hash if lines and lines[-1] is not None else "0" * 64
    if (mirror["sequence"], mirror["head"]) != (len(lines), head):
        wrong.append(f"the mirror is at {mirror['sequence']}, the ledger at {len(lines)}")
    if mirror["state"] != fold(lines):
        wrong.append("the mirror is not the fold of the ledger")
    return wrong


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())
