"""What the walk draws its requests from: a few names, and requests that can be asked for again.

The request that belongs to a number is always the same, so that whoever draws the number again retries it:
a client that lost its answer does just that. What may differ between two tries (faults, what the caller's
functions do) is drawn by `model.gated.walk`.
"""

from typing import Final

from model.drawing import Dice, chance, weighted
from model.gated.actions import (
    FAULTS,
    ApplySteps,
    Compensate,
    CompensationStep,
    Fault,
    Step,
    Transact,
)
from model.gated.always import lines_of
from model.gated.values import RECEIPT_PHASES, World
from model.values import JSON

CLIENTS: Final = ("ann", "ben", "cleo")
BEFORE: Final = "b" * 64
AFTER: Final = "a" * 64
OTHER: Final = "c" * 64

_PHASES: Final = ("apply", "commit", "verify", "prepare", "rollback")
_WORDS: Final[tuple[JSON, ...]] = (
    "ü€😀", None, True, 0, -(2**53 - 1), "", [], {}, {"b": [1, "\u0001"], "": {"\uffff": 1, "😀": 2}},
)  # fmt: skip
_ROWS: Final = ("count", "note", "größe", "😀", "\uffff", "twin")

NONSENSE: Final[tuple[JSON, ...]] = (
    None, True, 1, "rows", [], [1], 1.5, {"": 1}, {"x": 1.0}, {"x": 2**53}, {"x": ["\ud800"]}, {"\udc00": 1},
)  # fmt: skip
"""What is no state."""


def mutation_of(number: int) -> dict[str, JSON]:
    name = _ROWS[number % len(_ROWS)]
    kind = number % 4
    if kind == 0:
        return {"increment": "count"}
    if kind == 1:
        return {"set": {name if name != "count" else "note": _WORDS[number % len(_WORDS)]}}
    if kind == 2:
        return {"set": {"twin": number}, "remove": [name if name != "twin" else "note", "absent"]}
    return {"set": {"note": number, "größe": {"of": number}}, "remove": []}


def transaction(number: int, client: str) -> Transact:
    """The request of that number; those of phase `verify` have a verifier that says yes."""
    phase = _PHASES[number % len(_PHASES)]
    return Transact(
        client,
        f"op-{number}",
        f"run-{1 + number % 3}",
        "node",
        "scheduler.node.state",
        phase,
        f"k{number}",
        mutation_of(number),
        intent={"number": number, "do": _WORDS[number % len(_WORDS)]},
        attempt_id=f"attempt-{number}" if number % 3 == 0 else None,
        verifier=True if phase == "verify" else None,
    )


def batch(number: int, client: str) -> ApplySteps:
    """The steps of that number, one to four: its bits say which of them are idempotent."""
    steps = tuple(
        Step(f"s{at}", f"r{at}", 10 * at, bool(number >> (at - 1) & 1), BEFORE, AFTER)
        for at in range(1, 2 + number % 4)
    )
    return ApplySteps(
        client,
        f"run-{number}",
        "node",
        f"op-{number}",
        steps[::-1] if number % 2 else steps,
        event_type="custom.receipt" if number % 5 == 0 else "scheduler.node.receipt",
    )


def compensation(number: int, client: str) -> Compensate:
    """Undoes the batch of that number; what is not idempotent was not applied."""
    steps = tuple(
        CompensationStep(step.id, step.sequence, step.idempotent, step.idempotent)
        for step in batch(number, client).steps
    )
    return Compensate(client, f"run-{number}", "node", f"op-{number}", "undo", AFTER, BEFORE, steps)


def a_number(dice: Dice, world: World, *, fresh: float = 0.6) -> int:
    """Of a transaction: mostly the next that is new, else one of the last few, or any."""
    many = sum(line.record.phase not in RECEIPT_PHASES for line in lines_of(world))
    if chance(dice, fresh):
        return many + 1
    if chance(dice, 0.7):
        return max(1, many - dice.randrange(0, 4))
    return 1 + dice.randrange(0, many + 2)


def a_batch_number(dice: Dice, world: World) -> int:
    """Of steps: those of the last run mostly, or a new one."""
    runs = {line.record.run_id for line in lines_of(world) if line.record.phase in RECEIPT_PHASES}
    if chance(dice, 0.35):
        return len(runs) + 1
    return max(1, len(runs) - dice.randrange(0, 2) if chance(dice, 0.8) else dice.randrange(1, len(runs) + 2))


_MOMENTS: Final = (
    (3.0, "append"),
    (3.0, "append-fsync"),
    (3.0, "mirror"),
    (3.0, "commit"),
    (1.0, "begin"),
    (1.5, "rollback"),
    (2.0, "catch-up"),
    (1.0, "cut"),
    (1.0, "cut-fsync"),
)


def faults(dice: Dice, *, many: int = 1) -> tuple[Fault, ...]:
    """One to three; a failing append is often followed by a cut that fails, any failure by a rollback."""
    moment = weighted(dice, _MOMENTS)
    nth = 1 if chance(dice, 0.5) else dice.randrange(1, many + 1)
    drawn = [Fault(moment, nth, dice.choice(FAULTS[moment]))]
    if moment.startswith("append") and chance(dice, 0.3):
        drawn.append(Fault(dice.choice(("cut", "cut-fsync")), 1, "fails"))
    if moment in ("mirror", "commit") and chance(dice, 0.2):
        drawn.append(Fault("catch-up", 1, dice.choice(FAULTS["catch-up"])))
    if moment not in ("rollback", "begin") and chance(dice, 0.25):
        drawn.append(Fault("rollback", 1, "fails"))
    if moment == "begin" and many > 1 and chance(dice, 0.3):
        drawn.append(Fault("append", 1, "full"))
    return tuple(drawn)
