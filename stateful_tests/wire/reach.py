"""How far the checks reach into a target: what its capabilities and its policy leave out.

`Reach.beyond` says why an action is not sent, in words that a report can show; `within` is a draw that gives
other actions instead and counts what it left out, under `beyond/…` and `deviation/…`. So nothing is skipped
silently. What changes files behind the store's back is beyond every target: the files are its own.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import field, frozen

from model.actions import (
    Action,
    Answers,
    Call,
    Close,
    Damage,
    Event,
    Forget,
    Happens,
    LeaveTemp,
    Mend,
    Open,
    PutBack,
    ReadEpoch,
    Resume,
    SetIdentity,
    SetLease,
)
from model.values import JSON, World
from stateful_tests.system import Draw
from stateful_tests.wire.capabilities import Capabilities
from stateful_tests.wire.policy import Policy

FILES: Final = "beyond/damage to the files, states put back, leftover files"
ASSUMPTIONS: Final = "beyond/runs that resume, ledgers that forget"
HOSTS: Final = "beyond/several hosts at once"
NUMBERS: Final = "beyond/1.0 for 1, and integers above 2^53"
SURROGATES: Final = "beyond/lone surrogates in strings"
EPOCH: Final = "beyond/reading the epoch without a host"
_LARGEST: Final = 2**53 - 1
_PATIENCE: Final = 1_000
"""Draws in a row that may all be out of reach. A walk draws an ordinary call every second time."""


@frozen
class Reach:
    capabilities: Capabilities = field(factory=Capabilities)
    policy: Policy = field(factory=Policy)

    def beyond(self, action: Action, world: World) -> str | None:
        """Why `action` is not sent in `world`: a key to count it by. `None` if it is."""
        if isinstance(action, Open | Call):
            return self._outside(action) or self._call(action, world)
        if isinstance(action, ReadEpoch):
            return None if self.capabilities.read_epoch else EPOCH
        return self._event(action)

    def _call(self, action: Open | Call, world: World) -> str | None:
        can = self.capabilities
        for one in action.disturbances:
            effect = type(one.effect).__name__.lower()
            if one.moment not in can.moments:
                return f"beyond/disturbances at {one.moment}"
            if effect not in can.effects:
                return f"beyond/disturbances: {effect}"
            inner = self._event(one.effect.event) if isinstance(one.effect, Happens) else None
            if inner is not None:
                return inner
        if isinstance(action, Call):
            return self._missing(action.operation)
        if can.arbitration not in ("both", "always" if action.arbitration else "never"):
            return f"beyond/a host {'with' if action.arbitration else 'without'} arbitration"
        others = any(host.is_open and host.name != action.host for host in world.hosts)
        return HOSTS if others and can.hosts == "one" else None

    def _missing(self, operation: str) -> str | None:
        return next((one.key for one in self.policy.missing if one.operation == operation), None)

    def _event(self, event: Event) -> str | None:
        if isinstance(event, PutBack | LeaveTemp | Damage | Mend):
            return FILES
        if isinstance(event, Resume | Forget):
            return ASSUMPTIONS
        if isinstance(event, SetLease):
            return self._json(event.lease)
        return self._json(event.identity) if isinstance(event, SetIdentity) else None

    def _outside(self, action: Open | Call) -> str | None:
        answers = [one.effect.value for one in action.disturbances if isinstance(one.effect, Answers)]
        if isinstance(action, Call):
            return self._json([dict(action.arguments), action.operation, *answers])
        return self._json([action.holder_id, action.epoch, action.initial_max_active_runs, *answers])

    def _json(self, value: JSON) -> str | None:
        can = self.capabilities
        if can.exact_numbers and can.surrogates:
            return None
        for one in _leaves(value):
            if isinstance(one, str):
                if not can.surrogates and not one.isascii() and _has_surrogate(one):
                    return SURROGATES
            elif not can.exact_numbers and (isinstance(one, float) or abs(one) > _LARGEST):
                return NUMBERS
        return None


def _leaves(value: JSON) -> Iterator[str | int | float]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None:
        yield value


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= one <= "\udfff" for one in text)


def within(draw: Draw, reach: Reach, counts: Counter[str]) -> Draw:
    """`draw`, as far as `reach` goes. Where only one host can be open, the other one is closed first."""
    ahead: list[Any] = []

    def next_action(rng: random.Random, world: World) -> Action:
        for _ in range(_PATIENCE):
            action: Action = ahead.pop() if ahead else draw(rng, world)
            why = reach.beyond(action, world)
            if why is None:
                return action
            counts[why] += 1
            if why == HOSTS:
                ahead.append(action)
                return Close(next(host.name for host in world.hosts if host.is_open))
        raise AssertionError("a walk that a target can't follow at all: every draw is out of its reach")

    return next_action
