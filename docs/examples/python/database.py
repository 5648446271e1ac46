"""The state in an SQLite database: a table of rows, one of commands, and one of numbers."""

import json
import sqlite3
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (place INTEGER PRIMARY KEY, id TEXT UNIQUE, row TEXT);
CREATE TABLE IF NOT EXISTS commands (id TEXT PRIMARY KEY, command TEXT);
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, value INTEGER);
"""
Message = dict[str, Any]


class Database:
    """Not open before it is written for the first time, or found to be there."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "store.db"
        self._connection: sqlite3.Connection | None = None

    def exists(self) -> bool:
        return self._path.exists() and bool(self._all("SELECT 1 FROM numbers WHERE name = 'commitSeq'"))

    def begin(self, *, at_once: bool) -> None:
        """With the lock that keeps other processes out, or without it until something is written."""
        self.run("BEGIN IMMEDIATE" if at_once else "BEGIN")

    def commit(self) -> None:
        """Of a transaction, if one was begun."""
        if self._open().in_transaction:
            self.run("COMMIT")

    def roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self.run("ROLLBACK")

    def number(self, name: str) -> int:
        value: int = self._all("SELECT value FROM numbers WHERE name = ?", name)[0][0]
        return value

    def set_number(self, name: str, value: int) -> None:
        self.run("INSERT OR REPLACE INTO numbers VALUES (?, ?)", name, value)

    def rows(self) -> list[Message]:
        return [json.loads(text) for (text,) in self._all("SELECT row FROM rows ORDER BY place")]

    def find(self, reservation_id: str) -> Message | None:
        found = self._all("SELECT row FROM rows WHERE id = ?", reservation_id)
        return json.loads(found[0][0]) if found else None

    def put(self, row: Message) -> None:
        name, text = row["reservation"]["reservationId"], json.dumps(row)
        if self._all("SELECT 1 FROM rows WHERE id = ?", name):
            self.run("UPDATE rows SET row = ? WHERE id = ?", text, name)
        else:
            self.run("INSERT INTO rows (id, row) VALUES (?, ?)", name, text)

    def commands(self) -> dict[str, Message]:
        return {name: json.loads(text) for name, text in self._all("SELECT * FROM commands")}

    def put_command(self, name: str, command: Message) -> None:
        self.run("INSERT INTO commands VALUES (?, ?)", name, json.dumps(command))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def run(self, statement: str, *values: object) -> None:
        self._open().execute(statement, values)

    def _all(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        return self._open().execute(question, values).fetchall()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._connection = sqlite3.connect(self._path, isolation_level=None)
            self._connection.executescript(_SCHEMA)
        return self._connection
