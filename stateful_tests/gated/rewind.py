"""Going back to an earlier world of the ledger's store, by files put back into the same directory.

Files are pictured where nobody need have them open: after an opening, or with nobody left, where the mirror
has seen the whole ledger, so that whoever opens the store there again changes nothing. From the last such
*camp* on the way to a world, the few actions that followed are done once more, without being compared: they
were when they happened first. What callers did is set back as well.

A store that was opened anew remembers less than the one that it stands for; no answer may depend on that.
"""

import os
from pathlib import Path
from typing import Any, Final

from attrs import define, evolve, field, frozen

from model.gated.actions import Action, OpenLedger
from model.gated.recovery import in_step
from model.gated.values import Mirror, World
from stateful_tests.gated.results import Answered
from stateful_tests.gated.target import LedgerTarget
from stateful_tests.pair import Pair, StepRecord

FARTHEST: Final = 8
"""No more actions than this are done again: a walk from the start is as good then."""


@frozen
class Camp:
    """Where one can come back to: the files, the effects by then, and who has the store open.

    `world` is the model's, with nobody having it open.
    """

    files: tuple[tuple[str, int, bytes], ...] = field(repr=False)
    effects: tuple[Any, ...]
    clients: tuple[str, ...]
    world: World = field(repr=False)


@frozen
class Kept:
    """A world: the camp before it, and what was done since."""

    camp: Camp
    since: tuple[Action, ...]
    world: World


@define
class LedgerRewinder:
    """Goes back in a ledger's store."""

    target: LedgerTarget
    _camp: Camp | None = None
    _since: list[Action] = field(factory=list)
    _is_fresh: bool = False
    """Whether this very world could be a camp, and its files have not been looked at."""

    def note(self, pair: Any, record: StepRecord) -> None:
        self._since.append(record.action)
        self._is_fresh = _may_camp(pair.world)

    def weight(self, pair: Any) -> int:
        ledger = pair.world.ledger
        return 0 if ledger is None else len(ledger.entries)

    def keep(self, pair: Any) -> Kept | None:
        world: World = pair.world
        if self._is_fresh:
            files = _files(self.target.directory)
            effects = tuple(self.target.effects.happened)
            clients = tuple(each.name for each in world.clients)
            self._camp = Camp(files, effects, clients, evolve(world, clients=()))
            self._since, self._is_fresh = [], False
        if self._camp is None or len(self._since) > FARTHEST:
            return None
        return Kept(self._camp, tuple(self._since), world)

    def bring(self, _pair: Pair, kept: Kept) -> World | None:
        target = self.target
        for client in target.clients.values():
            client.close()
        target.clients.clear()
        _put(target.directory, kept.camp.files)
        target.effects.happened[:] = kept.camp.effects
        for name in kept.camp.clients:
            if not isinstance(target.apply(OpenLedger(name)), Answered):
                return None
        for action in kept.since:
            target.apply(action)
        self._camp, self._since, self._is_fresh = kept.camp, list(kept.since), False
        return kept.world


def _may_camp(world: World) -> bool:
    """Whoever opens the store here changes nothing, and finds it as it would have been."""
    mirror = world.mirror
    sound = isinstance(mirror, Mirror) and in_step(world.ledger, mirror)
    whole = not world.wounds and not any(each.poisoned for each in world.clients)
    return sound and whole


def _files(directory: Path) -> tuple[tuple[str, int, bytes], ...]:
    found = []
    for name in sorted(os.listdir(directory)):  # noqa: PTH208  # often
        descriptor = os.open(directory / name, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            state = os.fstat(descriptor)
            found.append((name, state.st_mode & 0o7777, os.read(descriptor, state.st_size + 1)))
        finally:
            os.close(descriptor)
    return tuple(found)


def _put(directory: Path, files: tuple[tuple[str, int, bytes], ...]) -> None:
    """Into the very same files where they stand: the lock file's inode is the lock."""
    wanted = {name for name, _, _ in files}
    for name in os.listdir(directory):  # noqa: PTH208
        if name not in wanted:
            os.unlink(directory / name)  # noqa: PTH108
    for name, mode, content in files:
        descriptor = os.open(directory / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, content)
            if os.fstat(descriptor).st_mode & 0o7777 != mode:
                os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)
