"""What races of real processes share: a place, a gate that starts all at once, hosts, and what they said.

Guarantees: every process here is a forked child that its race reaps, and a gate that is never opened opens
when the race ends. A race says what was wrong in words; an empty list is a race without a fault. It takes
no sides on timing: nothing here waits for time to pass, only for words, with a deadline.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import define, frozen

import impl
from crash_tests.children import Child, Say
from crash_tests.project import Project, ProjectAuthority, sequence_of
from crash_tests.scenarios import TTL_MS, run_of, uuid_of
from impl import codec, disk

DAY_MS = 86_400_000
SHORT_S = 0.15
"""How long a process waits for a mutex that it is not going to get."""

LONG_S = 15.0

RARE = 4
"""Of an answer that fewer processes than this got, it is told what they were told."""


@define
class Place:
    """Where one race is run: a directory for the store and one for the project."""

    root: Path

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def project(self) -> Project:
        directory = self.root / "project"
        directory.mkdir(mode=0o700, exist_ok=True)
        return Project(directory)

    def durable(self) -> dict[str, object]:
        """`coordinator.json` as it stands."""
        state: dict[str, object] = json.loads((self.store / "coordinator.json").read_text())
        return state

    def rows(self) -> dict[str, str]:
        """State by reservation id, read straight from the file."""
        reservations = self.durable()["reservations"]
        assert isinstance(reservations, dict)
        return {key: row["reservation"]["state"] for key, row in reservations.items()}

    def actions(self) -> list[str]:
        """The names in the audit chain, read straight from the file."""
        audit = self.durable()["audit"]
        assert isinstance(audit, list)
        return [entry["action"] for entry in audit]

    def faults(self) -> list[str]:
        """What an audit of the directory finds, and temporary files that should be gone."""
        report = impl.audit_directory(self.store)
        left = sorted(entry.name for entry in self.store.iterdir() if entry.name.endswith(".tmp"))
        return [f"audit: {fault.clause}: {fault.message}" for fault in report.faults] + [
            f"left behind: {name}" for name in left
        ]


@frozen
class Race:
    """`run(place)` answers what was wrong. `clause` names the rule that a fault breaks.

    `steps` tells the race in words, one for each action of each process: a race has no other trace.
    """

    name: str
    why: str
    clause: str
    run: Callable[[Place], list[str]]
    steps: tuple[str, ...] = ()


@define
class Gate:
    """Holds processes back until it is opened; opened for good once it is."""

    reader: int
    writer: int

    def pass_through(self) -> None:
        """In a child: waits until the gate is open, or its maker is gone."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1
        os.read(self.reader, 1)

    def open(self) -> None:
        """In the parent: lets everybody through, those who come later too."""
        if self.writer >= 0:
            os.write(self.writer, b"!" * 256)


@contextmanager
def gate() -> Iterator[Gate]:
    reader, writer = os.pipe()
    made = Gate(reader, writer)
    try:
        yield made
    finally:
        os.close(reader)
        if made.writer >= 0:
            os.close(writer)


@frozen
class Said:
    """How one call of one process went: `ok`, or the code of its refusal; and what it answered."""

    code: str
    value: object = None
    side_effects: str = "none"

    @classmethod
    def parse(cls, words: bytes) -> "Said":
        """The last line that a child said."""
        lines = words.decode().splitlines()
        form = json.loads(lines[-1]) if lines else {"code": "silence"}
        return cls(form["code"], form.get("value"), form.get("sideEffects", "none"))

    def line(self) -> bytes:
        form = {"code": self.code, "value": self.value, "sideEffects": self.side_effects}
        return json.dumps(form).encode() + b"\n"


def host(
    place: Place,
    *,
    maximum: int = 3,
    epoch: int = 1,
    lock_timeout_s: float = LONG_S,
    shift_ms: int = 0,
    during: Callable[[str], None] | None = None,
) -> impl.Coordinator:
    """An open store in this process. `shift_ms` is how far its wall clock is ahead."""
    authority = ProjectAuthority(place.project, epoch=epoch)
    if during is not None:
        authority.during = during
    return impl.open_coordinator(
        place.store,
        initial_max_active_runs=maximum,
        epoch=epoch,
        holder_id=authority.holder_id,
        authority=authority,
        clock=lambda: time.time_ns() // 1_000_000 + shift_ms,
        lock_timeout_s=lock_timeout_s,
    )


