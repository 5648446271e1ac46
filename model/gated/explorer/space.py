"""The ledger as a finite `Space`: `shared` is a `Look` at the files and effects, each slot is a client.

A client sees the files and itself, never another client, so each call is a rule of scope `local`; what is
done to the files behind everybody's back is `whole`, since nobody may have the mirror open. Every transition
is one step of the real model: `fire` forges a world, takes the step, judges it by the invariants, and looks.

Which deaths there are depends on which small steps come; the space finds that out when it is made, by going
everywhere once, and remembers what it saw. A model that is wrong may have no end of worlds: with `most`, the
space goes no farther, and knows the rules that it has met by then.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Final

from attrs import evolve

from model.explorer.space import Fired, Label, Renaming, Rule, Scope, Space, State
from model.explorer.taking import SpaceError
from model.gated import invariants, stepping
from model.gated.actions import Action, Crash
from model.gated.explorer.looks import HALF, Look, Looks
from model.gated.explorer.outcomes import outcome_of
from model.gated.explorer.schemes import CLIENTS, CLOSING, IDLE, Faults, Meaning, Request, Scheme
from model.gated.explorer.symbols import Alphabet
from model.gated.outcomes import Accepted, Declined, Outcome
from model.gated.running import MOMENTS
from model.gated.start import initial_world
from model.gated.values import Client, World

CLOSED: Final = "closed"
OPEN: Final = "open"
POISONED: Final = "poisoned"

_ALWAYS: Final = frozenset(each.id for each in invariants.INVARIANTS if each.kind == "always")
_ME: Final = CLIENTS[0]
_TOO_MANY: Final = 100_000

Outgoing = Mapping[str, Fired[Look, str]]


class LedgerSpace(Space[Look, str]):
    """The space of one scheme. Raises `SpaceError` if it has more than a hundred thousand states."""

    slot_word = "client "

    def __init__(self, scheme: Scheme, *, most: int | None = None) -> None:
        self.scheme = scheme
        self._most = most
        self.looks = Looks(Alphabet({each.name: each.action for each in scheme.requests}))
        self.meanings: dict[str, Meaning] = {}
        self._calls: dict[tuple[Look, str], Outgoing] = {}
        self._survey()
        self.rules = tuple(Rule(name, self._scope(name)) for name in sorted(self.meanings, key=self._order))
        self.renamings = tuple(self._renamings())

    # what the engines ask for

    def initial(self) -> Sequence[State[Look, str]]:
        world = initial_world()
        for action in self.scheme.before:
            world, _ = stepping.step(world, action)
        return (self.view(world),)

    def fire(
        self, rule: Rule, shared: Look, slot: str | None, context: tuple[Hashable, ...]
    ) -> Fired[Look, str] | None:
        if slot is not None:
            return self._outgoing(shared, slot).get(rule.name)
        tampering = self.meanings[rule.name].tampering
        assert tampering is not None
        if not self._may_wound(shared, tampering.kind):
            return None
        clients = [_client(CLIENTS[n], str(status)) for n, status in enumerate(context)]
        world = self.looks.forge(shared, [each for each in clients if each is not None])
        after, outcome = stepping.step(world, tampering)
        if isinstance(outcome, Declined):
            return None
        return self._fired(world, tampering, outcome, after, None)

    # what tours ask for

    def beginnings(self) -> Sequence[tuple[Action, ...]]:
        """Actions that lead from the empty world to each initial state."""
        return (self.scheme.before,)

    def view(self, world: World) -> State[Look, str]:
        """The state of `world`; slot n is client n."""
        return State(
            self.looks.look(world), tuple(_status(world, CLIENTS[n]) for n in range(self.scheme.clients))
        )

    def action(self, label: Label, world: World) -> Action:  # noqa: ARG002  # times are not relative here
        """The action that `label` is."""
        return self.meanings[label.rule].action(CLIENTS[label.slot or 0])

    def outcome_of(self, outcome: Outcome) -> str:
        return outcome_of(outcome)

    def world(self, state: State[Look, str]) -> World:
        """A world in this state."""
        clients = (_client(CLIENTS[n], status) for n, status in enumerate(state.slots))
        return self.looks.forge(state.shared, [each for each in clients if each is not None])

    # what properties ask for

    @property
    def plain(self) -> frozenset[str]:
        """The rules by which nothing fails, nobody dies and no file is tampered with."""
        return frozenset(
            name
            for name, each in self.meanings.items()
            if each.tampering is None and not each.faults and not each.at
        )

    def asked(self, look: Look, request: str) -> Fired[Look, str] | None:
        """What an open client is told that asks for `request`, with nothing failing."""
        return self._outgoing(look, OPEN).get(request)

    # how it is made

    def _survey(self) -> None:
        """Goes everywhere once, so that each rule that can happen has its name."""
        for name, made in self.scheme.tamperings:
            self.meanings[name] = Meaning(tampering=made)
        todo = [State(start.shared, tuple(sorted(start.slots))) for start in self.initial()]
        seen = set(todo)
        for number, state in enumerate(todo):
            if self._most is not None and number >= self._most:
                return
            if number >= _TOO_MANY:
                raise SpaceError(f"there are more than {_TOO_MANY:,} states: is each fault bounded?")
            for after in self._successors(state):
                if after not in seen:
                    seen.add(after)
                    todo.append(after)

    def _successors(self, state: State[Look, str]) -> Iterator[State[Look, str]]:
        for slot in sorted(set(state.slots)):
            at = state.slots.index(slot)
            for fired in self._outgoing(state.shared, slot).values():
                assert fired.slot is not None
                slots = (*state.slots[:at], fired.slot, *state.slots[at + 1 :])
                yield State(fired.shared, tuple(sorted(slots)))
        for name, _ in self.scheme.tamperings:
            tampered = self.fire(Rule(name, "whole"), state.shared, None, state.slots)
            if tampered is not None:
                yield State(tampered.shared, state.slots)

    def _outgoing(self, look: Look, status: str) -> Outgoing:
        """All that a client of this status can do, by the names of the rules."""
        found = self._calls.get((look, status))
        if found is None:
            client = _client(_ME, status)
            world = self.looks.forge(look, [client] if client is not None else [])
            found = dict(self._events(world, status))
            self._calls[look, status] = found
        return found

    def _events(self, world: World, status: str) -> Iterator[tuple[str, Fired[Look, str]]]:
        for request in self.scheme.requests:
            for faults in ((), *request.variants):
                yield from self._call(world, request, faults)
        if status != CLOSED and self.scheme.closes:
            for name, at in ((CLOSING, ""), (IDLE, "idle")):
                meaning = Meaning(leaves=True, at=at)
                yield self._event(name, meaning, world)

    def _event(self, name: str, meaning: Meaning, world: World) -> tuple[str, Fired[Look, str]]:
        self.meanings.setdefault(name, meaning)
        action = meaning.action(_ME)
        after, outcome = stepping.step(world, action)
        return name, self._fired(world, action, outcome, after, _ME)

    def _call(self, world: World, request: Request, faults: Faults) -> Iterator[tuple[str, Fired[Look, str]]]:
        """A call with these failing steps, if all of them are come to; and each death in it."""
        call = request.by(_ME, faults)
        marks = stepping.steps(world, call)
        names = [name for name, _ in marks]
        if not marks or not all(names.count(each.moment) >= each.nth for each in faults):
            return
        yield self._event(request.rule(faults), Meaning(request, faults), world)
        deaths = request.late_deaths if faults else request.deaths
        if deaths == "none":
            return
        # Before a step has failed, a death is as without; and of one that failed nobody is told.
        struck = max((_arrival(names, each.moment, each.nth) for each in faults), default=-1)
        left_behind: set[Look] = set()
        for index, (moment, left) in enumerate(marks):
            if index <= struck or (faults and moment == "reply"):
                continue
            nth = names[: index + 1].count(moment)
            at = moment if nth == 1 else f"{moment}:{nth}"
            after = stepping.without(left, _ME)
            fired = self._fired(world, Crash(_ME, at, call), Accepted(), after, _ME)
            if deaths == "each" or fired.shared not in left_behind:
                left_behind.add(fired.shared)
                name = request.rule(faults, at)
                self.meanings.setdefault(name, Meaning(request, faults, at))
                yield name, fired

    def _fired(
        self, before: World, action: Action, outcome: Outcome, after: World, client: str | None
    ) -> Fired[Look, str]:
        return Fired(
            outcome_of(outcome),
            self.looks.look(after),
            None if client is None else _status(after, client),
            violated=invariants.check(before, action, outcome, after, leave_out=_ALWAYS),
            witnessed=invariants.witnessed(before, action, outcome, after),
        )

    def _may_wound(self, look: Look, kind: str) -> bool:
        file = "mirror" if kind.startswith("mirror-") else "ledger"
        return file not in look.wounds and len(look.wounds) < self.scheme.most_wounds

    def _scope(self, name: str) -> Scope:
        return "whole" if self.meanings[name].tampering is not None else "local"

    def _order(self, name: str) -> tuple[int, int, int, str]:
        """Requests as they are given, each with its failing steps and then its deaths; files come last."""
        meaning = self.meanings[name]
        listed = [each.name for each in self.scheme.requests]
        at = listed.index(meaning.request.name) if meaning.request is not None else len(listed)
        moment, _, nth = meaning.at.partition(":")
        return (
            at + (meaning.tampering is not None),
            len(meaning.faults),
            1 + MOMENTS.index(moment) + 100 * int(nth or 1) if moment in MOMENTS else 0,
            name,
        )

    def _renamings(self) -> Iterator[Renaming[Look, str]]:
        """Every way in which requests that are alike can take each other's names."""
        groups = [list(permutations(group)) for group in self.scheme.alike]
        olds = [name for group in self.scheme.alike for name in group]
        for chosen in product(*groups):
            news = [name for group in chosen for name in group]
            if news != olds:
                yield self._renaming(dict(zip(olds, news, strict=True)))

    def _renaming(self, names: Mapping[str, str]) -> Renaming[Look, str]:
        def shared(look: Look) -> Look:
            ledger = look.ledger and tuple(names.get(each, each) for each in look.ledger)
            tail = look.tail.removeprefix(HALF)
            return evolve(look, ledger=ledger, tail=HALF + names[tail] if tail in names else look.tail)

        def rule(name: str) -> str:
            meaning = self.meanings[name]
            if meaning.request is None or meaning.request.name not in names:
                return name
            renamed = self.scheme.request(names[meaning.request.name])
            return renamed.rule(meaning.faults, meaning.at)

        told = ", ".join(f"{old} to {new}" for old, new in names.items() if old != new)
        return Renaming(told, shared, _same, rule)


def _same(slot: str) -> str:
    return slot


def _arrival(names: list[str], moment: str, nth: int) -> int:
    """The index of the `nth` (from 1) of `names` that is `moment`."""
    return [index for index, name in enumerate(names) if name == moment][nth - 1]


def _client(name: str, status: str) -> Client | None:
    return None if status == CLOSED else Client(name, status == POISONED)


def _status(world: World, name: str) -> str:
    client = next((each for each in world.clients if each.name == name), None)
    if client is None:
        return CLOSED
    return POISONED if client.poisoned else OPEN
