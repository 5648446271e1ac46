"""Ledger and mirror tampered with, byte by byte and line by line, while nobody has the store open.

With the other file intact, opening must either recover exactly what was acknowledged, or refuse with
LEDGER_INTEGRITY_FAILED and leave every byte of the ledger as it was: never a silent loss. What was recovered
must work on. Bytes are flipped (one bit, all bits, or set to zero), lines swapped, removed, repeated and
appended, and the tail is cut at every byte.

The stores are small. `pristine` has both files whole; in `unseen` the last line is one that the mirror has
not seen and nobody was told of, and the WAL still holds what a killed writer has left in it.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, Literal

from attrs import define, frozen

from crash_tests.children import HarnessError, Say, in_child
from crash_tests.gated.changes import STATEMENTS, Change
from crash_tests.gated.scenarios import OPEN, UNSEEN, counted, put, steps
from crash_tests.ground import Ground, Picture, ground
from crash_tests.oracle import Violation
from crash_tests.stories import REPRODUCE
from impl.gated import LedgerError, Request, open_ledger
from model.gated import initial_world, step
from model.gated.actions import Action, CloseLedger, OpenLedger, ReadState
from model.gated.forms import action_to_json
from model.values import JSON
from stateful_tests.gated.observe import LEDGER, MIRROR, Observer
from stateful_tests.gated.reader import chain_problems, fold
from stateful_tests.gated.target import LedgerTarget
from stateful_tests.patience import HungError, at_most
from stateful_tests.results import Failure

SILENT: Final = "Recovery: tampered with, it recovers what was acknowledged or says so; never a silent loss"
ALONE: Final = "Recovery: LEDGER_INTEGRITY_FAILED changes no byte of ledger.jsonl"
HONEST: Final = "Recovery: with the ledger intact, or one torn tail, the store opens"
HUNG_S: Final = 10.0
Name = Literal["pristine", "unseen"]
WAL: Final = f"{MIRROR}-wal"


_HISTORIES: Final[Mapping[Name, tuple[Action, ...]]] = {
    "pristine": (
        OPEN,
        counted("k1"),
        put("k2", "\u00fc\U0001f512"),
        steps(True, False),
        counted("k3"),
        CloseLedger("a"),
    ),
    # Whoever has it open besides keeps the WAL from being taken into the file.
    "unseen": (OpenLedger("idle"), OPEN, ReadState("idle"), *UNSEEN[1:]),
}
VICTIMS: Final = tuple(_HISTORIES)


@define
class Victim:
    """A store to tamper with, as it was before, and what has been acknowledged of it."""

    ground: Ground
    picture: Picture
    acknowledged: tuple[str, ...]
    """The hashes of the lines that somebody was told of."""
    at_most: tuple[str, ...]
    """Those of all lines."""
    observer: Observer
    opened: bool = False
    """Whether the store could be opened after the last change."""
    visitor: sqlite3.Connection | None = None
    """Who has the mirror open besides."""

    def content(self, file: str) -> bytes:
        assert self.picture.files is not None
        return self.picture.files[file][1]

    def refuses(self, change: Change) -> str | None:
        """Why `change` can't be done to this store, if it can't."""
        files = self.picture.files or {}
        if change.file not in files:
            return f"there is no file {change.file!r}; there are {', '.join(sorted(files))}"
        if change.kind in STATEMENTS:
            return None
        try:
            change.done_to(self.content(change.file))
        except (ValueError, IndexError) as error:
            return f"{change} can't be done: {error}"
        return None

    def put(self, change: Change) -> None:
        self.close()
        self.ground.put_back(self.picture)
        path = self.ground.directory / change.file
        if change.kind in STATEMENTS:
            self.visitor = sqlite3.connect(path, isolation_level=None)
            self.visitor.execute("PRAGMA wal_autocheckpoint = 0")
            self.visitor.execute(STATEMENTS[change.kind])
        else:
            path.write_bytes(change.done_to(self.content(change.file)))

    def close(self) -> None:
        """Whoever has been looking at the mirror goes."""
        if self.visitor is not None:
            self.visitor.close()
            self.visitor = None


@contextmanager
def victim(name: Name) -> Iterator[Victim]:
    """The store of that name. What has been left open in it died with its process, its WAL unsettled."""
    with ground() as place:
        ended = in_child(partial(_made, place.directory, name))
        if not ended.finished:
            raise HarnessError(f"a store to tamper with could not be made: it {ended.describe()}")
        observer = Observer(place.directory)
        seen = observer.look()
        hashes = tuple(line.hash for line in seen.reading.lines if line is not None)
        world = initial_world()
        for action in _HISTORIES[name]:
            world, _ = step(world, action)
        told = tuple(each for each in hashes if each in world.acknowledged)
        try:
            with closing(Victim(place, place.picture(), told, hashes, observer)) as made:
                yield made
        finally:
            observer.close()


def _made(directory: Path, name: Name, _: Say) -> None:
    """Leaves without closing anything."""
    target = LedgerTarget(directory)
    for action in _HISTORIES[name]:
        target.apply(action)


def judge(store: Victim, change: Change, *, must_open: bool = False) -> Violation | None:
    """Tampers, opens, and says what is wrong with what came of it."""
    store.put(change)
    before = (store.ground.directory / LEDGER).read_bytes()
    try:
        with at_most(HUNG_S):
            opened = _opened(store.ground.directory)
    except HungError as error:
        return Violation(SILENT, f"{change}: {error}")
    store.opened = not isinstance(opened, _Refusal)
    if isinstance(opened, _Refusal):
        return _refused(store, change, opened, before, must_open=must_open)
    seen = store.observer.look()
    wrong = next(chain_problems(seen.reading), None)
    hashes = tuple(line.hash for line in seen.reading.lines if line is not None)
    if wrong is not None or seen.reading.tail:
        return Violation(SILENT, f"{change}: opened, and {wrong or 'a torn line is left'}")
    # One more line is the probe's; the one in flight may have been there.
    if hashes[:-1] not in (store.acknowledged, store.at_most):
        lost = set(store.acknowledged) - set(hashes)
        return Violation(SILENT, f"{change}: opened, and {len(lost)} acknowledged events are gone")
    expected = {**fold(seen.reading.lines[:-1]), "probe": 1}
    mirror = seen.store["mirror"]
    if opened != expected or not isinstance(mirror, dict) or mirror["state"] != expected:
        return Violation(SILENT, f"{change}: opened, and the mirror is not the fold of the ledger")
    return None


@frozen
class _Refusal:
    """How an opening, or the transaction after it, ended. It keeps nothing of the store alive."""

    text: str
    code: str | None = None
    recoverability: str | None = None


def _opened(directory: Path) -> dict[str, JSON] | _Refusal:
    """The rows after one more transaction; or how it ended.

    Some damage only shows when SQLite writes: that transaction is in doubt, and another opening mends it.
    """
    first = _probed(directory)
    doubtful = isinstance(first, _Refusal) and first.recoverability == "in_doubt"
    return _probed(directory) if doubtful else first


def _probed(directory: Path) -> dict[str, JSON] | _Refusal:
    try:
        with open_ledger(directory) as ledger:
            ledger.transact(_PROBE)
            state: dict[str, JSON] = ledger.state()
            return state
    except LedgerError as error:
        return _Refusal(str(error), error.code, error.recoverability)
    except Exception as error:  # noqa: BLE001  # whatever comes out of it is what we are here to see
        return _Refusal(f"{type(error).__name__}: {error}")


_PROBE: Final = Request(
    operation_id="probe",
    run_id="probe",
    node_id="probe",
    event_type="probe",
    phase="apply",
    idempotency_key="probe",
    intent=None,
    mutate=lambda state: {**state, "probe": 1},
)


def _refused(
    store: Victim, change: Change, error: _Refusal, before: bytes, *, must_open: bool
) -> Violation | None:
    if error.code != "LEDGER_INTEGRITY_FAILED":
        return Violation(SILENT, f"{change}: it ended with {error.text}")
    if error.recoverability != "operator":
        return Violation(SILENT, f"{change}: an operator has to look, not {error.recoverability}")
    if (store.ground.directory / LEDGER).read_bytes() != before:
        return Violation(ALONE, f"{change}: refused, and the ledger's bytes are others now")
    if must_open:
        return Violation(HONEST, f"{change}: {error.text}")
    return None


def failure(name: Name, change: Change, violation: Violation) -> Failure:
    """The failure, with a trace that says how the store was made and what was done to it."""
    trace: JSON = {
        "kind": "kill",
        "system": "ledger",
        "trial": "tampering",
        "schema_version": 1,
        "name": f"tampered-{name}",
        "why": "somebody changes a file of a store that nobody has open, and it is opened",
        "victim": name,
        "history": [action_to_json(action) for action in _HISTORIES[name]],
        "change": change.to_json(),
        "wrong": [violation.title],
        "clause": violation.clause,
    }
    return Failure(trace, violation.title, violation.clause, REPRODUCE)
