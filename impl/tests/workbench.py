"""A directory to attack a store in, and the assertions that attacks share.

Guarantees: `workbench()` gives an empty private directory (in memory where the machine has such a file
system), a clock and an authority, and closes and removes everything afterwards. `refusal` insists on a
`CoordinatorError` with its code and side effects. `photograph` sees every entry of a directory: kind,
inode, mode, owner, links, times and bytes, so that two equal ones mean that nothing was written.
`at_once` ends a call that hangs.
"""

import fcntl
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import impl
from impl.codec import to_json
from impl.tests.authority import Arbitrating, Authority, Clock
from impl.tests.derive_store import History, uuid
from impl.tests.independent import IDENTITY, LOCK, STATE, dump, load, write_private

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() and os.access("/dev/shm", os.W_OK) else None
HOLDER = "host-1"
EPOCH = 2
CODES = {
    "CAPACITY_EXCEEDED",
    "ADMISSION_BINDING_CONFLICT",
    "AUTHORITY_REVOKED",
    "POLICY_DENIED",
    "COMMAND_FAILED",
    "DURABILITY_FAILED",
    "RECONCILE_REQUIRED",
    "IDEMPOTENCY_CONFLICT",
    "CROSS_PRINCIPAL_COMMAND",
}


class Bench:
    """A store's directory with what surrounds it."""

    def __init__(self, root: Path, authority: type[Authority] = Authority) -> None:
        self.root = root
        self.directory = root / "store"
        self.clock = Clock()
        self.authority = authority(self.clock)
        self.opened: list[impl.Coordinator] = []

    @property
    def state(self) -> Path:
        return self.directory / STATE

    @property
    def identity(self) -> Path:
        return self.directory / IDENTITY

    def open(self, directory: Any = None, **options: Any) -> impl.Coordinator:
        wanted = {
            "initial_max_active_runs": 4,
            "epoch": EPOCH,
            "holder_id": HOLDER,
            "authority": self.authority,
            "clock": self.clock,
            "lock_timeout_s": 30.0,
            **options,
        }
        with self.authority.transaction():
            store = impl.open_coordinator(self.directory if directory is None else directory, **wanted)
        self.opened.append(store)
        return store

    def history(self, **options: Any) -> History:
        """Makes the directory and says how a store in it begins; `put` writes it."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        place = self.directory.stat()
        return History(str(self.directory.resolve()), place.st_dev, place.st_ino, **options)

    def put(self, history: History) -> None:
        write_private(self.state, dump(history.state))
        write_private(self.identity, dump(history.identity))

    def read_state(self) -> Any:
        return load(self.state)

    def close(self) -> None:
        for store in self.opened:
            store.close()


@contextmanager
def workbench(authority: type[Authority] = Authority) -> Iterator[Bench]:
    root = Path(tempfile.mkdtemp(prefix="holdtrue-attack-", dir=MEMORY)).resolve()
    bench = Bench(root, authority)
    try:
        yield bench
    finally:
        bench.close()
        shutil.rmtree(root)


@contextmanager
def arbitrating() -> Iterator[Bench]:
    with workbench(Arbitrating) as bench:
        yield bench


def refusal(
    call: Callable[..., object], *codes: str, side_effects: str | None = "none"
) -> impl.CoordinatorError:
    """Runs `call` and insists that it is refused with one of `codes`."""
    try:
        answer = call()
    except impl.CoordinatorError as caught:
        error = caught
    else:
        raise AssertionError(f"accepted with {answer!r:.300} instead of {codes}")
    assert error.code in codes, f"{error.code} instead of {codes}: {error.message}"
    assert error.code in CODES
    assert error.recovery_action == "operator"
    assert isinstance(error.message, str)
    assert error.message
    assert str(error).encode()  # can be printed, whatever it quotes
    if side_effects is not None:
        assert error.side_effects == side_effects, f"{error.side_effects}: {error.message}"
    return error


def photograph(directory: Path) -> dict[str, tuple[Any, ...]]:
    """Everything about each entry of a directory that a write would change."""
    picture = {}
    for path in sorted(directory.iterdir()):
        seen = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(seen.st_mode) else None
        kind = (seen.st_mode, seen.st_uid, seen.st_gid, seen.st_ino, seen.st_nlink, seen.st_size)
        picture[path.name] = (*kind, seen.st_mtime_ns, seen.st_ctime_ns, content)
    return picture


@contextmanager
def untouched(directory: Path) -> Iterator[None]:
    before = photograph(directory)
    yield
    assert photograph(directory) == before


class StillWaiting(BaseException):
    """Not an `Exception`, so that no code under test takes it for a failure of its own."""


@contextmanager
def at_once(seconds: float = 15.0) -> Iterator[None]:
    """Fails, instead of hanging, when the block takes longer (main thread only).

    Generous, since a busy machine is no fault of the store's: whoever waits for a FIFO waits for ever, and
    whoever waits for the lock waits twice as long.
    """

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise StillWaiting(f"after {seconds} s")

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def remove(path: Path) -> None:
    """Whatever stands there, even a directory or nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()


def reserving(number: int, **more: Any) -> dict[str, Any]:
    """Valid arguments of `reserve` for row `number`, recognisable ids throughout."""
    return {
        "reservationId": uuid(number),
        "projectId": uuid(number, 1),
        "projectControlDomainId": uuid(number, 2),
        "runId": uuid(number, 3),
        "ttlMs": 60_000,
        **more,
    }


class Caller:
    """Calls a store by the specification's names and answers plain JSON."""

    def __init__(self, store: impl.Coordinator, bench: Bench) -> None:
        self.store = store
        self.bench = bench

    def __call__(self, operation: str, context: Any = "alice", prepare: Any = None, **arguments: Any) -> Any:
        with self.bench.authority.transaction():
            answer = self.store.call(operation, arguments, context, prepare=prepare)
        return answer if answer is None or isinstance(answer, int | str) else to_json(answer)

    def reserve(self, number: int, context: Any = "alice", **more: Any) -> Any:
        return self("reserve", context, **reserving(number, **more))

    def commit(self, number: int, context: Any = "alice", *, sequence: int = 1, **more: Any) -> Any:
        """Commits an admitted reservation."""
        return self("commit", context, id=uuid(number), projectAdmitCommitSeq=sequence, **more)

    def admitted(self, number: int, context: Any = "alice", *, version: int = 1) -> Any:
        """Reserves, admits and commits: a committed row."""
        row = self.reserve(number, context)
        self.bench.authority.admit(row["reservation"], version=version)
        return self.commit(number, context)


def force(number: int, **more: Any) -> dict[str, Any]:
    """Valid arguments of `forceRelease` but the row's id; `number` is the command's."""
    return {"commandId": uuid(number, 9), "riskAcknowledgement": True, "reason": "provider lost", **more}


def lock_is_free(bench: Bench) -> None:
    """Nobody holds the mutex: it can be had at once."""
    with (bench.directory / LOCK).open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
