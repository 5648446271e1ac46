"""Another process that has the store open while a first one is killed, and then works on.

Its connection to the mirror is older than the kill: it finds a WAL that somebody else was writing, and a
ledger that grew, or is torn, behind its back. It is started before the killed one, and told after the kill
which world the oracle has decided upon.
"""

import os
import pickle
from collections.abc import Sequence
from typing import Self

from attrs import evolve

from crash_tests.children import Child, HarnessError, Say
from crash_tests.gated.trial import Aftermath, Situation, work_on
from crash_tests.oracle import Violation
from model.gated import step
from model.gated.actions import Action, OpenLedger
from model.gated.outcomes import Accepted

NAME = "s"


def can_live_through(situation: Situation) -> bool:
    """Whether opening the store changes nothing, so that somebody may have it open from the start."""
    world, (after, outcome) = situation.world, step(situation.world, OpenLedger(NAME))
    same = (after.ledger, after.mirror) == (world.ledger, world.mirror)
    return isinstance(outcome, Accepted) and same and bool(situation.warm)


class Survivor:
    """A process that has the store of `situation` open, which must stand as in its picture."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        reader, self._asks = os.pipe()

        def lives(say: Say) -> None:
            os.close(self._asks)
            with situation.target() as target:
                target.apply(OpenLedger(NAME))
                say(b"open\n")
                # Not up to the end of the pipe: whatever is forked meanwhile has its other end, too.
                with os.fdopen(reader, "rb") as asked:
                    world, effects, actions = pickle.load(asked)
                target.effects.happened = list(effects)
                say(pickle.dumps(work_on(target, world, actions)))

        self._child = Child(lives)
        os.close(reader)

    def __enter__(self) -> Self:
        self._child.listen(b"open\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self._asks >= 0:
            os.close(self._asks)
        self._child.end()

    def work_on(self, left: Aftermath, actions: Sequence[Action]) -> Violation | None:
        """Has it perform `actions`, in lockstep with the model; the first thing that is wrong."""
        world, _ = step(self._situation.world, OpenLedger(NAME))
        message = pickle.dumps((evolve(left.decided.world, clients=world.clients), left.effects, actions))
        while message:
            message = message[os.write(self._asks, message) :]
        os.close(self._asks)
        self._asks = -1
        ended = self._child.wait()
        if not ended.finished:
            raise HarnessError(f"a process that lived through a kill {ended.describe()}")
        found: Violation | None = pickle.loads(ended.said.partition(b"open\n")[2])
        return found