def ask(
    coordinator: impl.Coordinator,
    operation: str,
    arguments: dict[str, object],
    *,
    context: str = "alice",
    prepare: Callable[[object], Callable[[], object]] | None = None,
) -> Said:
    """One call, with its refusal as a value."""
    try:
        value = coordinator.call(operation, arguments, context, prepare=prepare)
    except impl.CoordinatorError as error:
        return Said(error.code, error.message, error.side_effects)
    return Said("ok", value if value is None or isinstance(value, str | int) else codec.to_json(value))


def reserve(coordinator: impl.Coordinator, number: int, *, run: int | None = None) -> Said:
    """Reserves a slot under id `number`, for run `run` (of the same number if not told)."""
    binding = run_of(number if run is None else run)
    return ask(coordinator, "reserve", {"reservationId": uuid_of(number), **binding, "ttlMs": TTL_MS})


def commit(coordinator: impl.Coordinator, number: int) -> Said:
    sequence = sequence_of(uuid_of(number))
    return ask(coordinator, "commit", {"id": uuid_of(number), "projectAdmitCommitSeq": sequence})


def admitted(place: Place, coordinator: impl.Coordinator, number: int, *, run: int | None = None) -> None:
    """Reserves `number` and has its project admit it."""
    assert reserve(coordinator, number, run=run).code == "ok"
    place.project.admit({"reservationId": uuid_of(number)})


def at_once(works: Sequence[Callable[[], Said]]) -> list[Said]:
    """Runs each of `works` in a process of its own, all let go at the same moment; what each of them said."""
    with ExitStack() as stack:
        barrier = stack.enter_context(gate())
        children: list[Child] = []
        for work in works:
            inherits = tuple(child.reader for child in children)
            children.append(stack.enter_context(Child(_waiting(work, barrier), inherits=inherits)))
        for child in children:
            child.listen(b"ready\n")
        barrier.open()
        ends = [child.wait() for child in children]
    return [Said.parse(end.said) if end.finished else Said(f"process {end.describe()}") for end in ends]


def _waiting(work: Callable[[], Said], barrier: Gate) -> Callable[[Say], None]:
    def run(say: Say) -> None:
        say(b"ready\n")
        barrier.pass_through()
        try:
            said = work()
        except impl.CoordinatorError as error:  # an opening, which `ask` isn't asked for
            said = Said(error.code, error.message, error.side_effects)
        say(said.line())

    return run


def told(said: Sequence[Said]) -> str:
    """How often each code was said, and what was said with each that is neither `ok` nor expected often."""
    counts = Counter(one.code for one in said)
    rare = {one.code: str(one.value) for one in said if one.code != "ok" and counts[one.code] < RARE}
    return ", ".join(
        f"{count} {code}" + (f" ({rare[code]})" if code in rare else "")
        for code, count in sorted(counts.items(), key=lambda item: (item[0] not in rare, item))
    )


def announcing(say: Say, point: disk.CrashPoint, word: bytes) -> None:
    """From now on this process says `word` the first time that it arrives at `point`."""
    told = False

    def hook(arrived: disk.CrashPoint) -> None:
        nonlocal told
        if arrived is point and not told:
            told = True
            say(word)

    disk.install(hook)


def pausing(say: Say, barrier: Gate, *, at: str = "authorize") -> Callable[[str], None]:
    """For `host(during=…)`: at the first call of `at` the process says `holding` and waits at the gate.

    That is inside the transaction, under the mutex. Opening authorizes nobody, so it does not pause.
    """
    told = False

    def during(moment: str) -> None:
        nonlocal told
        if moment == at and not told:
            told = True
            say(b"holding\n")
            barrier.pass_through()

    return during
