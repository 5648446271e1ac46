"""One action on its way through the store: the small steps that all calls are made of.

`Running` holds the world while an action runs. Each small step says its name first, so that a fault can
strike there, and notes the world that a process leaves which dies there, if anybody asked for it. What ends
an action early is an `Ending`, only seen inside the model.
"""

from collections.abc import Callable
from typing import Final, Literal

from model.gated import recovery
from model.gated.actions import Fault, Raising
from model.gated.lines import replayed
from model.gated.outcomes import Raised, Recoverability, Refused
from model.gated.values import Client, Effect, LedgerFile, Line, Mirror, Name, World, Wreck

MOMENTS: Final[tuple[str, ...]] = (
    "open", "ledger-created", "aside", "set-aside", "build", "catch-up", "caught-up", "built", "renamed",
    "begin", "begun", "append", "append-torn", "append-written",
    "append-fsync", "append-synced",
    "cut", "cut-done",
    "cut-fsync", "cut-synced", "mirror", "mirrored", "commit", "committed",
    "rollback", "rolled-back", "run", "ran", "reply",
)  # fmt: skip
"""The names of the small steps, in the order in which they can come. A step's first name is before it."""

Marks = list[tuple[str, World]]


class Ending(Exception):  # noqa: N818 - it is no error, only a way out
    """Ends an action, or one record of it; `rollback_failed` says what came after."""

    def __init__(self) -> None:
        super().__init__()
        self.rollback_failed = False


class Refusal(Ending):
    def __init__(self, code: str, recoverability: Recoverability) -> None:
        super().__init__()
        self.code = code
        self.recoverability: Recoverability = recoverability

    def outcome(self) -> Refused:
        return Refused(self.code, self.recoverability, self.rollback_failed)


class Passing(Ending):
    """An exception that is not the store's passes through."""

    def __init__(self, kind: Literal["mutation", "step", "value-error"]) -> None:
        super().__init__()
        self.kind: Literal["mutation", "step", "value-error"] = kind

    def outcome(self) -> Raised:
        return Raised(self.kind, self.rollback_failed)


