"""The values the ledger's model speaks in: records, lines, the file, its mirror, everything around them.

Every value is frozen, so a `World` can be kept, compared and gone back to. Rows are held as canonical JSON
text, so that two states are equal only if their bytes are. Lengths are in bytes, sequences count from 1.

What these values do not hold: the pages of SQLite, leftover and set-aside files, the lock.
"""

import json
from typing import Final, Literal

from attrs import field, frozen

from model.gated.texts import canonical, hash_of
from model.values import JSON

NO_HASH: Final = "0" * 64
"""What the first line has for a previous one."""

RECEIPT_PHASES: Final[frozenset[str]] = frozenset({"receipt", "start", "compensate"})
"""Phases of the lines that steps and compensations write; their keys count within their run."""

Rows = tuple[tuple[str, str], ...]
"""(name, canonical JSON), in the order of canonical JSON."""

_remember = object.__setattr__


@frozen
class State:
    """Named rows."""

    rows: Rows = ()
    digest: str | None = field(default=None, init=False, eq=False, repr=False)
    """The hash, once it was asked for. Derived, so it takes no part in comparisons."""

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of the whole state."""
        if self.digest is None:
            text = ",".join(f"{canonical(name)}:{value}" for name, value in self.rows)
            _remember(self, "digest", hash_of("{" + text + "}"))
        assert self.digest is not None
        return self.digest

    def as_json(self) -> dict[str, JSON]:
        """A fresh dictionary: whoever gets it may change it."""
        return {name: json.loads(value) for name, value in self.rows}


@frozen
class Record:
    """A ledger record; `event_hash` is that of all other fields (see `model.gated.lines.record`)."""

    operation_id: str
    run_id: str
    node_id: str
    event_type: str
    phase: str
    idempotency_key: str
    before_state_hash: str
    after_state_hash: str
    event_hash: str
    attempt_id: str | None = None


@frozen
class Change:
    """What a mutation changed: rows that are new or differ, and names of rows that are gone."""

    set: Rows = ()
    remove: tuple[str, ...] = ()


Name = tuple[str, str]
"""A key in its namespace: ("", key) for a transaction, (run id, key) for a receipt and its like."""


@frozen
class Line:
    """A whole valid line of `ledger.jsonl`. `text` is its bytes, newline included."""

    sequence: int
    record: Record
    request_hash: str
    change: Change
    previous_hash: str
    hash: str
    text: bytes = field(eq=False, repr=False)
    name: Name = field(eq=False, repr=False)


@frozen
class Foul:
    """Bytes up to a newline that are no valid line."""

    text: bytes


@frozen
class LedgerFile:
    """`ledger.jsonl`: what ends in a newline, and what comes after the last one. `size` is in bytes."""

    entries: tuple[Line | Foul, ...] = ()
    tail: bytes = b""
    size: int = 0
    valid: tuple[Line, ...] | None = field(default=None, init=False, eq=False, repr=False)
    """The valid lines, once they were asked for."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """The valid lines, in order."""
        if self.valid is None:
            _remember(self, "valid", tuple(each for each in self.entries if isinstance(each, Line)))
        assert self.valid is not None
        return self.valid


@frozen
class Mirror:
    """An intact `mirror.sqlite`: the lines it has seen, the rows they make, and the ledger's size then."""

    lines: tuple[Line, ...] = ()
    state: State = State()
    size: int = 0

    @property
    def sequence(self) -> int:
        return len(self.lines)

    @property
    def head(self) -> str:
        return self.lines[-1].hash if self.lines else NO_HASH


Wreck = Literal["missing", "empty", "corrupt", "schema"]
"""A mirror that is none: there is no file, or not what the store can read."""


@frozen
class Client:
    """A process that has the store open. A poisoned one refuses every call until it opens it anew."""

    name: str
    poisoned: bool = False


@frozen
class Effect:
    """A side effect that happened, of a step or a compensator; `key` is its receipt's."""

    run_id: str
    key: str
    kind: Literal["step", "compensator"]
    idempotent: bool


@frozen
class World:
    """The store and everything around it: one frozen value.

    `ledger` is `None` while there is no file. `effects` lists the side effects in the order in which they
    happened. `acknowledged` are the hashes of all lines that somebody was told of. `wounds` names the files
    that were tampered with since the store was last opened with success: with one wound nothing
    acknowledged may get lost in silence, with both it may. When that has happened, what the store knew of
    the first `pardoned` effects may be gone, so that it can let them happen again.
    """

    ledger: LedgerFile | None = None
    mirror: Mirror | Wreck = "missing"
    clients: tuple[Client, ...] = ()
    effects: tuple[Effect, ...] = ()
    acknowledged: frozenset[str] = frozenset()
    wounds: frozenset[str] = frozenset()
    pardoned: int = 0
