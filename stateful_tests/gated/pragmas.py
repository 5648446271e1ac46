"""How the store's own connections to its mirror are set, which no look at the files can tell.

That the journal is a WAL stands in the file. Whether a commit is synced (`synchronous`) is a connection's own
affair: one that doesn't sync acknowledges what a power cut undoes. Each connection is asked once, after the
call that made it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from attrs import define, field

FULL: Final = 2
EXTRA: Final = 3


@define
class Connections:
    """Those that the store makes while it is watched. `asked` counts those that have answered."""

    asked: int = 0
    problems: list[str] = field(factory=list)
    """What is wrong with those that were asked last."""
    _fresh: list[sqlite3.Connection] = field(factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Sees each connection that is made meanwhile, and asks those that are open at the end."""
        real = sqlite3.connect

        def connect(*given: Any, **named: Any) -> sqlite3.Connection:
            made: sqlite3.Connection = real(*given, **named)
            self._fresh.append(made)
            return made

        sqlite3.connect = connect  # type: ignore[assignment]  # it takes whatever the real one takes
        self.problems.clear()
        try:
            yield
        finally:
            sqlite3.connect = real
            while self._fresh:
                self._ask(self._fresh.pop())

    def _ask(self, connection: sqlite3.Connection) -> None:
        try:
            (level,) = connection.execute("PRAGMA synchronous").fetchone()
        except sqlite3.Error:  # closed already, or to a mirror that is no database
            return
        self.asked += 1
        if level not in (FULL, EXTRA):
            self.problems.append(f"a connection to the mirror doesn't sync its commits: synchronous={level}")
