"""Going back to an earlier world of a real store, without walking there again from the start.

A store binds its directory, and an open one refuses to be rolled back. So the files are put back into the
same directory, under store objects that are opened anew: each where its host was opened before, with the
files and surroundings as they were right after that. There opening changes nothing, which is seen to; then
come the files and surroundings of the world itself. What such a host remembers is older than what it
remembered when the world was kept, as if it had not looked for a while; the model is told just the same.

Where that can't be had (nothing published yet, damage standing) `keep` or `bring` says `None`, and one has
to walk.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from attrs import define, evolve, field, frozen

import model
from model.actions import Call, Open
from model.outcomes import Accepted
from model.values import Host, World
from stateful_tests.files import IDENTITY, STATE
from stateful_tests.memory import recall, remember
from stateful_tests.observe import Observation
from stateful_tests.pair import Pair, StepRecord
from stateful_tests.target import Answered, StoreTarget


class Rewinder(Protocol):
    """Goes back in one store, that of `pair`'s target."""

    def note(self, pair: Any, record: StepRecord, /) -> None:
        """`record` is what just happened to `pair`."""

    def weight(self, pair: Any, /) -> int:
        """How often the store has published something on the way here, roughly: its files grow with it."""

    def keep(self, pair: Any, /) -> Any:
        """Something to come back here by; `None` where that won't be possible."""

    def bring(self, pair: Any, kept: Any, /) -> Any:
        """Brings the store back; the model's world there, or `None` if it could not be."""


@define
class NoRewinder:
    """Never goes back: whoever wants to walks again."""

    def note(self, _pair: Pair, _record: StepRecord) -> None:
        pass

    def weight(self, pair: Pair) -> int:
        return pair.steps

    def keep(self, _pair: Pair) -> None:
        return None

    def bring(self, _pair: Pair, _kept: object) -> None:
        return None


@frozen
class _Files:
    state: bytes
    identity: bytes | None
    temps: tuple[tuple[str, bytes], ...] = ()


@frozen
class _Anchor:
    """Right after the opening of a host."""

    opening: Open
    files: _Files
    memory: bytes
    world: World
    host: Host


@frozen
class _Kept:
    files: _Files
    memory: bytes
    published: tuple[bytes, ...]
    anchors: Mapping[str, _Anchor]
    world: World


@define
class StoreRewinder:
    """Goes back in a coordinator's store."""

    target: StoreTarget
    _anchors: dict[str, _Anchor] = field(factory=dict)

    def note(self, pair: Any, record: StepRecord) -> None:
        action = record.action
        if not isinstance(action, Open) or not isinstance(record.expected, Accepted):
            return
        self._anchors.pop(action.host, None)
        files = self._files(pair.observation)
        # What opens the host once more must change nothing at all.
        again = evolve(action, disturbances=())
        after, outcome = model.step(pair.world, again)
        if files is None or not isinstance(outcome, Accepted):
            return
        host = next(host for host in after.hosts if host.name == action.host)
        others = [each for each in pair.world.hosts if each.name != action.host]
        if evolve(after, hosts=()) == evolve(pair.world, hosts=()) and others == [
            each for each in after.hosts if each.name != action.host
        ]:
            memory = remember(self.target.around)
            self._anchors[action.host] = _Anchor(again, files, memory, pair.world, host)

    def weight(self, pair: Any) -> int:
        store = pair.world.store
        return 0 if store is None else int(store.commit_seq)

    def keep(self, pair: Any) -> _Kept | None:
        files = self._files(pair.observation)
        world: World = pair.world
        if files is None or any(host.name not in self._anchors for host in world.hosts):
            return None
        memory = remember(self.target.around)
        return _Kept(files, memory, tuple(self.target.files.published), dict(self._anchors), world)

    def bring(self, _pair: Any, kept: _Kept) -> World | None:
        target = self.target
        if target.files.standing:
            return None
        target.close()
        target.hosts.clear()
        hosts = []
        for host in kept.world.hosts:
            opened = self._reopened(kept.anchors[host.name])
            if opened is None:
                return None
            if not host.is_open:
                target.hosts[host.name].close()
            hosts.append(evolve(opened, is_open=host.is_open))
        self._put(kept.files)
        recall(target.around, kept.memory)
        target.files.published[:] = kept.published
        target.files.put = kept.files.state  # who looks next must not take it for a publication
        target.look_afresh()
        self._anchors = dict(kept.anchors)
        return self._glanced(evolve(kept.world, hosts=tuple(hosts)), kept)

    def _glanced(self, world: World, kept: _Kept) -> World:
        """Where the clock has gone back under a host, it looks once more at what it then had seen.

        Nobody has the lease while it does, so that is all it does.
        """
        for host in kept.world.hosts:
            if host.is_open and host.high_water > world.clock:
                glance = Call(host.name, "", "snapshot")
                self.target.around.clock, self.target.around.lease = host.high_water, None
                self.target.apply(glance)
                after, _ = model.step(evolve(world, clock=host.high_water, lease=None), glance)
                world = evolve(world, hosts=after.hosts)
                recall(self.target.around, kept.memory)
        return world

    def _reopened(self, anchor: _Anchor) -> Host | None:
        self._put(anchor.files)
        recall(self.target.around, anchor.memory)
        if not isinstance(self.target.apply(anchor.opening), Answered):
            return None
        if (self.target.files.directory / STATE).read_bytes() != anchor.files.state:
            return None
        return anchor.host

    def _files(self, seen: Observation) -> _Files | None:
        files = self.target.files
        if files.standing or not seen.fingerprint or not isinstance(seen.fingerprint[0], bytes):
            return None
        state, identity = seen.fingerprint[:2]
        assert isinstance(state, bytes)
        assert identity is None or isinstance(identity, bytes)
        return _Files(state, identity, tuple(_temps(files.directory)) if seen.temps else ())

    def _put(self, kept: _Files) -> None:
        directory = self.target.files.directory
        wanted = {STATE: kept.state, **dict(kept.temps)}
        if kept.identity is not None:
            wanted[IDENTITY] = kept.identity
        for name in os.listdir(directory):  # noqa: PTH208  # often
            if name.endswith((".tmp", ".json")) and name not in wanted:
                os.unlink(directory / name)  # noqa: PTH108
        for name, content in wanted.items():
            descriptor = os.open(directory / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(descriptor, content)
            finally:
                os.close(descriptor)


def _temps(directory: Path) -> list[tuple[str, bytes]]:
    return [(one.name, one.read_bytes()) for one in sorted(directory.iterdir()) if one.suffix == ".tmp"]
