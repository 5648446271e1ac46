"""Steps and compensators whose effects are counted.

Doesn't: check anything by itself.
"""

from collections.abc import Callable
from typing import Final

from impl.gated import (
    ApplyRequest,
    ApplyResult,
    CompensationRequest,
    CompensationStep,
    Step,
    apply_receipted_steps,
)
from impl.gated.tests.bench import HASH
from impl.gated.tests.fakes import FakeEvents

LOST = OSError(5, "lost")
APPEND: Final = "LEDGER_APPEND_REQUIRED_FAILED"


class StepError(Exception):
    """What a step raises."""


class Effects:
    """Counts what steps do."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def step(
        self, name: str, sequence: int, *, idempotent: bool = True, run: Callable[[], object] | None = None
    ) -> Step:
        return Step(
            id=name,
            receipt_id=f"receipt-{name}",
            sequence=sequence,
            idempotent=idempotent,
            before_state_hash=HASH,
            after_state_hash=HASH,
            run=run if run is not None else lambda: self.ran.append(name),
        )

    def undoing(
        self,
        name: str,
        sequence: int,
        *,
        idempotent: bool = True,
        applied: bool = True,
        run: Callable[[], object] | None = None,
    ) -> CompensationStep:
        undo = run if run is not None else lambda: self.ran.append(name)
        return CompensationStep(name, sequence, idempotent, applied, undo)


def raising() -> None:
    raise StepError("the step failed")


def applied(events: FakeEvents, *steps: Step, run_id: str = "run") -> ApplyResult:
    return apply_receipted_steps(events, ApplyRequest(run_id, "node", "op", steps))


def compensation(*steps: CompensationStep, key: str = "undo", after: str = HASH) -> CompensationRequest:
    return CompensationRequest("run", "node", "op", key, HASH, after, steps)
