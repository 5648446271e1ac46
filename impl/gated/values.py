"""What a ledger-gated store is asked, keeps and answers: frozen values, checked where they are made.

Guarantees: a request that could be made is well-formed: ids, keys, hashes and types of events are non-empty
texts without lone surrogates, the phase is one of the eight, `intent` is a JSON value. Anything else is a
ValueError before a store is even looked at.

Doesn't: know which requests fit together. `steps` and `compensation` refuse ambiguous ones (L4).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from attrs import Attribute, field, frozen

from impl.gated.state import check_json, is_name

JSON = Any
"""A JSON value: None, bool, int within ±(2^53 - 1), str, list, dict. No floats."""
State = dict[str, JSON]
"""Named rows."""

PHASES: Final = ("prepare", "start", "apply", "receipt", "verify", "commit", "rollback", "compensate")
STEP_PHASES: Final = frozenset({"start", "receipt", "compensate"})
"""The phases of lines that steps and compensations write. Their keys belong to their run."""

RECEIPT_EVENT: Final = "scheduler.node.receipt"
COMPENSATING_EVENT: Final = "scheduler.node.compensating"
COMPENSATION_RECEIPT_EVENT: Final = "scheduler.node.compensation.receipt"


def _text(_: object, attribute: "Attribute[Any]", value: object) -> None:
    if not is_name(value):
        raise ValueError(f"{attribute.name} must be a non-empty text without lone surrogates")


def _text_or_none(_: object, attribute: "Attribute[Any]", value: object) -> None:
    if value is not None and not is_name(value):
        raise ValueError(f"{attribute.name} must be a non-empty text without lone surrogates, or None")


def _integer(_: object, attribute: "Attribute[Any]", value: object) -> None:
    if type(value) is not int:
        raise ValueError(f"{attribute.name} must be an integer")


def _boolean(_: object, attribute: "Attribute[Any]", value: object) -> None:
    if type(value) is not bool:
        raise ValueError(f"{attribute.name} must be true or false")


def _function(_: object, attribute: "Attribute[Any]", value: object) -> None:
    if not callable(value):
        raise ValueError(f"{attribute.name} must be a function")


def _phase(_: object, attribute: "Attribute[Any]", value: object) -> None:
    if type(value) is not str or value not in PHASES:
        raise ValueError(f"{attribute.name} must be one of {', '.join(PHASES)}")


def _json(_: object, attribute: "Attribute[Any]", value: object) -> None:
    check_json(value, attribute.name)


@frozen
class LedgerRecord:
    """One event: who did what in which phase, from which state to which."""

    operation_id: str
    run_id: str
    node_id: str
    event_type: str
    phase: str
    idempotency_key: str
    before_state_hash: str
    after_state_hash: str
    event_hash: str
    attempt_id: str | None = None


@frozen
class Request:
    """A mutation that is to happen once under its key.

    `mutate` gets a copy of the whole state and returns the whole state after; it must be a pure function
    of what it gets. `intent` stands for what it does: whoever changes `mutate` changes the intent.
    `verify` belongs to phase "verify", and only there: it looks at the state after, and answers True for yes.
    """

    operation_id: str = field(validator=_text)
    run_id: str = field(validator=_text)
    node_id: str = field(validator=_text)
    event_type: str = field(validator=_text)
    phase: str = field(validator=_phase)
    idempotency_key: str = field(validator=_text)
    intent: JSON = field(validator=_json)
    mutate: Callable[[State], State] = field(validator=_function)
    attempt_id: str | None = field(default=None, validator=_text_or_none)
    verify: Callable[[State], bool] | None = None

    def __attrs_post_init__(self) -> None:
        if self.phase in STEP_PHASES:
            raise ValueError(f"phase {self.phase} is written by steps and compensations alone")
        if (self.phase == "verify") != (self.verify is not None):
            raise ValueError("a verifier goes with phase verify, and phase verify needs one")
        if self.verify is not None and not callable(self.verify):
            raise ValueError("verify must be a function")


@frozen
class TransactionResult:
    """What a transaction came to. "noop": its key is known, `record` is the one stored under it."""

    status: Literal["committed", "noop"]
    applied: bool
    record: LedgerRecord
    state: State
    """The state as it stands now."""


@frozen
class Step:
    """A side effect, and the receipt that says it happened. Steps run in the order of `sequence`."""

    id: str = field(validator=_text)
    receipt_id: str = field(validator=_text)
    sequence: int = field(validator=_integer)
    idempotent: bool = field(validator=_boolean)
    before_state_hash: str = field(validator=_text)
    after_state_hash: str = field(validator=_text)
    run: Callable[[], object] = field(validator=_function)


def _in_a_tuple(steps: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(steps)


@frozen
class ApplyRequest:
    """Steps that are to run once each."""

    run_id: str = field(validator=_text)
    node_id: str = field(validator=_text)
    operation_id: str = field(validator=_text)
    steps: tuple[Step, ...] = field(converter=_in_a_tuple)
    attempt_id: str | None = field(default=None, validator=_text_or_none)
    event_type: str = field(default=RECEIPT_EVENT, validator=_text)


@frozen
class ApplyResult:
    """How far steps came. "in_doubt": the step named may have taken effect, and nothing durable says so."""

    status: Literal["completed", "in_doubt"]
    executed_step_ids: tuple[str, ...]
    skipped_step_ids: tuple[str, ...]
    receipts: tuple[LedgerRecord, ...]
    stopped_at_step_id: str | None = None
    reason: str | None = None


@frozen
class CompensationStep:
    """What undoes a step. `applied`: whether the step is known to have taken effect."""

    id: str = field(validator=_text)
    sequence: int = field(validator=_integer)
    idempotent: bool = field(validator=_boolean)
    applied: bool = field(validator=_boolean)
    run: Callable[[], object] = field(validator=_function)


def _compensators_in_a_tuple(steps: Iterable[CompensationStep]) -> tuple[CompensationStep, ...]:
    return tuple(steps)


@frozen
class CompensationRequest:
    """Steps that are to be undone, in reverse order, under one key."""

    run_id: str = field(validator=_text)
    node_id: str = field(validator=_text)
    operation_id: str = field(validator=_text)
    idempotency_key: str = field(validator=_text)
    before_state_hash: str = field(validator=_text)
    after_state_hash: str = field(validator=_text)
    steps: tuple[CompensationStep, ...] = field(converter=_compensators_in_a_tuple)
    attempt_id: str | None = field(default=None, validator=_text_or_none)


@frozen
class CompensationResult:
    """Everything that can be undone is: the compensators that ran now, and all receipts in their order."""

    status: Literal["rolled_back"]
    executed_step_ids: tuple[str, ...]
    receipts: tuple[LedgerRecord, ...]


@frozen
class Change:
    """What a mutation changed: rows that are new or another, by name, and the names of those gone."""

    set: Mapping[str, JSON]
    remove: tuple[str, ...]


NO_CHANGE: Final = Change({}, ())


@frozen
class RecoveryReport:
    """What opening a store had to do."""

    cut_bytes: int
    """Bytes of a last line that was never acknowledged, cut off the ledger."""
    replayed_events: int
    """Events that were replayed into the mirror."""
    mirror: Literal["intact", "caught-up", "rebuilt"]
    set_aside: tuple[str, ...]
    """Names that the files of an unusable mirror have now."""
    notes: tuple[str, ...]
    """What was found and done, for a person."""
