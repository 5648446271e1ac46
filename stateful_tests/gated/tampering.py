"""What somebody does to the ledger's and the mirror's files behind the store's back.

The mirror that a store had earlier, and that of another ledger, are not kept from then on: each is what the
store itself builds of a ledger of that length, elsewhere. After any change to the mirror its `-wal` and
`-shm` are gone, what was in them having been taken into the file first.
"""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from attrs import define

from impl.gated import Request, open_ledger
from model.gated.actions import Tamper
from stateful_tests.gated.observe import LEDGER, MIRROR

_PAGE: Final = 4096
INTRUDER: Final = ("intruder", '"was here"')


@define
class Tampering:
    """Tampers with the store in `directory`. `count` says how often it has."""

    directory: Path
    count: int = 0
    _workshop: Path | None = None

    def tamper(self, action: Tamper) -> None:
        self.count += 1
        if action.kind.startswith("mirror-"):
            self._mirror(action)
            return
        path = self.directory / LEDGER
        if action.kind == "ledger-deleted":
            path.unlink()
            return
        _put(path, changed(path.read_bytes(), action))

    def close(self) -> None:
        if self._workshop is not None:
            shutil.rmtree(self._workshop)
            self._workshop = None

    def _mirror(self, action: Tamper) -> None:
        self.directory.mkdir(mode=0o700, exist_ok=True)
        path = self.directory / MIRROR
        if path.exists() and action.kind not in ("mirror-behind", "mirror-foreign"):
            _settle(path)
        for name in ("-wal", "-shm"):
            path.with_name(MIRROR + name).unlink(missing_ok=True)
        match action.kind:
            case "mirror-deleted":
                path.unlink()
            case "mirror-emptied":
                os.truncate(path, 0)
            case "mirror-corrupt":
                with path.open("r+b") as file:
                    file.write(b"\xa5" * _PAGE)
            case "mirror-schema":
                _execute(path, "PRAGMA user_version = 77")
            case "mirror-edited":
                _execute(path, "INSERT OR REPLACE INTO rows (name, value) VALUES (?, ?)", *INTRUDER)
            case "mirror-behind":
                _put(path, self._mirror_of(self._lines(action.n)))
            case "mirror-foreign":
                _put(path, self._mirror_of_another(action.n))
            case other:
                raise ValueError(f"no such tampering: {other}")

    def _lines(self, n: int) -> bytes:
        """The ledger's first `n` lines; none if there is no ledger."""
        path = self.directory / LEDGER
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        return b"".join(line + b"\n" for line in lines[:n])

    def _mirror_of(self, ledger: bytes) -> bytes:
        """The mirror that the store makes of `ledger`."""
        place = self._fresh()
        _put(place / LEDGER, ledger)
        open_ledger(place).close()
        return _taken(place)

    def _mirror_of_another(self, n: int) -> bytes:
        """The mirror of a ledger of `n` lines that is not this one."""
        place = self._fresh()
        with open_ledger(place) as ledger:
            for sequence in range(1, n + 1):
                ledger.transact(_elsewhere(sequence))
        return _taken(place)

    def _fresh(self) -> Path:
        if self._workshop is None:
            self._workshop = Path(tempfile.mkdtemp(prefix="workshop-"))
        place = self._workshop / "store"
        if place.exists():
            shutil.rmtree(place)
        place.mkdir(mode=0o700)
        return place


def _elsewhere(sequence: int) -> Request:
    """The transaction that makes line `sequence` of another ledger, as the model has it."""
    key = f"elsewhere-{sequence}"
    return Request(
        operation_id=key,
        run_id=key,
        node_id=key,
        event_type=key,
        phase="apply",
        idempotency_key=key,
        intent=None,
        mutate=lambda state: {**state, "elsewhere": sequence},
    )


def changed(whole: bytes, action: Tamper) -> bytes:
    """The ledger's bytes after a tampering. Lines count from 1."""
    *pieces, tail = whole.split(b"\n")
    lines = [piece + b"\n" for piece in pieces]
    at, n = action.line - 1, action.n
    match action.kind:
        case "tail-cut":
            return whole[:-n]
        case "tail-torn":
            return whole + lines[-1][:n]
        case "line-appended":
            return whole + lines[at]
        case "line-removed":
            del lines[at]
        case "line-swapped":
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        case "line-repeated":
            lines.insert(at, lines[at])
        case "line-edited":
            edited = bytearray(lines[at])
            edited[n] ^= 1
            lines[at] = bytes(edited)
        case other:
            raise ValueError(f"no such tampering: {other}")
    return b"".join(lines) + tail


def _put(path: Path, content: bytes) -> None:
    """Into the very same file where there is one: whoever has it open shall see it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _settle(path: Path) -> None:
    """Takes what is in the WAL into the file, if SQLite can read it at all."""
    try:
        _execute(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError:
        return


def _execute(path: Path, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values).fetchall()


def _taken(place: Path) -> bytes:
    """The mirror that stands in `place`, whole: nobody has it open any more."""
    path = place / MIRROR
    _settle(path)
    return path.read_bytes()
