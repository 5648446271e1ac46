"""One open store: whose turn it is, whether it may be used, and the real handles behind the algorithms.

Guarantees: everything happens under the store's lock, one thread and one process at a time, and after the
mirror was caught up. A store that is closed, poisoned or in a forked child refuses. SQLite's errors and the
system's never get out bare. A mirror that turns out to be damaged is recovered by the next call.

Doesn't: hold anything between calls but its descriptor, its connection, and the last line it has seen.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from impl import lockfile
from impl.errors import CoordinatorError
from impl.gated.catchup import Seen, catch_up
from impl.gated.chain import Progress
from impl.gated.connection import is_damage
from impl.gated.errors import APPEND_FAILED, LedgerError
from impl.gated.events import Recorded, record_event
from impl.gated.gate import Known
from impl.gated.journal import Journal
from impl.gated.lines import Draft, Line, Position, make_line
from impl.gated.mirror import Mirror
from impl.gated.place import LedgerPlace, not_had
from impl.gated.recovery import Files, mirror_steps, recover
from impl.gated.values import LedgerRecord, RecoveryReport
from impl.lock import Held, Turns

_Answer = TypeVar("_Answer")


class Store:
    """An open store. `find` and `record` make it what steps and compensations need."""

    def __init__(self, place: LedgerPlace, lock_timeout_s: float) -> None:
        self.place = place
        self.lock_timeout_s = lock_timeout_s
        self.closed = False
        self.files = Files(place, Mirror(place.mirror_path, lock_timeout_s))
        self.seen = Seen()
        self.sound = False
        """Whether the mirror was verified and nothing has shown damage since."""
        self._turns = Turns()
        self._forks = lockfile.forks()
        self._doorway = threading.Lock()  # held for a moment only, to count who is inside
        self._inside = 0

    def open(self, progress: Progress | None) -> RecoveryReport:
        """Recover. Raises LedgerError."""
        try:
            return self.during(lambda access: access.recover(progress))
        except BaseException:
            self.close()
            raise

    def refuse_if_unusable(self) -> None:
        """Raise unless the store may be used, by this process, for anything."""
        if self._forks != lockfile.forks():
            raise self._refusal("belongs to the process that this one was forked from; open it here anew")
        if self.closed:
            raise self._refusal("is closed; open it anew")
        if self.files.journal is not None:
            self.files.journal.refuse_if_poisoned()

    def _refusal(self, why: str) -> LedgerError:
        return LedgerError(APPEND_FAILED, f"the store in {self.place.path} {why}", "operator")

    def during(self, body: Callable[["Access"], _Answer]) -> _Answer:
        """What `body` answers, called alone with the store. Raises LedgerError if that can't be had, and what
        `body` raises."""
        self.refuse_if_unusable()
        deadline = time.monotonic() + self.lock_timeout_s
        entered = False

        def inside(lock: Held) -> _Answer:
            nonlocal entered
            entered = True
            try:
                self._enter()
                self.place.check()
                return body(Access(self, lock, deadline))
            finally:
                self._leave()

        self.place.check()
        try:
            return self._turns.during(self.place, self.lock_timeout_s, inside)
        except (CoordinatorError, OSError) as error:
            if entered:  # what a callback raised: it may well use a coordinator of its own
                raise
            raise not_had(error) from error

    def _enter(self) -> None:
        with self._doorway:
            self._inside += 1
        self.refuse_if_unusable()

    def _leave(self) -> None:
        with self._doorway:
            self._inside -= 1
            if self.closed and not self._inside:
                self._let_go()

    def close(self) -> None:
        """Refuse every later call, and the append of one that is under way. Never waits: if somebody is
        inside, be it this very thread, they let go of the files on the way out."""
        self.closed = True
        if self._forks != lockfile.forks():
            self._let_go()
            return
        with self._doorway:
            if not self._inside:
                self._let_go()

    def _let_go(self) -> None:
        self.files.mirror.disconnect()
        journal, self.files.journal = self.files.journal, None
        if journal is not None:
            journal.close()

    # --- for steps and compensations -----------------------------------------------------------------

    def find(self, run_id: str, key: str) -> LedgerRecord | None:
        """The durable event under `key` of that run."""
        known = self.during(lambda access: access.look(lambda: access.find(run_id, key)))
        return None if known is None else known.record

    def record(self, record: LedgerRecord) -> Recorded:
        """Make an event durable, or answer the one under its key."""
        try:
            return self.during(lambda access: record_event(access, record))
        except LedgerError as error:
            raise error.at(record)  # noqa: B904 -- the very same error, told where it struck


class Access:
    """The store, while its lock is held: where transactions begin."""

    def __init__(self, store: Store, lock: Held, deadline: float) -> None:
        self.store = store
        self.lock = lock
        self.deadline = deadline
        self.mirror = store.files.mirror

    @property
    def journal(self) -> Journal:
        """The ledger, which recovery has opened."""
        journal = self.store.files.journal
        assert journal is not None
        return journal

    def recover(self, progress: Progress | None = None) -> RecoveryReport:
        """Verify everything, as at opening. Raises LedgerError."""
        self.store.seen = Seen()
        report = recover(self.store.files, self.deadline, progress)
        self.store.sound = True
        return report

    def ready(self) -> Position:
        """The ledger's end, once the mirror has come to it. Raises LedgerError."""
        self.journal.check()
        if not (self.store.sound and self.mirror.is_in_place()):
            self.mirror.disconnect()
            self.recover()
        with self.watching():
            return catch_up(self.journal, self.mirror, self.store.seen)

    def look(self, reads: Callable[[], _Answer]) -> _Answer:
        """What `reads` answers, once the mirror was caught up. Raises LedgerError."""
        self.ready()
        return reads()

    def begin(self) -> "Transaction":
        """Catch up, then begin. Raises LedgerError from catching up, sqlite3.Error or OSError from BEGIN."""
        end = self.ready()
        with self.watching():
            self.mirror.begin(max(0.0, self.deadline - time.monotonic()))
        return Transaction(self, end)

    def find(self, scope: str, key: str) -> Known | None:
        """What the mirror has under a key. Raises LedgerError."""
        with mirror_steps("looking up a key", "retry"), self.watching():
            return self.mirror.find(scope, key)

    def rows(self) -> dict[str, str]:
        """The state, as texts. Raises LedgerError."""
        with mirror_steps("reading the state", "retry"), self.watching():
            return self.mirror.rows()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Note if an error says that the mirror is damaged: the next call then recovers first."""
        try:
            yield
        except Exception as error:
            cause = error.cause if isinstance(error, LedgerError) else error
            if cause is not None and is_damage(cause):
                self.store.sound = False
            raise


class Transaction:
    """A transaction that has begun: the real `Handle`."""

    def __init__(self, access: Access, end: Position) -> None:
        self._access = access
        self._mirror = access.mirror
        self._end = end
        self._line: Line | None = None

    def find(self, scope: str, key: str) -> Known | None:
        """What stands under a key."""
        return self._access.find(scope, key)

    def snapshot(self) -> Mapping[str, str]:
        """The rows, as canonical texts."""
        return self._access.rows()

    def append(self, draft: Draft) -> None:
        """Append and sync the event. Raises LedgerError if this store may not, else what failed."""
        store = self._access.store
        store.refuse_if_unusable()  # mutate may have closed it, or forked
        try:
            self._access.lock.check()
        except CoordinatorError as error:
            raise not_had(error) from error
        line, raw = make_line(draft, self._end)
        self._access.journal.append(self._end.length, raw)
        store.seen.written(line, raw)
        self._line = line

    def mirror(self, draft: Draft) -> None:  # noqa: ARG002 -- of the protocol; the line was made of it
        """Write the appended event into the open transaction."""
        assert self._line is not None
        with self._access.watching():
            self._mirror.insert(self._line)

    def commit(self) -> None:
        """Commit the open transaction."""
        with self._access.watching():
            self._mirror.commit()

    def rollback(self) -> None:
        """Roll back, if anything is to be."""
        with self._access.watching():
            self._mirror.rollback()