class Running:
    """It lives for one action and is never part of a world."""

    __slots__ = (
        "acknowledged", "arrivals", "clients", "effects", "faults", "ledger", "marks", "mirror", "name",
        "pardoned", "wounds",
    )  # fmt: skip

    def __init__(self, world: World, name: str, faults: tuple[Fault, ...], marks: Marks | None) -> None:
        self.ledger = world.ledger
        self.mirror: Mirror | Wreck = world.mirror
        self.clients = world.clients
        self.effects = world.effects
        self.acknowledged = world.acknowledged
        self.wounds = world.wounds
        self.pardoned = world.pardoned
        self.name = name
        self.faults = faults
        self.arrivals: dict[str, int] = {}
        self.marks = marks

    def world(self) -> World:
        return World(
            self.ledger,
            self.mirror,
            self.clients,
            self.effects,
            self.acknowledged,
            self.wounds,
            self.pardoned,
        )

    def mark(self, moment: str) -> None:
        if self.marks is not None:
            self.marks.append((moment, self.world()))

    def fault(self, moment: str) -> str | None:
        """The moment has come: how it fails, if it does."""
        self.mark(moment)
        if not self.faults:
            return None
        nth = self.arrivals[moment] = self.arrivals.get(moment, 0) + 1
        return next((each.kind for each in self.faults if each.moment == moment and each.nth == nth), None)

    def found(self) -> Mirror:
        """The mirror of a store that somebody has open."""
        assert isinstance(self.mirror, Mirror)
        return self.mirror

    def find(self, name: Name) -> Line | None:
        return next((line for line in self.found().lines if line.name == name), None)

    def usable(self) -> None:
        if any(each.poisoned for each in self.clients if each.name == self.name):
            raise Refusal("LEDGER_APPEND_REQUIRED_FAILED", "operator")

    def poison(self) -> None:
        self.clients = tuple(
            Client(each.name, True) if each.name == self.name else each for each in self.clients
        )

    def sync(self) -> None:
        """Under the lock, before anything else: a mirror behind the ledger is caught up."""
        self.usable()
        mirror = self.found()
        if recovery.in_step(self.ledger, mirror):
            return
        findings = recovery.beyond(self.ledger, mirror) if self.ledger is not None else None
        if findings is None:
            raise Refusal("LEDGER_INTEGRITY_FAILED", "operator")
        if findings.cut:
            self.cut(findings.cut)
        if findings.missing:
            self.mirror = self.replay(mirror, findings.missing)
            self.mark("caught-up")

    def replay(self, mirror: Mirror, missing: tuple[Line, ...]) -> Mirror:
        """What a mirror becomes that sees these too, in one transaction of SQLite's own."""
        if self.fault("catch-up"):
            raise Refusal("SQLITE_MIRROR_FAILED", "in_doubt")
        for line in missing:
            mirror = _grown(mirror, line)
        return mirror

    def cut(self, many: int) -> None:
        """The last bytes of the ledger go, and that is synced; if it fails, this client is of no more use."""
        ledger = self.ledger
        assert ledger is not None
        failed = self.fault("cut")
        if not failed:
            entries = ledger.entries if ledger.tail else ledger.entries[:-1]
            self.ledger = LedgerFile(entries, b"", ledger.size - many)
            self.mark("cut-done")
            failed = self.fault("cut-fsync")
        if failed:
            self.poison()
            raise Refusal("LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
        self.mark("cut-synced")

    def gated(
        self, name: Name, judge: Callable[[Line], None], build: Callable[[], Line]
    ) -> tuple[Line, bool]:
        """The line of that name, and whether it is new: ledger first, mirror second, or nothing.

        `judge` can refuse a known one, `build` makes a new one. Rolled back exactly once, whatever fails.
        """
        self.sync()
        if self.fault("begin"):
            raise Refusal("SQLITE_MIRROR_FAILED", "retry")
        self.mark("begun")
        try:
            known = self.find(name)
            if known is None:
                line = build()
                self._append(line)
                self._commit(line)
                return line, True
            judge(known)
        except Ending as ending:
            ending.rollback_failed = not self._roll_back()
            raise
        if not self._roll_back():
            raise Refusal("SQLITE_MIRROR_FAILED", "retry")
        return known, False

    def _append(self, line: Line) -> None:
        ledger = self.ledger
        assert ledger is not None
        torn = line.text[: len(line.text) // 2]
        failed = self.fault("append")
        if failed != "fails":
            self.ledger = LedgerFile(ledger.entries, torn, ledger.size + len(torn))
            self.mark("append-torn")
        if not failed:
            self.ledger = LedgerFile((*ledger.entries, line), b"", ledger.size + len(line.text))
            self.mark("append-written")
            failed = self.fault("append-fsync")
        if failed:
            self._take_back(ledger)
            raise Refusal("LEDGER_APPEND_REQUIRED_FAILED", "rollback")
        self.mark("append-synced")

    def _take_back(self, ledger: LedgerFile) -> None:
        """Cuts off what a failed append has left; always, since nobody can know that it left nothing."""
        failed = self.fault("cut")
        if not failed:
            self.ledger = ledger
            self.mark("cut-done")
            failed = self.fault("cut-fsync")
        if failed:
            self.poison()
            raise Refusal("LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
        self.mark("cut-synced")

    def _commit(self, line: Line) -> None:
        if self.fault("mirror"):
            raise Refusal("SQLITE_MIRROR_FAILED", "in_doubt")
        self.mark("mirrored")
        if self.fault("commit"):
            raise Refusal("SQLITE_COMMIT_AFTER_LEDGER_FAILED", "in_doubt")
        self.mirror = _grown(self.found(), line)
        self.mark("committed")

    def _roll_back(self) -> bool:
        failed = self.fault("rollback")
        self.mark("rolled-back")
        return not failed

    def run(self, effect: Effect, raises: Raising | None) -> None:
        """A caller's own function runs; raises `Passing` if it does."""
        self.mark("run")
        if raises == "before":
            raise Passing("step")
        self.effects = (*self.effects, effect)
        self.mark("ran")
        if raises == "after":
            raise Passing("step")

    def acknowledge(self) -> None:
        """Somebody is told of the store: all that the mirror has seen must last from now on."""
        self.acknowledged |= {line.hash for line in self.found().lines}


def _grown(mirror: Mirror, line: Line) -> Mirror:
    state = replayed(mirror.state, line.change)
    return Mirror((*mirror.lines, line), state, mirror.size + len(line.text))
