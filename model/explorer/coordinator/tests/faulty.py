"""The model with one thing taken out, for as long as a `with` lasts. Its own text stays as it reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from attrs import evolve

from model import sweep
from model.actions import Action
from model.answers import Abandonment, Admission
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.crashing import Killed
from model.explorer.coordinator.space import CoordinatorSpace
from model.outcomes import Accepted, Outcome
from model.transaction import Transaction
from model.values import Row, World


@contextmanager
def without_arbitration() -> Iterator[None]:
    """The sweep asks nobody to abandon: that a run is not admitted is enough for it."""

    def ask(transaction: Transaction, row: Row) -> Admission | Abandonment:
        return transaction.read_admission(row) or Abandonment(row.reservation_id, row.binding)

    with mock.patch.object(sweep, "_ask", ask):
        yield


@contextmanager
def without_c8() -> Iterator[None]:
    """The sweep commits a proven row though its run has a slot: the state is refused before it is written."""

    def is_taken(_transaction: Transaction, _row: Row) -> bool:
        return False

    with mock.patch.object(Transaction, "binding_is_taken", is_taken):
        yield


@contextmanager
def without_c16() -> Iterator[None]:
    """A reserved row can be renewed though its time has passed."""
    from model import operations

    plain = operations.renew

    def renew(transaction: Transaction, reservation_id: str, ttl_ms: int | None) -> Any:
        with mock.patch.object(transaction.__class__, "look", lambda self: self.now - 10**6):
            return plain(transaction, reservation_id, ttl_ms)

    with mock.patch.dict(operations.OPERATIONS, {"renew": renew}):
        yield


@contextmanager
def without_the_risk_told() -> Iterator[None]:
    """A forced release leaves the row's guarantee as it was, as if no operator had taken a risk."""
    plain = Transaction.put

    def put(transaction: Transaction, row: Row, new: Row) -> Row:
        return plain(transaction, row, evolve(new, concurrency_guarantee="enforced"))

    with mock.patch.object(Transaction, "put", put):
        yield


class WithoutC1(CoordinatorSpace):
    """Genesis writes the identity first: killed between the two, it leaves that and no state."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds)

    def perform(self, world: World, action: Action | Killed) -> tuple[World, Outcome] | None:
        if isinstance(action, Killed) and action.left == "state without identity":
            done = super().perform(world, action)
            return done and (evolve(done[0], store=None, earlier=(), identity_file=True), Accepted())
        return super().perform(world, action)
