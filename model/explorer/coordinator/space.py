"""The coordinator as a `Space`: what the explorer's engines, tours and tests ask of it.

`fire` forges a world for what a rule sees, takes the real `model.step` and looks at what came of it; the
invariants of `model.invariants` that judge a step are judged there. Other slots come in as their residues,
which are slots as well: of a slot that others cannot change, the plainest that they cannot tell from it.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, Self, cast

from attrs import evolve

from model.actions import Action, Call
from model.explorer.coordinator import lenses
from model.explorer.coordinator.alphabet import schemes
from model.explorer.coordinator.asking import Answer, Question, changes, literally, simplest, told_back
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.crashing import Killed, Step, killed
from model.explorer.coordinator.forge import forge
from model.explorer.coordinator.naming import slot_id
from model.explorer.coordinator.renaming import renamings
from model.explorer.coordinator.schemes import Scheme
from model.explorer.coordinator.values import ADMITTED, UNUSED, Shared, Slot, State
from model.explorer.coordinator.view import OutOfBoundsError, place_of, view, with_rank
from model.explorer.space import Fired, Label, Renaming, Rule, Space
from model.invariants import INVARIANTS, check, witnessed
from model.outcomes import Accepted, Declined, Outcome, Refused
from model.start import initial_world
from model.stepping import step as model_step
from model.surroundings import host_named
from model.values import World

OF_STATES = frozenset(
    {"S6", "S7", "S8", "S10", "true-capacity", "live-runs-fit", "nothing-gets-stuck", "proof-frees"}
)
"""Invariants that `properties` judges by whole states, and so not `fire`, which sees parts of them."""

WITNESSED_IN_STATES = frozenset({"S8", "true-capacity", "live-runs-fit"})
"""Invariants whose witnesses have to be seen in whole states."""

assert {each.id for each in INVARIANTS} >= OF_STATES

OUTCOME_COMES: Final = "outcome-comes-back"
"""Not an invariant of `model.invariants`: broken where a step of the model raises. See `properties`."""

PLAIN_ADMITTED = Slot("committed", 0, stage="running", matches=True)
PLAIN_RESERVED = Slot("reserved", 0, left=1)


class CoordinatorSpace(Space[Shared, Slot]):
    """The model of the coordinator within `bounds`.

    For tests, `step` may be a faulty one, and `literal` asks each question as it is (see `asking`).
    """

    def __init__(self, bounds: Bounds, *, step: Step = model_step, literal: bool = False) -> None:
        self.bounds = bounds
        self._literal = literal or bool(bounds.disturbed)
        self._whole = bool(bounds.disturbed)
        self._step = step
        self.schemes: Mapping[str, Scheme] = {each.rule.name: each for each in schemes(bounds)}
        self.rules: Sequence[Rule] = tuple(each.rule for each in self.schemes.values())
        self.renamings: Sequence[Renaming[Shared, Slot]] = renamings(bounds, self.rules)
        self._drifts: dict[Hashable, Slot] = {}
        self._answers: dict[Question, Answer | None] = {}

    # Where it starts

    def beginnings(self) -> Sequence[tuple[Action, ...]]:
        """Parallel to `initial`: the actions that lead to each start from `initial_world()`."""
        if self.bounds.genesis:
            return ((),)
        prelude = Bounds(groups=frozenset({"lease", "open"}), initial=self.bounds.initial[:1])
        first = [each.make(initial_world(), "") for each in schemes(prelude)]
        return (tuple(each for each in first if each is not None and not isinstance(each, Killed)),)

    def worlds(self) -> Sequence[World]:
        """The real worlds at each beginning."""
        worlds = []
        for actions in self.beginnings():
            world = initial_world(dropped=self.bounds.dropped)
            for action in actions:
                world, _ = model_step(world, action)
            worlds.append(world)
        return tuple(worlds)

    def initial(self) -> Sequence[State]:
        return tuple(self.view(world) for world in self.worlds())

    # Between worlds and states

    def view(self, world: World) -> State:
        """The state of a world; slot i is always reservation number i."""
        return view(world, self.bounds)

    def forge(self, state: State) -> World:
        """A world of that state."""
        return forge(state, self.bounds)

    def action(self, label: Label, world: World) -> Action | Killed | None:
        """What `label` stands for in `world`, or `None` where its rule does not apply."""
        slot = "" if label.slot is None else slot_id(label.slot)
        action = self.schemes[label.rule].make(world, slot)
        if isinstance(action, Call) and self.bounds.merge_closed:
            host = host_named(world, action.host)
            return action if host is not None and host.is_open else None
        return action

    def perform(self, world: World, action: Action | Killed) -> tuple[World, Outcome] | None:
        """The world after it, or `None` where it cannot happen."""
        if isinstance(action, Killed):
            left = killed(world, action, self._step)
            return None if left is None else (left, Accepted())
        after, outcome = self._step(world, action)
        return None if isinstance(outcome, Declined) else (after, outcome)

    def step_of(self, state: State, label: Label) -> tuple[str, State] | None:
        """Outcome and successor by a step of the model on the whole state, whatever rules are said to see."""
        before = self.forge(state)
        action = self.action(label, before)
        done = None if action is None else self.perform(before, action)
        return None if done is None else (self.outcome_of(done[1]), self.view(done[0]))

    @staticmethod
    def outcome_of(outcome: Outcome) -> str:
        """The class of an outcome: the code of a refusal, or `accepted`."""
        if isinstance(outcome, Refused):
            return (
                outcome.code if outcome.side_effects == "none" else f"{outcome.code} {outcome.side_effects}"
            )
        return "accepted"

    # What the engines ask

    def fire(
        self, rule: Rule, shared: Shared, slot: Slot | None, context: tuple[Hashable, ...]
    ) -> Fired[Shared, Slot] | None:
        others_seen = cast(tuple[Slot, ...], context)  # residues are slots
        seen = others_seen if slot is None else (slot, *others_seen)
        plain = literally if self._literal else simplest
        question = plain(rule, shared, seen)
        if question not in self._answers:
            self._answers[question] = self._answer(question)
        answer = self._answers[question]
        if answer is None:
            return None
        now, after = told_back(rule, shared, seen, question, answer)
        changed = tuple(None if new is old else new for old, new in zip(seen, after, strict=True))
        own, others = (None, changed) if slot is None else (changed[0], changed[1:])
        return Fired(
            answer.outcome, now, own, others if any(others) else (), answer.violated, answer.witnessed
        )

    def _answer(self, question: Question) -> Answer | None:
        """By a step of the model, in a forged world."""
        before, seen = self.forge(State(question.shared, question.slots)), len(question.slots)
        action = self.action(Label(question.rule, 0 if question.acts else None), before)
        if action is None:
            return None
        try:
            done = self.perform(before, action)
        except Exception as error:  # noqa: BLE001  # whatever it is: a step of the model never raises
            return Answer(f"raised {type(error).__name__}", question.shared, ({},) * seen, (OUTCOME_COMES,))
        if done is None:
            return None
        after, outcome = done
        violated: tuple[str, ...] = ()
        tested: tuple[str, ...] = ()
        if not isinstance(action, Killed):
            violated = check(before, action, outcome, after, leave_out=OF_STATES)
            tested = witnessed(before, action, outcome, after)
        tested = (OUTCOME_COMES, *(each for each in tested if each not in WITNESSED_IN_STATES))
        try:
            state = self.view(after)
        except OutOfBoundsError:
            if not violated:
                raise
            return Answer(
                f"{self.outcome_of(outcome)}, out of bounds", question.shared, ({},) * seen, violated
            )
        changed = tuple(
            changes(old, self._keeping_rank(old, new))
            for old, new in zip(question.slots, state.slots, strict=False)
        )
        return Answer(self.outcome_of(outcome), state.shared, changed, violated, tested)

    def _keeping_rank(self, old: Slot, new: Slot) -> Slot:
        """Who stays in a queue keeps the rank given; the engines do the rest."""
        queue = place_of(new, self.bounds)
        if queue is None or queue != place_of(old, self.bounds):
            return new
        return with_rank(new, old.rank)

    def drifts(self, rule: Rule) -> bool:
        return rule.name.startswith("clock ")

    def drift(self, rule: Rule, shared: Shared, slot: Slot) -> Slot:
        if not self.drifts(rule) or (slot.left is None and not self.bounds.aging):
            return slot
        alone = evolve(with_rank(slot, 0), stage="none", quiet=False)
        key = (rule.name, alone, shared.wall, shared.hosts) if self.bounds.back else (rule.name, alone)
        drifted = self._drifts.get(key)
        if drifted is None:
            before = self.forge(State(shared, (slot,)))
            action = self.action(Label(rule.name), before)
            done = None if action is None else self.perform(before, action)
            drifted = slot if done is None else self.view(done[0]).slots[0]
            self._drifts[key] = drifted
        return evolve(slot, left=drifted.left, old=drifted.old)

    def residue(self, slot: Slot) -> Slot:
        """What others see of a slot. Only the sweep changes what it was not called for: rows that are due."""
        if self._whole or slot is UNUSED:
            return slot
        if slot.state == "reserved":
            return slot if slot.left is not None and slot.left <= 0 else PLAIN_RESERVED
        if slot.state in ADMITTED:
            return PLAIN_ADMITTED if slot.run == 0 else evolve(PLAIN_ADMITTED, run=slot.run)
        return UNUSED

    def part(self, lens: str, shared: Shared) -> Hashable:
        return shared if self._whole else lenses.part(lens, shared)

    def merge(self, lens: str, shared: Shared, after: Shared) -> Shared:
        return after if self._whole else lenses.merge(lens, shared, after)

    def kinds(self, shared: Shared) -> tuple[Hashable, ...]:
        return () if self._whole else lenses.kinds(shared)

    def unhidden(self) -> Self | None:
        """No residues, no lenses, no plainer questions."""
        if self._whole:
            return None
        plain = object.__new__(type(self))
        plain.__dict__.update(self.__dict__)
        plain._literal = plain._whole = True
        plain._drifts, plain._answers = {}, {}
        return plain

    def place(self, slot: Slot) -> tuple[Hashable, int] | None:
        queue = place_of(slot, self.bounds)
        return None if queue is None else (queue, slot.rank)

    def placed(self, slot: Slot, rank: int) -> Slot:
        return with_rank(slot, rank)
